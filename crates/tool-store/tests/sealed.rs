//! Tests of sealed values in SQLite files: no file contains a secret, and values that were altered in the file cannot be opened.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use tempfile::TempDir;
use tool_store::seal::{NewValue, SealKey, SealKeys, Vault, VaultError};
use tool_store::{MemoryStore, SqliteStore, VariableScope, VariableType, Workspace, digest, env};

#[path = "shared/contents.rs"]
mod contents;
#[path = "shared/erasure.rs"]
mod erasure;
#[path = "shared/sentinels.rs"]
mod sentinels;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sentinels::{Search, fill};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    (folder, file)
}

async fn vault(file: &Path) -> Vault {
    let store = SqliteStore::open(file).await.unwrap();
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    Vault::open(store, keys).await.unwrap()
}

/// Changes the file through a connection that does not belong to the store.
async fn tamper(file: &Path, sql: String) {
    let mut connection = SqliteConnectOptions::new()
        .filename(file)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// Returns the files of a folder with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// Returns the files that contain a text in clear, in hex or in base64.
fn found(folder: &Path, text: &str) -> Vec<PathBuf> {
    let search = Search::new([text]);
    let files = files(folder).into_iter();
    files
        .filter(|(_, bytes)| search.finds(bytes))
        .map(|(path, _)| path)
        .collect()
}

// S4-13: no secret and no sealed content is in the bytes of the database, its write-ahead log and its index, neither plain nor in hex or base64.
#[tokio::test]
async fn no_file_of_the_database_contains_a_secret() {
    let (folder, file) = folder();
    let first = vault(&file).await;
    let mut values = fill(&first).await;
    let store = SqliteStore::open(&file).await.unwrap();
    values.extend(contents::fill(&store.sealing(&first).unwrap()).await);
    let shared = VariableScope::workspace("acme");
    let clear = "text-in-clear-4711";
    let row = NewValue::declared("REGION", VariableType::Text, clear);
    first
        .set_variables(&shared, vec![row], "olga")
        .await
        .unwrap();
    // Rotation opens and seals every value.
    let keys = SealKeys::new("k2", SealKey::new(&[2; 32])).unwrap();
    let keys = keys.and("k1", SealKey::new(&[1; 32])).unwrap();
    let store = SqliteStore::open(&file).await.unwrap();
    let second = Vault::open(store.clone(), keys).await.unwrap();
    assert_eq!(
        second.rotate(4).await.unwrap().resealed,
        13 + contents::FILLED
    );
    values.extend(["\u{1}", "\u{2}"].map(|byte| byte.repeat(32)));
    assert_eq!(values.len(), 26);
    for value in &values {
        assert_eq!(
            found(folder.path(), value),
            Vec::<PathBuf>::new(),
            "{value:?}"
        );
    }
    // Control test: the search finds a value that is in the files, first in the log, and in the database file after the store was closed.
    assert_eq!(found(folder.path(), clear), [file.with_extension("db-wal")]);
    drop(first);
    store.close().await;
    tamper(&file, "PRAGMA wal_checkpoint(TRUNCATE)".to_owned()).await;
    assert_eq!(found(folder.path(), clear), [file]);
    for value in &values {
        assert_eq!(
            found(folder.path(), value),
            Vec::<PathBuf>::new(),
            "{value:?}"
        );
    }
}

#[test]
fn the_search_finds_each_spelling() {
    let folder = tempfile::tempdir().unwrap();
    let text = "sentinel-of-the-search";
    for before in ["", "a", "ab", "abc"] {
        let around = format!("{before}{text}-behind");
        for spelling in [
            around.clone(),
            digest::hex(around.as_bytes()),
            digest::hex(around.as_bytes()).to_uppercase(),
            STANDARD_NO_PAD.encode(&around),
        ] {
            fs::write(folder.path().join("file"), format!("…{spelling}…")).unwrap();
            assert_eq!(found(folder.path(), text).len(), 1, "{spelling}");
        }
    }
}

// The erasure of a thread or a user covers its variables.
#[tokio::test]
async fn erasure_removes_variables() {
    erasure::removes_variables(MemoryStore::default()).await;
    erasure::removes_variables(SqliteStore::in_memory().await.unwrap()).await;
}

// The erasure of a thread or a user removes responses that contain its contents, and a purge removes expired responses.
#[tokio::test]
async fn erasure_and_retention_remove_stored_responses() {
    erasure::removes_responses(MemoryStore::default()).await;
    erasure::removes_responses(SqliteStore::in_memory().await.unwrap()).await;
}

/// Stores in a file and in memory. The store in memory has one connection, so a change that seals contents must not need a second connection.
async fn stores() -> (TempDir, [SqliteStore; 2]) {
    let (folder, file) = folder();
    let stores = [
        SqliteStore::open(&file).await,
        SqliteStore::in_memory().await,
    ];
    (folder, stores.map(Result::unwrap))
}

// Contents are read back unchanged, and only a handle with the keys can read them.
#[tokio::test]
async fn contents_are_read_back_unchanged() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::are_read_back_unchanged(store).await;
    }
}

