//! The command `memories`, on PostgreSQL with and without pgvector.

use std::process::Command;

use serde_json::{Value, json};
use test_support::postgres::{Server, server, server_with_vectors};
use test_support::{Missing, Ran};
use tool_store::PostgresStore;

use super::DESK;

/// More memories in one scope than are searched without an index. Their embeddings have 64 dimensions.
const FILL: &str = "
    INSERT INTO tool_store.memory (id, workspace, agent, hash, content, type, durability, importance, source, model, created, updated)
    SELECT 'm' || n, 'acme', 'clerk', 'm' || n, 'm' || n, 'fact', 'core', 500000, 'user', 'small', 100, 100 FROM generate_series(0, 20000) n;
    INSERT INTO tool_store.memory_vector (seq, workspace, agent, model, vector)
    SELECT seq, workspace, agent, model, decode(repeat('0000803f', 64), 'hex') FROM tool_store.memory;
";

/// Runs `memories index`. Returns the exit code, standard output and standard error.
fn index(options: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(DESK);
    let output = command.args(["memories", "index"]).args(options);
    let output = output.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn psql(server: &Server, url: &str, sql: &str) -> Ran {
    let psql = server
        .program("psql")
        .ok_or_else(|| Missing::new("`psql` is not installed"))?;
    let mut command = Command::new(psql);
    command.args([url, "--set", "ON_ERROR_STOP=1", "--command", sql]);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Ok(())
}

/// Returns the URL of a new database with the tables of a store.
fn database(server: &Server) -> String {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let url = server.create_database().await.unwrap();
        PostgresStore::open(&url).await.unwrap().close().await;
        url
    })
}

/// The command creates the index of a model with many memories, and creates it once.
pub(super) fn index_is_created_with_pgvector() -> Ran {
    let server = server_with_vectors()?;
    let url = database(server);
    let (code, out, errors) = index(&["--store", &url]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{errors}");
    assert!(errors.contains("no index is needed"), "{errors}");
    psql(server, &url, FILL)?;
    for _ in 0..2 {
        let (code, out, errors) = index(&["--store", &url]);
        assert_eq!(code, Some(0), "{errors}");
        assert_eq!(out, "small (64 dimensions): indexed\n");
    }
    let (_, out, _) = index(&["--store", &url, "--format", "json"]);
    let indexes: Value = serde_json::from_str(&out).unwrap();
    let expected = json!({"indexes": [{"model": "small", "dimensions": 64}]});
    assert_eq!(indexes, expected);
    let exists = "DO $$ BEGIN ASSERT (SELECT count(*) = 1 FROM pg_indexes WHERE tablename = 'memory_vector' AND indexdef LIKE '%hnsw%'); END $$";
    psql(server, &url, exists)
}

/// Without the extension, the command fails with the statement that creates it.
pub(super) fn missing_pgvector_is_reported() -> Ran {
    let mut urls = Vec::new();
    let without = server()?;
    if !without.has_vectors() {
        urls.push(database(without));
    }
    // This user may create the tables but not the extension.
    let with = server_with_vectors()?;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(with.create_database()).unwrap();
    let (_, name) = url.rsplit_once('/').unwrap();
    let role = format!("owner_of_{name}");
    let create = format!("CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE {name} TO {role}");
    psql(with, &url, &create)?;
    urls.push(url.replace("postgres@", &format!("{role}@")));
    for url in urls {
        let (code, out, errors) = index(&["--store", &url]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{errors}");
        for part in [
            "no index can be created: the database has no extension `vector`",
            "install pgvector on the server and run `CREATE EXTENSION vector`",
            "searches work without an index, too",
        ] {
            assert!(errors.contains(part), "{errors}");
        }
    }
    Ok(())
}

/// A target that is not a PostgreSQL database is refused, with the option to write instead.
pub(super) fn other_targets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db").display().to_string();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = tool_store::SqliteStore::open(&file).await.unwrap();
        store.close().await;
    });
    for target in [
        &["--store", &*file][..],
        &["--admin", "http://127.0.0.1:9"],
        &[],
    ] {
        let (code, out, errors) = index(target);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{errors}");
        assert!(
            errors.contains("--store postgres://user@host/database"),
            "{errors}"
        );
    }
}
