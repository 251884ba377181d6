//! Turns: running and storing the calls of a model's message one by one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{
    MemoryStore, Message, NewMessage, Role, StoreError, StoreFuture, ThreadId, ThreadStore,
};
use tool_core::turn::{
    Model, ModelMessage, ModelRequest, Outcome, StoredMessage, Turn, TurnError, Turns,
};
use tool_core::{ErrorKind, Gate, Reply};

use crate::support::{Host, Mailbox, mail, thread};

/// The names of the tools that ran, the number of running tools, and the maximum number of tools that ran at once.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>, Arc<AtomicUsize>);
tool_core::host_value!(Log, tool_core::Effect::READ);

/// A host value that writes into the log.
#[derive(Clone)]
struct LogWriter(Log);
tool_core::host_value!(LogWriter, tool_core::Effect::WRITE);

impl Log {
    async fn run(&self, name: &str) {
        let now = self.1.fetch_add(1, Ordering::SeqCst) + 1;
        self.2.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.0.lock().unwrap().push(name.to_owned());
        self.1.fetch_sub(1, Ordering::SeqCst);
    }

    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn most(&self) -> usize {
        self.2.load(Ordering::SeqCst)
    }
}

/// Writes a name into the log.
#[tool]
async fn note(
    writer: &LogWriter,
    /// The name to write; `bad` fails.
    name: String,
) -> Result<String, ToolError> {
    writer.0.run(&name).await;
    if name == "bad" {
        Err(ToolError::new("that was bad"))
    } else {
        Ok(name)
    }
}

/// Reads a name.
#[tool(read_only)]
async fn glance(
    log: &Log,
    /// The name to read.
    name: String,
) -> String {
    log.run(&name).await;
    name
}

/// Reads the log, and never runs at the same time as other calls.
#[tool(read_only, sequential)]
async fn stare(log: &Log) -> u8 {
    log.run("stare").await;
    1
}

fn call(tool: &str, id: &str) -> ToolCall {
    ToolCall::new(id, tool, serde_json::json!({ "name": id }).to_string())
}

fn cx(log: &Log) -> ToolContext {
    cx_in("th-1", log)
}

fn cx_in(conversation: &str, log: &Log) -> ToolContext {
    ToolContext::builder()
        .conversation(conversation)
        .user("ann")
        .workspace("acme")
        .with(log.clone())
        .with(LogWriter(log.clone()))
        .build()
}

/// Stores a message and runs its calls.
async fn run(turns: &Turns, tools: &Toolset, message: ModelMessage, cx: &ToolContext) -> Turn {
    let message = record(turns, message, cx).await;
    turns.run(tools, &message, cx).await.unwrap()
}

async fn record(turns: &Turns, message: ModelMessage, cx: &ToolContext) -> StoredMessage {
    turns.record(message, cx).await.unwrap()
}

async fn read(store: &MemoryStore) -> Vec<Message> {
    ThreadStore::read(store, &thread("th-1"), None)
        .await
        .unwrap()
}

fn results(turn: Turn) -> Vec<(String, Option<String>)> {
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    results
        .into_iter()
        .map(|result| (result.text, result.error))
        .collect()
}

// S4-62, S4-64: calls run one after the other in the model's order; a failed call is stored and the next one runs.
#[tokio::test]
async fn calls_run_one_after_the_other_and_errors_are_messages() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let tools = toolset![note, glance, stare];
    let message = ModelMessage::calls([
        call("note", "a"),
        call("note", "bad"),
        call("glance", "c"),
        call("fly", "d"),
    ]);
    let turns = Turns::new(store.clone());
    let turn = run(&turns, &tools, message, &cx(&log)).await;
    let results = results(turn);
    let texts: Vec<_> = results.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["a", "that was bad", "c", "there is no tool `fly`"]);
    assert_eq!(results[1].1.as_deref(), Some("failed"));
    assert_eq!(
        (log.names(), log.most()),
        (vec!["a".into(), "bad".into(), "c".into()], 1)
    );
    let stored = read(&store).await;
    let answers: Vec<_> = stored
        .iter()
        .filter_map(|message| message.answers)
        .map(|call| (call.message, call.position))
        .collect();
    assert_eq!(
        answers,
        [(1, 0), (1, 1), (1, 2), (1, 3)],
        "errors are stored like any result"
    );
}

