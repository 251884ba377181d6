//! `/v1/effects`: the effect ledger, and the settlement of effects with an unknown outcome.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::Gate;
use tool_core::store::{
    CallKey, Change, Changed, EffectFilter, EffectLedger, EffectRow, EffectState, Resolution,
    Scope, Timestamp,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs, raw};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Body, Id, Idempotency, Query};
use crate::openapi::one_of;
use crate::page::{AtId, Page, Paging};
use crate::problem::Problem;
use crate::state::Shared;
use crate::time;

pub(super) const WHAT: &str = "effect";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_effects)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_effect)))
        .routes(needs(Access::role(Role::Operator), routes!(resolve_effect)))
}

fn states() -> Schema {
    one_of(EffectState::ALL.iter().map(|state| state.as_str()))
}

/// A call that changes something.
#[derive(Serialize, ToSchema)]
pub(super) struct EffectRecord {
    /// The idempotency key of the call.
    key: String,
    #[schema(schema_with = states)]
    state: &'static str,
    tool: String,
    /// The model's own id of the call.
    call: String,
    conversation: Option<String>,
    /// The user who requested the call.
    principal: String,
    agent: Option<String>,
    /// Hash of the tool's contract.
    contract: String,
    /// Hash of the canonical arguments.
    arguments_hash: String,
    /// The run of the tool's body that owns the row.
    owner: String,
    attempt: u32,
    #[schema(format = DateTime)]
    begun: String,
    /// The time at which the lease expires. If the row is still `running` after this time, its owner may be dead.
    #[schema(format = DateTime)]
    lease_until: String,
    #[schema(format = DateTime)]
    ended: Option<String>,
    /// Whether an end was recorded too late: the tool ended after its lease had expired, an earlier attempt ended after this attempt had begun, or
    /// the outcome contradicts the settlement by an operator.
    late: bool,
    /// The operator who settled the effect.
    resolved_by: Option<String>,
    /// The stored result, which a repeated call returns.
    #[schema(value_type = serde_json::Value)]
    result: Box<RawValue>,
}

impl From<&EffectRow> for EffectRecord {
    fn from(row: &EffectRow) -> Self {
        let intent = &row.intent;
        Self {
            key: intent.identity.key().as_str().to_owned(),
            state: row.state.as_str(),
            tool: intent.tool.clone(),
            call: intent.call.clone(),
            conversation: intent.thread.clone(),
            principal: intent.principal.clone(),
            agent: intent.agent.clone(),
            contract: intent.contract.clone(),
            arguments_hash: intent.arguments_hash.clone(),
            owner: intent.owner.clone(),
            attempt: row.attempt,
            begun: time::text(intent.at),
            lease_until: time::text(intent.lease_until),
            ended: row.ended.map(time::text),
            late: row.late,
            resolved_by: row.resolved_by.clone(),
            result: raw(row.result.as_deref().unwrap_or_default()),
        }
    }
}

pub(super) fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Effect(row) => json(&EffectRecord::from(&**row)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only effects in this state. Operators settle effects in the state `ambiguous`.
    #[param(schema_with = states, required = false)]
    state: Option<EffectState>,
    /// Only effects of this tool.
    tool: Option<String>,
    /// Only effects for this user.
    principal: Option<String>,
    /// Only effects of this conversation.
    conversation: Option<String>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists effects, newest first.
#[utoipa::path(get, path = "/v1/effects", tag = "effects", params(Filter),
    responses((status = 200, description = "A page of effects", body = Page<EffectRecord>)))]
async fn list_effects(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<AtId>::new(query.limit, query.cursor.as_deref())?;
    let filter = EffectFilter {
        state: query.state,
        tool: query.tool,
        principal: query.principal,
        thread: query.conversation,
        limit: Some(paging.rows()),
        newest_first: true,
        after: (paging.after.as_ref()).map(|after| after.place_of_call(&caller.workspace)),
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = EffectLedger::page(&*admin.store, scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &EffectRow| {
        let (at, key) = row.place();
        AtId::new(at, key.as_str())
    };
    let page = paging.page(rows, place, |row| EffectRecord::from(&row));
    Ok(answer(json(&page)))
}

/// Returns one effect by its key.
#[utoipa::path(get, path = "/v1/effects/{key}", tag = "effects",
    params(("key" = String, Path, description = "The key of the effect")),
    responses((status = 200, description = "The effect", body = EffectRecord)))]
async fn get_effect(State(admin): State<Shared>, caller: Caller, Id(key): Id<String>) -> Answer {
    let key = CallKey::new(&caller.workspace, key);
    let row = EffectLedger::get(&*admin.store, &key).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    let row = row.ok_or_else(|| Problem::missing(WHAT))?;
    Ok(answer(json(&EffectRecord::from(&row))))
}

/// The outcome of an effect, as an operator has determined it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Finding {
    /// The effect happened. The call returns `output`.
    Succeeded,
    /// The effect did not happen, and the call must not run again. The call returns the error `error`.
    Failed,
    /// The effect did not happen, and the call may run again.
    Rerun,
}

/// The settlement of an effect.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settlement {
    pub(super) finding: Finding,
    /// The output of the tool; required for `succeeded`, and not allowed otherwise.
    #[schema(value_type = Option<serde_json::Value>)]
    pub(super) output: Option<Box<RawValue>>,
    /// The error for the model; required for `failed`, and not allowed otherwise.
    pub(super) error: Option<String>,
}

impl Settlement {
    pub(super) fn read(&self) -> Result<Resolution, Problem> {
        let resolution = match (self.finding, &self.output, &self.error) {
            (Finding::Succeeded, Some(output), None) => {
                Resolution::Succeeded(output.get().to_owned())
            }
            (Finding::Failed, None, Some(error)) => Resolution::Failed(error.clone()),
            (Finding::Rerun, None, None) => Resolution::Rerun,
            (Finding::Succeeded, None, _) => {
                return Err(Problem::input("/output", "write the output of the tool"));
            }
            (Finding::Failed, _, None) => {
                return Err(Problem::input("/error", "write the error for the model"));
            }
            (Finding::Failed | Finding::Rerun, Some(_), _) => {
                return Err(Problem::input(
                    "/output",
                    "only the finding `succeeded` has an output, remove it",
                ));
            }
            (Finding::Succeeded | Finding::Rerun, _, Some(_)) => {
                return Err(Problem::input(
                    "/error",
                    "only the finding `failed` has an error, remove it",
                ));
            }
        };
        Gate::stored_resolution(resolution)
            .map_err(|error| Problem::input("/output", error.operator_text()))
    }
}

/// Settles an effect whose outcome is unknown.
#[utoipa::path(post, path = "/v1/effects/{key}/resolve", tag = "effects",
    params(("key" = String, Path, description = "The key of the effect"), ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = Settlement,
    responses((status = 200, description = "The settled effect", body = EffectRecord)))]
async fn resolve_effect(
    State(admin): State<Shared>,
    caller: Caller,
    Id(key): Id<String>,
    idempotency: Idempotency,
    Body(body): Body<Settlement>,
) -> Answer {
    let resolution = body.read()?;
    let request = format!("{key} {}", json(&body));
    let wanted = Wanted {
        details: json!({ "key": key, "resolution": resolution.as_str() }),
        change: Change::Resolve {
            key: CallKey::new(&caller.workspace, key),
            resolution,
            operator: caller.subject.clone(),
            at: Timestamp::now(),
        },
        action: "effect.resolve",
        request: &request,
        what: WHAT,
    };
    let text = admin.change(&caller, idempotency, wanted, respond).await?;
    Ok(answer(text))
}
