//! A turn with several agents, calls, an approval and pieces of text, and the readers that follow it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tool_agent::agent::Agent;
use tool_agent::model::{ModelEvent, ModelObserver};
use tool_agent::runtime::{
    AgentEntry, AgentEvent, AgentEventKind, AgentRuntime, EventCursor, Handoff, PromptTool,
    StoredEvents,
};
use tool_core::prelude::*;
use tool_core::store::{ChildStore, Role, Store, ThreadEventStore, ThreadId, Workspace};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{Approvals, Gate, KeyRing, Reply};
use tool_wire::Delta;

use crate::fold::Fold;

/// Counts to two.
#[tool(read_only)]
async fn count(cx: &ToolContext) -> u32 {
    cx.progress(&1);
    2
}

/// Sends the report.
#[tool(destructive, approval)]
fn send() -> &'static str {
    "sent"
}

/// The text that the running step has emitted, and the permits for the next pieces.
#[derive(Clone)]
struct Script {
    emitted: Arc<Mutex<String>>,
    permits: Arc<Semaphore>,
}

/// A model that writes its texts in pieces, and waits for a permit after each of them.
#[derive(Clone)]
struct Slow {
    steps: Vec<(Vec<&'static str>, Option<ToolCall>)>,
    script: Script,
}

impl Model for Slow {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            let own = request.messages.iter().rev();
            let own = own.take_while(|message| message.role != Role::User);
            let said = own
                .filter(|message| message.role == Role::Assistant)
                .count();
            let (pieces, call) = &self.steps[said.min(self.steps.len() - 1)];
            self.script.emitted.lock().unwrap().clear();
            let observer = request.cx.get::<ModelObserver>().unwrap();
            for piece in pieces {
                observer.call(&ModelEvent::Delta(&Delta::Text((*piece).to_owned())));
                self.script.emitted.lock().unwrap().push_str(piece);
                self.script.permits.acquire().await.unwrap().forget();
            }
            let mut message = ModelMessage::text(pieces.concat());
            message.calls.extend(call.clone());
            Ok(message)
        })
    }
}

