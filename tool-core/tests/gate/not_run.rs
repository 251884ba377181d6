//! Results that report that a call was not run. A call that has run or can still run never gets this result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use tool_core::limits::{Limit, Limits};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{
    DuringRun, Model, ModelMessage, ModelRequest, Outcome, StoredMessage, Turn, Turns,
};
use tool_core::{
    Approvals, Audit, CancellationToken, DynamicTool, Effect, ErrorKind, Gate, GateBuilder, Rules,
    Ticket, Uses,
};

use crate::support::{Host, Mailbox, count, kind, mail, pay, send_mail, thread};

/// Sends a parcel that may be lost in transit.
#[tool(timeout = "50ms")]
async fn parcel(
    mailbox: &Mailbox,
    /// Whether the parcel is lost.
    lost: bool,
) -> usize {
    mailbox.send();
    if lost {
        std::future::pending::<()>().await;
    }
    mailbox.sent()
}

fn sends(id: &str, lost: bool) -> ToolCall {
    ToolCall::new(id, "parcel", format!(r#"{{"lost":{lost}}}"#))
}

fn gate(store: &MemoryStore) -> GateBuilder {
    Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
}

fn caller(host: &Host, user: &str, agent: &str) -> tool_core::ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .user(user)
        .agent(agent)
        .conversation("th-1")
        .with(host.mailbox.clone())
}

fn ann(host: &Host) -> ToolContext {
    caller(host, "ann", "clerk").build()
}

/// Returns the context of `ann` in a turn that the user has stopped.
fn stopped(host: &Host) -> ToolContext {
    let stop = CancellationToken::new();
    stop.cancel();
    caller(host, "ann", "clerk").cancellation(stop).build()
}

async fn record(host: &Host, calls: impl IntoIterator<Item = ToolCall>) -> StoredMessage {
    let turns = Turns::new(host.store.clone());
    let message = ModelMessage::calls(calls);
    turns.record(message, &ann(host)).await.unwrap()
}

/// Records a message with two calls. The first call has run for ann, but its result is not in the thread, as if the process had died.
async fn cut(host: &Host, lost: bool) -> StoredMessage {
    let message = record(host, [sends("a", lost), sends("b", false)]).await;
    let tools = toolset![parcel].through(&gate(&host.store).build());
    let first = CallId::in_thread(message.thread(), message.seq(), 0);
    let cx = ann(host).for_call(first);
    let result = tools.call(sends("a", lost), &cx).await;
    let ended = kind(&result);
    assert_eq!(ended, lost.then_some(ErrorKind::TimedOut), "{result:?}");
    message
}

async fn run(host: &Host, tools: &Toolset, message: &StoredMessage, cx: &ToolContext) -> Turn {
    let turns = Turns::new(host.store.clone());
    turns.run(tools, message, cx).await.unwrap()
}

#[track_caller]
fn texts(turn: Turn) -> Vec<String> {
    match turn {
        Turn::Complete(results) => results.into_iter().map(|result| result.text).collect(),
        turn => panic!("{turn:?}"),
    }
}

#[track_caller]
fn waiting(turn: Turn) -> Vec<Ticket> {
    match turn {
        Turn::Waiting(tickets) => tickets,
        turn => panic!("{turn:?}"),
    }
}

/// Returns the ambiguous row at which a turn stopped.
#[track_caller]
fn doubt(turn: Turn) -> EffectRow {
    match turn {
        Turn::Unsettled(row) => *row,
        turn => panic!("{turn:?}"),
    }
}

async fn stored(host: &Host) -> usize {
    let thread = ThreadStore::read(&host.store, &thread("th-1"), None).await;
    thread.unwrap().len()
}

const STOPPED: &str = "the turn was stopped before this call";

// A turn that is stopped before it begins reads the result of a call that has run
#[tokio::test]
async fn stopped_turn_reads_the_result_of_a_call_that_has_run() {
    let host = Host::new();
    let message = cut(&host, false).await;
    let tools = toolset![parcel].through(&host.gate);
    let turn = run(&host, &tools, &message, &stopped(&host)).await;
    assert_eq!(texts(turn), ["1", STOPPED]);
    assert_eq!(host.mailbox.sent(), 1);
}

// A turn that is stopped before it begins reports an ambiguous effect as unsettled
#[tokio::test]
async fn stopped_turn_stops_at_an_ambiguous_call() {
    let host = Host::new();
    let message = cut(&host, true).await;
    let tools = toolset![parcel].through(&host.gate);
    for _ in 0..2 {
        let row = doubt(run(&host, &tools, &message, &stopped(&host)).await);
        assert_eq!(row.state, EffectState::Ambiguous);
        assert_eq!(
            stored(&host).await,
            1,
            "no result is stored for an ambiguous call"
        );
    }
    let arrived = Resolution::Succeeded("7".to_owned());
    let key = CallId::in_thread(message.thread(), message.seq(), 0).key();
    host.gate.resolve(&key, arrived, "otto").await.unwrap();
    let turn = run(&host, &tools, &message, &stopped(&host)).await;
    assert_eq!(texts(turn), ["7", STOPPED]);
}

// A stopped turn does not report that a call was stopped before it began, if an earlier run may have begun the call and would continue it
#[tokio::test]
async fn stopped_turn_does_not_deny_the_beginning_of_a_call_that_continues() {
    let host = Host::new();
    let empty =
        serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false});
    let ask = |_: serde_json::Value, _: ToolContext| async {
        Err::<String, _>(ToolError::of(ErrorKind::Pending, "the agent waits"))
    };
    let agent = tool_core::DynamicTool::new("agent", "Runs an agent.", empty.to_string(), ask);
    let registry = tool_core::Registry::builder().dynamic(agent.continues());
    let tools = registry.build().unwrap().open().through(&host.gate);
    let turns = Turns::new(host.store.clone());
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-2")
        .build();
    let calls = ModelMessage::calls([ToolCall::new("c-1", "agent", "{}")]);
    let message = turns.record(calls, &cx).await.unwrap();
    // The store does not show whether an earlier process has begun the call.
    let token = tool_core::CancellationToken::new();
    token.cancel();
    let stopped = cx.derive().cancellation(token).build();
    let turn = turns.run(&tools, &message, &stopped).await.unwrap();
    assert_eq!(texts(turn), ["the turn was stopped before this call ended"]);
}

