//! Test client that writes and reads lines.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses a part of the helpers and fails by panicking"
)]

#[cfg(feature = "http")]
pub mod web;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tool_mcp::Composed;
use tool_mcp::rmcp::ServerHandler;

/// Waits up to one minute for a future, so that a test fails instead of hanging.
pub async fn soon<T>(happens: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_mins(1), happens).await;
    waited.unwrap()
}

/// Waits until a condition is true, but at most one minute.
pub async fn until(so: impl Fn() -> bool) {
    soon(async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

pub struct Client {
    lines: Lines<BufReader<DuplexStream>>,
    writer: DuplexStream,
    id: u64,
    /// Messages that arrived while a response was awaited.
    pub notifications: Vec<Value>,
    modern: bool,
}

impl Client {
    /// Returns a client of the legacy protocol, after its handshake.
    pub async fn legacy<H: ServerHandler>(server: &Composed<H>) -> Self {
        Self::legacy_that_can(server, json!({})).await
    }

    /// Returns a client like [`legacy`](Self::legacy), with these client capabilities.
    pub async fn legacy_that_can<H: ServerHandler>(server: &Composed<H>, can: Value) -> Self {
        let mut client = Self::open(server, false);
        let started = client
            .ask(
                "initialize",
                json!({ "protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": { "name": "test", "version": "1" } }),
            )
            .await;
        assert_eq!(
            started["result"]["protocolVersion"], "2025-11-25",
            "{started}"
        );
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        client
    }

    /// Returns a client of either protocol version.
    pub async fn of<H: ServerHandler>(server: &Composed<H>, modern: bool) -> Self {
        if modern {
            Self::modern(server)
        } else {
            Self::legacy(server).await
        }
    }

    /// Returns a client of the 2026-07-28 protocol, which has no handshake.
    pub fn modern<H: ServerHandler>(server: &Composed<H>) -> Self {
        Self::open(server, true)
    }

    fn open<H: ServerHandler>(server: &Composed<H>, modern: bool) -> Self {
        let (writer, input) = tokio::io::duplex(1 << 20);
        let (output, reader) = tokio::io::duplex(1 << 20);
        let server = server.clone();
        tokio::spawn(async move { server.serve_lines(input, output).await });
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            id: 0,
            notifications: Vec::new(),
            modern,
        }
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// Reads the next line.
    pub async fn line(&mut self) -> String {
        soon(self.lines.next_line()).await.unwrap().unwrap()
    }

    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Sends a request without waiting for its response, and returns its id.
    pub async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.id += 1;
        if self.modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            if meta["io.modelcontextprotocol/clientCapabilities"].is_null() {
                meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            }
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.send(&message).await;
        self.id
    }

    /// Waits for the response to a request.
    pub async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notifications.push(message);
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
        .await
    }
}
