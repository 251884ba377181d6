//! Checks of the invariants of memories, plans and schedules.

use std::collections::BTreeMap;

use tool_core::store::{
    MemoryFilter, MemoryRow, PlanRow, PlanStatus, Role, Scope, StoreError, TaskFilter, TaskRow,
    TaskRun, TaskRunFilter, TaskRunState, ThreadId, ThreadStore, Workspace,
};

use crate::facts::World;
use crate::plan::User;
use crate::store::{Part, Shared};

use super::Running;
use super::facts::{Text, scope_of};
use super::host::{Host, thread};

/// The agents. Each agent's conversation has the name of the agent.
const AGENTS: [&str; 2] = ["sales", "support"];

async fn memories(shared: &Shared, filter: MemoryFilter) -> Vec<MemoryRow> {
    let read = shared.run(Part::Work, move |store| {
        Box::pin(async move { store.list_memories(Scope::All, &filter).await })
    });
    read.await.unwrap_or_default()
}

async fn plans(shared: &Shared, thread: ThreadId) -> Vec<PlanRow> {
    let read = shared.run(Part::Work, move |store| {
        Box::pin(async move { store.list_plans(&thread, None, 100).await })
    });
    read.await.unwrap_or_default()
}

async fn tasks(shared: &Shared) -> Vec<TaskRow> {
    let read = shared.run(Part::Work, |store| {
        Box::pin(async move { store.list_tasks(Scope::All, &TaskFilter::default()).await })
    });
    read.await.unwrap_or_default()
}

async fn runs(shared: &Shared, task: &tool_core::store::TaskId) -> Vec<TaskRun> {
    let task = task.clone();
    let read = shared.run(Part::Work, move |store| {
        Box::pin(async move { store.list_task_runs(&task, &TaskRunFilter::default()).await })
    });
    read.await.unwrap_or_default()
}

/// Checks that a conversation has at most one active run, and that a run that replaces another is the recorded successor of that aborted run.
pub(super) async fn active_plans(shared: &Shared, world: &World, who: &User) {
    let Some(thread) = thread(who) else { return };
    let rows = plans(shared, thread).await;
    let active = rows.iter().filter(|row| row.status.is_active()).count();
    if active > 1 {
        let what = format!(
            "{}/{} has {active} active plans",
            who.tenant, who.conversation
        );
        world.violated("two_active_plans", what);
    }
    // An erasure may have removed one of the two runs.
    for next in &rows {
        let old = rows
            .iter()
            .find(|old| next.replaces == Some(old.id.number()));
        let link = old.map(|old| (old.replaced_by, old.status));
        let number = next.id.number();
        if link.is_some_and(|link| link != (Some(number), PlanStatus::Aborted)) {
            let what = format!("run {number} of {who} replaces a run with {link:?}");
            world.violated("two_active_plans", what);
        }
    }
}

/// Erases a user, and checks that no memories, tasks, runs of tasks and plans of the user remain. No work of the user is in progress.
pub(super) async fn erase(host: &Host, shared: &Shared, who: &User) {
    host.seen.facts().cleared.insert(who.tenant.clone());
    let workspace = Workspace::new(&*who.tenant);
    let erased: Result<_, StoreError> = host.store.erase_user(&workspace, &who.user).await;
    host.process
        .note(&format!("erases {who}: {}", erased.is_ok()));
    if erased.is_err() {
        return;
    }
    let filter = MemoryFilter {
        principal: Some(who.user.clone()),
        ..MemoryFilter::default()
    };
    let mut left = Vec::new();
    let own = memories(shared, filter).await;
    let own = own.iter().filter(|row| *row.scope.workspace() == workspace);
    left.push(("memories", own.count()));
    let of_user = |tenant: &Workspace, user: Option<&str>| {
        *tenant == workspace && user == Some(who.user.as_str())
    };
    let all = tasks(shared).await;
    let own = all
        .iter()
        .filter(|row| of_user(row.workspace(), row.principal.as_deref()));
    left.push(("tasks", own.count()));
    let known = {
        let key = (who.tenant.clone(), who.user.clone());
        host.seen.facts().tasks.remove(&key).unwrap_or_default()
    };
    for task in &known {
        left.push(("runs", runs(shared, task).await.len()));
    }
    for agent in AGENTS {
        let Ok(thread) = ThreadId::new(&*who.tenant, agent) else {
            continue;
        };
        let rows = plans(shared, thread).await;
        let own = rows
            .iter()
            .filter(|row| row.principal.as_deref() == Some(&*who.user));
        left.push(("plans", own.count()));
    }
    for (what, count) in left.into_iter().filter(|(_, count)| *count > 0) {
        let what = format!("{count} {what} of {who} remain after the erasure");
        host.seen.world.violated("erased_remains", what);
    }
}

