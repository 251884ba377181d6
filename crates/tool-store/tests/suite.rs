//! The conformance suite on the stores of this crate. Add a call of the macro for each new store.

use std::sync::OnceLock;

use tempfile::TempDir;
use tool_store::seal::{SealKey, SealKeys, Vault};
use tool_store::suite::Opener;
use tool_store::{MemoryStore, SqliteStore, conformance};

/// Returns a handle that seals contents. The id of its key is the last one in lists, because the tests look at the first key.
#[allow(clippy::expect_used, reason = "a test fails by panicking")]
async fn sealing(store: SqliteStore) -> SqliteStore {
    let keys = SealKeys::new("z1", SealKey::new(&[9; 32])).expect("keys");
    let vault = Vault::open(store.clone(), keys).await.expect("a vault");
    store.sealing(&vault).expect("a vault with keys")
}

/// Returns a folder with a database that has all migrations. The folder is a copy, because applying the migrations takes 50 ms, and the suite
/// opens 900 files. The tests of the program `sqlite` open files that do not exist yet.
#[allow(clippy::expect_used, reason = "a test fails by panicking")]
async fn migrated_folder() -> TempDir {
    static MIGRATED: OnceLock<Vec<u8>> = OnceLock::new();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state.db");
    if let Some(content) = MIGRATED.get() {
        std::fs::write(&file, content).expect("the file can be written");
        return folder;
    }
    // Closing the last connection moves the write-ahead log into the file.
    opened(&folder).await.close().await;
    let content = std::fs::read(&file).expect("the file is readable");
    // Another test may have set the content in the meantime.
    let _ = MIGRATED.set(content);
    folder
}

#[allow(clippy::expect_used, reason = "a test fails by panicking")]
async fn opened(folder: &TempDir) -> SqliteStore {
    let store = SqliteStore::open(folder.path().join("state.db")).await;
    store.expect("a file")
}

conformance!(
    memory,
    Opener::new(async || MemoryStore::default(), async |store| store.clone()).cases(128),
    [
        BatchStore,
        BudgetStore,
        Catalogue,
        ChangeStore,
        ChildStore,
        EnablementStore,
        EventStore,
        KnowledgeStore,
        LimitStore,
        LongTermStore,
        Maintenance,
        PlanStore,
        RoomStore,
        ScheduleStore,
        StoredToolStore,
        ThreadEventStore,
        VaultStore,
        WorkStore
    ]
);

conformance!(
    sqlite,
    Opener::new(migrated_folder, async |folder| opened(folder).await).cases(24),
    [
        BatchStore,
        BudgetStore,
        Catalogue,
        ChangeStore,
        ChildStore,
        EnablementStore,
        EventStore,
        KnowledgeStore,
        LimitStore,
        LongTermStore,
        Maintenance,
        PlanStore,
        RoomStore,
        ScheduleStore,
        StoredToolStore,
        ThreadEventStore,
        VaultStore,
        WorkStore
    ]
);

conformance!(
    sqlite_in_memory,
    Opener::new(
        async || SqliteStore::in_memory().await.expect("a database"),
        async |store| store.clone(),
    ),
    [
        BatchStore,
        BudgetStore,
        Catalogue,
        ChangeStore,
        ChildStore,
        EnablementStore,
        EventStore,
        KnowledgeStore,
        LimitStore,
        LongTermStore,
        Maintenance,
        PlanStore,
        RoomStore,
        ScheduleStore,
        StoredToolStore,
        ThreadEventStore,
        VaultStore,
        WorkStore
    ]
);

conformance!(
    sqlite_sealing,
    Opener::new(migrated_folder, async |folder| sealing(
        opened(folder).await
    )
    .await)
    .cases(24),
    // `VaultStore` is not tested, because its tests seal values with keys that the second handle does not have.
    [
        BatchStore,
        BudgetStore,
        ChangeStore,
        ChildStore,
        KnowledgeStore,
        LimitStore,
        Maintenance,
        RoomStore,
        ScheduleStore,
        ThreadEventStore,
        WorkStore
    ]
);

conformance!(
    sqlite_in_memory_sealing,
    Opener::new(
        async || {
            let store = SqliteStore::in_memory().await;
            sealing(store.expect("a database")).await
        },
        async |store| store.clone(),
    ),
    [
        BatchStore,
        BudgetStore,
        Catalogue,
        ChangeStore,
        ChildStore,
        EnablementStore,
        EventStore,
        KnowledgeStore,
        LimitStore,
        Maintenance,
        PlanStore,
        RoomStore,
        ScheduleStore,
        StoredToolStore,
        ThreadEventStore,
        VaultStore,
        WorkStore
    ]
);
