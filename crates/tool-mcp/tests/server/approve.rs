//! Approval by the client's user, over both protocol versions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Client;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::{Approvals, Effect, ErrorKind, Gate, KeyRing, Uses, host_value};
use tool_mcp::{McpServer, StateKey};

/// Sum of all payments that were made.
#[derive(Clone, Default)]
struct Paid(Arc<AtomicUsize>);
host_value!(Paid, Effect::EXTERNAL);

/// Pays a bill of this amount.
#[tool(approval)]
async fn pay(
    paid: &Paid,
    /// The amount to pay.
    amount: usize,
) -> Result<String, ToolError> {
    paid.0.fetch_add(amount, Ordering::SeqCst);
    Ok(format!("paid {amount}"))
}

/// Pays two bills, one after the other.
#[tool]
async fn pay_both(#[context] uses: Uses<(pay,)>) -> Result<Vec<String>, ToolError> {
    let first = uses.invoke(pay { amount: 20 }).await?;
    let second = uses.invoke(pay { amount: 3 }).await?;
    Ok(vec![first, second])
}

/// Pays two bills at once.
#[tool]
async fn pay_at_once(#[context] uses: Uses<(pay,)>) -> Result<Vec<String>, ToolError> {
    let first = uses.invoke(pay { amount: 20 });
    let second = uses.invoke(pay { amount: 3 });
    let (first, second) = futures::join!(first, second);
    Ok(vec![first?, second?])
}

/// Pays two bills. Requires an approval in addition to the approvals of the payments.
#[tool(approval)]
async fn pay_approved(#[context] uses: Uses<(pay_both,)>) -> Result<Vec<String>, ToolError> {
    uses.invoke(pay_both {}).await
}

/// Pays a bill, and reports the outcome.
#[tool]
async fn try_to_pay(#[context] uses: Uses<(pay,)>) -> Result<String, ToolError> {
    match uses.invoke(pay { amount: 20 }).await {
        Err(error) if error.kind() == ErrorKind::Denied => Ok("not paid".to_owned()),
        other => other,
    }
}

#[derive(Default)]
struct Bank {
    paid: Paid,
    store: MemoryStore,
}

impl Bank {
    /// Returns a server process of the bank.
    #[expect(clippy::unwrap_used, reason = "a test fails here")]
    fn process(&self) -> McpServer {
        let registry = Registry::builder()
            .tool::<pay>()
            .tool::<pay_both>()
            .tool::<pay_at_once>()
            .tool::<pay_approved>()
            .tool::<try_to_pay>()
            .build()
            .unwrap();
        let keys = KeyRing::new("k", vec![3; 32]).unwrap();
        let approvals = Approvals::builder(self.store.clone())
            .keys(keys)
            .build()
            .unwrap();
        let gate = Gate::builder()
            .approvals(approvals)
            .ledger(self.store.clone())
            .build();
        let paid = self.paid.clone();
        McpServer::builder(registry)
            .gate(&gate)
            .context(move |_| {
                ToolContext::builder()
                    .user("alice")
                    .workspace("acme")
                    .with(paid.clone())
                    .build()
            })
            .approve_by_client()
            .state_key(StateKey::new([7; 32]).unwrap())
            .build()
    }

    fn paid(&self) -> usize {
        self.paid.0.load(Ordering::SeqCst)
    }
}

async fn round(client: &mut Client, amount: u32, before: Option<(&Value, Option<Value>)>) -> Value {
    round_of(client, "pay", json!({ "amount": amount }), before).await
}

async fn round_of(
    client: &mut Client,
    tool: &str,
    arguments: Value,
    before: Option<(&Value, Option<Value>)>,
) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    params["_meta"] =
        json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    if let Some((asked, answer)) = before {
        params["requestState"] = asked["result"]["requestState"].clone();
        if let Some(answer) = answer {
            params["inputResponses"] = json!({ "answer": answer });
        }
    }
    client.ask("tools/call", params).await
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "callers pass the value to an optional parameter"
)]
fn yes() -> Option<Value> {
    Some(json!({ "action": "accept", "content": { "approve": true } }))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

// S2-14, S2-15: a call that waits for approval runs once after the answer, even in a different process.
#[tokio::test]
async fn approved_call_runs_once_even_in_a_different_process() {
    let bank = Bank::default();
    let mut client = Client::modern(&bank.process());
    let asked = round(&mut client, 30, None).await;
    let form = &asked["result"]["inputRequests"]["answer"]["params"];
    assert!(
        form["message"]
            .as_str()
            .is_some_and(|text| text.contains("`pay`") && text.contains("30")),
        "{asked}"
    );
    // The call does not run without a valid answer.
    for none in [
        None,
        Some(json!({ "action": "cancel" })),
        Some(json!({ "action": "accept", "content": {} })),
    ] {
        let again = round(&mut client, 30, Some((&asked, none))).await;
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    }
    assert_eq!(bank.paid(), 0);
    let mut other = Client::modern(&bank.process());
    let done = round(&mut other, 30, Some((&asked, yes()))).await;
    assert_eq!(text(&done), "paid 30", "{done}");
    let twice = round(&mut client, 30, Some((&asked, yes()))).await;
    assert_eq!(text(&twice), "paid 30", "{twice}");
    assert_eq!(bank.paid(), 30);
}

// S2-16: an answer that is sent with changed arguments or a changed state is refused, and a denied call stays denied.
#[tokio::test]
async fn changed_arguments_after_an_approval_are_refused() {
    let bank = Bank::default();
    let mut client = Client::modern(&bank.process());
    let asked = round(&mut client, 30, None).await;
    let more = round(&mut client, 3000, Some((&asked, yes()))).await;
    assert_eq!(more["error"]["code"], -32602, "{more}");
    let mut tampered = asked.clone();
    let state = asked["result"]["requestState"].as_str().unwrap_or_default();
    tampered["result"]["requestState"] = json!(state.replacen(&state[20..21], "_", 1));
    let refused = round(&mut client, 30, Some((&tampered, yes()))).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(bank.paid(), 0);
    let no = Some(json!({ "action": "decline" }));
    let denied = round(&mut client, 30, Some((&asked, no))).await;
    assert_eq!(
        denied["result"]["_meta"]["tool-core/error"], "denied",
        "{denied}"
    );
    let late = round(&mut client, 30, Some((&asked, yes()))).await;
    assert_eq!(
        late["result"]["_meta"]["tool-core/error"], "denied",
        "{late}"
    );
    assert_eq!(bank.paid(), 0);
}

// S2-16: over the legacy protocol, the server asks for the approval while the call runs.
#[tokio::test]
async fn legacy_protocol_asks_for_approval_during_the_call() {
    let bank = Bank::default();
    let mut client = Client::legacy_that_can(&bank.process(), json!({ "elicitation": {} })).await;
    for (answer, expected) in [
        (yes().unwrap_or_default(), "paid 5"),
        (json!({ "action": "decline" }), ""),
    ] {
        let id = client
            .begin(
                "tools/call",
                json!({ "name": "pay", "arguments": { "amount": 5 } }),
            )
            .await;
        let asked = client.next().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        client
            .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }))
            .await;
        let done = client.answer(id).await;
        if expected.is_empty() {
            assert_eq!(
                done["result"]["_meta"]["tool-core/error"], "denied",
                "{done}"
            );
        } else {
            assert_eq!(text(&done), expected);
        }
    }
    assert_eq!(bank.paid(), 5);
    // For a client without elicitation, the result reports that the call is pending.
    let mut client = Client::legacy(&bank.process()).await;
    let waits = client.call("pay", json!({ "amount": 5 })).await;
    assert_eq!(
        waits["result"]["_meta"]["tool-core/error"], "pending",
        "{waits}"
    );
}

