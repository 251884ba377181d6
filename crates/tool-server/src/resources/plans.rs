//! `/v1/plans`: the runs of plans, with their nodes and events.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::store::{
    Change, Changed, PlanApproval, PlanArtifact, PlanAttempt, PlanAttemptStatus, PlanEvent,
    PlanEventKind, PlanFilter, PlanIssue, PlanNode, PlanNodeKind, PlanNodeRun, PlanNodeStatus,
    PlanOwner, PlanRow, PlanRunId, PlanStatus, PlanStore, RecordChange, ThreadId, Timestamp,
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
use crate::page::{Page, Paged, Paging};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "plan run";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_plans)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_plan)))
        .routes(needs(Access::role(Role::Viewer), routes!(list_plan_events)))
        .routes(needs(Access::role(Role::Operator), routes!(cancel_plan)))
}

fn statuses() -> Schema {
    one_of(PlanStatus::ALL.iter().map(|status| status.as_str()))
}

fn node_statuses() -> Schema {
    one_of(PlanNodeStatus::ALL.iter().map(|status| status.as_str()))
}

fn attempt_statuses() -> Schema {
    one_of(PlanAttemptStatus::ALL.iter().map(|status| status.as_str()))
}

fn kinds() -> Schema {
    one_of(PlanNodeKind::ALL.iter().map(|kind| kind.as_str()))
}

fn event_kinds() -> Schema {
    one_of(PlanEventKind::ALL.iter().map(|kind| kind.as_str()))
}

