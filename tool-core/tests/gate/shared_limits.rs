//! Limits that all processes with one store share. In these tests, two gates with one store are two processes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tool_core::limits::{Limit, LimitScope, SharedLimits, WhenExhausted};
use tool_core::prelude::*;
use tool_core::store::{
    LimitId, LimitRow, LimitStore, LimitTake, LimitTaken, LimitUnit, MemoryStore, RunCause,
    RunFilter, StoreError, StoreFuture, Timestamp, Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, TurnError, Turns};
use tool_core::{Approvals, Effect, ErrorKind, Gate, GateBuilder, Reply};

use crate::support::{Host, Mailbox, count, kind, mail, pay, send_mail, ticket};

/// Blocks calls until a test releases them.
#[derive(Clone)]
struct Held(Arc<Semaphore>, Arc<AtomicUsize>);
tool_core::host_value!(Held, Effect::READ);

/// Waits until the test lets it end.
#[tool(read_only)]
async fn hold(held: &Held) -> u32 {
    held.1.fetch_add(1, Ordering::SeqCst);
    held.0.acquire().await.unwrap().forget();
    1
}

fn quota(calls: u32, window: Duration) -> Limit {
    Limit::quota(calls, window)
}

/// Returns the tools of a process with these limits.
fn process(store: &MemoryStore, limit: Limit) -> Toolset {
    through(store, limit, |gate| gate)
}

fn through(
    store: &MemoryStore,
    limit: Limit,
    settings: impl FnOnce(GateBuilder) -> GateBuilder,
) -> Toolset {
    let limits = SharedLimits::builder(store.clone(), "calls").limit(limit);
    let limits = limits.lease(Duration::from_millis(300)).build().unwrap();
    let gate = settings(Gate::builder()).shared_limits(limits).build();
    tool_core::toolset![count, hold, send_mail].through(&gate)
}

fn cx(tenant: &str, user: &str) -> ToolContext {
    ToolContext::builder().workspace(tenant).user(user).build()
}

