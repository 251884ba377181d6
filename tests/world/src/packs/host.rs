//! A host with the three packs: its tools, its executors of plans and its scheduler.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::LongTermStore as _;
use tool_core::store::{
    MemoryScope, PlanChange, PlanChanged, PlanExecutor, PlanNodeStatus, PlanOutcome, PlanOwner,
    PlanRow, PlanStore as _, PlanSubmission, ScheduleStore as _, TaskId, ThreadId, Timestamp,
    Workspace,
};
use tool_core::{Audit, CancellationToken, Gate};
use tool_std::memory::{Memory, remember, search_memory};
use tool_std::plan::{
    Plans, create_execution_plan, get_active_execution_plan, replace_execution_plan,
    resume_execution_plan_run, submit_execution_node_result,
};
use tool_std::schedule::{Scheduler, Schedules, schedule_task};

use crate::plan::User;
use crate::process::Process;
use crate::store::{HostStore, Shared};

use super::facts::{Seen, Text, scope_of, text};
use super::runner::Runner;

/// The lease of an executor on a task of a plan.
const LEASE: Duration = Duration::from_mins(1);

/// A host in one process.
pub(super) struct Host {
    pub(super) process: Arc<Process>,
    pub(super) stop: CancellationToken,
    pub(super) store: HostStore,
    pub(super) seen: Seen,
    gate: Gate,
    memory: Memory,
    plans: Plans,
    schedules: Schedules,
}

/// Returns the thread of a user's conversation.
pub(super) fn thread(who: &User) -> Option<ThreadId> {
    ThreadId::new(&*who.tenant, &*who.conversation).ok()
}

