//! Redaction of citations, notes, ids, fields of errors, and `Debug` output.

use serde_json::json;
use tool_core::prelude::*;
use tool_core::store::{EffectLedger, Scope, ThreadStore};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Citation, ExposeSecret, VariableNeed};

use super::{Host, KEY, call, clean, in_message, texts, with_key};

/// Cites a page whose address contains the key.
#[tool]
async fn cite(cx: &ToolContext, #[secret("key")] key: SecretString) -> u32 {
    let key = key.expose_secret();
    cx.cite(
        Citation::new(
            format!("search {key}"),
            format!("https://example.com/?k={key}"),
        )
        .version(format!("v-{key}")),
    );
    7
}

// Citations are redacted in the result, the ledger and the thread.
#[tokio::test]
async fn citations_are_redacted_in_result_ledger_and_thread() {
    let host = Host::new();
    let tools = toolset![cite].through(&host.gate);
    let (turns, cx) = (Turns::new(host.store.clone()), with_key());
    let message = ModelMessage::calls([call("cite")]);
    let message = turns.record(message, &cx).await.unwrap();
    let turn = turns.run(&tools, &message, &cx).await.unwrap();
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    let citation = &results[0].citations[0];
    assert_eq!(citation.source(), "search [secret:key]");
    assert_eq!(citation.source_id(), "https://example.com/?k=[secret:key]");
    assert_eq!(citation.version_text(), Some("v-[secret:key]"));
    let thread = ThreadStore::read(&host.store, message.thread(), None)
        .await
        .unwrap();
    clean(&format!("{thread:?}"), "thread");
    let effects = EffectLedger::list(&host.store, Scope::All, None)
        .await
        .unwrap();
    clean(&format!("{effects:?}"), "ledger");
    // The ledger returns the stored result for a second dispatch.
    let again = tools
        .call(call("cite"), &in_message(&cx, message.seq()))
        .await;
    assert!(again.is_replayed());
    assert_eq!(again.citations().len(), 1);
    clean(&texts(&again), "replay");
    // Citations are redacted without a gate, too.
    let plain = toolset![cite].call(call("cite"), &with_key()).await;
    assert_eq!(plain.citations().len(), 1);
    clean(&texts(&plain), "without a gate");
}

/// Leaves a note whose name contains the key.
#[tool]
async fn note(cx: &ToolContext, #[secret("key")] key: SecretString) -> u32 {
    let key = key.expose_secret();
    cx.audit(&format!("said {key}"), &json!({ key: [key] }));
    7
}

// The action of a note is redacted.
#[tokio::test]
async fn action_of_a_note_is_redacted() {
    let host = Host::new();
    let tools = toolset![note].through(&host.gate);
    tools.call(call("note"), &with_key()).await;
    let rows = host.rows().await;
    assert_eq!(rows[0].notes[0].action, "said [secret:key]");
    clean(&format!("{rows:?}"), "audit");
}

// The id of a call is a text of the model, so it is redacted in the audit and in `Debug` output. The result keeps it.
#[tokio::test]
async fn id_of_a_call_is_redacted_in_the_audit_and_in_debug() {
    let host = Host::new();
    let tools = toolset![cite].through(&host.gate);
    let call = ToolCall::new(format!("call-{KEY}"), "cite", "{}");
    let result = tools.call(call.clone(), &with_key()).await;
    // The result keeps the id, by which the provider pairs it with its call.
    assert_eq!(result.id(), call.id);
    clean(&format!("{result:?}"), "Debug");
    let rows = host.rows().await;
    assert_eq!(rows[0].call, "call-[secret:key]");
    clean(&format!("{rows:?}"), "audit");
}

/// Requires a variable whose description contains the key.
#[tool]
async fn want(#[secret("key")] key: SecretString) -> Result<u32, ToolError> {
    let key = key.expose_secret();
    let mut need = VariableNeed::new("REGION");
    need.name = format!("REGION_{key}").into();
    need.description = Some(format!("The place where {key} is valid.").into());
    Err(ToolError::variables_required(vec![need]))
}

// The fields of an error are redacted in addition to its texts.
#[tokio::test]
async fn missing_variables_are_redacted() {
    let result = toolset![want].call(call("want"), &with_key()).await;
    assert_eq!(
        result.error().unwrap().missing_variables()[0].name,
        "REGION_[secret:key]"
    );
    clean(&texts(&result), "variables");
    clean(
        &format!("{:?}", result.error().unwrap().missing_variables()),
        "variables",
    );
}

/// Sends a message after an approval.
#[tool(approval)]
async fn send(
    /// The recipient of the message.
    to: String,
) -> String {
    to
}

// `Debug` does not print the token of an approval.
#[tokio::test]
async fn debug_prints_no_approval_token() {
    let host = Host::new();
    let tools = toolset![send].through(&host.gate);
    let result = tools
        .call(ToolCall::new("c-1", "send", r#"{"to":"bob"}"#), &with_key())
        .await;
    let ticket = &result.tickets()[0];
    assert!(ticket.token.len() > 40);
    let (claims, code) = ticket.token.rsplit_once('.').unwrap();
    let claims = claims.rsplit_once('.').unwrap().1;
    for text in [
        format!("{result:?}"),
        format!("{ticket:?}"),
        format!("{:#?}", result.tickets()),
    ] {
        assert!(!text.contains(claims) && !text.contains(code), "{text}");
        assert!(text.contains(&ticket.id), "{text}");
    }
}
