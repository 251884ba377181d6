//! Typed calls through a gate: edited approvals, retries, and tools that were renamed or killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tool_core::policy::{Policy, SharedPolicy};
use tool_core::prelude::*;
use tool_core::{Effect, ErrorKind, Gate, Reply, Retry, Rules, Uses, host_value};

use crate::support::{Host, Mailbox, placed, send_mail, thread};

/// Says a word.
#[tool(approval)]
async fn say_word(
    mailbox: &Mailbox,
    /// Whether the word is spoken aloud.
    aloud: bool,
) -> &'static str {
    mailbox.send();
    if aloud { "WORD" } else { "word" }
}

/// Approves the only pending approval of `th-1` with edited arguments.
async fn edit(host: &Host, tools: &Toolset, arguments: &str) {
    let ticket = host
        .approvals()
        .waiting(&thread("th-1"))
        .await
        .unwrap()
        .remove(0);
    let reply = Reply::Edit(arguments.to_owned());
    host.approvals()
        .answer(&"acme".into(), tools, &ticket.token, reply, "boss", None)
        .await
        .unwrap();
}

// A typed call whose approver edited the arguments runs once with the edited arguments, even if its stored output cannot be deserialized
#[tokio::test]
async fn edited_typed_call_runs_once_and_returns_its_value() {
    let host = Host::new();
    let tools = toolset![say_word].through(&host.gate);
    let cx = placed(&host.ann(), 0);
    let say = || say_word { aloud: false };
    let waits = tools.invoke(say(), &cx).await.unwrap_err();
    assert_eq!(waits.kind(), ErrorKind::Pending);
    edit(&host, &tools, r#"{"aloud":true}"#).await;
    assert_eq!(tools.invoke(say(), &cx).await.unwrap(), "WORD");
    assert_eq!(host.mailbox.sent(), 1);
    // Only the JSON text is stored, and `&'static str` cannot be deserialized from it.
    let error = tools.invoke(say(), &cx).await.unwrap_err();
    assert!(error.operator_text().contains("Deserialize"), "{error:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

// A typed call finds its tool after a rename, and never calls a different tool that has the tool's own name
#[tokio::test]
async fn typed_call_of_a_renamed_tool_is_edited() {
    let host = Host::new();
    let swapped = [("send_mail", "say_word"), ("say_word", "send_mail")];
    let tools = toolset![send_mail, say_word].through(&host.gate);
    let tools = tools.rename(swapped).unwrap();
    let cx = placed(&host.ann(), 0);
    let mail = || send_mail {
        to: "bob".to_owned(),
        copies: 1,
    };
    assert!(tools.invoke(mail(), &cx).await.is_err());
    edit(&host, &tools, r#"{"to":"eve","copies":2}"#).await;
    assert_eq!(tools.invoke(mail(), &cx).await.unwrap(), "sent to eve");
    assert_eq!(tools.invoke(mail(), &cx).await.unwrap(), "sent to eve");
    assert_eq!(host.mailbox.sent(), 2);
    // A toolset without the tool does not call a different tool of the same name.
    let others = toolset![say_word].through(&host.gate);
    let others = others.rename([("say_word", "send_mail")]).unwrap();
    let error = others.invoke(mail(), &placed(&host.ann(), 1)).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::UnknownTool);
    assert_eq!(host.mailbox.sent(), 2);
}

/// A counter of attempts, as a host value.
#[derive(Clone, Default)]
struct Tries(Arc<AtomicUsize>);
host_value!(Tries, Effect::READ);

/// Answers at the third try.
#[tool(read_only)]
async fn answer_late(
    tries: &Tries,
    /// The word that was spoken.
    word: String,
) -> Result<String, ToolError> {
    match tries.0.fetch_add(1, Ordering::SeqCst) {
        0..=1 => Err(ToolError::new("not yet")),
        _ => Ok(word),
    }
}

// A retry receives the typed arguments
#[tokio::test(start_paused = true)]
async fn typed_call_is_retried() {
    let retry = Retry {
        attempts: 3,
        wait: Duration::from_millis(50),
    };
    let gate = Gate::builder().retry(retry).build();
    let tools = toolset![answer_late].through(&gate);
    let tries = Tries::default();
    let cx = ToolContext::builder().with(tries.clone()).build();
    let word = "late".to_owned();
    let answer = tools.invoke(answer_late { word }, &cx).await.unwrap();
    assert_eq!(
        (answer.as_str(), tries.0.load(Ordering::SeqCst)),
        ("late", 3)
    );
}

/// Posts a card.
#[tool]
async fn post_card(mailbox: &Mailbox) -> usize {
    mailbox.send();
    mailbox.sent()
}

/// Posts a card, and sends a mail about it.
#[tool]
async fn post_and_mail(#[context] uses: Uses<(post_card, send_mail)>) -> Result<String, ToolError> {
    let card = uses.invoke(post_card {}).await?;
    let mail = send_mail {
        to: "bob".to_owned(),
        copies: 1,
    };
    let mail = uses.invoke(mail).await?;
    Ok(format!("card {card}, {mail}"))
}

// A nested call that has run returns its stored result after its tool was killed
#[tokio::test]
async fn nested_call_of_a_killed_tool_is_replayed() {
    let host = Host::new();
    let policy = SharedPolicy::new(Policy::builder().build().unwrap());
    let registry = Registry::builder()
        .tool::<post_card>()
        .tool::<post_and_mail>()
        .tool::<send_mail>();
    let rules = Rules::default().policy(&policy);
    let tools = registry.build().unwrap().toolset(&host.ann(), &rules);
    let tools = tools.through(&host.gate);
    let cx = |position| {
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(host.mailbox.clone())
            .tools(&tools);
        placed(&cx.build(), position)
    };
    let call = || ToolCall::new("c", "post_and_mail", "{}");
    let waits = tools.call(call(), &cx(0)).await;
    let [ticket] = waits.tickets() else {
        panic!("{waits:?}")
    };
    assert_eq!(host.mailbox.sent(), 1);
    policy.kill("post_card", None);
    host.approve(ticket).await;
    let done = tools.call(call(), &cx(0)).await;
    assert_eq!(done.model_text(), "card 1, sent to bob");
    assert_eq!(host.mailbox.sent(), 2);
    // A nested call that has not run is refused.
    let refused = tools.call(call(), &cx(1)).await;
    assert_eq!(
        refused.error().map(ToolError::kind),
        Some(ErrorKind::UnknownTool)
    );
    assert_eq!(host.mailbox.sent(), 2);
}
