//! A runner that records its runs, and tasks of a memory store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, NewTask, ScheduleStore, TaskDefinition, TaskId, TaskRow, TaskRun, TaskRunFilter,
    TaskTiming, Timestamp, Workspace,
};
use tool_std::schedule::{DueTask, Scheduler, TaskDone, TaskRunner, next_due};

/// A runner that records the due time of each attempt. An attempt ends as the test has planned, and succeeds if there is no plan.
#[derive(Clone, Default)]
pub(crate) struct Runner {
    attempts: Arc<Mutex<Vec<(Timestamp, u32)>>>,
    plan: Arc<Mutex<VecDeque<Result<TaskDone, &'static str>>>>,
    active: Arc<Mutex<(usize, usize)>>,
    /// The duration of each attempt.
    takes: Option<Duration>,
}

impl Runner {
    /// Creates a runner whose attempts take this long.
    pub(crate) fn taking(wait: Duration) -> Self {
        Self {
            takes: Some(wait),
            ..Self::default()
        }
    }

    pub(crate) fn plan(&self, ends: impl IntoIterator<Item = Result<TaskDone, &'static str>>) {
        self.plan.lock().unwrap().extend(ends);
    }

    /// Returns the due times of the attempts.
    pub(crate) fn dues(&self) -> Vec<Timestamp> {
        let attempts = self.attempts.lock().unwrap();
        attempts.iter().map(|(due, _)| *due).collect()
    }

    /// Returns the numbers of the attempts.
    pub(crate) fn attempts(&self) -> Vec<u32> {
        let attempts = self.attempts.lock().unwrap();
        attempts.iter().map(|(_, attempt)| *attempt).collect()
    }

    /// Returns the largest number of attempts that were active at the same time.
    pub(crate) fn most_active(&self) -> usize {
        self.active.lock().unwrap().1
    }
}

impl TaskRunner for Runner {
    fn run<'a>(&'a self, task: &'a DueTask) -> BoxFuture<'a, Result<TaskDone, ToolError>> {
        Box::pin(async move {
            self.attempts
                .lock()
                .unwrap()
                .push((task.due(), task.attempt()));
            {
                let mut active = self.active.lock().unwrap();
                active.0 += 1;
                active.1 = active.1.max(active.0);
            }
            if let Some(wait) = self.takes {
                tokio::time::sleep(wait).await;
            }
            self.active.lock().unwrap().0 -= 1;
            let end = self.plan.lock().unwrap().pop_front();
            let end = end.unwrap_or(Ok(TaskDone::Succeeded));
            end.map_err(|error| {
                if error == "panic" {
                    panic!("{error}")
                } else {
                    ToolError::new(error)
                }
            })
        })
    }
}

pub(crate) fn id(name: &str) -> TaskId {
    TaskId::new(&Workspace::new("acme"), name).unwrap()
}

/// Returns an enabled task that is due at its first due time after now.
pub(crate) fn task(name: &str, timing: TaskTiming) -> NewTask {
    let now = Timestamp::now();
    NewTask {
        id: id(name),
        principal: Some("ann".to_owned()),
        enabled: true,
        due: next_due(&timing, now).unwrap(),
        definition: TaskDefinition {
            name: name.to_owned(),
            prompt: "Summarize the news.".to_owned(),
            timing,
            delete_after_run: false,
            keep_history: false,
            outbound_channel: None,
            outbound_target: None,
        },
        at: now,
    }
}

/// Creates a store with the task `t`, and a scheduler.
pub(crate) async fn created(runner: &Runner, timing: TaskTiming) -> (MemoryStore, Scheduler) {
    let store = MemoryStore::default();
    store.create_task(task("t", timing)).await.unwrap();
    let scheduler = Scheduler::new(store.clone(), runner.clone());
    (store, scheduler)
}

pub(crate) async fn row(store: &MemoryStore) -> TaskRow {
    store.task(&id("t")).await.unwrap().unwrap()
}

/// Returns the runs of the task `t`, the earliest first.
pub(crate) async fn runs(store: &MemoryStore) -> Vec<TaskRun> {
    let all = TaskRunFilter::default();
    let mut runs = store.list_task_runs(&id("t"), &all).await.unwrap();
    runs.reverse();
    runs
}
