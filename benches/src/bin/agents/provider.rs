//! A mock provider in a separate process, which speaks streamed Chat Completions on the loopback interface.
//!
//! If a request contains no result of a tool, the reply is a call. Every other reply is a text, and its first piece is the time at which it was
//! written.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::{Killed, monotonic, this_program, two_threads};

/// The number of words in a text.
const WORDS: usize = 20;

/// A provider's process, and the base URL of its API.
pub(crate) struct Provider {
    _process: Killed,
    pub(crate) url: String,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let mut process = this_program(&["provider"]).stdout(Stdio::piped()).spawn().expect("a process");
        let mut address = String::new();
        let output = process.stdout.take().expect("an output");
        BufReader::new(output).read_line(&mut address).expect("an address");
        Self { _process: Killed(process), url: format!("http://{}/v1", address.trim()) }
    }
}

/// Serves until the process is killed.
pub(crate) fn serve() {
    two_threads().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        io::stdout().flush().expect("a reader");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            tokio::spawn(connection(stream));
        }
    });
}

async fn connection(mut stream: TcpStream) {
    stream.set_nodelay(true).expect("a socket");
    let mut read = Vec::new();
    while let Some(body) = request(&mut stream, &mut read).await {
        let reply = if contains(&body, br#""role":"tool""#) { text() } else { call() };
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads the body of the next request.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(head) = read.windows(4).position(|at| at == b"\r\n\r\n") {
            let lines = String::from_utf8_lossy(&read[..head]).to_lowercase();
            let length = lines.lines().find_map(|line| line.strip_prefix("content-length:"));
            let end = head + 4 + length.and_then(|length| length.trim().parse::<usize>().ok()).unwrap_or(0);
            if read.len() >= end {
                let body = read[head + 4..end].to_vec();
                read.drain(..end);
                return Some(body);
            }
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn call() -> String {
    let pieces = [
        r#"{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"page","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"number\":"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"7}"}}]}"#,
    ];
    response(pieces.map(str::to_owned), "tool_calls")
}

fn text() -> String {
    let first = format!(r#"{{"role":"assistant","content":"{} "}}"#, monotonic());
    let words = (1..WORDS).map(|_| r#"{"content":"word "}"#.to_owned());
    response([first].into_iter().chain(words), "stop")
}

/// Returns a complete response, with an event in each chunk.
fn response(deltas: impl IntoIterator<Item = String>, finish: &str) -> String {
    let mut text = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    let mut event = |data: &str| write!(text, "{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8).expect("a text");
    let head = r#"{"id":"c","object":"chat.completion.chunk","created":0,"model":"m""#;
    for delta in deltas {
        event(&format!(r#"{head},"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#));
    }
    event(&format!(r#"{head},"choices":[{{"index":0,"delta":{{}},"finish_reason":"{finish}"}}]}}"#));
    event(&format!(r#"{head},"choices":[],"usage":{{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70}}}}"#));
    event("[DONE]");
    text.push_str("0\r\n\r\n");
    text
}
