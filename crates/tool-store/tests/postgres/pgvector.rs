//! Tests of servers with and without pgvector, of dumps, of poolers, and of interrupted indexes.

use std::process::Command;
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Executor as _};
use test_support::postgres::{server, server_with_vectors};
use test_support::{Missing, Ran};
use tool_store::*;

use crate::database::Database;
use crate::large_scopes::{
    DIMENSIONS, Filled, GROUPS, LARGE, agent, database, embedding, index_is_used, models, nearest,
    new,
};
use crate::pooler::Pooler;

/// Creates a user who may create schemas in a database, but not the extension, and returns the URL of the database for this user.
async fn url_of_owner(database: &Database, role: &str) -> String {
    let mut connection = database.connect().await;
    let (_, name) = database.url.rsplit_once('/').unwrap();
    let role = format!("{role}_{}", std::process::id());
    let create = format!("CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE {name} TO {role}");
    sqlx::raw_sql(AssertSqlSafe(create))
        .execute(&mut connection)
        .await
        .unwrap();
    database.url.replace("postgres@", &format!("{role}@"))
}

// A store works without the extension, and reports why it uses no index: the server does not have it, or the user may not create it.
pub(crate) async fn store_works_without_pgvector_case() -> Ran {
    let with = server_with_vectors()?;
    // The usual server may be the one with pgvector.
    let without = Some(server()?).filter(|server| !server.has_vectors());
    for server in without.into_iter().chain([with]) {
        let database = Database::on(server).await?;
        let url = url_of_owner(&database, "owner").await;
        let store = PostgresStore::open(&url).await.unwrap();
        let indexing = store.index_memories().await.unwrap();
        let MemoryIndexing::Unavailable(reason) = indexing else {
            panic!("{indexing:?}");
        };
        assert!(
            reason.contains("install pgvector on the server and run `CREATE EXTENSION vector`"),
            "{reason}"
        );
        let is_allowed = !server.has_vectors();
        assert_eq!(
            reason.contains("permission denied"),
            !is_allowed,
            "{reason}"
        );
        for number in 0..30 {
            let vector = embedding("model", number * GROUPS, DIMENSIONS);
            store
                .remember(new(agent("a"), &number.to_string(), vector))
                .await
                .unwrap();
        }
        let found = nearest(
            &store,
            &agent("a"),
            &embedding("model", 7 * GROUPS, DIMENSIONS),
        )
        .await;
        assert_eq!(found[0], "7");
        assert_eq!(found.len(), 10);
        store.close().await;
    }
    Ok(())
}

// A dump with indexes is restored completely by an administrator. A user who may not create the extension gets all rows, and no index.
pub(crate) async fn dump_is_restored_with_and_without_pgvector_case() -> Ran {
    let server = server_with_vectors()?;
    let dump = server
        .program("pg_dump")
        .ok_or_else(|| Missing::new("`pg_dump` is not installed"))?;
    let restore = server
        .program("psql")
        .ok_or_else(|| Missing::new("`psql` is not installed"))?;
    let database = database().await?;
    database.options().open().await.unwrap().close().await;
    let mut connection = database.connect().await;
    // The name needs quotes in a statement.
    let model = "o'ne \\ model";
    let filled = Filled::new(&mut connection, "large", model, LARGE).await;
    let store = database.options().open().await.unwrap();
    let expected = [(model.to_owned(), 64)];
    assert_eq!(models(store.index_memories().await.unwrap()), expected);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.sql");
    let dumped = Command::new(dump)
        .arg("--no-owner")
        .arg("--file")
        .arg(&file)
        .arg(&database.url)
        .output()
        .unwrap();
    assert!(dumped.status.success(), "{dumped:?}");
    for is_administrator in [true, false] {
        let copy = Database::on(server).await?;
        let mut admin = copy.connect().await;
        let url = if is_administrator {
            copy.url.clone()
        } else {
            url_of_owner(&copy, "restorer").await
        };
        let restored = Command::new(&restore)
            .arg("--quiet")
            .arg("--file")
            .arg(&file)
            .arg(&url)
            .output()
            .unwrap();
        assert!(restored.status.success(), "{restored:?}");
        let errors = String::from_utf8_lossy(&restored.stderr).into_owned();
        assert_eq!(errors.contains("ERROR"), !is_administrator, "{errors}");
        let store = PostgresStore::open(&url).await.unwrap();
        let query = embedding(model, 1_000_000, DIMENSIONS);
        filled.check(&nearest(&store, &agent("large"), &query).await, &query);
        if is_administrator {
            index_is_used(&store, &mut admin, &agent("large"), &query).await;
            assert_eq!(models(store.index_memories().await.unwrap()), expected);
        } else {
            assert!(matches!(
                store.index_memories().await.unwrap(),
                MemoryIndexing::Unavailable(_)
            ));
        }
    }
    Ok(())
}