/// A ledger that cannot be read.
struct Unread(MemoryStore);

impl EffectLedger for Unread {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.0.begin(intent, audit)
    }
    fn get<'a>(&'a self, _: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        Box::pin(async { Err(StoreError::Unavailable("the ledger is unreadable".into())) })
    }
    pass_on!(self => self.0; renew end resolve sweep list);
}

// A stopped turn that cannot read the ledger leaves the call open
#[tokio::test]
async fn stopped_turn_leaves_calls_open_while_the_ledger_is_down() {
    let host = Host::new();
    let message = cut(&host, false).await;
    let away = gate(&host.store).ledger(Unread(host.store.clone())).build();
    let tools = toolset![parcel].through(&away);
    let turns = Turns::new(host.store.clone());
    let turn = turns.run(&tools, &message, &stopped(&host)).await;
    assert!(
        matches!(turn, Err(tool_core::turn::TurnError::Store(_))),
        "{turn:?}"
    );
    assert_eq!(stored(&host).await, 1);
}

/// A host value with which a tool stores the user's next message.
#[derive(Clone)]
struct UserTurns(Turns, ToolContext);
tool_core::host_value!(UserTurns, Effect::READ);

/// Looks a word up while the user writes a message.
#[tool(read_only)]
async fn look_up(user_turns: &UserTurns) -> Result<String, ToolError> {
    let stored = user_turns.0.say("wait", &user_turns.1).await;
    stored.map_err(ToolError::foreign)?;
    Ok("seen".to_owned())
}

// An interrupted turn reads the result of a call that has run, and does not report that call as not run
#[tokio::test]
async fn interrupted_turn_reads_the_result_of_a_call_that_has_run() {
    for lost in [false, true] {
        let host = Host::new();
        let turns = Turns::new(host.store.clone()).during_run(DuringRun::Interrupt);
        let look = ToolCall::new("l", "look_up", "{}");
        let message = record(&host, [look, sends("a", lost), sends("b", false)]).await;
        let tools = toolset![parcel, look_up].through(&host.gate);
        let second = CallId::in_thread(message.thread(), message.seq(), 1);
        let cx = ann(&host).for_call(second);
        tools.call(sends("a", lost), &cx).await;
        let user_turns = UserTurns(turns.clone(), ann(&host));
        let cx = caller(&host, "ann", "clerk").with(user_turns).build();
        let turn = turns.run(&tools, &message, &cx).await.unwrap();
        if lost {
            assert_eq!(doubt(turn).state, EffectState::Ambiguous);
        } else {
            let texts = texts(turn);
            assert_eq!(texts[..2], ["seen", "1"]);
            assert!(texts[2].contains("so it was not run"), "{texts:?}");
        }
        assert_eq!(host.mailbox.sent(), 1);
    }
}

