//! A local server in place of the providers: it responds in the formats of Chat Completions and of Anthropic.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) body: Value,
}

/// A running server, which ends with its runtime.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    /// The judgments of the model, in order; the last one is repeated.
    judgments: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    /// Starts a server whose model returns these judgments.
    pub(crate) async fn start(judgments: Vec<Value>) -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let provider = Self {
            url: format!("http://{}", listener.local_addr()?),
            requests: Arc::default(),
            judgments: Arc::new(Mutex::new(judgments)),
        };
        let routes = Router::new()
            .route("/chat/completions", post(answer))
            .route("/messages", post(answer))
            .route("/v1/messages", post(answer))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(provider)
    }

    /// Returns the requests since the last call, and removes them.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let mut requests = self
            .requests
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::take(&mut *requests)
    }

    fn note(&self, request: Request) -> Value {
        let mut requests = self
            .requests
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        requests.push(request);
        drop(requests);
        let mut judgments = self
            .judgments
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match judgments.len() {
            0 => Value::Null,
            1 => judgments[0].clone(),
            _ => judgments.remove(0),
        }
    }
}

async fn answer(
    State(provider): State<Provider>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, "the body is not JSON").into_response();
    };
    let key = headers
        .get("x-api-key")
        .or(headers.get(header::AUTHORIZATION));
    let key = key.and_then(|key| key.to_str().ok()).unwrap_or_default();
    let path = uri.path().to_owned();
    let judgment = provider.note(Request {
        path: path.clone(),
        key: key.trim_start_matches("Bearer ").to_owned(),
        body,
    });
    let events = if path.ends_with("/messages") {
        anthropic(&judgment.to_string())
    } else {
        chat(&judgment.to_string())
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}

/// Returns a call of `final_answer` as a stream of Chat Completions.
fn chat(arguments: &str) -> String {
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "final_answer", "arguments": arguments}});
    let chunk = |delta: Value, finish: Option<&str>| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    };
    chunk(json!({"tool_calls": [call]}), None)
        + &chunk(json!({}), Some("tool_calls"))
        + "data: [DONE]\n\n"
}

/// Returns the same call as a stream of Anthropic's Messages API.
fn anthropic(arguments: &str) -> String {
    let start = json!({
        "type": "message_start",
        "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}}
    });
    let events = [
        start,
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "final_answer", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": arguments}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ];
    let event = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or_default()
        )
    };
    events.iter().map(event).collect()
}
