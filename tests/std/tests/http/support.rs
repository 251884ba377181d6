//! Test servers on loopback with scripted responses, and a scripted resolver. The servers record their requests. The tests' policy treats 127.0.0.2
//! and
//! 127.0.0.3 as public, and 127.0.0.1 as private.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tool_core::prelude::*;
use tool_std::http::{Guard, Http, Resolver, http_get, http_request, special_range};

pub(crate) const PUBLIC: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
pub(crate) const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
pub(crate) const PRIVATE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Returns the address policy of the tests.
pub(crate) fn policy(address: IpAddr) -> Option<&'static str> {
    if address == PUBLIC || address == OTHER {
        return None;
    }
    special_range(address)
}

/// A resolver with a list of answers for each name. It repeats the last answer and records the lookups.
#[derive(Clone, Default)]
pub(crate) struct Names {
    known: Arc<Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    /// Resolves `public.example`, `api.public.example` and `evilpublic.example` to 127.0.0.2, `other.example` to 127.0.0.3 and `private.example` to
    /// 127.0.0.1.
    pub(crate) fn new() -> Self {
        Self::default()
            .with("public.example", [PUBLIC])
            .with("api.public.example", [PUBLIC])
            .with("evilpublic.example", [PUBLIC])
            .with("other.example", [OTHER])
            .with("private.example", [PRIVATE])
    }

    pub(crate) fn with<A: Into<IpAddr>>(
        self,
        name: &str,
        addresses: impl IntoIterator<Item = A>,
    ) -> Self {
        let addresses = addresses.into_iter().map(Into::into).collect();
        let mut known = self.known.lock().unwrap();
        known
            .entry(name.to_owned())
            .or_default()
            .push_back(addresses);
        drop(known);
        self
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let mut known = self.known.lock().unwrap();
        let answer = known.get_mut(host).and_then(|answers| match answers.len() {
            1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        async move { answer.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)) }.boxed()
    }
}

/// Returns a guard with the tests' resolver and policy. It allows every port.
pub(crate) fn guard() -> Guard {
    Guard::default()
        .resolver(Names::new())
        .addresses(policy)
        .any_port()
}

/// Returns a client with the tests' guard.
pub(crate) fn client() -> Http {
    Http::default().guard(guard())
}

/// A request that a server received.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The request line, such as `GET /path HTTP/1.1`.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn method(&self) -> &str {
        self.line.split(' ').next().unwrap()
    }

    pub(crate) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A server on loopback. It stops when the test's runtime is dropped.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Starts a server that answers each request with the bytes that `answer` returns, and then closes the connection.
    pub(crate) async fn start(
        address: Ipv4Addr,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::at((address, 0).into(), answer).await
    }

    pub(crate) async fn at(
        address: SocketAddr,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        Self::serve(address, move |mut socket, seen| {
            let answer = Arc::clone(&answer);
            async move {
                let bytes = answer(&seen);
                let _ = socket.write_all(&bytes).await;
                let _ = socket.shutdown().await;
            }
            .boxed()
        })
        .await
    }

    /// Starts a server that reads each request and keeps the connection open without an answer.
    pub(crate) async fn silent(address: Ipv4Addr) -> Self {
        Self::serve((address, 0).into(), |socket, _| {
            async move {
                std::future::pending::<()>().await;
                drop(socket);
            }
            .boxed()
        })
        .await
    }

    /// Starts a server that reads each request and then passes the socket to `talk`.
    pub(crate) async fn serve(
        address: SocketAddr,
        talk: impl Fn(TcpStream, Seen) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
        };
        let (seen, talk) = (Arc::clone(&server.seen), Arc::new(talk));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (seen, talk) = (Arc::clone(&seen), Arc::clone(&talk));
                tokio::spawn(async move {
                    if let Some(request) = read(&mut socket).await {
                        seen.lock().unwrap().push(request.clone());
                        talk(socket, request).await;
                    }
                });
            }
        });
        server
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns a URL on this server.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port())
    }
}

async fn read(socket: &mut (impl tokio::io::AsyncRead + Unpin)) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut chunk = [0; 4096];
        let count = socket.read(&mut chunk).await.ok()?;
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if count == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let line = lines.next()?.to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        let mut chunk = [0; 4096];
        let count = socket.read(&mut chunk).await.ok()?;
        body.extend_from_slice(&chunk[..count]);
    }
    Some(Seen {
        line,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Returns a response with these headers and this body.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut lines = vec![
        format!("HTTP/1.1 {status} Status"),
        format!("content-length: {}", body.len()),
    ];
    lines.extend(
        headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}")),
    );
    let mut bytes = (lines.join("\r\n") + "\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Returns a plain-text response.
pub(crate) fn text(body: &str) -> Vec<u8> {
    response(200, &[("content-type", "text/plain; charset=utf-8")], body)
}

/// Returns a toolset of `http_get` and `http_request`, and a context with this client.
pub(crate) fn tools(http: Http) -> (Toolset, ToolContext) {
    (
        toolset![http_get, http_request],
        ToolContext::builder().with(http).build(),
    )
}

/// Calls `http_get` with only a URL.
pub(crate) async fn get(http: Http, url: &str) -> CallResult {
    call(http, "http_get", serde_json::json!({ "url": url })).await
}

pub(crate) async fn call(http: Http, tool: &str, arguments: serde_json::Value) -> CallResult {
    let (tools, cx) = tools(http);
    let call = ToolCall::new("c-1", tool, arguments.to_string());
    tools.call(call, &cx).await
}

/// Returns the output of a call that succeeded.
#[track_caller]
pub(crate) fn output(result: &CallResult) -> serde_json::Value {
    let output = result
        .output()
        .unwrap_or_else(|| panic!("{}", result.model_text()));
    serde_json::from_str(output.get()).unwrap()
}
