//! Functions, versions, tools and bindings in SQLite.

use serde::Serialize;

use crate::store::{
    AgentBinding, BindingFilter, Editor, Function, FunctionFilter, FunctionVersion, IncludeDeleted,
    Member, ResolvedTool, RetentionTier, Scope, StoreError, StoreFuture, StoredTool,
    StoredToolFilter, StoredToolStore, Timestamp, ToolChange, ToolEdit, ToolEdited, ToolFacts,
    ToolSource, ToolTarget, Workspace, new_row_id,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Executor, QueryBuilder, Row as _, Sqlite};

use super::columns::Columns;
use super::{Fault, SqliteStore, directory, narrow, step};
use rows::{
    Prefix, function_columns, read_binding, read_function, read_tool, read_version, tool_columns,
    version_columns,
};

mod rows;
#[cfg(test)]
mod tests;

/// Narrows a query to rows of the workspace and of the system.
fn narrow_to_seen(query: &mut QueryBuilder<Sqlite>, table: &str, workspace: Option<&Workspace>) {
    query.push(format_args!(" AND ({table}.workspace IS NULL"));
    if let Some(workspace) = workspace {
        query.push(format_args!(" OR {table}.workspace = "));
        query.push_bind(workspace.as_str().to_owned());
    }
    query.push(")");
}

fn select_one(
    columns: &str,
    table: &str,
    id: &str,
    workspace: Option<&Workspace>,
) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(format!("SELECT {columns} FROM {table} WHERE id = "));
    query.push_bind(id.to_owned());
    narrow_to_seen(&mut query, table, workspace);
    query
}

async fn function(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: Option<&Workspace>,
    id: &str,
) -> Result<Option<Function>, Fault> {
    let mut query = select_one(&function_columns(Prefix::None), "function", id, workspace);
    let row = query.build().fetch_optional(db).await?;
    let read = |row: &SqliteRow| read_function(row, Prefix::None);
    Ok(row.as_ref().map(read).transpose()?)
}

async fn version(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: Option<&Workspace>,
    id: &str,
) -> Result<Option<FunctionVersion>, Fault> {
    let columns = version_columns(Prefix::None);
    let mut query = select_one(&columns, "function_version", id, workspace);
    let row = query.build().fetch_optional(db).await?;
    let read = |row: &SqliteRow| read_version(row, Prefix::None);
    Ok(row.as_ref().map(read).transpose()?)
}

async fn tool(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: Option<&Workspace>,
    id: &str,
) -> Result<Option<StoredTool>, Fault> {
    let mut query = select_one(&tool_columns(Prefix::None), "stored_tool", id, workspace);
    let row = query.build().fetch_optional(db).await?;
    let read = |row: &SqliteRow| read_tool(row, Prefix::None);
    Ok(row.as_ref().map(read).transpose()?)
}

/// The function that an editor names.
async fn own_function(
    db: &mut SqliteConnection,
    editor: &Editor,
    id: &str,
) -> Result<Function, Fault> {
    let found = function(db, editor.owner(), id).await?;
    Ok(found.ok_or_else(|| Function::missing(id))?)
}

async fn own_version(
    db: &mut SqliteConnection,
    editor: &Editor,
    id: &str,
) -> Result<FunctionVersion, Fault> {
    let found = version(db, editor.owner(), id).await?;
    Ok(found.ok_or_else(|| FunctionVersion::missing(id))?)
}

async fn own_tool(
    db: &mut SqliteConnection,
    editor: &Editor,
    id: &str,
) -> Result<StoredTool, Fault> {
    let found = tool(db, editor.owner(), id).await?;
    Ok(found.ok_or_else(|| StoredTool::missing(id))?)
}

/// The membership of a runtime user in the workspace of the editor.
async fn member_of(
    db: &mut SqliteConnection,
    editor: &Editor,
    user: Option<&str>,
) -> Result<Option<Member>, Fault> {
    match (editor.owner(), user) {
        (Some(workspace), Some(user)) => directory::member(db, workspace, user).await,
        _ => Ok(None),
    }
}

/// The number of rows of a table whose column has a value.
async fn count(
    db: &mut SqliteConnection,
    table: &str,
    column: &str,
    value: &str,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::<Sqlite>::new(format!(
        "SELECT count(*) AS amount FROM {table} WHERE {column} = "
    ));
    query.push_bind(value.to_owned());
    let amount: i64 = query.build().fetch_one(db).await?.try_get("amount")?;
    Ok(u64::try_from(amount).unwrap_or_default())
}

