//! Tests of the pack `slack` with a local server that checks requests as <https://docs.slack.dev/reference/methods/chat.postMessage> describes them.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{ErrorKind, Hints, Rules, ToolContextBuilder};
use tool_std::slack::{Slack, post_slack_message};
use tool_std::vendor::Api;

use crate::faults::{self, Trial};
use crate::stand_in::{self, api, audited};
use crate::support::{PRIVATE, Seen, Server, output};

const TOKEN: &str = "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcBrzbqgy";

/// Answers as Slack does: errors of the method have the status 200.
fn slack(seen: &Seen) -> Vec<u8> {
    assert_eq!(seen.line, "POST /api/chat.postMessage HTTP/1.1");
    let refuse = |error: &str| stand_in::json(200, &json!({"ok": false, "error": error}));
    match seen.header("authorization") {
        None => return refuse("not_authed"),
        Some(token) if token != format!("Bearer {TOKEN}") => return refuse("invalid_auth"),
        Some(_) => {}
    }
    let body = stand_in::body(seen);
    for key in body.as_object().unwrap().keys() {
        let known = ["channel", "text", "unfurl_links", "unfurl_media"];
        assert!(known.contains(&&**key), "{key}");
    }
    let text = body["text"].as_str().unwrap();
    match body["channel"].as_str().unwrap() {
        _ if text.is_empty() => return refuse("no_text"),
        _ if text.chars().count() > 40_000 => return refuse("msg_too_long"),
        "#general" | "#Deployments" | "C0123456789" | "U024BE7LH" => {}
        "#old" => return refuse("is_archived"),
        "#secret" => return refuse("not_in_channel"),
        _ => return refuse("channel_not_found"),
    }
    let posted = json!({
        "ok": true,
        "channel": "C0123456789",
        "ts": "1503435956.000247",
        "message": {"text": text, "username": "ecto1", "bot_id": "B123ABC456", "type": "message", "subtype": "bot_message", "ts": "1503435956.000247"}
    });
    stand_in::json(200, &posted)
}

fn context(slack: Slack) -> ToolContextBuilder {
    ToolContext::builder()
        .with(slack)
        .secret("slack_bot_token", TOKEN)
}

async fn post(cx: &ToolContext, channel: &str, message: &str) -> CallResult {
    let arguments = json!({"channel": channel, "message": message});
    stand_in::call(
        &toolset![post_slack_message],
        cx,
        "post_slack_message",
        &arguments,
    )
    .await
}

fn kind(result: &CallResult) -> ErrorKind {
    result.error().unwrap().kind()
}

// The contract of slackPostMessage: the definition is strict in all dialects; posting changes something, and the token is declared.
#[test]
fn definition_passes_the_test_kit() {
    let def = post_slack_message::DEF;
    assert_kept(std::slice::from_ref(&def), &violations);
    assert!(def.examples().len() >= 2);
    assert_eq!(
        def.hints(),
        Hints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: true
        }
    );
    let registry = Registry::builder().tool::<post_slack_message>().build();
    let registry = registry.unwrap();
    let cx = |builder: ToolContextBuilder| registry.toolset(&builder.build(), &Rules::default());
    assert!(
        cx(ToolContext::builder())
            .get("post_slack_message")
            .is_none()
    );
    assert!(
        cx(ToolContext::builder().secret("slack_bot_token", ""))
            .get("post_slack_message")
            .is_none()
    );
    assert!(
        cx(context(Slack::default()))
            .get("post_slack_message")
            .is_some()
    );
}

// The contract of slackPostMessage: a message is posted to a channel (`#name`, `C…` or `U…`), and the result has `success`, `channel` and
// `message_length`.
#[tokio::test]
async fn message_is_posted_to_names_and_ids() {
    let server = Server::start(PRIVATE, slack).await;
    let cx = context(Slack::default().api(api(&server, "/api"))).build();
    for channel in ["#general", "C0123456789", "U024BE7LH"] {
        let result = post(&cx, channel, "Version 2.4 is live: äöü").await;
        assert_eq!(
            output(&result),
            json!({
                "success": true,
                "channel": channel,
                "message_length": 24,
                "channel_id": "C0123456789",
                "message_id": "1503435956.000247"
            })
        );
        let body: Value = serde_json::from_str(&server.seen().pop().unwrap().body).unwrap();
        assert_eq!(body["channel"], channel);
        assert_eq!(body["text"], "Version 2.4 is live: äöü");
    }
    let before = server.seen().len();
    for channel in [
        "general",
        "#",
        "#two words",
        "c",
        "X0123456789",
        "C01 23",
        "",
        "#a\n",
    ] {
        assert_eq!(
            kind(&post(&cx, channel, "x").await),
            ErrorKind::InvalidArguments,
            "{channel}"
        );
    }
    assert_eq!(server.seen().len(), before);
}

// The contract of slackPostMessage: the optional allowlist matches exactly and ignores case.
#[tokio::test]
async fn allowlist_is_exact_and_ignores_case() {
    let server = Server::start(PRIVATE, slack).await;
    let settings = Slack::default()
        .api(api(&server, "/api"))
        .channels(["#deployments", "c0123456789"]);
    let cx = context(settings).build();
    for channel in ["#Deployments", "C0123456789"] {
        let result = post(&cx, channel, "x").await;
        assert!(!result.is_error(), "{}", result.model_text());
    }
    let before = server.seen().len();
    for channel in [
        "#deployments-2",
        "#deployment",
        "#general",
        "C01234567890",
        "U024BE7LH",
    ] {
        let result = post(&cx, channel, "x").await;
        assert_eq!(kind(&result), ErrorKind::Denied, "{channel}");
        assert_eq!(
            result.model_text(),
            format!(
                "messages to `{channel}` are not allowed, use one of `#deployments`, `c0123456789`"
            )
        );
    }
    // An empty list allows no channel.
    let none = Slack::default().api(api(&server, "/api")).channels([""; 0]);
    assert_eq!(
        kind(&post(&context(none).build(), "#general", "x").await),
        ErrorKind::Denied
    );
    assert_eq!(server.seen().len(), before);
}

