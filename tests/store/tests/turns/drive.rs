//! Runs of `Turns`: leases, stopping, interruption, and their stored rows.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{
    Begun, DuringRun, Model, ModelMessage, ModelRequest, Outcome, Turn, TurnError, Turns,
};
use tool_core::{Approvals, Audit, CancellationToken, Gate, KeyRing, Reply, Toolset};

use crate::each_store;
use crate::{acme, thread};

trait Both: ThreadStore + RunStore + EffectLedger + ApprovalStore + AuditSink + Clone {}
impl<T: ThreadStore + RunStore + EffectLedger + ApprovalStore + AuditSink + Clone> Both for T {}

/// Counts the work of tools, and blocks the slow tools until a test unblocks them.
#[derive(Clone, Default)]
struct WorkLog {
    done: Arc<AtomicUsize>,
    began: Arc<Notify>,
    go: Arc<Notify>,
}
tool_core::host_value!(WorkLog, tool_core::Effect::WRITE);

/// The work log of tools that only read.
#[derive(Clone)]
struct View(WorkLog);
tool_core::host_value!(View, tool_core::Effect::READ);

impl WorkLog {
    fn done(&self) -> usize {
        self.done.load(Ordering::SeqCst)
    }

    async fn work(&self) -> u32 {
        self.began.notify_one();
        self.go.notified().await;
        self.done.fetch_add(1, Ordering::SeqCst);
        1
    }
}

/// Writes when the test allows it.
#[tool]
async fn slow(work_log: &WorkLog) -> u32 {
    work_log.work().await
}

/// Reads when the test allows it.
#[tool(read_only)]
async fn slow_read(view: &View) -> u32 {
    view.0.work().await
}

/// Writes without waiting for the test.
#[tool]
async fn quick(work_log: &WorkLog) -> u32 {
    work_log.done.fetch_add(1, Ordering::SeqCst);
    1
}

/// Writes, and needs an approval.
#[tool(approval)]
async fn asked(work_log: &WorkLog) -> u32 {
    work_log.done.fetch_add(1, Ordering::SeqCst);
    1
}

fn tools() -> Toolset {
    tool_core::toolset![slow, slow_read, quick, asked]
}

fn gate(store: &impl Both, wait: Duration, most_open: u32) -> Gate {
    let keys = KeyRing::new("k", *b"thirty-two bytes of randomness!!").unwrap();
    let approvals = Approvals::builder(store.clone()).keys(keys).wait(wait);
    let approvals = approvals.most_open(most_open).build().unwrap();
    Gate::builder()
        .approvals(approvals)
        .ledger(store.clone())
        .build()
}

async fn through(turns: &Turns, gate: &Gate, model: &Script, cx: &ToolContext) -> Outcome {
    let mut model = model.clone();
    let tools = |_: &ToolContext| tools().through(gate);
    turns.drive(&mut model, tools, cx).await.unwrap()
}

/// Returns the ids of the approvals that an outcome waits for.
#[track_caller]
fn ids(outcome: Outcome) -> Vec<String> {
    let Outcome::Waiting(tickets) = outcome else {
        panic!("{outcome:?}")
    };
    tickets.into_iter().map(|ticket| ticket.id).collect()
}

async fn approve(gate: &Gate, id: &str) {
    let (approvals, tools) = (gate.approvals().unwrap(), tools());
    let workspace = acme();
    let answer = approvals.answer_id(&workspace, &tools, id, Reply::Approve, "boss", None);
    answer.await.unwrap();
}

fn builder(work_log: &WorkLog) -> tool_core::ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .agent("clerk")
        .conversation("t")
        .with(work_log.clone())
        .with(View(work_log.clone()))
}

fn cx(work_log: &WorkLog) -> ToolContext {
    builder(work_log).build()
}

fn calls(names: &[&str]) -> ModelMessage {
    let calls = (0..).zip(names);
    ModelMessage::calls(calls.map(|(id, name)| ToolCall::new(format!("c{id}"), *name, "{}")))
}

/// A model that returns its scripted messages, and then never answers.
#[derive(Clone, Default)]
struct Script {
    says: Arc<Mutex<Vec<ModelMessage>>>,
    asked: Arc<AtomicUsize>,
    hangs: Arc<Notify>,
}

impl Script {
    fn new(says: impl IntoIterator<Item = ModelMessage>) -> Self {
        let says = Arc::new(Mutex::new(says.into_iter().collect()));
        Self {
            says,
            ..Self::default()
        }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        assert_eq!(request.cx.user(), Some("ann"));
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut says = self.says.lock().unwrap();
        if says.is_empty() {
            self.hangs.notify_one();
            return Box::pin(pending());
        }
        let says = says.remove(0);
        Box::pin(async { Ok(says) })
    }
}

async fn drive(turns: &Turns, model: &Script, cx: &ToolContext) -> Outcome {
    let mut model = model.clone();
    turns.drive(&mut model, |_| tools(), cx).await.unwrap()
}

/// Drives a run in the background.
fn start(turns: &Turns, model: &Script, cx: &ToolContext) -> tokio::task::JoinHandle<Outcome> {
    let (turns, model, cx) = (turns.clone(), model.clone(), cx.clone());
    tokio::spawn(async move { drive(&turns, &model, &cx).await })
}

fn turns(store: &impl Both) -> Turns {
    Turns::new(store.clone()).lease(Duration::from_millis(150))
}

async fn rows(turns: &Turns) -> Vec<RunRow> {
    turns.runs(&acme(), &RunFilter::default()).await.unwrap()
}

