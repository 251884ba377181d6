//! The five tools of execution plans.

use tool_core::prelude::*;
use tool_core::store::{
    self, NewPlanRun, PlanChange, PlanChanged, PlanCreated, PlanExecutor, PlanIssue,
    PlanNodeStatus, PlanOwner, PlanRefusal, PlanRow, PlanRunId, PlanSeverity, PlanSpec,
    PlanSubmission, ThreadId, Timestamp,
};
use tool_core::{ErrorKind, Reads, ToolContext, Writes};

use super::draft::PlanDraft;
use super::snapshot::ExecutionPlanResult;
use super::unresolved::unresolved;
use super::{Plans, schema};
use crate::mirrored::mirrored;

mirrored! {
    /// The outcome of a task.
    AttemptStatus {
        /// The work is done.
        Completed,
        /// The work cannot be done. The run of the plan fails.
        Failed,
        /// The work cannot continue without help.
        Blocked,
    } = PlanOutcome
}

/// An artifact that a task produced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Artifact {
    /// The name of the deliverable.
    #[schema(length = 1..=200)]
    pub name: String,
    /// Where it is: a URL, or a path in the workspace.
    #[schema(length = 0..=2000)]
    pub uri: Option<String>,
    /// Its text, if it is short.
    #[schema(length = 0..=20000)]
    pub content: Option<String>,
}

/// Returns the conversation of a call.
fn thread(cx: &ToolContext) -> Result<ThreadId, ToolError> {
    cx.thread()
        .ok_or_else(|| ToolError::unavailable("a conversation: plans belong to conversations"))
}

/// Returns the executor that makes a call: the agent of the context, or any agent.
fn executor(cx: &ToolContext) -> PlanOwner {
    match cx.agent() {
        Some(agent) => PlanOwner::new(PlanExecutor::Agent, agent),
        None => PlanOwner::any(PlanExecutor::Agent),
    }
}

fn refused(refusal: &PlanRefusal) -> ToolError {
    let kind = match refusal {
        PlanRefusal::Owner { .. } => ErrorKind::Denied,
        _ => ErrorKind::Failed,
    };
    ToolError::of(kind, refusal.to_string())
}

fn none_active() -> ToolError {
    ToolError::new("the conversation has no active plan: create one with `create_execution_plan`")
}

fn new_run(cx: &ToolContext, spec: PlanSpec) -> Result<NewPlanRun, ToolError> {
    Ok(NewPlanRun {
        thread: thread(cx)?,
        principal: cx.user().map(str::to_owned),
        spec,
        at: Timestamp::now(),
    })
}

/// Creates the plan of this conversation from a draft: a graph of tasks without cycles. Entry nodes are ready at once. If the draft has a blocking issue, nothing
/// is stored: correct the draft and call again. A conversation has one active plan; to change it, use `replace_execution_plan`.
#[tool(
    category = "plan",
    example("A report in two steps", { "draft": {
        "title": "Market report", "objective": "Compare three vendors",
        "schemas": [{ "id": "prices", "schema": "{\"type\":\"object\",\"required\":[\"vendors\"]}" }],
        "nodes": [
            { "id": "collect", "type": "task", "label": "Collect prices", "owner": { "executor": "agent", "name": null }, "objective": "List the prices",
              "instructions": "Use the price pages of the vendors.", "output_schema_ref": "prices", "deliverables": [],
              "success_criteria": ["Each price has a source."], "completion_checks": [{ "pointer": "/vendors/2", "equals": null }] },
            { "id": "write", "type": "task", "label": "Write", "owner": { "executor": "agent", "name": null }, "objective": "Write the report",
              "instructions": "", "output_schema_ref": null, "deliverables": [{ "name": "report", "description": "Markdown", "required": true }],
              "success_criteria": [], "completion_checks": [] }
        ],
        "edges": [{ "from": "collect", "to": "write", "when": null }],
        "entry_nodes": ["collect"]
    } }),
)]
pub async fn create_execution_plan(
    plans: &Writes<Plans>,
    cx: &ToolContext,
    /// The plan to check and to start.
    draft: PlanDraft,
) -> Result<ExecutionPlanResult, ToolError> {
    let spec = match draft.compile(&plans.rules) {
        Ok(spec) => spec,
        Err(issues) => return Ok(ExecutionPlanResult::refused(&issues)),
    };
    let created = plans.store.create_plan(new_run(cx, spec)?).await;
    match created.map_err(ToolError::foreign)? {
        PlanCreated::Created(row) => Ok(ExecutionPlanResult::of(&row, row.spec.warnings())),
        PlanCreated::Active(row) => {
            let (number, title) = (row.id.number(), &row.spec.draft().title);
            Err(ToolError::new(format!(
                "the conversation has an active plan, run {number} (`{title}`): continue it, or use `replace_execution_plan`"
            )))
        }
    }
}

