//! Tests of the constraints of the tables of stored tools, and of conflicting changes of a workspace and of the system.

use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _};
use test_support::Ran;
use tool_store::suite::records::{acme, at};
use tool_store::*;

use crate::database::Database;

/// Executes a statement, and returns the reason why the database refused it.
async fn refused(connection: &mut PgConnection, sql: &str) -> Option<String> {
    let done = connection.execute(AssertSqlSafe(sql)).await;
    done.err().map(|error| error.to_string())
}

/// Inserts a client tool with these values of `workspace`, `system`, `created_by`, `deleted_at` and `retention_tier`.
fn insert(id: u32, values: [&str; 5]) -> String {
    let [workspace, system, by, deleted, tier] = values;
    format!(
        "INSERT INTO tool_store.stored_tool (id, workspace, name, target, requires_confirmation, enabled, system, source, created_by, deleted_at, \
         retention_tier, created_at, updated_at) \
         VALUES ('{id}', {workspace}, 'a', 'client', false, true, {system}, 'workspace', {by}, {deleted}, {tier}, 1, 1)"
    )
}

// S3-02: exactly the system tools have no workspace, and the other tools have an author. S3-27: exactly the deleted tools have a retention tier.
// S3-34: the table refuses every update of a version.
pub(crate) async fn tables_refuse_invalid_rows_case() -> Ran {
    let database = Database::create().await?;
    database.options().open().await.unwrap();
    let mut connection = database.connect().await;
    let rows = [
        (["'acme'", "false", "'olga'", "NULL", "NULL"], None),
        (["NULL", "true", "NULL", "NULL", "NULL"], None),
        (["'acme'", "false", "'olga'", "5", "'none'"], None),
        (
            ["'acme'", "true", "NULL", "NULL", "NULL"],
            Some("stored_tool_has_an_owner"),
        ),
        (
            ["NULL", "false", "'olga'", "NULL", "NULL"],
            Some("stored_tool_has_an_owner"),
        ),
        (
            ["'acme'", "false", "NULL", "NULL", "NULL"],
            Some("stored_tool_has_an_author"),
        ),
        (
            ["'acme'", "false", "'olga'", "5", "NULL"],
            Some("stored_tool_has_a_tier"),
        ),
        (
            ["'acme'", "false", "'olga'", "NULL", "'short'"],
            Some("stored_tool_has_a_tier"),
        ),
    ];
    for (id, (values, constraint)) in (0..).zip(rows) {
        let why = refused(&mut connection, &insert(id, values)).await;
        match (why, constraint) {
            (None, None) => {}
            (Some(why), Some(constraint)) if why.contains(constraint) => {}
            (why, _) => panic!("{values:?}: {why:?}"),
        }
    }
    for sql in [
        "INSERT INTO tool_store.function (id, workspace, name, kind, code, created_by, created_at, updated_at) VALUES ('f', 'acme', 'f', 'linked', '{}', 'olga', 1, 1)",
        "INSERT INTO tool_store.function_version (id, workspace, function, number, files, uses, input_schema, output_schema, created_by, created_at)
         VALUES ('v', 'acme', 'f', 1, '{}', '[]', '{}', '{}', 'olga', 1)",
    ] {
        assert_eq!(refused(&mut connection, sql).await, None);
    }
    let update = "UPDATE tool_store.function_version SET label = 'x'";
    let why = refused(&mut connection, update).await.unwrap();
    assert!(why.contains("never changes"), "{why}");
    Ok(())
}

// A change of a workspace and a change of the system do not wait for the same lock. If one change refers to a row that the other change removes, the
// store repeats the checks of the change that writes last.
pub(crate) async fn function_is_not_removed_while_a_tool_of_another_owner_is_created_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let edit = async |editor, change| store.edit(ToolEdit::new(editor, change, at(1))).await;
    let olga = Editor::member(acme(), "olga", MemberRole::Author);
    let mut other = database.connect().await;
    for removes in [true, false] {
        let tool = "look".to_owned();
        let new = NewFunction::new("look", FunctionKind::Linked { tool });
        let created = edit(Editor::System, ToolChange::CreateFunction(new)).await;
        let id = created.unwrap().into_function().unwrap().id;
        let (change, editor, sql) = if removes {
            let tool = Box::new(NewTool::server("look", &*id));
            let sql = format!("DELETE FROM tool_store.function WHERE id = '{id}'");
            (ToolChange::CreateTool(tool), olga.clone(), sql)
        } else {
            let sql = format!(
                "INSERT INTO tool_store.stored_tool (id, workspace, name, target, function, requires_confirmation, enabled, system, source, created_by, \
                 created_at, updated_at) VALUES ('t', 'acme', 'a', 'server', '{id}', false, true, false, 'workspace', 'olga', 1, 1)"
            );
            (ToolChange::DeleteFunction { id }, Editor::System, sql)
        };
        other.execute("BEGIN").await.unwrap();
        other.execute(AssertSqlSafe(sql)).await.unwrap();
        let end = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            other.execute("COMMIT").await.unwrap();
        };
        let (edited, ()) = futures::join!(edit(editor, change), end);
        match edited {
            Err(StoreError::Missing(_)) if removes => {}
            Err(StoreError::Conflict(text)) if !removes && text.contains("used by 1 tool,") => {}
            edited => panic!("removes: {removes}, {edited:?}"),
        }
    }
    Ok(())
}

// S3-28: of updates on several connections that expect the same row, one succeeds.
pub(crate) async fn one_of_many_updates_on_open_connections_wins_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let olga = Editor::member(acme(), "olga", MemberRole::Author);
    let any = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let any = ToolSchema::new(any).unwrap();
    let new = ToolChange::CreateTool(Box::new(NewTool::client("ask", any.clone(), any)));
    let created = store.edit(ToolEdit::new(olga.clone(), new, at(1))).await;
    let mut tool = created.unwrap().into_tool().unwrap();
    // The first round opens the connections. Without it, the first update could end before the other updates begin.
    for round in 2..12 {
        let updates = (0..8).map(|_| {
            let update = ToolChange::UpdateTool {
                id: tool.id.clone(),
                update: Box::new(ToolUpdate::enable(false)),
                expected: Some(tool.updated_at),
            };
            store.edit(ToolEdit::new(olga.clone(), update, at(round)))
        });
        let edited = futures::future::join_all(updates).await;
        let mut made = edited.into_iter().filter_map(Result::ok);
        tool = made.next().unwrap().into_tool().unwrap();
        assert_eq!(made.count(), 0, "round {round}");
    }
    Ok(())
}
