//! Redaction of secrets that the host sets, and of tokens that a tool requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::json;
use tool_core::prelude::*;
use tool_core::{ApiKeys, ErrorKind, ExposeSecret, OAuth, OAuthToken, TokenSource, Uses};

use super::{Host, KEY, call, cx, in_message};

/// Shows the key of a model's provider.
#[tool]
async fn ask_model(keys: &ApiKeys) -> Result<String, ToolError> {
    Ok(format!(
        "asked with {}",
        keys.get("openai")?.expose_secret()
    ))
}

// Keys set by `api_key` are redacted.
#[tokio::test]
async fn api_keys_are_redacted() {
    let cx = cx().api_key("openai", KEY).build();
    let result = toolset![ask_model].call(call("ask_model"), &cx).await;
    assert_eq!(result.model_text(), "asked with [secret:api_key:openai]");
}

// A key that is too short to redact is refused.
#[tokio::test]
async fn api_key_too_short_to_redact_is_refused() {
    let cx = cx().api_key("openai", "abc \n\n\n").build();
    let result = toolset![ask_model].call(call("ask_model"), &cx).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.operator_text().contains("has fewer than 6 bytes"),
        "{error:?}"
    );
}

/// A source that returns a new token each time.
#[derive(Default)]
struct Rotating(AtomicUsize);

impl TokenSource for Rotating {
    fn token<'a>(
        &'a self,
        _: &'a ToolContext,
        service: &'a str,
    ) -> BoxFuture<'a, Result<OAuthToken, ToolError>> {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let token = if service == "short" {
            "abc".to_owned()
        } else {
            format!("oauth-{count}-0123456789")
        };
        Box::pin(std::future::ready(Ok(OAuthToken::Ready(token.into()))))
    }
}

/// Shows a token.
#[tool]
async fn show_token(
    oauth: &OAuth,
    /// The service of the token.
    service: String,
) -> Result<String, ToolError> {
    let token = oauth.token(&service).await?;
    Ok(format!("got {}", token.expose_secret()))
}

/// Calls `show_token`, and adds the token as a literal text to the result.
#[tool]
async fn outer(
    #[context] uses: Uses<(show_token,)>,
    cx: &ToolContext,
) -> Result<String, ToolError> {
    let inner = uses
        .invoke(show_token {
            service: "drive".to_owned(),
        })
        .await?;
    cx.progress(&json!({ "got": "oauth-0-0123456789" }));
    Ok(format!("{inner} which is oauth-0-0123456789"))
}

/// Returns a text that contains a secret of an earlier call.
#[tool]
async fn repeat(
    cx: &ToolContext,
    /// The text to return.
    text: String,
) -> String {
    cx.progress(&text);
    text
}

// Tokens of a `TokenSource` are redacted from the moment they are returned.
#[tokio::test]
async fn oauth_tokens_are_redacted_once_they_are_returned() {
    let host = Host::new();
    let tools = toolset![outer, show_token, repeat].through(&host.gate);
    let cx = cx()
        .oauth(Arc::new(Rotating::default()))
        .tools(&tools)
        .build();
    let mut events = Box::pin(tools.stream(call("outer"), &cx));
    while let Some(event) = events.next().await {
        let text = format!("{event:?}");
        assert!(!text.contains("oauth-0-"), "{text}");
    }
    // The token is redacted in every context of the turn: in the context of the model's next message, and in contexts that were created before.
    for (message, cx) in (4..).zip(&[in_message(&cx, 2), cx.clone(), cx.without_asker()]) {
        let again = ToolCall::new("c-2", "repeat", r#"{"text":"it was oauth-0-0123456789"}"#);
        let result = tools.call(again, &in_message(cx, message)).await;
        assert_eq!(result.model_text(), "it was [secret:oauth:drive]");
    }
    // A token that a child context requested is redacted in its parent, too.
    let child = in_message(&cx, 3);
    let shown = ToolCall::new("c-3", "show_token", r#"{"service":"mail"}"#);
    let result = tools.call(shown, &child).await;
    assert_eq!(result.model_text(), "got [secret:oauth:mail]");
    let again = ToolCall::new("c-4", "repeat", r#"{"text":"it was oauth-1-0123456789"}"#);
    let result = tools.call(again, &cx).await;
    assert_eq!(result.model_text(), "it was [secret:oauth:mail]");
    let rows = format!("{:?}", host.rows().await);
    assert!(
        !rows.contains("oauth-0-") && !rows.contains("oauth-1-"),
        "{rows}"
    );
}

// An OAuth token that is too short to redact is refused.
#[tokio::test]
async fn oauth_token_too_short_to_redact_is_refused() {
    let tools = toolset![show_token];
    let cx = cx().oauth(Arc::new(Rotating::default())).build();
    let result = tools
        .call(
            ToolCall::new("c-1", "show_token", r#"{"service":"short"}"#),
            &cx,
        )
        .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
}

/// Returns the key without white space around it, as most tools send it.
#[tool]
async fn trimmed(#[secret("key")] key: SecretString) -> String {
    format!("key={}", key.expose_secret().trim())
}

// A secret with white space around it is also redacted if a tool trims it.
#[tokio::test]
async fn trimmed_secret_is_redacted() {
    for written in [
        format!("{KEY}\n"),
        format!("\r\n\t {KEY} \u{a0}\n"),
        format!(" {KEY}"),
    ] {
        let cx = cx().secret("key", SecretString::from(written)).build();
        let result = toolset![trimmed].call(call("trimmed"), &cx).await;
        assert_eq!(result.model_text(), "key=[secret:key]");
    }
    let cx = cx().secret("key", SecretString::from("abc     \n")).build();
    let result = toolset![trimmed].call(call("trimmed"), &cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
}