/// A run of a plan.
#[derive(Serialize, ToSchema)]
struct PlanRun {
    conversation: String,
    /// The number of the run in the conversation, which is also the version of the plan.
    number: u64,
    /// The name of the plan.
    title: String,
    /// What the plan achieves.
    objective: String,
    #[schema(schema_with = statuses)]
    status: &'static str,
    /// Whether the run is the active run of the conversation.
    active: bool,
    /// The user of the plan.
    principal: Option<String>,
    /// The number of the run that this run replaced.
    replaces: Option<u64>,
    /// The number of the run that replaced this run.
    replaced_by: Option<u64>,
    /// Why this run replaced a different run.
    reason: Option<String>,
    /// The number of nodes.
    nodes: usize,
    /// The number of nodes that are completed, skipped or failed.
    ended_nodes: usize,
    /// The number of events.
    events: u64,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<&PlanRow> for PlanRun {
    fn from(row: &PlanRow) -> Self {
        let draft = row.spec.draft();
        let ended = row.nodes.iter().filter(|node| node.status.is_final());
        Self {
            conversation: row.id.thread().conversation().to_owned(),
            number: row.id.number(),
            title: draft.title.clone(),
            objective: draft.objective.clone(),
            status: row.status.as_str(),
            active: row.status.is_active(),
            principal: row.principal.clone(),
            replaces: row.replaces,
            replaced_by: row.replaced_by,
            reason: row.reason.clone(),
            nodes: row.nodes.len(),
            ended_nodes: ended.count(),
            events: row.events,
            created_at: time::text(row.created),
            updated_at: time::text(row.updated),
        }
    }
}

/// A fault of the result of a node.
#[derive(Serialize, ToSchema)]
struct ResultFault {
    /// JSON pointer of the fault in the result.
    pointer: String,
    message: String,
}

impl From<&PlanIssue> for ResultFault {
    fn from(issue: &PlanIssue) -> Self {
        Self {
            pointer: issue.pointer.clone(),
            message: issue.message.clone(),
        }
    }
}

/// An attempt of an executor at a node.
#[derive(Serialize, ToSchema)]
struct NodeAttempt {
    /// The number of the attempt at the node; the first is 1.
    number: u32,
    #[schema(schema_with = attempt_statuses)]
    status: &'static str,
    /// The executor, such as `agent:writer`.
    by: String,
    #[schema(format = DateTime)]
    started_at: String,
    /// The time at which the executor's lease of the node expires. If the attempt is still `running` after this time, its process may be dead.
    #[schema(format = DateTime)]
    lease_until: String,
    #[schema(format = DateTime)]
    ended_at: Option<String>,
    /// The faults of the result.
    faults: Vec<ResultFault>,
    notes: Option<String>,
}

impl From<&PlanAttempt> for NodeAttempt {
    fn from(attempt: &PlanAttempt) -> Self {
        Self {
            number: attempt.number,
            status: attempt.status.as_str(),
            by: attempt.by.to_string(),
            started_at: time::text(attempt.started),
            lease_until: time::text(attempt.lease_until),
            ended_at: attempt.ended.map(time::text),
            faults: attempt.issues.iter().map(ResultFault::from).collect(),
            notes: attempt.notes.clone(),
        }
    }
}

/// A file, page or text that a node produced.
#[derive(Serialize, ToSchema)]
struct NodeArtifact {
    /// The name of the deliverable.
    name: String,
    /// A URL, a path in the workspace, or the handle of a stored long output.
    uri: Option<String>,
    /// The text, if it is short.
    content: Option<String>,
}

impl From<&PlanArtifact> for NodeArtifact {
    fn from(artifact: &PlanArtifact) -> Self {
        Self {
            name: artifact.name.clone(),
            uri: artifact.uri.clone(),
            content: artifact.content.clone(),
        }
    }
}

/// A node of a plan, with its state in the run.
#[derive(Serialize, ToSchema)]
struct NodeRun {
    id: String,
    #[schema(schema_with = kinds)]
    kind: &'static str,
    /// A short name for people.
    label: String,
    /// The executor of the work, such as `agent:writer`; null for a structural node.
    owner: Option<String>,
    /// What the node achieves.
    objective: String,
    /// The ids of the nodes from which an edge leads to this node.
    after: Vec<String>,
    #[schema(schema_with = node_statuses)]
    status: &'static str,
    attempts: Vec<NodeAttempt>,
    /// The accepted structured output.
    #[schema(value_type = Option<serde_json::Value>)]
    output: Option<Value>,
    /// The artifacts that were accepted with the output.
    artifacts: Vec<NodeArtifact>,
}

impl NodeRun {
    fn of(row: &PlanRow, node: &PlanNode, run: &PlanNodeRun) -> Self {
        let edges = row.spec.draft().edges.iter();
        let before = edges.filter(|edge| edge.to == node.id);
        Self {
            id: node.id.clone(),
            kind: node.kind.as_str(),
            label: node.label.clone(),
            owner: node.owner.as_ref().map(PlanOwner::to_string),
            objective: node.objective.clone(),
            after: before.map(|edge| edge.from.clone()).collect(),
            status: run.status.as_str(),
            attempts: run.attempts.iter().map(NodeAttempt::from).collect(),
            output: run.output.clone(),
            artifacts: run.artifacts.iter().map(NodeArtifact::from).collect(),
        }
    }
}

/// The approval of a plan by a person.
#[derive(Serialize, ToSchema)]
struct ApprovalOfPlan {
    /// Whether the plan may begin; null while it waits for an answer.
    approved: Option<bool>,
    /// The person who answered.
    by: Option<String>,
    reason: Option<String>,
    #[schema(format = DateTime)]
    at: Option<String>,
}

impl From<&PlanApproval> for ApprovalOfPlan {
    fn from(approval: &PlanApproval) -> Self {
        let answer = approval.answer.as_ref();
        Self {
            approved: answer.map(|answer| answer.approved),
            by: answer.map(|answer| answer.by.clone()),
            reason: answer.and_then(|answer| answer.reason.clone()),
            at: answer.map(|answer| time::text(answer.at)),
        }
    }
}

/// A run of a plan with its nodes.
#[derive(Serialize, ToSchema)]
struct PlanDetails {
    run: PlanRun,
    /// The approval of the plan; null if the plan needs none.
    approval: Option<ApprovalOfPlan>,
    /// The nodes, in the order of the plan.
    nodes: Vec<NodeRun>,
}

impl From<&PlanRow> for PlanDetails {
    fn from(row: &PlanRow) -> Self {
        let nodes = row.spec.draft().nodes.iter().zip(&row.nodes);
        Self {
            run: PlanRun::from(row),
            approval: row.approval.as_ref().map(ApprovalOfPlan::from),
            nodes: nodes
                .map(|(node, run)| NodeRun::of(row, node, run))
                .collect(),
        }
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Plan(row) => json(&PlanRun::from(&**row)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only runs of this conversation.
    conversation: Option<String>,
    /// Only runs for this user.
    principal: Option<String>,
    /// Only runs in this state.
    #[param(schema_with = statuses, required = false)]
    status: Option<PlanStatus>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

fn id(caller: &Caller, conversation: &str, number: u64) -> Result<PlanRunId, Problem> {
    let thread = ThreadId::new(&caller.workspace, conversation);
    let thread = thread.map_err(|_| Problem::missing(WHAT))?;
    Ok(PlanRunId::new(thread, number))
}

/// Lists runs of plans, ordered by conversation and number.
#[utoipa::path(get, path = "/v1/plans", tag = "plans", params(Filter),
    responses((status = 200, description = "A page of runs", body = Page<PlanRun>)))]
async fn list_plans(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<(String, u64)>::new(query.limit, query.cursor.as_deref())?;
    let filter = PlanFilter {
        conversation: query.conversation,
        principal: query.principal,
        status: query.status,
        after: paging.after.clone(),
        limit: Some(paging.rows()),
    };
    let rows = PlanStore::find_plans(&*admin.store, &caller.workspace, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &PlanRow| {
        let conversation = row.id.thread().conversation().to_owned();
        (conversation, row.id.number())
    };
    let page = paging.page(rows, place, |row| PlanRun::from(&row));
    Ok(answer(json(&page)))
}

async fn find(admin: &Inner, id: &PlanRunId) -> Result<PlanRow, Problem> {
    let row = PlanStore::plan(&*admin.store, id).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    row.ok_or_else(|| Problem::missing(WHAT))
}

/// Returns one run of a plan, with its nodes and their attempts.
#[utoipa::path(get, path = "/v1/plans/{conversation}/{number}", tag = "plans",
    params(("conversation" = String, Path, description = "The conversation of the plan"), ("number" = u64, Path, description = "The number of the run")),
    responses((status = 200, description = "The run", body = PlanDetails)))]
async fn get_plan(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, number)): Id<(String, u64)>,
) -> Answer {
    let row = find(&admin, &id(&caller, &conversation, number)?).await?;
    Ok(answer(json(&PlanDetails::from(&row))))
}