/// Calls a tool over the 2026-07-28 protocol, each round in a different process, with the
/// same answer to every question. Returns the result and the questions.
async fn in_rounds(bank: &Bank, tool: &str, answer: &Value) -> (Value, Vec<String>) {
    let mut asked = Vec::new();
    let mut before: Option<Value> = None;
    loop {
        let mut client = Client::modern(&bank.process());
        let given = before.as_ref().map(|before| (before, Some(answer.clone())));
        let response = round_of(&mut client, tool, json!({}), given).await;
        let question = &response["result"]["inputRequests"]["answer"]["params"]["message"];
        let Some(question) = question.as_str() else {
            return (response, asked);
        };
        asked.push(question.to_owned());
        assert!(asked.len() < 10, "{asked:?}");
        before = Some(response);
    }
}

/// Works like [`in_rounds`], but over the legacy protocol and in one request.
async fn meanwhile(bank: &Bank, tool: &str, answer: &Value) -> (Value, Vec<String>) {
    let mut client = Client::legacy_that_can(&bank.process(), json!({ "elicitation": {} })).await;
    let id = client
        .begin("tools/call", json!({ "name": tool, "arguments": {} }))
        .await;
    let mut asked = Vec::new();
    loop {
        let next = client.next().await;
        if next["id"] == json!(id) && next["method"].is_null() {
            return (next, asked);
        }
        let question = next["params"]["message"].as_str().unwrap_or_default();
        asked.push(question.to_owned());
        assert!(asked.len() < 10, "{asked:?}");
        client
            .send(&json!({ "jsonrpc": "2.0", "id": next["id"], "result": answer }))
            .await;
    }
}

// An outer call completes once its nested calls are approved, over both protocol versions.
#[tokio::test]
async fn approved_nested_calls_run() {
    let yes = yes().unwrap_or_default();
    for (tool, questions) in [("pay_both", 2), ("pay_at_once", 2), ("pay_approved", 3)] {
        for newer in [true, false] {
            let bank = Bank::default();
            let (done, asked) = if newer {
                in_rounds(&bank, tool, &yes).await
            } else {
                meanwhile(&bank, tool, &yes).await
            };
            assert_eq!(text(&done), r#"["paid 20","paid 3"]"#, "{tool}: {done}");
            assert_eq!(asked.len(), questions, "{tool}: {asked:?}");
            assert_eq!(bank.paid(), 23, "{tool}, 2026-07-28 protocol: {newer}");
        }
    }
}

// A nested call that a person denies does not run, and the outer call completes.
#[tokio::test]
async fn denied_nested_call_does_not_run() {
    let no = json!({ "action": "decline" });
    for newer in [true, false] {
        let bank = Bank::default();
        let (done, asked) = if newer {
            in_rounds(&bank, "try_to_pay", &no).await
        } else {
            meanwhile(&bank, "try_to_pay", &no).await
        };
        assert_eq!(text(&done), "not paid", "{done}");
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert_eq!(bank.paid(), 0);
    }
}

// If the client dismisses the question, the outer call is reported as pending, and no payment runs.
#[tokio::test]
async fn outer_call_is_pending_if_the_client_dismisses_the_question() {
    let bank = Bank::default();
    let dismissed = json!({ "action": "cancel" });
    let (waits, asked) = meanwhile(&bank, "pay_both", &dismissed).await;
    assert_eq!(
        waits["result"]["_meta"]["tool-core/error"], "pending",
        "{waits}"
    );
    assert_eq!((asked.len(), bank.paid()), (1, 0));
}
