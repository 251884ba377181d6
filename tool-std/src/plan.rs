//! Tools with which a model plans work that has several tasks, and submits the result of each task.
//!
//! | tool | |
//! |---|---|
//! | [`create_execution_plan`](fn@create_execution_plan) | checks a draft, stores the plan and starts its run |
//! | [`replace_execution_plan`](fn@replace_execution_plan) | aborts the active run and starts a new plan |
//! | [`submit_execution_node_result`](fn@submit_execution_node_result) | submits the result of a task |
//! | [`get_active_execution_plan`](fn@get_active_execution_plan) | reads the active run |
//! | [`resume_execution_plan_run`](fn@resume_execution_plan_run) | continues a run whose processes died |
//!
//! A conversation has at most one active run. The host passes the store with a [`Plans`] in the context:
//!
//! ```
//! use std::sync::Arc;
//! use tool_core::prelude::*;
//! use tool_core::store::{MemoryStore, PlanExecutor, PlanOwner};
//! use tool_std::plan::{Plans, create_execution_plan};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let tools = Registry::builder().tool::<create_execution_plan>().build().unwrap().open();
//! let plans = Plans::new(Arc::new(MemoryStore::default())).owners([PlanOwner::new(PlanExecutor::Agent, "writer")]);
//! let cx = ToolContext::builder().workspace("acme").conversation("main").agent("writer").with(plans).build();
//! let draft = r#"{"draft": {"title": "Report", "objective": "Write the report", "schemas": [], "edges": [], "entry_nodes": ["write"], "nodes": [{
//!     "id": "write", "type": "task", "label": "Write", "owner": {"executor": "agent", "name": "writer"}, "objective": "Write the text",
//!     "instructions": "", "output_schema_ref": null, "deliverables": [], "success_criteria": ["It has an abstract."], "completion_checks": []
//! }]}}"#;
//! let result = tools.call(ToolCall::new("1", "create_execution_plan", draft), &cx).await;
//! assert!(result.model_text().contains(r#""ready_nodes":["write"]"#), "{}", result.model_text());
//! # }
//! ```
//!
//! # Plans
//!
//! A draft is a directed acyclic graph of *nodes*. A node of the type `task` is work of an owner: an agent, a plugin (an extension of the host,
//! which the host calls and whose results the host submits), a person (`user`) or the host itself (`system`). A `switch` chooses one of its edges by
//! the output of the node before it, a `deliberation_fork` starts several branches, and a `join` waits until all of them are done or skipped; these
//! nodes complete without an executor. A `switch` without a matching edge is blocked. An invalid draft, for example with a cycle or an unknown
//! owner, is not stored: the result contains issues with JSON Pointers into the draft.
//!
//! # Executors of tasks
//!
//! A model can submit a result only for tasks whose owner is the agent in [`ToolContext::agent`], or any agent. If the context has no agent, the model can submit
//! results for the tasks of every agent. The host starts and completes the tasks of plugins, of people and of the host, with
//! [`PlanStore::change_plan`]. A result of the status `completed` for a ready task starts and
//! completes it. A long-running executor first claims the task with [`PlanChange::Start`](tool_core::store::PlanChange::Start), so that no other executor starts it.
//!
//! # Interrupted tasks
//!
//! If the process of an executor dies and the lease of its attempt has expired, [`resume_execution_plan_run`](fn@resume_execution_plan_run) makes
//! the task ready again, unless the outcome of one of its effects is unknown. Such a task is blocked instead, so that the effect does not happen
//! twice. The tool finds these effects in the ledger of the host, which the host passes with [`Plans::ledger`]. After an operator has settled the
//! effects, the host continues the task with [`PlanChange::Unblock`](tool_core::store::PlanChange::Unblock).
//!
//! # Approval
//!
//! With [`Plans::approval`], a person approves each plan before its tasks start, with [`PlanChange::Answer`](tool_core::store::PlanChange::Answer). This is
//! separate from the approval of calls: the answer is only stored; it does not start a turn.
//!
//! # Limits
//!
//! A draft has at most 100 nodes, 400 edges and 50 schemas. A schema has at most 16 KiB and 32 levels, and no reference such as `$ref`, so that a
//! model cannot write a schema whose check takes long; its patterns run in linear time. A result has at most 64 KiB. A task fails, and with it the
//! run, after three invalid results, or after a result with the status `failed`. The tools need no API key or other secret.
//!
//! Models write the outputs of tasks, so the output is untrusted input for later tasks.
//!
//! Cost: 76 crates in addition to those of `tool-core`: half of them for the gate and the stores, and half for the validator of JSON Schemas.

mod draft;
mod schema;
mod snapshot;
mod tools;
mod unresolved;

use std::fmt;
use std::sync::Arc;

#[cfg(doc)]
use tool_core::ToolContext;
use tool_core::store::{EffectLedger, PlanOwner, PlanRules, PlanStore};

pub use draft::{
    Deliverable, ExecutorType, OwnerDraft, PlanCheck, PlanDraft, PlanEdge, PlanNode, PlanNodeType,
    PlanSchema,
};
pub use snapshot::{
    ExecutionPlanResult, IssueSeverity, NodeSnapshot, NodeStatus, NodeWork, PlanIssue,
    PlanSnapshot, RunStatus,
};
pub use tools::{
    Artifact, AttemptStatus, create_execution_plan, get_active_execution_plan,
    replace_execution_plan, resume_execution_plan_run, submit_execution_node_result,
};

/// The store of plans and the rules of the host: one value for all tools of this module, cheap to clone, passed to them with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone)]
#[must_use]
pub struct Plans {
    store: Arc<dyn PlanStore>,
    ledger: Option<Arc<dyn EffectLedger>>,
    rules: PlanRules,
}

impl Plans {
    /// Creates the value with a store of plans and without a ledger. Every owner is accepted, and no plan needs an approval.
    pub fn new(store: Arc<dyn PlanStore>) -> Self {
        Self {
            store,
            ledger: None,
            rules: PlanRules::default(),
        }
    }

    /// Sets the owners that exist. An owner without a name allows every name of its executor.
    pub fn owners(mut self, owners: impl IntoIterator<Item = PlanOwner>) -> Self {
        self.rules = self.rules.owners(owners);
        self
    }

    /// Sets whether a person must approve each plan before its tasks begin; false by default.
    pub fn approval(mut self, is_needed: bool) -> Self {
        self.rules.approval = is_needed;
        self
    }

    /// Sets the ledger of the host's [`Gate`](tool_core::Gate). With it, [`resume_execution_plan_run`](fn@resume_execution_plan_run) blocks an interrupted task if the
    /// outcome of one of its effects is unknown; without a ledger, each interrupted task is ready again.
    pub fn ledger(mut self, ledger: Arc<dyn EffectLedger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Returns the store of the plans.
    pub fn store(&self) -> &Arc<dyn PlanStore> {
        &self.store
    }
}

impl fmt::Debug for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plans")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
