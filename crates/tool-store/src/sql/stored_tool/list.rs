//! Queries for lists of functions, versions, tools and bindings.

use crate::sql::statement::{SqlDatabase, Statement};
use crate::store::{
    BindingFilter, FunctionFilter, IncludeDeleted, Scope, StoredToolFilter, Timestamp, ToolSource,
    ToolTarget, Workspace,
};

use super::narrow_to_seen;
use super::rows::{BINDING, Prefix, function_columns, tool_columns, version_columns};

/// The owners of the rows of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owners {
    Workspace,
    System,
    Both,
}

/// The order of a page, by the time of creation and the id.
#[derive(Clone, Copy)]
struct Order {
    is_backward: bool,
    limit: Option<u32>,
}

impl Order {
    fn push<DB: SqlDatabase>(self, query: &mut Statement<DB>) {
        let order = if self.is_backward { " DESC" } else { "" };
        query.push(format_args!(" ORDER BY created_at{order}, id{order}"));
        query.limit(self.limit);
    }
}

/// Returns the query for a page of the rows of owners. `narrow` adds the other conditions.
///
/// For [`Owners::Both`], the query merges the pages of two queries, because no index contains the rows of both owners in the order of the list.
fn page<DB: SqlDatabase>(
    (columns, table): (&str, &str),
    (owners, workspace): (Owners, &Workspace),
    order: Order,
    narrow: impl Fn(&mut Statement<DB>),
) -> Statement<DB> {
    let own = |query: &mut Statement<DB>| {
        query.push("workspace = ").bind(workspace.as_str());
        narrow(query);
        order.push(query);
    };
    let of_system = |query: &mut Statement<DB>| {
        query.push("workspace IS NULL");
        narrow(query);
        order.push(query);
    };
    if owners != Owners::Both {
        let mut query = Statement::select(columns, table);
        match owners {
            Owners::System => of_system(&mut query),
            _ => own(&mut query),
        }
        return query;
    }
    let part = format!("SELECT {columns} FROM {}{table} WHERE ", DB::SCHEMA);
    let mut query = Statement::part("SELECT * FROM (");
    query.push(&part);
    own(&mut query);
    query.push(") AS own UNION ALL SELECT * FROM (").push(&part);
    of_system(&mut query);
    query.push(") AS of_system");
    order.push(&mut query);
    query
}

/// Narrows a query to rows whose name contains a text. The case of ASCII letters is ignored: `lower` changes no other letters in SQLite, or in
/// PostgreSQL with the collation `C` of the column.
fn narrow_to_name<DB: SqlDatabase>(query: &mut Statement<DB>, name: Option<&str>) {
    if let Some(name) = name {
        query.push(format_args!(" AND {}(lower(name), ", DB::POSITION));
        query.bind(name.to_ascii_lowercase()).push(") > 0");
    }
}

/// Narrows a query to rows before or after a place.
fn narrow_to_side<DB: SqlDatabase>(
    query: &mut Statement<DB>,
    compare: &str,
    place: Option<&(Timestamp, String)>,
) {
    if let Some((at, id)) = place {
        query.push(format_args!(" AND (created_at, id) {compare} ("));
        query.bind(*at).push(", ").bind(id).push(")");
    }
}

/// Returns the query for a page of tools. The rows of a page before a place are in reverse order.
pub(crate) fn tools<DB: SqlDatabase>(
    workspace: &Workspace,
    filter: &StoredToolFilter,
    most: u32,
) -> Statement<DB> {
    let owners = match filter.source {
        Some(ToolSource::System) => Owners::System,
        Some(_) => Owners::Workspace,
        None => Owners::Both,
    };
    let order = Order {
        is_backward: filter.is_backward(),
        limit: Some(most),
    };
    let columns = tool_columns(Prefix::None);
    page(
        (&columns, "stored_tool"),
        (owners, workspace),
        order,
        |query| narrow_tools(query, workspace, filter),
    )
}

fn narrow_tools<DB: SqlDatabase>(
    query: &mut Statement<DB>,
    workspace: &Workspace,
    filter: &StoredToolFilter,
) {
    if let Some(source) = filter.source
        && source != ToolSource::System
    {
        query.narrow("source", Some(source.as_str()));
    }
    match filter.include_deleted {
        IncludeDeleted::No => {
            query.push(" AND deleted_at IS NULL");
        }
        IncludeDeleted::Yes => {}
        IncludeDeleted::Only => {
            query.push(" AND deleted_at IS NOT NULL");
        }
    }
    if let Some(agent) = &filter.agent {
        narrow_to_agent(query, "id", workspace, agent);
    }
    query.narrow("function", filter.function.as_ref());
    query.narrow("target", filter.target.map(ToolTarget::as_str));
    narrow_to_name(query, filter.name.as_deref());
    query.narrow("requires_confirmation", filter.requires_confirmation);
    narrow_to_side(query, ">", filter.after.as_ref());
    narrow_to_side(query, "<", filter.before.as_ref());
}

