//! HTTP responses: refusals as JSON-RPC errors, and bodies in which verbatim JSON texts are inserted.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError};
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::server::message::Reject;
use crate::server::verbatim;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An HTTP error response with a JSON-RPC error as its body.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    body: Box<JsonRpcError>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, text, None);
        Self {
            status,
            body: Box::new(JsonRpcError::new(None, error)),
            header: None,
        }
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    /// Returns the response to a malformed message.
    pub(super) fn malformed(reject: Reject) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            body: Box::new(reject.into_message()),
            header: None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut response = (self.status, [(CONTENT_TYPE, JSON)], body).into_response();
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Inserts the verbatim texts into rmcp's response, and converts errors in plain text to JSON-RPC errors. A call counts as running until its response
/// is complete.
pub(super) async fn finish<B>(response: Response<B>, running: Option<TaskTrackerToken>) -> Response
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let is = |kind: &str| {
        let header = response.headers().get(CONTENT_TYPE);
        header.is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
    };
    if is("text/event-stream") {
        let (parts, mut body) = response.into_parts();
        let (first, ended) = gathered(&mut body).await;
        if ended {
            return Response::from_parts(parts, Body::from(first));
        }
        let rest = Rendering {
            first: (!first.is_empty()).then(|| first.into()),
            body,
            _running: running,
        };
        return Response::from_parts(parts, Body::new(rest));
    }
    let is_json = is("application/json");
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the response ended early",
        )
        .into_response();
    };
    let body = body.to_bytes();
    parts.headers.remove(CONTENT_LENGTH);
    if is_json {
        return Response::from_parts(parts, Body::from(rendered(body)));
    }
    let failed = parts.status.is_client_error() || parts.status.is_server_error();
    if !failed {
        return Response::from_parts(parts, Body::from(body));
    }
    // rmcp sends errors as plain text.
    let text = String::from_utf8_lossy(&body).into_owned();
    let refusal = Refusal::new(parts.status, text).into_response();
    parts.headers.insert(CONTENT_TYPE, JSON);
    Response::from_parts(parts, refusal.into_body())
}

/// Maximum number of times that the task yields before the first events are sent.
const TURNS: usize = 8;
/// Number of bytes of events from which no further event is collected.
const GATHERED: usize = 64 * 1024;

/// Collects the first events of a stream, and returns them and whether the stream has ended. The stream of a call begins with an
/// event without a message, and most calls end a few polls later: their response is then one write instead of two or three.
async fn gathered<B>(body: &mut B) -> (Vec<u8>, bool)
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let mut events = Vec::new();
    let mut turns = 0;
    let all = poll_fn(|cx| {
        while events.len() < GATHERED {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        events.extend_from_slice(&rendered(data));
                    }
                }
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(true),
                Poll::Pending if turns < TURNS => {
                    turns += 1;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Pending => break,
            }
        }
        Poll::Ready(false)
    });
    let ended = all.await;
    (events, ended)
}

fn rendered(bytes: Bytes) -> Bytes {
    match verbatim::render(&bytes) {
        Cow::Borrowed(_) => bytes,
        Cow::Owned(rendered) => rendered.into(),
    }
}

/// A stream of server-sent events in which verbatim JSON texts are inserted. Its first frame contains the events that were collected before
/// the response was sent.
struct Rendering<B> {
    /// Events that were collected before the response was sent.
    first: Option<Bytes>,
    body: B,
    _running: Option<TaskTrackerToken>,
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Rendering<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(rendered))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    /// Returns an unknown length, because inserted texts change it.
    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
