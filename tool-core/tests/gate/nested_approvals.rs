//! Approvals, restarts and ambiguous effects of nested calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Approvals, Audit, Effect, Gate, Reply, Ticket, Uses};

use crate::support::{Mailbox, count, send_mail};

/// The receipt of a mail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Receipt {
    /// The recipient of the mail.
    to: String,
    /// The number of the mail.
    number: u32,
}

/// Posts a letter.
#[tool(approval)]
async fn post_letter(
    mailbox: &Mailbox,
    /// The recipient of the letter.
    to: String,
) -> Result<Receipt, ToolError> {
    mailbox.send();
    let number = u32::try_from(mailbox.sent()).map_err(ToolError::foreign)?;
    Ok(Receipt { to, number })
}

/// Posts a letter to each of two people.
#[tool]
async fn post_both(
    #[context] uses: Uses<(post_letter, count)>,
    runs: &Runs,
) -> Result<Vec<Receipt>, ToolError> {
    runs.count();
    let first = uses.invoke(post_letter { to: "bob".into() }).await?;
    uses.invoke(count { from: 1 }).await?;
    let second = uses.invoke(post_letter { to: "eve".into() }).await?;
    Ok(vec![first, second])
}

/// Posts a letter, and can be repeated.
#[tool(idempotent)]
async fn post_once(
    #[context] uses: Uses<(post_letter,)>,
    runs: &Runs,
) -> Result<Receipt, ToolError> {
    runs.count();
    uses.invoke(post_letter { to: "bob".into() }).await
}

/// Calls a tool that calls `post_letter`.
#[tool]
async fn post_deep(#[context] uses: Uses<(post_both,)>) -> Result<usize, ToolError> {
    Ok(uses.invoke(post_both {}).await?.len())
}

/// Sends a message itself, and posts a letter.
#[tool]
async fn post_and_note(
    mailbox: &Mailbox,
    #[context] uses: Uses<(post_letter,)>,
) -> Result<Receipt, ToolError> {
    mailbox.send();
    uses.invoke(post_letter { to: "bob".into() }).await
}

/// Counts the bodies that began.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);
tool_core::host_value!(Runs, Effect::READ);

impl Runs {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The stores and the mailbox, which outlive the process of a host.
struct World {
    store: MemoryStore,
    mailbox: Mailbox,
    runs: Runs,
}

impl World {
    fn new() -> Self {
        Self {
            store: MemoryStore::default(),
            mailbox: Mailbox::default(),
            runs: Runs::default(),
        }
    }

    /// Returns the tools, the turns and a context of a new process.
    fn start(&self) -> (Toolset, Turns, ToolContext) {
        let keys = tool_core::KeyRing::new("k", *b"thirty-two bytes of randomness!!").unwrap();
        let approvals = Approvals::builder(self.store.clone()).keys(keys);
        let gate = Gate::builder()
            .approvals(approvals.build().unwrap())
            .ledger(self.store.clone())
            .audit(Audit::required(self.store.clone()))
            .build();
        let tools = toolset![
            post_letter,
            post_both,
            post_once,
            post_deep,
            post_and_note,
            send_mail,
            count
        ];
        let tools = tools.through(&gate);
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(self.mailbox.clone())
            .with(self.runs.clone())
            .tools(&tools)
            .build();
        (tools, Turns::new(self.store.clone()), cx)
    }

    async fn approve(&self, tools: &Toolset, ticket: &Ticket) {
        self.answer(tools, ticket, Reply::Approve).await;
    }

    async fn answer(&self, tools: &Toolset, ticket: &Ticket, reply: Reply) {
        let approvals = tools.gate().unwrap().approvals().unwrap();
        let acme = Workspace::new("acme");
        approvals
            .answer(&acme, tools, &ticket.token, reply, "boss", None)
            .await
            .unwrap();
    }