/// Returns tools behind a gate that allows `calls` calls per hour.
fn limited(host: &Host, calls: u32) -> Toolset {
    let quota = Limit::quota(calls, Duration::from_hours(1));
    let limits = Limits::builder().limit(quota).build().unwrap();
    let gate = gate(&host.store).limits(limits).build();
    toolset![parcel, send_mail, pay].through(&gate)
}

// A call that has run and is dispatched again returns its stored result, even if a limit refuses it now
#[tokio::test]
async fn refusing_limit_returns_the_result_of_a_call_that_has_run() {
    for lost in [false, true] {
        let host = Host::new();
        let tools = limited(&host, 1);
        let message = record(&host, [sends("a", lost)]).await;
        let first = CallId::in_thread(message.thread(), message.seq(), 0);
        let cx = ann(&host).for_call(first);
        tools.call(sends("a", lost), &cx).await;
        let turn = run(&host, &tools, &message, &ann(&host)).await;
        if lost {
            assert_eq!(doubt(turn).state, EffectState::Ambiguous);
        } else {
            assert_eq!(texts(turn), ["1"]);
        }
        assert_eq!(host.mailbox.sent(), 1);
    }
}

// The approval of a call that a limit has refused is withdrawn
#[tokio::test]
async fn approval_of_a_call_that_a_limit_refuses_is_withdrawn() {
    for approved in [false, true] {
        let host = Host::new();
        let tools = limited(&host, 1);
        let message = record(&host, [mail("m")]).await;
        let asked = waiting(run(&host, &tools, &message, &ann(&host)).await).remove(0);
        let approvals = tools.gate().unwrap().approvals().unwrap();
        let yes = |token: String| {
            let tools = tools.clone();
            async move {
                let acme = "acme".into();
                let reply = tool_core::Reply::Approve;
                let answer = approvals.answer(&acme, &tools, &token, reply, "boss", None);
                answer.await
            }
        };
        if approved {
            yes(asked.token.clone()).await.unwrap();
        }
        let turn = run(&host, &tools, &message, &ann(&host)).await;
        assert!(texts(turn)[0].contains("too many calls"));
        if !approved {
            yes(asked.token.clone()).await.unwrap_err();
        }
        let free = toolset![send_mail].through(
            &Gate::builder()
                .approvals(approvals.clone())
                .ledger(host.store.clone())
                .build(),
        );
        let result = free.resume(&asked.token, &ann(&host)).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied), "{result:?}");
        assert_eq!(host.mailbox.sent(), 0);
    }
}

/// Returns the tools of a version that accepts amounts up to `most`.
fn version(host: &Host, most: u32) -> Toolset {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"amount": {"type": "integer", "minimum": 1, "maximum": most, "description": "The amount in euros."}},
        "required": ["amount"],
        "additionalProperties": false
    });
    let mailbox = host.mailbox.clone();
    let pay_out = DynamicTool::new(
        "pay_out",
        "Pays an amount out.",
        schema,
        move |arguments: serde_json::Value, _: ToolContext| {
            mailbox.send();
            async move { Ok::<_, ToolError>(arguments["amount"].clone()) }
        },
    )
    .effect(Effect::WRITE);
    let registry = Registry::builder().dynamic(pay_out).build().unwrap();
    registry.open().through(&gate(&host.store).build())
}