async fn counted(tools: &Toolset, cx: &ToolContext) -> Option<ErrorKind> {
    let call = ToolCall::new("c-1", "count", r#"{"from":1}"#);
    kind(&tools.call(call, cx).await)
}

// Two processes share a quota, which is separate for each tenant. A call that exceeds the quota gets the time to wait.
#[tokio::test]
async fn quota_holds_over_processes() {
    let store = MemoryStore::default();
    let limit = || {
        quota(3, Duration::from_mins(10))
            .per(LimitScope::Tenant)
            .tools(["count"])
    };
    let processes = [process(&store, limit()), process(&store, limit())];
    for at in [0, 1, 0] {
        assert_eq!(counted(&processes[at], &cx("acme", "ann")).await, None);
    }
    for tools in &processes {
        let call = ToolCall::new("c-1", "count", r#"{"from":1}"#);
        let refused = tools.call(call, &cx("acme", "bob")).await;
        let error = refused.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::RateLimited);
        let wait = error.wait().unwrap();
        assert!(
            wait > Duration::from_secs(590) && wait <= Duration::from_mins(10),
            "{wait:?}"
        );
        assert!(
            error.operator_text().contains("limit `calls/quota"),
            "{error:?}"
        );
        assert_eq!(counted(tools, &cx("globex", "ann")).await, None);
    }
}

// A process with a changed number of calls shares the count with processes that have the old number. Each user has a separate count, whose row does
// not contain the user.
#[tokio::test]
async fn processes_with_different_numbers_share_the_count() {
    let store = MemoryStore::default();
    let limit = |calls| quota(calls, Duration::from_mins(10)).per(LimitScope::Principal);
    let (old, new) = (process(&store, limit(2)), process(&store, limit(4)));
    for _ in 0..2 {
        assert_eq!(counted(&old, &cx("acme", "ann")).await, None);
    }
    assert_eq!(
        counted(&old, &cx("acme", "ann")).await,
        Some(ErrorKind::RateLimited)
    );
    for _ in 0..2 {
        assert_eq!(counted(&new, &cx("acme", "ann")).await, None);
    }
    assert_eq!(
        counted(&new, &cx("acme", "ann")).await,
        Some(ErrorKind::RateLimited)
    );
    assert_eq!(counted(&new, &cx("acme", "bob")).await, None);
    assert_eq!(counted(&new, &cx("globex", "ann")).await, None);
}

/// Returns a context for calls of `hold`, and the value with which a test lets these calls end.
fn holding() -> (ToolContext, Held) {
    let held = Held(Arc::new(Semaphore::new(0)), Arc::default());
    let cx = ToolContext::builder().workspace("acme").with(held.clone());
    (cx.build(), held)
}

async fn until(done: impl Fn() -> bool) {
    for _ in 0..500 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not happen in time");
}

// A permit belongs to a call until its body ends, also if the body takes longer than a lease, and is released if the call is dropped.
#[tokio::test]
async fn permits_belong_to_running_calls() {
    let store = MemoryStore::default();
    let limit = || Limit::at_once(1).tools(["hold"]);
    let processes = [process(&store, limit()), process(&store, limit())];
    let (cx, held) = holding();
    let begin = |at: usize| {
        let (tools, cx) = (processes[at].clone(), cx.clone());
        tokio::spawn(async move { tools.call(ToolCall::new("c-1", "hold", "{}"), &cx).await })
    };
    let first = begin(0);
    until(|| held.1.load(Ordering::SeqCst) == 1).await;
    // The lease is 300 ms.
    tokio::time::sleep(Duration::from_millis(700)).await;
    let refused = begin(1).await.unwrap();
    assert_eq!(kind(&refused), Some(ErrorKind::RateLimited), "{refused:?}");
    assert!(refused.error().unwrap().wait().unwrap() <= Duration::from_secs(2));
    // Other tools are not limited.
    assert_eq!(counted(&processes[1], &cx).await, None);

    held.0.add_permits(1);
    assert!(!first.await.unwrap().is_error());
    let second = loop {
        let call = begin(1);
        until(|| call.is_finished() || held.1.load(Ordering::SeqCst) == 2).await;
        if !call.is_finished() {
            break call;
        }
    };
    // The caller drops the call.
    second.abort();
    held.0.add_permits(1);
    let third = loop {
        let done = begin(0).await.unwrap();
        if !done.is_error() {
            break done;
        }
        assert_eq!(kind(&done), Some(ErrorKind::RateLimited));
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(!third.is_error());
}

/// A store that has ended the lease of the first permit that is renewed, and counts the renewals of the other permits.
#[derive(Clone, Default)]
struct Ended {
    store: MemoryStore,
    lost: Arc<OnceLock<String>>,
    renewals: Arc<AtomicUsize>,
}

impl LimitStore for Ended {
    fn take_limit(&self, take: LimitTake) -> StoreFuture<'_, LimitTaken> {
        self.store.take_limit(take)
    }

    fn extend_permit<'a>(
        &'a self,
        id: &'a LimitId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        if self.lost.get_or_init(|| token.to_owned()) == token {
            return Box::pin(async { Ok(false) });
        }
        self.renewals.fetch_add(1, Ordering::SeqCst);
        self.store.extend_permit(id, token, lease, at)
    }

    fn return_limit<'a>(
        &'a self,
        id: &'a LimitId,
        unit: &'a LimitUnit,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.store.return_limit(id, unit, at)
    }

    fn limit<'a>(&'a self, id: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>> {
        self.store.limit(id)
    }
}

// If the lease of one permit of a call has ended, the other permits of the call are still renewed.
#[tokio::test]
async fn lost_permit_leaves_the_other_permits_renewed() {
    let store = Ended::default();
    let limits = SharedLimits::builder(store.clone(), "calls")
        .limit(Limit::at_once(1).tools(["hold"]))
        .limit(Limit::at_once(1).per(LimitScope::Tenant).tools(["hold"]))
        .lease(Duration::from_millis(300));
    let gate = Gate::builder().shared_limits(limits.build().unwrap());
    let tools = tool_core::toolset![hold].through(&gate.build());
    let (cx, held) = holding();
    let call = tokio::spawn(async move {
        let call = ToolCall::new("c-1", "hold", "{}");
        tools.call(call, &cx).await
    });
    until(|| store.renewals.load(Ordering::SeqCst) >= 3).await;
    held.0.add_permits(1);
    assert!(!call.await.unwrap().is_error());
}

