//! Rows and statements of functions, versions, tools and bindings.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::store::{
    AgentBinding, BindingFilter, Editor, Function, FunctionFilter, FunctionVersion, Member,
    ResolvedTool, RetentionTier, Scope, StoreError, StoredTool, StoredToolFilter, Timestamp,
    ToolChange, ToolEdit, ToolEdited, ToolFacts, ToolSchema, Workspace, new_row_id,
};

use super::columns::{Columns, SqlRow};
use super::directory;
use super::statement::{RowOf, SqlChange, SqlDatabase, SqlReader, Statement, Value};
use rows::{
    Prefix, function_columns, read_binding, read_function, read_tool, read_version, tool_columns,
    version_columns,
};

mod list;
mod rows;

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

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

async fn put_function<C: SqlChange>(db: &mut C, row: &Function) -> Result<(), C::Fault> {
    let effects = row.effects.as_ref().map(json).transpose()?;
    let values: [(_, Value); 12] = [
        ("id", (&row.id).into()),
        ("workspace", row.workspace.as_ref().into()),
        ("name", (&row.name).into()),
        ("description", Value::free(row.description.as_ref())),
        ("kind", row.kind.as_str().into()),
        ("code", json(&row.kind)?.into()),
        ("default_version", (&row.default_version).into()),
        ("runtime_user", (&row.runtime_user).into()),
        ("effects", effects.into()),
        ("created_by", (&row.created_by).into()),
        ("created_at", row.created_at.into()),
        ("updated_at", row.updated_at.into()),
    ];
    let changed = [
        "name",
        "description",
        "default_version",
        "runtime_user",
        "effects",
        "updated_at",
    ];
    db.write(Statement::insert("function", values).or_update("id", &changed))
        .await?;
    Ok(())
}

async fn add_version<C: SqlChange>(db: &mut C, row: &FunctionVersion) -> Result<(), C::Fault> {
    let values: [(_, Value); 12] = [
        ("id", (&row.id).into()),
        ("workspace", row.workspace.as_ref().into()),
        ("function", (&row.function).into()),
        ("number", row.number.into()),
        ("parent", (&row.parent).into()),
        ("label", Value::free(row.label.as_ref())),
        ("files", json(&row.files)?.into()),
        ("uses", json(&row.uses)?.into()),
        ("input_schema", row.input_schema.text().into()),
        ("output_schema", row.output_schema.text().into()),
        ("created_by", (&row.created_by).into()),
        ("created_at", row.created_at.into()),
    ];
    db.write(Statement::insert("function_version", values))
        .await?;
    Ok(())
}

async fn put_tool<C: SqlChange>(db: &mut C, row: &StoredTool) -> Result<(), C::Fault> {
    let schema = |schema: &Option<ToolSchema>| {
        Value::Text(schema.as_ref().map(|schema| schema.text().to_owned()))
    };
    let tier = row.retention_tier.map(|tier| tier.as_str().to_owned());
    let values: [(_, Value); 21] = [
        ("id", (&row.id).into()),
        ("workspace", row.workspace.as_ref().into()),
        ("name", (&row.name).into()),
        ("description", Value::free(row.description.as_ref())),
        ("target", row.target.as_str().into()),
        ("function", (&row.function).into()),
        ("function_version", (&row.function_version).into()),
        ("input_schema", schema(&row.input_schema)),
        ("output_schema", schema(&row.output_schema)),
        (
            "examples",
            row.examples.as_ref().map(json).transpose()?.into(),
        ),
        ("requires_confirmation", row.requires_confirmation.into()),
        ("enabled", row.enabled.into()),
        ("system", row.system.into()),
        ("source", row.source.as_str().into()),
        ("created_by", (&row.created_by).into()),
        ("runtime_user", (&row.runtime_user).into()),
        ("deleted_at", row.deleted_at.into()),
        ("retention_tier", tier.into()),
        ("due", row.due().into()),
        ("created_at", row.created_at.into()),
        ("updated_at", row.updated_at.into()),
    ];
    let changed = [
        "name",
        "description",
        "function",
        "function_version",
        "input_schema",
        "output_schema",
        "examples",
        "requires_confirmation",
        "enabled",
        "source",
        "runtime_user",
        "deleted_at",
        "retention_tier",
        "due",
        "updated_at",
    ];
    db.write(Statement::insert("stored_tool", values).or_update("id", &changed))
        .await?;
    Ok(())
}

