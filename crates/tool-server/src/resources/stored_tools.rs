//! `/v1/stored-tools`: tools that are created at run time. `/v1/agents/{agent}/tools`: their bindings to agents.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tool_core::store::{
    AgentBinding, AuditRow, BindingFilter, Editor, IncludeDeleted, MemberRole, NewTool,
    RetentionTier, StoredTool, StoredToolFilter, Timestamp, ToolChange, ToolEdit, ToolEdited,
    ToolSchema, ToolSource, ToolTarget, ToolUpdate,
};
use tool_core::stored::{Saved, StoredTools};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs, raw};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{answer, json, tag, tagged};
use crate::extract::{Body, BodyText, Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{AtId, Page, Paged, Paging};
use crate::problem::{Kind, Problem};
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "stored tool";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(
        Access::role(Role::Viewer),
        routes!(list_stored_tools),
    ))
    .routes(needs(
        Access::role(Role::Author),
        routes!(create_stored_tool),
    ))
    .routes(needs(Access::role(Role::Viewer), routes!(get_stored_tool)))
    .routes(needs(
        Access::role(Role::Author),
        routes!(update_stored_tool),
    ))
    .routes(needs(
        Access::role(Role::Author),
        routes!(delete_stored_tool),
    ))
    .routes(needs(
        Access::role(Role::Operator),
        routes!(enable_stored_tool),
    ))
    .routes(needs(Access::role(Role::Viewer), routes!(list_agent_tools)))
    .routes(needs(Access::role(Role::Author), routes!(bind_tool)))
    .routes(needs(Access::role(Role::Author), routes!(unbind_tool)))
}

fn targets() -> Schema {
    one_of(ToolTarget::ALL.iter().map(|target| target.as_str()))
}

fn sources() -> Schema {
    one_of(ToolSource::ALL.iter().map(|source| source.as_str()))
}

fn inclusions() -> Schema {
    one_of(IncludeDeleted::ALL.iter().map(|word| word.as_str()))
}

/// A JSON Schema.
#[derive(Serialize, ToSchema)]
pub(super) struct StoredSchema {
    /// A hash of the text: schemas with the same id are equal.
    id: String,
    #[schema(value_type = Object)]
    schema: Box<RawValue>,
}

impl From<&ToolSchema> for StoredSchema {
    fn from(schema: &ToolSchema) -> Self {
        Self {
            id: schema.id().to_owned(),
            schema: raw(schema.text()),
        }
    }
}

/// An example of a call.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Example {
    #[schema(value_type = Object)]
    args: Value,
    /// The output; null if the example has none.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    result: Option<Value>,
}

/// A stored tool, which was created at run time.
#[derive(Serialize, ToSchema)]
struct RuntimeTool {
    id: String,
    /// The workspace that owns the tool; null for a system tool.
    workspace: Option<String>,
    /// The name of the tool, for models.
    name: String,
    /// When to use the tool, for models.
    description: Option<String>,
    #[schema(schema_with = targets)]
    target: &'static str,
    /// The id of the function; null for a client tool.
    function: Option<String>,
    /// The pinned version; null if the tool runs the default version of the function.
    function_version: Option<String>,
    /// The schema of the arguments; null if the schema of the version applies.
    input_schema: Option<StoredSchema>,
    /// The schema of the output; null if the schema of the version applies.
    output_schema: Option<StoredSchema>,
    examples: Option<Vec<Example>>,
    /// Whether a person has to approve each call.
    requires_confirmation: bool,
    /// Whether models can list and call the tool.
    enabled: bool,
    /// Whether the tool belongs to the system. Members of workspaces cannot change system tools.
    system: bool,
    #[schema(schema_with = sources)]
    source: &'static str,
    created_by: Option<String>,
    /// The user as whom the tool acts; null if the user of the function applies, or the default user of the workspace if the function has none.
    runtime_user: Option<String>,
    #[schema(format = DateTime)]
    deleted_at: Option<String>,
    /// The tier of the workspace when the tool was deleted.
    retention_tier: Option<&'static str>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<&StoredTool> for RuntimeTool {
    fn from(tool: &StoredTool) -> Self {
        let examples = tool.examples.as_ref().map(|examples| {
            let examples = examples.iter().map(|example| Example {
                args: example.args.clone(),
                result: example.result.clone(),
            });
            examples.collect()
        });
        Self {
            id: tool.id.clone(),
            workspace: tool.workspace.as_ref().map(ToString::to_string),
            name: tool.name.clone(),
            description: tool.description.clone(),
            target: tool.target.as_str(),
            function: tool.function.clone(),
            function_version: tool.function_version.clone(),
            input_schema: tool.input_schema.as_ref().map(StoredSchema::from),
            output_schema: tool.output_schema.as_ref().map(StoredSchema::from),
            examples,
            requires_confirmation: tool.requires_confirmation,
            enabled: tool.enabled,
            system: tool.system,
            source: tool.source.as_str(),
            created_by: tool.created_by.clone(),
            runtime_user: tool.runtime_user.clone(),
            deleted_at: tool.deleted_at.map(time::text),
            retention_tier: tool.retention_tier.map(RetentionTier::as_str),
            created_at: time::text(tool.created_at),
            updated_at: time::text(tool.updated_at),
        }
    }
}

