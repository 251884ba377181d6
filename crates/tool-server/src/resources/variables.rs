//! `/v1/variables`: the variables of a workspace and of the owners in it. `/v1/threads/{conversation}/variables`: the requests for values that a conversation
//! waits for.

use std::collections::BTreeMap;

use axum::extract::State;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::store::seal::{NewValue, VaultError};
use tool_core::store::{
    Change, Changed, ThreadId, VariableField, VariableFilter, VariableInfo, VariableLevel,
    VariableRequest, VariableRequestStore, VariableRow, VariableScope, VariableStore, VariableType,
    VaultChange,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::secrets::vault;
use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Body, Id, Idempotency, NotRepeatable, Query, SecretText};
use crate::openapi::one_of;
use crate::page::{Page, Paged, Paging};
use crate::problem::{InputError, Kind, Problem, pointer_step};
use crate::state::Shared;
use crate::time;

const WHAT: &str = "variable";
const REQUEST: &str = "request for variables";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_variables)))
        .routes(needs(Access::role(Role::Operator), routes!(write_variable)))
        .routes(needs(
            Access::role(Role::Operator),
            routes!(remove_variable),
        ))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(list_variable_requests),
        ))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(get_variable_request),
        ))
        .routes(needs(
            Access::role(Role::Operator),
            routes!(answer_variable_request),
        ))
}

fn levels() -> Schema {
    one_of(VariableLevel::ALL.iter().map(|level| level.as_str()))
}

fn types() -> Schema {
    one_of(VariableType::ALL.iter().map(|kind| kind.as_str()))
}

/// A variable of the workspace or of an owner in it.
#[derive(Serialize, ToSchema)]
struct Variable {
    /// The kind of owner.
    #[schema(schema_with = levels)]
    level: &'static str,
    /// The id of the owner; empty for the workspace itself.
    owner: String,
    name: String,
    #[serde(rename = "type")]
    #[schema(schema_with = types)]
    kind: &'static str,
    /// The value; null if it is secret.
    value: Option<String>,
    /// The user who wrote the value.
    by: String,
    #[schema(format = DateTime)]
    at: String,
}

