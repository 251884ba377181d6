//! Scheduled tasks: a tool that creates them, and the scheduler that runs them.
//!
//! | tool | |
//! |---|---|
//! | [`schedule_task`] | creates, lists, updates, deletes and runs the tasks of the workspace |
//!
//! A task is a prompt and a schedule: a cron expression in a time zone, an interval, or one time. When it is due, a [`Scheduler`] begins a turn with the prompt
//! as the message of the user, and sends the answer through a channel if the task names one. A host adds [`Schedules`] to the context of turns that may schedule
//! tasks, and runs a [`Scheduler`] in one process or in many.
//!
//! ```
//! use futures::future::BoxFuture;
//! use tool_core::prelude::*;
//! use tool_core::store::MemoryStore;
//! use tool_std::schedule::{DueTask, Scheduler, Schedules, TaskDone, TaskRunner, schedule_task};
//!
//! struct Printer; // a host calls `DueTask::drive` with its model and tools
//! impl TaskRunner for Printer {
//!     fn run<'a>(&'a self, task: &'a DueTask) -> BoxFuture<'a, Result<TaskDone, ToolError>> {
//!         println!("{}", task.row().definition.prompt);
//!         Box::pin(async { Ok(TaskDone::Succeeded) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let store = MemoryStore::default();
//! let cx = ToolContext::builder().workspace("acme").with(Schedules::new(store.clone())).build();
//! let call = r#"{"action": "create", "name": "News", "prompt": "Summarize the news.", "schedule_type": "one-shot", "run_at": "+0s"}"#;
//! let result = toolset![schedule_task].call(ToolCall::new("1", "schedule_task", call), &cx).await;
//! assert!(result.error().is_none());
//!
//! let scheduler = Scheduler::new(store, Printer); // a host calls `run`, which ends when its token is cancelled
//! assert_eq!(scheduler.run_due().await, 1);
//! # }
//! ```
//!
//! # Time zones and changes of the clock
//!
//! Cron expressions have five fields, without seconds, and are evaluated in the time zone of the task, with the rules that this program contains. A fixed time
//! that a change of the clock skips runs at the first instant after it; a fixed time that occurs twice runs once, the first time. A schedule with `*` or a step
//! in the field of the hours runs at each hour that exists on that day.
//!
//! # Trust
//!
//! A task belongs to the workspace of the turn that created it: the tool finds no task of another workspace. The prompt, the channel and the target of a task are
//! written by a model, so the [`OutboundChannel`](crate::human::OutboundChannel) of the host decides which targets it accepts, and the turn of a run passes the
//! gate and the rules of [`Runtime::Scheduled`](tool_core::Runtime::Scheduled) like any other turn. Prompts are stored as plain text.
//!
//! The tool has no secrets. Cost: 12 crates in addition to those of the feature `human`.

mod plan;
mod runner;
mod timing;
mod tool;
mod turn;

pub use runner::{Scheduler, TaskDone, TaskRunner};
pub use timing::{TimingError, next_due, read_time};
pub use tool::{
    ScheduleAction, ScheduleResult, ScheduleType, ScheduledTask, Schedules, schedule_task,
};
pub use turn::DueTask;