/// The fields of a new tool.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document describes the fields of `NewTool`")]
struct NewStoredTool {
    /// The name of the tool, for models.
    name: String,
    /// When to use the tool, for models.
    #[schema(required = false)]
    description: Option<String>,
    #[schema(schema_with = targets)]
    target: String,
    /// The id of the function; omitted for a client tool.
    #[schema(required = false)]
    function: Option<String>,
    /// The version to which the tool is pinned.
    #[schema(required = false)]
    function_version: Option<String>,
    /// The schema of the arguments; the schema of the version by default.
    #[schema(required = false, value_type = Option<Object>)]
    input_schema: Option<Value>,
    /// The schema of the output; the schema of the version by default.
    #[schema(required = false, value_type = Option<Object>)]
    output_schema: Option<Value>,
    #[schema(required = false)]
    examples: Option<Vec<Example>>,
    /// Whether a person has to approve each call; false by default.
    #[schema(required = false)]
    requires_confirmation: bool,
    /// Whether models may use the tool; true by default.
    #[schema(required = false)]
    enabled: bool,
    /// The user as whom the tool acts. Only an admin may set this field.
    #[schema(required = false)]
    runtime_user: Option<String>,
}

/// The fields of a tool to change. Null removes an optional value, and leaves `name`, `function`, `requires_confirmation` and `enabled` unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the document describes the fields of `ToolUpdate`"
)]
struct StoredToolUpdate {
    #[schema(required = false)]
    name: String,
    #[schema(required = false)]
    description: Option<String>,
    #[schema(required = false)]
    function: String,
    #[schema(required = false)]
    function_version: Option<String>,
    #[schema(required = false, value_type = Option<Object>)]
    input_schema: Option<Value>,
    #[schema(required = false, value_type = Option<Object>)]
    output_schema: Option<Value>,
    #[schema(required = false)]
    examples: Option<Vec<Example>>,
    #[schema(required = false)]
    requires_confirmation: bool,
    #[schema(required = false)]
    enabled: bool,
    /// Only an admin may change this field.
    #[schema(required = false)]
    runtime_user: Option<String>,
}

/// The saved tool, with warnings.
#[derive(Serialize, ToSchema)]
struct SavedTool {
    tool: RuntimeTool,
    /// Warnings for the author. They did not prevent the change.
    warnings: Vec<String>,
}

/// Returns the stored tools of the host. Fails if the server was built without them.
pub(super) fn tools(admin: &Inner) -> Result<&StoredTools, Problem> {
    admin.stored_tools.as_ref().ok_or_else(|| {
        Problem::new(
            Kind::NotFound,
            "the server has no stored tools, add them with `AdminServerBuilder::stored_tools`",
        )
    })
}

/// Returns the caller as the author of a change.
pub(super) fn editor(caller: &Caller) -> Editor {
    let role = MemberRole::from_word(caller.role.as_str()).unwrap_or(MemberRole::Viewer);
    Editor::member(&caller.workspace, caller.subject.as_str(), role)
}

