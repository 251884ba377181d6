//! Tools that count their effects, and hosts for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_core::prelude::*;
use tool_core::store::{CallId, MemoryStore, ThreadId};
use tool_core::{Approvals, Audit, Effect, ErrorKind, Gate, Reply, Ticket};

/// Counts the messages that were sent.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<AtomicUsize>);
tool_core::host_value!(Mailbox, Effect::WRITE);

impl Mailbox {
    pub(crate) fn sent(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn send(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Sends a mail.
#[tool(approval)]
pub(crate) async fn send_mail(
    mailbox: &Mailbox,
    /// The recipient of the mail.
    to: String,
    /// The number of copies.
    #[arg(default = 1, range = 1..=3)]
    copies: u32,
) -> Result<String, ToolError> {
    for _ in 0..copies {
        mailbox.send();
    }
    Ok(format!("sent to {to}"))
}

fn is_large(input: &pay, _cx: &ToolContext) -> bool {
    input.amount > 100
}

/// Pays an amount.
#[tool(approval = is_large)]
pub(crate) async fn pay(
    mailbox: &Mailbox,
    /// The amount in euros.
    amount: u32,
) -> Result<u32, ToolError> {
    mailbox.send();
    Ok(amount)
}

/// Returns the given number.
#[tool(read_only)]
pub(crate) async fn count(
    /// The number to return.
    from: u32,
) -> u32 {
    from
}

pub(crate) struct Host {
    pub(crate) store: MemoryStore,
    pub(crate) gate: Gate,
    pub(crate) mailbox: Mailbox,
    pub(crate) tools: Toolset,
}

impl Host {
    pub(crate) fn new() -> Self {
        let store = MemoryStore::default();
        let gate = Gate::builder()
            .approvals(Approvals::builder(store.clone()).build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let tools = toolset![send_mail, pay, count].through(&gate);
        Self {
            store,
            gate,
            mailbox: Mailbox::default(),
            tools,
        }
    }

    /// Returns a context with this tenant, user and conversation.
    pub(crate) fn of(&self, tenant: &str, user: &str, conversation: &str) -> ToolContext {
        ToolContext::builder()
            .workspace(tenant)
            .user(user)
            .conversation(conversation)
            .with(self.mailbox.clone())
            .build()
    }

    pub(crate) fn ann(&self) -> ToolContext {
        self.of("acme", "ann", "th-1")
    }

    pub(crate) fn approvals(&self) -> &Approvals {
        self.gate.approvals().unwrap()
    }

    /// Makes a call that needs approval, and returns its ticket.
    pub(crate) async fn asked(&self) -> Ticket {
        let result = self.tools.call(mail("c-1"), &placed(&self.ann(), 1)).await;
        ticket(&result)
    }

    pub(crate) async fn approve(&self, ticket: &Ticket) {
        self.approvals()
            .answer(
                &"acme".into(),
                &self.tools,
                &ticket.token,
                Reply::Approve,
                "boss",
                None,
            )
            .await
            .unwrap();
    }
}

/// Returns the context of the call at this position in the first message of the context's conversation. A second dispatch with the same position
/// repeats that call.
#[track_caller]
pub(crate) fn placed(cx: &ToolContext, position: u32) -> ToolContext {
    let thread = cx.thread().expect("the context has a conversation");
    cx.for_call(CallId::in_thread(&thread, 1, position))
}

/// Returns the id of a thread in the workspace `acme`.
pub(crate) fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

pub(crate) fn mail(id: &str) -> ToolCall {
    ToolCall::new(id, "send_mail", r#"{"to":"bob"}"#)
}

#[track_caller]
pub(crate) fn ticket(result: &CallResult) -> Ticket {
    assert_eq!(kind(result), Some(ErrorKind::Pending), "{result:?}");
    let [ticket] = result.tickets() else {
        panic!("one ticket: {result:?}");
    };
    ticket.clone()
}

pub(crate) fn kind(result: &CallResult) -> Option<ErrorKind> {
    result.error().map(ToolError::kind)
}