/// Checks a tool against the rows to which it refers, and stores it.
async fn write_tool<C: SqlChange>(
    db: &mut C,
    editor: &Editor,
    row: StoredTool,
    before: Option<&StoredTool>,
) -> Result<StoredTool, C::Fault> {
    let function = match &row.function {
        Some(id) => function(db, editor.owner(), id).await?,
        None => None,
    };
    let version = match &row.function_version {
        Some(id) => version(db, editor.owner(), id).await?,
        None => None,
    };
    let member = member_of(db, editor, row.runtime_user.as_deref()).await?;
    let facts = ToolFacts {
        function: function.as_ref(),
        version: version.as_ref(),
        member: member.as_ref(),
    };
    let row = row.decide(before, facts)?;
    put_tool(db, &row).await?;
    Ok(row)
}

async fn find_binding<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    agent: &str,
    tool: &str,
) -> Result<Option<AgentBinding>, R::Fault> {
    let filter = BindingFilter {
        agent: Some(agent.to_owned()),
        tool: Some(tool.to_owned()),
        ..BindingFilter::default()
    };
    Ok(bindings(db, workspace, &filter).await?.pop())
}

async fn bind<C: SqlChange>(
    db: &mut C,
    editor: &Editor,
    (agent, tool): (String, String),
    at: Timestamp,
) -> Result<ToolEdited, C::Fault> {
    let found = own_tool(db, editor, &tool).await?;
    let workspace = found.check_binding(editor, &agent, true)?;
    if let Some(binding) = find_binding(db, workspace, &agent, &tool).await? {
        let (binding, changed) = (Some(binding), false);
        return Ok(ToolEdited::Binding { binding, changed });
    }
    let by = editor.user().unwrap_or_default();
    let row = AgentBinding::new(workspace, agent, tool, by, at);
    let values: [(_, Value); 5] = [
        ("workspace", row.workspace.as_str().into()),
        ("agent", (&row.agent).into()),
        ("tool", (&row.tool).into()),
        ("set_by", (&row.by).into()),
        ("at", row.at.into()),
    ];
    db.write(Statement::insert("agent_tool", values)).await?;
    let (binding, changed) = (Some(row), true);
    Ok(ToolEdited::Binding { binding, changed })
}

async fn unbind<C: SqlChange>(
    db: &mut C,
    editor: &Editor,
    (agent, tool): (String, String),
) -> Result<ToolEdited, C::Fault> {
    let found = own_tool(db, editor, &tool).await?;
    let workspace = found.check_binding(editor, &agent, false)?;
    let binding = find_binding(db, workspace, &agent, &tool).await?;
    let mut removal = Statement::delete("agent_tool");
    removal.push("workspace = ").bind(workspace.as_str());
    removal.narrow("agent", Some(&agent));
    removal.narrow("tool", Some(&tool));
    db.write(removal).await?;
    let changed = binding.is_some();
    Ok(ToolEdited::Binding { binding, changed })
}

/// Removes one row by its id.
async fn remove<C: SqlChange>(db: &mut C, table: &str, id: &str) -> Result<(), C::Fault> {
    let mut removal = Statement::delete(table);
    removal.push("id = ").bind(id);
    db.write(removal).await?;
    Ok(())
}

/// Implements [`StoredToolStore::edit`](crate::store::StoredToolStore::edit). No other edit of the owner's rows runs until this transaction ends.
pub(crate) async fn edit<C: SqlChange>(db: &mut C, edit: ToolEdit) -> Result<ToolEdited, C::Fault> {
    let workspace = edit.check()?.cloned();
    let ToolEdit {
        editor,
        change,
        at,
        audit,
        key,
    } = edit;
    let key = workspace.zip(key);
    if let Some((workspace, key)) = &key
        && let Some(response) = db.find_request(workspace, key).await?
    {
        return Ok(ToolEdited::Repeated(response));
    }
    let edited = edit_rows(db, &editor, change, at).await?;
    if let Some(mut row) = audit {
        edited.complete(&mut row);
        db.write_audit(&row).await?;
    }
    if let Some((workspace, key)) = &key {
        db.save_request(workspace, key, &edited).await?;
    }
    Ok(edited)
}

