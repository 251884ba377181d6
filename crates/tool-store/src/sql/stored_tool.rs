//! Rows and statements of functions, versions, tools and bindings.

use std::collections::BTreeSet;

use crate::store::{
    AgentBinding, BindingFilter, Editor, Function, FunctionFilter, FunctionVersion, Member,
    ResolvedTool, Scope, StoreError, StoredTool, StoredToolFilter, Timestamp, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::directory;
use super::statement::{RowOf, SqlChange, SqlDatabase, SqlReader, Statement};
use rows::{
    Prefix, function_columns, read_binding, read_function, read_tool, read_version, tool_columns,
    version_columns,
};

mod edit;
mod list;
mod rows;

pub(crate) use edit::edit;
pub(crate) use list::{
    bindings as list_bindings, due, functions as list_functions, resolution, tools as list_tools,
    versions as list_versions,
};

/// Narrows a query that ends in a condition to rows of the workspace, if any, and of the system.
fn narrow_to_seen<DB: SqlDatabase>(
    query: &mut Statement<DB>,
    column: &str,
    workspace: Option<&Workspace>,
) {
    query.push(format_args!(" AND ({column} IS NULL"));
    if let Some(workspace) = workspace {
        query.push(format_args!(" OR {column} = "));
        query.bind(workspace.as_str());
    }
    query.push(")");
}

/// Returns the query for the row with an id, if it belongs to the owner or to the system.
fn select_one<DB: SqlDatabase>(
    columns: &str,
    table: &str,
    id: &str,
    owner: Option<&Workspace>,
) -> Statement<DB> {
    let mut query = Statement::select(columns, table);
    query.push("id = ").bind(id);
    narrow_to_seen(&mut query, "workspace", owner);
    query
}

/// Returns the function with this id, if it belongs to the owner or to the system.
pub(crate) async fn function<R: SqlReader>(
    db: &mut R,
    owner: Option<&Workspace>,
    id: &str,
) -> Result<Option<Function>, R::Fault> {
    let columns = function_columns(Prefix::None);
    let rows = db.read(|| select_one(&columns, "function", id, owner));
    let read = |row| read_function(row, Prefix::None);
    Ok(rows.await?.first().map(read).transpose()?)
}

/// Returns the version with this id, if it belongs to the owner or to the system.
pub(crate) async fn version<R: SqlReader>(
    db: &mut R,
    owner: Option<&Workspace>,
    id: &str,
) -> Result<Option<FunctionVersion>, R::Fault> {
    let columns = version_columns(Prefix::None);
    let rows = db.read(|| select_one(&columns, "function_version", id, owner));
    let read = |row| read_version(row, Prefix::None);
    Ok(rows.await?.first().map(read).transpose()?)
}

/// Returns the tool with this id, if it belongs to the owner or to the system.
pub(crate) async fn tool<R: SqlReader>(
    db: &mut R,
    owner: Option<&Workspace>,
    id: &str,
) -> Result<Option<StoredTool>, R::Fault> {
    let columns = tool_columns(Prefix::None);
    let rows = db.read(|| select_one(&columns, "stored_tool", id, owner));
    let read = |row| read_tool(row, Prefix::None);
    Ok(rows.await?.first().map(read).transpose()?)
}

/// Returns the function with this id. Fails if it belongs neither to the editor's workspace nor to the system.
async fn own_function<R: SqlReader>(
    db: &mut R,
    editor: &Editor,
    id: &str,
) -> Result<Function, R::Fault> {
    let found = function(db, editor.owner(), id).await?;
    Ok(found.ok_or_else(|| Function::missing(id))?)
}

async fn own_version<R: SqlReader>(
    db: &mut R,
    editor: &Editor,
    id: &str,
) -> Result<FunctionVersion, R::Fault> {
    let found = version(db, editor.owner(), id).await?;
    Ok(found.ok_or_else(|| FunctionVersion::missing(id))?)
}

async fn own_tool<R: SqlReader>(
    db: &mut R,
    editor: &Editor,
    id: &str,
) -> Result<StoredTool, R::Fault> {
    let found = tool(db, editor.owner(), id).await?;
    Ok(found.ok_or_else(|| StoredTool::missing(id))?)
}

/// Returns the membership of a runtime user in the workspace of the editor.
async fn member_of<R: SqlReader>(
    db: &mut R,
    editor: &Editor,
    user: Option<&str>,
) -> Result<Option<Member>, R::Fault> {
    match (editor.owner(), user) {
        (Some(workspace), Some(user)) => directory::member(db, workspace, user).await,
        _ => Ok(None),
    }
}

/// Returns the query for the number of rows of a table whose column has a value.
pub(crate) fn count_of<DB: SqlDatabase>(table: &str, column: &str, value: &str) -> Statement<DB> {
    let mut query = Statement::select("count(*) AS amount", table);
    query.push(format_args!("{column} = ")).bind(value);
    query
}

async fn count<R: SqlReader>(
    db: &mut R,
    table: &'static str,
    column: &str,
    value: &str,
) -> Result<u64, R::Fault> {
    let rows = db.read(|| count_of(table, column, value)).await?;
    let amount = rows.first();
    let amount = amount.map(|row| Columns::new(row, table, "amount").number("amount"));
    Ok(amount.transpose()?.unwrap_or_default())
}

/// Returns the query for the number of the last version of a function.
pub(crate) fn last_number_of<DB: SqlDatabase>(function: &str) -> Statement<DB> {
    let mut query = Statement::select("coalesce(max(number), 0) AS last", "function_version");
    query.push("function = ").bind(function);
    query
}

async fn last_number<R: SqlReader>(db: &mut R, function: &str) -> Result<u32, R::Fault> {
    let rows = db.read(|| last_number_of(function)).await?;
    let last = rows.first();
    let last = last.map(|row| Columns::new(row, "function_version", "last").number("last"));
    Ok(last.transpose()?.unwrap_or_default())
}

/// Removes one row by its id.
async fn remove<C: SqlChange>(db: &mut C, table: &str, id: &str) -> Result<(), C::Fault> {
    let mut removal = Statement::delete(table);
    removal.push("id = ").bind(id);
    db.write(removal).await?;
    Ok(())
}

/// Implements [`StoredToolStore::stored_tools`](crate::store::StoredToolStore::stored_tools).
pub(crate) async fn tools<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    filter: &StoredToolFilter,
) -> Result<Vec<StoredTool>, R::Fault> {
    let most = filter.page()?;
    let rows = db.read(|| list_tools(workspace, filter, most)).await?;
    let rows = rows.iter().map(|row| read_tool(row, Prefix::None));
    let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
    if filter.is_backward() {
        rows.reverse();
    }
    Ok(rows)
}

