//! Tests of opening a store and of migrating its tables.

use test_support::Ran;
use test_support::postgres::server;
use tool_store::suite::records::audit;
use tool_store::*;

use crate::database::Database;
use crate::processes::Worker;

// Four processes that start at once on an empty database all succeed, and any of them may migrate the tables.
pub(crate) async fn four_processes_start_on_an_empty_database_case() -> Ran {
    for _ in 0..5 {
        let database = Database::empty().await?;
        let mut workers = [(); 4].map(|()| Worker::start("open", &database.url));
        workers.iter_mut().for_each(Worker::go);
        for worker in workers {
            assert_eq!(worker.finish(), ["opened"]);
        }
    }
    Ok(())
}

pub(crate) async fn database_of_a_later_version_is_not_changed_case() -> Ran {
    let database = Database::empty().await?;
    database.options().open().await.unwrap();
    database
        .tamper("INSERT INTO tool_store.migration (version, description, success, checksum, execution_time) VALUES (999, 'later', TRUE, '', 0)")
        .await;
    let error = database.options().open().await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Newer { migration: 999, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("or a later version"), "{error}");
    database
        .tamper("DELETE FROM tool_store.migration WHERE version = 999")
        .await;
    database
        .tamper("UPDATE tool_store.migration SET checksum = 'x'")
        .await;
    let error = database.options().open().await.unwrap_err();
    assert!(matches!(error, ConnectError::Migration { .. }), "{error:?}");
    Ok(())
}

// A host may have its own tables and sqlx migrations in the same database.
pub(crate) async fn tables_of_the_host_are_not_changed_case() -> Ran {
    let database = Database::empty().await?;
    database
        .tamper("CREATE TABLE audit (id int); CREATE TABLE _sqlx_migrations (version bigint); INSERT INTO audit VALUES (7)")
        .await;
    let store = database.options().open().await.unwrap();
    store.write(vec![audit("a")]).await.unwrap();
    let mut connection = database.connect().await;
    let id: i32 = sqlx::query_scalar("SELECT id FROM public.audit")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(id, 7);
    Ok(())
}

// The database user of the store does not need the right to create tables if the migrations use a separate URL.
pub(crate) async fn migrator_may_have_more_rights_than_the_store_case() -> Ran {
    let database = Database::empty().await?;
    let caller = format!("caller_{}", std::process::id());
    let mut connection = database.connect().await;
    let create = format!("CREATE ROLE {caller} LOGIN");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create))
        .execute(&mut connection)
        .await
        .unwrap();
    let url = database.url.replace("postgres@", &format!("{caller}@"));
    // The tables do not exist, and this user must not create them.
    let error = PostgresStore::open(&url).await.unwrap_err();
    assert!(matches!(error, ConnectError::Migration { .. }), "{error:?}");
    assert!(error.to_string().contains("may create a schema"), "{error}");

    database.options().open().await.unwrap();
    let grant = format!(
        "GRANT USAGE ON SCHEMA tool_store TO {caller}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA tool_store TO {caller}"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(grant))
        .execute(&mut connection)
        .await
        .unwrap();
    let options = PostgresOptions::new(&url)
        .unwrap()
        .migrator(&database.url)
        .unwrap();
    let store = options.open().await.unwrap();
    store.write(vec![audit("a")]).await.unwrap();
    Ok(())
}

pub(crate) async fn unreachable_server_is_named_in_the_error_case() -> Ran {
    let server = server()?;
    let error = PostgresStore::open(&server.url("nowhere"))
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Unusable { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("/nowhere`") && text.contains("does not exist"),
        "{text}"
    );
    // No server listens on this port.
    let error = PostgresStore::open("postgres://user@127.0.0.1:1/tools")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:1/tools"), "{error}");
    let error = PostgresStore::open("no url").await.unwrap_err();
    assert!(matches!(error, ConnectError::Url(_)), "{error:?}");
    Ok(())
}

pub(crate) async fn errors_do_not_contain_the_password_case() -> Ran {
    let mut texts = Vec::new();
    for url in [
        "postgres://user:hunter2@127.0.0.1:1/tools",
        "postgres://user:hunter2@127.0.0.1:port/tools",
        "postgres://user:hunter2@127.0.0.1/tools?sslmode=upside-down",
    ] {
        let error = PostgresStore::open(url).await.unwrap_err();
        texts.push(format!("{error} {error:?}"));
    }
    let options = PostgresOptions::new("postgres://user:hunter2@127.0.0.1:1/tools").unwrap();
    texts.push(format!("{options:?}"));
    for text in texts {
        assert!(!text.contains("hunter2"), "{text}");
    }
    Ok(())
}
