//! `/v1/functions`: the code that stored tools run, and its versions.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::store::{
    Function, FunctionEffects, FunctionFilter, FunctionKind, FunctionUpdate, FunctionVersion,
    NewFunction, NewFunctionVersion, ToolChange, ToolEdited,
};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::stored_tools::{StoredSchema, save, save_once, tools};
use super::{Answer, Routes, needs};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{answer, json, tag, tagged};
use crate::extract::{Body, BodyText, Id, Idempotency, IfMatch, Query};
use crate::page::{AtId, Page, Paging};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "function";
const VERSION: &str = "version of a function";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_functions)))
        .routes(needs(Access::role(Role::Author), routes!(create_function)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_function)))
        .routes(needs(Access::role(Role::Author), routes!(update_function)))
        .routes(needs(Access::role(Role::Author), routes!(delete_function)))
        .routes(needs(Access::role(Role::Viewer), routes!(list_versions)))
        .routes(needs(Access::role(Role::Author), routes!(create_version)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_version)))
        .routes(needs(Access::role(Role::Author), routes!(delete_version)))
        .routes(needs(Access::role(Role::Author), routes!(publish_version)))
}

/// The code of a function.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Code {
    /// A tool of the program.
    Linked { tool: String },
    /// A tool of an MCP server of the host.
    Mcp { server: String, tool: String },
    /// An operation of an `OpenAPI` document among the files of the version.
    Http { document: String, operation: String },
    /// TypeScript among the files of the version.
    TypeScript { entry: String },
}

impl From<FunctionKind> for Code {
    fn from(kind: FunctionKind) -> Self {
        match kind {
            FunctionKind::Linked { tool } => Self::Linked { tool },
            FunctionKind::Mcp { server, tool } => Self::Mcp { server, tool },
            FunctionKind::Http {
                document,
                operation,
            } => Self::Http {
                document,
                operation,
            },
            FunctionKind::TypeScript { entry } => Self::TypeScript { entry },
        }
    }
}

/// The effects of a foreign function: its code runs in a system that the host does not control.
#[derive(Serialize, ToSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent hint of MCP"
)]
struct Effects {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

impl From<FunctionEffects> for Effects {
    fn from(effects: FunctionEffects) -> Self {
        Self {
            read_only: effects.read_only,
            destructive: effects.destructive,
            idempotent: effects.idempotent,
            open_world: effects.open_world,
        }
    }
}

/// A function, which stored tools run.
#[derive(Serialize, ToSchema)]
struct ToolFunction {
    id: String,
    /// The workspace that owns the function; null for a system function.
    workspace: Option<String>,
    name: String,
    description: Option<String>,
    kind: Code,
    /// The version that tools run if they pin no version.
    default_version: Option<String>,
    runtime_user: Option<String>,
    /// The effects that an admin has stated. Null means that the function may do everything, or that the effects follow from its code.
    effects: Option<Effects>,
    created_by: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<&Function> for ToolFunction {
    fn from(function: &Function) -> Self {
        Self {
            id: function.id.clone(),
            workspace: function.workspace.as_ref().map(ToString::to_string),
            name: function.name.clone(),
            description: function.description.clone(),
            kind: function.kind.clone().into(),
            default_version: function.default_version.clone(),
            runtime_user: function.runtime_user.clone(),
            effects: function.effects.map(Effects::from),
            created_by: function.created_by.clone(),
            created_at: time::text(function.created_at),
            updated_at: time::text(function.updated_at),
        }
    }
}

/// A version of a function. It never changes.
#[derive(Serialize, ToSchema)]
struct ToolFunctionVersion {
    id: String,
    /// The id of the function.
    function: String,
    number: u32,
    /// The version on which this version is based.
    parent: Option<String>,
    label: Option<String>,
    /// The contents of the files, by path.
    files: BTreeMap<String, String>,
    /// The tools that the code may call.
    uses: Vec<String>,
    input_schema: StoredSchema,
    output_schema: StoredSchema,
    created_by: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

impl From<&FunctionVersion> for ToolFunctionVersion {
    fn from(version: &FunctionVersion) -> Self {
        Self {
            id: version.id.clone(),
            function: version.function.clone(),
            number: version.number,
            parent: version.parent.clone(),
            label: version.label.clone(),
            files: version.files.clone(),
            uses: version.uses.clone(),
            input_schema: StoredSchema::from(&version.input_schema),
            output_schema: StoredSchema::from(&version.output_schema),
            created_by: version.created_by.clone(),
            created_at: time::text(version.created_at),
        }
    }
}

/// The fields of a new function.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the document describes the fields of `NewFunction`"
)]
struct NewToolFunction {
    name: String,
    #[schema(required = false)]
    description: Option<String>,
    kind: Code,
    /// The user as whom the function acts. Only an admin may set this field.
    #[schema(required = false)]
    runtime_user: Option<String>,
    /// The effects of a foreign function. Only an admin may set this field.
    #[schema(required = false)]
    effects: Option<Effects>,
}

/// The fields of a function to change. Null removes an optional value, and leaves `name` unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the document describes the fields of `FunctionUpdate`"
)]
struct ToolFunctionUpdate {
    #[schema(required = false)]
    name: String,
    #[schema(required = false)]
    description: Option<String>,
    /// Only an admin may change this field.
    #[schema(required = false)]
    runtime_user: Option<String>,
    /// Only an admin may change this field.
    #[schema(required = false)]
    effects: Option<Effects>,
}