/// A store that fails one append, as if the process had died. The number is the count of appends before the failure.
#[derive(Clone)]
struct FailingThreads(MemoryStore, Arc<AtomicUsize>);

impl ThreadStore for FailingThreads {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            if self.1.fetch_sub(1, Ordering::SeqCst) == 0 {
                return Err(StoreError::Unavailable("gone".into()));
            }
            self.0.append(message).await
        })
    }
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        ThreadStore::read(&self.0, thread, after)
    }
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        ThreadStore::erase(&self.0, thread)
    }
}

// S4-63: each result is stored before the next call; a turn that is resumed after a crash runs nothing twice.
#[tokio::test]
async fn calls_with_stored_results_are_not_rerun() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let gate = Gate::builder().ledger(store.clone()).build();
    let tools = toolset![note].through(&gate);
    let message = ModelMessage::calls([call("note", "a"), call("note", "b"), call("note", "c")]);
    let message = record(&Turns::new(store.clone()), message, &cx(&log)).await;
    let threads = FailingThreads(store.clone(), Arc::new(AtomicUsize::new(1)));
    let dying = Turns::shared(Arc::new(threads), Arc::new(store.clone()));
    let error = dying.run(&tools, &message, &cx(&log)).await.unwrap_err();
    assert!(matches!(error, TurnError::Store(_)), "{error}");
    assert_eq!(
        log.names(),
        ["a", "b"],
        "the second call ran, and its result could not be stored"
    );

    let turn = Turns::new(store)
        .run(&tools, &message, &cx(&log))
        .await
        .unwrap();
    assert_eq!(results(turn).len(), 3);
    assert_eq!(
        log.names(),
        ["a", "b", "c"],
        "the first result came from the thread, and the second from the ledger"
    );
}

#[tokio::test]
async fn only_reads_run_in_parallel_and_only_if_enabled() {
    let calls = || {
        ModelMessage::calls([
            call("glance", "a"),
            call("glance", "b"),
            call("stare", "c"),
            call("note", "d"),
            call("glance", "e"),
        ])
    };
    for (most, expected) in [(1, 1), (4, 2)] {
        let log = Log::default();
        let turns = Turns::new(MemoryStore::default()).parallel(most);
        let mut calls = calls();
        calls.calls[2].arguments = "{}".to_owned();
        let tools = toolset![note, glance, stare];
        let turn = run(&turns, &tools, calls, &cx(&log)).await;
        let texts: Vec<_> = results(turn).into_iter().map(|(text, _)| text).collect();
        assert_eq!(
            texts,
            ["a", "b", "1", "d", "e"],
            "the results are in the model's order"
        );
        assert_eq!(log.most(), expected);
    }
}

// S4-62: calls run one after the other, even if they only read, unless the host allows parallel calls (F4)
#[tokio::test]
async fn calls_run_sequentially_by_default() {
    let log = Log::default();
    let turns = Turns::new(MemoryStore::default());
    let calls = ModelMessage::calls(["a", "b", "c"].map(|name| call("glance", name)));
    let turn = run(&turns, &toolset![glance], calls, &cx(&log)).await;
    assert_eq!(results(turn).len(), 3);
    assert_eq!(
        (log.names(), log.most()),
        (["a", "b", "c"].map(str::to_owned).to_vec(), 1)
    );
}

#[tokio::test]
async fn calls_of_a_truncated_message_do_not_run() {
    let log = Log::default();
    let message = ModelMessage {
        truncated: true,
        ..ModelMessage::calls([call("note", "a")])
    };
    let turns = Turns::new(MemoryStore::default());
    let turn = run(&turns, &toolset![note], message, &cx(&log)).await;
    assert!(results(turn)[0].0.contains("cut off"));
    assert!(log.names().is_empty());
}

