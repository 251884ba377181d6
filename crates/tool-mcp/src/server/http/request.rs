//! Processing of HTTP requests: authorization, the JSON-RPC message, and the original text of the arguments.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::ServerHandler;

use tokio_util::task::task_tracker::TaskTrackerToken;
use tool_http::Principal;

use super::Endpoint;
use super::answer::{Refusal, finish};
use crate::server::message::{Incoming, RawArguments, read};
use crate::server::verbatim::Rendered;

/// The header with the session id of the legacy protocol.
const SESSION: &str = "mcp-session-id";

/// A request whose body is read, with a token that counts a call as running.
type Read = (Request<Full<Bytes>>, Option<TaskTrackerToken>);

impl<H: ServerHandler> Endpoint<H> {
    pub(super) async fn answer(&self, mut request: Request) -> Result<Response, Refusal> {
        self.options
            .guard
            .check(&request)
            .map_err(|refused| Refusal::new(refused.status(), refused.to_string()))?;
        if let Some(auth) = &self.options.auth {
            let principal = auth.principal(request.headers()).await?;
            request.extensions_mut().insert(principal);
        }
        let subject = request.extensions().get::<Principal>();
        let subject = subject.map(|principal| principal.subject.clone());
        let session = request.headers().get(SESSION);
        if let Some(session) = session
            && !session
                .to_str()
                .is_ok_and(|id| self.owners.is_of(id, subject.as_deref()))
        {
            return Err(Refusal::new(
                StatusCode::NOT_FOUND,
                "the session does not exist, start a new one",
            ));
        }
        let begins = session.is_none();
        request.extensions_mut().insert(Rendered);
        accept(request.headers_mut())?;
        let (request, running) = if request.method() == Method::POST {
            self.read(request).await?
        } else {
            (request.map(|_| Full::default()), None)
        };
        let response = self.service.handle(request).await;
        if begins
            && let Some(session) = response.headers().get(SESSION)
            && let Ok(session) = session.to_str()
        {
            self.owners
                .note(&self.sessions.0, session, subject.as_deref())
                .await;
        }
        Ok(finish(response, running).await)
    }

    /// Reads the message of a request, and stores the text of a call's arguments in the request's extensions.
    async fn read(&self, request: Request) -> Result<Read, Refusal> {
        let (mut parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the header `Content-Type` is not `application/json`",
            ));
        }
        let body = self.body(body).await?;
        let mut running = None;
        let body = match read(&body).map_err(Refusal::malformed)? {
            Incoming::Other(other) => {
                let begins = other.method.as_deref() == Some("initialize");
                // The message is parsed only to reject messages that rmcp cannot read; rmcp parses the body again.
                other.into_message().map_err(Refusal::malformed)?;
                if begins && !parts.headers.contains_key(SESSION) {
                    self.has_room().await?;
                }
                body
            }
            Incoming::Call(call) => {
                if self.draining.load(Ordering::Relaxed) {
                    let refusal = Refusal::new(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the server is shutting down",
                    );
                    return Err(refusal.with_header(RETRY_AFTER, HeaderValue::from_static("5")));
                }
                running = Some(self.server.core.calls.token());
                match call.arguments {
                    // Tools of the host's own handler need the arguments that rmcp parses.
                    Some(text) if !self.server.core.host_tools => {
                        parts.extensions.insert(RawArguments(text.into()));
                        without(&body, text)
                    }
                    Some(text) => {
                        parts.extensions.insert(RawArguments(text.into()));
                        body
                    }
                    None => body,
                }
            }
        };
        parts.headers.remove(CONTENT_LENGTH);
        Ok((Request::from_parts(parts, Full::new(body)), running))
    }

    /// Refuses a new session if too many sessions are open.
    async fn has_room(&self) -> Result<(), Refusal> {
        if self.sessions.open().await < self.options.most_sessions {
            return Ok(());
        }
        let refusal = Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many sessions are open, try again later",
        );
        Err(refusal.with_header(RETRY_AFTER, HeaderValue::from_static("30")))
    }

    async fn body(&self, body: Body) -> Result<Bytes, Refusal> {
        let longest = self.options.longest;
        let body = Limited::new(body, longest).collect();
        let Ok(body) = tokio::time::timeout(self.options.body_timeout, body).await else {
            return Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time",
            ));
        };
        match body {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is longer than {longest} bytes"),
            )),
            Err(error) => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                format!("the body could not be read: {error}"),
            )),
        }
    }
}

/// Empties the `arguments` in a body, because rmcp does not need them for tools that are served here.
fn without(body: &Bytes, arguments: &str) -> Bytes {
    let from = arguments.as_ptr().addr() - body.as_ptr().addr();
    let to = from + arguments.len();
    let mut rest = Vec::with_capacity(body.len() - arguments.len() + 2);
    rest.extend_from_slice(&body[..from]);
    rest.extend_from_slice(b"{}");
    rest.extend_from_slice(&body[to..]);
    rest.into()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        let essence = kind.split_once(';').map_or(kind, |(essence, _)| essence);
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}

/// Sets `Accept` to both media types that rmcp requires, if the header is missing, or if it covers both and at least one by a wildcard such as `*/*`.
fn accept(headers: &mut HeaderMap) -> Result<(), Refusal> {
    const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
    if !headers.contains_key(ACCEPT) {
        headers.insert(ACCEPT, BOTH);
        return Ok(());
    }
    let (mut json, mut events, mut wide) = (false, false, false);
    for value in headers.get_all(ACCEPT) {
        let Ok(value) = value.to_str() else {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "the header `Accept` is malformed",
            ));
        };
        for range in value.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default();
            if parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000")) {
                continue;
            }
            let is = |name: &str| kind.eq_ignore_ascii_case(name);
            if is("application/json") {
                json = true;
            } else if is("text/event-stream") {
                events = true;
            } else if is("*/*") {
                (json, events, wide) = (true, true, true);
            } else if is("application/*") {
                (json, wide) = (true, true);
            } else if is("text/*") {
                (events, wide) = (true, true);
            }
        }
    }
    if wide && json && events {
        headers.insert(ACCEPT, BOTH);
    }
    Ok(())
}
