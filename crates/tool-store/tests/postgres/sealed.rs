//! Tests of sealed values in PostgreSQL: neither a dump of the database nor a file of the server contains a secret.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgPoolCopyExt as _;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use test_support::Ran;
use test_support::postgres::server;
use tool_store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_store::suite::records::{message, thread};
use tool_store::{
    KeyId, PostgresClock, PostgresStore, Role, SealStore as _, StoreError, ThreadStore as _,
    Timestamp, VariableScope, VariableType, Workspace,
};

use crate::contents;
use crate::database::Database;
use crate::erasure;
use crate::sentinels::{Search, fill};

/// The bytes of two keys, as texts for which the files can be searched.
const KEYS: [&[u8; 32]; 2] = [
    b"first-key-that-no-file-contains!",
    b"other-key-that-no-file-contains!",
];

async fn vault(store: &PostgresStore, keys: SealKeys) -> Vault {
    Vault::open(store.clone(), keys).await.unwrap()
}

/// Returns the database as text: by `pg_dump`, or each table by `COPY` if `pg_dump` is not installed.
async fn dump(database: &Database) -> Vec<u8> {
    if let Some(program) = server().unwrap().program("pg_dump") {
        let output = Command::new(program).arg(&database.url).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return output.stdout;
    }
    let pool = sqlx::PgPool::connect(&database.url).await.unwrap();
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'tool_store'")
            .fetch_all(&pool)
            .await
            .unwrap();
    let mut dump = Vec::new();
    for table in tables {
        let copy = format!("COPY tool_store.{table} TO STDOUT");
        let copy = pool.copy_out_raw(&copy).await.unwrap();
        for part in copy.try_collect::<Vec<_>>().await.unwrap() {
            dump.extend_from_slice(&part);
        }
    }
    dump
}

/// Adds the files below a folder to `into`.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// Returns the files of the server that contain one of the searched texts. Files that are removed during the search are left out.
fn found(search: &Search) -> Vec<PathBuf> {
    let mut all = Vec::new();
    files(server().unwrap().data(), &mut all);
    all.retain(|file| search.finds(&fs::read(file).unwrap_or_default()));
    all
}

// S4-13: no secret, sealed content or key is in a dump of the database, in its files or in the write-ahead log, neither plain nor in hex or base64.
pub(crate) async fn no_file_of_the_server_contains_a_secret_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let keys = |first: usize, id: &str| SealKeys::new(id, SealKey::new(KEYS[first])).unwrap();
    let first = vault(&store, keys(0, "k1")).await;
    let mut values = fill(&first).await;
    values.extend(contents::fill(&store.clone().sealing(&first).unwrap()).await);
    let clear = "text-in-clear-4711";
    let row = NewValue::declared("REGION", VariableType::Text, clear);
    let shared = VariableScope::workspace("acme");
    first
        .set_variables(&shared, vec![row], "olga")
        .await
        .unwrap();
    // Rotation opens and seals every value.
    let both = keys(1, "k2").and("k1", SealKey::new(KEYS[0])).unwrap();
    let second = vault(&store, both).await;
    assert_eq!(
        second.rotate(4).await.unwrap().resealed,
        13 + contents::FILLED
    );
    for key in KEYS {
        values.push(String::from_utf8(key.to_vec()).unwrap());
    }
    let mut connection = database.connect().await;
    connection
        .execute(AssertSqlSafe("CHECKPOINT".to_owned()))
        .await
        .unwrap();
    connection.close().await.unwrap();

    let (secret, clear) = (
        Search::new(values.iter().map(String::as_str)),
        Search::new([clear]),
    );
    let dump = dump(&database).await;
    assert!(
        clear.finds(&dump),
        "the search does not find a value that the dump contains"
    );
    assert!(!secret.finds(&dump), "{}", String::from_utf8_lossy(&dump));
    let in_clear = found(&clear);
    let is_in = |folder: &str| {
        let folder = server().unwrap().data().join(folder);
        in_clear.iter().any(|file| file.starts_with(&folder))
    };
    assert!(is_in("base") && is_in("pg_wal"), "{in_clear:?}");
    assert_eq!(found(&secret), Vec::<PathBuf>::new());
    Ok(())
}