// S4-65: unknown, provider-run and stopped calls get error results.
#[tokio::test]
async fn uncallable_calls_get_error_results() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&seen);
    let turns = Turns::new(store).observe(move |message| {
        recorded
            .lock()
            .unwrap()
            .push((message.id.clone(), message.is_error()));
    });
    let token = tool_core::CancellationToken::new();
    let message = ModelMessage {
        provider_tools: vec!["web_search".to_owned()],
        ..ModelMessage::calls([
            call("web_search", "a"),
            call("nowhere", "b"),
            call("note", "c"),
        ])
    };
    let turn = run(&turns, &toolset![note], message, &cx(&log)).await;
    let texts = results(turn);
    assert!(texts[0].0.contains("the provider runs this tool itself"));
    assert!(texts[1].0.contains("there is no tool `nowhere`"));
    assert_eq!(
        *seen.lock().unwrap(),
        [
            ("a".to_owned(), true),
            ("b".to_owned(), true),
            ("c".to_owned(), false)
        ]
    );

    // A turn that is stopped stores `cancelled` results for its calls without running them.
    token.cancel();
    let stopped = ToolContext::builder()
        .conversation("th-1")
        .cancellation(token)
        .with(log.clone())
        .with(LogWriter(log.clone()))
        .build();
    let message = ModelMessage::calls([call("note", "d"), call("note", "e")]);
    let turn = run(&turns, &toolset![note], message, &stopped).await;
    assert!(
        results(turn)
            .iter()
            .all(|(_, error)| error.as_deref() == Some("cancelled"))
    );
    assert_eq!(log.names(), ["c"]);
}

#[tokio::test]
async fn turn_without_a_conversation_is_an_error() {
    let (turns, nobody) = (Turns::new(MemoryStore::default()), ToolContext::anonymous());
    let message = record(&turns, ModelMessage::default(), &cx(&Log::default())).await;
    let errors = [
        turns.run(&toolset![note], &message, &nobody).await.err(),
        turns.record(ModelMessage::default(), &nobody).await.err(),
        turns.say("Hello", &nobody).await.err(),
    ];
    for error in errors {
        let error = error.unwrap().to_string();
        assert!(
            error.contains("`ToolContext::builder().conversation(…)`"),
            "{error}"
        );
    }
}

// S2-14, S2-15: with `relaxed_order`, a turn waits for the answers of all approvals, and runs its other calls in the meantime.
#[tokio::test]
async fn turn_waits_for_all_answers_and_runs_other_calls() {
    let host = Host::new();
    let turns = Turns::new(host.store.clone()).relaxed_order();
    let cx = || {
        ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(host.mailbox.clone())
            .build()
    };
    let message = ModelMessage::calls([
        mail("c-1"),
        ToolCall::new("c-2", "count", r#"{"from":5}"#),
        mail("c-3"),
    ]);
    let message = record(&turns, message, &cx()).await;
    let Turn::Waiting(tickets) = turns.run(&host.tools, &message, &cx()).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        tickets
            .iter()
            .map(|ticket| ticket.call.as_str())
            .collect::<Vec<_>>(),
        ["c-1", "c-3"]
    );
    assert_eq!(read(&host.store).await.len(), 2);

    host.approve(&tickets[0]).await;
    let Turn::Waiting(left) = turns.run(&host.tools, &message, &cx()).await.unwrap() else {
        panic!()
    };
    assert_eq!(left.len(), 1, "one approval is still unanswered");
    let acme = "acme".into();
    let answer = host.approvals().answer(
        &acme,
        &host.tools,
        &tickets[1].token,
        Reply::Deny,
        "boss",
        Some("enough"),
    );
    answer.await.unwrap();
    let texts: Vec<_> = results(turns.run(&host.tools, &message, &cx()).await.unwrap())
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    assert_eq!(
        texts,
        ["sent to bob", "5", "a person has denied the call: enough"]
    );
    assert_eq!(host.mailbox.sent(), 1);
}

/// A model that returns scripted messages, and then a call of `note` forever. It records the number of messages of each request.
struct Script(Vec<ModelMessage>, Vec<usize>);

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.1.push(request.messages.len());
        let message = if self.0.is_empty() {
            ModelMessage::calls([call("note", &format!("again-{}", request.step))])
        } else {
            self.0.remove(0)
        };
        Box::pin(std::future::ready(Ok(message)))
    }
}