/// The fields of a new version.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the document describes the fields of `NewFunctionVersion`"
)]
struct NewToolFunctionVersion {
    /// The version on which the new version is based.
    #[schema(required = false)]
    parent: Option<String>,
    #[schema(required = false)]
    label: Option<String>,
    #[schema(required = false)]
    files: BTreeMap<String, String>,
    #[schema(required = false)]
    uses: Vec<String>,
    #[schema(value_type = Object)]
    input_schema: Value,
    #[schema(value_type = Object)]
    output_schema: Value,
}

async fn find(admin: &Inner, caller: &Caller, id: &str) -> Result<Function, Problem> {
    let found = tools(admin)?.store().function(&caller.workspace, id).await;
    let found = found.map_err(|error| Problem::of_store(&error, WHAT))?;
    found.ok_or_else(|| Problem::missing(WHAT))
}

/// Returns the JSON text of a function that was saved.
fn function(edited: &ToolEdited) -> String {
    match edited {
        ToolEdited::Function(function) => json(&ToolFunction::from(&**function)),
        _ => String::new(),
    }
}

/// Returns the JSON text of a version that was saved.
fn version(edited: &ToolEdited) -> String {
    match edited {
        ToolEdited::Version(version) => json(&ToolFunctionVersion::from(&**version)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only functions whose name contains this text.
    part: Option<String>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists functions, oldest first.
#[utoipa::path(get, path = "/v1/functions", tag = "functions", params(Filter),
    responses((status = 200, description = "A page of functions", body = Page<ToolFunction>)))]
async fn list_functions(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<AtId>::new(query.limit, query.cursor.as_deref())?;
    let filter = FunctionFilter {
        name: query.part,
        kind: None,
        limit: Some(paging.rows()),
        after: paging.after.as_ref().map(AtId::place),
    };
    let rows = tools(&admin)?
        .store()
        .functions(&caller.workspace, &filter)
        .await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &Function| AtId::new(row.created_at, &row.id);
    let page = paging.page(rows, place, |row| ToolFunction::from(&row));
    Ok(answer(json(&page)))
}

/// Creates a function. A tool runs the version that the tool pins, or else the published version.
#[utoipa::path(post, path = "/v1/functions", tag = "functions", request_body = NewToolFunction,
    params(("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The function", body = ToolFunction)))]
async fn create_function(
    State(admin): State<Shared>,
    key: Idempotency,
    caller: Caller,
    BodyText(new, request): BodyText<NewFunction>,
) -> Answer {
    let details = serde_json::json!({ "name": new.name, "kind": new.kind, "effects": new.effects });
    let change = ToolChange::CreateFunction(new);
    let note = ("function.create", details);
    let made = save_once(
        &admin,
        &caller,
        (key, &request),
        change,
        note,
        (WHAT, function),
    );
    Ok(tagged(made.await?))
}

/// Returns one function by its id.
#[utoipa::path(get, path = "/v1/functions/{function}", tag = "functions",
    params(("function" = String, Path, description = "The id of the function")),
    responses((status = 200, description = "The function", body = ToolFunction, headers(("ETag" = String, description = "The version of the row")))))]
async fn get_function(State(admin): State<Shared>, caller: Caller, Id(id): Id<String>) -> Answer {
    let found = find(&admin, &caller, &id).await?;
    Ok(tagged(json(&ToolFunction::from(&found))))
}

/// Changes fields of a function. Fields that are not sent remain unchanged.
#[utoipa::path(patch, path = "/v1/functions/{function}", tag = "functions",
    params(("function" = String, Path, description = "The id of the function"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the function that was read")),
    request_body = ToolFunctionUpdate,
    responses((status = 200, description = "The function", body = ToolFunction)))]
async fn update_function(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    tags: IfMatch,
    Body(update): Body<FunctionUpdate>,
) -> Answer {
    let mut expected = None;
    if tags.is_given() {
        let found = find(&admin, &caller, &id).await?;
        tags.check(&tag(&json(&ToolFunction::from(&found))))?;
        expected = Some(found.updated_at);
    }
    let details = serde_json::json!({ "function": id, "effects": update.effects });
    let change = ToolChange::UpdateFunction {
        id,
        update,
        expected,
    };
    let note = ("function.update", details);
    let edited = save(&admin, &caller, change, note, WHAT).await?;
    Ok(tagged(function(&edited)))
}

