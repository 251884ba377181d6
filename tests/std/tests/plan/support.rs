//! A test host with the tools of plans, and functions that build drafts of plans.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::store::{
    Begun, CallId, EffectLedger as _, Intent, MemoryStore, PlanExecutor, PlanOwner, PlanStore,
    ThreadId, Timestamp,
};
use tool_core::{CallResult, Registry, ToolCall, ToolContext, Toolset};
use tool_std::plan::{
    Plans, create_execution_plan, get_active_execution_plan, replace_execution_plan,
    resume_execution_plan_run, submit_execution_node_result,
};

pub(crate) struct Host {
    pub(crate) store: MemoryStore,
    tools: Toolset,
    plans: Plans,
}

impl Host {
    /// Creates a host with the agents `clerk` and `writer`, the plugin `mail` and any user.
    pub(crate) fn new() -> Self {
        let store = MemoryStore::default();
        let shared: Arc<dyn PlanStore> = Arc::new(store.clone());
        let owners = [
            PlanOwner::new(PlanExecutor::Agent, "clerk"),
            PlanOwner::new(PlanExecutor::Agent, "writer"),
            PlanOwner::new(PlanExecutor::Plugin, "mail"),
            PlanOwner::any(PlanExecutor::User),
        ];
        let registry = Registry::builder()
            .tool::<create_execution_plan>()
            .tool::<replace_execution_plan>()
            .tool::<submit_execution_node_result>()
            .tool::<get_active_execution_plan>()
            .tool::<resume_execution_plan_run>();
        Self {
            store,
            tools: registry.build().unwrap().open(),
            plans: Plans::new(shared).owners(owners),
        }
    }

    pub(crate) fn approval(mut self) -> Self {
        self.plans = self.plans.approval(true);
        self
    }

    /// Lets the tools read the effects of the host.
    pub(crate) fn ledger(mut self) -> Self {
        self.plans = self.plans.ledger(Arc::new(self.store.clone()));
        self
    }

    /// Begins an effect whose process dies, so that its outcome is unknown.
    pub(crate) async fn effect(&self, thread: &ThreadId, agent: &str, tool: &str, at: Timestamp) {
        let intent = Intent {
            identity: CallId::in_thread(thread, at.as_millis().unsigned_abs(), 0),
            earlier: None,
            call: "call_0".to_owned(),
            thread: Some(thread.conversation().to_owned()),
            agent: Some(agent.to_owned()),
            tool: tool.to_owned(),
            contract: "9f2c".to_owned(),
            principal: "ann".to_owned(),
            arguments_hash: "77aa".to_owned(),
            owner: "run-1".to_owned(),
            at,
            lease_until: at.plus(Duration::from_secs(30)),
        };
        let begun = self.store.begin(intent, None).await.unwrap();
        assert_eq!(begun, Begun::New);
    }

    pub(crate) fn cx(&self, conversation: &str, agent: &str) -> ToolContext {
        let cx = ToolContext::builder().workspace("acme").user("ann");
        let cx = cx.conversation(conversation).agent(agent);
        cx.with(self.plans.clone()).build()
    }

    pub(crate) async fn call_in(
        &self,
        cx: &ToolContext,
        tool: &str,
        arguments: Value,
    ) -> CallResult {
        let call = ToolCall::new("1", tool, arguments.to_string());
        self.tools.call(call, cx).await
    }

    /// Calls a tool as `clerk` in the conversation `main`, and returns its result.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self
            .call_in(&self.cx("main", "clerk"), tool, arguments)
            .await;
        assert!(result.error().is_none(), "{}", result.model_text());
        serde_json::from_str(&result.model_text()).unwrap()
    }

    /// Calls a tool as `clerk` in the conversation `main`, and returns its error.
    pub(crate) async fn error(&self, tool: &str, arguments: Value) -> String {
        let result = self
            .call_in(&self.cx("main", "clerk"), tool, arguments)
            .await;
        assert!(result.error().is_some(), "{}", result.model_text());
        result.model_text()
    }

    /// Calls the tool that reads the active plan.
    pub(crate) async fn active(&self) -> Value {
        self.call("get_active_execution_plan", json!({})).await["plan"].clone()
    }
}

/// Returns a task that any agent may do.
pub(crate) fn task(id: &str) -> Value {
    json!({
        "id": id, "type": "task", "label": id, "owner": {"executor": "agent", "name": null}, "objective": "do it", "instructions": "well",
        "output_schema_ref": null, "deliverables": [], "success_criteria": ["it is done"], "completion_checks": [],
    })
}

/// Returns a draft with edges of the form `from to`, whose entry nodes are the nodes without an edge to them.
pub(crate) fn draft(nodes: &[Value], edges: &[&str]) -> Value {
    let edges = edges.iter().map(|edge| {
        let (from, to) = edge.split_once(' ').unwrap();
        json!({"from": from, "to": to, "when": null})
    });
    let edges: Vec<Value> = edges.collect();
    let entries = nodes.iter().map(|node| node["id"].clone());
    let entries = entries.filter(|id| !edges.iter().any(|edge| edge["to"] == *id));
    json!({
        "title": "Release", "objective": "Publish version 2", "schemas": [], "nodes": nodes, "edges": edges,
        "entry_nodes": entries.collect::<Vec<_>>(),
    })
}

/// Returns the result of a completed task without an output.
pub(crate) fn done(node: &str) -> Value {
    json!({"node_id": node, "status": "completed", "structured_output": null, "artifacts": [], "notes": null})
}

/// Returns the statuses of the nodes of a snapshot, separated by spaces.
pub(crate) fn statuses(plan: &Value) -> String {
    let nodes = plan["nodes"].as_array().unwrap().iter();
    let statuses: Vec<_> = nodes.map(|node| node["status"].as_str().unwrap()).collect();
    statuses.join(" ")
}