async fn causes(turns: &Turns) -> Vec<Option<RunCause>> {
    rows(turns).await.into_iter().map(|row| row.cause).collect()
}

/// Returns the texts of the results in the thread.
async fn results(store: &impl ThreadStore) -> Vec<String> {
    let messages = ThreadStore::read(store, &thread("t"), None).await.unwrap();
    let results = messages.into_iter().filter(|of| of.role == Role::Tool);
    results.map(|of| of.content).collect()
}

fn answered_text(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Answered(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Creates the run of a dead host whose clock was an hour ahead.
async fn ahead(store: &impl Both) -> RunRow {
    let now = Timestamp::now();
    let new = NewRun {
        thread: thread("t"),
        principal: Some("ann".to_owned()),
        agent: None,
        owner: "dead".to_owned(),
        at: now,
        lease_until: now.plus(Duration::from_hours(1)),
    };
    match store.begin_run(new).await.unwrap() {
        RunBegun::Begun(row) => *row,
        RunBegun::Busy(row) => panic!("{row:?}"),
    }
}

/// Lets a different driver take over the run of the thread `t`, after the lease of its driver.
async fn take_over(store: &impl Both) -> RunRow {
    take_over_thread(store, thread("t")).await
}

async fn take_over_thread(store: &impl Both, thread: ThreadId) -> RunRow {
    let later = Timestamp::now().plus(Duration::from_mins(1));
    let new = NewRun {
        thread,
        principal: None,
        agent: None,
        owner: "other".to_owned(),
        at: later,
        lease_until: later.plus(Duration::from_mins(1)),
    };
    match store.begin_run(new).await.unwrap() {
        RunBegun::Begun(row) if row.attempt == 2 => *row,
        other => panic!("the run was not taken over: {other:?}"),
    }
}

/// A sink that panics on every write.
struct PanickingSink;

impl AuditSink for PanickingSink {
    fn write(&self, _: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        Box::pin(async { panic!("the sink panics") })
    }
    fn export<'a>(&'a self, _: Scope<'a>, _: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn erase<'a>(&'a self, _: &'a Workspace, _: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async { Ok(0) })
    }
    fn retain<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(async { Ok(0) })
    }
}