/// Deletes a function and its versions. Fails while a tool uses the function, including deleted tools that are not removed yet.
#[utoipa::path(delete, path = "/v1/functions/{function}", tag = "functions",
    params(("function" = String, Path, description = "The id of the function")),
    responses((status = 200, description = "The deleted function", body = ToolFunction), (status = 409, description = "A tool uses the function", body = Problem, content_type = "application/problem+json")))]
async fn delete_function(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
) -> Answer {
    let details = serde_json::json!({ "function": id });
    let change = ToolChange::DeleteFunction { id };
    let note = ("function.delete", details);
    let edited = save(&admin, &caller, change, note, WHAT).await?;
    Ok(answer(function(&edited)))
}

/// The versions of a function.
#[derive(Serialize, ToSchema)]
struct Versions {
    /// All versions, oldest first.
    items: Vec<ToolFunctionVersion>,
}

/// Lists the versions of a function, oldest first.
#[utoipa::path(get, path = "/v1/functions/{function}/versions", tag = "functions",
    params(("function" = String, Path, description = "The id of the function")),
    responses((status = 200, description = "The versions", body = Versions)))]
async fn list_versions(State(admin): State<Shared>, caller: Caller, Id(id): Id<String>) -> Answer {
    find(&admin, &caller, &id).await?;
    let store = tools(&admin)?.store();
    let rows = store.function_versions(&caller.workspace, &id).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, VERSION))?;
    let items = rows.iter().map(ToolFunctionVersion::from).collect();
    Ok(answer(json(&Versions { items })))
}

/// Validates a version of a function, for example by the rules of the model providers, and creates it. It is not the default until it is published.
#[utoipa::path(post, path = "/v1/functions/{function}/versions", tag = "functions",
    params(("function" = String, Path, description = "The id of the function"), ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = NewToolFunctionVersion,
    responses((status = 200, description = "The version", body = ToolFunctionVersion)))]
async fn create_version(
    State(admin): State<Shared>,
    key: Idempotency,
    caller: Caller,
    Id(function): Id<String>,
    BodyText(new, request): BodyText<NewFunctionVersion>,
) -> Answer {
    let details = serde_json::json!({ "function": function, "label": new.label });
    let request = format!("{function} {request}");
    let change = ToolChange::CreateVersion {
        function,
        version: new,
    };
    let note = ("function.create_version", details);
    let made = save_once(
        &admin,
        &caller,
        (key, &request),
        change,
        note,
        (WHAT, version),
    );
    Ok(answer(made.await?))
}

/// Returns one version of a function.
#[utoipa::path(get, path = "/v1/function-versions/{version}", tag = "functions",
    params(("version" = String, Path, description = "The id of the version")),
    responses((status = 200, description = "The version", body = ToolFunctionVersion)))]
async fn get_version(State(admin): State<Shared>, caller: Caller, Id(id): Id<String>) -> Answer {
    let store = tools(&admin)?.store();
    let found = store.function_version(&caller.workspace, &id).await;
    let found = found.map_err(|error| Problem::of_store(&error, VERSION))?;
    let found = found.ok_or_else(|| Problem::missing(VERSION))?;
    Ok(answer(json(&ToolFunctionVersion::from(&found))))
}

/// Deletes a version. Fails if it is the default, if a tool pins it, or if a version is based on it.
#[utoipa::path(delete, path = "/v1/function-versions/{version}", tag = "functions",
    params(("version" = String, Path, description = "The id of the version")),
    responses((status = 200, description = "The deleted version", body = ToolFunctionVersion), (status = 409, description = "The version is in use", body = Problem, content_type = "application/problem+json")))]
async fn delete_version(State(admin): State<Shared>, caller: Caller, Id(id): Id<String>) -> Answer {
    let details = serde_json::json!({ "version": id });
    let change = ToolChange::DeleteVersion { id };
    let note = ("function.delete_version", details);
    let edited = save(&admin, &caller, change, note, VERSION).await?;
    Ok(answer(version(&edited)))
}

/// Makes a version the default of its function. Tools that pin no version run it from their next call on.
#[utoipa::path(post, path = "/v1/function-versions/{version}/publish", tag = "functions",
    params(("version" = String, Path, description = "The id of the version"), ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The function", body = ToolFunction), (status = 422, description = "The examples of a tool do not match the version", body = Problem, content_type = "application/problem+json")))]
async fn publish_version(
    State(admin): State<Shared>,
    key: Idempotency,
    caller: Caller,
    Id(version): Id<String>,
) -> Answer {
    let details = serde_json::json!({ "version": version });
    let request = version.clone();
    let change = ToolChange::Publish { version };
    let note = ("function.publish", details);
    let made = save_once(
        &admin,
        &caller,
        (key, &request),
        change,
        note,
        (VERSION, function),
    );
    Ok(tagged(made.await?))
}