/// Implements [`StoredToolStore::functions`](crate::store::StoredToolStore::functions).
pub(crate) async fn functions<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    filter: &FunctionFilter,
) -> Result<Vec<Function>, R::Fault> {
    let rows = db.read(|| list_functions(workspace, filter)).await?;
    let rows = rows.iter().map(|row| read_function(row, Prefix::None));
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Implements [`StoredToolStore::function_versions`](crate::store::StoredToolStore::function_versions).
pub(crate) async fn versions<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    function: &str,
) -> Result<Vec<FunctionVersion>, R::Fault> {
    let rows = db.read(|| list_versions(workspace, function)).await?;
    let rows = rows.iter().map(|row| read_version(row, Prefix::None));
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Implements [`StoredToolStore::bindings`](crate::store::StoredToolStore::bindings).
pub(crate) async fn bindings<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    filter: &BindingFilter,
) -> Result<Vec<AgentBinding>, R::Fault> {
    let rows = db.read(|| list_bindings(workspace, filter)).await?;
    Ok(rows.iter().map(read_binding).collect::<Result<_, _>>()?)
}

/// Implements [`StoredToolStore::resolve_tool`](crate::store::StoredToolStore::resolve_tool).
pub(crate) async fn resolve<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    id: &str,
) -> Result<Option<ResolvedTool>, R::Fault> {
    let rows = db.read(|| list::one_resolved(workspace, id)).await?;
    Ok(resolved(db, workspace, &rows).await?.pop())
}

/// Implements [`StoredToolStore::agent_tools`](crate::store::StoredToolStore::agent_tools).
pub(crate) async fn agent_tools<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    agent: &str,
) -> Result<Vec<ResolvedTool>, R::Fault> {
    let rows = db.read(|| resolution(workspace, agent)).await?;
    resolved(db, workspace, &rows).await
}

/// Returns the tools in the rows of a query, with the memberships of their runtime users.
async fn resolved<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    rows: &[RowOf<R>],
) -> Result<Vec<ResolvedTool>, R::Fault> {
    let tools = rows.iter().map(read_resolved);
    let mut tools = tools.collect::<Result<Vec<_>, _>>()?;
    let users = tools.iter().filter_map(ResolvedTool::runtime_user);
    let users: BTreeSet<String> = users.map(|user| user.user.to_owned()).collect();
    if users.is_empty() {
        return Ok(tools);
    }
    let users: Vec<&str> = users.iter().map(String::as_str).collect();
    let members = directory::members_named(db, workspace, &users).await?;
    for tool in &mut tools {
        let user = tool.runtime_user();
        let member = user.and_then(|user| members.iter().find(|member| member.user == user.user));
        tool.member = member.cloned();
    }
    Ok(tools)
}

/// Returns a tool with its function and the version that it runs.
fn read_resolved(row: &impl SqlRow) -> Result<ResolvedTool, StoreError> {
    let columns = Columns::new(row, "stored_tool", "t_id");
    let has = |id| Ok::<_, StoreError>(columns.maybe::<&str>(id)?.is_some());
    let function = has("f_id")?.then(|| read_function(row, Prefix::Function));
    let version = has("v_id")?.then(|| read_version(row, Prefix::Version));
    Ok(ResolvedTool {
        function: function.transpose()?,
        version: version.transpose()?,
        default_runtime_user: columns.maybe("default_runtime_user")?,
        ..ResolvedTool::new(read_tool(row, Prefix::Tool)?)
    })
}

/// Returns whether the retention of a deleted tool of the scope has ended.
pub(crate) async fn is_any_due<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    now: Timestamp,
) -> Result<bool, R::Fault> {
    Ok(!db.read(|| due(scope, now, 1)).await?.is_empty())
}

/// Implements [`StoredToolStore::purge_tools`](crate::store::StoredToolStore::purge_tools).
pub(crate) async fn purge<C: SqlChange>(
    db: &mut C,
    scope: Scope<'_>,
    now: Timestamp,
    most: u32,
) -> Result<Vec<StoredTool>, C::Fault> {
    let rows = db.read(|| {
        let mut query = due(scope, now, most);
        query.push(C::Database::CLAIM);
        query
    });
    let mut purged = Vec::new();
    for row in &rows.await? {
        let row = read_tool(row, Prefix::None)?;
        remove(db, "stored_tool", &row.id).await?;
        purged.push(row);
    }
    Ok(purged)
}
