//! The events of a runtime in a store, from which other processes read them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::Semaphore;
use tool_agent::agent::Agent;
use tool_agent::model::{ModelEvent, ModelObserver};
use tool_agent::runtime::{
    AgentEvent, AgentEventKind, AgentRuntime, Handoff, PromptTool, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, NewThreadEvents, StoreError, StoreFuture, ThreadEvent, ThreadEventStore, ThreadId,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome};
use tool_core::{Approvals, Gate};
use tool_wire::Delta;

use crate::promises::{Hold, slow as slow_tool};
use crate::support::{
    Death, Host, Log, Thinker, agent, calls, context, entry, in_conversation, text, thinking,
    worker,
};

/// Sends the report.
#[tool(destructive, approval)]
fn send() -> &'static str {
    "sent"
}

/// Counts to two.
#[tool(read_only)]
async fn count(cx: &ToolContext) -> u32 {
    cx.progress(&1);
    2
}

/// Looks at something.
#[tool(read_only)]
fn look() -> &'static str {
    "seen"
}

fn main_thread() -> ThreadId {
    ThreadId::new("acme", "main").unwrap()
}

async fn rows(store: &MemoryStore) -> Vec<ThreadEvent> {
    store
        .thread_events(&main_thread(), 0, 10_000)
        .await
        .unwrap()
}

/// Returns the rows as lines: the last message before each event, its kind, and its main value.
fn lines(rows: &[ThreadEvent]) -> Vec<String> {
    let line = |row: &ThreadEvent| {
        let event: AgentEvent = serde_json::from_str(&row.body).unwrap();
        assert_eq!(
            (event.kind.name(), event.version),
            (&*row.kind, row.version)
        );
        assert_eq!(event.at, row.at);
        let value = match event.kind {
            AgentEventKind::Text { delta } => delta,
            AgentEventKind::StepStarted { step } => step.to_string(),
            AgentEventKind::Handoff { to } => to,
            AgentEventKind::ChildStarted { child_agent, .. } => child_agent,
            AgentEventKind::Waiting { approvals } => approvals[0].tool.clone(),
            AgentEventKind::RunEnded { cause, .. } => cause,
            _ => String::new(),
        };
        format!("{} {} {value}", row.message, row.kind)
            .trim_end()
            .to_owned()
    };
    rows.iter().map(line).collect()
}

/// Waits until the rows have these lines.
async fn wait_for(store: &MemoryStore, expected: &[&str]) {
    for _ in 0..2000 {
        if lines(&rows(store).await) == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(lines(&rows(store).await), expected);
}

/// A model that writes its text in pieces, and waits for a permit after each of them.
#[derive(Clone)]
struct Slow {
    pieces: Vec<String>,
    permits: Arc<Semaphore>,
}

impl Slow {
    fn new(pieces: &[&str]) -> Self {
        Self {
            pieces: pieces.iter().map(|&piece| piece.to_owned()).collect(),
            permits: Arc::new(Semaphore::new(0)),
        }
    }
}

impl Model for Slow {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            let observer = request.cx.get::<ModelObserver>().unwrap();
            for piece in &self.pieces {
                observer.call(&ModelEvent::Delta(&Delta::Text(piece.clone())));
                self.permits.acquire().await.unwrap().forget();
            }
            Ok(text(&self.pieces.concat()))
        })
    }
}

fn slow(host: &Host, model: &Slow) -> AgentRuntime {
    let chief = entry(Agent::builder("chief", model.clone()));
    let runtime = host.runtime().events(host.store.clone());
    runtime.agent(chief).build().unwrap()
}