// A call that took effect returns its stored result, even if a stricter schema refuses its arguments now
#[tokio::test]
async fn stricter_schema_returns_the_result_of_a_call_that_has_run() {
    let host = Host::new();
    let call = |id: &str| ToolCall::new(id, "pay_out", r#"{"amount":500}"#);
    let message = record(&host, [call("a"), call("b")]).await;
    let first = CallId::in_thread(message.thread(), message.seq(), 0);
    let (before, cx) = (version(&host, 1000), ann(&host).for_call(first));
    let paid = before.call(call("a"), &cx).await;
    assert_eq!(paid.model_text(), "500");
    let turn = run(&host, &version(&host, 100), &message, &ann(&host)).await;
    let texts = texts(turn);
    assert_eq!(texts[0], "500");
    assert!(texts[1].contains("`/amount`"), "{texts:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

/// Other callers that continue ann's conversation.
const OTHERS: [[&str; 2]; 3] = [["bob", "clerk"], ["ann", "scout"], ["bob", "scout"]];

// Another user or agent that continues the conversation gets the result of a call that has run, or stops at the call if it is ambiguous
#[tokio::test]
async fn second_user_reads_the_result_of_an_earlier_call() {
    for [user, agent] in OTHERS {
        for lost in [false, true] {
            let host = Host::new();
            let message = cut(&host, lost).await;
            let tools = toolset![parcel].through(&host.gate);
            let other = caller(&host, user, agent).build();
            let turn = run(&host, &tools, &message, &other).await;
            if lost {
                assert_eq!(doubt(turn).state, EffectState::Ambiguous, "{user} {agent}");
                assert_eq!(host.mailbox.sent(), 1);
            } else {
                assert_eq!(texts(turn), ["1", "2"], "{user} {agent}");
                assert_eq!(host.mailbox.sent(), 2);
            }
        }
    }
}

/// Returns tools under a policy that denies every tool, so that all are hidden.
fn denying(host: &Host, tools: tool_core::RegistryBuilder, cx: &ToolContext) -> Toolset {
    let deny = Rule::deny("all").tools(["*"]);
    let policy = Policy::builder().rule(deny).build().unwrap();
    let rules = Rules::default().policy(&SharedPolicy::new(policy));
    let registry = tools.build().unwrap();
    registry.toolset(cx, &rules).through(&host.gate)
}

// If a policy denies the tool to another user or agent that continues the conversation, the unused approval of the call is withdrawn
#[tokio::test]
async fn denial_to_another_user_withdraws_every_approval_of_the_call() {
    for [user, agent] in OTHERS {
        let host = Host::new();
        let message = record(&host, [mail("m")]).await;
        let asked = waiting(run(&host, &host.tools, &message, &ann(&host)).await).remove(0);
        host.approve(&asked).await;
        let other = caller(&host, user, agent).build();
        let denied = denying(&host, Registry::builder().tool::<send_mail>(), &other);
        let turn = run(&host, &denied, &message, &other).await;
        assert!(texts(turn)[0].contains("there is no tool"));
        let result = host.tools.resume(&asked.token, &ann(&host)).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied), "{result:?}");
        assert_eq!(host.mailbox.sent(), 0, "{user} {agent}");
    }
}

/// Sends a parcel, and a mail after an approval.
#[tool]
async fn send_both(
    #[context] uses: Uses<(parcel, send_mail)>,
    /// Whether the parcel is lost.
    lost: bool,
) -> Result<String, ToolError> {
    let parcel = uses.invoke(parcel { lost }).await;
    let mail = send_mail {
        to: "bob".to_owned(),
        copies: 1,
    };
    uses.invoke(mail).await?;
    parcel.map(|number| number.to_string())
}

/// Calls a tool that sends a parcel and a mail.
#[tool]
async fn send_deep(#[context] uses: Uses<(send_both,)>) -> Result<String, ToolError> {
    uses.invoke(send_both { lost: false }).await
}

fn all() -> tool_core::RegistryBuilder {
    Registry::builder()
        .tool::<parcel>()
        .tool::<send_mail>()
        .tool::<send_both>()
        .tool::<send_deep>()
        .tool::<count>()
}

fn outer(name: &str, lost: bool) -> ToolCall {
    let arguments = if name == "send_both" {
        format!(r#"{{"lost":{lost}}}"#)
    } else {
        "{}".to_owned()
    };
    ToolCall::new("o", name, arguments)
}

/// The reason why a later run refuses a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    Hidden,
    Limited,
    Stopped,
}

const REFUSALS: [Refusal; 3] = [Refusal::Hidden, Refusal::Limited, Refusal::Stopped];

async fn refused(host: &Host, message: &StoredMessage, refusal: Refusal) -> Turn {
    let open = |cx: &ToolContext| {
        let registry = all().build().unwrap();
        registry.toolset(cx, &Rules::default()).through(&host.gate)
    };
    let with_tools = |builder: tool_core::ToolContextBuilder| {
        let tools = open(&ann(host));
        builder.tools(&tools).build()
    };
    match refusal {
        Refusal::Hidden => {
            let cx = with_tools(caller(host, "ann", "clerk"));
            run(host, &denying(host, all(), &cx), message, &cx).await
        }
        Refusal::Limited => {
            let quota = Limit::quota(1, Duration::from_hours(1));
            let limits = Limits::builder().limit(quota).build().unwrap();
            let limited = Gate::builder()
                .approvals(host.approvals().clone())
                .ledger(host.store.clone())
                .limits(limits)
                .build();
            let tools = all().build().unwrap().open().through(&limited);
            let cx = caller(host, "ann", "clerk").tools(&tools).build();
            let counts = ToolCall::new("c", "count", r#"{"from":1}"#);
            tools.call(counts, &cx).await;
            run(host, &tools, message, &cx).await
        }
        Refusal::Stopped => {
            let stop = CancellationToken::new();
            stop.cancel();
            let cx = with_tools(caller(host, "ann", "clerk").cancellation(stop));
            run(host, &open(&cx), message, &cx).await
        }
    }
}

/// Makes a call that has sent a parcel and waits for the approval of a mail.
async fn half_done(host: &Host, name: &str, lost: bool) -> (StoredMessage, Ticket) {
    let message = record(host, [outer(name, lost)]).await;
    let tools = all().build().unwrap().open().through(&host.gate);
    let cx = caller(host, "ann", "clerk").tools(&tools).build();
    let asked = waiting(run(host, &tools, &message, &cx).await).remove(0);
    assert_eq!((asked.tool.as_str(), host.mailbox.sent()), ("send_mail", 1));
    (message, asked)
}

// A refused outer call that has sent a parcel and waits for an approval reports that a nested call has run
#[tokio::test]
async fn refused_outer_call_reports_nested_calls_that_have_run() {
    for refusal in REFUSALS {
        for name in ["send_both", "send_deep"] {
            let host = Host::new();
            let (message, _) = half_done(&host, name, false).await;
            let texts = texts(refused(&host, &message, refusal).await);
            assert!(
                texts[0].contains("1 call that it made has run"),
                "{refusal:?} {name}: {texts:?}"
            );
            assert_eq!(host.mailbox.sent(), 1);
        }
    }
}

// The approvals of nested calls are withdrawn when the outer call is refused
#[tokio::test]
async fn refused_outer_call_withdraws_nested_approvals() {
    for refusal in REFUSALS {
        for (name, approved) in [
            ("send_both", false),
            ("send_both", true),
            ("send_deep", true),
        ] {
            let host = Host::new();
            let (message, asked) = half_done(&host, name, false).await;
            if approved {
                host.approve(&asked).await;
            }
            texts(refused(&host, &message, refusal).await);
            let row = host.approvals().get(&"acme".into(), &asked.id).await;
            let status = row.unwrap().unwrap().status;
            assert_eq!(status, ApprovalStatus::Withdrawn, "{refusal:?} {name}");
            let result = host.tools.resume(&asked.token, &ann(&host)).await;
            assert_eq!(kind(&result), Some(ErrorKind::Denied), "{result:?}");
            assert_eq!(host.mailbox.sent(), 1);
        }
    }
}

// An outer call that waits continues for another user or agent of the conversation, and repeats no effect
#[tokio::test]
async fn waiting_outer_call_continues_for_other_users() {
    for (user, agent) in [("bob", "clerk"), ("ann", "scribe")] {
        let host = Host::new();
        let (message, _) = half_done(&host, "send_deep", false).await;
        let tools = all().build().unwrap().open().through(&host.gate);
        let other = caller(&host, user, agent).tools(&tools).build();
        let asked = waiting(run(&host, &tools, &message, &other).await).remove(0);
        assert_eq!(asked.tool, "send_mail");
        host.approve(&asked).await;
        assert_eq!(texts(run(&host, &tools, &message, &other).await), ["1"]);
        assert_eq!(host.mailbox.sent(), 2, "{user} {agent}");
    }
}

// Refusing an outer call stops at the ambiguous effect of a nested call
#[tokio::test]
async fn refused_outer_call_stops_at_an_ambiguous_nested_call() {
    for refusal in REFUSALS {
        let host = Host::new();
        let (message, _) = half_done(&host, "send_both", true).await;
        let row = doubt(refused(&host, &message, refusal).await);
        assert_eq!(row.intent.tool, "parcel", "{refusal:?}");
        assert_eq!(stored(&host).await, 1);
    }
}

// An outer call whose nested calls have not run is refused like any other call
#[tokio::test]
async fn refused_outer_call_without_nested_runs_is_a_plain_refusal() {
    let host = Host::new();
    let message = record(&host, [outer("send_both", false)]).await;
    let turn = refused(&host, &message, Refusal::Stopped).await;
    assert_eq!(texts(turn), [STOPPED]);
}

/// Sends a mail after an approval, or returns its own error. It has effects besides its calls, so it does not run again.
#[tool]
async fn give_up(
    #[context] _mailbox: Mailbox,
    #[context] uses: Uses<(send_mail,)>,
) -> Result<String, ToolError> {
    let mail = send_mail {
        to: "bob".to_owned(),
        copies: 1,
    };
    match uses.invoke(mail).await {
        Ok(sent) => Ok(sent),
        Err(_) => Err(ToolError::new("the letter could not be sent")),
    }
}

// The approvals of nested calls are withdrawn when the outer call has failed and will not run again
#[tokio::test]
async fn failed_outer_call_withdraws_nested_approvals() {
    let host = Host::new();
    let tools = toolset![send_mail, give_up].through(&host.gate);
    let cx = caller(&host, "ann", "clerk").tools(&tools).build();
    let message = record(&host, [ToolCall::new("g", "give_up", "{}")]).await;
    let turn = run(&host, &tools, &message, &cx).await;
    assert_eq!(texts(turn), ["the letter could not be sent"]);
    let open = ApprovalFilter {
        status: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    let open = host.approvals().list(Scope::All, &open).await.unwrap();
    assert_eq!(open, []);
}

/// Sends a mail if a person agrees, and continues without it where there is no such tool.
#[tool]
async fn send_or_skip(#[context] uses: Uses<(send_mail,)>) -> Result<String, ToolError> {
    let mail = send_mail {
        to: "bob".to_owned(),
        copies: 1,
    };
    match uses.invoke(mail).await {
        Err(error) if error.kind() == ErrorKind::UnknownTool => Ok("skipped".to_owned()),
        sent => sent,
    }
}

/// Sends a mail after an approval.
#[tool]
async fn send_or_fail(#[context] uses: Uses<(send_mail,)>) -> Result<String, ToolError> {
    let to = "bob".to_owned();
    uses.invoke(send_mail { to, copies: 1 }).await
}

// The approval of a nested call is withdrawn when its outer call ends without running the nested call
#[tokio::test]
async fn ended_outer_call_withdraws_the_unused_nested_approval() {
    for (approved, name, text) in [
        (false, "send_or_skip", "skipped"),
        (true, "send_or_skip", "skipped"),
        (true, "send_or_fail", "there is no tool `send_mail`"),
    ] {
        let host = Host::new();
        let registry = || {
            Registry::builder()
                .tool::<send_or_skip>()
                .tool::<send_or_fail>()
        };
        let tools = registry().tool::<send_mail>().build().unwrap().open();
        let tools = tools.through(&host.gate);
        let cx = caller(&host, "ann", "clerk").tools(&tools).build();
        let message = record(&host, [ToolCall::new("o", name, "{}")]).await;
        let asked = waiting(run(&host, &tools, &message, &cx).await).remove(0);
        if approved {
            host.approve(&asked).await;
        }
        // The operator disables the nested tool.
        let fewer = registry().build().unwrap().open().through(&host.gate);
        let less = caller(&host, "ann", "clerk").tools(&fewer).build();
        let results = texts(run(&host, &fewer, &message, &less).await);
        assert!(results[0].contains(text), "{results:?}");
        let resumed = tools.resume(&asked.token, &cx).await;
        assert!(resumed.is_error(), "{resumed:?}");
        assert_eq!(host.mailbox.sent(), 0);
    }
}

// A nested call that is resumed by its approval token while a turn refuses it is not reported as not run
#[tokio::test]
async fn nested_call_that_starts_during_its_refusal_is_not_refused() {
    let host = Host::new();
    let registry = || Registry::builder().tool::<send_or_fail>();
    let tools = registry().tool::<send_mail>().build().unwrap().open();
    let tools = tools.through(&host.gate);
    let cx = caller(&host, "ann", "clerk").tools(&tools).build();
    let message = record(&host, [ToolCall::new("o", "send_or_fail", "{}")]).await;
    let asked = waiting(run(&host, &tools, &message, &cx).await).remove(0);
    host.approve(&asked).await;
    // Another process, in which the nested tool is disabled, continues the turn.
    let late = Late::new(&host.store);
    let ledger = DelayedGet(late.clone(), AtomicBool::default());
    let slow = Gate::builder()
        .approvals(host.approvals().clone())
        .ledger(ledger)
        .build();
    let fewer = registry().build().unwrap().open().through(&slow);
    let less = caller(&host, "ann", "clerk").tools(&fewer).build();
    let turns = Turns::new(host.store.clone());
    let mut going_on = tokio::spawn(async move { turns.run(&fewer, &message, &less).await });
    tokio::select! {
        () = late.asked.notified() => {}
        ended = &mut going_on => panic!("{ended:?}"),
    }
    let sent = tools.resume(&asked.token, &cx).await;
    assert!(!sent.is_error(), "{sent:?}");
    late.goes_on.notify_one();
    let results = texts(going_on.await.unwrap().unwrap());
    assert_eq!(
        (results, host.mailbox.sent()),
        (vec!["sent to bob".to_owned()], 1)
    );
}

// An outer call whose nested mail is denied reports that one of its nested calls, the parcel, has run
#[tokio::test]
async fn denied_outer_call_reports_nested_calls_that_have_run() {
    let host = Host::new();
    let (message, asked) = half_done(&host, "send_deep", false).await;
    let tools = all().build().unwrap().open().through(&host.gate);
    let acme = "acme".into();
    let no = host.approvals().answer(
        &acme,
        &tools,
        &asked.token,
        tool_core::Reply::Deny,
        "boss",
        None,
    );
    no.await.unwrap();
    let cx = caller(&host, "ann", "clerk").tools(&tools).build();
    let texts = texts(run(&host, &tools, &message, &cx).await);
    assert_eq!(
        texts,
        ["a person has denied the call (1 call that it made has run)"]
    );
    assert_eq!(host.mailbox.sent(), 1);
}

// If a process spends an approval and dies before the call begins, the call cannot begin after a refusal
#[tokio::test]
async fn call_with_a_used_approval_does_not_begin_after_it_was_refused() {
    for refusal in REFUSALS {
        let host = Host::new();
        let message = record(&host, [mail("m")]).await;
        let tools = all().build().unwrap().open().through(&host.gate);
        let asked = waiting(run(&host, &tools, &message, &ann(&host)).await).remove(0);
        host.approve(&asked).await;
        let acme = "acme".into();
        let row = host.approvals().get(&acme, &asked.id).await.unwrap();
        let nonce = row.unwrap().request.nonce;
        let used = host.store.spend(&acme, &asked.id, &nonce, Timestamp::now());
        assert!(used.await.unwrap());
        let results = texts(refused(&host, &message, refusal).await);
        for _ in 0..2 {
            let result = host.tools.resume(&asked.token, &ann(&host)).await;
            let error = result.error().unwrap().model_text();
            assert_eq!([error], results[..], "{refusal:?}");
        }
        assert_eq!(host.mailbox.sent(), 0);
    }
}

/// A ledger whose `begin` waits for the test.
#[derive(Clone)]
struct Late {
    store: MemoryStore,
    asked: Arc<Notify>,
    goes_on: Arc<Notify>,
}

impl Late {
    fn new(store: &MemoryStore) -> Self {
        Self {
            store: store.clone(),
            asked: Arc::default(),
            goes_on: Arc::default(),
        }
    }
}

impl EffectLedger for Late {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        Box::pin(async move {
            self.asked.notify_one();
            self.goes_on.notified().await;
            self.store.begin(intent, audit).await
        })
    }
    pass_on!(self => self.store; renew end get resolve sweep list);
}

// A call whose process is slow to begin it does not begin after a later run has refused it
#[tokio::test]
async fn call_does_not_begin_after_a_later_run_has_refused_it() {
    for refusal in REFUSALS {
        for call in [sends("a", false), outer("send_both", false)] {
            let host = Host::new();
            let message = record(&host, [call.clone()]).await;
            let late = Late::new(&host.store);
            let tools = all().build().unwrap().open();
            let tools = tools.through(&gate(&host.store).ledger(late.clone()).build());
            let first = CallId::in_thread(message.thread(), message.seq(), 0);
            let cx = caller(&host, "ann", "clerk").tools(&tools).build();
            let cx = cx.for_call(first.clone());
            let beginning = tokio::spawn(async move { tools.call(call, &cx).await });
            late.asked.notified().await;
            let results = texts(refused(&host, &message, refusal).await);
            late.goes_on.notify_one();
            let result = beginning.await.unwrap();
            assert_eq!([result.model_text()], results[..], "{refusal:?}");
            assert_eq!(host.mailbox.sent(), 0, "{refusal:?}");
            let row = EffectLedger::get(&host.store, &first.key()).await.unwrap();
            assert_eq!(row.unwrap().state, EffectState::Failed, "{refusal:?}");
        }
    }
}

// A call that begins in one run while a different run refuses it stays open, and is not reported as not run
#[tokio::test]
async fn call_that_begins_while_it_is_refused_stays_open() {
    let host = Host::new();
    let message = record(&host, [sends("a", false)]).await;
    let first = CallId::in_thread(message.thread(), message.seq(), 0);
    let late = Late::new(&host.store);
    let tools = toolset![count].through(&gate(&host.store).ledger(late.clone()).build());
    let (turns, cx) = (Turns::new(host.store.clone()), ann(&host));
    let mut refusing = {
        let (message, cx) = (message.clone(), cx.clone());
        tokio::spawn(async move { turns.run(&tools, &message, &cx).await })
    };
    tokio::select! {
        () = late.asked.notified() => {}
        refused = &mut refusing => panic!("{refused:?}"),
    }
    let others = toolset![parcel].through(&gate(&host.store).build());
    let ran = others.call(sends("a", false), &cx.for_call(first)).await;
    assert!(!ran.is_error(), "{ran:?}");
    late.goes_on.notify_one();
    let refused = refusing.await.unwrap();
    assert!(
        matches!(refused, Err(tool_core::turn::TurnError::Store(_))),
        "{refused:?}"
    );
    assert_eq!(stored(&host).await, 1);
    assert_eq!(texts(run(&host, &others, &message, &cx).await), ["1"]);
    assert_eq!(host.mailbox.sent(), 1);
}

/// A ledger whose first `get` reads the row, and then waits for the test before it returns.
struct DelayedGet(Late, AtomicBool);

impl EffectLedger for DelayedGet {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.0.store.begin(intent, audit)
    }
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        Box::pin(async move {
            let row = EffectLedger::get(&self.0.store, key).await;
            if !self.1.swap(true, Ordering::SeqCst) {
                self.0.asked.notify_one();
                self.0.goes_on.notified().await;
            }
            row
        })
    }
    pass_on!(self => self.0.store; renew end resolve sweep list);
}