/// Replaces the active plan of this conversation by a new plan. The active run is aborted, and its results are not copied to the new plan: leave out the tasks
/// that are done. If the draft has a blocking issue, the active plan continues.
#[tool(
    category = "plan",
    example("Another goal", { "reason": "The user wants two vendors only.", "draft": {
        "title": "Market report", "objective": "Compare two vendors", "schemas": [],
        "nodes": [
            { "id": "write", "type": "task", "label": "Write", "owner": { "executor": "agent", "name": null }, "objective": "Write the report",
              "instructions": "Use the prices that are known.", "output_schema_ref": null, "deliverables": [],
              "success_criteria": ["It has a table of prices."], "completion_checks": [] }
        ],
        "edges": [], "entry_nodes": ["write"]
    } }),
)]
pub async fn replace_execution_plan(
    plans: &Writes<Plans>,
    cx: &ToolContext,
    /// The new plan.
    draft: PlanDraft,
    /// Why the active plan is replaced.
    #[arg(length = 1..=2000)]
    reason: String,
) -> Result<ExecutionPlanResult, ToolError> {
    let spec = match draft.compile(&plans.rules) {
        Ok(spec) => spec,
        Err(issues) => return Ok(ExecutionPlanResult::refused(&issues)),
    };
    let replaced = plans.store.replace_plan(new_run(cx, spec)?, reason).await;
    let row = replaced.map_err(ToolError::foreign)?;
    let row = row.ok_or_else(none_active)?;
    Ok(ExecutionPlanResult::of(&row, row.spec.warnings()))
}

/// Submits the result of a task of the active plan that is ready or running and belongs to you. The output must fit the schema and the checks of the task, and
/// required artifacts must be present; otherwise the result is recorded as a failed attempt, with issues, and the task can be tried again, at most three times.
#[tool(
    category = "plan",
    example("A finished task", {
        "node_id": "write", "status": "completed", "structured_output": null,
        "artifacts": [{ "name": "report", "uri": "report.md", "content": null }], "notes": "Prices of May."
    }),
    example("A task that needs help", {
        "node_id": "collect", "status": "blocked", "structured_output": null, "artifacts": [], "notes": "The price page needs a login."
    }),
)]
pub async fn submit_execution_node_result(
    plans: &Writes<Plans>,
    cx: &ToolContext,
    /// The id of the task.
    #[arg(length = 1..=64)]
    node_id: String,
    /// The outcome of the task.
    status: AttemptStatus,
    /// The output as JSON text, such as `{"verdict": "good"}`.
    #[arg(length = 0..=65536)]
    structured_output: Option<String>,
    /// The artifacts that the task has produced.
    #[arg(max_items = 20)]
    artifacts: Vec<Artifact>,
    /// Notes for people and for later tasks.
    #[arg(length = 0..=4000)]
    notes: Option<String>,
) -> Result<ExecutionPlanResult, ToolError> {
    let active = plans.store.active_plan(&thread(cx)?).await;
    let active = active
        .map_err(ToolError::foreign)?
        .ok_or_else(none_active)?;
    let mut schema_issues = Vec::new();
    let output = structured_output.and_then(|text| match serde_json::from_str(&text) {
        Ok(output) => Some(output),
        Err(error) => {
            let message = format!("this is not JSON text: {error}");
            schema_issues.push(PlanIssue::blocking("/structured_output", message));
            None
        }
    });
    let node = active.spec.node(&node_id).map(|(_, node)| node);
    let wanted = node.and_then(|node| active.spec.output_schema(node));
    if let (Some(wanted), Some(output)) = (wanted, &output) {
        schema_issues.extend(schema::issues(wanted, output));
    }
    let artifacts = artifacts.into_iter().map(|artifact| store::PlanArtifact {
        name: artifact.name,
        uri: artifact.uri,
        content: artifact.content,
    });
    let submission = PlanSubmission {
        node: node_id.clone(),
        attempt: None,
        by: executor(cx),
        outcome: status.into(),
        output,
        schema_issues,
        artifacts: artifacts.collect(),
        notes,
    };
    let change = PlanChange::Submit(submission);
    let changed = plans
        .store
        .change_plan(&active.id, change, Timestamp::now())
        .await;
    match changed.map_err(ToolError::foreign)? {
        PlanChanged::Changed(row) => {
            let last = row.node(&node_id).and_then(|node| node.attempts.last());
            let issues = last.map_or(&[][..], |attempt| &attempt.issues);
            debug_assert!(
                issues
                    .iter()
                    .all(|issue| issue.severity == PlanSeverity::Blocking)
            );
            Ok(ExecutionPlanResult::of(&row, issues))
        }
        PlanChanged::Refused(refusal, _) => Err(refused(&refusal)),
    }
}

