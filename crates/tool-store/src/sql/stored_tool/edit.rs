//! Changes of functions, versions, tools and bindings.

use serde::Serialize;

use super::{
    bindings, count, function, last_number, member_of, own_function, own_tool, own_version, remove,
    version,
};
use crate::sql::directory;
use crate::sql::statement::{SqlChange, SqlReader, Statement, Value};
use crate::store::{
    AgentBinding, BindingFilter, Editor, Function, FunctionVersion, RetentionTier, StoreError,
    StoredTool, Timestamp, ToolChange, ToolEdit, ToolEdited, ToolFacts, ToolSchema, Workspace,
    new_row_id,
};

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
