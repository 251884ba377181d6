//! Faults at every step of a request to a vendor. The tests of each vendor run all of them on their tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::http::{Guard, Http};
use tool_std::vendor::Api;

use crate::stand_in::{api, call};
use crate::support::{OTHER, PRIVATE, Server, response};

/// A call that succeeds if the server sends the response `success`.
pub(crate) struct Trial {
    pub(crate) tools: Toolset,
    /// Adds the pack's settings and a secret that contains the text of the second argument.
    pub(crate) context: fn(Api, &str) -> tool_core::ToolContextBuilder,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) success: Vec<u8>,
    /// Whether the tool changes nothing, so that no error leaves its result unknown.
    pub(crate) reads: bool,
    /// The status and the body of an error for missing permissions.
    pub(crate) forbidden: (u16, Value),
}

const KEY: &str = "key-of-the-first-instance";

impl Trial {
    async fn call(&self, cx: &ToolContext) -> CallResult {
        call(&self.tools, cx, self.tool, &self.arguments).await
    }

    fn cx(&self, server: &Server) -> ToolContext {
        (self.context)(api(server, "/base"), KEY).build()
    }

    /// Returns `kind` for a tool that only reads, and `Interrupted` for a tool that may have changed something.
    fn in_doubt(&self, kind: ErrorKind) -> ErrorKind {
        if self.reads {
            kind
        } else {
            ErrorKind::Interrupted
        }
    }

    /// Calls the tool once and checks the kind of its error and the number of requests.
    async fn fails(&self, server: &Server, kind: ErrorKind, requests: usize) -> ToolErrorText {
        let before = server.seen().len();
        let result = self.call(&self.cx(server)).await;
        let error = result.error().unwrap();
        let text = ToolErrorText {
            model: error.model_text(),
            operator: error.operator_text(),
        };
        assert_eq!(error.kind(), kind, "{text:?}");
        assert_eq!(server.seen().len() - before, requests, "{text:?}");
        assert!(!format!("{text:?}").contains(KEY), "{text:?}");
        text
    }
}

#[derive(Debug)]
pub(crate) struct ToolErrorText {
    pub(crate) model: String,
    pub(crate) operator: String,
}

/// Starts a server that answers the first requests with the status 429, and the later requests with the success.
async fn limited(trial: &Trial, first: usize, wait: Option<&'static str>) -> Server {
    let (count, success) = (AtomicUsize::new(0), trial.success.clone());
    Server::start(PRIVATE, move |_| {
        if count.fetch_add(1, Ordering::Relaxed) >= first {
            return success.clone();
        }
        match wait {
            Some(wait) => response(429, &[("retry-after", wait)], "{}"),
            None => response(429, &[], "{}"),
        }
    })
    .await
}

/// Runs all faults on a call.
pub(crate) async fn run(trial: &Trial) {
    rate_limits(trial).await;
    unusable_responses(trial).await;
    redirects(trial).await;
    missing_permissions(trial).await;
    no_response(trial).await;
    instances(trial).await;
}

async fn rate_limits(trial: &Trial) {
    // The same request is sent up to four times.
    let server = limited(trial, 3, Some("0")).await;
    let result = trial.call(&trial.cx(&server)).await;
    assert!(!result.is_error(), "{}", result.model_text());
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    for again in &seen {
        assert_eq!((&again.line, &again.body), (&seen[0].line, &seen[0].body));
    }
    let server = limited(trial, usize::MAX, Some("0")).await;
    trial.fails(&server, ErrorKind::RateLimited, 4).await;
    // The call waits as long as `Retry-After` states.
    let server = limited(trial, 1, Some("1")).await;
    let began = Instant::now();
    let result = trial.call(&trial.cx(&server)).await;
    assert!(!result.is_error(), "{}", result.model_text());
    assert!(began.elapsed() >= Duration::from_secs(1));
    // Without the header, each wait is twice as long as the previous one.
    let server = limited(trial, 3, None).await;
    let first = Duration::from_millis(20);
    let cx = (trial.context)(api(&server, "/base").first_wait(first), KEY).build();
    let began = Instant::now();
    let result = trial.call(&cx).await;
    assert!(!result.is_error(), "{}", result.model_text());
    assert!(began.elapsed() >= first * 7);
    // If the required wait is longer than the longest wait or the remaining time, the call fails at once.
    let server = limited(trial, 1, Some("3600")).await;
    let text = trial.fails(&server, ErrorKind::RateLimited, 1).await;
    assert!(text.model.contains("3600"), "{text:?}");
    let server = limited(trial, 1, Some("2")).await;
    let cx = (trial.context)(api(&server, "/base"), KEY)
        .deadline(Duration::from_millis(1_500))
        .build();
    let began = Instant::now();
    let result = trial.call(&cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::RateLimited);
    assert!(began.elapsed() < Duration::from_secs(1));
}