impl From<VariableInfo> for Variable {
    fn from(info: VariableInfo) -> Self {
        Self {
            level: info.level.as_str(),
            owner: info.owner,
            name: info.name,
            kind: info.kind.as_str(),
            value: info.value,
            by: info.by,
            at: time::text(info.at),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only variables of this kind of owner.
    #[param(schema_with = levels, required = false)]
    level: Option<VariableLevel>,
    /// Only variables of owners with this id.
    owner: Option<String>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists the variables of the workspace, by level, owner and name, without the values of secrets.
#[utoipa::path(get, path = "/v1/variables", tag = "variables", params(Filter),
    responses((status = 200, description = "A page of variables", body = Page<Variable>)))]
async fn list_variables(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging =
        Paging::<(VariableLevel, String, String)>::new(query.limit, query.cursor.as_deref())?;
    let filter = VariableFilter {
        level: query.level,
        owner: query.owner,
        limit: Some(paging.rows()),
        after: paging.after.clone(),
    };
    let rows = VariableStore::list_variables(&*admin.store, &caller.workspace, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |info: &VariableInfo| (info.level, info.owner.clone(), info.name.clone());
    let page = paging.page(rows, place, Variable::from);
    Ok(answer(json(&page)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Place {
    /// The kind of owner; the workspace itself by default.
    #[param(schema_with = levels, required = false)]
    level: Option<VariableLevel>,
    /// The id of the user, the prompt, the agent or the thread; left out for the workspace itself.
    owner: Option<String>,
}

impl Place {
    fn scope(self, caller: &Caller) -> Result<VariableScope, Problem> {
        let level = self.level.unwrap_or(VariableLevel::Workspace);
        let owner = self.owner.unwrap_or_default();
        VariableScope::of(caller.workspace.clone(), level, owner).map_err(|_| {
            Problem::new(
                Kind::BadRequest,
                "`owner` must be the id of the owner for every `level` except `workspace`, which has no owner",
            )
        })
    }
}

fn place(scope: &VariableScope, name: &str) -> Value {
    json!({ "level": scope.level(), "owner": scope.owner(), "variable": name })
}

/// A value to store.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewVariable {
    /// The value. The value of a secret is sealed before it is stored, and no request can read it.
    #[schema(value_type = String)]
    value: SecretText,
    /// The type; `secret` by default, so that a value is not shown by mistake.
    #[serde(rename = "type", default)]
    #[schema(schema_with = types, required = false)]
    kind: Option<VariableType>,
}

/// Writes a variable, in place of the value that was stored before.
#[utoipa::path(put, path = "/v1/variables/{name}", tag = "variables",
    params(("name" = String, Path, description = "The name that tools and prompts use"), Place),
    request_body = NewVariable,
    responses((status = 200, description = "The variable, without the value of a secret", body = Variable)))]
async fn write_variable(
    State(admin): State<Shared>,
    caller: Caller,
    Id(name): Id<String>,
    Query(query): Query<Place>,
    Body(body): Body<NewVariable>,
) -> Answer {
    let scope = query.scope(&caller)?;
    let kind = VariableType::or_undeclared(body.kind);
    let value = NewValue::declared(name.as_str(), kind, body.value.0);
    let rows = vault(&admin)?
        .seal_variables(&scope, vec![value], &caller.subject)
        .await;
    let rows = rows.map_err(|error| Problem::of_vault(&error, WHAT))?;
    let written = rows.first().map(VariableRow::info).map(Variable::from);
    let mut details = place(&scope, &name);
    details["type"] = kind.as_str().into();
    let wanted = Wanted {
        change: Change::Vault(VaultChange::PutVariables(rows)),
        action: "variable.write",
        details,
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    admin.change(&caller, none, wanted, outcome).await?;
    Ok(answer(json(&written)))
}

/// Removes a variable of the workspace or of an owner in it.
#[utoipa::path(delete, path = "/v1/variables/{name}", tag = "variables",
    params(("name" = String, Path, description = "The name that tools and prompts use"), Place),
    responses((status = 200, description = "The variable was removed", body = ChangeOutcome)))]
async fn remove_variable(
    State(admin): State<Shared>,
    caller: Caller,
    Id(name): Id<String>,
    Query(query): Query<Place>,
) -> Answer {
    let scope = query.scope(&caller)?;
    let wanted = Wanted {
        details: place(&scope, &name),
        change: Change::Vault(VaultChange::RemoveVariable { scope, name }),
        action: "variable.remove",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}

/// A variable that a request asks for.
#[derive(Serialize, ToSchema)]
struct RequiredVariable {
    name: String,
    #[serde(rename = "type")]
    #[schema(schema_with = types)]
    kind: &'static str,
    /// Help for the person who enters the value.
    description: Option<String>,
    /// The choices of a variable of type `select`.
    choices: Vec<String>,
}

impl From<VariableField> for RequiredVariable {
    fn from(field: VariableField) -> Self {
        Self {
            name: field.name,
            kind: field.kind.as_str(),
            description: field.description,
            choices: field.choices,
        }
    }
}

/// A request for the values of variables. It contains no values.
#[derive(Serialize, ToSchema)]
struct OpenVariableRequest {
    /// The id of the request.
    request: String,
    /// The conversation that waits for the values.
    conversation: String,
    /// The agent that is started when all values are stored.
    agent: String,
    /// The variables that the agent requires.
    required: Vec<RequiredVariable>,
    /// The names of the required variables that have no value.
    missing: Vec<String>,
    /// When the request was opened.
    #[schema(format = DateTime)]
    at: String,
}

impl From<VariableRequest> for OpenVariableRequest {
    fn from(request: VariableRequest) -> Self {
        let required = request.required.into_iter();
        Self {
            request: request.id,
            conversation: request.thread.conversation().to_owned(),
            agent: request.agent,
            required: required.map(RequiredVariable::from).collect(),
            missing: request.missing,
            at: time::text(request.at),
        }
    }
}

fn thread(caller: &Caller, conversation: String) -> Result<ThreadId, Problem> {
    ThreadId::new(&caller.workspace, conversation).map_err(|_| Problem::missing(REQUEST))
}

/// Lists the open requests for variables of a conversation, by id.
#[utoipa::path(get, path = "/v1/threads/{conversation}/variables", tag = "variables",
    params(("conversation" = String, Path, description = "The conversation"), Paged),
    responses((status = 200, description = "A page of requests", body = Page<OpenVariableRequest>)))]
async fn list_variable_requests(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<String>()?;
    let thread = thread(&caller, conversation)?;
    let rows = VariableRequestStore::requests(&*admin.store, &thread).await;
    let mut rows = rows.map_err(|error| Problem::of_store(&error, REQUEST))?;
    rows.retain(|row| paging.is_later(&row.id));
    let page = paging.page(rows, |row| row.id.clone(), OpenVariableRequest::from);
    Ok(answer(json(&page)))
}

/// Finds an open request of a conversation. A request of a different conversation of the workspace is forbidden.
async fn find(
    admin: &Shared,
    thread: &ThreadId,
    request: &str,
) -> Result<VariableRequest, Problem> {
    let row = VariableRequestStore::request(&*admin.store, thread.workspace(), request).await;
    let row = row.map_err(|error| Problem::of_store(&error, REQUEST))?;
    let row = row.ok_or_else(|| Problem::missing(REQUEST))?;
    if row.thread != *thread {
        let error = VaultError::ForeignThread(request.to_owned());
        return Err(Problem::of_vault(&error, REQUEST));
    }
    Ok(row)
}

