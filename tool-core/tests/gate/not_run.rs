//! Results that say that a call was not run: only of a call that has not run, and that nobody can run later.

use std::time::Duration;

use tool_core::limits::{Limit, Limits};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{Arrival, ModelMessage, StoredMessage, Turn, Turns};
use tool_core::{
    Approvals, Audit, CancellationToken, DynamicTool, Effect, ErrorKind, Gate, GateBuilder, Rules,
    Ticket,
};

use crate::support::{Host, Mailbox, kind, mail, pay, send_mail, thread};

/// Sends a parcel, which is lost on the way.
#[tool(timeout = "50ms")]
async fn parcel(
    mailbox: &Mailbox,
    /// Whether it is lost.
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

/// The same caller, whose user has pressed stop.
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

/// A message of two calls, of which the first has run for ann and has no result in the thread, because its process died.
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

/// The row for which a turn has stopped.
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

// A6: a turn that is stopped before it begins says of a call that has run that it was not run
#[tokio::test]
async fn stopped_turn_reads_the_result_of_a_call_that_has_run() {
    let host = Host::new();
    let message = cut(&host, false).await;
    let tools = toolset![parcel].through(&host.gate);
    let turn = run(&host, &tools, &message, &stopped(&host)).await;
    assert_eq!(texts(turn), ["1", STOPPED]);
    assert_eq!(host.mailbox.sent(), 1);
}

// A6, A9: a turn that is stopped before it begins walks past an effect whose end is not known
#[tokio::test]
async fn stopped_turn_stops_at_a_doubt() {
    let host = Host::new();
    let message = cut(&host, true).await;
    let tools = toolset![parcel].through(&host.gate);
    for _ in 0..2 {
        let row = doubt(run(&host, &tools, &message, &stopped(&host)).await);
        assert_eq!(row.state, EffectState::Ambiguous);
        assert_eq!(stored(&host).await, 1, "a doubt is not a result");
    }
    let arrived = Resolution::Succeeded("7".to_owned());
    let key = CallId::in_thread(message.thread(), message.seq(), 0).key();
    host.gate.resolve(&key, arrived, "otto").await.unwrap();
    let turn = run(&host, &tools, &message, &stopped(&host)).await;
    assert_eq!(texts(turn), ["7", STOPPED]);
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
    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.0.renew(key, owner, until)
    }
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        self.0.end(key, owner, end)
    }
    fn get<'a>(&'a self, _: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        Box::pin(async { Err(StoreError::Unavailable("it is away".into())) })
    }
    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        self.0.resolve(key, resolution, operator, now)
    }
    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        self.0.sweep(scope, now)
    }
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        EffectLedger::list(&self.0, scope, state)
    }
}

// A6, A9: a stopped turn that cannot read the ledger leaves the call open
#[tokio::test]
async fn stopped_turn_decides_nothing_while_the_ledger_is_away() {
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

/// A desk at which a user's next message arrives.
#[derive(Clone)]
struct Desk(Turns, ToolContext);
tool_core::host_value!(Desk, Effect::READ);

/// Looks up, while the user writes.
#[tool(read_only)]
async fn look_up(desk: &Desk) -> Result<String, ToolError> {
    let said = desk.0.say("wait", &desk.1).await;
    said.map_err(ToolError::foreign)?;
    Ok("seen".to_owned())
}

// A6: an interrupted turn asks the model to call again what has run already
#[tokio::test]
async fn interrupted_turn_reads_the_result_of_a_call_that_has_run() {
    for lost in [false, true] {
        let host = Host::new();
        let turns = Turns::new(host.store.clone()).arrival(Arrival::Interrupt);
        let look = ToolCall::new("l", "look_up", "{}");
        let message = record(&host, [look, sends("a", lost), sends("b", false)]).await;
        let tools = toolset![parcel, look_up].through(&host.gate);
        let second = CallId::in_thread(message.thread(), message.seq(), 1);
        let cx = ann(&host).for_call(second);
        tools.call(sends("a", lost), &cx).await;
        let desk = Desk(turns.clone(), ann(&host));
        let cx = caller(&host, "ann", "clerk").with(desk).build();
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

/// Tools behind a gate that lets one call of a tool through in an hour.
fn limited(host: &Host, calls: u32) -> Toolset {
    let quota = Limit::quota(calls, Duration::from_hours(1));
    let limits = Limits::builder().limit(quota).build().unwrap();
    let gate = gate(&host.store).limits(limits).build();
    toolset![parcel, send_mail, pay].through(&gate)
}

// B2, N4: a call that has run is refused by a limit when it comes again, and its result says that it was not made
#[tokio::test]
async fn limit_does_not_hide_what_has_run() {
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

// N4: the approval of a call that a limit has refused can be used after the model was told that the call was not made
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

/// Tools of a version that takes amounts up to `most`.
fn version(host: &Host, most: u32) -> Toolset {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"amount": {"type": "integer", "minimum": 1, "maximum": most, "description": "In euros."}},
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

// B2: a call that took effect is said to have arguments that do not fit, after its tool got a stricter schema
#[tokio::test]
async fn stricter_schema_does_not_hide_what_has_run() {
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

/// Callers who drive the conversation in ann's place.
const OTHERS: [[&str; 2]; 3] = [["bob", "clerk"], ["ann", "scout"], ["bob", "scout"]];

// A6, B2: a call that ran for one user is denied when another one goes on with the conversation
#[tokio::test]
async fn another_user_reads_what_a_call_of_the_conversation_has_returned() {
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

/// Tools under a policy that denies everything, and so hides it.
fn denying(host: &Host, tools: tool_core::RegistryBuilder, cx: &ToolContext) -> Toolset {
    let deny = Rule::deny("all").tools(["*"]);
    let policy = Policy::builder().rule(deny).build().unwrap();
    let rules = Rules::default().policy(&SharedPolicy::new(policy));
    let registry = tools.build().unwrap();
    registry.toolset(cx, &rules).through(&host.gate)
}

// N4: the open approval of one user is left when a call is denied to another one, who goes on with the conversation
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