// S0-24: a failed call is returned to the model as a message, and the run completes.
#[tokio::test]
async fn failed_call_is_sent_to_the_model_and_the_run_completes() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let mut model = Script(
        vec![
            ModelMessage::calls([call("note", "bad")]),
            ModelMessage::calls([call("note", "good")]),
            ModelMessage::text("done"),
        ],
        Vec::new(),
    );
    let turns = Turns::new(store.clone());
    let outcome = turns
        .drive(&mut model, |_| toolset![note], &cx(&log))
        .await
        .unwrap();
    assert!(
        matches!(&outcome, Outcome::Answered(text) if text == "done"),
        "{outcome:?}"
    );
    assert_eq!(
        model.1,
        [0, 2, 4],
        "each result was stored before the next request to the model"
    );
    let roles: Vec<_> = read(&store)
        .await
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(
        roles,
        [
            Role::Assistant,
            Role::Tool,
            Role::Assistant,
            Role::Tool,
            Role::Assistant
        ]
    );
    // Driving a completed run does not call the model.
    let mut silent = Script(Vec::new(), Vec::new());
    let outcome = turns
        .drive(&mut silent, |_| toolset![note], &cx(&log))
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)) && silent.1.is_empty());
}

// S1-100: a run stops after fifteen messages of the model, or after the number that the host has set.
#[tokio::test]
async fn run_stops_after_fifteen_steps() {
    let log = Log::default();
    let mut model = Script(Vec::new(), Vec::new());
    let turns = Turns::new(MemoryStore::default());
    let outcome = turns
        .drive(&mut model, |_| toolset![note], &cx(&log))
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::StepLimit));
    assert_eq!((model.1.len(), log.names().len()), (15, 15));
    let mut short = Script(Vec::new(), Vec::new());
    let sub = cx_in("th-2", &log);
    turns
        .most_steps(10)
        .drive(&mut short, |_| toolset![note], &sub)
        .await
        .unwrap();
    assert_eq!(short.1.len(), 10);
}

/// Sends a message to the user.
#[tool]
async fn answer_user(mailbox: &Mailbox) -> Sent {
    mailbox.send();
    Sent {
        reply_handled: true,
        reply_text: Some("on its way".to_owned()),
    }
}

/// The message that was sent.
#[derive(Debug, Serialize, StrictSchema)]
#[serde(rename_all = "camelCase")]
struct Sent {
    /// The user has been answered.
    reply_handled: bool,
    /// The text of the reply.
    reply_text: Option<String>,
}

/// Sends a message to the user.
#[tool]
async fn answer_in_snake_case(mailbox: &Mailbox) -> SentInSnakeCase {
    mailbox.send();
    SentInSnakeCase {
        reply_handled: true,
        reply_text: Some("on its way".to_owned()),
    }
}

/// The message that was sent, with the keys of the fields.
#[derive(Debug, Serialize, StrictSchema)]
struct SentInSnakeCase {
    /// The user has been answered.
    reply_handled: bool,
    /// The text of the reply.
    reply_text: Option<String>,
}

// S1-101: a tool can answer the user in place of the model. The model is then not called again. The keys of the tool's output are in camel case or in
// snake case.
#[tokio::test]
async fn tool_can_answer_the_user_in_place_of_the_model() {
    for tool in ["answer_user", "answer_in_snake_case"] {
        let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
        let mut model = Script(
            vec![
                ModelMessage::calls([ToolCall::new("c-1", tool, "{}")]),
                ModelMessage::text("twice"),
            ],
            Vec::new(),
        );
        let cx = ToolContext::builder()
            .workspace("acme")
            .conversation("th-1")
            .with(mailbox.clone())
            .build();
        let turns = Turns::new(store.clone());
        let tools = |_: &ToolContext| toolset![answer_user, answer_in_snake_case];
        let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
        assert!(
            matches!(&outcome, Outcome::Replied(text) if text == "on its way"),
            "{tool}: {outcome:?}"
        );
        assert_eq!((model.1.len(), mailbox.sent()), (1, 1));
        let last = read(&store).await.pop().unwrap();
        assert!(last.role == Role::Assistant && last.content.contains("on its way"));
    }
}