    /// Runs a call in a thread until it has a result, with a new process for each run of the turn, and answers the approvals that the call
    /// waits for. Returns the result's text and the number of runs in which the call waited.
    async fn until_done(&self, name: &str, by_token: bool, reply: &Reply) -> (String, usize) {
        let (_, turns, cx) = self.start();
        let calls = ModelMessage::calls([ToolCall::new("call_0", name, "{}")]);
        turns.record(calls, &cx).await.unwrap();
        for waited in 0.. {
            let (tools, turns, cx) = self.start();
            let message = turns.last(&cx).await.unwrap().unwrap();
            match turns.run(&tools, &message, &cx).await.unwrap() {
                Turn::Complete(results) => return (results[0].text.clone(), waited),
                Turn::Waiting(tickets) => {
                    let (tools, _, cx) = self.start();
                    for ticket in &tickets {
                        self.answer(&tools, ticket, reply.clone()).await;
                        if by_token {
                            let result = tools.resume(&ticket.token, &cx).await;
                            assert!(!result.is_error(), "{result:?}");
                        }
                    }
                }
                turn => panic!("{turn:?}"),
            }
        }
        unreachable!()
    }
}

/// Runs each outer tool to its end, and answers the approvals of its letters with `reply`. Checks that the letters are addressed to `to`. Returns the
/// worlds.
async fn outer_calls_continue(reply: &Reply, to: [&str; 2]) -> Vec<World> {
    let [first, second] = to;
    let letter = |to: &str, number: u32| format!(r#"{{"to":"{to}","number":{number}}}"#);
    let mut worlds = Vec::new();
    for by_token in [false, true] {
        for (name, expected, letters) in [
            (
                "post_both",
                format!("[{},{}]", letter(first, 1), letter(second, 2)),
                2,
            ),
            ("post_once", letter(first, 1), 1),
            ("post_deep", "2".to_owned(), 2),
        ] {
            let world = World::new();
            let (text, waited) = world.until_done(name, by_token, reply).await;
            assert_eq!(text, expected, "{name}, by token: {by_token}");
            assert_eq!((world.mailbox.sent(), waited), (letters, letters), "{name}");
            worlds.push(world);
        }
    }
    worlds
}

// A tool that calls tools continues after each nested approval
#[tokio::test]
async fn outer_call_continues_after_each_nested_approval() {
    for world in outer_calls_continue(&Reply::Approve, ["bob", "eve"]).await {
        // No effect is ambiguous; all have succeeded.
        let rows = EffectLedger::list(&world.store, Scope::All, None)
            .await
            .unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            assert_eq!(row.state, EffectState::Succeeded, "{row:?}");
        }
    }
}

// A nested call that the approver edits runs with the edited arguments, and the outer call continues with its result
#[tokio::test]
async fn outer_call_continues_after_an_edited_nested_call() {
    let edit = Reply::Edit(r#"{"to":"zoe"}"#.to_owned());
    outer_calls_continue(&edit, ["zoe", "zoe"]).await;
}

// An outer call that has its own effect is ambiguous once it has waited, and does not run again
#[tokio::test]
async fn outer_call_with_its_own_effect_is_not_rerun() {
    let world = World::new();
    let (tools, turns, cx) = world.start();
    let calls = ModelMessage::calls([ToolCall::new("call_0", "post_and_note", "{}")]);
    let message = turns.record(calls, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!("the turn does not wait for an approval")
    };
    world.approve(&tools, &tickets[0]).await;
    let turn = turns.run(&tools, &message, &cx).await.unwrap();
    let Turn::Unsettled(row) = turn else {
        panic!("{turn:?}")
    };
    assert_eq!(row.intent.tool, "post_and_note");
    assert_eq!(world.mailbox.sent(), 1);
}

// The stored result of a nested call is returned as a typed value
#[tokio::test]
async fn stored_result_is_returned_as_its_type() {
    let world = World::new();
    let (tools, _, cx) = world.start();
    let thread = cx.thread().unwrap();
    let cx = cx.for_call(CallId::in_thread(&thread, 1, 0));
    let waits = tools.invoke(post_letter { to: "bob".into() }, &cx).await;
    assert!(waits.is_err());
    let ticket = tools
        .gate()
        .unwrap()
        .approvals()
        .unwrap()
        .waiting(&thread)
        .await
        .unwrap()
        .remove(0);
    world.approve(&tools, &ticket).await;
    let expected = Receipt {
        to: "bob".into(),
        number: 1,
    };
    for _ in 0..3 {
        let letter = post_letter { to: "bob".into() };
        assert_eq!(tools.invoke(letter, &cx).await.unwrap(), expected);
    }
    assert_eq!(world.mailbox.sent(), 1);
}

/// Posts a parcel; the first one is lost in transit.
#[tool(timeout = "50ms")]
async fn post_parcel(mailbox: &Mailbox) -> usize {
    mailbox.send();
    if mailbox.sent() == 1 {
        std::future::pending::<()>().await;
    }
    mailbox.sent()
}

/// Posts a parcel, and a letter after an approval.
#[tool]
async fn post_all(
    #[context] uses: Uses<(post_parcel, post_letter)>,
    runs: &Runs,
) -> Result<usize, ToolError> {
    runs.count();
    let parcel = uses.invoke(post_parcel {}).await;
    uses.invoke(post_letter { to: "bob".into() }).await?;
    parcel
}

// An ambiguous nested effect stops the turn when its outer call runs again, and the outer call gets the settled result
#[tokio::test]
async fn ambiguous_nested_call_stops_the_turn() {
    let world = World::new();
    let (tools, turns, _) = world.start();
    let tools = toolset![post_parcel, post_letter, post_all].through(tools.gate().unwrap());
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(world.mailbox.clone())
        .with(world.runs.clone())
        .tools(&tools)
        .build();
    let calls = ModelMessage::calls([ToolCall::new("call_0", "post_all", "{}")]);
    let message = turns.record(calls, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!("the turn does not wait for an approval")
    };
    world.approve(&tools, &tickets[0]).await;
    let turn = turns.run(&tools, &message, &cx).await.unwrap();
    let Turn::Unsettled(row) = turn else {
        panic!("{turn:?}")
    };
    assert_eq!(row.intent.tool, "post_parcel");
    let settled = Resolution::Succeeded("7".to_owned());
    let gate = tools.gate().unwrap();
    gate.resolve(&row.intent.identity.key(), settled, "olga")
        .await
        .unwrap();
    let turn = turns.run(&tools, &message, &cx).await.unwrap();
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    // One parcel and one letter were sent.
    assert_eq!((results[0].text.as_str(), world.mailbox.sent()), ("7", 2));
}

/// Says a word, and sends a message.
#[tool(approval)]
async fn say_word(mailbox: &Mailbox) -> &'static str {
    mailbox.send();
    "word"
}

// Replaying an output whose type cannot be deserialized is an error, and the effect is not repeated
#[tokio::test]
async fn a_stored_result_of_a_type_that_borrows_is_an_error() {
    let world = World::new();
    let (tools, _, cx) = world.start();
    let tools = toolset![say_word].through(tools.gate().unwrap());
    let thread = cx.thread().unwrap();
    let cx = cx.for_call(CallId::in_thread(&thread, 1, 0));
    assert!(tools.invoke(say_word {}, &cx).await.is_err());
    let approvals = tools.gate().unwrap().approvals().unwrap();
    let ticket = approvals.waiting(&thread).await.unwrap().remove(0);
    world.approve(&tools, &ticket).await;
    assert_eq!(tools.invoke(say_word {}, &cx).await.unwrap(), "word");
    let error = tools.invoke(say_word {}, &cx).await.unwrap_err();
    assert!(error.model_text().contains("has run before"), "{error:?}");
    assert!(error.operator_text().contains("Deserialize"), "{error:?}");
    assert_eq!(world.mailbox.sent(), 1);
}
