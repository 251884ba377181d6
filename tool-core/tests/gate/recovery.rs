//! Continuing interrupted calls: by their approval, from the ledger, or by an operator.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tool_core::env::{self, Env};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{ModelMessage, StoredMessage, Turn, Turns};
use tool_core::{ErrorKind, Gate, Reply, Rules, Ticket};

use crate::support::{Host, Mailbox, kind, mail, placed, thread, ticket};

/// Sends a parcel. If the first parcel is lost, the call never returns.
#[tool(approval, timeout = "200ms")]
async fn parcel(
    mailbox: &Mailbox,
    /// Whether the parcel is lost.
    lost: bool,
) -> usize {
    mailbox.send();
    if lost && mailbox.sent() == 1 {
        std::future::pending::<()>().await;
    }
    mailbox.sent()
}

fn cx(host: &Host) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(host.mailbox.clone())
        .build()
}

async fn answer(host: &Host, tools: &Toolset, ticket: &Ticket, reply: Reply) {
    host.approvals()
        .answer(&"acme".into(), tools, &ticket.token, reply, "boss", None)
        .await
        .unwrap();
}

async fn record(turns: &Turns, message: ModelMessage, host: &Host) -> StoredMessage {
    turns.record(message, &cx(host)).await.unwrap()
}

async fn texts(
    turns: &Turns,
    tools: &Toolset,
    message: &StoredMessage,
    host: &Host,
) -> Vec<String> {
    match turns.run(tools, message, &cx(host)).await.unwrap() {
        Turn::Complete(results) => results.into_iter().map(|result| result.text).collect(),
        turn => panic!("{turn:?}"),
    }
}

async fn only(host: &Host) -> EffectRow {
    let rows = EffectLedger::list(&host.store, Scope::All, None)
        .await
        .unwrap();
    let [row] = <[EffectRow; 1]>::try_from(rows).unwrap();
    row
}