// A call that waits for its approval does not count towards a quota until it runs.
#[tokio::test]
async fn call_that_waits_for_an_approval_takes_nothing() {
    let store = MemoryStore::default();
    let tools = through(&store, quota(1, Duration::from_mins(10)), |gate| {
        let approvals = Approvals::builder(store.clone()).build().unwrap();
        gate.approvals(approvals).ledger(store.clone())
    });
    let host = Host::new();
    let first = tools.call(mail("c-1"), &host.ann()).await;
    let second = tools.call(mail("c-2"), &host.ann()).await;
    let tickets = [ticket(&first), ticket(&second)];
    let approvals = tools.gate().unwrap().approvals().unwrap();
    let acme = Workspace::new("acme");
    for ticket in &tickets {
        let answered = approvals.answer(&acme, &tools, &ticket.token, Reply::Approve, "boss", None);
        answered.await.unwrap();
    }
    let sent = tools.resume(&tickets[0].token, &host.ann()).await;
    assert_eq!(sent.model_text(), "sent to bob");
    let refused = tools.resume(&tickets[1].token, &host.ann()).await;
    assert_eq!(kind(&refused), Some(ErrorKind::RateLimited), "{refused:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

/// A model that calls `pay` once for each message of the user, and then answers.
#[derive(Clone, Default)]
struct Clerk(Arc<AtomicUsize>);

impl Model for Clerk {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let is_called = request.messages.last().unwrap().role == tool_core::store::Role::Tool;
        let message = if is_called {
            ModelMessage::text(request.messages.last().unwrap().content.clone())
        } else {
            ModelMessage::calls([ToolCall::new("c-1", "pay", r#"{"amount":1}"#)])
        };
        Box::pin(std::future::ready(Ok(message)))
    }
}

fn paying(store: &MemoryStore, limits: SharedLimits) -> (Toolset, Turns) {
    let gate = Gate::builder().ledger(store.clone()).shared_limits(limits);
    let tools = tool_core::toolset![pay].through(&gate.build());
    (tools, Turns::new(store.clone()))
}

// If a limit is exhausted, the run of a conversation is suspended with the time at which it may continue. The call is made once.
#[tokio::test]
async fn exhausted_limit_suspends_the_run() {
    let store = MemoryStore::default();
    let window = Duration::from_secs(3);
    let limits = SharedLimits::builder(store.clone(), "calls").limit(quota(1, window));
    let (tools, turns) = paying(&store, limits.build().unwrap());
    let mailbox = Mailbox::default();
    let cx = |conversation: &str| {
        let cx = ToolContext::builder().workspace("acme").user("ann");
        cx.conversation(conversation).with(mailbox.clone()).build()
    };
    let mut clerk = Clerk::default();
    turns.say("Pay.", &cx("one")).await.unwrap();
    let first = turns.drive(&mut clerk, |_| tools.clone(), &cx("one")).await;
    assert!(matches!(first, Ok(Outcome::Answered(_))), "{first:?}");

    turns.say("Pay.", &cx("two")).await.unwrap();
    let mut clerk = Clerk::default();
    let suspended = turns.drive(&mut clerk, |_| tools.clone(), &cx("two")).await;
    let error = suspended.unwrap_err();
    assert!(matches!(error, TurnError::Suspended { .. }), "{error:?}");
    let wait = error.resumes_after().unwrap();
    assert!(wait > Duration::ZERO && wait <= window, "{wait:?}");
    assert_eq!(mailbox.sent(), 1);
    let filter = RunFilter {
        conversation: Some("two".to_owned()),
        ..RunFilter::default()
    };
    let runs = turns.runs(&Workspace::new("acme"), &filter).await.unwrap();
    assert_eq!(runs[0].cause, Some(RunCause::Waiting));

    tokio::time::sleep(wait).await;
    let done = turns.drive(&mut clerk, |_| tools.clone(), &cx("two")).await;
    assert!(matches!(done, Ok(Outcome::Answered(_))), "{done:?}");
    assert_eq!((mailbox.sent(), clerk.0.load(Ordering::SeqCst)), (2, 2));
}

// A host may let the model read the refusal in place of the suspension.
#[tokio::test]
async fn exhausted_limit_can_refuse_the_call() {
    let store = MemoryStore::default();
    let limits = SharedLimits::builder(store.clone(), "calls")
        .limit(quota(1, Duration::from_mins(10)))
        .when_exhausted(WhenExhausted::Refuse);
    let (tools, turns) = paying(&store, limits.build().unwrap());
    let mailbox = Mailbox::default();
    let cx = ToolContext::builder().workspace("acme").conversation("one");
    let cx = cx.with(mailbox.clone()).build();
    for expected in ["1", "too many calls were made"] {
        turns.say("Pay.", &cx).await.unwrap();
        let done = turns
            .drive(&mut Clerk::default(), |_| tools.clone(), &cx)
            .await;
        let Ok(Outcome::Answered(text)) = done else {
            panic!("{done:?}");
        };
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(mailbox.sent(), 1);
}

/// A store of limits that fails.
struct Broken;

impl LimitStore for Broken {
    fn take_limit(&self, _: LimitTake) -> StoreFuture<'_, LimitTaken> {
        Box::pin(async { Err(StoreError::Unavailable("no network".into())) })
    }

    fn extend_permit<'a>(
        &'a self,
        _: &'a LimitId,
        _: &'a str,
        _: Duration,
        _: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async { Ok(false) })
    }

    fn return_limit<'a>(
        &'a self,
        _: &'a LimitId,
        _: &'a LimitUnit,
        _: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async { Ok(false) })
    }

    fn limit<'a>(&'a self, _: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>> {
        Box::pin(async { Ok(None) })
    }
}