async fn edit_rows<C: SqlChange>(
    db: &mut C,
    editor: &Editor,
    change: ToolChange,
    at: Timestamp,
) -> Result<ToolEdited, C::Fault> {
    Ok(match change {
        ToolChange::CreateFunction(new) => {
            let row = new.decide(editor, new_row_id()?, at)?;
            let member = member_of(db, editor, row.runtime_user.as_deref()).await?;
            row.check_member(None, member.as_ref())?;
            put_function(db, &row).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::UpdateFunction {
            id,
            update,
            expected,
        } => {
            let stored = own_function(db, editor, &id).await?;
            ToolEdit::check_expected(expected, stored.updated_at)?;
            let row = update.decide(editor, &stored, at)?;
            let member = member_of(db, editor, row.runtime_user.as_deref()).await?;
            row.check_member(Some(&stored), member.as_ref())?;
            put_function(db, &row).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::DeleteFunction { id } => {
            let row = own_function(db, editor, &id).await?;
            let tools = count(db, "stored_tool", "function", &id).await?;
            row.check_removal(editor, tools)?;
            remove(db, "function", &id).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::CreateVersion { function, version } => {
            let function = own_function(db, editor, &function).await?;
            let parent = match &version.parent {
                Some(id) => self::version(db, editor.owner(), id).await?,
                None => None,
            };
            let place = (new_row_id()?, last_number(db, &function.id).await? + 1);
            let row = version.decide(editor, &function, parent.as_ref(), place, at)?;
            add_version(db, &row).await?;
            ToolEdited::Version(Box::new(row))
        }
        ToolChange::DeleteVersion { id } => {
            let row = own_version(db, editor, &id).await?;
            let function = own_function(db, editor, &row.function).await?;
            let is_default = function.default_version.as_ref() == Some(&id);
            let pins = count(db, "stored_tool", "function_version", &id).await?;
            let forks = count(db, "function_version", "parent", &id).await?;
            row.check_removal(editor, is_default, pins, forks)?;
            remove(db, "function_version", &id).await?;
            ToolEdited::Version(Box::new(row))
        }
        ToolChange::Publish { version } => {
            let version = own_version(db, editor, &version).await?;
            let function = own_function(db, editor, &version.function).await?;
            let row = function.publish(editor, &version, at)?;
            put_function(db, &row).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::CreateTool(new) => {
            let row = new.begin(editor, new_row_id()?, at)?;
            ToolEdited::Tool(Box::new(write_tool(db, editor, row, None).await?))
        }
        ToolChange::UpdateTool {
            id,
            update,
            expected,
        } => {
            let stored = own_tool(db, editor, &id).await?;
            ToolEdit::check_expected(expected, stored.updated_at)?;
            let row = update.begin(editor, &stored, at)?;
            let row = write_tool(db, editor, row, Some(&stored)).await?;
            ToolEdited::Tool(Box::new(row))
        }
        ToolChange::DeleteTool { id, expected } => {
            let stored = own_tool(db, editor, &id).await?;
            ToolEdit::check_expected(expected, stored.updated_at)?;
            let settings = match &stored.workspace {
                Some(workspace) => directory::settings(db, workspace).await?,
                None => None,
            };
            let tier = settings.map_or_else(RetentionTier::default, |found| found.retention_tier);
            let row = stored.delete(editor, tier, at)?;
            put_tool(db, &row).await?;
            ToolEdited::Tool(Box::new(row))
        }
        ToolChange::Bind { agent, tool } => bind(db, editor, (agent, tool), at).await?,
        ToolChange::Unbind { agent, tool } => unbind(db, editor, (agent, tool)).await?,
    })
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
