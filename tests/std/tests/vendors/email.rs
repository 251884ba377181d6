//! Tests of the pack `email`: arguments and recipients. The tests in `vendor_servers` send messages to a server.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{ErrorKind, Hints};
use tool_std::email::{Email, send_email};

use crate::stand_in;

/// Returns settings with a port at which no server listens.
fn email() -> Email {
    let socket = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = socket.local_addr().unwrap().port();
    Email::relay("127.0.0.1", "Support <support@example.com>")
        .unwrap()
        .unencrypted()
        .port(port)
}

async fn send(email: Email, arguments: Value) -> CallResult {
    let cx = ToolContext::builder().with(email).build();
    stand_in::call(&toolset![send_email], &cx, "send_email", &arguments).await
}

fn kind(result: &CallResult) -> ErrorKind {
    result.error().unwrap().kind()
}

// The definition is strict, and its hints describe a tool that sends messages.
#[tokio::test]
async fn definition_passes_the_test_kit() {
    let def = send_email::DEF;
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
    let names: Vec<_> = def
        .secrets()
        .iter()
        .map(|need| (need.key.to_string(), need.optional))
        .collect();
    assert_eq!(
        names,
        [
            ("smtp_username".to_owned(), true),
            ("smtp_password".to_owned(), true)
        ]
    );
    // Without a server, the tool is not available.
    let arguments = json!({"to": ["ann@example.com"], "subject": "x", "text": "y"});
    let result = stand_in::call(
        &toolset![send_email],
        &ToolContext::anonymous(),
        "send_email",
        &arguments,
    )
    .await;
    assert_eq!(kind(&result), ErrorKind::Unavailable);
    assert!(Email::relay("smtp.example.com", "nobody").is_err());
}

// Invalid addresses and subjects, and too many recipients, are refused before a connection is made; no header can be injected.
#[tokio::test]
async fn invalid_arguments_are_refused() {
    for (to, cc, subject) in [
        (json!([]), json!([]), "x"),
        (json!(["ann"]), json!([]), "x"),
        (json!(["ann@example.com"]), json!(["@example.com"]), "x"),
        (
            json!(["ann@example.com\r\nBcc: eve@example.com"]),
            json!([]),
            "x",
        ),
        (json!(["ann@example.com, eve@example.com"]), json!([]), "x"),
        (
            json!(vec!["ann@example.com"; 40]),
            json!(vec!["ann@example.com"; 11]),
            "x",
        ),
        (
            json!(["ann@example.com"]),
            json!([]),
            "x\r\nBcc: eve@example.com",
        ),
        (json!(["ann@example.com"]), json!([]), ""),
    ] {
        let arguments = json!({"to": to, "cc": cc, "subject": subject, "text": "y"});
        let result = send(email(), arguments).await;
        assert_eq!(
            kind(&result),
            ErrorKind::InvalidArguments,
            "{to} {cc} {subject}: {}",
            result.model_text()
        );
    }
}

// The host limits the recipients.
#[tokio::test]
async fn other_recipients_are_refused() {
    let allowed = || email().recipients(["Example.com", "ann@example.org"]);
    for (to, cc, expected) in [
        (
            json!(["Bob <bob@EXAMPLE.COM>"]),
            json!(["ANN@example.org"]),
            ErrorKind::Failed,
        ),
        (json!(["bob@example.org"]), json!([]), ErrorKind::Denied),
        (
            json!(["ann@example.org"]),
            json!(["eve@example.net"]),
            ErrorKind::Denied,
        ),
        (json!(["ann@sub.example.com"]), json!([]), ErrorKind::Denied),
        (
            json!(["\"ann@example.org\" <eve@example.net>"]),
            json!([]),
            ErrorKind::Denied,
        ),
    ] {
        let arguments = json!({"to": to, "cc": cc, "subject": "x", "text": "y"});
        let result = send(allowed(), arguments).await;
        assert_eq!(kind(&result), expected, "{to}: {}", result.model_text());
    }
}