fn runtime<S: State>(store: &S, gate: &Gate, script: &Script) -> AgentRuntime {
    let slow = |name: &str, steps| {
        let script = script.clone();
        let agent = Agent::builder(name, Slow { steps, script });
        AgentEntry::new(agent.tools(|_| toolset![count, send]).build().unwrap())
    };
    let chief = vec![
        (
            vec!["I ", "count ", "first."],
            Some(ToolCall::new("c1", "count", "{}")),
        ),
        (
            vec!["A sum", "mary."],
            Some(ToolCall::new("c2", "summary", r#"{"message":"Go."}"#)),
        ),
        (vec!["May I?"], Some(ToolCall::new("c3", "send", "{}"))),
        (vec![], Some(ToolCall::new("c4", "transfer_to_clerk", "{}"))),
    ];
    // The clerk continues the thread of the chief, whose messages count as steps.
    let clerk = vec![(vec!["Good ", "bye", ", all."], None); 5];
    AgentRuntime::builder(Turns::new(store.clone()), gate)
        .children(store.clone())
        .events(store.clone())
        .agent(
            slow("chief", chief)
                .prompt(PromptTool::new("summary"))
                .handoff(Handoff::to("clerk")),
        )
        .agent(slow("summary", vec![(vec![], None)]).expose("Summarizes."))
        .agent(slow("clerk", clerk))
        .build()
        .unwrap()
}

/// The traits of the stores of the test.
pub(crate) trait State: Store + ThreadEventStore + ChildStore + Clone {}
impl<S: Store + ThreadEventStore + ChildStore + Clone> State for S {}

/// Reads a thread until a run has ended with a reply.
fn follow(
    events: &StoredEvents,
    thread: &ThreadId,
    after: EventCursor,
) -> JoinHandle<Vec<AgentEvent>> {
    let mut following = events.follow(thread, after);
    tokio::spawn(async move {
        let mut all = Vec::new();
        while let Some(followed) = following.next().await {
            let event = followed.unwrap().event;
            let is_last =
                matches!(&event.kind, AgentEventKind::RunEnded { cause, .. } if cause == "replied");
            all.push(event);
            if is_last {
                break;
            }
        }
        all
    })
}

/// Reads all events that are stored now. Returns them with the cursor of the last event.
async fn snapshot(events: &StoredEvents, thread: &ThreadId) -> (Vec<AgentEvent>, EventCursor) {
    let (mut all, mut cursor) = (Vec::new(), EventCursor::START);
    loop {
        let read = events.read(thread, cursor).await.unwrap();
        let Some(last) = read.last() else {
            return (all, cursor);
        };
        // Clients send a cursor as text, so the test converts each cursor to text and back.
        cursor = last.cursor.to_string().parse().unwrap();
        all.extend(read.into_iter().map(|followed| followed.event));
    }
}

/// Drives the turn, with an approval in its middle. Returns its events.
async fn driven(runtime: AgentRuntime, gate: Gate, cx: ToolContext) -> Vec<AgentEvent> {
    let mut live = Vec::new();
    let mut run = runtime.stream("chief", "Go.", &cx);
    while let Some(event) = run.next().await {
        live.push(event);
    }
    let Some(Ok(Outcome::Waiting(tickets))) = run.outcome() else {
        panic!("the run does not wait");
    };
    let approvals = gate.approvals().unwrap();
    for ticket in tickets {
        let (workspace, tools, token) = (Workspace::new("acme"), toolset![send], &ticket.token);
        let answer = approvals.answer(&workspace, &tools, token, Reply::Approve, "eve", None);
        answer.await.unwrap();
    }
    let mut run = runtime.stream_drive("chief", &cx);
    while let Some(event) = run.next().await {
        live.push(event);
    }
    let outcome = run.outcome();
    assert!(matches!(outcome, Some(Ok(Outcome::Answered(text))) if text == "Good bye, all."));
    live
}

/// A reader that joins at any point of a turn reads a legal stream, and then has the same state as a reader from the beginning. A reader that resumes
/// from its cursor has this state, too.
pub(crate) async fn readers_see_the_same_turn<S: State>(writer: S, reader: S) {
    let keys = KeyRing::new("k1", vec![7; 32]).unwrap();
    let approvals = Approvals::builder(writer.clone())
        .keys(keys)
        .build()
        .unwrap();
    let gate = Gate::builder()
        .approvals(approvals)
        .ledger(writer.clone())
        .build();
    let script = Script {
        emitted: Arc::default(),
        permits: Arc::new(Semaphore::new(0)),
    };
    let runtime = runtime(&writer, &gate, &script);
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("main")
        .build();
    let thread = cx.thread().unwrap();
    let events = StoredEvents::new(reader).poll_every(Duration::from_millis(20));
    let first = follow(&events, &thread, EventCursor::START);

    let driver = tokio::spawn(driven(runtime.clone(), gate.clone(), cx.clone()));

    // At each piece of the turn, new readers start, and then the model continues.
    let (mut late, mut resumed, mut snapshots) = (Vec::new(), Vec::new(), Vec::new());
    for expected in [
        "I ",
        "I count ",
        "I count first.",
        "A sum",
        "A summary.",
        "May I?",
        "Good ",
        "Good bye",
        "Good bye, all.",
    ] {
        let (read, cursor) = loop {
            let (read, cursor) = snapshot(&events, &thread).await;
            let open = Fold::of(&read).open;
            if open.is_some_and(|open| open.text == expected) {
                break (read, cursor);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(*script.emitted.lock().unwrap(), expected);
        late.push(follow(&events, &thread, EventCursor::START));
        let from_last = events.last_run(&thread).await.unwrap();
        snapshots.push(Fold::of(&read));
        resumed.push((
            read,
            follow(&events, &thread, cursor),
            follow(&events, &thread, from_last),
        ));
        script.permits.add_permits(1);
    }
    let live = driver.await.unwrap();
    let of_main = live.iter().filter(|event| event.conversation == "main");
    let expected = Fold::of(of_main);
    let first = first.await.unwrap();
    assert_eq!(Fold::of(&first), expected);
    assert!(expected.done.len() > 15, "{expected:#?}");
    for late in late {
        assert_eq!(Fold::of(&late.await.unwrap()), expected);
    }
    for (mut read, rest, of_run) in resumed {
        read.extend(rest.await.unwrap());
        assert_eq!(Fold::of(&read), expected);
        // A reader of one run sees the end of the stream, from the beginning of that run.
        let of_run = Fold::of(&of_run.await.unwrap()).done;
        assert!(
            expected.done.ends_with(&of_run) && of_run[0].ends_with("run_started"),
            "{of_run:#?}"
        );
    }
    assert!(
        snapshots
            .iter()
            .all(|snapshot| snapshot.is_before(&expected))
    );
    assert!(snapshots.is_sorted_by(Fold::is_before));
    // A reader that joins after the end sees the turn without pieces.
    let (after, cursor) = snapshot(&events, &thread).await;
    assert_eq!(Fold::of(&after), expected);
    assert!(
        !after
            .iter()
            .any(|event| matches!(event.kind, AgentEventKind::Text { .. }))
    );
    assert_eq!(events.read(&thread, cursor).await.unwrap().len(), 0);
}
