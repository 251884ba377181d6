//! Scheduled tasks: a tool that creates them, and the scheduler that runs them.
//!
//! | tool | |
//! |---|---|
//! | [`schedule_task`](fn@schedule_task) | creates, lists, updates, deletes and runs the tasks of the workspace |
//!
//! A task is a prompt and a schedule: a cron expression in a time zone, an interval, or one time. When it is due, a [`Scheduler`] starts a turn with the prompt
//! as the message of the user. If the task names a messaging channel, such as Slack or WhatsApp ([`OutboundChannel`](crate::human::OutboundChannel)), the answer is
//! sent through this channel. A host adds [`Schedules`] to the context of turns that may schedule tasks, and runs a [`Scheduler`] in one process or in many.
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
//! Cron expressions have five fields, without seconds, and are evaluated in the time zone of the task. The rules of the time zones are compiled into the program.
//!
//! Daylight saving time: if the clock skips the local time of a cron expression with a fixed hour, the task runs at the first instant after the skipped hour; if the
//! local time occurs twice, the task runs once, at the first of the two. A cron expression with `*` or a step in the field of the hours runs at each hour that exists
//! on that day. If the clock skips the `run_at` of a one-shot task, the time is moved forward by the length of the change.
//!
//! # Trust
//!
//! A task belongs to the workspace of the turn that created it: the tool finds no task of another workspace. A run has the identity of the user who
//! created its task, so only this user can change, run or delete the task; `list` shows all tasks of the workspace. A model writes the prompt, the
//! channel and the target of a task, so the [`OutboundChannel`](crate::human::OutboundChannel) of the host must decide which targets it accepts. The
//! turn of a run uses the [`Turns`](tool_core::turn::Turns) and the tools that the host passes to [`DueTask::drive`]: create them with the host's
//! [`Gate`](tool_core::Gate) and with rules of the kind [`Runtime::Scheduled`](tool_core::Runtime::Scheduled), so that both apply to the turn.
//! Prompts are stored unencrypted.
//!
//! The tools need no API key or other secret. Cost: see the table of the [crate](crate#cost).

mod fields;
mod plan;
mod runner;
mod tool;
mod turn;

pub use runner::{Scheduler, TaskDone, TaskRunner};
pub use tool::{
    ScheduleAction, ScheduleResult, ScheduleType, ScheduledTask, Schedules, schedule_task,
};
#[doc(inline)]
pub use tool_core::store::{TimingError, next_due, read_time};
pub use turn::DueTask;