/// Retires a key while `writing` has locked the key and waits for a table, and returns the result.
async fn retire_while(
    database: &Database,
    store: &PostgresStore,
    table: &str,
    writing: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StoreError> {
    let key = KeyId::new("k1").unwrap();
    let mut other = database.connect().await;
    let lock = format!("BEGIN; LOCK TABLE tool_store.{table} IN SHARE MODE");
    other.execute(AssertSqlSafe(lock)).await.unwrap();
    let writing = tokio::spawn(writing);
    waiting(database, 1).await;
    let retiring = {
        let store = store.clone();
        tokio::spawn(async move { store.retire_key(&key, Timestamp::now()).await })
    };
    waiting(database, 2).await;
    other
        .execute(AssertSqlSafe("COMMIT".to_owned()))
        .await
        .unwrap();
    writing.await.unwrap();
    retiring.await.unwrap()
}

// A key is not retired while a transaction seals a value with it: the retirement waits, and then finds the value.
pub(crate) async fn retirement_waits_for_values_that_are_being_written_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let vault = vault(&store, SealKeys::new("k1", SealKey::new(KEYS[0])).unwrap()).await;
    let (acme, writer) = (Workspace::new("acme"), vault.clone());
    let own = acme.clone();
    let writing = async move {
        let value = SecretString::from("value of a");
        writer.set_secret(&own, "a", &value, "olga").await.unwrap();
    };
    let refused = retire_while(&database, &store, "secret", writing).await;
    assert!(
        matches!(refused, Err(StoreError::Conflict(_))),
        "{refused:?}"
    );
    let opened = vault.open_secrets(&acme, ["a"]).await.unwrap();
    assert_eq!(opened["a"].expose_secret(), "value of a");
    Ok(())
}

// A key is not retired while a transaction seals a message with it.
pub(crate) async fn retirement_waits_for_contents_that_are_being_written_case() -> Ran {
    let database = Database::create().await?;
    let plain = database.options().open().await.unwrap();
    let vault = vault(&plain, SealKeys::new("k1", SealKey::new(KEYS[0])).unwrap()).await;
    let store = plain.clone().sealing(&vault).unwrap();
    let writer = store.clone();
    let writing = async move {
        let written = writer.append(message("main", Role::User, None)).await;
        written.unwrap();
    };
    let refused = retire_while(&database, &plain, "message", writing).await;
    assert!(
        matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("1 of column `message`")),
        "{refused:?}"
    );
    let messages = store.read_page(&thread("main"), 0, 9).await.unwrap();
    assert_eq!(messages.len(), 1);
    Ok(())
}

/// Waits until this number of transactions wait for a lock, for at most ten seconds.
async fn waiting(database: &Database, count: i64) {
    let mut connection = database.connect().await;
    let began = Instant::now();
    loop {
        let waiting: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        if waiting >= count {
            return;
        }
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{waiting} of {count} transactions wait"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns a store in an empty database. It uses the times of its callers instead of the database's clock.
async fn store() -> Result<PostgresStore, test_support::Missing> {
    let options = Database::create().await?.options();
    Ok(options.clock(PostgresClock::Caller).open().await.unwrap())
}

// The erasure of a thread or a user covers its variables.
pub(crate) async fn erasure_removes_variables_case() -> Ran {
    erasure::removes_variables(store().await?).await;
    Ok(())
}

// The erasure of a thread or a user removes responses that contain its contents, and a purge removes expired responses.
pub(crate) async fn erasure_and_retention_remove_stored_responses_case() -> Ran {
    erasure::removes_responses(store().await?).await;
    Ok(())
}

// Contents are read back unchanged, and only a handle with the keys can read them.
pub(crate) async fn contents_are_read_back_unchanged_case() -> Ran {
    contents::are_read_back_unchanged(store().await?).await;
    Ok(())
}

// Memories and notes are not sealed, so a handle that seals contents refuses to write them.
pub(crate) async fn memories_are_not_sealed_case() -> Ran {
    contents::memories_are_not_sealed(store().await?).await;
    Ok(())
}

// Contents that were written before the host enabled sealing are still read, and contents that are written later are sealed.
pub(crate) async fn unsealed_contents_are_read_case() -> Ran {
    contents::unsealed_contents_are_read(store().await?).await;
    Ok(())
}

// Rotation seals the contents of each column with the new key and may be interrupted. A key in use is not retired.
pub(crate) async fn rotation_covers_contents_case() -> Ran {
    contents::rotation_covers_contents(store().await?).await;
    Ok(())
}

// If a process lacks the key of sealed contents, the error contains the id of the key.
pub(crate) async fn error_names_the_missing_key_of_contents_case() -> Ran {
    contents::missing_key_is_named(store().await?).await;
    Ok(())
}

// While the key service is down, contents can be read but not written, and operations that do not write contents succeed.
pub(crate) async fn key_service_is_needed_to_write_contents_case() -> Ran {
    contents::key_service_is_needed_to_write(store().await?).await;
    Ok(())
}

// Sealed contents that were moved or changed do not open. The error names the row and does not contain the contents.
pub(crate) async fn moved_contents_do_not_open_case() -> Ran {
    contents::moved_values_do_not_open(store().await?).await;
    Ok(())
}

// A sealing handle and a handle without sealing do not share a batch, so a batch cannot store a message in clear text.
pub(crate) async fn journals_of_sealing_handles_are_separate_case() -> Ran {
    contents::journals_are_separate(store().await?).await;
    Ok(())
}

// Plans and their results are sealed, rotated and erased like other contents.
pub(crate) async fn plans_are_sealed_case() -> Ran {
    contents::plans_are_sealed(store().await?).await;
    Ok(())
}

// Erasure removes sealed contents, and their key no longer counts as used for them.
pub(crate) async fn erasure_removes_sealed_contents_case() -> Ran {
    contents::erasure_removes_sealed_contents(store().await?).await;
    Ok(())
}