// S1-03: a change of rules between two steps affects only the second step.
#[tokio::test]
async fn rules_may_change_between_two_steps() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool::<note>()
        .tool::<glance>()
        .build()
        .unwrap();
    let steps = AtomicUsize::new(0);
    let mut model = Script(
        vec![
            ModelMessage::calls([call("glance", "a")]),
            ModelMessage::calls([call("glance", "b")]),
            ModelMessage::text("done"),
        ],
        Vec::new(),
    );
    let tools = |cx: &ToolContext| {
        // The rules are read twice per step: before the model is called, and before its calls run.
        let rules = if steps.fetch_add(1, Ordering::SeqCst) < 2 {
            tool_core::Rules::default()
        } else {
            tool_core::Rules::default().deny(["glance"])
        };
        registry.toolset(cx, &rules)
    };
    Turns::new(MemoryStore::default())
        .drive(&mut model, tools, &cx(&log))
        .await
        .unwrap();
    assert_eq!(log.names(), ["a"]);
}

/// Counts to a number.
#[tool(read_only)]
fn count_to(
    /// The number to count to.
    number: u8,
) -> ToolStream<u8, u8> {
    tool_stream! {
        for step in 1..number {
            yield step;
        }
        number
    }
}

// S2-21: the client gets progress; the model reads only the final value.
#[tokio::test]
async fn progress_is_reported_and_not_stored() {
    let (store, reported) = (MemoryStore::default(), Arc::new(Mutex::new(Vec::new())));
    let steps = Arc::clone(&reported);
    let turns = Turns::new(store.clone()).progress(move |call, step| {
        steps.lock().unwrap().push(format!("{} {step}", call.id));
    });
    let gate = Gate::builder().ledger(store.clone()).build();
    let message = ModelMessage::calls([ToolCall::new("a", "count_to", r#"{"number":3}"#)]);
    for tools in [toolset![count_to], toolset![count_to].through(&gate)] {
        let turn = run(&turns, &tools, message.clone(), &cx(&Log::default())).await;
        let results = results(turn);
        assert_eq!(results, [("3".to_owned(), None)]);
    }
    assert_eq!(*reported.lock().unwrap(), ["a 1", "a 2", "a 1", "a 2"]);
    assert_eq!(
        read(&store).await.len(),
        4,
        "two messages of the model and two results"
    );
}

/// Returns the region.
#[tool(read_only)]
fn place(#[variable("REGION")] region: String) -> String {
    region
}

// S4-14: a turn that lacks a required variable stops until the variable is set.
#[tokio::test]
async fn turn_stops_until_a_missing_variable_is_set() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let turns = Turns::new(store.clone());
    let message = ModelMessage::calls([ToolCall::new("c-1", "place", "{}"), call("note", "a")]);
    let tools = toolset![place, note];
    let message = record(&turns, message, &cx(&log)).await;
    let turn = turns.run(&tools, &message, &cx(&log)).await.unwrap();
    let Turn::Lacking(needs) = turn else {
        panic!("{turn:?}")
    };
    assert_eq!(needs[0].name, "REGION");
    assert_eq!(
        read(&store).await.len(),
        1,
        "the call that waits has no stored result, and the next call does not run"
    );

    let supplied = ToolContext::builder()
        .workspace("acme")
        .conversation("th-1")
        .variable("REGION", "Jura")
        .with(log.clone())
        .with(LogWriter(log.clone()));
    let turn = turns
        .run(&tools, &message, &supplied.build())
        .await
        .unwrap();
    let texts: Vec<_> = results(turn).into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, ["Jura", "a"]);
    assert_eq!(
        log.names(),
        ["a"],
        "the second call ran once, after the variable was set"
    );
}

#[tokio::test]
async fn draining_host_leaves_calls_open_for_the_next_one() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let turns = Turns::new(store.clone());
    let message = ModelMessage::calls([call("note", "a"), call("note", "b")]);
    let gate = Gate::builder().ledger(store.clone()).build();
    let message = record(&turns, message, &cx(&log)).await;
    gate.drain(Duration::from_millis(1)).await;
    let closed = toolset![note].through(&gate);
    let turn = turns.run(&closed, &message, &cx(&log)).await.unwrap();
    assert!(matches!(turn, Turn::Draining), "{turn:?}");
    assert!(read(&store).await.len() == 1 && log.names().is_empty());

    let next = Gate::builder().ledger(store.clone()).build();
    let turn = turns
        .run(&toolset![note].through(&next), &message, &cx(&log))
        .await
        .unwrap();
    assert_eq!(results(turn).len(), 2);
    assert_eq!(log.names(), ["a", "b"]);
}

