//! The identity of a call: ids chosen by models never collide across conversations and workspaces.

mod ambiguous;
mod approvals;
mod late;

use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turn, Turns};
use tool_core::{ErrorKind, Ticket, Uses};

use crate::support::{Host, count, kind, mail, pay, placed, thread, ticket};

/// A caller: workspace, conversation, user and agent.
type Caller = [&'static str; 4];

const ANN: Caller = ["acme", "th-1", "ann", "clerk"];

/// Callers that differ from `ANN` in conversation or workspace.
const OTHERS: [Caller; 4] = [
    ["acme", "th-2", "ann", "clerk"],
    ["acme", "th-2", "bob", "clerk"],
    ["acme", "th-2", "ann", "scout"],
    ["globex", "th-1", "ann", "clerk"],
];

fn cx(host: &Host, caller: Caller) -> ToolContext {
    with_tools(host, caller, &host.tools)
}

fn with_tools(host: &Host, caller: Caller, tools: &Toolset) -> ToolContext {
    let [workspace, conversation, user, agent] = caller;
    ToolContext::builder()
        .tools(tools)
        .workspace(workspace)
        .conversation(conversation)
        .user(user)
        .agent(agent)
        .with(host.mailbox.clone())
        .build()
}

fn pays(id: &str, amount: u32) -> ToolCall {
    ToolCall::new(id, "pay", format!(r#"{{"amount":{amount}}}"#))
}

async fn effects(host: &Host) -> Vec<EffectRow> {
    EffectLedger::list(&host.store, Scope::All, None)
        .await
        .unwrap()
}

async fn audited(host: &Host) -> Vec<AuditRow> {
    AuditSink::export(&host.store, Scope::All, &AuditFilter::default())
        .await
        .unwrap()
}

fn texts(turn: Turn) -> Vec<String> {
    match turn {
        Turn::Complete(results) => results.into_iter().map(|result| result.text).collect(),
        turn => panic!("{turn:?}"),
    }
}

async fn run(host: &Host, calls: &[ToolCall], cx: &ToolContext) -> Turn {
    let turns = Turns::new(host.store.clone());
    let message = ModelMessage::calls(calls.to_vec());
    let message = turns.record(message, cx).await.unwrap();
    turns.run(&host.tools, &message, cx).await.unwrap()
}

async fn waits(host: &Host, calls: &[ToolCall], cx: &ToolContext) -> Vec<Ticket> {
    match run(host, calls, cx).await {
        Turn::Waiting(tickets) => tickets,
        turn => panic!("{turn:?}"),
    }
}

// Calls with the id `call_0` in two conversations have two effects and two audit rows
#[tokio::test]
async fn equal_call_ids_in_two_conversations_are_separate() {
    for other in OTHERS {
        for amount in [5, 6] {
            let host = Host::new();
            let first = run(&host, &[pays("call_0", 5)], &cx(&host, ANN)).await;
            assert_eq!(texts(first), ["5"], "{other:?}");
            let second = run(&host, &[pays("call_0", amount)], &cx(&host, other)).await;
            assert_eq!(texts(second), [amount.to_string()], "{other:?}");
            assert_eq!(host.mailbox.sent(), 2, "{other:?}");

            let (effects, audited) = (effects(&host).await, audited(&host).await);
            assert_eq!((effects.len(), audited.len()), (2, 2), "{other:?}");
            assert_ne!(
                effects[0].intent.identity, effects[1].intent.identity,
                "{other:?}"
            );
            for row in &audited {
                assert_eq!(row.outcome.as_deref(), Some("ok"), "{other:?}");
                let of = |effect: &&EffectRow| effect.intent.identity == row.identity;
                let effect = effects.iter().find(of).expect("no effect for the row");
                assert_eq!(Some(&effect.intent.principal), row.principal.as_ref());
                assert_eq!(effect.intent.agent, row.agent);
            }
        }
    }
}

// An approval of one conversation cannot be used in a different one, and its token is not shown there
#[tokio::test]
async fn approval_is_refused_in_a_different_conversation() {
    for other in OTHERS {
        let host = Host::new();
        let (own, theirs) = (cx(&host, ANN), cx(&host, other));
        let asked = waits(&host, &[mail("call_0")], &own).await.remove(0);
        let their_thread = theirs.thread().unwrap();
        let waiting = host.approvals().waiting(&their_thread).await.unwrap();
        assert_eq!(waiting, [], "{other:?}");
        host.approve(&asked).await;

        let their_ticket = waits(&host, &[mail("call_0")], &theirs).await.remove(0);
        assert_ne!(their_ticket.id, asked.id, "{other:?}");
        let waiting = host.approvals().waiting(&their_thread).await.unwrap();
        assert_eq!(waiting, [their_ticket], "{other:?}");
        assert_eq!(host.mailbox.sent(), 0, "{other:?}");

        let result = host.tools.resume(&asked.token, &own).await;
        assert_eq!(result.model_text(), "sent to bob", "{other:?}");
        assert_eq!(host.mailbox.sent(), 1, "{other:?}");
    }
}

// A token is invalid in a different conversation or workspace and for a different agent or user, and stays valid for its owner
#[tokio::test]
async fn token_of_a_different_principal_is_refused() {
    let strangers = [
        ["acme", "th-2", "ann", "clerk"],
        ["acme", "th-1", "bob", "clerk"],
        ["acme", "th-1", "ann", "scout"],
        ["globex", "th-1", "ann", "clerk"],
    ];
    let host = Host::new();
    let own = cx(&host, ANN);
    let asked = waits(&host, &[mail("call_0")], &own).await.remove(0);
    for approved in [false, true] {
        if approved {
            host.approve(&asked).await;
        }
        for stranger in strangers {
            let result = host.tools.resume(&asked.token, &cx(&host, stranger)).await;
            assert_eq!(kind(&result), Some(ErrorKind::Denied), "{stranger:?}");
            assert_eq!(result.model_text(), "the approval token is invalid");
            assert!(result.tickets().is_empty(), "{stranger:?}");
        }
    }
    assert_eq!(host.mailbox.sent(), 0);
    let result = host.tools.resume(&asked.token, &own).await;
    assert_eq!(result.model_text(), "sent to bob");
}

/// A model that returns scripted messages and records its requests.
struct Script(Vec<ModelMessage>, Vec<Vec<Message>>);

impl Script {
    fn new(messages: impl IntoIterator<Item = ModelMessage>) -> Self {
        Self(messages.into_iter().collect(), Vec::new())
    }
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> futures::future::BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.1.push(request.messages.to_vec());
        Box::pin(std::future::ready(Ok(self.0.remove(0))))
    }
}

async fn drive(host: &Host, model: &mut Script, cx: &ToolContext) -> Outcome {
    let turns = Turns::new(host.store.clone());
    let tools = |_: &ToolContext| host.tools.clone();
    turns.drive(model, tools, cx).await.unwrap()
}

// Two workspaces share no thread, although both call their conversation `main`
#[tokio::test]
async fn equal_conversation_names_in_two_workspaces_are_separate() {
    let host = Host::new();
    let turns = Turns::new(host.store.clone());
    let callers = ["acme", "globex"].map(|workspace| [workspace, "main", "ann", "clerk"]);
    for caller in callers {
        let cx = cx(&host, caller);
        let answers = turns.say(&format!("for {}", caller[0]), &cx).await.unwrap();
        assert_eq!(answers, 1, "each thread has its own sequence");
    }
    for caller in callers {
        let cx = cx(&host, caller);
        let mut model = Script::new([
            ModelMessage::calls([pays("call_0", 5)]),
            ModelMessage::text(format!("done for {}", caller[0])),
        ]);
        drive(&host, &mut model, &cx).await;
        assert_eq!(model.1.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3]);
        for message in model.1.iter().flatten() {
            assert_eq!(message.thread, cx.thread().unwrap());
        }
    }
    assert_eq!(host.mailbox.sent(), 2);
    let acme = ThreadId::new("acme", "main").unwrap();
    assert_eq!(ThreadStore::erase(&host.store, &acme).await.unwrap(), 4);
    let globex = ThreadId::new("globex", "main").unwrap();
    let left = ThreadStore::read(&host.store, &globex, None).await.unwrap();
    assert_eq!(left.len(), 4);
}

// Calls of the same id in one message have their own results, effects and audit rows
#[tokio::test]
async fn equal_call_ids_in_one_message_are_separate() {
    for ids in [["y", "y", "y"], ["y#2", "y", "y"], ["", "", ""]] {
        for amounts in [[1, 2, 3], [4, 4, 4]] {
            let host = Host::new();
            let calls = [0, 1, 2].map(|at| pays(ids[at], amounts[at]));
            let turn = run(&host, &calls, &cx(&host, ANN)).await;
            assert_eq!(
                texts(turn),
                amounts.map(|amount| amount.to_string()),
                "{ids:?}"
            );
            assert_eq!(host.mailbox.sent(), 3, "{ids:?}");
            let mut rows: Vec<_> = audited(&host)
                .await
                .into_iter()
                .map(|row| (row.identity.place().unwrap().position, row.call))
                .collect();
            rows.sort();
            let expected = [0, 1, 2].map(|at| (u32::try_from(at).unwrap(), ids[at].to_owned()));
            assert_eq!(rows, expected);
            assert_eq!(effects(&host).await.len(), 3, "{ids:?}");
        }
    }
}

// Each of two calls of the same id waits for its own approval
#[tokio::test]
async fn calls_with_equal_ids_need_separate_approvals() {
    let host = Host::new();
    let turns = Turns::new(host.store.clone()).relaxed_order();
    let cx = cx(&host, ANN);
    let message = ModelMessage::calls([mail("y"), mail("y")]);
    let message = turns.record(message, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turns.run(&host.tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    assert_eq!(tickets.len(), 2);
    host.approve(&tickets[1]).await;
    let Turn::Waiting(left) = turns.run(&host.tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    assert_eq!((left.as_slice(), host.mailbox.sent()), (&tickets[..1], 1));
    host.approve(&tickets[0]).await;
    let turn = turns.run(&host.tools, &message, &cx).await.unwrap();
    assert_eq!(texts(turn), ["sent to bob", "sent to bob"]);
    assert_eq!(host.mailbox.sent(), 2);
}

// Calls without a place in a thread never share an identity
#[tokio::test]
async fn calls_outside_of_a_thread_share_no_identity() {
    let host = Host::new();
    let contexts = [
        cx(&host, ANN),
        ToolContext::builder().with(host.mailbox.clone()).build(),
    ];
    for cx in &contexts {
        for _ in 0..2 {
            let result = host.tools.call(pays("call_0", 5), cx).await;
            assert!(!result.is_replayed());
        }
        let first = ticket(&host.tools.call(mail("call_0"), cx).await);
        let second = ticket(&host.tools.call(mail("call_0"), cx).await);
        assert_ne!(first.id, second.id);
    }
    assert_eq!(host.mailbox.sent(), 4);
    assert_eq!(
        (effects(&host).await.len(), audited(&host).await.len()),
        (4, 8)
    );
    for row in audited(&host).await {
        assert_eq!(row.identity.place(), None);
    }
}

/// Pays two amounts.
#[tool]
async fn pay_twice(#[context] uses: Uses<(pay, count)>) -> Result<u32, ToolError> {
    let first = uses.invoke(pay { amount: 5 }).await?;
    uses.invoke(pay { amount: 5 })
        .await
        .map(|second| first + second)
}

// The identity of a nested call is the identity of the outer call and a number
#[tokio::test]
async fn nested_call_identity_extends_the_outer_identity() {
    let host = Host::new();
    let tools = toolset![pay_twice, pay, count].through(&host.gate);
    for caller in [ANN, OTHERS[0]] {
        let cx = with_tools(&host, caller, &tools);
        let result = tools
            .call(ToolCall::new("call_0", "pay_twice", "{}"), &placed(&cx, 0))
            .await;
        assert_eq!(result.model_text(), "10");
    }
    assert_eq!(host.mailbox.sent(), 4);
    for caller in [ANN, OTHERS[0]] {
        let thread = cx(&host, caller).thread().unwrap();
        let outer = CallId::in_thread(&thread, 1, 0);
        let rows = effects(&host).await;
        let mut found: Vec<_> = rows
            .iter()
            .map(|row| row.intent.identity.clone())
            .filter(|identity| identity.conversation() == Some(thread.conversation()))
            .collect();
        found.sort();
        assert_eq!(found, [outer.clone(), outer.nested(0), outer.nested(1)]);
        assert_eq!(found[2].outer(), Some(outer));
    }
}

// An identity of a different workspace or conversation is refused
#[tokio::test]
async fn an_identity_of_another_thread_is_refused() {
    let host = Host::new();
    let own = placed(&cx(&host, ANN), 0);
    host.tools.call(pays("call_0", 5), &own).await;
    let (effects_before, rows) = (effects(&host).await, audited(&host).await);
    let identity = rows[0].identity.clone();
    for stranger in [
        cx(&host, OTHERS[0]),
        cx(&host, OTHERS[3]),
        ToolContext::builder()
            .workspace("acme")
            .with(host.mailbox.clone())
            .build(),
    ] {
        for call in [pays("call_0", 5), mail("call_0"), pays("call_1", 7)] {
            let result = host
                .tools
                .call(call, &stranger.for_call(identity.clone()))
                .await;
            assert_eq!(kind(&result), Some(ErrorKind::Denied), "{result:?}");
            assert!(!result.is_replayed() && result.tickets().is_empty());
            assert!(result.output().is_none());
        }
    }
    assert_eq!(host.mailbox.sent(), 1);
    assert_eq!(effects(&host).await, effects_before);
    let after = audited(&host).await;
    assert!(after.contains(&rows[0]), "{after:#?}");
    assert_eq!(after.len(), 10, "each refusal has its own row");
}

// A call under an identity that a different call has used is refused, and does not replace a row
#[tokio::test]
async fn an_identity_that_was_used_for_another_call_is_refused() {
    let host = Host::new();
    let own = placed(&cx(&host, ANN), 0);
    host.tools.call(pays("call_0", 5), &own).await;
    let (effects_before, rows) = (effects(&host).await, audited(&host).await);
    let bob = placed(&cx(&host, ["acme", "th-1", "bob", "clerk"]), 0);
    let scout = placed(&cx(&host, ["acme", "th-1", "ann", "scout"]), 0);
    let others = [
        (pays("call_0", 6), &own),
        (pays("call_1", 5), &own),
        (pays("call_0", 5), &bob),
        (pays("call_0", 5), &scout),
    ];
    for (call, cx) in others {
        let result = host.tools.call(call.clone(), cx).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied), "{call:?}");
        assert!(!result.is_replayed() && result.output().is_none());
    }
    // Calls that the gate refuses before the ledger leave the row unchanged as well.
    for call in [
        pays("call_0", 500),
        mail("call_0"),
        ToolCall::new("call_0", "count", r#"{"from":1}"#),
        ToolCall::new("call_0", "pay", "{}"),
        ToolCall::new("call_0", "fly", "{}"),
    ] {
        host.tools.call(call, &own).await;
    }
    assert_eq!(host.mailbox.sent(), 1);
    assert_eq!(effects(&host).await, effects_before);
    let after = audited(&host).await;
    assert!(after.contains(&rows[0]), "{after:#?}");
    let again = host.tools.call(pays("call_0", 5), &own).await;
    assert!(again.is_replayed());
    assert!(audited(&host).await.contains(&rows[0]));
}

// Earlier versions, which had no call identities, used one key for calls of two conversations; only the conversation that wrote such a row finds
// it
#[tokio::test]
async fn old_version_row_is_not_found_by_another_conversation() {
    let (store, now) = (MemoryStore::default(), Timestamp::now());
    let key = CallKey::earlier("acme", "t-1", "call_0");
    let intent = |identity: CallId, conversation: &str| Intent {
        identity,
        earlier: None,
        call: "call_0".to_owned(),
        thread: Some(conversation.to_owned()),
        agent: None,
        tool: "pay".to_owned(),
        contract: "9f2c".to_owned(),
        principal: "ann".to_owned(),
        arguments_hash: "77aa".to_owned(),
        owner: "run-1".to_owned(),
        at: now,
        lease_until: now.plus(std::time::Duration::from_secs(30)),
    };
    let written = intent(CallId::earlier("acme", key.as_str()), "th-1");
    store.begin(written, None).await.unwrap();
    for (conversation, is_new) in [("th-2", true), ("th-1", false)] {
        let identity = CallId::in_thread(&thread(conversation), 1, 0);
        let again = Intent {
            earlier: Some(key.clone()),
            ..intent(identity, conversation)
        };
        let begun = store.begin(again, None).await.unwrap();
        assert_eq!(begun == Begun::New, is_new, "{conversation}: {begun:?}");
    }
}
