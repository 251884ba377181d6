//! Tests of events while other transactions are open: in the same database, in a different database of the server, and in transactions that are
//! rolled back.

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use test_support::Ran;
use tool_store::suite::records::{acme, audit};
use tool_store::*;

use crate::database::Database;

/// Reads the events after a position, in pages of this size. Returns their keys and the position after them.
async fn after(store: &PostgresStore, position: &str, limit: u32) -> (Vec<String>, String) {
    let (mut keys, mut position) = (Vec::new(), position.to_owned());
    loop {
        let page = store.events(&acme(), Some(&position), limit).await.unwrap();
        assert!(!page.is_reset);
        position = page.next;
        let is_last = page.events.len() < usize::try_from(limit).unwrap();
        keys.extend(page.events.into_iter().map(|event| event.key.concat()));
        if is_last {
            return (keys, position);
        }
    }
}

async fn now(store: &PostgresStore) -> String {
    store.events(&acme(), None, 1).await.unwrap().next
}

async fn write(store: &PostgresStore, id: &str) {
    store.write(vec![audit(id)]).await.unwrap();
}

/// Inserts an audit row with SQL, in a transaction that stays open.
async fn insert(connection: &mut PgConnection, key: &str) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO tool_store.audit (workspace, key, call, tool, effect, arguments, original_hash, attempt, started, notes)
         VALUES ('acme', $1, 'c', 't', 0, '{}', '', 1, 1, '[]')",
    )
    .bind(key)
    .execute(connection)
    .await
    .map(drop)
}

// The event of a transaction that began first and commits last is read once, after the commit, and delays no other event. The event of a transaction
// that is rolled back is never read.
pub(crate) async fn open_transaction_delays_and_loses_no_event_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let start = now(&store).await;
    let (mut first, mut second) = (database.connect().await, database.connect().await);
    let mut open = first.begin().await.unwrap();
    insert(&mut open, "open").await.unwrap();
    let mut undone = second.begin().await.unwrap();
    insert(&mut undone, "undone").await.unwrap();
    for n in 0..3 {
        write(&store, &format!("{n}")).await;
    }
    let mut positions = Vec::new();
    for limit in [1, 2, 100] {
        let (keys, next) = after(&store, &start, limit).await;
        assert_eq!(keys, ["0", "1", "2"]);
        positions.push(next);
    }
    // A position between two rows of a page.
    let middle = store.events(&acme(), Some(&start), 2).await.unwrap().next;
    undone.rollback().await.unwrap();
    open.commit().await.unwrap();
    for (n, position) in positions.iter().enumerate() {
        let (keys, next) = after(&store, position, 1).await;
        assert_eq!(keys, ["open"], "{n}");
        assert!(after(&store, &next, 1).await.0.is_empty());
    }
    let (mut keys, _) = after(&store, &middle, 1).await;
    assert_eq!(
        keys.pop().as_deref(),
        Some("open"),
        "the page does not change, and events that were committed later follow"
    );
    assert_eq!(keys, ["2"]);
    let (mut keys, _) = after(&store, &start, 2).await;
    keys.sort();
    assert_eq!(keys, ["0", "1", "2", "open"]);
    Ok(())
}

// An open transaction in a different database of the server delays no event.
pub(crate) async fn transaction_of_another_database_delays_no_event_case() -> Ran {
    let (database, other) = (Database::create().await?, Database::create().await?);
    let store = database.options().open().await.unwrap();
    let mut connection = other.connect().await;
    let mut open = connection.begin().await.unwrap();
    sqlx::raw_sql("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
        .execute(&mut *open)
        .await
        .unwrap();
    let start = now(&store).await;
    write(&store, "one").await;
    let (keys, next) = after(&store, &start, 10).await;
    assert_eq!(keys, ["one"]);
    write(&store, "two").await;
    open.commit().await.unwrap();
    write(&store, "three").await;
    assert_eq!(after(&store, &next, 1).await.0, ["two", "three"]);
    assert_eq!(after(&store, &start, 1).await.0, ["one", "two", "three"]);
    Ok(())
}

// Savepoints have their own transaction ids, which a snapshot does not contain. Rows that were written in a savepoint are events of the outer
// transaction.
pub(crate) async fn rows_of_savepoints_are_events_of_their_transaction_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let start = now(&store).await;
    let mut connection = database.connect().await;
    let mut open = connection.begin().await.unwrap();
    insert(&mut open, "outer").await.unwrap();
    let mut kept = open.begin().await.unwrap();
    insert(&mut kept, "kept").await.unwrap();
    kept.commit().await.unwrap();
    let mut undone = open.begin().await.unwrap();
    insert(&mut undone, "undone").await.unwrap();
    undone.rollback().await.unwrap();
    write(&store, "beside").await;
    let (keys, next) = after(&store, &start, 10).await;
    assert_eq!(keys, ["beside"]);
    open.commit().await.unwrap();
    assert_eq!(after(&store, &next, 1).await.0, ["outer", "kept"]);
    Ok(())
}

// A restored copy of the database does not know the positions of the original database, although it has the same rows.
pub(crate) async fn restored_database_resets_its_readers_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    write(&store, "one").await;
    let position = now(&store).await;
    store.close().await;
    let name = database.url.rsplit('/').next().unwrap().to_owned();
    let base = Database::create().await?;
    let mut connection = base.connect().await;
    let copy = format!("CREATE DATABASE {name}_copy TEMPLATE {name}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(copy))
        .execute(&mut connection)
        .await
        .unwrap();
    let copy = PostgresStore::open(&format!("{}_copy", database.url))
        .await
        .unwrap();
    let page = copy.events(&acme(), Some(&position), 10).await.unwrap();
    assert!(page.is_reset);
    let original = database.options().open().await.unwrap();
    assert!(
        !original
            .events(&acme(), Some(&position), 10)
            .await
            .unwrap()
            .is_reset
    );
    // After a restore of an older state of the same database, readers detect that their position is unknown.
    write(&original, "two").await;
    let lost = now(&original).await;
    database
        .tamper("DELETE FROM tool_store.event WHERE seq = (SELECT max(seq) FROM tool_store.event)")
        .await;
    write(&original, "three").await;
    assert!(
        original
            .events(&acme(), Some(&lost), 10)
            .await
            .unwrap()
            .is_reset
    );
    Ok(())
}