/// A model that sends a parcel.
struct Sends;

impl Model for Sends {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let message = ModelMessage::calls([sends("a", false)]);
        Box::pin(std::future::ready(Ok(message)))
    }
}

// If a drive loses its run and a different host begins a call, the drive does not report the call as not run
#[tokio::test]
async fn drive_that_lost_its_run_reports_no_call_as_not_run() {
    let host = Host::new();
    let late = Late::new(&host.store);
    let slow = gate(&host.store)
        .ledger(DelayedGet(late.clone(), AtomicBool::default()))
        .build();
    let tools = toolset![count].through(&slow);
    let (turns, cx) = (Turns::new(host.store.clone()), ann(&host));
    turns.say("Send it.", &cx).await.unwrap();
    let mut driving = tokio::spawn({
        let (turns, cx) = (turns.clone(), cx.clone());
        async move { turns.drive(&mut Sends, |_| tools.clone(), &cx).await }
    });
    tokio::select! {
        () = late.asked.notified() => {}
        ended = &mut driving => panic!("{ended:?}"),
    }
    // Another host takes over the run and begins the call.
    let run = host
        .store
        .list_runs(Scope::All, &RunFilter::default())
        .await;
    let run = run.unwrap().remove(0);
    let end = RunEnd {
        cause: RunCause::Interrupted,
        at: Timestamp::now(),
        progress: run.progress,
    };
    host.store.end_run(&run.id, &run.owner, end).await.unwrap();
    let call = CallId::in_thread(&thread("th-1"), 2, 0);
    let others = toolset![parcel].through(&gate(&host.store).build());
    let ran = others.call(sends("a", false), &cx.for_call(call)).await;
    assert!(!ran.is_error(), "{ran:?}");
    late.goes_on.notify_one();
    let ended = driving.await.unwrap().unwrap();
    assert!(
        matches!(&ended, Outcome::Busy(id) if *id == run.id),
        "{ended:?}"
    );
    assert_eq!(stored(&host).await, 2);
}