// S2-15, S2-16: the turn continues with the arguments that the approver wrote.
#[tokio::test]
async fn turn_continues_with_edited_arguments() {
    let host = Host::new();
    let turns = Turns::new(host.store.clone());
    let message = record(&turns, ModelMessage::calls([mail("c-1")]), &host).await;
    let Turn::Waiting(tickets) = turns.run(&host.tools, &message, &cx(&host)).await.unwrap() else {
        panic!()
    };
    let edit = Reply::Edit(r#"{"to":"eve","copies":2}"#.to_owned());
    answer(&host, &host.tools, &tickets[0], edit).await;
    assert_eq!(
        texts(&turns, &host.tools, &message, &host).await,
        ["sent to eve"]
    );
    assert_eq!(host.mailbox.sent(), 2);
    // This thread store does not contain the result, so the turn reads it from the ledger.
    let elsewhere = Turns::new(MemoryStore::default());
    assert_eq!(
        texts(&elsewhere, &host.tools, &message, &host).await,
        ["sent to eve"]
    );
    assert_eq!(host.mailbox.sent(), 2);
}

/// Sends a note. The call needs an approval only if a policy requires it.
#[tool]
async fn send_note(
    mailbox: &Mailbox,
    /// The recipient of the note.
    to: String,
) -> String {
    mailbox.send();
    format!("sent to {to}")
}

fn note(to: &str) -> ToolCall {
    ToolCall::new("c-1", "send_note", format!(r#"{{"to":"{to}"}}"#))
}

/// Returns the tools under a policy with one rule.
fn under(host: &Host, rule: Rule) -> Toolset {
    let policy = Policy::builder().rule(rule).build().unwrap();
    let rules = Rules::default().policy(&SharedPolicy::new(policy));
    let registry = Registry::builder().tool::<send_note>().build().unwrap();
    registry.toolset(&host.ann(), &rules).through(&host.gate)
}

fn edit(to: &str) -> Reply {
    Reply::Edit(format!(r#"{{"to":"{to}"}}"#))
}

// An edited call that has run is replayed under a changed policy, without a new approval
#[tokio::test]
async fn edited_call_is_replayed_under_a_changed_policy() {
    let host = Host::new();
    let cx = placed(&host.ann(), 0);
    let before = under(&host, Rule::ask("mails").tools(["send_*"]));
    let asked = ticket(&before.call(note("bob"), &cx).await);
    answer(&host, &before, &asked, edit("eve")).await;
    let result = before.call(note("bob"), &cx).await;
    assert_eq!(result.model_text(), "sent to eve");
    for rule in [
        Rule::ask("all").tools(["*"]),
        Rule::allow("all").tools(["*"]),
        Rule::deny("all").tools(["*"]),
    ] {
        let again = under(&host, rule).call(note("bob"), &cx).await;
        assert_eq!(again.model_text(), "sent to eve", "{again:?}");
    }
    assert_eq!(host.mailbox.sent(), 1);
    let waiting = host.approvals().waiting(&thread("th-1")).await.unwrap();
    assert!(waiting.is_empty(), "{waiting:?}");
    // A call whose arguments differ from the requested arguments is a different call.
    let allowed = under(&host, Rule::allow("all").tools(["*"]));
    let refused = allowed.call(note("joe"), &cx).await;
    assert_eq!(kind(&refused), Some(ErrorKind::Denied), "{refused:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

// An edited call that has run is replayed for another user who continues the conversation, without a new approval
#[tokio::test]
async fn edited_call_is_replayed_for_a_second_user() {
    let host = Host::new();
    let tools = under(&host, Rule::ask("mails").tools(["send_*"]));
    let turns = Turns::new(host.store.clone());
    let message = ModelMessage::calls([note("bob")]);
    let message = turns.record(message, &host.ann()).await.unwrap();
    let turn = turns.run(&tools, &message, &host.ann()).await.unwrap();
    let Turn::Waiting(tickets) = turn else {
        panic!("{turn:?}")
    };
    answer(&host, &tools, &tickets[0], edit("eve")).await;
    // The call runs for ann, and its result is not in the thread.
    let resumed = tools.resume(&tickets[0].token, &host.ann()).await;
    assert_eq!(resumed.model_text(), "sent to eve");
    let other = host.of("acme", "joe", "th-1");
    let turn = turns.run(&tools, &message, &other).await.unwrap();
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    assert_eq!(results[0].text, "sent to eve");
    assert_eq!(host.mailbox.sent(), 1);
}

// If two users request an approval of one call, and the call runs for one user, the other user gets its result
#[tokio::test]
async fn executed_call_is_not_denied_to_a_second_user() {
    for ran_edited in [true, false] {
        let host = Host::new();
        let tools = under(&host, Rule::ask("mails").tools(["send_*"]));
        let turns = Turns::new(host.store.clone());
        let message = ModelMessage::calls([note("bob")]);
        let message = turns.record(message, &host.ann()).await.unwrap();
        let other = host.of("acme", "joe", "th-1");
        let mut tickets = Vec::new();
        for cx in [&host.ann(), &other] {
            let turn = turns.run(&tools, &message, cx).await.unwrap();
            let Turn::Waiting(asked) = turn else {
                panic!("{turn:?}")
            };
            tickets.extend(asked);
        }
        let (first, second) = if ran_edited {
            (edit("eve"), Reply::Approve)
        } else {
            (Reply::Approve, edit("eve"))
        };
        answer(&host, &tools, &tickets[0], first).await;
        answer(&host, &tools, &tickets[1], second).await;
        let resumed = tools.resume(&tickets[0].token, &host.ann()).await;
        let turn = turns.run(&tools, &message, &other).await.unwrap();
        let Turn::Complete(results) = turn else {
            panic!("{turn:?}")
        };
        assert_eq!(results[0].text, resumed.model_text());
        assert_eq!(host.mailbox.sent(), 1);
    }
}

/// An environment with a wall clock that never advances and with decreasing random bytes, so that the store sorts the second of two approvals before
/// the first.
struct Standing(AtomicU8);

impl Env for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }

    fn monotonic(&self) -> Instant {
        Instant::now()
    }

    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        bytes.fill(self.0.fetch_sub(1, Ordering::Relaxed));
        Ok(())
    }

    fn spawn(&self, task: env::Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: env::Work) {
        tokio::task::spawn_blocking(work);
    }
}

// A call that is edited twice within the same millisecond is replayed with the second edit
#[tokio::test]
async fn call_that_was_edited_twice_within_a_millisecond_is_replayed() {
    let _entered = env::enter(Arc::new(Standing(AtomicU8::new(u8::MAX))));
    edited_twice().await;
}

// A call that is edited twice, with a policy change in between, is replayed with the second edit
#[tokio::test]
async fn call_that_was_edited_twice_is_replayed() {
    edited_twice().await;
}

async fn edited_twice() {
    let host = Host::new();
    let cx = placed(&host.ann(), 0);
    let before = under(&host, Rule::ask("mails").tools(["send_*"]));
    let after = under(&host, Rule::ask("all").tools(["*"]));
    let first = ticket(&before.call(note("bob"), &cx).await);
    answer(&host, &before, &first, edit("eve")).await;
    let second = ticket(&after.resume(&first.token, &cx).await);
    answer(&host, &after, &second, edit("zoe")).await;
    let result = after.resume(&second.token, &cx).await;
    assert_eq!(result.model_text(), "sent to zoe");
    let again = after.call(note("bob"), &cx).await;
    assert_eq!(again.model_text(), "sent to zoe", "{again:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

// An ambiguous call stays unsettled under a changed policy, and no approval is requested
#[tokio::test]
async fn ambiguous_call_stays_unsettled_under_a_changed_policy() {
    let host = Host::new();
    let tools = toolset![parcel].through(&host.gate);
    let call = || ToolCall::new("c-1", "parcel", r#"{"lost":false}"#);
    let cx = placed(&host.ann(), 0);
    let asked = ticket(&tools.call(call(), &cx).await);
    let lost = Reply::Edit(r#"{"lost":true}"#.to_owned());
    answer(&host, &tools, &asked, lost).await;
    assert!(tools.call(call(), &cx).await.is_error());
    assert_eq!(only(&host).await.state, EffectState::Ambiguous);
    let policy = Policy::builder().rule(Rule::ask("all").tools(["*"]));
    let rules = Rules::default().policy(&SharedPolicy::new(policy.build().unwrap()));
    let registry = Registry::builder().tool::<parcel>().build().unwrap();
    let tools = registry.toolset(&cx, &rules).through(&host.gate);
    let again = tools.call(call(), &cx).await;
    assert_eq!(kind(&again), Some(ErrorKind::Interrupted), "{again:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

// M5, M6: an approved call runs once although the process died between the use of its approval and the intent in the ledger.
#[tokio::test]
async fn used_approval_runs_its_unbegun_call_once() {
    for by_token in [true, false] {
        let host = Host::new();
        let ticket = host.asked().await;
        host.approve(&ticket).await;
        let row = ApprovalStore::get(&host.store, &"acme".into(), &ticket.id)
            .await
            .unwrap();
        let nonce = row.unwrap().request.nonce;
        let acme = Workspace::new("acme");
        let spent = host
            .store
            .spend(&acme, &ticket.id, &nonce, Timestamp::now())
            .await;
        assert!(spent.unwrap());
        for _ in 0..3 {
            let result = if by_token {
                host.tools.resume(&ticket.token, &host.ann()).await
            } else {
                host.tools.call(mail("c-1"), &placed(&host.ann(), 1)).await
            };
            assert_eq!(result.model_text(), "sent to bob");
        }
        assert_eq!(host.mailbox.sent(), 1);
    }
}

// M5: a used approval does not run a call without a ledger, because the call may have run already.
#[tokio::test]
async fn used_approval_is_refused_without_a_ledger() {
    let host = Host::new();
    let ticket = host.asked().await;
    host.approve(&ticket).await;
    host.tools.resume(&ticket.token, &host.ann()).await;
    let gate = Gate::builder().approvals(host.approvals().clone()).build();
    let tools = host.tools.clone().through(&gate);
    let again = tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(kind(&again), Some(ErrorKind::Denied));
    let again = tools.call(mail("c-1"), &placed(&host.ann(), 1)).await;
    assert_eq!(kind(&again), Some(ErrorKind::Denied));
    assert_eq!(host.mailbox.sent(), 1);
}

// M5: an approval that was withdrawn does not run a call.
#[tokio::test]
async fn withdrawn_approval_runs_nothing() {
    let host = Host::new();
    let ticket = host.asked().await;
    host.approve(&ticket).await;
    assert!(
        host.store
            .withdraw(&"acme".into(), &ticket.id)
            .await
            .unwrap()
    );
    let result = host.tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(kind(&result), Some(ErrorKind::Denied));
    assert_eq!(host.mailbox.sent(), 0);
}

// M6: when an operator allows a rerun, the approved call runs again without a second approval.
#[tokio::test]
async fn operator_can_rerun_an_approved_call() {
    let host = Host::new();
    let tools = toolset![parcel].through(&host.gate);
    let turns = Turns::new(host.store.clone());
    let message = ModelMessage::calls([ToolCall::new("c-1", "parcel", r#"{"lost":true}"#)]);
    let message = record(&turns, message, &host).await;
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx(&host)).await.unwrap() else {
        panic!()
    };
    answer(&host, &tools, &tickets[0], Reply::Approve).await;
    // This thread store does not contain the result of the first run.
    let cut = Turns::new(MemoryStore::default());
    assert!(texts(&cut, &tools, &message, &host).await[0].contains("exceeded its time limit"));
    let row = only(&host).await;
    assert_eq!(row.state, EffectState::Ambiguous);

    let waits = |turn| match turn {
        Turn::Unsettled(row) => row.state,
        turn => panic!("{turn:?}"),
    };
    let turn = turns.run(&tools, &message, &cx(&host)).await.unwrap();
    assert_eq!(waits(turn), EffectState::Ambiguous);
    let stored = ThreadStore::read(&host.store, &thread("th-1"), None)
        .await
        .unwrap();
    assert_eq!(stored.len(), 1, "no result is stored for an ambiguous call");
    host.gate
        .resolve(&row.intent.identity.key(), Resolution::Rerun, "otto")
        .await
        .unwrap();
    assert_eq!(texts(&turns, &tools, &message, &host).await, ["2"]);
    assert_eq!(host.mailbox.sent(), 2);
    let again = tools.resume(&tickets[0].token, &cx(&host)).await;
    assert_eq!((again.model_text().as_str(), host.mailbox.sent()), ("2", 2));
}

/// Sends a letter slowly.
#[tool]
async fn letter(mailbox: &Mailbox) -> usize {
    tokio::time::sleep(Duration::from_millis(100)).await;
    mailbox.send();
    mailbox.sent()
}

// S4-62: while one drive runs a call of a turn, two other drives of the turn neither skip the call nor replace its result.
#[tokio::test]
async fn turn_that_runs_in_another_process_is_not_rerun() {
    let host = Host::new();
    let tools = toolset![letter].through(&host.gate);
    let turns = Turns::new(host.store.clone());
    let calls = ["c-1", "c-2"].map(|id| ToolCall::new(id, "letter", "{}"));
    let message = record(&turns, ModelMessage::calls(calls), &host).await;
    // Another process that does not share the rows of runs finds the call in the ledger.
    let runs = std::sync::Arc::new(MemoryStore::default());
    let apart = Turns::shared(std::sync::Arc::new(host.store.clone()), runs);
    let (one, two, three) = (cx(&host), cx(&host), cx(&host));
    let (first, busy, second) = tokio::join!(
        turns.run(&tools, &message, &one),
        async {
            tokio::task::yield_now().await;
            turns.run(&tools, &message, &two).await
        },
        async {
            tokio::task::yield_now().await;
            apart.run(&tools, &message, &three).await
        }
    );
    assert!(matches!(busy.unwrap(), Turn::Busy(_)));
    let Turn::Unsettled(row) = second.unwrap() else {
        panic!()
    };
    assert_eq!(row.state, EffectState::Running);
    let Turn::Complete(results) = first.unwrap() else {
        panic!()
    };
    assert_eq!(
        results
            .iter()
            .map(|result| result.text.as_str())
            .collect::<Vec<_>>(),
        ["1", "2"]
    );
}