each_store! {
    // While a run of a thread is driven, a second drive makes neither calls nor model requests
    #[test]
    async fn a_second_drive_is_busy(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let cx = cx(&work_log);
        turns.say("Hello.", &cx).await.unwrap();
        let used = Usage { input_tokens: 10, output_tokens: 2, cache_read_tokens: Some(4), ..Usage::default() };
        let calling = ModelMessage { usage: Some(used), ..calls(&["slow"]) };
        let first = Script::new([calling, ModelMessage::text("done")]);
        let running = start(&turns, &first, &cx);
        work_log.began.notified().await;
        let second = Script::new([ModelMessage::text("twice")]);
        // The lease is renewed while the tool runs.
        for _ in 0..4 {
            let busy = drive(&turns, &second, &cx).await;
            assert!(matches!(&busy, Outcome::Busy(id) if id.number() == 1), "{busy:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let message = turns.last(&cx).await.unwrap().unwrap();
        let busy = turns.run(&tools(), &message, &cx).await.unwrap();
        assert!(matches!(busy, Turn::Busy(_)), "{busy:?}");
        let row = rows(&turns).await.remove(0);
        assert_eq!((row.state, row.principal.as_deref(), row.agent.as_deref()), (RunState::Running, Some("ann"), Some("clerk")));
        work_log.go.notify_one();
        assert_eq!(answered_text(&running.await.unwrap()), "done");
        assert_eq!((second.asked(), work_log.done()), (0, 1));

        let row = turns.run_row(&row.id).await.unwrap().unwrap();
        assert_eq!((row.state, row.cause), (RunState::Ended, Some(RunCause::Replied)));
        assert_eq!(row.progress, RunProgress { steps: 2, usage: used, unmeasured: 1 });
        assert!(row.ended >= Some(row.started));
        // No message is left to answer, so no new run begins.
        assert_eq!(answered_text(&drive(&turns, &second, &cx).await), "done");
        assert_eq!(rows(&turns).await.len(), 1);
    }

    // The lease is renewed during a long model request, and runs of other workspaces are not affected
    #[test]
    async fn a_long_model_request_keeps_its_run(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let model = Script::default();
        let running = start(&turns, &model, &cx(&work_log));
        model.hangs.notified().await;
        tokio::time::sleep(Duration::from_millis(400)).await;
        let busy = drive(&turns, &Script::default(), &cx(&work_log)).await;
        assert!(matches!(busy, Outcome::Busy(_)), "{busy:?}");
        let globex = ToolContext::builder().workspace("globex").user("ann").conversation("t").build();
        assert_eq!(answered_text(&drive(&turns, &Script::new([ModelMessage::text("ours")]), &globex).await), "ours");
        assert_eq!(turns.runs(&Workspace::new("globex"), &RunFilter::default()).await.unwrap().len(), 1);
        running.abort();
    }

    // Dropping a drive ends its run at once, so that other drivers do not wait for the lease
    #[test]
    async fn a_dropped_drive_frees_its_run(store: impl Both) {
        let (turns, work_log) = (Turns::new(store.clone()), WorkLog::default());
        let model = Script::default();
        let running = start(&turns, &model, &cx(&work_log));
        model.hangs.notified().await;
        running.abort();
        assert!(running.await.is_err());
        let next = Script::new([ModelMessage::text("here")]);
        let outcome = loop {
            match drive(&turns, &next, &cx(&work_log)).await {
                Outcome::Busy(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                outcome => break outcome,
            }
        };
        assert_eq!(answered_text(&outcome), "here");
        assert_eq!(causes(&turns).await, [Some(RunCause::Replied), Some(RunCause::Cancelled)]);
    }

    // The run of a dead process is taken over, and a driver that lost its run stops
    #[test]
    async fn driver_that_lost_its_run_makes_no_more_calls(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let cx = cx(&work_log);
        let lapsed = |at: Timestamp| NewRun {
            thread: thread("t"), principal: None, agent: None, owner: "dead".to_owned(), at, lease_until: at,
        };
        let RunBegun::Begun(dead) = store.begin_run(lapsed(Timestamp::now())).await.unwrap() else { panic!() };
        let first = Script::new([calls(&["slow", "quick"])]);
        let running = start(&turns, &first, &cx);
        work_log.began.notified().await;
        let row = turns.run_row(&dead.id).await.unwrap().unwrap();
        assert_eq!((row.attempt, row.state), (2, RunState::Running));
        // A different host, whose clock is an hour ahead, takes over the run.
        let later = Timestamp::now().plus(Duration::from_hours(1));
        let taken = NewRun { lease_until: later.plus(Duration::from_mins(1)), owner: "ahead".to_owned(), ..lapsed(later) };
        assert!(matches!(store.begin_run(taken).await.unwrap(), RunBegun::Begun(_)));
        work_log.go.notify_one();
        let lost = running.await.unwrap();
        assert!(matches!(&lost, Outcome::Busy(id) if *id == dead.id), "{lost:?}");
        assert_eq!((work_log.done(), first.asked()), (1, 1), "neither the second call nor a second model request was made");
        assert_eq!(turns.run_row(&dead.id).await.unwrap().unwrap().owner, "ahead");
    }

    // A run whose host died while its clock was ahead is cancelled when its lease is not renewed in time
    #[test]
    async fn run_with_a_future_lease_is_cancelled_if_not_renewed(store: impl Both) {
        let (work_log, turns) = (WorkLog::default(), turns(&store));
        let dead = ahead(&store).await;
        let model = Script::new([ModelMessage::text("hello")]);
        turns.say("hi", &cx(&work_log)).await.unwrap();
        let busy = drive(&turns, &model, &cx(&work_log)).await;
        assert!(matches!(busy, Outcome::Busy(ref id) if *id == dead.id), "{busy:?}");
        // A living driver would renew its lease within this time.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let outcome = drive(&turns, &model, &cx(&work_log)).await;
        assert!(matches!(outcome, Outcome::Answered(ref text) if text == "hello"), "{outcome:?}");
        assert_eq!(causes(&turns).await, [Some(RunCause::Replied), Some(RunCause::Cancelled)]);
    }

    // A driver whose clock is ahead keeps its run as long as it renews the lease
    #[test]
    async fn run_with_a_lease_in_the_future_is_kept_while_it_is_renewed(store: impl Both) {
        let (work_log, turns) = (WorkLog::default(), turns(&store));
        let mut alive = ahead(&store).await;
        for _ in 0..3 {
            let busy = drive(&turns, &Script::default(), &cx(&work_log)).await;
            assert!(matches!(busy, Outcome::Busy(_)), "{busy:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
            let until = alive.lease_until.plus(Duration::from_millis(200));
            let renewed = store.renew_run(&alive.id, &alive.owner, until, alive.progress).await;
            alive = renewed.unwrap().unwrap();
        }
        let busy = drive(&turns, &Script::default(), &cx(&work_log)).await;
        assert!(matches!(busy, Outcome::Busy(_)), "{busy:?}");
        assert_eq!(causes(&turns).await, [None]);
    }

    // An operator ends the run of a dead host, and the audit records it
    #[test]
    async fn operator_ends_a_run_whatever_its_lease(store: impl Both) {
        let (work_log, turns) = (WorkLog::default(), turns(&store));
        let dead = ahead(&store).await;
        let audit = Audit::required(store.clone());
        let forced = turns.force(&dead.id, &audit, "olga", "the host is gone").await;
        let forced = forced.unwrap().unwrap();
        assert_eq!((forced.state, forced.cause), (RunState::Ended, Some(RunCause::Cancelled)));
        let again = turns.force(&dead.id, &audit, "otto", "twice").await.unwrap();
        assert_eq!(again, Some(forced));
        let rows = store.export(Scope::All, &AuditFilter::default()).await.unwrap();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.principal.as_deref(), row.thread.as_deref()), (Some("olga"), Some("t")));
        assert_eq!(row.notes[0].action, "run.force");
        assert!(row.notes[0].details.contains("the host is gone"), "{row:?}");

        let model = Script::new([ModelMessage::text("hello")]);
        turns.say("hi", &cx(&work_log)).await.unwrap();
        let outcome = drive(&turns, &model, &cx(&work_log)).await;
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
        let unknown = RunId::new(thread("elsewhere"), 1);
        assert_eq!(turns.force(&unknown, &audit, "olga", "why").await.unwrap(), None);
    }

    // If the audit is required and cannot be written, no run is ended by force
    #[test]
    async fn run_is_not_ended_by_force_if_the_audit_fails(store: impl Both) {
        let (turns, dead) = (turns(&store), ahead(&store).await);
        let audit = Audit::required(PanickingSink);
        let forced = turns.force(&dead.id, &audit, "olga", "the host is gone").await;
        assert!(matches!(forced, Err(TurnError::Store(_))), "{forced:?}");
        assert_eq!(causes(&turns).await, [None]);
    }

    // A model request ends when its run is lost
    #[test]
    async fn a_model_request_of_a_lost_run_is_dropped(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let model = Script::default();
        let running = start(&turns, &model, &cx(&work_log));
        model.hangs.notified().await;
        let id = rows(&turns).await.remove(0).id;
        let row = turns.run_row(&id).await.unwrap().unwrap();
        let end = RunEnd { cause: RunCause::Failed, at: Timestamp::now(), progress: row.progress };
        assert!(store.end_run(&id, &row.owner, end).await.unwrap());
        let lost = running.await.unwrap();
        assert!(matches!(lost, Outcome::Busy(_)), "{lost:?}");
    }

    // `cancel` ends a run during a model request, through the `Turns` that drives the run and through a different one. For an unknown run it returns
    // `None`
    #[test]
    async fn cancel_ends_a_model_request(store: impl Both) {
        for elsewhere in [true, false] {
            let (turns, work_log) = (turns(&store), WorkLog::default());
            let model = Script::default();
            let running = start(&turns, &model, &cx(&work_log));
            model.hangs.notified().await;
            let id = rows(&turns).await.remove(0).id;
            let other = if elsewhere { self::turns(&store) } else { turns.clone() };
            let row = other.cancel(&id).await.unwrap().unwrap();
            assert_eq!((row.state, row.stop), (RunState::Running, Some(RunStop::Cancel)));
            let outcome = running.await.unwrap();
            assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
            let row = turns.run_row(&id).await.unwrap().unwrap();
            assert_eq!((row.state, row.cause), (RunState::Ended, Some(RunCause::Cancelled)));
        }
        let turns = turns(&store);
        assert_eq!(turns.cancel(&RunId::new(ThreadId::new("globex", "t").unwrap(), 1)).await.unwrap(), None);
    }

    // Cancelling a run cancels its calls, and the results of the remaining calls report the cancellation
    #[test]
    async fn cancel_ends_calls_and_answers_the_open_ones(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let token = CancellationToken::new();
        let cx = builder(&work_log).cancellation(token.clone()).build();
        let model = Script::new([calls(&["slow", "quick"])]);
        let running = start(&turns, &model, &cx);
        work_log.began.notified().await;
        let id = rows(&turns).await.remove(0).id;
        self::turns(&store).cancel(&id).await.unwrap();
        let outcome = running.await.unwrap();
        assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
        assert_eq!((work_log.done(), model.asked()), (0, 1));
        let results = results(&store).await;
        assert!(results.len() == 2 && results.iter().all(|result| result.contains("cancelled")), "{results:?}");
        assert!(!token.is_cancelled(), "the host's own token is not cancelled");
    }

    // After cancellation, the run makes no further model request
    #[test]
    async fn cancelled_context_makes_no_further_model_request(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let token = CancellationToken::new();
        let cx = builder(&work_log).cancellation(token.clone()).build();
        let model = Script::new([calls(&["slow"])]);
        let running = start(&turns, &model, &cx);
        work_log.began.notified().await;
        token.cancel();
        let outcome = running.await.unwrap();
        assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
        let again = drive(&turns, &model, &cx).await;
        assert!(matches!(again, Outcome::Cancelled), "{again:?}");
        assert_eq!(model.asked(), 1);
    }

    // The deadline ends a model request, and calls that have not begun stay open
    #[test]
    async fn the_deadline_stops_a_run_and_leaves_calls_open(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let soon = || builder(&work_log).deadline(Duration::from_secs(1)).build();
        let model = Script::default();
        let outcome = drive(&turns, &model, &soon()).await;
        assert!(matches!(outcome, Outcome::Deadline), "{outcome:?}");
        let model = Script::new([calls(&["slow", "quick"])]);
        let outcome = drive(&turns, &model, &soon()).await;
        assert!(matches!(outcome, Outcome::Deadline), "{outcome:?}");
        assert_eq!((model.asked(), work_log.done(), results(&store).await.len()), (1, 0, 1));
        // The next drive runs the open call.
        let model = Script::new([ModelMessage::text("done")]);
        assert_eq!(answered_text(&drive(&turns, &model, &cx(&work_log)).await), "done");
        assert_eq!((work_log.done(), results(&store).await.len()), (1, 2));
        let deadline = Some(RunCause::Deadline);
        assert_eq!(causes(&turns).await, [Some(RunCause::Replied), deadline, deadline]);
    }

    // During a drain, the run makes no model request, and a read stays open until the next drive runs it
    #[test]
    async fn drain_stops_a_run_and_leaves_reads_open(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let cx = cx(&work_log);
        let gate = Gate::builder().ledger(store.clone()).build();
        let through = |gate: &Gate| { let gate = gate.clone(); move |_: &ToolContext| tools().through(&gate) };
        let model = Script::new([calls(&["slow_read", "quick"])]);
        let mut running_model = model.clone();
        let drive_it = turns.drive(&mut running_model, through(&gate), &cx);
        let drain = async {
            work_log.began.notified().await;
            gate.drain(Duration::from_millis(20)).await
        };
        let (outcome, cancelled) = futures::future::join(drive_it, drain).await;
        assert!(matches!(outcome.as_ref().unwrap(), Outcome::Draining), "{outcome:?}");
        assert_eq!((cancelled, model.asked(), results(&store).await.len()), (1, 1, 0));
        let mut silent = Script::default();
        let outcome = turns.drive(&mut silent, through(&gate), &cx).await.unwrap();
        assert!(matches!(outcome, Outcome::Draining) && silent.asked() == 0, "{outcome:?}");

        let next = Gate::builder().ledger(store.clone()).build();
        work_log.go.notify_one();
        let mut model = Script::new([ModelMessage::text("done")]);
        let outcome = turns.drive(&mut model, through(&next), &cx).await.unwrap();
        assert_eq!((answered_text(&outcome), work_log.done()), ("done", 2));
        let results = results(&store).await;
        assert!(results.iter().all(|result| !result.contains("cancelled")), "{results:?}");
    }

    // A drain ends a running model request
    #[test]
    async fn drain_ends_a_model_request(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let gate = Gate::builder().ledger(store.clone()).build();
        let mut model = Script::default();
        let hangs = Arc::clone(&model.hangs);
        let cx = cx(&work_log);
        let drive_it = turns.drive(&mut model, |_| tools().through(&gate), &cx);
        let drain = async {
            hangs.notified().await;
            gate.drain(Duration::from_millis(20)).await
        };
        let (outcome, _) = futures::future::join(drive_it, drain).await;
        assert!(matches!(outcome.as_ref().unwrap(), Outcome::Draining), "{outcome:?}");
    }

    // A run ends when its token budget is used up
    #[test]
    async fn a_run_ends_at_its_budget(store: impl Both) {
        let (turns, work_log) = (turns(&store).most_tokens(25), WorkLog::default());
        let step = || ModelMessage {
            usage: Some(Usage { input_tokens: 10, output_tokens: 3, cache_read_tokens: Some(9), ..Usage::default() }),
            ..calls(&["quick"])
        };
        let model = Script::new([step(), step(), step()]);
        let outcome = drive(&turns, &model, &cx(&work_log)).await;
        assert!(matches!(outcome, Outcome::Budget), "{outcome:?}");
        assert_eq!((model.asked(), work_log.done()), (2, 2));
        let row = rows(&turns).await.remove(0);
        assert_eq!((row.cause, row.progress.usage.total_tokens()), (Some(RunCause::Budget), 26));
    }

    // A run fails if its model fails
    #[test]
    async fn run_fails_if_its_model_fails(store: impl Both) {
        struct Broken;
        impl Model for Broken {
            fn next<'a>(&'a mut self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
                Box::pin(async { Err(ToolError::new("overloaded")) })
            }
        }
        let (turns, work_log) = (turns(&store), WorkLog::default());
        assert!(turns.drive(&mut Broken, |_| tools(), &cx(&work_log)).await.is_err());
        assert_eq!(causes(&turns).await, [Some(RunCause::Failed)]);
        let model = Script::new([ModelMessage::text("done")]);
        assert_eq!(answered_text(&drive(&turns, &model, &cx(&work_log)).await), "done");
    }

    // The next model request of a run also answers a message that is stored during the run, so the next drive makes no request
    #[test]
    async fn a_message_waits_for_the_next_request(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let cx = cx(&work_log);
        turns.say("Work.", &cx).await.unwrap();
        let model = Script::new([calls(&["slow"]), ModelMessage::text("done, and yes")]);
        let running = start(&turns, &model, &cx);
        work_log.began.notified().await;
        turns.say("Are you there?", &cx).await.unwrap();
        work_log.go.notify_one();
        assert_eq!(answered_text(&running.await.unwrap()), "done, and yes");
        assert_eq!(answered_text(&drive(&turns, &model, &cx).await), "done, and yes");
        assert_eq!((model.asked(), work_log.done()), (2, 1));
    }

    // A message interrupts a run: a call that began runs to its end, the other calls get a result, and the next drive answers the message
    #[test]
    async fn a_message_interrupts_calls(store: impl Both) {
        let (driving, work_log) = (turns(&store).during_run(DuringRun::Interrupt), WorkLog::default());
        let cx = cx(&work_log);
        driving.say("Work.", &cx).await.unwrap();
        let model = Script::new([calls(&["slow", "quick"])]);
        let running = start(&driving, &model, &cx);
        work_log.began.notified().await;
        // A different `Turns` on the same store stores the message.
        turns(&store).during_run(DuringRun::Interrupt).say("Stop that.", &cx).await.unwrap();
        work_log.go.notify_one();
        let outcome = running.await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}");
        assert_eq!((model.asked(), work_log.done()), (1, 1));
        let results = results(&store).await;
        assert!(results[0].contains("\"text\":\"1\""), "{results:?}");
        assert!(results[1].contains("a new message of the user arrived"), "{results:?}");

        let model = Script::new([ModelMessage::text("stopped")]);
        assert_eq!(answered_text(&drive(&driving, &model, &cx).await), "stopped");
        assert_eq!(work_log.done(), 1, "a call that did not begin is not run afterwards");
        assert_eq!(causes(&driving).await, [Some(RunCause::Replied), Some(RunCause::Interrupted)]);
    }

    // A message interrupts a model request, and the next drive answers it
    #[test]
    async fn a_message_interrupts_a_model_request(store: impl Both) {
        let (turns, work_log) = (turns(&store).during_run(DuringRun::Interrupt), WorkLog::default());
        let cx = cx(&work_log);
        turns.say("Work.", &cx).await.unwrap();
        let model = Script::default();
        let running = start(&turns, &model, &cx);
        model.hangs.notified().await;
        turns.say("No, this.", &cx).await.unwrap();
        let outcome = running.await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}");
        let model = Script::new([ModelMessage::text("this")]);
        assert_eq!(answered_text(&drive(&turns, &model, &cx).await), "this");
    }

    // One call of `respond` stores a message and answers it
    #[test]
    async fn respond_stores_a_message_and_answers_it(store: impl Both) {
        // The threads and the runs are in one database or in two databases.
        let runs = Arc::new(MemoryStore::default());
        for (turns, earlier) in [(turns(&store), 0), (Turns::shared(Arc::new(store.clone()), runs), 4)] {
            let (work_log, model) = (WorkLog::default(), Script::new([calls(&["quick"]), ModelMessage::text("done")]));
            let outcome = turns.respond("Hello.", &mut model.clone(), |_| tools(), &cx(&work_log)).await.unwrap();
            assert_eq!((answered_text(&outcome), work_log.done(), model.asked()), ("done", 1, 2));
            let messages = ThreadStore::read(&store, &thread("t"), None).await.unwrap();
            let roles = messages[earlier..].iter().map(|message| message.role).collect::<Vec<_>>();
            assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
            assert_eq!(causes(&turns).await, [Some(RunCause::Replied)]);
        }
    }

    // `respond` with an empty message returns `TurnError::Message`, stores nothing and begins no run
    #[test]
    async fn respond_with_an_invalid_message_begins_no_run(store: impl Both) {
        let (turns, model) = (turns(&store), Script::default());
        let error = turns.respond("", &mut model.clone(), |_| tools(), &cx(&WorkLog::default())).await.unwrap_err();
        assert!(matches!(error, TurnError::Message(_)), "{error}");
        assert!(rows(&turns).await.is_empty());
        assert!(ThreadStore::read(&store, &thread("t"), None).await.unwrap().is_empty());
    }

    // `respond` stores the message for the run that is active, as `say` does
    #[test]
    async fn respond_to_a_busy_thread_stores_the_message(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let cx = cx(&work_log);
        let first = Script::new([calls(&["slow"]), ModelMessage::text("both read")]);
        let running = tokio::spawn({
            let (turns, mut model, cx) = (turns.clone(), first.clone(), cx.clone());
            async move { turns.respond("Work.", &mut model, |_| tools(), &cx).await.unwrap() }
        });
        work_log.began.notified().await;
        let second = Script::default();
        let busy = turns.respond("And this.", &mut second.clone(), |_| tools(), &cx).await.unwrap();
        assert!(matches!(&busy, Outcome::Busy(id) if id.number() == 1), "{busy:?}");
        work_log.go.notify_one();
        assert_eq!(answered_text(&running.await.unwrap()), "both read");
        assert_eq!((first.asked(), second.asked()), (2, 0));
        let messages = ThreadStore::read(&store, &thread("t"), None).await.unwrap();
        assert_eq!(messages.iter().filter(|message| message.role == Role::User).count(), 2);
        assert_eq!(rows(&turns).await.len(), 1);
    }

    // `respond` interrupts the run that is active, as `say` does
    #[test]
    async fn respond_interrupts_the_run_of_a_busy_thread(store: impl Both) {
        let (turns, work_log) = (turns(&store).during_run(DuringRun::Interrupt), WorkLog::default());
        let cx = cx(&work_log);
        turns.say("Work.", &cx).await.unwrap();
        let model = Script::default();
        let running = start(&turns, &model, &cx);
        model.hangs.notified().await;
        let second = Script::new([ModelMessage::text("this")]);
        let outcome = turns.respond("No, this.", &mut second.clone(), |_| tools(), &cx).await.unwrap();
        let interrupted = running.await.unwrap();
        assert!(matches!(interrupted, Outcome::Interrupted), "{interrupted:?}");
        let outcome = match outcome {
            // The interrupted run had not ended yet.
            Outcome::Busy(_) => drive(&turns, &second, &cx).await,
            outcome => outcome,
        };
        assert_eq!(answered_text(&outcome), "this");
        let messages = ThreadStore::read(&store, &thread("t"), None).await.unwrap();
        assert_eq!(messages.iter().filter(|message| message.role == Role::User).count(), 2);
        assert_eq!(causes(&turns).await, [Some(RunCause::Replied), Some(RunCause::Interrupted)]);
    }

    // If a call waits for approval, the approvals of later calls are requested, but these calls do not run
    #[test]
    async fn calls_after_a_waiting_call_request_approval_but_do_not_run(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let (gate, cx) = (gate(&store, Duration::from_hours(1), 50), cx(&work_log));
        let model = Script::new([calls(&["quick", "asked", "quick", "asked"]), ModelMessage::text("done")]);
        let waits = ids(through(&turns, &gate, &model, &cx).await);
        assert_eq!((waits.len(), work_log.done()), (2, 1), "both approvals are requested at once, and only the first call has run");
        assert_eq!(ids(through(&turns, &gate, &model, &cx).await), waits, "approval was requested twice for one call");
        // The later call is approved first, and does not run before the earlier call.
        approve(&gate, &waits[1]).await;
        assert_eq!(ids(through(&turns, &gate, &model, &cx).await), waits[..1]);
        assert_eq!(work_log.done(), 1);
        approve(&gate, &waits[0]).await;
        assert_eq!(answered_text(&through(&turns, &gate, &model, &cx).await), "done");
        assert_eq!(work_log.done(), 4);
    }

    // With relaxed order, later calls run while an earlier call waits
    #[test]
    async fn relaxed_order_runs_calls_after_a_waiting_call(store: impl Both) {
        let (turns, work_log) = (turns(&store).relaxed_order(), WorkLog::default());
        let gate = gate(&store, Duration::from_hours(1), 50);
        let model = Script::new([calls(&["asked", "quick"])]);
        assert_eq!(ids(through(&turns, &gate, &model, &cx(&work_log)).await).len(), 1);
        assert_eq!(work_log.done(), 1);
    }

    // An expired approval is requested again once, and not in each drive
    #[test]
    async fn expired_approval_is_requested_again_once(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let (gate, cx) = (gate(&store, Duration::from_millis(600), 50), cx(&work_log));
        let model = Script::new([calls(&["asked"])]);
        let first = ids(through(&turns, &gate, &model, &cx).await);
        tokio::time::sleep(Duration::from_millis(700)).await;
        let second = ids(through(&turns, &gate, &model, &cx).await);
        assert_ne!(first, second);
        assert_eq!(ids(through(&turns, &gate, &model, &cx).await), second);
        let acme = acme();
        let rows = ApprovalStore::list(&store, Scope::Workspace(&acme), &ApprovalFilter::default()).await.unwrap();
        let found: Vec<_> = rows.iter().map(|row| (&row.request.id, row.status)).collect();
        // The expiry is stored, so that setting the clock back does not make the first approval valid again.
        assert_eq!(found, [(&first[0], ApprovalStatus::Expired), (&second[0], ApprovalStatus::Pending)]);
    }

    // The number of open approvals of a conversation is limited
    #[test]
    async fn open_approvals_of_a_conversation_are_limited(store: impl Both) {
        let (turns, work_log) = (turns(&store), WorkLog::default());
        let (gate, cx) = (gate(&store, Duration::from_hours(1), 3), cx(&work_log));
        let model = Script::new([calls(&["asked"; 20])]);
        assert_eq!(ids(through(&turns, &gate, &model, &cx).await).len(), 3);
        let results = results(&store).await;
        assert_eq!(results.len(), 17);
        assert!(results.iter().all(|result| result.contains("rate_limited") && result.contains("wait for approval")), "{results:?}");
        // Another conversation has its own limit.
        let other = builder(&work_log).conversation("u").build();
        assert_eq!(ids(through(&turns, &gate, &Script::new([calls(&["asked"])]), &other).await).len(), 1);
    }

    // A plan with a duplicate key is refused
    #[test]
    async fn plan_with_a_duplicate_key_is_refused(store: impl Both) {
        let gate = gate(&store, Duration::from_hours(1), 50);
        let (approvals, cx) = (gate.approvals().unwrap(), cx(&WorkLog::default()));
        for plan in [r#"{"pay":5,"pay":500}"#, r#"[{"steps":[{"to":"a","t\u006f":"b"}]}]"#] {
            let refused = approvals.ask_plan(plan, &cx).await.unwrap_err().to_string();
            assert!(refused.contains("twice"), "{refused}");
        }
        assert!(approvals.ask_plan(r#"{"pay":5,"to":{"pay":5}}"#, &cx).await.is_ok());
    }

    // A run can begin before its message. No second run begins meanwhile, and `say` of the run stores the message. The run's results are passed to
    // its observers
    #[test]
    async fn begun_run_stores_its_message_and_excludes_others(store: impl Both) {
        // A begun run renews its lease only while it is driven, so the lease is long.
        let (turns, work_log) = (Turns::new(store.clone()), WorkLog::default());
        let cx = cx(&work_log);
        let Begun::Run(run) = turns.begin(&cx).await.unwrap() else { panic!("the run has to begin") };
        assert!(matches!(turns.begin(&cx).await.unwrap(), Begun::Busy(id) if id == *run.id()));
        assert!(run.is_answered().await.unwrap() && run.open_calls().await.unwrap().is_empty());
        assert_eq!(run.say("Hello.").await.unwrap(), 1);
        assert!(!run.is_answered().await.unwrap());
        let (seen, observed) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let mut model = Script::new([calls(&["quick"]), ModelMessage::text("done")]);
        let run = {
            let seen = Arc::clone(&seen);
            run.observe(move |result| seen.lock().unwrap().push(result.id.clone()))
        };
        assert_eq!(answered_text(&run.drive(&mut model, |_| tools(), &[]).await.unwrap()), "done");
        assert_eq!((seen.lock().unwrap().len(), work_log.done()), (1, 1));
        // The observer of the `Turns` gets the result of the next run, although the observer of this run panics.
        let host = {
            let observed = Arc::clone(&observed);
            turns.clone().observe(move |result| observed.lock().unwrap().push(result.id.clone()))
        };
        let Begun::Run(run) = host.begin(&cx).await.unwrap() else { panic!("the run has to begin") };
        assert!(run.is_answered().await.unwrap());
        run.say("Again.").await.unwrap();
        let run = run.observe(|_| panic!("the callback panics"));
        let mut model = Script::new([calls(&["quick"]), ModelMessage::text("done again")]);
        assert_eq!(answered_text(&run.drive(&mut model, |_| tools(), &[]).await.unwrap()), "done again");
        assert_eq!(observed.lock().unwrap().len(), 1);
        // A cancelled run that was not driven stores no message.
        let Begun::Run(run) = turns.begin(&cx).await.unwrap() else { panic!("the run has to begin") };
        run.cancel().await;
        assert_eq!(causes(&turns).await, [Some(RunCause::Cancelled), Some(RunCause::Replied), Some(RunCause::Replied)]);
        assert_eq!(turns.messages(&cx, None).await.unwrap().len(), 8);
        assert_eq!(turns.messages(&cx, Some(6)).await.unwrap()[0].seq, 7);
    }

    // A driver whose run was taken over during a request to the model does not store the reply. A suspended process can lose its run in this way
    #[test]
    async fn driver_that_lost_its_run_stores_no_reply(store: impl Both) {
        struct Late(Arc<Notify>, Arc<Notify>);
        impl Model for Late {
            fn next<'a>(&'a mut self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
                Box::pin(async {
                    self.0.notify_one();
                    self.1.notified().await;
                    Ok(ModelMessage::text("late"))
                })
            }
        }
        let turns = Turns::new(store.clone());
        let cx = cx(&WorkLog::default());
        turns.say("Hello.", &cx).await.unwrap();
        let (began, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let running = {
            let (turns, cx, mut model) = (turns.clone(), cx.clone(), Late(Arc::clone(&began), Arc::clone(&go)));
            tokio::spawn(async move { turns.drive(&mut model, |_| tools(), &cx).await.unwrap() })
        };
        began.notified().await;
        let run = take_over(&store).await;
        go.notify_one();
        let outcome = running.await.unwrap();
        assert!(matches!(&outcome, Outcome::Busy(id) if *id == run.id), "{outcome:?}");
        assert_eq!(turns.messages(&cx, None).await.unwrap().len(), 1);
        assert_eq!(store.get_run(&run.id).await.unwrap(), Some(run));
    }

    // A driver whose run was taken over during a call does not store the result. The ledger records that the effect happened, so that the next driver
    // does not repeat it. A read runs again
    #[test]
    async fn driver_that_lost_its_run_stores_no_result(store: impl Both) {
        for (tool, is_gated, done) in [("slow", true, 1), ("slow_read", true, 2), ("slow_read", false, 2)] {
            let turns = Turns::new(store.clone());
            let gate = Gate::builder().ledger(store.clone()).audit(Audit::required(store.clone())).build();
            let work_log = WorkLog::default();
            let conversation = format!("{tool}-{is_gated}");
            let cx = builder(&work_log).conversation(&conversation).build();
            let offer = move || if is_gated { tools().through(&gate) } else { tools() };
            turns.say("Hello.", &cx).await.unwrap();
            let running = {
                let (turns, cx, offer) = (turns.clone(), cx.clone(), offer.clone());
                let mut model = Script::new([calls(&[tool])]);
                tokio::spawn(async move { turns.drive(&mut model, |_| offer(), &cx).await.unwrap() })
            };
            work_log.began.notified().await;
            let run = take_over_thread(&store, thread(&conversation)).await;
            work_log.go.notify_one();
            let outcome = running.await.unwrap();
            assert!(matches!(&outcome, Outcome::Busy(id) if *id == run.id), "{tool} {outcome:?}");
            assert_eq!(turns.messages(&cx, None).await.unwrap().len(), 2, "{tool} {is_gated}");
            assert_eq!(store.get_run(&run.id).await.unwrap(), Some(run.clone()));

            // The other driver ends, and the next one stores the result once.
            let end = RunEnd { cause: RunCause::Draining, at: Timestamp::now(), progress: RunProgress::default() };
            assert!(store.end_run(&run.id, "other", end).await.unwrap());
            work_log.go.notify_one();
            let mut model = Script::new([ModelMessage::text("done")]);
            let outcome = turns.drive(&mut model, |_| offer(), &cx).await.unwrap();
            assert_eq!(answered_text(&outcome), "done", "{tool} {is_gated}");
            let roles: Vec<Role> = turns.messages(&cx, None).await.unwrap().iter().map(|message| message.role).collect();
            assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
            assert_eq!(work_log.done(), done, "{tool} {is_gated}");
        }
    }

    // If a run is cancelled or interrupted, the text that the user has seen is stored in the thread. At a deadline, it is not stored
    #[test]
    async fn text_of_an_interrupted_message_is_stored(store: impl Both) {
        struct Partial(Arc<Notify>);
        impl Model for Partial {
            fn next<'a>(&'a mut self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
                self.0.notify_one();
                Box::pin(pending())
            }
            fn interrupted(&mut self) -> Option<ModelMessage> {
                Some(ModelMessage { truncated: true, ..ModelMessage::text("one ") })
            }
        }
        let (turns, began) = (turns(&store), Arc::new(Notify::new()));
        let turns = turns.during_run(DuringRun::Interrupt);
        let cx = cx(&WorkLog::default());
        for (number, stops) in [(1, true), (2, false)] {
            turns.say("Hello.", &cx).await.unwrap();
            let driving = {
                let (turns, cx, began) = (turns.clone(), cx.clone(), Arc::clone(&began));
                tokio::spawn(async move { turns.drive(&mut Partial(began), |_| tools(), &cx).await.unwrap() })
            };
            began.notified().await;
            if stops {
                turns.cancel(&RunId::new(thread("t"), number)).await.unwrap();
            } else {
                turns.say("Stop.", &cx).await.unwrap();
            }
            let outcome = driving.await.unwrap();
            assert!(matches!((&outcome, stops), (Outcome::Cancelled, true) | (Outcome::Interrupted, false)), "{outcome:?}");
        }
        let roles: Vec<Role> = turns.messages(&cx, None).await.unwrap().iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::User, Role::Assistant]);
        // A deadline leaves the message open: the next drive answers it.
        let late = builder(&WorkLog::default()).conversation("u").deadline(Duration::from_millis(20)).build();
        turns.say("Hello.", &late).await.unwrap();
        let outcome = turns.drive(&mut Partial(began), |_| tools(), &late).await.unwrap();
        assert!(matches!(outcome, Outcome::Deadline));
        assert_eq!(turns.messages(&late, None).await.unwrap().len(), 1);
    }
}