/// An entry of the event log of a run. It contains ids and states, and no texts of the plan.
#[derive(Serialize, ToSchema)]
struct PlanLogEntry {
    /// The number of the event in the run; the first is 1.
    number: u64,
    #[schema(schema_with = event_kinds)]
    kind: &'static str,
    /// The id of the node; null for events of the whole run.
    node: Option<String>,
    /// The number of the attempt, for the end of an attempt.
    attempt: Option<u32>,
    /// The new state of the run, the node or the attempt.
    status: Option<String>,
    #[schema(format = DateTime)]
    at: String,
}

impl From<PlanEvent> for PlanLogEntry {
    fn from(event: PlanEvent) -> Self {
        Self {
            number: event.seq,
            kind: event.kind.as_str(),
            node: event.node,
            attempt: event.attempt,
            status: event.status,
            at: time::text(event.at),
        }
    }
}

/// Lists the events of a run, oldest first.
#[utoipa::path(get, path = "/v1/plans/{conversation}/{number}/events", tag = "plans",
    params(("conversation" = String, Path, description = "The conversation of the plan"), ("number" = u64, Path, description = "The number of the run"), Paged),
    responses((status = 200, description = "A page of events", body = Page<PlanLogEntry>)))]
async fn list_plan_events(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, number)): Id<(String, u64)>,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<u64>()?;
    let id = id(&caller, &conversation, number)?;
    find(&admin, &id).await?;
    let after = paging.after.unwrap_or(0);
    let rows = PlanStore::plan_events(&*admin.store, &id, after, paging.rows()).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |event| event.seq, PlanLogEntry::from);
    Ok(answer(json(&page)))
}

/// Cancels an active run: its status becomes `aborted`, and its nodes that have not ended are skipped.
///
/// An executor that works on a node is refused when it submits its result. Cancel the run of the agent as well to stop it earlier.
#[utoipa::path(post, path = "/v1/plans/{conversation}/{number}/cancel", tag = "plans",
    params(("conversation" = String, Path, description = "The conversation of the plan"), ("number" = u64, Path, description = "The number of the run"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The cancelled run", body = PlanRun)))]
async fn cancel_plan(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, number)): Id<(String, u64)>,
    key: Idempotency,
) -> Answer {
    let details = json!({ "conversation": conversation, "run": number });
    let wanted = Wanted {
        request: &details.to_string(),
        details,
        change: Change::Record(RecordChange::EndPlan {
            id: id(&caller, &conversation, number)?,
            at: Timestamp::now(),
        }),
        action: "plan.cancel",
        what: WHAT,
    };
    Ok(answer(admin.change(&caller, key, wanted, respond).await?))
}
