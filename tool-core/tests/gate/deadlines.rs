//! Stores that do not answer before the deadline of a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Approvals, Audit, ErrorKind, Gate, Reply};

use crate::support::{Mailbox, kind, placed};

/// Sends a letter.
#[tool(timeout = "200ms")]
async fn post(mailbox: &Mailbox) -> usize {
    mailbox.send();
    mailbox.sent()
}

/// Sends a letter after an approval.
#[tool(approval, timeout = "200ms")]
async fn post_if(mailbox: &Mailbox) -> usize {
    mailbox.send();
    mailbox.sent()
}

/// A store in which one step hangs until the test calls `free`.
#[derive(Clone, Default)]
struct Stuck {
    store: MemoryStore,
    at: Arc<Mutex<Option<&'static str>>>,
    freed: Arc<Notify>,
}

impl Stuck {
    fn hang(&self, at: &'static str) {
        *self.at.lock().unwrap() = Some(at);
    }

    async fn free(&self) {
        *self.at.lock().unwrap() = None;
        self.freed.notify_waiters();
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    fn pass<'a, T: Send + 'a>(
        &'a self,
        step: &'static str,
        work: StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let freed = self.freed.notified();
            let hangs = *self.at.lock().unwrap() == Some(step);
            if hangs {
                freed.await;
            }
            work.await
        })
    }
}

impl EffectLedger for Stuck {
    fn is_durable(&self) -> bool {
        false
    }
    fn journal(&self) -> Option<Journal> {
        EffectLedger::journal(&self.store)
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.pass("begin", self.store.begin(intent, audit))
    }
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        self.pass("end", EffectLedger::end(&self.store, key, owner, end))
    }
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        self.pass("get", EffectLedger::get(&self.store, key))
    }
    pass_on!(self => self.store; renew resolve sweep list);
}

impl ApprovalStore for Stuck {
    fn is_durable(&self) -> bool {
        false
    }
    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        self.pass("open", self.store.open(request))
    }
    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>> {
        ApprovalStore::get(&self.store, workspace, id)
    }
    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        self.store.answer(workspace, id, answer)
    }
    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.pass("spend", self.store.spend(workspace, id, nonce, now))
    }
    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        self.store.withdraw(workspace, id)
    }
    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        self.store.assign(workspace, id, assignee)
    }
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        self.pass("list", ApprovalStore::list(&self.store, scope, filter))
    }
    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64> {
        self.store.deny_all(workspace, filter, answer)
    }
    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        ApprovalStore::expire(&self.store, scope, now)
    }
}

struct Host {
    stuck: Stuck,
    gate: Gate,
    tools: Toolset,
    cx: ToolContext,
    mailbox: Mailbox,
}

impl Host {
    fn new(audit: impl Fn(&MemoryStore) -> Audit) -> Self {
        let (stuck, mailbox) = (Stuck::default(), Mailbox::default());
        let gate = Gate::builder()
            .approvals(Approvals::builder(stuck.clone()).build().unwrap())
            .ledger(stuck.clone())
            .audit(audit(&stuck.store))
            .build();
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(mailbox.clone())
            .build();
        Self {
            tools: toolset![post, post_if].through(&gate),
            stuck,
            gate,
            cx,
            mailbox,
        }
    }

    /// Calls a tool, and fails unless the result arrives soon after the deadline.
    async fn call(&self, name: &str) -> CallResult {
        let cx = placed(&self.cx, 0);
        let call = self.tools.call(ToolCall::new("c-1", name, "{}"), &cx);
        let result = tokio::time::timeout(Duration::from_secs(1), call).await;
        result.expect("the call did not end within 1 s, although its deadline is 200 ms")
    }

    async fn states(&self) -> Vec<EffectState> {
        let rows = EffectLedger::list(&self.stuck.store, Scope::All, None).await;
        rows.unwrap().into_iter().map(|row| row.state).collect()
    }

    async fn outcomes(&self) -> Vec<Option<String>> {
        let filter = AuditFilter::default();
        let rows = self.stuck.store.export(Scope::All, &filter).await;
        rows.unwrap().into_iter().map(|row| row.outcome).collect()
    }
}

