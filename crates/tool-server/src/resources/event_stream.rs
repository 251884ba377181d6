//! Server-sent events, as every stream of the API sends them.

use std::fmt::Write as _;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures::future::ready;
use futures::stream::{self, Stream, StreamExt as _};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use tool_core::store::StoreError;

/// The interval of comments in a stream without events, so that proxies keep the connection open.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The maximum duration of a stream. The client then connects again, so that the server refuses a token that was revoked.
pub(super) const LONGEST: Duration = Duration::from_mins(10);

/// Adds an event to a text.
pub(super) fn block(text: &mut String, name: &str, id: &str, data: &str) {
    let _ = write!(text, "event: {name}\nid: {id}\ndata: {data}\n\n");
}

/// Returns the id of the last event that the client has read, from the header or else from the query.
pub(super) fn last_event_id(parts: &Parts, query: Option<String>) -> Option<String> {
    let header = parts.headers.get("last-event-id");
    // A header that is not text is not an id of this server.
    let header = header.map(|id| id.to_str().unwrap_or_default().to_owned());
    header.or(query)
}

/// Returns the response of a stream that begins with `first`.
pub(super) fn response(
    first: &str,
    events: impl Stream<Item = Result<String, StoreError>> + Send + 'static,
) -> Response {
    let first = format!("retry: 1000\n\n{first}");
    let first = stream::once(ready(Ok(first)));
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        (CACHE_CONTROL.as_str(), "no-cache"),
        // Disables response buffering in proxies, so that each event arrives immediately.
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(first.chain(events))).into_response()
}
