//! Tests of SQLite files: opening, reading back, dropped callers and erasure.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqlSafeStr as _};
use tempfile::TempDir;
use tool_store::suite::records::{
    acme, at, audit, intent, key, key_of, message, request, spill, thread,
};
use tool_store::*;
use tool_store::{OpenError, SqliteStore};

#[path = "shared/children.rs"]
mod children;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    (folder, file)
}

/// Changes the file through a separate connection.
async fn tamper(file: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Returns all audit rows of the store.
async fn exported(store: &SqliteStore) -> Vec<AuditRow> {
    store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap()
}

#[tokio::test]
async fn file_that_is_not_a_database_is_named_in_the_error() {
    let (folder, file) = folder();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "This is a text, and long enough to have a header. ".repeat(50),
    )
    .unwrap();
    for wrong in [
        folder.path().join("nowhere/state.db"),
        folder.path().into(),
        text,
    ] {
        let error = SqliteStore::open(&wrong).await.unwrap_err();
        assert!(matches!(error, OpenError::Unopenable { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(&*wrong.to_string_lossy()), "{message}");
        assert!(message.contains("folder that exists"), "{message}");
    }
    let url = format!("sqlite://{}?mode=upside-down", file.display());
    assert!(matches!(
        SqliteStore::open(url).await,
        Err(OpenError::Unopenable { .. })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_opens_create_one_file() {
    for _ in 0..10 {
        let (_folder, file) = folder();
        let start = std::sync::Arc::new(tokio::sync::Barrier::new(16));
        let opened: Vec<_> = (0..16)
            .map(|_| {
                let (file, start) = (file.clone(), start.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    SqliteStore::open(file).await
                })
            })
            .collect();
        for store in opened {
            store.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn file_of_a_later_version_is_not_changed() {
    let (_folder, file) = folder();
    SqliteStore::open(&file).await.unwrap().close().await;
    tamper(
        &file,
        "INSERT INTO _sqlx_migrations VALUES (999, 'later', 0, TRUE, x'00', 0)",
    )
    .await;
    let error = SqliteStore::open(&file).await.unwrap_err();
    assert!(
        matches!(error, OpenError::Newer { migration: 999, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("or a later version"), "{error}");
    tamper(&file, "DELETE FROM _sqlx_migrations WHERE version = 999").await;
    SqliteStore::open(&file).await.unwrap();
}

#[tokio::test]
async fn file_with_changed_migrations_is_refused() {
    let (_folder, file) = folder();
    SqliteStore::open(&file).await.unwrap().close().await;
    tamper(&file, "UPDATE _sqlx_migrations SET checksum = x'00'").await;
    let error = SqliteStore::open(&file).await.unwrap_err();
    assert!(matches!(error, OpenError::Migration { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_is_kept_and_shared_by_path_and_url() {
    let (_folder, file) = folder();
    let one = SqliteStore::open(&file).await.unwrap();
    one.write(vec![audit("a")]).await.unwrap();
    let two = SqliteStore::open(format!("sqlite://{}", file.display()))
        .await
        .unwrap();
    assert_eq!(exported(&two).await, [audit("a")]);
    assert!(ApprovalStore::is_durable(&two) && EffectLedger::is_durable(&two));
}

#[tokio::test]
async fn in_memory_stores_are_separate_and_not_durable() {
    let one = SqliteStore::in_memory().await.unwrap();
    let two = SqliteStore::open("sqlite::memory:").await.unwrap();
    one.write(vec![audit("a")]).await.unwrap();
    assert_eq!(exported(&one.clone()).await, [audit("a")]);
    assert_eq!(exported(&two).await, []);
    // A new store copies the tables of the first store, but no rows.
    let three = SqliteStore::in_memory().await.unwrap();
    assert_eq!(exported(&three).await, []);
    assert!(!ApprovalStore::is_durable(&two) && !EffectLedger::is_durable(&two));
}

#[tokio::test]
async fn unreadable_value_is_reported_with_row_and_column() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    store.open(request("a")).await.unwrap();
    store.begin(intent("k"), Some(audit("r"))).await.unwrap();
    let said = message("th", Role::Tool, Some(0));
    store.append(said).await.unwrap();
    for (sql, names) in [
        (
            "UPDATE approval SET status = 'lost'",
            ["approval", "`a`", "`status`", "`lost`"],
        ),
        (
            "UPDATE approval SET status = 'pending', kind = 'odd'",
            ["approval", "`a`", "`kind`", "`odd`"],
        ),
        (
            "UPDATE approval SET kind = 'call', verdict = 'edit'",
            ["approval", "`a`", "`verdict`", "`edit`"],
        ),
        (
            "UPDATE approval SET verdict = 'deny'",
            ["approval", "`a`", "`approver`", "null"],
        ),
        (
            "UPDATE effect SET state = 'odd'",
            ["effect", "`k`", "`state`", "`odd`"],
        ),
        (
            "UPDATE effect SET state = 'running', attempt = -1",
            ["effect", "`k`", "`attempt`", "-1"],
        ),
        (
            "UPDATE audit SET effect = 300",
            ["audit", "`r`", "`effect`", "300"],
        ),
        (
            "UPDATE audit SET effect = 1, notes = '{'",
            ["audit", "`r`", "`notes`", "sequence"],
        ),
        (
            "UPDATE audit SET notes = '[]', place = '{}'",
            ["audit", "`r`", "`place`", "`{}`"],
        ),
        (
            "UPDATE message SET role = 'odd'",
            ["message", "`th`", "`role`", "`odd`"],
        ),
        (
            "UPDATE message SET role = 'tool', call_position = -1",
            ["message", "`th`", "`call_position`", "-1"],
        ),
    ] {
        tamper(&file, sql).await;
        let answer = match names[0] {
            "approval" => ApprovalStore::get(&store, &acme(), "a").await.map(drop),
            "effect" => EffectLedger::get(&store, &key("k")).await.map(drop),
            "audit" => store
                .export(Scope::All, &AuditFilter::default())
                .await
                .map(drop),
            _ => ThreadStore::read(&store, &thread("th"), None)
                .await
                .map(drop),
        };
        match answer {
            Err(StoreError::Corrupt(text)) => {
                assert!(
                    names.iter().all(|name| text.contains(name)),
                    "{sql}: {text}"
                );
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn an_intent_whose_audit_row_cannot_be_written_is_not_stored() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    tamper(
        &file,
        "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT raise(ABORT, 'full'); END",
    )
    .await;
    let refused = store.begin(intent("k"), Some(audit("r"))).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    assert_eq!(EffectLedger::get(&store, &key("k")).await.unwrap(), None);
    assert!(store.write(vec![audit("r")]).await.is_err());
    tamper(&file, "DROP TRIGGER full").await;
    assert_eq!(
        store.begin(intent("k"), Some(audit("r"))).await.unwrap(),
        Begun::New
    );
}

// The row of a child and a message in a thread are stored together or not at all, whichever of the two writes fails.
#[tokio::test]
async fn failed_write_to_a_child_thread_changes_nothing() {
    for fault in [
        "CREATE TRIGGER full BEFORE INSERT ON message BEGIN SELECT raise(ABORT, 'full'); END",
        "CREATE TRIGGER full BEFORE INSERT ON child_thread BEGIN SELECT raise(ABORT, 'full'); END",
    ] {
        let (_folder, file) = folder();
        let store = SqliteStore::open(&file).await.unwrap();
        children::failed_write_changes_nothing(&store, async |is_full| {
            let sql = if is_full { fault } else { "DROP TRIGGER full" };
            tamper(&file, sql).await;
        })
        .await;
    }
}

#[tokio::test]
async fn readers_do_not_wait_for_a_writer() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    store.write(vec![audit("a")]).await.unwrap();
    let mut other = SqliteConnectOptions::new()
        .filename(&file)
        .connect()
        .await
        .unwrap();
    let mut writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    sqlx::query("DELETE FROM audit")
        .execute(&mut *writing)
        .await
        .unwrap();
    assert_eq!(exported(&store).await, [audit("a")]);
    writing.rollback().await.unwrap();
}

/// Polls a future `polls` times, then drops it. Returns whether it had ended.
async fn drop_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        if future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
        {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_micros(200)).await;
    }
    false
}

// M6: a caller that is dropped midway leaves the intent with its audit row, or neither, and later calls of the store succeed.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_caller_leaves_the_store_consistent() {
    let (_folder, file) = folder();
    for store in [
        SqliteStore::open(&file).await.unwrap(),
        SqliteStore::in_memory().await.unwrap(),
    ] {
        let mut ended = 0;
        for round in 0..300_usize {
            let key = format!("k{round}");
            // Of every thirty rounds, the first is never polled and the last may run to its end.
            let polls = if round % 30 == 29 {
                usize::MAX
            } else {
                round % 30
            };
            // After every dropped call, a call that is not dropped succeeds.
            let begun = async {
                let begun = store.begin(intent(&key), Some(audit(&key))).await;
                assert_eq!(begun.unwrap(), Begun::New);
            };
            let begun = drop_after(polls, begun);
            ended += usize::from(begun.await);
        }
        assert!(ended > 0 && ended < 300, "{ended} of 300 calls completed");
        let effects = EffectLedger::list(&store, Scope::All, None).await.unwrap();
        let audited = exported(&store).await;
        let mut begun: Vec<String> = effects
            .into_iter()
            .map(|row| row.intent.identity.key().as_str().to_owned())
            .collect();
        let mut rows: Vec<String> = audited.iter().map(key_of).collect();
        begun.sort();
        rows.sort();
        assert_eq!(begun, rows);
        assert!(begun.len() >= ended);
        assert_eq!(store.begin(intent("last"), None).await.unwrap(), Begun::New);
    }
}

#[tokio::test]
async fn erased_contents_are_removed_from_every_file() {
    const SENTINEL: &str = "the-sentinel-of-erasure";
    let (folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let found = || {
        let files = std::fs::read_dir(folder.path()).unwrap();
        let found = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        found
            .filter(|bytes| {
                bytes
                    .windows(SENTINEL.len())
                    .any(|at| at == SENTINEL.as_bytes())
            })
            .count()
    };
    store
        .write(vec![
            AuditRow {
                arguments: SENTINEL.repeat(1000),
                ..audit("a")
            },
            AuditRow {
                principal: None,
                ..audit("b")
            },
        ])
        .await
        .unwrap();
    let said = NewMessage {
        content: SENTINEL.into(),
        ..message("th", Role::User, None)
    };
    store.append(said).await.unwrap();
    assert!(found() > 0);
    assert_eq!(AuditSink::erase(&store, &acme(), "ann").await.unwrap(), 1);
    assert!(found() > 0);
    assert_eq!(ThreadStore::erase(&store, &thread("th")).await.unwrap(), 1);
    assert_eq!(found(), 0);
    assert_eq!(exported(&store).await.len(), 1);
}

// A removed document leaves neither its content nor its words in a file: words of its index are overwritten, too.
#[tokio::test]
async fn removed_document_is_removed_from_every_file() {
    const WORD: &str = "sentinelofremoval";
    let (folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let found = || {
        let files = std::fs::read_dir(folder.path()).unwrap();
        let files = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        files
            .filter(|bytes| bytes.windows(WORD.len()).any(|at| at == WORD.as_bytes()))
            .count()
    };
    let name = DocumentName::new(&acme(), "a.md").unwrap();
    let write = DocumentWrite {
        name: name.clone(),
        mode: DocumentWriteMode::Replace,
        content: WORD.into(),
        mime: None,
        source: "agent".to_owned(),
        principal: None,
        at: at(1),
    };
    store.write_document(write).await.unwrap();
    let claim = IndexClaim {
        worker: "one".to_owned(),
        lease: Duration::from_secs(1),
        most_recoveries: 3,
        at: at(1),
    };
    let document = store.claim_document(Scope::All, claim).await.unwrap();
    let token = document.unwrap().row.token.unwrap();
    let outcome = IndexOutcome::Indexed {
        text: Some(WORD.to_owned()),
        chunks: vec![WORD.to_owned()],
    };
    assert!(
        store
            .finish_index(&name, &token, outcome, at(1))
            .await
            .unwrap()
    );
    assert!(found() > 0);
    assert!(store.remove_document(&name).await.unwrap());
    assert_eq!(found(), 0);
}

// The words of a memory are in a full-text index too, whose segments keep removed words by default.
#[tokio::test]
async fn words_of_erased_memories_are_removed_from_every_file() {
    const SENTINELS: [&str; 3] = ["sentinelone", "sentineltwo", "sentinelthree"];
    let (folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let found = || {
        let files = std::fs::read_dir(folder.path()).unwrap();
        let files: Vec<Vec<u8>> = files
            .map(|file| std::fs::read(file.unwrap().path()).unwrap())
            .collect();
        SENTINELS.map(|word| {
            // An index stores only the end of a word that begins like the previous word.
            let end = &word.as_bytes()[4..];
            files
                .iter()
                .any(|bytes| bytes.windows(end.len()).any(|at| at == end))
        })
    };
    let workspace = acme();
    for (number, word) in SENTINELS.into_iter().enumerate() {
        let new = NewMemory {
            scope: MemoryScope::shared(&workspace),
            content: format!("The word is {word}"),
            memory_type: MemoryType::Fact,
            durability: Durability::Core,
            importance: Importance::default(),
            source: MemorySource::User,
            principal: Some(format!("user {number}")),
            conversation: None,
            vector: None,
            at: at(100),
        };
        store.remember(new).await.unwrap();
    }
    assert_eq!(found(), [true, true, true]);
    let of_user = Erasure::Principal {
        workspace: &workspace,
        principal: "user 0",
    };
    let erased = store.erase_contents(of_user).await.unwrap();
    assert_eq!((erased.memories, found()), (1, [false, true, true]));
    let filter = MemoryFilter::default();
    let rows = store.list_memories(Scope::All, &filter).await.unwrap();
    let second = rows.iter().find(|row| row.content.ends_with(SENTINELS[1]));
    let correction = MemoryCorrection {
        content: Some("The word is different".to_owned()),
        ..MemoryCorrection::default()
    };
    let id = &second.unwrap().id;
    let corrected = store.correct_memory(&workspace, id, &correction).await;
    assert_eq!(
        (corrected.unwrap().source, found()),
        (MemorySource::User, [false, false, true])
    );
    // An operator corrects the third memory with an audit row.
    let third = rows.iter().find(|row| row.content.ends_with(SENTINELS[2]));
    let third = third.unwrap();
    let correction = MemoryCorrection {
        content: Some("Another word".to_owned()),
        ..correction
    };
    let request = ChangeRequest {
        change: Change::Record(RecordChange::CorrectMemory {
            workspace: workspace.clone(),
            id: third.id.clone(),
            correction: Box::new(correction),
            expected: Expected::Same(Some(Box::new(third.clone()))),
        }),
        audit: AuditRow::of_operator(&workspace, "olga", "memory.correct", "{}", at(300)).unwrap(),
        key: None,
    };
    store.apply(request).await.unwrap();
    assert_eq!(found(), [false, false, false]);
    let shared = MemoryScope::shared(&workspace);
    assert_eq!(store.remove_memories(&shared).await.unwrap(), 2);
}

#[tokio::test]
async fn text_of_a_deleted_spill_is_deleted() {
    let (_folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let text = "text".repeat(50_000);
    store.put(spill("s", &text)).await.unwrap();
    let count = || async {
        let mut connection = SqliteConnectOptions::new()
            .filename(&file)
            .connect()
            .await
            .unwrap();
        let count = AssertSqlSafe("SELECT count(*) FROM spill_chunk");
        sqlx::query_scalar::<_, i64>(count)
            .fetch_one(&mut connection)
            .await
            .unwrap()
    };
    assert!(count().await > 1);
    assert_eq!(
        SpillStore::expire(&store, Scope::All, at(1000))
            .await
            .unwrap(),
        1
    );
    assert_eq!(count().await, 0);
}

/// Creates a file with the migrations before the migration `before`, and runs the statements `rows`.
async fn earlier_file(before: i64, rows: &'static str) -> (TempDir, PathBuf) {
    let (folder, file) = folder();
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let mut db = options.connect().await.unwrap();
    let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    let migrations = std::fs::read_dir(migrations).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (number, name) = name.split_once('_').unwrap();
        let (number, name) = (number.parse().unwrap(), name.to_owned().into());
        let text = AssertSqlSafe(text).into_sql_str();
        Migration::new(number, name, MigrationType::Simple, text, false)
    });
    let mut migrations: Vec<Migration> = migrations
        .filter(|migration| migration.version < before)
        .collect();
    migrations.sort_by_key(|migration| migration.version);
    let migrator = Migrator::with_migrations(migrations);
    migrator.run_direct(None, &mut db, false).await.unwrap();
    sqlx::raw_sql(rows).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
    (folder, file)
}

// Earlier versions named the counter of cached tokens differently, in rows and in messages. Counters that they did not store are unknown.
#[tokio::test]
async fn tokens_of_earlier_runs_are_kept() {
    let (_folder, file) = earlier_file(
        16,
        "INSERT INTO run (workspace, conversation, number, owner, lease_until, state, started, attempt, steps, input_tokens, output_tokens, cached_tokens)
         VALUES ('acme', 't', 1, 'one', 9, 'running', 1, 1, 2, 100, 20, 60)",
    )
    .await;
    let store = SqliteStore::open(&file).await.unwrap();
    let row = store.get_run(&RunId::new(thread("t"), 1)).await.unwrap();
    let usage = Usage {
        input_tokens: 100,
        cache_read_tokens: Some(60),
        output_tokens: 20,
        ..Usage::default()
    };
    let progress = RunProgress {
        steps: 2,
        usage,
        unmeasured: 0,
    };
    assert_eq!(row.unwrap().progress, progress);
    let earlier = r#"{"input_tokens":100,"output_tokens":20,"cached_tokens":60}"#;
    assert_eq!(serde_json::from_str::<Usage>(earlier).unwrap(), usage);
    let written = serde_json::to_string(&usage).unwrap();
    assert_eq!(serde_json::from_str::<Usage>(&written).unwrap(), usage);
}