// The creation of an index is interrupted, and runs in two processes at once: in the end, there is one complete index.
pub(crate) async fn interrupted_index_is_created_again_case() -> Ran {
    let database = database().await?;
    database.options().open().await.unwrap().close().await;
    let mut connection = database.connect().await;
    let filled = Filled::new(&mut connection, "large", "model", LARGE).await;
    let (one, two) = (
        database.options().open().await.unwrap(),
        database.options().open().await.unwrap(),
    );
    let _ = tokio::time::timeout(Duration::from_millis(300), one.index_memories()).await;
    // The server ends a statement whose client has disconnected only after it is complete, unless an administrator ends it.
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND datname = current_database() AND pid <> pg_backend_pid()";
    connection.execute(end).await.unwrap();
    let began = Instant::now();
    loop {
        let (first, second) = tokio::join!(one.index_memories(), two.index_memories());
        let done = [first.unwrap(), second.unwrap()];
        if done
            .iter()
            .any(|done| matches!(done, MemoryIndexing::Indexed(_)))
        {
            break;
        }
        assert!(began.elapsed() < Duration::from_mins(2), "{done:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let valid: Vec<bool> = sqlx::query_scalar(
        "SELECT indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'memory\\_vector\\_hnsw%'",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert_eq!(valid, [true]);
    assert!(filled.recall(&two, "model").await > 0.95);
    Ok(())
}

// Settings of a search end with its transaction, so that searches with an index work behind a pooler in transaction mode.
pub(crate) async fn searches_work_behind_a_pooler_case() -> Ran {
    let server = server_with_vectors()?;
    let database = database().await?;
    database.options().open().await.unwrap().close().await;
    let mut connection = database.connect().await;
    let filled = Filled::new(&mut connection, "large", "model", LARGE).await;
    let pooler = Pooler::start(server)?;
    let options = PostgresOptions::new(&pooler.url(&database))
        .unwrap()
        .unprepared(true);
    let options = options
        .migrator(&database.url)
        .unwrap()
        .listener(&database.url)
        .unwrap();
    let store = options.connections(4).open().await.unwrap();
    assert_eq!(
        models(store.index_memories().await.unwrap()),
        [("model".to_owned(), 64)]
    );
    let searches = (0..4).map(async |task| {
        for number in 0..5 {
            let content = format!("pooled {task} {number}");
            let vector = embedding("model", 2_000_000 + task * 100 + number, DIMENSIONS);
            let added = store
                .remember(new(agent("small"), &content, vector.clone()))
                .await
                .unwrap();
            assert_eq!(added.event, MemoryEvent::Add);
            assert_eq!(nearest(&store, &agent("small"), &vector).await[0], content);
            let found = nearest(&store, &agent("large"), &vector).await;
            filled.check(&found, &vector);
        }
    });
    futures::future::join_all(searches).await;
    let query = embedding("model", 1, DIMENSIONS);
    index_is_used(&store, &mut connection, &agent("large"), &query).await;
    Ok(())
}