/// Sends a letter after its own approval.
#[tool(approval)]
async fn send_approved(#[context] uses: Uses<(send_mail,)>) -> Result<String, ToolError> {
    let to = "bob".to_owned();
    uses.invoke(send_mail { to, copies: 1 }).await
}

// After a waiting outer call was refused, neither its approval token nor the token of its nested call runs anything
#[tokio::test]
async fn approved_outer_call_does_not_run_again_after_it_was_refused() {
    for interrupted in [true, false] {
        let host = Host::new();
        let tools = toolset![send_approved, send_mail].through(&host.gate);
        let cx = caller(&host, "ann", "clerk").tools(&tools).build();
        let call = ToolCall::new("o", "send_approved", "{}");
        let message = record(&host, [call]).await;
        let outer = waiting(run(&host, &tools, &message, &cx).await).remove(0);
        assert_eq!(outer.tool, "send_approved");
        host.approve(&outer).await;
        let nested = waiting(run(&host, &tools, &message, &cx).await).remove(0);
        assert_eq!(nested.tool, "send_mail");
        let results = if interrupted {
            run(&host, &tools, &message, &stopped(&host)).await
        } else {
            let none = toolset![count].through(&host.gate);
            run(&host, &none, &message, &cx).await
        };
        assert_eq!(texts(results).len(), 1);
        for ticket in [&outer, &nested] {
            let result = tools.resume(&ticket.token, &cx).await;
            assert!(result.tickets().is_empty(), "{result:?}");
            assert!(result.error().is_some(), "{result:?}");
        }
        let open = ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let open = host.approvals().list(Scope::All, &open).await.unwrap();
        assert_eq!((open, host.mailbox.sent()), (vec![], 0));
    }
}
