//! HTTP test client for arbitrary requests.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tool_mcp::rmcp::ServerHandler;
use tool_mcp::{Composed, HttpOptions};

pub struct Web {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

/// A response that was read completely.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: hyper::HeaderMap,
    pub text: String,
}

impl Answer {
    /// Returns the messages of an event stream, or the one message of a JSON body.
    pub fn messages(&self) -> Vec<Value> {
        if !self.header("content-type").starts_with("text/event-stream") {
            return vec![serde_json::from_str(&self.text).unwrap()];
        }
        let data = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let data = data.map(str::trim).filter(|data| !data.is_empty());
        data.map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// Returns the last message of the response.
    pub fn json(&self) -> Value {
        self.messages().pop().unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl Web {
    pub async fn of<H: ServerHandler>(server: &Composed<H>, options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            server.serve_http_until(listener, options, stopped).await
        });
        Self {
            address,
            stop: Some(stop),
            serving,
        }
    }

    /// Asks the server to stop.
    pub fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits until the server has stopped.
    pub async fn stopped(self) {
        super::soon(self.serving).await.unwrap().unwrap();
    }

    pub async fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        let has = |name: &str| {
            headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        if !has("host") {
            request = request.header("host", self.address.to_string());
        }
        if !has("content-type") {
            request = request.header("content-type", "application/json");
        }
        if !has("accept") {
            request = request.header("accept", "application/json, text/event-stream");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::<Bytes>::from(body.to_owned())).unwrap();
        sender.send_request(request).await.unwrap()
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let response = self.begin(method, path, headers, body).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send("POST", "/mcp", headers, body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    /// Begins a session of the legacy protocol, and returns its id.
    pub async fn session(&self, headers: &[(&str, &str)]) -> String {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = self.post(headers, &initialize.to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").to_owned();
        let mut headers = headers.to_vec();
        headers.push(("mcp-session-id", &session));
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(
            self.post(&headers, &initialized.to_string()).await.status,
            202
        );
        session
    }

    /// Sends a request of the 2026-07-28 protocol.
    pub async fn modern(&self, headers: &[(&str, &str)], method: &str, params: Value) -> Answer {
        let (all, body) = modern(method, params);
        let name = all.1.clone().unwrap_or_default();
        let mut sent = headers.to_vec();
        sent.extend([
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", all.0.as_str()),
        ]);
        if all.1.is_some() {
            sent.push(("mcp-name", &name));
        }
        self.post(&sent, &body).await
    }
}

/// Returns the method and name for the headers, and the body.
pub fn modern(method: &str, mut params: Value) -> ((String, Option<String>), String) {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    if meta["io.modelcontextprotocol/clientCapabilities"].is_null() {
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let name = params["name"].as_str().map(str::to_owned);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    ((method.to_owned(), name), body.to_string())
}

/// An event stream that is read event by event. Dropping it closes its connection.
pub struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    pub async fn of(web: &Web, method: &str, headers: &[(&str, &str)], body: &str) -> Self {
        let response = web.begin(method, "/mcp", headers, body).await;
        assert_eq!(response.status(), 200);
        Self {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// Returns the id and the data of the next event.
    pub async fn next(&mut self) -> (String, String) {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let line = |name| event.lines().find_map(|line| line.strip_prefix(name));
                let text = |name| line(name).map_or("", str::trim).to_owned();
                return (text("id:"), text("data:"));
            }
            let frame = super::soon(self.body.frame()).await;
            let bytes = frame.unwrap().unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
}