// Contents that were written before the host enabled sealing are still read, and contents that are written later are sealed.
#[tokio::test]
async fn unsealed_contents_are_read() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::unsealed_contents_are_read(store).await;
    }
}

// Memories and notes are not sealed, so a handle that seals contents refuses to write them.
#[tokio::test]
async fn memories_are_not_sealed() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::memories_are_not_sealed(store).await;
    }
}

// Rotation seals the contents of each column with the new key and may be interrupted. A key in use is not retired.
#[tokio::test]
async fn rotation_covers_contents() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::rotation_covers_contents(store).await;
    }
}

// If a process lacks the key of sealed contents, the error contains the id of the key.
#[tokio::test]
async fn error_names_the_missing_key_of_contents() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::missing_key_is_named(store).await;
    }
}

// While the key service is down, contents can be read but not written, and operations that do not write contents succeed.
#[tokio::test]
async fn key_service_is_needed_to_write_contents() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::key_service_is_needed_to_write(store).await;
    }
}

// Sealed contents that were moved or changed do not open. The error names the row and does not contain the contents.
#[tokio::test]
async fn moved_contents_do_not_open() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::moved_values_do_not_open(store).await;
    }
}

// A sealing handle and a handle without sealing do not share a batch, so a batch cannot store a message in clear text.
#[tokio::test]
async fn journals_of_sealing_handles_are_separate() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::journals_are_separate(store).await;
    }
}

// Plans and their results are sealed, rotated and erased like other contents.
#[tokio::test]
async fn plans_are_sealed() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::plans_are_sealed(store).await;
    }
}

// Erasure removes sealed contents, and their key no longer counts as used for them.
#[tokio::test]
async fn erasure_removes_sealed_contents() {
    let (_folder, stores) = stores().await;
    for store in stores {
        contents::erasure_removes_sealed_contents(store).await;
    }
}

fn assert_damaged<T>(answer: &Result<T, VaultError>) {
    // A flipped bit in the header or in the id of the key is refused before the value is opened.
    let is_refused = matches!(
        answer,
        Err(VaultError::Damaged { .. } | VaultError::MissingKey { .. } | VaultError::Store(_))
    );
    assert!(
        is_refused,
        "an altered value opened, or a different error occurred"
    );
}

async fn open(vault: &Vault, workspace: &str, name: &str) -> Result<(), VaultError> {
    let opened = vault
        .open_secrets(&Workspace::new(workspace), [name])
        .await?;
    assert_eq!(opened[name].expose_secret(), format!("value of {name}"));
    Ok(())
}

