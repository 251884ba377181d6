//! Effects of interrupted tasks whose outcome is unknown.

use std::collections::BTreeSet;

use tool_core::store::{
    EffectFilter, EffectLedger, EffectRow, EffectState, PlanAttempt, PlanExecutor, PlanIssue,
    PlanRow, Scope, StoreError, Timestamp,
};

/// The tools of plans. Their effects are changes of the plan itself, whose outcome the stored row of the plan shows.
const OWN: [&str; 5] = [
    "create_execution_plan",
    "get_active_execution_plan",
    "replace_execution_plan",
    "resume_execution_plan_run",
    "submit_execution_node_result",
];

/// An interrupted task, and the tools of its effects whose outcome is unknown.
pub(super) struct Unresolved {
    /// The id of the node.
    pub(super) node: String,
    /// The names of the tools, in the order of the calls, each once.
    pub(super) tools: Vec<String>,
}

impl Unresolved {
    /// Returns the issue that says why the task is blocked.
    pub(super) fn issue(&self, row: &PlanRow) -> PlanIssue {
        let place = row.spec.node(&self.node).map_or(0, |(place, _)| place);
        let tools: Vec<_> = self.tools.iter().map(|tool| format!("`{tool}`")).collect();
        let (node, tools) = (&self.node, tools.join(", "));
        let message = format!(
            "the task `{node}` is blocked, because its process died during a call of {tools} whose outcome is unknown: do not repeat the call, and ask the user \
             to let an operator settle it"
        );
        PlanIssue::warning(format!("/nodes/{place}"), message)
    }
}

/// Returns the interrupted tasks of a run that have effects whose outcome is unknown: effects in the conversation that began after the start of the
/// task's attempt, and whose call may be a call of the executor of the attempt.
///
/// The ledger does not store the task of an effect. If an executor works on several tasks at the same time, each of them has the effect.
pub(super) async fn unresolved(
    ledger: &dyn EffectLedger,
    row: &PlanRow,
    now: Timestamp,
) -> Result<Vec<Unresolved>, StoreError> {
    let nodes = row.spec.draft().nodes.iter().zip(&row.nodes);
    let interrupted = nodes.filter_map(|(node, run)| {
        let attempt = run.running().filter(|attempt| attempt.lease_until <= now)?;
        Some((node.id.clone(), attempt))
    });
    let interrupted: Vec<_> = interrupted.collect();
    if interrupted.is_empty() {
        return Ok(Vec::new());
    }
    let doubts = doubts(ledger, row).await?;
    let found = interrupted.into_iter().filter_map(|(node, attempt)| {
        let own = doubts.iter().filter(|effect| is_of(effect, attempt));
        let mut tools: Vec<String> = own.map(|effect| effect.intent.tool.clone()).collect();
        let mut known = BTreeSet::new();
        tools.retain(|tool| known.insert(tool.clone()));
        (!tools.is_empty()).then_some(Unresolved { node, tools })
    });
    Ok(found.collect())
}

/// Returns the effects of the conversation that are ambiguous or still running, in the order in which they began, without effects of the tools of
/// plans.
async fn doubts(ledger: &dyn EffectLedger, row: &PlanRow) -> Result<Vec<EffectRow>, StoreError> {
    let thread = row.id.thread();
    let mut doubts = Vec::new();
    for state in [EffectState::Ambiguous, EffectState::Running] {
        let filter = EffectFilter {
            state: Some(state),
            thread: Some(thread.conversation().to_owned()),
            ..EffectFilter::default()
        };
        let scope = Scope::Workspace(thread.workspace());
        doubts.extend(ledger.page(scope, &filter).await?);
    }
    doubts.retain(|effect| !OWN.contains(&effect.intent.tool.as_str()));
    doubts.sort_by_key(|effect| effect.intent.at);
    Ok(doubts)
}

/// Returns whether an effect may belong to an attempt.
fn is_of(effect: &EffectRow, attempt: &PlanAttempt) -> bool {
    let (intent, by) = (&effect.intent, &attempt.by);
    let is_own = match by.executor {
        PlanExecutor::Agent => by.name.is_none() || by.name == intent.agent,
        // The host's own calls have no agent.
        _ => intent.agent.is_none(),
    };
    is_own && intent.at >= attempt.started
}