// A panic of the host's observer or progress listener neither unwinds out of a turn nor leaves its calls open
#[tokio::test]
async fn observer_panic_does_not_end_the_turn() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let turns = Turns::new(store.clone())
        .observe(|_| panic!("the observer is out of order"))
        .progress(|_, _| panic!("the listener is out of order"));
    let count = ToolCall::new("a", "count_to", r#"{"number":3}"#);
    let message = ModelMessage::calls([count, call("note", "b")]);
    let turn = run(&turns, &toolset![note, count_to], message, &cx(&log)).await;
    assert_eq!(
        results(turn),
        [("3".to_owned(), None), ("b".to_owned(), None)]
    );
    assert_eq!(read(&store).await.len(), 3);
}

/// Waits for a time in its first call.
#[tool(idempotent)]
async fn later(writer: &LogWriter) -> Result<String, ToolError> {
    let is_first = !writer.0.names().contains(&"later".to_owned());
    writer.0.run("later").await;
    if is_first {
        let error = ToolError::of(ErrorKind::Pending, "not yet").operator("a limit");
        return Err(error.retry_after(Duration::from_secs(90)));
    }
    Ok("now".to_owned())
}

/// A model that replies with these messages, in order.
struct Replies(Vec<Result<ModelMessage, ToolError>>);

impl Model for Replies {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let reply = self.0.remove(0);
        Box::pin(async move { reply })
    }
}

// A call that waits for a time ends the run: it stays open, no call after it runs, and the next drive continues with it. A model suspends its run,
// too.
#[tokio::test]
async fn call_or_model_that_waits_for_a_time_suspends_the_run() {
    use tool_core::store::{RunCause, RunFilter, RunStore as _, Scope};
    let (store, log) = (MemoryStore::default(), Log::default());
    let gate = Gate::builder().ledger(store.clone()).build();
    let turns = Turns::new(store.clone());
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("later")
        .with(LogWriter(log.clone()))
        .build();
    let call = |id: &str, name: &str, arguments: &str| ToolCall::new(id, name, arguments);
    let calls = [
        call("c-1", "note", r#"{"name":"before"}"#),
        call("c-2", "later", "{}"),
        call("c-3", "note", r#"{"name":"after"}"#),
    ];
    let limited = ToolError::of(ErrorKind::Pending, "limited").retry_after(Duration::from_mins(1));
    let mut model = Replies(vec![
        Err(limited),
        Ok(ModelMessage::calls(calls)),
        Ok(ModelMessage::text("Done.")),
    ]);
    let tools = |_: &ToolContext| toolset![note, later].through(&gate);
    turns.say("Go.", &cx).await.unwrap();

    let error = turns.drive(&mut model, tools, &cx).await.unwrap_err();
    assert!(matches!(error, TurnError::Model(_)), "{error}");
    assert_eq!(error.resumes_after(), Some(Duration::from_mins(1)));

    let error = turns.drive(&mut model, tools, &cx).await.unwrap_err();
    assert!(matches!(error, TurnError::Suspended { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "a call waits: not yet (try again after 90 s): a limit"
    );
    assert_eq!(error.resumes_after(), Some(Duration::from_secs(90)));
    assert_eq!(log.names(), ["before", "later"]);

    let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    assert_eq!(log.names(), ["before", "later", "later", "after"]);
    let messages = turns.messages(&cx, None).await.unwrap();
    let results = messages.iter().filter(|it| it.role == Role::Tool);
    assert_eq!(results.count(), 3);
    let runs = store.list_runs(Scope::All, &RunFilter::default()).await;
    let mut causes: Vec<_> = runs.unwrap().into_iter().map(|run| run.cause).collect();
    causes.sort_by_key(|cause| *cause == Some(RunCause::Replied));
    let waiting = Some(RunCause::Waiting);
    assert_eq!(causes, [waiting, waiting, Some(RunCause::Replied)]);
}