impl Running<'_> {
    /// Checks the stores after all work has ended.
    pub(super) async fn check(&self) {
        self.check_memories().await;
        for who in self.users() {
            active_plans(self.shared, self.world, &who).await;
        }
        for row in tasks(self.shared).await {
            self.check_task(&row).await;
        }
    }

    async fn check_memories(&self) {
        let mut times: BTreeMap<Text, usize> = BTreeMap::new();
        for row in memories(self.shared, MemoryFilter::default()).await {
            let content = row.content.to_lowercase();
            let words: Vec<&str> = content.split_whitespace().collect();
            let content = words.join(" ");
            let topic = content.split_once(' ').and_then(|(topic, _)| {
                let topic = topic.strip_prefix("topic")?;
                topic.parse().ok()
            });
            let agent = row.scope.agent_name().unwrap_or("everyone");
            let tenant = row.scope.workspace().as_str();
            if scope_of(&content) != Some((tenant, agent)) {
                let what = format!("`{content}` is stored for {agent} of {tenant}");
                self.world.violated("foreign_memory", what);
            }
            let agent = row.scope.agent_name().unwrap_or_default();
            let text = (
                tenant.to_owned(),
                agent.to_owned(),
                topic.unwrap_or_default(),
            );
            *times.entry(text).or_default() += 1;
        }
        for (text, times) in times.iter().filter(|(_, times)| **times > 1) {
            let what = format!("{text:?} is stored {times} times");
            self.world.violated("memory_twice", what);
        }
        let facts = self.seen.facts();
        let kept = facts.remembered.iter();
        let lost: Vec<&Text> = kept
            .filter(|text| !facts.cleared.contains(&text.0) && !times.contains_key(*text))
            .collect();
        for text in lost {
            let what = format!("{text:?} was remembered and is not stored");
            self.world.violated("memory_lost", what);
        }
    }

    async fn check_task(&self, row: &TaskRow) {
        let id = &row.id;
        if row.enabled && row.ready.is_none() {
            let what = format!("{id} is enabled and never due");
            self.world.violated("task_lost", what);
        }
        for run in runs(self.shared, id).await {
            let due = run.due.as_millis();
            let is_open = run.state == TaskRunState::Running;
            if is_open && row.running != Some(run.due) {
                let what = format!("no process continues the run of {due} of {id}");
                self.world.violated("run_lost", what);
            }
            let Some(conversation) = &run.conversation else {
                continue;
            };
            let Ok(thread) = ThreadId::new(id.workspace().as_str(), &**conversation) else {
                continue;
            };
            let read = self.shared.run(Part::Work, move |store| {
                Box::pin(async move { ThreadStore::read(&*store, &thread, None).await })
            });
            let messages = read.await.unwrap_or_default();
            let prompts = messages.iter();
            let prompts = prompts.filter(|of| of.role == Role::User && of.at == run.due);
            let prompts = prompts.count();
            if prompts > 1 {
                let what = format!("the prompt of {due} of {id} is stored {prompts} times");
                self.world.violated("prompt_twice", what);
            }
            let place = (id.workspace().as_str().to_owned(), conversation.clone());
            let rung = self.seen.facts();
            let rung = rung.effects.values().filter(|of| **of == place).count();
            let is_alone = !row.definition.keep_history;
            if is_alone && rung > 1 {
                let what = format!("the run of {due} of {id} rang {rung} times");
                self.world.violated("ran_twice", what);
            }
            let has_succeeded = run.state == TaskRunState::Succeeded;
            if is_alone && has_succeeded && rung == 0 && !self.seen.has_faults {
                let what = format!("the run of {due} of {id} has succeeded without a bell");
                self.world.violated("succeeded_without_effect", what);
            }
        }
    }
}
