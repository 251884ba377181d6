//! The turns of scheduled tasks: a model that rings a bell once for each prompt.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{Role, TaskId, Timestamp};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{Effect, Gate};
use tool_std::schedule::{DueTask, TaskDone, TaskRunner};

use crate::process::Process;
use crate::store::HostStore;

use super::facts::Seen;

/// Drives the runs of tasks in one process.
#[derive(Clone)]
pub(super) struct Runner {
    pub(super) process: Arc<Process>,
    pub(super) store: HostStore,
    pub(super) gate: Gate,
    pub(super) seen: Seen,
}

/// An attempt in progress. If two attempts of one run are in progress, two processes have the claim.
struct Attempt {
    process: Arc<Process>,
    seen: Seen,
    key: (TaskId, Timestamp),
}

impl Attempt {
    fn begin(process: &Arc<Process>, seen: &Seen, task: &DueTask) -> Self {
        let key = (task.row().id.clone(), task.due());
        let (active, death) = {
            let mut facts = seen.facts();
            let death = facts.deaths.pop_front();
            let active = facts.attempts.entry(key.clone()).or_default();
            *active += 1;
            (*active, death)
        };
        if let Some(after) = death {
            let process = Arc::clone(process);
            // A task of the world, because the death drops the tasks of the process.
            process.executor.clone().spawn(0, None, None, async move {
                tokio::time::sleep(Duration::from_millis(after)).await;
                if process.is_alive() {
                    process.note("dies");
                    process.die();
                }
            });
        }
        // With a wrong clock or a slow store, a process may not have noticed yet that it lost its claim.
        if active > 1 && !seen.has_faults {
            let due = task.due().as_millis();
            let what = format!("{active} processes drive the run of {due} at the same time");
            seen.world.violated("claimed_twice", what);
        }
        Self {
            process: Arc::clone(process),
            seen: seen.clone(),
            key,
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(active) = self.seen.facts().attempts.get_mut(&self.key) {
            *active -= 1;
        }
        if !self.process.is_alive() {
            let due = self.key.1.as_millis();
            self.process
                .note(&format!("died during an attempt of {due}"));
        }
    }
}

impl TaskRunner for Runner {
    fn run<'a>(&'a self, task: &'a DueTask) -> BoxFuture<'a, Result<TaskDone, ToolError>> {
        Box::pin(async move {
            let row = task.row();
            let user = row.principal.as_deref().unwrap_or_default();
            let user = self.seen.user(row.workspace().as_str(), user);
            let _work = user.read().await;
            let _attempt = Attempt::begin(&self.process, &self.seen, task);
            let bell = Bell {
                process: Arc::clone(&self.process),
                seen: self.seen.clone(),
            };
            let cx = task.context().agent("ringer").with(bell).build();
            let turns = Turns::new(self.store.clone());
            let mut model = Ringer(Arc::clone(&self.process));
            let tools = |_: &ToolContext| toolset![ring].through(&self.gate);
            let driven = task.drive(&turns, &self.store, &mut model, tools, None, &cx);
            let done = driven.await;
            let word = match &done {
                Ok(TaskDone::Succeeded) => "succeeded",
                Ok(TaskDone::Waiting(_)) => "waits",
                Err(_) => "failed",
            };
            let (due, attempt) = (task.due().as_millis(), task.attempt());
            self.process
                .note(&format!("attempt {attempt} of {due}: {word}"));
            done
        })
    }
}

/// A model that calls the tool once for each prompt.
struct Ringer(Arc<Process>);

impl Model for Ringer {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let messages = request.messages.iter();
        let count = |role| messages.clone().filter(|of| of.role == role).count();
        let (prompts, calls) = (count(Role::User), count(Role::Tool));
        Box::pin(async move {
            tokio::time::sleep(self.0.latency() * 1_000).await;
            if self.0.fault("model").is_some() {
                return Err(ToolError::new("the model is down"));
            }
            if calls < prompts {
                return Ok(ModelMessage::calls([ToolCall::new("call_0", "ring", "{}")]));
            }
            Ok(ModelMessage::text("The bell was rung."))
        })
    }
}

/// The bell, as a host value of the tool.
#[derive(Clone)]
struct Bell {
    process: Arc<Process>,
    seen: Seen,
}
tool_core::host_value!(Bell, Effect::WRITE);

/// Rings the bell.
#[tool]
async fn ring(bell: &Bell, cx: &ToolContext) -> String {
    tokio::time::sleep(bell.process.latency() * 1_000).await;
    if !bell.process.is_alive() {
        // A dead process rings nothing.
        std::future::pending::<()>().await;
    }
    let key = cx.idempotency_key();
    let key = key.map(|key| key.as_str().to_owned()).unwrap_or_default();
    let place = (
        cx.workspace().unwrap_or_default().to_owned(),
        cx.conversation().unwrap_or_default().to_owned(),
    );
    let earlier = bell.seen.facts().effects.insert(key, place);
    if let Some((tenant, conversation)) = earlier {
        let what = format!("a call in {tenant}/{conversation} rang twice");
        bell.seen.world.violated("began_twice", what);
    }
    tokio::time::sleep(bell.process.latency() + Duration::from_millis(1)).await;
    "rung".to_owned()
}