// A ledger that hangs before the body delays a call no longer than its deadline. A late claim is released: no row is ambiguous
// for a body that never began.
#[tokio::test(start_paused = true)]
async fn deadline_covers_the_claim() {
    let host = Host::new(|store| Audit::required(store.clone()));
    host.stuck.hang("begin");
    let result = host.call("post").await;
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut), "{result:?}");
    assert!(result.model_text().contains("was not made"), "{result:?}");
    assert_eq!((host.mailbox.sent(), host.states().await), (0, vec![]));
    host.stuck.free().await;
    assert_eq!(host.states().await, []);
    assert_eq!(host.outcomes().await, [Some("interrupted".to_owned())]);
    // A second dispatch runs the same call.
    let again = host.call("post").await;
    assert_eq!(again.model_text(), "1", "{again:?}");
    assert_eq!(host.states().await, [EffectState::Succeeded]);
    assert_eq!(host.outcomes().await, [Some("ok".to_owned())]);
    assert_eq!(host.mailbox.sent(), 1);
}

// A drain waits until a late claim is released.
#[tokio::test(start_paused = true)]
async fn drain_waits_for_a_late_claim() {
    let host = Host::new(|_| Audit::Off);
    host.stuck.hang("begin");
    assert!(host.call("post").await.is_error());
    let freed = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        host.stuck.free().await;
    };
    tokio::join!(host.gate.drain(Duration::from_secs(5)), freed);
    assert_eq!(host.states().await, []);
}

// A ledger that hangs after the body delays the result no longer than the deadline, and the end is written in the background.
#[tokio::test(start_paused = true)]
async fn deadline_covers_the_end_in_the_ledger() {
    let host = Host::new(|_| Audit::Off);
    host.stuck.hang("end");
    let result = host.call("post").await;
    assert_eq!(result.model_text(), "1", "{result:?}");
    assert_eq!(host.states().await, [EffectState::Running]);
    host.stuck.free().await;
    assert_eq!(host.states().await, [EffectState::Succeeded]);
    assert!(host.call("post").await.is_replayed());
    assert_eq!(host.mailbox.sent(), 1);
}

// An approval store that hangs delays a call until its deadline at most. The call stays open: its approval may be spent.
#[tokio::test(start_paused = true)]
async fn deadline_covers_the_approvals() {
    for step in ["list", "open", "get", "spend"] {
        let host = Host::new(|store| Audit::required(store.clone()));
        let turns = Turns::new(host.stuck.store.clone());
        let calls = ModelMessage::calls([ToolCall::new("c-1", "post_if", "{}")]);
        let message = turns.record(calls, &host.cx).await.unwrap();
        let run = async || {
            let run = turns.run(&host.tools, &message, &host.cx);
            tokio::time::timeout(Duration::from_secs(1), run)
                .await
                .expect("the turn did not end within 1 s, although its deadline is 200 ms")
        };
        let approve = async || {
            let Turn::Waiting(tickets) = run().await.unwrap() else {
                panic!("{step}")
            };
            let (acme, token) = (Workspace::new("acme"), &tickets[0].token);
            let approvals = host.gate.approvals().unwrap();
            let answered =
                approvals.answer(&acme, &host.tools, token, Reply::Approve, "boss", None);
            answered.await.unwrap();
        };
        if step == "spend" {
            approve().await;
        }
        host.stuck.hang(step);
        assert!(run().await.is_err(), "{step}");
        assert_eq!(host.mailbox.sent(), 0, "{step}");
        let open = host.outcomes().await;
        assert_eq!(open, [Some("interrupted".to_owned())], "{step}");
        host.stuck.free().await;
        if step != "spend" {
            approve().await;
        }
        let turn = run().await.unwrap();
        assert!(matches!(turn, Turn::Complete(_)), "{step}: {turn:?}");
        assert_eq!(host.mailbox.sent(), 1, "{step}");
        assert_eq!(host.outcomes().await, [Some("ok".to_owned())], "{step}");
    }
}
