//! The scheduler process: runs due tasks with a scripted model, on a store.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use futures::future::BoxFuture;
use rustix::process::{Signal, getpid, kill_process};
use tool_core::prelude::*;
use tool_core::store::{ScheduleStore, Store};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{CancellationToken, toolset};
use tool_std::schedule::{DueTask, Scheduler, TaskDone, TaskRunner};

use crate::process::{append, lines, on_store};

pub(crate) const JOB: &str = "TOOL_STORE_TEST_SCHEDULE";

/// The lease of claims and runs in a test that kills processes.
pub(crate) const SHORT: Duration = Duration::from_millis(900);

/// The lease in a test that kills none. A busy machine may take longer than the short lease to write one row, and the run then begins again.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// The traits that a scheduler needs.
pub(crate) trait Schedules: Store + ScheduleStore + Clone {}
impl<T: Store + ScheduleStore + Clone> Schedules for T {}

/// The arguments of a scheduler process.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) lease: Duration,
    /// The URL of a database, or the path of a SQLite file.
    pub(crate) store: String,
    pub(crate) folder: PathBuf,
}

impl Job {
    /// Returns the job of this process, if a test has started it as a scheduler.
    pub(crate) fn of_this_process() -> Option<Self> {
        let job = std::env::var(JOB).ok()?;
        let mut parts = job.splitn(4, ' ').map(str::to_owned);
        Some(Self {
            name: parts.next()?,
            lease: Duration::from_millis(parts.next()?.parse().ok()?),
            store: parts.next()?,
            folder: parts.next()?.into(),
        })
    }

    pub(crate) fn to_text(&self) -> String {
        let (lease, folder) = (self.lease.as_millis(), self.folder.display());
        format!("{} {lease} {} {folder}", self.name, self.store)
    }
}

/// A model that writes the conversation into a file, and kills its process during the first request of a task whose prompt is `die`.
struct Script {
    job: Job,
    task: String,
    is_deadly: bool,
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            let killed = self.job.folder.join("killed");
            if self.is_deadly && lines(&killed).is_empty() {
                append(&killed, &self.job.name);
                kill_process(getpid(), Signal::KILL).unwrap();
            }
            append(&self.job.folder.join("runs"), &self.task);
            // Other processes look for tasks in the meantime.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(ModelMessage::text(format!("done by {}", self.job.name)))
        })
    }
}

struct Runner<S> {
    store: S,
    job: Job,
}

impl<S: Schedules> TaskRunner for Runner<S> {
    fn run<'a>(&'a self, task: &'a DueTask) -> BoxFuture<'a, Result<TaskDone, ToolError>> {
        Box::pin(async move {
            let turns = Turns::new(self.store.clone()).lease(self.job.lease);
            let cx = task.context().build();
            let mut model = Script {
                job: self.job.clone(),
                task: task.conversation().to_owned(),
                is_deadly: task.row().definition.prompt == "die",
            };
            task.drive(&turns, &self.store, &mut model, |_| toolset![], None, &cx)
                .await
        })
    }
}

async fn work(store: impl Schedules, job: &Job) {
    let runner = Runner {
        store: store.clone(),
        job: job.clone(),
    };
    let scheduler = Scheduler::new(store, runner)
        .worker(&job.name)
        .tick(Duration::from_millis(20))
        .lease(job.lease);
    append(&job.folder.join("log"), &job.name);
    scheduler.run(CancellationToken::new()).await;
}

/// Runs a scheduler until the process is killed.
pub(crate) fn run(job: &Job) -> ExitCode {
    on_store!(&job.store, store => work(store, job).await)
}