// The rows of a run are ordered among the messages of its thread. The messages are not stored twice, and no piece remains.
#[tokio::test]
async fn rows_of_a_run_are_stored_among_its_messages() {
    let (host, log) = (Host::new(), Log::default());
    let go = || json!({"message": "Go."});
    let chief = agent(
        "chief",
        &log,
        [
            calls([("count", json!({}))]),
            calls([("summary", go())]),
            calls([("worker", go())]),
            calls([("transfer_to_clerk", json!({}))]),
        ],
    );
    let runtime = host
        .runtime()
        .events(host.store.clone())
        .agent(
            entry(chief.tools(|_| toolset![count]))
                .prompt(PromptTool::new("summary"))
                .subagent(Subagent::new("worker"))
                .handoff(Handoff::to("clerk")),
        )
        .agent(entry(agent("summary", &log, [text("Short.")])).expose("Summarizes."))
        .agent(worker(agent("worker", &log, [text("Made it.")])))
        .agent(entry(agent("clerk", &log, [text("I go on.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "I go on."));
    let stored = rows(&host.store).await;
    assert_eq!(
        lines(&stored),
        [
            "1 run_started",
            "4 child_started summary",
            "4 child_ended",
            "6 child_started worker",
            "6 child_ended",
            "8 handoff clerk",
            "10 run_ended replied",
        ]
    );
    assert!(stored.iter().all(|row| !row.transient));
    for below in runtime.threads_below(&cx).await.unwrap() {
        let rows = host.store.thread_events(&below, 0, 9).await.unwrap();
        assert_eq!(lines(&rows), ["1 run_started", "2 run_ended replied"]);
    }
}

// The pieces of the running step are stored in batches. The end of the run removes them.
#[tokio::test]
async fn pieces_of_the_running_step_are_stored_and_removed() {
    let (host, model) = (Host::new(), Slow::new(&["Hel", "lo ", "all."]));
    let mut events = slow(&host, &model).stream("chief", "Go.", &context().build());
    let read = async {
        // The model waits, so only the first piece is stored.
        wait_for(
            &host.store,
            &["1 run_started", "1 step_started 1", "1 text Hel"],
        )
        .await;
        model.permits.add_permits(2);
        let all = [
            "1 run_started",
            "1 step_started 1",
            "1 text Hel",
            "1 text lo all.",
        ];
        wait_for(&host.store, &all).await;
        assert!(rows(&host.store).await[1..].iter().all(|row| row.transient));
        model.permits.add_permits(1);
    };
    let drive = async { while events.next().await.is_some() {} };
    futures::future::join(read, drive).await;
    let stored = rows(&host.store).await;
    assert_eq!(lines(&stored), ["1 run_started", "2 run_ended replied"]);
    assert!(stored[1].seq > 4, "{stored:?}");
}

/// A model that writes ten megabytes in pieces of one byte.
#[derive(Clone)]
struct Endless {
    done: Arc<Semaphore>,
}

const ENDLESS: usize = 10_000_000;

/// Returns a byte of the text of [`Endless`]. JSON escapes some of them.
fn letter(at: usize) -> &'static str {
    ["a", "b", "\"", "\n", "c", "\u{1}", "d"][at % 7]
}

impl Model for Endless {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            let observer = request.cx.get::<ModelObserver>().unwrap();
            let letters: Vec<Delta> = (0..7)
                .map(|at| Delta::Text(letter(at).to_owned()))
                .collect();
            for at in 0..ENDLESS {
                observer.call(&ModelEvent::Delta(&letters[at % 7]));
                if at % 10_000 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            self.done.acquire().await.unwrap().forget();
            Ok(text(&(0..ENDLESS).map(letter).collect::<String>()))
        })
    }
}

// The stored bytes of a step are bounded, even if a model writes 10 MB in pieces of one byte. The stored pieces are the beginning of the text.
#[tokio::test]
async fn stored_bytes_of_a_step_are_bounded() {
    let host = Host::new();
    let model = Endless {
        done: Arc::new(Semaphore::new(0)),
    };
    let chief = entry(Agent::builder("chief", model.clone()));
    let runtime = host.runtime().events(host.store.clone()).agent(chief);
    let runtime = runtime.build().unwrap();
    let cx = context().build();
    let read = async {
        let mut largest = 0;
        loop {
            let stored = rows(&host.store).await;
            let bytes: usize = stored.iter().map(|row| row.body.len()).sum();
            assert!(bytes < 1_100_000, "{bytes} bytes are stored");
            // The limit of the step is reached, and no further piece is stored.
            if bytes > 1_000_000 && bytes == largest {
                return stored;
            }
            largest = bytes;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    let read = async {
        let stored = read.await;
        model.done.add_permits(1);
        stored
    };
    let (stored, outcome) = futures::future::join(read, runtime.respond("chief", "Go.", &cx)).await;
    assert!(matches!(outcome.unwrap(), Outcome::Answered(text) if text.len() == ENDLESS));
    let mut shown = String::new();
    for row in &stored {
        assert!(row.body.len() <= ThreadEvent::MOST_BYTES);
        if let AgentEventKind::Text { delta } =
            serde_json::from_str::<AgentEvent>(&row.body).unwrap().kind
        {
            shown.push_str(&delta);
        }
    }
    assert!(shown.len() > 300_000);
    assert!(
        (0..ENDLESS)
            .map(letter)
            .zip(shown.split_inclusive(|_| true))
            .all(|(one, other)| one == other)
    );
    let left = rows(&host.store).await;
    assert_eq!(lines(&left), ["1 run_started", "2 run_ended replied"]);
}

// A process dies during a step. The next process continues the sequence, removes the pieces, and the store refuses the events of the dead process.
#[tokio::test]
async fn events_continue_after_the_death_of_a_process() {
    let (host, log, death) = (Host::new(), Log::default(), Death::at(2));
    let replies = |death: &Death| {
        let think = |request: &crate::support::Request| {
            Ok(match request.step() {
                0 => calls([("count", json!({}))]),
                _ => text("Done."),
            })
        };
        let thinker = Thinker::new("chief", &log, think).dying(death);
        let chief = Agent::builder("chief", thinker).tools(|_| toolset![count]);
        let runtime = host.runtime().events(host.store.clone());
        runtime.agent(entry(chief)).build().unwrap()
    };
    let cx = context().build();
    let (first, died) = (replies(&death), death.died());
    let mut driven = Box::pin(first.respond("chief", "Go.", &cx));
    let mut died = Box::pin(died);
    // The second request never ends. Its step is stored before the process stops.
    let stored = async {
        died.as_mut().await;
        wait_for(&host.store, &["1 run_started", "3 step_started 2"]).await;
    };
    tokio::select! {
        _ = &mut driven => panic!("the process did not die"),
        () = stored => {}
    }
    let second = replies(&Death::at(0));
    let outcome = loop {
        match second.drive("chief", &cx).await.unwrap() {
            Outcome::Busy(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            outcome => break outcome,
        }
    };
    assert!(matches!(outcome, Outcome::Answered(text) if text == "Done."));
    let expected = ["1 run_started", "3 run_started", "4 run_ended replied"];
    assert_eq!(lines(&rows(&host.store).await), expected);
    // The first process continues, and records that its run was cancelled.
    drop(driven);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let stored = rows(&host.store).await;
    assert_eq!(lines(&stored), expected);
    assert!(stored.is_sorted_by_key(|row| row.seq));
}

// If the stream of a run is dropped, readers see that the run was cancelled.
#[tokio::test]
async fn dropped_run_is_recorded_as_cancelled() {
    let (host, model) = (Host::new(), Slow::new(&["Hello."]));
    let mut events = slow(&host, &model).stream("chief", "Go.", &context().build());
    let read = wait_for(
        &host.store,
        &["1 run_started", "1 step_started 1", "1 text Hello."],
    );
    let drive = async { while events.next().await.is_some() {} };
    tokio::select! {
        () = drive => panic!("the model waits"),
        () = read => {}
    }
    drop(events);
    wait_for(&host.store, &["1 run_started", "1 run_ended cancelled"]).await;
}

// Open approvals are stored without credentials. A second drive that finds the thread busy stores no events.
#[tokio::test]
async fn approvals_are_stored_and_busy_runs_are_not() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent("chief", &log, [calls([("send", json!({}))])]);
    let runtime = host.runtime().events(host.store.clone());
    let runtime = runtime
        .agent(entry(chief.tools(|_| toolset![send])))
        .build()
        .unwrap();
    let cx = context().build();
    let Outcome::Waiting(tickets) = runtime.respond("chief", "Go.", &cx).await.unwrap() else {
        panic!("the run does not wait");
    };
    let stored = rows(&host.store).await;
    assert_eq!(
        lines(&stored),
        ["1 run_started", "2 waiting send", "2 run_ended waiting"]
    );
    assert!(
        stored
            .iter()
            .all(|row| !row.body.contains(&tickets[0].token))
    );

    let (other, model) = (Host::new(), Slow::new(&["Hello."]));
    let runtime = slow(&other, &model);
    let first = runtime.respond("chief", "Go.", &cx);
    let second = async {
        wait_for(
            &other.store,
            &["1 run_started", "1 step_started 1", "1 text Hello."],
        )
        .await;
        let busy = runtime.drive("chief", &cx).await.unwrap();
        assert!(matches!(busy, Outcome::Busy(_)), "{busy:?}");
        model.permits.add_permits(1);
    };
    let (first, ()) = futures::future::join(first, second).await;
    assert!(matches!(first.unwrap(), Outcome::Answered(_)));
    assert_eq!(
        lines(&rows(&other.store).await),
        ["1 run_started", "2 run_ended replied"]
    );
}

// The runtime keeps the host's callback for the beginning of runs. Both receive the run before its first step.
#[tokio::test]
async fn callback_of_the_host_for_runs_is_kept() {
    let (host, log) = (Host::new(), Log::default());
    let begun = Arc::new(Mutex::new(Vec::new()));
    let (seen, store) = (Arc::clone(&begun), host.store.clone());
    let turns = host.turns().on_begin(move |fence| {
        let (seen, store) = (Arc::clone(&seen), store.clone());
        Box::pin(async move {
            let rows = rows(&store).await.len();
            seen.lock().unwrap().push((fence.id.number(), rows));
        })
    });
    let chief = entry(agent("chief", &log, [text("Done.")]));
    let runtime = AgentRuntime::builder(turns, &host.gate).events(host.store.clone());
    let runtime = runtime.agent(chief).build().unwrap();
    for message in ["Go.", "Go on."] {
        runtime
            .respond("chief", message, &context().build())
            .await
            .unwrap();
    }
    assert_eq!(*begun.lock().unwrap(), [(1, 0), (2, 2)]);
    assert_eq!(rows(&host.store).await.len(), 4);
}

type Fault = dyn Fn(u32) -> Option<StoreError> + Send + Sync;

/// A store of events in which some writes fail.
#[derive(Clone)]
struct Failing {
    inner: MemoryStore,
    /// The number of writes.
    writes: Arc<AtomicU32>,
    /// Returns the error of a write, which is counted from 0.
    fault: Arc<Fault>,
    /// If this is set, each reply waits for a permit.
    replies: Option<Arc<Semaphore>>,
}

impl Failing {
    fn new(host: &Host, fault: impl Fn(u32) -> Option<StoreError> + Send + Sync + 'static) -> Self {
        Self {
            inner: host.store.clone(),
            writes: Arc::default(),
            fault: Arc::new(fault),
            replies: None,
        }
    }

    fn writes(&self) -> u32 {
        self.writes.load(Ordering::SeqCst)
    }
}

impl ThreadEventStore for Failing {
    fn append_events(&self, events: NewThreadEvents) -> StoreFuture<'_, u64> {
        match (self.fault)(self.writes.fetch_add(1, Ordering::SeqCst)) {
            Some(error) => Box::pin(async { Err(error) }),
            None => Box::pin(async {
                let written = self.inner.append_events(events).await;
                if let Some(replies) = &self.replies {
                    replies.acquire().await.unwrap().forget();
                }
                written
            }),
        }
    }

    fn thread_events<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<ThreadEvent>> {
        self.inner.thread_events(thread, after, limit)
    }

    fn erase_events<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        self.inner.erase_events(thread)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a fault")]
fn unavailable() -> Option<StoreError> {
    Some(StoreError::Unavailable("the disk is full".into()))
}

// If the store of events fails, the run continues. Without a store, no events are written.
#[tokio::test]
async fn run_continues_without_its_store_of_events() {
    let (host, log) = (Host::new(), Log::default());
    let failing = Failing::new(&host, |_| unavailable());
    let chief = || entry(thinking("chief", &log, |_| Ok(text("Done."))));
    let runtime = host
        .runtime()
        .events(failing.clone())
        .agent(chief())
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "Done."));
    assert!(failing.writes() > 0);

    let runtime = host.runtime().agent(chief()).build().unwrap();
    runtime.respond("chief", "Go on.", &cx).await.unwrap();
    assert_eq!(rows(&host.store).await, []);
}

// A write that fails because the store is unavailable is attempted once more, and no event is lost.
#[tokio::test]
async fn failed_write_is_attempted_again() {
    let (host, log) = (Host::new(), Log::default());
    let failing = Failing::new(
        &host,
        |write| {
            if write % 2 == 0 { unavailable() } else { None }
        },
    );
    let chief = entry(agent("chief", &log, [text("Done.")]));
    let runtime = host.runtime().events(failing.clone()).agent(chief);
    let runtime = runtime.build().unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    let expected = ["1 run_started", "2 run_ended replied"];
    assert_eq!(lines(&rows(&host.store).await), expected);
    assert_eq!(failing.writes(), 4);
}

// If the store refuses the events of a run, because another process has taken the run over, this process writes no more events.
#[tokio::test]
async fn run_that_was_taken_over_writes_no_more_events() {
    let (host, log) = (Host::new(), Log::default());
    let failing = Failing::new(&host, |write| {
        (write > 0).then(|| StoreError::Conflict("the run has another driver".into()))
    });
    let transfer = agent("chief", &log, [calls([("transfer_to_clerk", json!({}))])]);
    let runtime = host
        .runtime()
        .events(failing.clone())
        .agent(entry(transfer).handoff(Handoff::to("clerk")))
        .agent(entry(agent("clerk", &log, [text("Here.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert_eq!(lines(&rows(&host.store).await), ["1 run_started"]);
    // The handoff was refused, so the end of the run is not written.
    assert_eq!(failing.writes(), 2);
}

// If pieces of a step could not be stored, readers do not see a text with a gap: the stored pieces are removed, and no later piece of the step is
// stored.
#[tokio::test]
async fn step_whose_pieces_are_lost_has_no_pieces() {
    let (host, model) = (Host::new(), Slow::new(&["Hel", "lo ", "all."]));
    let fails = Arc::new(AtomicBool::new(false));
    let switch = fails.clone();
    let failing = Failing::new(&host, move |_| {
        if switch.load(Ordering::SeqCst) {
            unavailable()
        } else {
            None
        }
    });
    let chief = entry(Agent::builder("chief", model.clone()));
    let runtime = host.runtime().events(failing.clone()).agent(chief);
    let runtime = runtime.build().unwrap();
    let mut events = runtime.stream("chief", "Go.", &context().build());
    let read = async {
        let first = ["1 run_started", "1 step_started 1", "1 text Hel"];
        wait_for(&host.store, &first).await;
        fails.store(true, Ordering::SeqCst);
        let before = failing.writes();
        model.permits.add_permits(1);
        // The piece is written twice.
        while failing.writes() < before + 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        fails.store(false, Ordering::SeqCst);
        model.permits.add_permits(1);
        wait_for(&host.store, &["1 run_started"]).await;
        model.permits.add_permits(1);
    };
    let drive = async { while events.next().await.is_some() {} };
    futures::future::join(read, drive).await;
    let expected = ["1 run_started", "2 run_ended replied"];
    assert_eq!(lines(&rows(&host.store).await), expected);
}

/// A model that withdraws the beginning of its text, and waits for a permit before and after that.
#[derive(Clone)]
struct Restarting(Arc<Semaphore>);

impl Model for Restarting {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            let observer = request.cx.get::<ModelObserver>().unwrap();
            let write = |piece: &str| {
                observer.call(&ModelEvent::Delta(&Delta::Text(piece.to_owned())));
            };
            write("Wro");
            self.0.acquire().await.unwrap().forget();
            write("ng.");
            observer.call(&ModelEvent::StepRestarted);
            write("Right.");
            self.0.acquire().await.unwrap().forget();
            Ok(text("Right."))
        })
    }
}

// If an attempt is withdrawn after a part of it was stored, readers get an event that withdraws the part. Pieces that were not stored yet are left
// out.
#[tokio::test]
async fn withdrawn_attempt_is_stored_as_withdrawn() {
    let (host, permits) = (Host::new(), Arc::new(Semaphore::new(0)));
    let chief = entry(Agent::builder("chief", Restarting(permits.clone())));
    let runtime = host.runtime().events(host.store.clone()).agent(chief);
    let runtime = runtime.build().unwrap();
    let cx = context().build();
    let read = async {
        let first = ["1 run_started", "1 step_started 1", "1 text Wro"];
        wait_for(&host.store, &first).await;
        permits.add_permits(1);
        let all = [
            "1 run_started",
            "1 step_started 1",
            "1 text Wro",
            "1 step_restarted",
            "1 text Right.",
        ];
        wait_for(&host.store, &all).await;
        permits.add_permits(1);
    };
    let (outcome, ()) = futures::future::join(runtime.respond("chief", "Go.", &cx), read).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
}

// The pieces of a message are removed when its first result is stored, even if another call of the message still runs.
#[tokio::test]
async fn first_result_removes_the_pieces_of_its_step() {
    let (host, hold) = (Host::new(), Hold::new());
    let permits = Arc::new(Semaphore::new(0));
    let tools = toolset![look].combine(&slow_tool(&hold)).unwrap();
    let model = Calling(permits.clone());
    let chief = Agent::builder("chief", model).tools(move |_| tools.clone());
    let runtime = host.runtime().events(host.store.clone());
    let runtime = runtime.agent(entry(chief)).build().unwrap();
    let cx = context().build();
    let read = async {
        let first = ["1 run_started", "1 step_started 1", "1 text I look."];
        wait_for(&host.store, &first).await;
        permits.add_permits(1);
        hold.begun(1).await;
        wait_for(&host.store, &["1 run_started"]).await;
        hold.release(1);
        permits.add_permits(1);
    };
    let (outcome, ()) = futures::future::join(runtime.respond("chief", "Go.", &cx), read).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
}

/// A model that writes a text in pieces before two calls, and waits for a permit in each request.
#[derive(Clone)]
struct Calling(Arc<Semaphore>);

impl Model for Calling {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            let observer = request.cx.get::<ModelObserver>().unwrap();
            if request.step > 1 {
                self.0.acquire().await.unwrap().forget();
                return Ok(text("Seen."));
            }
            let piece = Delta::Text("I look.".to_owned());
            observer.call(&ModelEvent::Delta(&piece));
            self.0.acquire().await.unwrap().forget();
            let mut message = calls([("look", json!({})), ("slow", json!({}))]);
            "I look.".clone_into(&mut message.text);
            Ok(message)
        })
    }
}

// A long error and a long list of approvals are shortened, so that readers get the end of the run and the approvals that fit.
#[tokio::test]
async fn long_events_are_shortened() {
    let (host, log) = (Host::new(), Log::default());
    let failing = thinking("chief", &log, |_| Err(ToolError::new("x".repeat(100_000))));
    let runtime = host.runtime().events(host.store.clone());
    let runtime = runtime.agent(entry(failing)).build().unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap_err();
    let stored = rows(&host.store).await;
    assert_eq!(lines(&stored), ["1 run_started", "1 run_ended error"]);

    let store = MemoryStore::default();
    let approvals = Approvals::builder(store.clone()).most_open(300);
    let gate = Gate::builder().approvals(approvals.build().unwrap());
    let gate = gate.build();
    let host = Host { store, gate };
    let many = (0..300).map(|at| ToolCall::new(format!("call_{at}"), "send", "{}"));
    let many = agent("chief", &log, [ModelMessage::calls(many)]);
    let runtime = host.runtime().events(host.store.clone());
    let runtime = runtime.agent(entry(many.tools(|_| toolset![send])));
    let runtime = runtime.build().unwrap();
    // The conversation is a part of each approval.
    let cx = in_conversation(&"long".repeat(60));
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(&outcome, Outcome::Waiting(tickets) if tickets.len() == 300));
    let stored = host.store.thread_events(&cx.thread().unwrap(), 0, 9).await;
    let stored = stored.unwrap();
    let expected = ["1 run_started", "2 waiting send", "2 run_ended waiting"];
    assert_eq!(lines(&stored), expected);
    let waiting: AgentEvent = serde_json::from_str(&stored[1].body).unwrap();
    let AgentEventKind::Waiting { approvals } = waiting.kind else {
        panic!("{}", stored[1].body)
    };
    assert_eq!(approvals.len(), 150);
}

// If a run is dropped while its end is written, readers see one end.
#[tokio::test]
async fn end_of_a_dropped_run_is_stored_once() {
    let (host, log) = (Host::new(), Log::default());
    let replies = Arc::new(Semaphore::new(0));
    let mut failing = Failing::new(&host, |_| None);
    failing.replies = Some(replies.clone());
    let chief = entry(agent("chief", &log, [text("Done.")]));
    let runtime = host.runtime().events(failing).agent(chief).build().unwrap();
    let cx = context().build();
    // The store confirms the beginning of the run, and stores its end without a reply.
    replies.add_permits(1);
    let run = runtime.respond("chief", "Go.", &cx);
    let ended = wait_for(&host.store, &["1 run_started", "2 run_ended replied"]);
    tokio::select! {
        outcome = run => panic!("{outcome:?}"),
        () = ended => {}
    }
    replies.add_permits(9);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let expected = ["1 run_started", "2 run_ended replied"];
    assert_eq!(lines(&rows(&host.store).await), expected);
}