/// Narrows a query to tools that are bound to an agent.
fn narrow_to_agent<DB: SqlDatabase>(
    query: &mut Statement<DB>,
    id: &str,
    workspace: &Workspace,
    agent: &str,
) {
    let schema = DB::SCHEMA;
    query.push(format_args!(
        " AND {id} IN (SELECT tool FROM {schema}agent_tool WHERE workspace = "
    ));
    query.bind(workspace.as_str());
    query.narrow("agent", Some(agent)).push(")");
}

/// Returns the query for a page of functions.
pub(crate) fn functions<DB: SqlDatabase>(
    workspace: &Workspace,
    filter: &FunctionFilter,
) -> Statement<DB> {
    let order = Order {
        is_backward: false,
        limit: filter.limit,
    };
    let columns = function_columns(Prefix::None);
    let owners = (Owners::Both, workspace);
    page((&columns, "function"), owners, order, |query| {
        query.narrow("kind", filter.kind.as_ref());
        narrow_to_name(query, filter.name.as_deref());
        narrow_to_side(query, ">", filter.after.as_ref());
    })
}

/// Returns the query for the versions of a function.
pub(crate) fn versions<DB: SqlDatabase>(workspace: &Workspace, function: &str) -> Statement<DB> {
    let mut query = Statement::select(&version_columns(Prefix::None), "function_version");
    query.push("function = ").bind(function);
    narrow_to_seen(&mut query, "workspace", Some(workspace));
    query.push(" ORDER BY number");
    query
}

/// Returns the query for a page of bindings.
pub(crate) fn bindings<DB: SqlDatabase>(
    workspace: &Workspace,
    filter: &BindingFilter,
) -> Statement<DB> {
    let mut query = Statement::select(BINDING, "agent_tool");
    query.push("workspace = ").bind(workspace.as_str());
    query.narrow("agent", filter.agent.as_ref());
    query.narrow("tool", filter.tool.as_ref());
    if let Some((agent, tool)) = &filter.after {
        query.push(" AND (agent, tool) > (").bind(agent);
        query.push(", ").bind(tool).push(")");
    }
    query.push(" ORDER BY agent, tool").limit(filter.limit);
    query
}

/// Returns the beginning of a query for tools with their functions and the versions that they run. A condition follows.
fn select_resolved<DB: SqlDatabase>(workspace: &Workspace) -> Statement<DB> {
    let tools = tool_columns(Prefix::Tool);
    let functions = function_columns(Prefix::Function);
    let versions = version_columns(Prefix::Version);
    let schema = DB::SCHEMA;
    let mut query = Statement::part(format!(
        "SELECT {tools}, {functions}, {versions}, w.default_runtime_user AS default_runtime_user FROM {schema}stored_tool t \
         LEFT JOIN {schema}function f ON f.id = t.function \
         LEFT JOIN {schema}function_version v ON v.id = coalesce(t.function_version, f.default_version) \
         LEFT JOIN {schema}workspace w ON w.workspace = "
    ));
    query.bind(workspace.as_str()).push(" WHERE ");
    query
}

/// Returns the query for one tool with its function and the version that it runs.
pub(crate) fn one_resolved<DB: SqlDatabase>(workspace: &Workspace, id: &str) -> Statement<DB> {
    let mut query = select_resolved(workspace);
    query.push("t.id = ").bind(id);
    narrow_to_seen(&mut query, "t.workspace", Some(workspace));
    query
}

/// Returns the query for the tools that an agent may use, with their functions and the versions that they run.
pub(crate) fn resolution<DB: SqlDatabase>(workspace: &Workspace, agent: &str) -> Statement<DB> {
    let mut query = select_resolved(workspace);
    query.push("t.deleted_at IS NULL AND t.enabled");
    narrow_to_agent(&mut query, "t.id", workspace, agent);
    narrow_to_seen(&mut query, "t.workspace", Some(workspace));
    query.push(" ORDER BY t.created_at, t.id");
    query
}

/// Returns the query for the deleted tools of a scope whose retention has ended.
pub(crate) fn due<DB: SqlDatabase>(scope: Scope<'_>, now: Timestamp, most: u32) -> Statement<DB> {
    let mut query = Statement::select(&tool_columns(Prefix::None), "stored_tool");
    query.push("due <= ").bind(now);
    query.narrow("workspace", scope.workspace().map(Workspace::as_str));
    query.push(" ORDER BY due, id").limit(Some(most));
    query
}