/// Reads an open request for variables: its agent, the required variables and the missing ones, without any value.
#[utoipa::path(get, path = "/v1/threads/{conversation}/variables/{request}", tag = "variables",
    params(("conversation" = String, Path, description = "The conversation"), ("request" = String, Path, description = "The id of the request")),
    responses((status = 200, description = "The request", body = OpenVariableRequest)))]
async fn get_variable_request(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, request)): Id<(String, String)>,
) -> Answer {
    let thread = thread(&caller, conversation)?;
    let row = find(&admin, &thread, &request).await?;
    Ok(answer(json(&OpenVariableRequest::from(row))))
}

/// The values of an answer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct VariableAnswer {
    /// The values by the names of the variables. An empty value counts as missing.
    #[schema(value_type = BTreeMap<String, String>)]
    env: BTreeMap<String, SecretText>,
}

/// The names of the variables that have no value after an answer.
#[derive(Serialize, Deserialize, ToSchema)]
struct VariableAnswered {
    /// Always empty, because an answer after which a value is missing has the status 400.
    missing: Vec<String>,
}

fn respond(changed: &Changed) -> String {
    let missing = match changed {
        Changed::Answered { missing } => missing.clone(),
        _ => Vec::new(),
    };
    json(&VariableAnswered { missing })
}

fn pointer(name: &str) -> String {
    format!("/env/{}", pointer_step(name))
}

/// Refuses values that the request does not ask for, and values that are not a choice of their variable.
fn check(request: &VariableRequest, values: &BTreeMap<String, SecretText>) -> Result<(), Problem> {
    let mut errors = Vec::new();
    for (name, SecretText(value)) in values {
        let value = value.expose_secret();
        let field = request.required.iter().find(|field| field.name == *name);
        let detail = match field {
            None => {
                let names: Vec<&str> = request.required.iter().map(|field| &*field.name).collect();
                format!(
                    "the request does not ask for this variable, it asks for {}",
                    names.join(", ")
                )
            }
            Some(field)
                if field.kind == VariableType::Select
                    && !value.is_empty()
                    && !field.choices.iter().any(|choice| choice == value) =>
            {
                format!("write one of {}", field.choices.join(", "))
            }
            Some(_) => continue,
        };
        errors.push(InputError {
            pointer: pointer(name),
            detail,
        });
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Problem::inputs(errors))
}

/// Stores the values that a conversation waits for, and closes the request.
///
/// If a value is still missing afterwards, the status is 400, the values that were sent are stored, and the request stays open.
#[utoipa::path(post, path = "/v1/threads/{conversation}/variables/{request}", tag = "variables",
    params(("conversation" = String, Path, description = "The conversation"), ("request" = String, Path, description = "The id of the request")),
    request_body = VariableAnswer,
    responses((status = 200, description = "Every value is stored, and the request is closed", body = VariableAnswered)))]
async fn answer_variable_request(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, request)): Id<(String, String)>,
    _: NotRepeatable,
    Body(body): Body<VariableAnswer>,
) -> Answer {
    let thread = thread(&caller, conversation)?;
    let open = find(&admin, &thread, &request).await?;
    check(&open, &body.env)?;
    let values = body.env.into_iter();
    let values = values.map(|(name, SecretText(value))| (name, value));
    let rows = vault(&admin)?
        .seal_answer(&thread, &request, values, &caller.subject)
        .await;
    let rows = rows.map_err(|error| Problem::of_vault(&error, REQUEST))?;
    let text = if rows.is_empty() {
        json(&VariableAnswered {
            missing: open.missing.clone(),
        })
    } else {
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        let wanted = Wanted {
            details: json!({
                "conversation": thread.conversation(), "request": request, "agent": &open.agent, "variables": names,
            }),
            change: Change::Vault(VaultChange::AnswerRequest {
                workspace: caller.workspace.clone(),
                id: request,
                rows,
            }),
            action: "variables.answer",
            request: "",
            what: REQUEST,
        };
        let none = Idempotency(None);
        admin.change(&caller, none, wanted, respond).await?
    };
    let missing = serde_json::from_str(&text);
    let missing = missing.map_or_else(|_| Vec::new(), |VariableAnswered { missing }| missing);
    if missing.is_empty() {
        if let Some(supplied) = &admin.supplied {
            supplied(&open);
        }
        return Ok(answer(text));
    }
    let errors = missing.iter().map(|name| InputError {
        pointer: pointer(name),
        detail: "the value is missing".to_owned(),
    });
    let detail = format!(
        "the request for variables stays open, send the values of {}",
        missing.join(", ")
    );
    Err(Problem::incomplete(detail, errors.collect()))
}
