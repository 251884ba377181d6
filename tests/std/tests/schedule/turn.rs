//! The turns of runs: the prompt, the conversation, a crash at each step, and the delivery of the answer.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, Message, NewMessage, Role, ScheduleStore, StoreFuture, TaskDefinition,
    TaskRunState, TaskTiming, ThreadId, ThreadStore, Timestamp,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_std::human::{Outbound, OutboundChannel, OutboundMessage, Trigger, send_outbound_message};
use tool_std::schedule::{DueTask, Scheduler, TaskDone, TaskRunner};

use crate::clock::{Clock, time};
use crate::support::{id, row, runs, task};

/// The store of a test, the behaviour of its model and channel, and a record of the requests and the sent messages.
#[derive(Clone, Default)]
struct World {
    store: MemoryStore,
    sent: Arc<Mutex<Vec<OutboundMessage>>>,
    requests: Arc<Mutex<u32>>,
    /// The step before which the process ends, once.
    crash: Arc<Mutex<Option<Step>>>,
    calls_tool: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Model,
    Channel,
    End,
}

impl World {
    /// Never completes at the step at which the process ends.
    async fn pass(&self, step: Step) {
        let crashes = {
            let mut crash = self.crash.lock().unwrap();
            crash.take_if(|at| *at == step).is_some()
        };
        if crashes {
            std::future::pending::<()>().await;
        }
    }

    fn sent(&self) -> Vec<(String, String, String)> {
        let sent = self.sent.lock().unwrap();
        sent.iter()
            .map(|message| {
                (
                    message.channel.clone(),
                    message.text.clone(),
                    message.key.clone(),
                )
            })
            .collect()
    }

    async fn messages(&self, conversation: &str) -> Vec<Message> {
        let thread = ThreadId::new("acme", conversation).unwrap();
        ThreadStore::read(&self.store, &thread, None).await.unwrap()
    }

    async fn create(&self, change: impl FnOnce(&mut TaskDefinition)) {
        let every_minute = TaskTiming::Interval {
            every_ms: 60_000,
            from: Timestamp::now(),
        };
        let mut new = task("t", every_minute);
        change(&mut new.definition);
        self.store.create_task(new).await.unwrap();
    }
}

impl Model for World {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            self.pass(Step::Model).await;
            *self.requests.lock().unwrap() += 1;
            if self.calls_tool {
                let call =
                    ToolCall::new("c", "send_outbound_message", r#"{"message":"by the tool"}"#);
                return Ok(ModelMessage::calls([call]));
            }
            let users = request.messages.iter();
            let users = users.filter(|message| message.role == Role::User).count();
            Ok(ModelMessage::text(format!("answer to prompt {users}")))
        })
    }
}

impl OutboundChannel for World {
    fn send<'a>(&'a self, message: &'a OutboundMessage) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            self.pass(Step::Channel).await;
            self.sent.lock().unwrap().push(message.clone());
            Ok(())
        })
    }
}

impl TaskRunner for World {
    fn run<'a>(&'a self, task: &'a DueTask) -> BoxFuture<'a, Result<TaskDone, ToolError>> {
        Box::pin(async move {
            let channels: Arc<dyn OutboundChannel> = Arc::new(self.clone());
            let trigger = Trigger(Outbound::shared(Arc::clone(&channels), "slack", "C17"));
            let cx = task.context().with(trigger).build();
            let turns = Turns::new(self.store.clone());
            let mut model = self.clone();
            let done = task
                .drive(
                    &turns,
                    &Unread(self.store.clone()),
                    &mut model,
                    |_| toolset![send_outbound_message],
                    Some(&channels),
                    &cx,
                )
                .await?;
            self.pass(Step::End).await;
            Ok(done)
        })
    }
}

/// A store of threads that panics if a whole conversation is read, because a run only has to check whether its prompt is stored.
struct Unread(MemoryStore);

impl ThreadStore for Unread {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        self.0.append(message)
    }

    fn read<'a>(&'a self, thread: &'a ThreadId, _: Option<u64>) -> StoreFuture<'a, Vec<Message>> {
        panic!("the messages of {thread} are read")
    }

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        self.0.message_at(thread, role, at)
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        ThreadStore::erase(&self.0, thread)
    }
}

fn to_slack(definition: &mut TaskDefinition) {
    definition.outbound_channel = Some("slack".to_owned());
    definition.outbound_target = Some("C17".to_owned());
}