/// Creates the edit of a caller, with its audit row.
fn edit(
    caller: &Caller,
    change: ToolChange,
    (action, details): (&str, Value),
    what: &str,
) -> Result<ToolEdit, Problem> {
    let at = Timestamp::now();
    let audit = AuditRow::of_operator(
        &caller.workspace,
        caller.subject.as_str(),
        action,
        details.to_string(),
        at,
    );
    let audit = audit.map_err(|error| Problem::of_store(&error, what))?;
    Ok(ToolEdit::new(editor(caller), change, at).audited(audit))
}

async fn make(admin: &Inner, edit: ToolEdit, what: &str) -> Result<ToolEdited, Problem> {
    let saved = tools(admin)?.edit(edit).await;
    let saved = saved.map_err(|error| Problem::of_save(error, what))?;
    Ok(saved.edited)
}

/// Makes a change for a caller, with its audit row.
pub(super) async fn save(
    admin: &Inner,
    caller: &Caller,
    change: ToolChange,
    note: (&str, Value),
    what: &str,
) -> Result<ToolEdited, Problem> {
    make(admin, edit(caller, change, note, what)?, what).await
}

/// Makes a change for a caller, with its audit row. A repetition with the same key and the same `request` gets the first response, which `respond`
/// has created. `request` is the text of everything that the change depends on.
pub(super) async fn save_once(
    admin: &Inner,
    caller: &Caller,
    (key, request): (Idempotency, &str),
    change: ToolChange,
    (action, details): (&str, Value),
    (what, respond): (&str, fn(&ToolEdited) -> String),
) -> Result<String, Problem> {
    let mut edit = edit(caller, change, (action, details), what)?;
    if let Some(key) = key.of(caller, (action, request), edit.at, respond) {
        edit = edit.once(key);
    }
    Ok(match make(admin, edit, what).await? {
        ToolEdited::Repeated(response) => response,
        edited => respond(&edited),
    })
}

/// Returns the JSON text of a tool that was saved.
fn respond(edited: &ToolEdited) -> String {
    let ToolEdited::Tool(tool) = edited else {
        return String::new();
    };
    json(&SavedTool {
        tool: RuntimeTool::from(&**tool),
        warnings: Saved::warnings_of(edited),
    })
}

async fn find(admin: &Inner, caller: &Caller, id: &str) -> Result<StoredTool, Problem> {
    let found = tools(admin)?
        .store()
        .stored_tool(&caller.workspace, id)
        .await;
    let found = found.map_err(|error| Problem::of_store(&error, WHAT))?;
    found.ok_or_else(|| Problem::missing(WHAT))
}

/// Checks `If-Match`, and returns the time of the last change of the tool if the request must apply to exactly this state.
async fn expected(
    admin: &Inner,
    caller: &Caller,
    id: &str,
    tags: &IfMatch,
) -> Result<Option<Timestamp>, Problem> {
    if !tags.is_given() {
        return Ok(None);
    }
    let found = find(admin, caller, id).await?;
    tags.check(&tag(&json(&RuntimeTool::from(&found))))?;
    Ok(Some(found.updated_at))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Whether deleted tools are listed: `false` (default), `true` or `only`.
    #[param(schema_with = inclusions, required = false)]
    include_deleted: Option<IncludeDeleted>,
    /// Only tools of this source. Without it, the list contains the tools of the workspace and the system tools.
    #[param(schema_with = sources, required = false)]
    source: Option<ToolSource>,
    /// Only tools that are bound to this agent.
    agent: Option<String>,
    /// Only tools that run this function.
    function: Option<String>,
    /// Only tools with this target.
    #[param(schema_with = targets, required = false)]
    target: Option<ToolTarget>,
    /// Only tools whose name contains this text.
    part: Option<String>,
    /// If true, only tools that require a confirmation; if false, only tools that do not.
    requires_confirmation: Option<bool>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists stored tools, oldest first.
#[utoipa::path(get, path = "/v1/stored-tools", tag = "stored-tools", params(Filter),
    responses((status = 200, description = "A page of tools", body = Page<RuntimeTool>)))]
