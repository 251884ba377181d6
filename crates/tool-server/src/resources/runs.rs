//! `/v1/runs`: executions of the agent loop.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Changed, RunCause, RunCursor, RunFilter, RunId, RunRow, RunState, RunStop, Scope,
    ThreadId, Timestamp,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Id, Idempotency, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paging};
use crate::problem::Problem;
use crate::state::Shared;
use crate::time;

pub(super) const WHAT: &str = "run";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_runs)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_run)))
        .routes(needs(Access::role(Role::Operator), routes!(cancel_run)))
}

fn states() -> Schema {
    one_of(RunState::ALL.iter().map(|state| state.as_str()))
}

/// A run: one execution of the agent loop.
#[derive(Serialize, ToSchema)]
pub(super) struct Run {
    conversation: String,
    /// The number of the run in the conversation.
    number: u64,
    #[schema(schema_with = states)]
    state: &'static str,
    /// Why the run ended; null while it runs.
    cause: Option<&'static str>,
    /// The request to stop the run: `interrupt` or `cancel`.
    stop: Option<&'static str>,
    /// The user who requested the run.
    principal: Option<String>,
    agent: Option<String>,
    /// The number of drivers that the run has had so far.
    attempt: u32,
    #[schema(format = DateTime)]
    started: String,
    #[schema(format = DateTime)]
    ended: Option<String>,
    /// The time at which the lease expires. If the run is still `running` after this time, its driver may be dead.
    #[schema(format = DateTime)]
    lease_until: String,
    /// The number of model requests.
    steps: u32,
    /// The tokens of the whole input.
    input_tokens: u64,
    /// The tokens of the input that were read from a cache; null if no provider reported them.
    cache_read_tokens: Option<u64>,
    /// The tokens of the input that were written to a cache for 5 minutes, or for a time that the provider did not report; null if no provider
    /// reported them.
    cache_write_5m_tokens: Option<u64>,
    /// The tokens of the input that were written to a cache for 1 hour; null if no provider reported them.
    cache_write_1h_tokens: Option<u64>,
    /// The tokens of the whole output.
    output_tokens: u64,
    /// The tokens of the output that are reasoning; null if no provider reported them.
    reasoning_tokens: Option<u64>,
    /// The number of model requests whose response did not report its tokens.
    unmeasured: u32,
    /// The cost in millionths of the currency of the host's prices; null if no model of the run has a price.
    cost_micros: Option<u64>,
}

impl From<&RunRow> for Run {
    fn from(row: &RunRow) -> Self {
        let usage = row.progress.usage;
        Self {
            conversation: row.id.thread().conversation().to_owned(),
            number: row.id.number(),
            state: row.state.as_str(),
            cause: row.cause.map(RunCause::as_str),
            stop: row.stop.map(RunStop::as_str),
            principal: row.principal.clone(),
            agent: row.agent.clone(),
            attempt: row.attempt,
            started: time::text(row.started),
            ended: row.ended.map(time::text),
            lease_until: time::text(row.lease_until),
            steps: row.progress.steps,
            input_tokens: usage.input_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_5m_tokens: usage.cache_write_5m_tokens,
            cache_write_1h_tokens: usage.cache_write_1h_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            unmeasured: row.progress.unmeasured,
            cost_micros: usage.cost_micros,
        }
    }
}

pub(super) fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Run(row) => json(&Run::from(&**row)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only runs of this conversation.
    conversation: Option<String>,
    /// Only runs in this state.
    #[param(schema_with = states, required = false)]
    state: Option<RunState>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// The sort key of a run in the list.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place(i64, String, u64);

pub(super) fn id(caller: &Caller, conversation: String, number: u64) -> Result<RunId, Problem> {
    let thread = ThreadId::new(&caller.workspace, conversation);
    let thread = thread.map_err(|_| Problem::missing(WHAT))?;
    Ok(RunId::new(thread, number))
}

/// Lists runs, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(Filter),
    responses((status = 200, description = "A page of runs", body = Page<Run>)))]
async fn list_runs(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<Place>::new(query.limit, query.cursor.as_deref())?;
    let after = match paging.after.clone() {
        None => None,
        Some(Place(started, conversation, number)) => Some(RunCursor {
            started: Timestamp::from_millis(started),
            id: id(&caller, conversation, number)?,
        }),
    };
    let filter = RunFilter {
        conversation: query.conversation,
        state: query.state,
        after,
        limit: Some(paging.rows()),
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = admin.store.list_runs(scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &RunRow| {
        let conversation = row.id.thread().conversation().to_owned();
        Place(row.started.as_millis(), conversation, row.id.number())
    };
    let page = paging.page(rows, place, |row| Run::from(&row));
    Ok(answer(json(&page)))
}

/// Returns one run by its conversation and number.
#[utoipa::path(get, path = "/v1/runs/{conversation}/{number}", tag = "runs",
    params(("conversation" = String, Path, description = "The conversation of the run"), ("number" = u64, Path, description = "The number of the run")),
    responses((status = 200, description = "The run", body = Run)))]
async fn get_run(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, number)): Id<(String, u64)>,
) -> Answer {
    let id = id(&caller, conversation, number)?;
    let row = admin.store.get_run(&id).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    let row = row.ok_or_else(|| Problem::missing(WHAT))?;
    Ok(answer(json(&Run::from(&row))))
}

/// Cancels an active run.
///
/// The driver of the run stops before its next step, or when it next renews its lease, at most a third of the lease's duration later.
#[utoipa::path(post, path = "/v1/runs/{conversation}/{number}/cancel", tag = "runs",
    params(("conversation" = String, Path, description = "The conversation of the run"), ("number" = u64, Path, description = "The number of the run"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The run, with the request to stop", body = Run)))]
async fn cancel_run(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, number)): Id<(String, u64)>,
    key: Idempotency,
) -> Answer {
    let details = json!({ "conversation": conversation, "run": number });
    let wanted = Wanted {
        request: &details.to_string(),
        details,
        change: Change::StopRun {
            id: id(&caller, conversation, number)?,
            stop: RunStop::Cancel,
        },
        action: "run.cancel",
        what: WHAT,
    };
    Ok(answer(admin.change(&caller, key, wanted, respond).await?))
}
