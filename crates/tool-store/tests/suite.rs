//! The conformance suite on the stores of this crate. Add a call of the macro for each new store.

use tool_store::suite::Opener;
use tool_store::{MemoryStore, SqliteStore, conformance};

conformance!(
    memory,
    Opener::new(async || MemoryStore::default(), async |store| store.clone()).cases(128),
    [
        BatchStore,
        Catalogue,
        ChangeStore,
        EnablementStore,
        EventStore,
        Maintenance,
        StoredToolStore,
        VaultStore
    ]
);

conformance!(
    sqlite,
    Opener::new(
        async || tempfile::tempdir().expect("a folder"),
        async |folder| SqliteStore::open(folder.path().join("state.db"))
            .await
            .expect("a file"),
    )
    .cases(24),
    [
        BatchStore,
        Catalogue,
        ChangeStore,
        EnablementStore,
        EventStore,
        Maintenance,
        StoredToolStore,
        VaultStore
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
        Catalogue,
        ChangeStore,
        EnablementStore,
        EventStore,
        Maintenance,
        StoredToolStore,
        VaultStore
    ]
);