async fn list_stored_tools(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<AtId>::new(query.limit, query.cursor.as_deref())?;
    let store = tools(&admin)?.store();
    let mut filter = StoredToolFilter {
        include_deleted: query.include_deleted.unwrap_or_default(),
        source: query.source,
        agent: query.agent,
        function: query.function,
        target: query.target,
        name: query.part,
        requires_confirmation: query.requires_confirmation,
        after: paging.after.as_ref().map(AtId::place),
        before: None,
        limit: Some(paging.rows().min(StoredToolFilter::MOST)),
    };
    let failed = |error| Problem::of_store(&error, WHAT);
    let mut rows = store
        .stored_tools(&caller.workspace, &filter)
        .await
        .map_err(failed)?;
    // The API reads one row more than its page contains, to detect the last page. If this exceeds the limit of the store, the row is read separately.
    if paging.rows() > StoredToolFilter::MOST
        && let Some(last) = rows.last()
    {
        (filter.after, filter.limit) = (Some(last.place()), Some(1));
        rows.extend(
            store
                .stored_tools(&caller.workspace, &filter)
                .await
                .map_err(failed)?,
        );
    }
    let place = |tool: &StoredTool| AtId::new(tool.created_at, &tool.id);
    let page = paging.page(rows, place, |tool| RuntimeTool::from(&tool));
    Ok(answer(json(&page)))
}

/// Validates a tool, for example by the rules of the model providers, and creates it.
#[utoipa::path(post, path = "/v1/stored-tools", tag = "stored-tools", request_body = NewStoredTool,
    params(("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The tool", body = SavedTool)))]
async fn create_stored_tool(
    State(admin): State<Shared>,
    key: Idempotency,
    caller: Caller,
    BodyText(new, request): BodyText<NewTool>,
) -> Answer {
    let details =
        serde_json::json!({ "name": new.name, "target": new.target, "function": new.function });
    let change = ToolChange::CreateTool(Box::new(new));
    let note = ("stored_tool.create", details);
    let made = save_once(
        &admin,
        &caller,
        (key, &request),
        change,
        note,
        (WHAT, respond),
    );
    Ok(answer(made.await?))
}

/// Returns one tool, even if it is deleted.
#[utoipa::path(get, path = "/v1/stored-tools/{stored_tool}", tag = "stored-tools",
    params(("stored_tool" = String, Path, description = "The id of the tool")),
    responses((status = 200, description = "The tool", body = RuntimeTool, headers(("ETag" = String, description = "The version of the tool")))))]
async fn get_stored_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
) -> Answer {
    let tool = find(&admin, &caller, &id).await?;
    Ok(tagged(json(&RuntimeTool::from(&tool))))
}

/// Changes fields of a tool. Fields that are not sent remain unchanged.
#[utoipa::path(patch, path = "/v1/stored-tools/{stored_tool}", tag = "stored-tools",
    params(("stored_tool" = String, Path, description = "The id of the tool"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the tool that was read")),
    request_body = StoredToolUpdate,
    responses((status = 200, description = "The tool", body = SavedTool)))]
async fn update_stored_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    tags: IfMatch,
    Body(update): Body<ToolUpdate>,
) -> Answer {
    let expected = expected(&admin, &caller, &id, &tags).await?;
    let details = serde_json::json!({ "tool": id });
    let update = Box::new(update);
    let change = ToolChange::UpdateTool {
        id,
        update,
        expected,
    };
    let note = ("stored_tool.update", details);
    let edited = save(&admin, &caller, change, note, WHAT).await?;
    Ok(answer(respond(&edited)))
}

/// Whether a tool may be used.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Enabled {
    enabled: bool,
}

/// Enables or disables a tool. Its bindings are kept.
#[utoipa::path(put, path = "/v1/stored-tools/{stored_tool}/enabled", tag = "stored-tools",
    params(("stored_tool" = String, Path, description = "The id of the tool")),
    request_body = Enabled,
    responses((status = 200, description = "The tool", body = SavedTool)))]
async fn enable_stored_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    Body(Enabled { enabled }): Body<Enabled>,
) -> Answer {
    let details = serde_json::json!({ "tool": id, "enabled": enabled });
    let update = Box::new(ToolUpdate::enable(enabled));
    let expected = None;
    let change = ToolChange::UpdateTool {
        id,
        update,
        expected,
    };
    let note = ("stored_tool.enable", details);
    let edited = save(&admin, &caller, change, note, WHAT).await?;
    Ok(answer(respond(&edited)))
}