// If the store of the limits fails, the call stays open, and no body runs.
#[tokio::test]
async fn failed_store_leaves_the_call_open() {
    let store = MemoryStore::default();
    let limits = SharedLimits::builder(Broken, "calls").limit(Limit::at_once(5));
    let (tools, turns) = paying(&store, limits.build().unwrap());
    let mailbox = Mailbox::default();
    let cx = ToolContext::builder().workspace("acme").conversation("one");
    let cx = cx.with(mailbox.clone()).build();
    turns.say("Pay.", &cx).await.unwrap();
    let failed = turns
        .drive(&mut Clerk::default(), |_| tools.clone(), &cx)
        .await;
    assert!(matches!(failed, Err(TurnError::Store(_))), "{failed:?}");
    assert_eq!(mailbox.sent(), 0);
    let messages = turns.messages(&cx, None).await.unwrap();
    assert_eq!(messages.len(), 2, "{messages:?}");
    let (acme, all) = (Workspace::new("acme"), RunFilter::default());
    let runs = turns.runs(&acme, &all).await.unwrap();
    assert_eq!(runs[0].cause, Some(RunCause::Failed));
}

// Invalid limits are refused when they are built.
#[test]
fn faulty_limits_are_refused() {
    let build = |limit| {
        let limits = SharedLimits::builder(MemoryStore::default(), "calls");
        limits
            .limit(Limit::at_once(1))
            .limit(limit)
            .build()
            .unwrap_err()
            .to_string()
    };
    for (limit, words) in [
        (Limit::at_once(0), "limit 2 allows no calls"),
        (Limit::at_once(1_001), "limit 2 has more permits"),
        (
            Limit::quota(1, Duration::ZERO),
            "the period of limit 2 is too short",
        ),
        (
            Limit::rate(2_000, Duration::from_millis(1)),
            "the period of limit 2 is too short",
        ),
        (
            Limit::at_once(2),
            "limit 2 counts the same calls as limit 1",
        ),
    ] {
        assert!(build(limit).contains(words));
    }
    // These limits count calls in separate rows.
    let limits = SharedLimits::builder(MemoryStore::default(), "calls")
        .limit(Limit::at_once(9))
        .limit(Limit::at_once(4).each_tool())
        .limit(Limit::at_once(5).tools(["send"]))
        .limit(Limit::at_once(6).per(LimitScope::Tenant))
        .limit(quota(1, Duration::from_mins(1)))
        .limit(quota(9, Duration::from_hours(1)));
    assert!(limits.build().is_ok());
}