/// Returns the draft of a plan with four tasks. Two of them can be done at the same time.
fn draft() -> Value {
    let node = |id: &str| {
        json!({
            "id": id, "type": "task", "label": id, "owner": {"executor": "agent", "name": null}, "objective": "Do it.", "instructions": "",
            "output_schema_ref": null, "deliverables": [], "success_criteria": ["It is done."], "completion_checks": [],
        })
    };
    let edge = |from: &str, to: &str| json!({"from": from, "to": to, "when": null});
    json!({
        "title": "Release", "objective": "Publish it.", "schemas": [], "nodes": [node("a"), node("b"), node("c"), node("d")],
        "edges": [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")], "entry_nodes": ["a"],
    })
}

impl Host {
    pub(super) fn start(shared: &Shared, process: &Arc<Process>, seen: &Seen) -> Self {
        let store = HostStore::new(shared, process, false);
        let plans = Plans::new(Arc::new(store.clone()));
        Self {
            process: Arc::clone(process),
            stop: CancellationToken::new(),
            seen: seen.clone(),
            gate: Gate::builder()
                .ledger(store.clone())
                .audit(Audit::required(store.clone()))
                .build(),
            memory: Memory::new(store.clone()),
            plans: plans.ledger(Arc::new(store.clone())),
            schedules: Schedules::new(store.clone()),
            store,
        }
    }

    pub(super) fn scheduler(&self) -> Scheduler {
        let runner = Runner {
            process: Arc::clone(&self.process),
            store: self.store.clone(),
            gate: self.gate.clone(),
            seen: self.seen.clone(),
        };
        Scheduler::new(self.store.clone(), runner).worker("simulated")
    }

    /// Calls a tool on behalf of a user. Returns its output, or `None` for an error.
    async fn call(&self, who: &User, tool: &str, arguments: Value) -> Option<Value> {
        let cx = ToolContext::builder()
            .workspace(&*who.tenant)
            .user(&*who.user)
            .agent(&*who.conversation)
            .conversation(&*who.conversation)
            .with(self.memory.clone())
            .with(self.plans.clone())
            .with(self.schedules.clone())
            .build();
        let tools = if tool == "schedule_task" {
            toolset![schedule_task]
        } else {
            toolset![
                remember,
                search_memory,
                create_execution_plan,
                get_active_execution_plan,
                replace_execution_plan,
                resume_execution_plan_run,
                submit_execution_node_result
            ]
        };
        let call = ToolCall::new("call_0", tool, arguments.to_string());
        let result = tools.call(call, &cx).await;
        let output = result.output().filter(|_| result.error().is_none());
        let output = output.and_then(|output| serde_json::from_str(output.get()).ok());
        let word = if output.is_some() { "ok" } else { "refused" };
        self.process.note(&format!("{who} {tool}: {word}"));
        output
    }

    pub(super) async fn remember(&self, who: &User, topic: u32, shared: bool, respelled: bool) {
        let agent = if shared { "" } else { &who.conversation };
        let of: Text = (who.tenant.clone(), agent.to_owned(), topic);
        let mut content = text(&of);
        if respelled {
            content = content.to_uppercase().replace(' ', "  ");
        }
        let scope = if shared { "org" } else { "agent" };
        let arguments = json!({"content": content, "scope": scope});
        if self.call(who, "remember", arguments).await.is_some() {
            self.seen.facts().remembered.insert(of);
        }
    }

    /// Searches the memories of an agent, and checks that the agent may read the results.
    pub(super) async fn search(&self, who: &User, topic: u32) {
        let arguments = json!({"query": format!("topic{topic} is known"), "limit": 20});
        let found = self.call(who, "search_memory", arguments).await;
        let results = found.as_ref().and_then(|found| found["results"].as_array());
        for result in results.into_iter().flatten() {
            let content = result["content"].as_str().unwrap_or_default();
            let content = content.to_lowercase();
            let words: Vec<&str> = content.split_whitespace().collect();
            let content = words.join(" ");
            let is_own = scope_of(&content).is_some_and(|(tenant, agent)| {
                tenant == who.tenant && (agent == who.conversation || agent == "everyone")
            });
            if !is_own {
                let what = format!("{who} finds `{content}`");
                self.seen.world.violated("foreign_memory", what);
            }
        }
    }

    /// Removes the memories of an agent, or the shared memories.
    pub(super) async fn forget(&self, who: &User, shared: bool) {
        self.seen.facts().cleared.insert(who.tenant.clone());
        let workspace = Workspace::new(&*who.tenant);
        let scope = if shared {
            Ok(MemoryScope::shared(&workspace))
        } else {
            MemoryScope::agent(&workspace, &*who.conversation)
        };
        if let Ok(scope) = scope {
            let removed = self.store.remove_memories(&scope).await.is_ok();
            self.process.note(&format!("{who} forgets: {removed}"));
        }
    }

    pub(super) async fn create_plan(&self, who: &User) {
        let draft = json!({"draft": draft()});
        self.call(who, "create_execution_plan", draft).await;
    }

    pub(super) async fn replace_plan(&self, who: &User) {
        let draft = json!({"draft": draft(), "reason": "The goal has changed."});
        self.call(who, "replace_execution_plan", draft).await;
    }

    pub(super) async fn read_plan(&self, who: &User) {
        let tool = "get_active_execution_plan";
        self.call(who, tool, json!({})).await;
    }

    pub(super) async fn resume_plan(&self, who: &User) {
        let tool = "resume_execution_plan_run";
        self.call(who, tool, json!({"run_id": null})).await;
    }

    pub(super) async fn active_plan(&self, who: &User) -> Option<PlanRow> {
        self.store.active_plan(&thread(who)?).await.ok()?
    }

    /// Begins a ready task of the active plan, works for some seconds, and submits the result.
    pub(super) async fn work(&self, who: &User, node: usize, fenced: bool) {
        let Some(row) = self.active_plan(who).await else {
            return;
        };
        let ready: Vec<&str> = row.nodes_with(PlanNodeStatus::Ready).collect();
        if ready.is_empty() {
            return;
        }
        let node = ready[node % ready.len()].to_owned();
        let by = PlanOwner::new(PlanExecutor::Agent, &*who.conversation);
        let now = Timestamp::now();
        let start = PlanChange::Start {
            node: node.clone(),
            by: by.clone(),
            lease_until: now.plus(LEASE),
        };
        let Some(begun) = self.change_plan(&row, start).await else {
            return;
        };
        let attempt = begun.node(&node).and_then(|node| node.running());
        let attempt = attempt.map(|attempt| attempt.number);
        tokio::time::sleep(self.process.latency() * 2_000).await;
        let number = if fenced {
            let submission = PlanSubmission {
                node: node.clone(),
                attempt,
                by,
                outcome: PlanOutcome::Completed,
                output: None,
                schema_issues: Vec::new(),
                artifacts: Vec::new(),
                notes: None,
            };
            let done = self.change_plan(&row, PlanChange::Submit(submission)).await;
            done.map(|row| row.id.number())
        } else {
            let result = json!({
                "node_id": node, "status": "completed", "structured_output": null, "artifacts": [], "notes": null,
            });
            let done = self.call(who, "submit_execution_node_result", result).await;
            done.and_then(|done| done["plan"]["run_id"].as_u64())
        };
        if let Some(number) = number {
            self.completed(who, number, node);
        }
    }

    async fn change_plan(&self, row: &PlanRow, change: PlanChange) -> Option<PlanRow> {
        let changed = self.store.change_plan(&row.id, change, Timestamp::now());
        match changed.await {
            Ok(PlanChanged::Changed(row)) => Some(*row),
            Ok(PlanChanged::Refused(..)) | Err(_) => None,
        }
    }

    /// Records that a result of a node was accepted.
    fn completed(&self, who: &User, number: u64, node: String) {
        let key = (who.tenant.clone(), who.conversation.clone(), number, node);
        let mut facts = self.seen.facts();
        let times = facts.completed.entry(key.clone()).or_default();
        *times += 1;
        if *times > 1 {
            let (_, _, number, node) = key;
            let what = format!("{who}: the node `{node}` of run {number} was completed twice");
            self.seen.world.violated("completed_twice", what);
        }
    }

    pub(super) async fn schedule(&self, who: &User, every: Option<u64>, keep_history: bool) {
        let mut arguments = json!({
            "action": "create", "name": "Bell", "prompt": "Ring the bell.", "keep_history": keep_history,
        });
        let timing = match every {
            Some(seconds) => json!({"schedule_type": "interval", "every_ms": seconds * 1_000}),
            None => json!({"schedule_type": "one-shot", "run_at": "+40s"}),
        };
        if let (Value::Object(arguments), Value::Object(timing)) = (&mut arguments, timing) {
            arguments.extend(timing);
        }
        let created = self.call(who, "schedule_task", arguments).await;
        let id = created.and_then(|created| {
            let id = created["tasks"][0]["task_id"].as_str()?.to_owned();
            TaskId::new(&Workspace::new(&*who.tenant), id).ok()
        });
        if let Some(id) = id {
            let user = (who.tenant.clone(), who.user.clone());
            self.seen.facts().tasks.entry(user).or_default().push(id);
        }
    }

    /// Changes the newest task of a user with the tool.
    pub(super) async fn change_task(&self, who: &User, mut arguments: Value) {
        let Some(id) = self.seen.newest_task(who) else {
            return;
        };
        arguments["task_id"] = id.id().into();
        self.call(who, "schedule_task", arguments).await;
    }

    /// Deletes the newest task of a user in the store, as the tool does after an approval.
    pub(super) async fn delete_task(&self, who: &User) {
        let Some(id) = self.seen.newest_task(who) else {
            return;
        };
        let removed = self.store.remove_task(&id, Timestamp::now()).await.is_ok();
        self.process.note(&format!("{who} deletes: {removed}"));
    }
}