#[tokio::test]
async fn rows_that_were_swapped_or_copied_in_the_file_do_not_open() {
    let (_folder, file) = folder();
    let vault = vault(&file).await;
    let acme = Workspace::new("acme");
    for name in ["a", "b"] {
        let value = SecretString::from(format!("value of {name}"));
        vault.set_secret(&acme, name, &value, "olga").await.unwrap();
    }
    let copy = "INSERT INTO secret (workspace, name, id, sealed, seal_key, set_by, at)";
    tamper(
        &file,
        format!(
            "{copy} SELECT 'umbrella', name, id, sealed, seal_key, set_by, at FROM secret WHERE workspace = 'acme';
             {copy} SELECT workspace, 'c', 'new', sealed, seal_key, set_by, at FROM secret WHERE workspace = 'acme' AND name = 'a';"
        ),
    )
    .await;
    for name in ["a", "b"] {
        open(&vault, "acme", name).await.unwrap();
        assert_damaged(&open(&vault, "umbrella", name).await);
    }
    assert_damaged(&open(&vault, "acme", "c").await);
    let swap = "UPDATE secret SET sealed = (SELECT s.sealed FROM secret s WHERE s.workspace = 'acme' AND s.name <> secret.name AND s.name <> 'c')
                WHERE workspace = 'acme' AND name <> 'c'";
    // The subquery reads a copy, because it would otherwise read rows that the statement has already changed.
    let swap = format!(
        "CREATE TEMP TABLE before AS SELECT * FROM secret; {}",
        swap.replace("FROM secret s", "FROM before s")
    );
    tamper(&file, swap).await;
    for name in ["a", "b"] {
        assert_damaged(&open(&vault, "acme", name).await);
    }
    let scope = [
        VariableScope::agent("acme", "x").unwrap(),
        VariableScope::agent("acme", "y").unwrap(),
    ];
    let row = vec![NewValue::undeclared("V", "value of V")];
    vault.set_variables(&scope[0], row, "olga").await.unwrap();
    vault.open_variables(&scope, ["V"]).await.unwrap();
    tamper(&file, "UPDATE variable SET owner = 'y'".to_owned()).await;
    assert_damaged(&vault.open_variables(&scope, ["V"]).await);
    tamper(
        &file,
        "UPDATE variable SET owner = 'x', level = 'user'".to_owned(),
    )
    .await;
    assert_damaged(
        &vault
            .open_variables(&[VariableScope::user("acme", "x").unwrap()], ["V"])
            .await,
    );
    tamper(&file, "UPDATE variable SET level = 'agent'".to_owned()).await;
    vault.open_variables(&scope, ["V"]).await.unwrap();
}

#[tokio::test]
async fn values_with_a_flipped_bit_in_the_file_do_not_open() {
    let (_folder, file) = folder();
    let vault = vault(&file).await;
    let value = SecretString::from("value of a");
    vault
        .set_secret(&Workspace::new("acme"), "a", &value, "olga")
        .await
        .unwrap();
    let scope = [VariableScope::workspace("acme")];
    let row = vec![NewValue::undeclared("V", "value of V")];
    vault.set_variables(&scope[0], row, "olga").await.unwrap();
    let mut connection = SqliteConnectOptions::new()
        .filename(&file)
        .connect()
        .await
        .unwrap();
    for table in ["secret", "variable"] {
        let query = AssertSqlSafe(format!("SELECT sealed FROM {table}"));
        let row = sqlx::query(query).fetch_one(&mut connection).await.unwrap();
        let good: Vec<u8> = row.get(0);
        let mut put = async |bytes: Vec<u8>| {
            let query = AssertSqlSafe(format!("UPDATE {table} SET sealed = ?"));
            let query = sqlx::query(query).bind(bytes);
            query.execute(&mut connection).await.unwrap();
        };
        for _ in 0..100 {
            let random = env::distinct().unwrap();
            let at = usize::from(u16::from_le_bytes([random[0], random[1]]));
            let mut flipped = good.clone();
            flipped[at / 8 % good.len()] ^= 1 << (at % 8);
            put(flipped).await;
            if table == "secret" {
                assert_damaged(&open(&vault, "acme", "a").await);
            } else {
                assert_damaged(&vault.open_variables(&scope, ["V"]).await);
            }
        }
        put(good).await;
    }
    connection.close().await.unwrap();
    open(&vault, "acme", "a").await.unwrap();
    let opened = vault.open_variables(&scope, ["V"]).await.unwrap();
    assert_eq!(opened[0].value.expose_secret(), "value of V");
}