// The contract of slackPostMessage: messages of more than 40,000 characters after escaping are refused, not truncated.
#[tokio::test]
async fn long_message_is_refused() {
    let server = Server::start(PRIVATE, slack).await;
    let cx = context(Slack::default().api(api(&server, "/api"))).build();
    let result = post(&cx, "#general", &"ä".repeat(40_000)).await;
    assert_eq!(output(&result)["message_length"], 40_000);
    for (message, found) in [
        ("x".repeat(40_001), "40001 characters"),
        ("&".repeat(8_001), "40005 characters"),
        ("<".repeat(10_001), "40004 characters"),
    ] {
        let result = post(&cx, "#general", &message).await;
        assert_eq!(kind(&result), ErrorKind::InvalidArguments);
        assert!(
            result.model_text().contains("40000") || result.model_text().contains("40,000"),
            "{}",
            result.model_text()
        );
        assert!(
            result.model_text().contains(found) || found.starts_with("40001"),
            "{}",
            result.model_text()
        );
    }
    assert_eq!(server.seen().len(), 1);
}

// The contract of slackPostMessage: `&`, `<` and `>` are escaped, so that a message mentions no member.
#[tokio::test]
async fn syntax_of_slack_is_escaped() {
    let server = Server::start(PRIVATE, slack).await;
    let cx = context(Slack::default().api(api(&server, "/api"))).build();
    let message = "<!channel> a && b &lt; <https://a.example|b>";
    let result = post(&cx, "#general", message).await;
    assert_eq!(output(&result)["message_length"], message.len());
    let body: Value = serde_json::from_str(&server.seen()[0].body).unwrap();
    assert_eq!(
        body["text"],
        "&lt;!channel&gt; a &amp;&amp; b &amp;lt; &lt;https://a.example|b&gt;"
    );
    // A preview would make Slack fetch the links of a model's text.
    assert_eq!(
        (&body["unfurl_links"], &body["unfurl_media"]),
        (&json!(false), &json!(false))
    );
}

// The contract of slackPostMessage: the audit row has the channel and the length of the message, and contains neither the message nor the token.
#[tokio::test]
async fn audit_has_the_length_of_the_message() {
    let server = Server::start(PRIVATE, slack).await;
    let cx = context(Slack::default().api(api(&server, "/api"))).build();
    let arguments = json!({"channel": "#general", "message": "the-merger-is-off"});
    let row = audited(
        toolset![post_slack_message],
        &cx,
        "post_slack_message",
        &arguments,
    )
    .await;
    let text = format!("{row:?}");
    assert!(!text.contains("merger") && !text.contains(TOKEN), "{text}");
    assert!(text.contains("#general") && text.contains("17"), "{text}");
}

// The contract of slackPostMessage: an error of Slack has its code and what to do.
#[tokio::test]
async fn error_of_slack_has_its_code() {
    let server = Server::start(PRIVATE, slack).await;
    let cx = context(Slack::default().api(api(&server, "/api"))).build();
    for (channel, code, advice) in [
        ("#old", "is_archived", "use another channel"),
        ("#secret", "not_in_channel", "invite the app"),
        ("#nowhere", "channel_not_found", "that the app can see"),
    ] {
        let result = post(&cx, channel, "x").await;
        assert_eq!(kind(&result), ErrorKind::Failed);
        let text = result.model_text();
        assert!(text.contains(code) && text.contains(advice), "{text}");
    }
    let other = ToolContext::builder()
        .with(Slack::default().api(api(&server, "/api")))
        .secret("slack_bot_token", "xoxb-of-a-removed-app")
        .build();
    let result = post(&other, "#general", "x").await;
    assert_eq!(kind(&result), ErrorKind::Unavailable);
    assert!(
        !result.model_text().contains("xoxb"),
        "{}",
        result.model_text()
    );
    // An internal error of Slack does not say whether the message was posted.
    let failing = Server::start(PRIVATE, |_| {
        stand_in::json(200, &json!({"ok": false, "error": "internal_error"}))
    })
    .await;
    let cx = context(Slack::default().api(api(&failing, "/api"))).build();
    assert_eq!(
        kind(&post(&cx, "#general", "x").await),
        ErrorKind::Interrupted
    );
}

// Faults are reported at every step of a request.
#[tokio::test]
async fn faults_are_reported() {
    faults::run(&Trial {
        tools: toolset![post_slack_message],
        context: |api: Api, key: &str| {
            ToolContext::builder()
                .with(Slack::default().api(api))
                .secret("slack_bot_token", format!("xoxb-{key}"))
        },
        tool: "post_slack_message",
        arguments: json!({"channel": "#general", "message": "x"}),
        success: stand_in::json(200, &json!({"ok": true, "channel": "C1", "ts": "1.2"})),
        reads: false,
        forbidden: (
            200,
            json!({"ok": false, "error": "missing_scope", "needed": "chat:write", "provided": "users:read"}),
        ),
    })
    .await;
}