async fn unusable_responses(trial: &Trial) {
    let json = [("content-type", "application/json")];
    for (bytes, kind) in [
        (
            response(500, &json, r#"{"message": "x"}"#),
            ErrorKind::Failed,
        ),
        (response(503, &[], "<html>"), ErrorKind::Failed),
        (response(200, &json, r#"{"ok": tr"#), ErrorKind::Failed),
        (response(200, &json, "[1, 2]"), ErrorKind::Failed),
        (response(200, &[], "<html>"), ErrorKind::Failed),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{".to_vec(),
            ErrorKind::Failed,
        ),
        (b"".to_vec(), ErrorKind::Failed),
    ] {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let server = Server::start(PRIVATE, move |_| bytes.clone()).await;
        let text = trial.fails(&server, trial.in_doubt(kind), 1).await;
        assert!(!text.operator.is_empty(), "{shown}: {text:?}");
    }
}

async fn redirects(trial: &Trial) {
    // The target of a redirect to a different origin gets no key, and no request that changes something.
    let other = Server::start(OTHER, |_| response(404, &[], "{}")).await;
    let location = other.url("127.0.0.3", "/base");
    for status in [302, 307] {
        let location = location.clone();
        let server = Server::start(PRIVATE, move |_| {
            response(status, &[("location", &location)], "")
        })
        .await;
        let result = trial.call(&trial.cx(&server)).await;
        assert!(result.is_error());
        assert_eq!(server.seen().len(), 1);
    }
    for seen in other.seen() {
        assert_eq!(seen.method(), "GET");
        assert!(!format!("{seen:?}").contains(KEY), "{seen:?}");
    }
    if !trial.reads {
        assert!(other.seen().is_empty());
        // A redirect that changes the method to `GET` is not followed, because its response would be mistaken for success.
        let server = Server::start(PRIVATE, |_| response(303, &[("location", "/moved")], "")).await;
        trial.fails(&server, ErrorKind::Failed, 1).await;
    }
}

async fn missing_permissions(trial: &Trial) {
    let (status, body) = trial.forbidden.clone();
    for (status, body) in [
        (status, body.to_string()),
        (401, r#"{"message": "Bad credentials"}"#.to_owned()),
    ] {
        let server = Server::start(PRIVATE, move |_| {
            response(status, &[("content-type", "application/json")], &body)
        })
        .await;
        trial.fails(&server, ErrorKind::Unavailable, 1).await;
    }
}

async fn no_response(trial: &Trial) {
    let silent = Server::silent(PRIVATE).await;
    let http = Http::default().timeout(Duration::from_millis(200));
    let cx = (trial.context)(api(&silent, "/base"), KEY)
        .with(http)
        .build();
    let result = trial.call(&cx).await;
    let kind = result.error().unwrap().kind();
    assert_eq!(kind, trial.in_doubt(ErrorKind::TimedOut));
    // No request is sent if there is no server, or if the guard refuses it.
    let closed = {
        let socket = std::net::TcpListener::bind((PRIVATE, 0)).unwrap();
        socket.local_addr().unwrap()
    };
    let cx = (trial.context)(Api::at(format!("http://{closed}/base")), KEY).build();
    let result = trial.call(&cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Failed);
    let guard = Guard::default().block(["127.0.0.1"]).unwrap();
    let cx = (trial.context)(api(&silent, "/base"), KEY)
        .with(Http::default().guard(guard))
        .build();
    let result = trial.call(&cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    assert_eq!(silent.seen().len(), 1);
}

/// Checks that concurrent calls of two workspaces use the key of their own workspace.
async fn instances(trial: &Trial) {
    let success = Arc::new(trial.success.clone());
    let server = Server::start(PRIVATE, move |_| success.to_vec()).await;
    let keys = [KEY, "key-of-the-other-instance"];
    let contexts: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(number, key)| {
            (trial.context)(api(&server, &format!("/{number}")), key)
                .workspace(format!("w-{number}"))
                .build()
        })
        .collect();
    let calls = (0..10).map(|turn| trial.call(&contexts[turn % 2]));
    for result in futures::future::join_all(calls).await {
        assert!(!result.is_error(), "{}", result.model_text());
    }
    for seen in server.seen() {
        let own = usize::from(seen.path().starts_with("/1/"));
        let text = format!("{seen:?}");
        let basic = seen.header("authorization").and_then(basic_password);
        let sent =
            |key: &str| text.contains(key) || basic.as_deref().is_some_and(|all| all.contains(key));
        assert!(sent(keys[own]) && !sent(keys[1 - own]), "{text}");
    }
}

/// Returns the user name and the password in a header with Basic authentication.
fn basic_password(header: &str) -> Option<String> {
    use base64::Engine as _;
    let coded = header.strip_prefix("Basic ")?;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(coded)
        .ok()?;
    String::from_utf8(bytes).ok()
}
