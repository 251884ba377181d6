//! A mock provider on a TCP socket: it records the requests, and sends the responses of the test.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// A part of a response.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// The status and additional headers.
    Head(u16, Vec<(&'static str, String)>),
    /// Bytes of the body.
    Send(String),
    /// Bytes of a body that is not text.
    Bytes(Vec<u8>),
    Pause(Duration),
    /// Ends the body correctly. Without this act, the connection is closed in the middle of the body.
    End,
    /// Waits until the client closes the connection.
    UntilClosed,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The method and the path with its query.
    pub(crate) line: String,
    /// The headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// The body as it arrived.
    pub(crate) text: String,
    pub(crate) at: Instant,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}

#[derive(Default)]
struct Log {
    received: Vec<Received>,
    /// The number of connections that the client closed before the response ended.
    closed: usize,
}

/// The mock provider. It sends the responses in order, and repeats the last one.
pub(crate) struct StandIn {
    pub(crate) url: String,
    log: Arc<Mutex<Log>>,
}

impl StandIn {
    pub(crate) async fn start(responses: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Log::default()));
        let shared = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, responses.clone(), Arc::clone(&shared)));
            }
        });
        Self { url, log }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.log.lock().unwrap().received.clone()
    }

    /// Waits until the client has closed this number of connections.
    pub(crate) async fn closed(&self, number: usize) {
        while self.log.lock().unwrap().closed < number {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn serve(mut socket: TcpStream, responses: Vec<Vec<Act>>, log: Arc<Mutex<Log>>) {
    let Some(received) = receive(&mut socket).await else {
        return;
    };
    let number = {
        let mut log = log.lock().unwrap();
        log.received.push(received);
        log.received.len() - 1
    };
    let acts = responses.get(number).or(responses.last());
    for act in acts.into_iter().flatten() {
        let written = match act {
            Act::Head(status, headers) => {
                let mut head = format!("HTTP/1.1 {status} Status\r\n");
                for (name, value) in headers {
                    head = head + name + ": " + value + "\r\n";
                }
                head += "transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
                socket.write_all(head.as_bytes()).await
            }
            Act::Send(text) => send(&mut socket, text.as_bytes()).await,
            Act::Bytes(bytes) => send(&mut socket, bytes).await,
            Act::Pause(time) => {
                sleep(*time).await;
                Ok(())
            }
            Act::End => socket.write_all(b"0\r\n\r\n").await,
            Act::UntilClosed => {
                let read = socket.read(&mut [0]).await;
                if matches!(read, Ok(0) | Err(_)) {
                    log.lock().unwrap().closed += 1;
                }
                return;
            }
        };
        if written.is_err() {
            log.lock().unwrap().closed += 1;
            return;
        }
    }
}

/// Sends a chunk of the body.
async fn send(socket: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    socket.write_all(&chunk).await
}

/// Reads one request from the connection.
async fn receive(socket: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let head = loop {
        let read = socket.read(&mut buffer).await.ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap().trim_end_matches(" HTTP/1.1");
    let line = line.to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        })
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.unwrap().1.parse().unwrap();
    let mut body = bytes[head + 4..].to_vec();
    while body.len() < length {
        let read = socket.read(&mut buffer).await.ok()?;
        body.extend_from_slice(&buffer[..read]);
    }
    Some(Received {
        line,
        headers,
        body: serde_json::from_slice(&body).unwrap(),
        text: String::from_utf8(body).unwrap(),
        at: Instant::now(),
    })
}

/// Returns a response with status 200 and these server-sent events.
pub(crate) fn events(events: impl IntoIterator<Item = Value>) -> Vec<Act> {
    let mut acts = cut(events);
    acts.push(Act::End);
    acts
}

/// Returns a response like [`events`], whose connection breaks after the last event.
pub(crate) fn cut(events: impl IntoIterator<Item = Value>) -> Vec<Act> {
    let kind = "text/event-stream".to_owned();
    let mut acts = vec![Act::Head(200, vec![("content-type", kind)])];
    let event = |data: Value| match data {
        // A marker such as `[DONE]` is not JSON.
        Value::String(text) => Act::Send(format!("data: {text}\n\n")),
        data => Act::Send(format!("data: {data}\n\n")),
    };
    acts.extend(events.into_iter().map(event));
    acts
}

/// Returns a response with this status, these headers and a JSON body.
pub(crate) fn json_response(
    status: u16,
    headers: &[(&'static str, &str)],
    body: &Value,
) -> Vec<Act> {
    let mut all = vec![("content-type", "application/json".to_owned())];
    all.extend(
        headers
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned())),
    );
    vec![
        Act::Head(status, all),
        Act::Send(body.to_string()),
        Act::End,
    ]
}