/// Deletes a tool. It can be read until the retention period of the workspace ends.
#[utoipa::path(delete, path = "/v1/stored-tools/{stored_tool}", tag = "stored-tools",
    params(("stored_tool" = String, Path, description = "The id of the tool"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the tool that was read")),
    responses((status = 200, description = "The deleted tool", body = SavedTool), (status = 409, description = "The tool was already deleted", body = Problem, content_type = "application/problem+json")))]
async fn delete_stored_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    tags: IfMatch,
) -> Answer {
    let expected = expected(&admin, &caller, &id, &tags).await?;
    let details = serde_json::json!({ "tool": id });
    let change = ToolChange::DeleteTool { id, expected };
    let note = ("stored_tool.delete", details);
    let edited = save(&admin, &caller, change, note, WHAT).await?;
    Ok(answer(respond(&edited)))
}

/// A binding of a tool to an agent.
#[derive(Serialize, ToSchema)]
struct Binding {
    agent: String,
    /// The id of the tool.
    tool: String,
    /// The user who bound the tool.
    by: String,
    #[schema(format = DateTime)]
    at: String,
}

impl From<&AgentBinding> for Binding {
    fn from(row: &AgentBinding) -> Self {
        Self {
            agent: row.agent.clone(),
            tool: row.tool.clone(),
            by: row.by.clone(),
            at: time::text(row.at),
        }
    }
}

/// The state of a binding after a request.
#[derive(Serialize, ToSchema)]
struct Bound {
    /// The binding; null if the binding to remove did not exist.
    binding: Option<Binding>,
    /// Whether the request has changed something.
    changed: bool,
}

/// Lists the tools that are bound to an agent.
#[utoipa::path(get, path = "/v1/agents/{agent}/tools", tag = "stored-tools",
    params(("agent" = String, Path, description = "The id of the agent"), Paged),
    responses((status = 200, description = "A page of bindings", body = Page<Binding>)))]
async fn list_agent_tools(
    State(admin): State<Shared>,
    caller: Caller,
    Id(agent): Id<String>,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<String>()?;
    let filter = BindingFilter {
        agent: Some(agent.clone()),
        limit: Some(paging.rows()),
        after: paging.after.clone().map(|tool| (agent, tool)),
        ..BindingFilter::default()
    };
    let rows = tools(&admin)?
        .store()
        .bindings(&caller.workspace, &filter)
        .await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |row| row.tool.clone(), |row| Binding::from(&row));
    Ok(answer(json(&page)))
}

fn bound(edited: ToolEdited) -> Answer {
    let ToolEdited::Binding { binding, changed } = edited else {
        return Err(Problem::missing(WHAT));
    };
    let binding = binding.as_ref().map(Binding::from);
    Ok(answer(json(&Bound { binding, changed })))
}

/// Binds a tool to an agent.
#[utoipa::path(put, path = "/v1/agents/{agent}/tools/{stored_tool}", tag = "stored-tools",
    params(("agent" = String, Path, description = "The id of the agent"), ("stored_tool" = String, Path, description = "The id of the tool")),
    responses((status = 200, description = "The binding", body = Bound), (status = 409, description = "The tool is deleted", body = Problem, content_type = "application/problem+json")))]
async fn bind_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id((agent, tool)): Id<(String, String)>,
) -> Answer {
    let details = serde_json::json!({ "agent": agent, "tool": tool });
    let change = ToolChange::Bind { agent, tool };
    bound(save(&admin, &caller, change, ("stored_tool.bind", details), WHAT).await?)
}

/// Removes the binding of a tool to an agent. The tool is kept.
#[utoipa::path(delete, path = "/v1/agents/{agent}/tools/{stored_tool}", tag = "stored-tools",
    params(("agent" = String, Path, description = "The id of the agent"), ("stored_tool" = String, Path, description = "The id of the tool")),
    responses((status = 200, description = "The binding that was removed", body = Bound)))]
async fn unbind_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id((agent, tool)): Id<(String, String)>,
) -> Answer {
    let details = serde_json::json!({ "agent": agent, "tool": tool });
    let change = ToolChange::Unbind { agent, tool };
    bound(
        save(
            &admin,
            &caller,
            change,
            ("stored_tool.unbind", details),
            WHAT,
        )
        .await?,
    )
}
