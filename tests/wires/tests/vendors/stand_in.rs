//! A local server that records its requests and returns recorded responses of a provider.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tool_wire::Provider;

use crate::frames::frames;

/// Returns the recorded responses that the tests of `tool-wire` use.
pub(crate) fn recorded(provider: Provider) -> (&'static str, &'static str) {
    macro_rules! recorded {
        ($whole:literal, $stream:literal) => {
            (
                include_str!(concat!(
                    "../../../../crates/tool-wire/tests/wire/recorded/",
                    $whole
                )),
                include_str!(concat!(
                    "../../../../crates/tool-wire/tests/wire/recorded/",
                    $stream
                )),
            )
        };
    }
    match provider {
        Provider::Chat => recorded!("chat.json", "chat.sse"),
        Provider::Responses => recorded!("responses.json", "responses.sse"),
        Provider::Anthropic => recorded!("anthropic.json", "anthropic.sse"),
        Provider::Gemini => recorded!("gemini.json", "gemini.sse"),
        Provider::Bedrock => recorded!("bedrock.json", "bedrock.jsonl"),
    }
}

#[derive(Clone)]
struct Kept {
    provider: Provider,
    bodies: Arc<Mutex<Vec<String>>>,
}

pub(crate) struct TestServer {
    pub(crate) address: String,
    kept: Kept,
}

impl TestServer {
    pub(crate) async fn start(provider: Provider) -> Self {
        let kept = Kept {
            provider,
            bodies: Arc::default(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(kept.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, kept }
    }

    /// Returns the unparsed bodies of the received requests.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.kept.bodies.lock().unwrap().clone()
    }

    pub(crate) fn arrived(&self) -> Vec<Value> {
        let read = |text: &String| serde_json::from_str(text).unwrap();
        self.texts().iter().map(read).collect()
    }
}

async fn answer(State(kept): State<Kept>, uri: Uri, body: Bytes) -> Response {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let asked: Value = serde_json::from_str(&text).unwrap_or_default();
    kept.bodies.lock().unwrap().push(text);
    let (whole, stream) = recorded(kept.provider);
    let path = uri.path();
    let (path_of, streams) = match kept.provider {
        Provider::Chat => ("/v1/chat/completions", asked["stream"] == true),
        Provider::Responses => ("/v1/responses", asked["stream"] == true),
        Provider::Anthropic => ("/v1/messages", asked["stream"] == true),
        Provider::Gemini => (
            "/v1/models/gemini-3-pro:",
            path.ends_with("streamGenerateContent"),
        ),
        Provider::Bedrock => ("/model/claude/converse", path.ends_with("stream")),
    };
    if !path.starts_with(path_of) {
        return (StatusCode::NOT_FOUND, path.to_owned()).into_response();
    }
    let kind = |kind: &'static str| [(header::CONTENT_TYPE, kind)];
    match (streams, kept.provider) {
        (false, _) => (kind("application/json"), whole).into_response(),
        (true, Provider::Bedrock) => {
            (kind("application/vnd.amazon.eventstream"), frames(stream)).into_response()
        }
        (true, _) => (kind("text/event-stream"), stream).into_response(),
    }
}