fn json(value: &impl Serialize) -> Result<String, Fault> {
    let text = serde_json::to_string(value);
    Ok(text.map_err(|error| StoreError::Corrupt(error.to_string()))?)
}

fn owner(workspace: Option<&Workspace>) -> Option<String> {
    workspace.map(|workspace| workspace.as_str().to_owned())
}

async fn put_function(db: &mut SqliteConnection, row: &Function) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO function (id, workspace, name, description, kind, code, default_version, runtime_user, effects, created_by, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description, default_version = excluded.default_version,
         runtime_user = excluded.runtime_user, effects = excluded.effects, updated_at = excluded.updated_at",
    )
    .bind(&row.id)
    .bind(owner(row.workspace.as_ref()))
    .bind(&row.name)
    .bind(&row.description)
    .bind(row.kind.as_str())
    .bind(json(&row.kind)?)
    .bind(&row.default_version)
    .bind(&row.runtime_user)
    .bind(row.effects.as_ref().map(json).transpose()?)
    .bind(&row.created_by)
    .bind(row.created_at.as_millis())
    .bind(row.updated_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

async fn add_version(db: &mut SqliteConnection, row: &FunctionVersion) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO function_version (id, workspace, function, number, parent, label, files, uses, input_schema, output_schema, created_by, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&row.id)
    .bind(owner(row.workspace.as_ref()))
    .bind(&row.function)
    .bind(i64::from(row.number))
    .bind(&row.parent)
    .bind(&row.label)
    .bind(json(&row.files)?)
    .bind(json(&row.uses)?)
    .bind(row.input_schema.text())
    .bind(row.output_schema.text())
    .bind(&row.created_by)
    .bind(row.created_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

async fn put_tool(db: &mut SqliteConnection, row: &StoredTool) -> Result<(), Fault> {
    let schema = |schema: &Option<crate::store::ToolSchema>| {
        schema.as_ref().map(|schema| schema.text().to_owned())
    };
    sqlx::query(
        "INSERT INTO stored_tool (id, workspace, name, description, target, function, function_version, input_schema, output_schema, examples,
         requires_confirmation, enabled, system, source, created_by, runtime_user, deleted_at, retention_tier, due, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description, function = excluded.function,
         function_version = excluded.function_version, input_schema = excluded.input_schema, output_schema = excluded.output_schema,
         examples = excluded.examples, requires_confirmation = excluded.requires_confirmation, enabled = excluded.enabled,
         source = excluded.source, runtime_user = excluded.runtime_user, deleted_at = excluded.deleted_at,
         retention_tier = excluded.retention_tier, due = excluded.due, updated_at = excluded.updated_at",
    )
    .bind(&row.id)
    .bind(owner(row.workspace.as_ref()))
    .bind(&row.name)
    .bind(&row.description)
    .bind(row.target.as_str())
    .bind(&row.function)
    .bind(&row.function_version)
    .bind(schema(&row.input_schema))
    .bind(schema(&row.output_schema))
    .bind(row.examples.as_ref().map(json).transpose()?)
    .bind(row.requires_confirmation)
    .bind(row.enabled)
    .bind(row.system)
    .bind(row.source.as_str())
    .bind(&row.created_by)
    .bind(&row.runtime_user)
    .bind(row.deleted_at.map(Timestamp::as_millis))
    .bind(row.retention_tier.map(RetentionTier::as_str))
    .bind(row.due().map(Timestamp::as_millis))
    .bind(row.created_at.as_millis())
    .bind(row.updated_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

/// Checks a tool against the rows that it names, and writes it.
async fn write_tool(
    db: &mut SqliteConnection,
    editor: &Editor,
    row: StoredTool,
    before: Option<&StoredTool>,
) -> Result<StoredTool, Fault> {
    let function = match &row.function {
        Some(id) => function(&mut *db, editor.owner(), id).await?,
        None => None,
    };
    let version = match &row.function_version {
        Some(id) => version(&mut *db, editor.owner(), id).await?,
        None => None,
    };
    let member = member_of(&mut *db, editor, row.runtime_user.as_deref()).await?;
    let facts = ToolFacts {
        function: function.as_ref(),
        version: version.as_ref(),
        member: member.as_ref(),
    };
    let row = row.decide(before, facts)?;
    put_tool(db, &row).await?;
    Ok(row)
}

async fn find_binding(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    agent: &str,
    tool: &str,
) -> Result<Option<AgentBinding>, Fault> {
    let row = sqlx::query("SELECT workspace, agent, tool, set_by, at FROM agent_tool WHERE workspace = ? AND agent = ? AND tool = ?")
        .bind(workspace.as_str())
        .bind(agent)
        .bind(tool)
        .fetch_optional(db)
        .await?;
    Ok(row.as_ref().map(read_binding).transpose()?)
}

async fn bind(
    db: &mut SqliteConnection,
    editor: &Editor,
    (agent, tool): (String, String),
    at: Timestamp,
) -> Result<ToolEdited, Fault> {
    let found = own_tool(&mut *db, editor, &tool).await?;
    let workspace = found.check_binding(editor, &agent, true)?;
    if let Some(binding) = find_binding(&mut *db, workspace, &agent, &tool).await? {
        let (binding, changed) = (Some(binding), false);
        return Ok(ToolEdited::Binding { binding, changed });
    }
    let by = editor.user().unwrap_or_default();
    let row = AgentBinding::new(workspace, agent, tool, by, at);
    sqlx::query(
        "INSERT INTO agent_tool (workspace, agent, tool, set_by, at) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(row.workspace.as_str())
    .bind(&row.agent)
    .bind(&row.tool)
    .bind(&row.by)
    .bind(row.at.as_millis())
    .execute(db)
    .await?;
    let (binding, changed) = (Some(row), true);
    Ok(ToolEdited::Binding { binding, changed })
}

async fn unbind(
    db: &mut SqliteConnection,
    editor: &Editor,
    (agent, tool): (String, String),
) -> Result<ToolEdited, Fault> {
    let found = own_tool(&mut *db, editor, &tool).await?;
    let workspace = found.check_binding(editor, &agent, false)?;
    let binding = find_binding(&mut *db, workspace, &agent, &tool).await?;
    sqlx::query("DELETE FROM agent_tool WHERE workspace = ? AND agent = ? AND tool = ?")
        .bind(workspace.as_str())
        .bind(&agent)
        .bind(&tool)
        .execute(db)
        .await?;
    let changed = binding.is_some();
    Ok(ToolEdited::Binding { binding, changed })
}

/// Removes one row by its id.
async fn remove(db: &mut SqliteConnection, table: &str, id: &str) -> Result<(), Fault> {
    let mut query = QueryBuilder::<Sqlite>::new(format!("DELETE FROM {table} WHERE id = "));
    query.push_bind(id.to_owned());
    query.build().execute(db).await?;
    Ok(())
}

/// Makes a change on the connection of a transaction.
#[expect(clippy::too_many_lines, reason = "one arm for each change")]
pub(super) async fn edit(db: &mut SqliteConnection, edit: ToolEdit) -> Result<ToolEdited, Fault> {
    edit.check_audit()?;
    let ToolEdit {
        editor,
        change,
        at,
        audit,
    } = edit;
    let edited = match change {
        ToolChange::CreateFunction(new) => {
            let row = new.decide(&editor, new_row_id()?, at)?;
            let member = member_of(&mut *db, &editor, row.runtime_user.as_deref()).await?;
            row.check_member(None, member.as_ref())?;
            put_function(&mut *db, &row).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::UpdateFunction {
            id,
            update,
            expected,
        } => {
            let stored = own_function(&mut *db, &editor, &id).await?;
            ToolEdit::check_expected(expected, stored.updated_at)?;
            let row = update.decide(&editor, &stored, at)?;
            let member = member_of(&mut *db, &editor, row.runtime_user.as_deref()).await?;
            row.check_member(Some(&stored), member.as_ref())?;
            put_function(&mut *db, &row).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::DeleteFunction { id } => {
            let row = own_function(&mut *db, &editor, &id).await?;
            let tools = count(&mut *db, "stored_tool", "function", &id).await?;
            row.check_removal(&editor, tools)?;
            remove(&mut *db, "function", &id).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::CreateVersion { function, version } => {
            let function = own_function(&mut *db, &editor, &function).await?;
            let parent = match &version.parent {
                Some(id) => self::version(&mut *db, editor.owner(), id).await?,
                None => None,
            };
            let last = sqlx::query(
                "SELECT coalesce(max(number), 0) AS last FROM function_version WHERE function = ?",
            )
            .bind(&function.id)
            .fetch_one(&mut *db)
            .await?;
            let last: u32 = Columns::new(&last, "function_version", "last").number("last")?;
            let place = (new_row_id()?, last + 1);
            let row = version.decide(&editor, &function, parent.as_ref(), place, at)?;
            add_version(&mut *db, &row).await?;
            ToolEdited::Version(Box::new(row))
        }
        ToolChange::DeleteVersion { id } => {
            let row = own_version(&mut *db, &editor, &id).await?;
            let is_default = count(&mut *db, "function", "default_version", &id).await? > 0;
            let pins = count(&mut *db, "stored_tool", "function_version", &id).await?;
            let forks = count(&mut *db, "function_version", "parent", &id).await?;
            row.check_removal(&editor, is_default, pins, forks)?;
            remove(&mut *db, "function_version", &id).await?;
            ToolEdited::Version(Box::new(row))
        }
        ToolChange::Publish { version } => {
            let version = own_version(&mut *db, &editor, &version).await?;
            let function = own_function(&mut *db, &editor, &version.function).await?;
            let row = function.publish(&editor, &version, at)?;
            put_function(&mut *db, &row).await?;
            ToolEdited::Function(Box::new(row))
        }
        ToolChange::CreateTool(new) => {
            let row = new.begin(&editor, new_row_id()?, at)?;
            ToolEdited::Tool(Box::new(write_tool(&mut *db, &editor, row, None).await?))
        }
        ToolChange::UpdateTool {
            id,
            update,
            expected,
        } => {
            let stored = own_tool(&mut *db, &editor, &id).await?;
            ToolEdit::check_expected(expected, stored.updated_at)?;
            let row = update.begin(&editor, &stored, at)?;
            ToolEdited::Tool(Box::new(
                write_tool(&mut *db, &editor, row, Some(&stored)).await?,
            ))
        }
        ToolChange::DeleteTool { id, expected } => {
            let stored = own_tool(&mut *db, &editor, &id).await?;
            ToolEdit::check_expected(expected, stored.updated_at)?;
            let settings = match &stored.workspace {
                Some(workspace) => directory::settings(&mut *db, workspace).await?,
                None => None,
            };
            let tier = settings.map_or_else(RetentionTier::default, |found| found.retention_tier);
            let row = stored.delete(&editor, tier, at)?;
            put_tool(&mut *db, &row).await?;
            ToolEdited::Tool(Box::new(row))
        }
        ToolChange::Bind { agent, tool } => bind(&mut *db, &editor, (agent, tool), at).await?,
        ToolChange::Unbind { agent, tool } => unbind(&mut *db, &editor, (agent, tool)).await?,
    };
    if let Some(mut row) = audit {
        edited.complete(&mut row);
        super::audit::save(db, &row).await?;
    }
    Ok(edited)
}

/// The query for a page of tools, which is read backwards for a page before a place.
fn listing(
    workspace: &Workspace,
    filter: &StoredToolFilter,
) -> Result<QueryBuilder<Sqlite>, Fault> {
    let limit = filter.page()?;
    let columns = tool_columns(Prefix::None);
    let mut query = QueryBuilder::new(format!("SELECT {columns} FROM stored_tool WHERE TRUE"));
    match filter.source {
        Some(ToolSource::System) => {
            query.push(" AND workspace IS NULL");
        }
        Some(source) => {
            narrow(&mut query, "workspace", Some(workspace.as_str()));
            narrow(&mut query, "source", Some(source.as_str()));
        }
        None => narrow_to_seen(&mut query, "stored_tool", Some(workspace)),
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
        query.push(" AND id IN (SELECT tool FROM agent_tool WHERE workspace = ");
        query.push_bind(workspace.as_str().to_owned());
        query.push(" AND agent = ").push_bind(agent.clone());
        query.push(")");
    }
    narrow(&mut query, "function", filter.function.as_deref());
    narrow(&mut query, "target", filter.target.map(ToolTarget::as_str));
    narrow_to_name(&mut query, filter.name.as_deref());
    if let Some(asks) = filter.requires_confirmation {
        query.push(" AND requires_confirmation = ").push_bind(asks);
    }
    for (place, compare) in [(&filter.after, ">"), (&filter.before, "<")] {
        if let Some((at, id)) = place {
            query.push(format_args!(" AND (created_at, id) {compare} ("));
            query.push_bind(at.as_millis()).push(", ");
            query.push_bind(id.clone()).push(")");
        }
    }
    let order = if filter.is_backward() { " DESC" } else { "" };
    query.push(format_args!(
        " ORDER BY created_at{order}, id{order} LIMIT "
    ));
    query.push_bind(limit);
    Ok(query)
}

/// Narrows a query to rows whose name contains a text, whatever the case of ASCII letters: `lower` of SQLite changes no other letters.
fn narrow_to_name(query: &mut QueryBuilder<Sqlite>, name: Option<&str>) {
    if let Some(name) = name {
        query.push(" AND instr(lower(name), ");
        query.push_bind(name.to_ascii_lowercase()).push(") > 0");
    }
}

/// The query for tools with their functions and the versions that they run.
fn resolution(workspace: &Workspace) -> QueryBuilder<Sqlite> {
    let tools = tool_columns(Prefix::Tool);
    let functions = function_columns(Prefix::Function);
    let versions = version_columns(Prefix::Version);
    let mut query = QueryBuilder::new(format!(
        "SELECT {tools}, {functions}, {versions}, w.default_runtime_user AS default_runtime_user FROM stored_tool t
         LEFT JOIN function f ON f.id = t.function
         LEFT JOIN function_version v ON v.id = coalesce(t.function_version, f.default_version)
         LEFT JOIN workspace w ON w.workspace = "
    ));
    query.push_bind(workspace.as_str().to_owned());
    query
}

impl SqliteStore {
    /// Reads the tools that a [`resolution`] finds.
    async fn resolved(
        &self,
        workspace: &Workspace,
        mut query: QueryBuilder<Sqlite>,
    ) -> Result<Vec<ResolvedTool>, Fault> {
        let rows = query.build().fetch_all(&self.readers).await?;
        let mut tools = Vec::with_capacity(rows.len());
        for row in &rows {
            let has_function = row.try_get::<Option<&str>, _>("f_id")?.is_some();
            let has_version = row.try_get::<Option<&str>, _>("v_id")?.is_some();
            let function = has_function.then(|| read_function(row, Prefix::Function));
            let version = has_version.then(|| read_version(row, Prefix::Version));
            let mut tool = ResolvedTool {
                function: function.transpose()?,
                version: version.transpose()?,
                default_runtime_user: row.try_get("default_runtime_user")?,
                ..ResolvedTool::new(read_tool(row, Prefix::Tool)?)
            };
            if let Some(user) = tool.runtime_user() {
                tool.member = directory::member(&self.readers, workspace, user.user).await?;
            }
            tools.push(tool);
        }
        Ok(tools)
    }
}

async fn purge(
    db: &mut SqliteConnection,
    workspace: Option<String>,
    now: Timestamp,
    most: u32,
) -> Result<Vec<StoredTool>, Fault> {
    let columns = tool_columns(Prefix::None);
    let mut query =
        QueryBuilder::<Sqlite>::new(format!("SELECT {columns} FROM stored_tool WHERE due <= "));
    query.push_bind(now.as_millis());
    narrow(&mut query, "workspace", workspace.as_deref());
    query.push(" ORDER BY due, id LIMIT ").push_bind(most);
    let rows = query.build().fetch_all(&mut *db).await?;
    let mut purged = Vec::with_capacity(rows.len());
    for row in &rows {
        let row = read_tool(row, Prefix::None)?;
        remove(&mut *db, "stored_tool", &row.id).await?;
        purged.push(row);
    }
    Ok(purged)
}

impl StoredToolStore for SqliteStore {
    fn edit(&self, edit: ToolEdit) -> StoreFuture<'_, ToolEdited> {
        step(self.change(|db| Box::pin(self::edit(db, edit))))
    }

    fn stored_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<StoredTool>> {
        step(tool(&self.readers, Some(workspace), id))
    }

    fn stored_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a StoredToolFilter,
    ) -> StoreFuture<'a, Vec<StoredTool>> {
        step(async move {
            let rows = listing(workspace, filter)?
                .build()
                .fetch_all(&self.readers)
                .await?;
            let rows = rows.iter().map(|row| read_tool(row, Prefix::None));
            let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
            if filter.is_backward() {
                rows.reverse();
            }
            Ok(rows)
        })
    }

    fn function<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<Function>> {
        step(function(&self.readers, Some(workspace), id))
    }

    fn functions<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a FunctionFilter,
    ) -> StoreFuture<'a, Vec<Function>> {
        step(async move {
            let columns = function_columns(Prefix::None);
            let mut query =
                QueryBuilder::<Sqlite>::new(format!("SELECT {columns} FROM function WHERE TRUE"));
            narrow_to_seen(&mut query, "function", Some(workspace));
            narrow(&mut query, "kind", filter.kind.as_deref());
            narrow_to_name(&mut query, filter.name.as_deref());
            if let Some((at, id)) = &filter.after {
                query.push(" AND (created_at, id) > (");
                query.push_bind(at.as_millis()).push(", ");
                query.push_bind(id).push(")");
            }
            query.push(" ORDER BY created_at, id");
            if let Some(limit) = filter.limit {
                query.push(" LIMIT ").push_bind(limit);
            }
            let rows = query.build().fetch_all(&self.readers).await?;
            let rows = rows.iter().map(|row| read_function(row, Prefix::None));
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn function_version<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<FunctionVersion>> {
        step(version(&self.readers, Some(workspace), id))
    }

    fn function_versions<'a>(
        &'a self,
        workspace: &'a Workspace,
        function: &'a str,
    ) -> StoreFuture<'a, Vec<FunctionVersion>> {
        step(async move {
            let columns = version_columns(Prefix::None);
            let mut query = QueryBuilder::<Sqlite>::new(format!(
                "SELECT {columns} FROM function_version WHERE function = "
            ));
            query.push_bind(function);
            narrow_to_seen(&mut query, "function_version", Some(workspace));
            query.push(" ORDER BY number");
            let rows = query.build().fetch_all(&self.readers).await?;
            let rows = rows.iter().map(|row| read_version(row, Prefix::None));
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn bindings<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a BindingFilter,
    ) -> StoreFuture<'a, Vec<AgentBinding>> {
        step(async move {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT workspace, agent, tool, set_by, at FROM agent_tool WHERE workspace = ",
            );
            query.push_bind(workspace.as_str());
            narrow(&mut query, "agent", filter.agent.as_deref());
            narrow(&mut query, "tool", filter.tool.as_deref());
            if let Some((agent, tool)) = &filter.after {
                query.push(" AND (agent, tool) > (");
                query.push_bind(agent).push(", ");
                query.push_bind(tool).push(")");
            }
            query.push(" ORDER BY agent, tool");
            if let Some(limit) = filter.limit {
                query.push(" LIMIT ").push_bind(limit);
            }
            let rows = query.build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read_binding).collect::<Result<_, _>>()?)
        })
    }

    fn resolve_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ResolvedTool>> {
        step(async move {
            let mut query = resolution(workspace);
            query.push(" WHERE t.id = ").push_bind(id.to_owned());
            narrow_to_seen(&mut query, "t", Some(workspace));
            Ok(self.resolved(workspace, query).await?.pop())
        })
    }

    fn agent_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        agent: &'a str,
    ) -> StoreFuture<'a, Vec<ResolvedTool>> {
        step(async move {
            let mut query = resolution(workspace);
            query.push(" WHERE t.id IN (SELECT tool FROM agent_tool WHERE workspace = ");
            query.push_bind(workspace.as_str().to_owned());
            query.push(" AND agent = ").push_bind(agent.to_owned());
            query.push(") AND t.deleted_at IS NULL AND t.enabled = 1");
            narrow_to_seen(&mut query, "t", Some(workspace));
            query.push(" ORDER BY t.created_at, t.id");
            self.resolved(workspace, query).await
        })
    }

    fn purge_tools<'a>(
        &'a self,
        scope: Scope<'a>,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Vec<StoredTool>> {
        step(async move {
            let mut due = QueryBuilder::new("SELECT 1 FROM stored_tool WHERE due <= ");
            due.push_bind(now.as_millis()).push(" LIMIT 1");
            // A worker that finds nothing takes no lock.
            if self.has_none(due).await? {
                return Ok(Vec::new());
            }
            let workspace = owner(scope.workspace());
            self.change(move |db| Box::pin(purge(db, workspace, now, most)))
                .await
        })
    }
}
