//! Tests of the table constraints, which also reject writes of a faulty program, and of query plans.

use crate::sql::statement::Statement;
use crate::sql::stored_tool as shared;
use crate::sqlite::tests::plan;
use crate::{
    BindingFilter, FunctionFilter, Scope, SqliteStore, StoredToolFilter, Timestamp, Workspace,
};
use sqlx::Sqlite;

/// Executes a statement, and returns its error message, if any.
async fn refused(store: &SqliteStore, sql: &'static str) -> Option<String> {
    let done = store.update(sqlx::query(sql)).await;
    done.err().map(|error| error.0.to_string())
}

macro_rules! insert {
    ($workspace:literal, $system:literal, $by:literal, $deleted:literal, $tier:literal) => {
        concat!(
            "INSERT INTO stored_tool (id, workspace, name, target, requires_confirmation, enabled, system, source, created_by, deleted_at,
             retention_tier, created_at, updated_at) VALUES (hex(randomblob(8)), ",
            $workspace, ", 'a', 'client', 0, 1, ", $system, ", 'workspace', ", $by, ", ", $deleted, ", ", $tier, ", 1, 1)"
        )
    };
}

// S3-02: the workspace of a tool is null if and only if it is a system tool.
#[tokio::test]
async fn table_has_a_workspace_for_all_tools_except_system_tools() {
    let store = SqliteStore::in_memory().await.unwrap();
    let good = [
        insert!("'acme'", "0", "'olga'", "NULL", "NULL"),
        insert!("NULL", "1", "NULL", "NULL", "NULL"),
    ];
    for sql in good {
        assert_eq!(refused(&store, sql).await, None);
    }
    let bad = [
        insert!("'acme'", "1", "NULL", "NULL", "NULL"),
        insert!("NULL", "0", "'olga'", "NULL", "NULL"),
    ];
    for sql in bad {
        let why = refused(&store, sql).await.unwrap();
        assert!(why.contains("(workspace IS NULL) = system"), "{why}");
    }
}

// S3-27: a tool has a retention tier if and only if it is deleted.
#[tokio::test]
async fn table_has_a_tier_for_deleted_tools_only() {
    let store = SqliteStore::in_memory().await.unwrap();
    let sql = insert!("'acme'", "0", "'olga'", "5", "'none'");
    assert_eq!(refused(&store, sql).await, None);
    let bad = [
        insert!("'acme'", "0", "'olga'", "5", "NULL"),
        insert!("'acme'", "0", "'olga'", "NULL", "'short'"),
    ];
    for sql in bad {
        let why = refused(&store, sql).await.unwrap();
        assert!(
            why.contains("(deleted_at IS NULL) = (retention_tier IS NULL)"),
            "{why}"
        );
    }
}

// S3-34: the table refuses every update of a version.
#[tokio::test]
async fn table_refuses_updates_of_versions() {
    let store = SqliteStore::in_memory().await.unwrap();
    let rows = [
        "INSERT INTO function (id, workspace, name, kind, code, created_by, created_at, updated_at) VALUES ('f', 'acme', 'f', 'linked', '{}', 'olga', 1, 1)",
        "INSERT INTO function_version (id, workspace, function, number, files, uses, input_schema, output_schema, created_by, created_at)
         VALUES ('v', 'acme', 'f', 1, '{}', '[]', '{}', '{}', 'olga', 1)",
    ];
    for sql in rows {
        assert_eq!(refused(&store, sql).await, None);
    }
    let why = refused(&store, "UPDATE function_version SET label = 'x'").await;
    assert!(why.unwrap().contains("never changes"));
}

// Each of these lists, counts and searches of stored tools uses an index.
#[tokio::test]
async fn every_query_is_narrowed_by_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let own = Workspace::new("acme");
    let tools = |filter| shared::list_tools(&own, &filter, 10);
    let functions = FunctionFilter::default();
    let queries: [(_, Statement<Sqlite>); 9] = [
        (
            "stored_tool_by_workspace",
            tools(StoredToolFilter::default()),
        ),
        (
            "stored_tool_by_workspace",
            tools(StoredToolFilter {
                before: Some((Timestamp::default(), "x".to_owned())),
                ..StoredToolFilter::default()
            }),
        ),
        (
            "stored_tool_by_workspace",
            tools(StoredToolFilter {
                name: Some("x".to_owned()),
                ..StoredToolFilter::default()
            }),
        ),
        (
            "function_by_workspace",
            shared::list_functions(&own, &functions),
        ),
        (
            "agent_tool",
            shared::list_bindings(&own, &BindingFilter::default()),
        ),
        ("agent_tool", shared::resolution(&own, "x")),
        (
            "stored_tool_by_due",
            shared::due(Scope::All, Timestamp::default(), 10),
        ),
        (
            "stored_tool_by_function",
            shared::count_of("stored_tool", "function", "x"),
        ),
        (
            "function_version_by_parent",
            shared::count_of("function_version", "parent", "x"),
        ),
    ];
    for (index, query) in queries {
        let sql = query.query.sql();
        let plan = plan(&store, sql.as_str()).await;
        let reads_a_table = ["SCAN stored_tool", "SCAN function", "SCAN agent_tool"];
        let reads_all = reads_a_table.iter().any(|scan| plan.contains(scan));
        assert!(plan.contains(index) && !reads_all, "{index}: {plan}");
    }
}