/// Reads the active plan of this conversation: the status of the run and of each task, and what to do in the tasks that are ready. The plan is null if the
/// conversation has none.
#[tool(category = "plan", example("The active plan", {}))]
pub async fn get_active_execution_plan(
    plans: &Reads<Plans>,
    cx: &ToolContext,
) -> Result<ExecutionPlanResult, ToolError> {
    let active = plans.store.active_plan(&thread(cx)?).await;
    let active = active.map_err(ToolError::foreign)?;
    Ok(active.map_or_else(ExecutionPlanResult::default, |row| {
        ExecutionPlanResult::of(&row, &[])
    }))
}

/// Continues a run whose process died: tasks that were running are ready again, and completed tasks are not run again. A task is blocked instead if it has made a
/// call whose outcome is unknown. A run that was not interrupted does not change, so the call can be repeated.
#[tool(
    category = "plan",
    idempotent,
    example("The active run", {}),
    example("A run by its number", { "run_id": 3 }),
)]
pub async fn resume_execution_plan_run(
    plans: &Writes<Plans>,
    cx: &ToolContext,
    /// The number of the run; null for the active run.
    #[arg(range = 1..=9_007_199_254_740_991)]
    run_id: Option<u64>,
) -> Result<ExecutionPlanResult, ToolError> {
    let (thread, now) = (thread(cx)?, Timestamp::now());
    let row = if let Some(number) = run_id {
        let row = plans.store.plan(&PlanRunId::new(thread, number)).await;
        row.map_err(ToolError::foreign)?.ok_or_else(|| {
            ToolError::new(format!(
                "the conversation has no run {number}: leave `run_id` out for the active run"
            ))
        })?
    } else {
        let active = plans.store.active_plan(&thread).await;
        active
            .map_err(ToolError::foreign)?
            .ok_or_else(none_active)?
    };
    let unresolved = match &plans.ledger {
        Some(ledger) => unresolved(&**ledger, &row, now).await,
        None => Ok(Vec::new()),
    };
    let unresolved = unresolved.map_err(ToolError::foreign)?;
    let change = PlanChange::Resume {
        unresolved: unresolved.iter().map(|one| one.node.clone()).collect(),
    };
    let changed = plans.store.change_plan(&row.id, change, now).await;
    match changed.map_err(ToolError::foreign)? {
        PlanChanged::Changed(row) => {
            let blocked = unresolved.iter().filter(|one| is_blocked(&row, &one.node));
            let issues: Vec<_> = blocked.map(|one| one.issue(&row)).collect();
            Ok(ExecutionPlanResult::of(&row, &issues))
        }
        PlanChanged::Refused(refusal, _) => Err(refused(&refusal)),
    }
}

fn is_blocked(row: &PlanRow, node: &str) -> bool {
    row.node(node)
        .is_some_and(|node| node.status == PlanNodeStatus::Blocked)
}