// Each run has its own conversation, which begins with the prompt, and the answer is sent through the channel of the task.
#[tokio::test]
async fn run_begins_with_the_prompt_and_sends_the_answer() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let world = World::default();
    world.create(to_slack).await;
    let scheduler = Scheduler::new(world.store.clone(), world.clone());
    for _ in 0..2 {
        clock.pass(std::time::Duration::from_mins(1));
        assert_eq!(scheduler.run_due().await, 1);
    }
    let runs = runs(&world.store).await;
    let mut sent = Vec::new();
    for run in &runs {
        let due = run.due.as_millis();
        assert_eq!(run.conversation, Some(format!("schedule/t/{due}")));
        let messages = world.messages(run.conversation.as_ref().unwrap()).await;
        assert_eq!(messages.len(), 2);
        assert_eq!(
            (messages[0].role, &*messages[0].content),
            (Role::User, r#""Summarize the news.""#)
        );
        assert!(messages[1].content.contains("answer to prompt 1"));
        sent.push((
            "slack".to_owned(),
            "answer to prompt 1".to_owned(),
            format!("t/{due}"),
        ));
    }
    assert_eq!((runs.len(), world.sent()), (2, sent));
}

// All runs of a task that keeps its history share a conversation.
#[tokio::test]
async fn history_is_kept_for_the_next_run() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let world = World::default();
    world
        .create(|definition| definition.keep_history = true)
        .await;
    let scheduler = Scheduler::new(world.store.clone(), world.clone());
    for _ in 0..3 {
        clock.pass(std::time::Duration::from_mins(1));
        assert_eq!(scheduler.run_due().await, 1);
    }
    let messages = world.messages("schedule/t").await;
    assert_eq!(messages.len(), 6);
    assert!(messages[5].content.contains("answer to prompt 3"));
    assert!(world.sent().is_empty(), "the task names no channel");
}

// If a process ends at any step of a run, another process continues the same turn. The conversation then contains the prompt and the answer of the
// run once.
#[tokio::test(start_paused = true)]
async fn crash_at_each_step_continues_the_same_turn() {
    for keep_history in [false, true] {
        for step in [Step::Model, Step::Channel, Step::End] {
            let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
            let world = World::default();
            let change = |definition: &mut TaskDefinition| {
                to_slack(definition);
                definition.keep_history = keep_history;
            };
            world.create(change).await;
            let scheduler = Scheduler::new(world.store.clone(), world.clone());
            // An earlier run of the task succeeds first. If the task keeps its history, the prompt of this run is in the same conversation.
            clock.set("2026-03-01T00:01:00Z");
            assert_eq!(scheduler.run_due().await, 1);
            clock.set("2026-03-01T00:02:00Z");
            *world.crash.lock().unwrap() = Some(step);
            let ended =
                tokio::time::timeout(std::time::Duration::from_secs(1), scheduler.run_due());
            assert!(ended.await.is_err());
            // The leases of the thread's run and of the claim expire.
            clock.set("2026-03-01T00:02:59.500Z");
            clock.pass(std::time::Duration::from_millis(500));
            let other = Scheduler::new(world.store.clone(), world.clone());
            assert_eq!(
                other.run_due().await,
                2,
                "{step:?}: the same run, and the one of 00:03"
            );
            let runs = runs(&world.store).await;
            let run = &runs[1];
            assert_eq!(
                (run.due, run.state, run.attempts),
                (time("2026-03-01T00:02:00Z"), TaskRunState::Succeeded, 2)
            );
            let messages = world.messages(run.conversation.as_ref().unwrap()).await;
            let of_run = messages
                .iter()
                .filter(|message| message.role == Role::User && message.at == run.due);
            assert_eq!(of_run.count(), 1, "{step:?}: the prompt is stored once");
            assert_eq!(
                (messages.len(), *world.requests.lock().unwrap()),
                (if keep_history { 6 } else { 2 }, 3),
                "{step:?}"
            );
            // The channel gets an answer twice only if the process ended after it was sent, and then with the same key.
            let keys: Vec<String> = world.sent().into_iter().map(|(_, _, key)| key).collect();
            let own = format!("t/{}", run.due.as_millis());
            let count = keys.iter().filter(|key| **key == own).count();
            assert_eq!(count, if step == Step::End { 2 } else { 1 }, "{step:?}");
        }
    }
}

// An answer that a tool has sent is not sent again by the task.
#[tokio::test]
async fn answer_of_a_tool_is_sent_once() {
    let (clock, _entered) = Clock::at("2026-03-01T00:00:00Z");
    let world = World {
        calls_tool: true,
        ..World::default()
    };
    world.create(to_slack).await;
    clock.pass(std::time::Duration::from_mins(1));
    let scheduler = Scheduler::new(world.store.clone(), world.clone());
    assert_eq!(scheduler.run_due().await, 1);
    let texts: Vec<String> = world.sent().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["by the tool"]);
    assert_eq!(row(&world.store).await.errors, 0);
    assert!(world.store.task(&id("t")).await.unwrap().is_some());
}
