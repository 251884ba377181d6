//! CPU time of an HTTP server in a separate process: user and system time of all its threads.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use axum::Router;
use axum::serve::ListenerExt as _;
use tool_mcp::HttpOptions;

use crate::{call, ours, rmcp_service};

/// Serves until standard input ends. For each line of input, prints the CPU time so far in nanoseconds.
pub(crate) fn serve(who: &str) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    println!("{}", listener.local_addr().expect("an address").port());
    if who == "ours" {
        let serving = async move { ours(false).serve_http_until(listener, HttpOptions::new(), std::future::pending()).await };
        runtime.spawn(serving);
    } else {
        // The setup is the same as in rmcp's documentation, but Nagle's algorithm is disabled: with it, each call in a session takes 44 ms.
        let router = Router::new().nest_service("/mcp", rmcp_service(who == "rmcp-json"));
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket"));
        runtime.spawn(async move { axum::serve(listener, router).await });
    }
    for _ in std::io::stdin().lines() {
        println!("{}", spent());
    }
    ExitCode::SUCCESS
}

/// Returns the time that the threads of this process have run, in user mode and in the kernel, in nanoseconds.
fn spent() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").expect("threads");
    let time = |thread: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    threads.filter_map(time).sum()
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    client: Client,
}

impl Server {
    fn start(who: &str, modern: bool) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program).args(["serve", who]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let input = child.stdin.take().expect("its input");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut port = String::new();
        output.read_line(&mut port).expect("a port");
        let client = Client::connect(port.trim().parse().expect("a port"), modern);
        Self { child, input, output, client }
    }

    fn spent(&mut self) -> u64 {
        writeln!(self.input).expect("asked");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        line.trim().parse().expect("nanoseconds")
    }

    /// Returns the CPU time of this many calls, in nanoseconds.
    fn cost(&mut self, calls: usize) -> u64 {
        let before = self.spent();
        self.client.calls(calls);
        self.spent() - before
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client with one connection, which makes one call at a time.
struct Client {
    stream: BufReader<TcpStream>,
    head: String,
    modern: bool,
    id: usize,
}

impl Client {
    fn connect(port: u16, modern: bool) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let common = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        let mut client = Self { stream: BufReader::new(stream), head: common.to_owned(), modern, id: 0 };
        if modern {
            client.head.push_str("mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: search\r\n");
            return client;
        }
        let (head, _) = client.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}"#);
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").trim().to_owned();
        client.head.push_str(&format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n"));
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn calls(&mut self, calls: usize) {
        for _ in 0..calls {
            self.id += 1;
            let (_, body) = self.send(&call(self.id, self.modern, 3));
            assert!(body.contains("structuredContent") && body.contains("about/it"), "{body}");
        }
    }

    /// Sends a message, and returns the head and the body of the response.
    fn send(&mut self, message: &str) -> (String, String) {
        let request = format!("{}content-length: {}\r\n\r\n{message}", self.head, message.len());
        self.stream.get_mut().write_all(request.as_bytes()).expect("sent");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).expect("a head") > 0, "{head}");
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = Vec::new();
        if let Some(length) = length {
            body.resize(length.parse().expect("a length"), 0);
            self.stream.read_exact(&mut body).expect("a body");
        } else if head.contains("transfer-encoding: chunked") {
            loop {
                let mut size = String::new();
                self.stream.read_line(&mut size).expect("a size");
                let size = usize::from_str_radix(size.trim(), 16).expect("a size");
                let from = body.len();
                body.resize(from + size + 2, 0);
                self.stream.read_exact(&mut body[from..]).expect("a chunk");
                body.truncate(from + size);
                if size == 0 {
                    break;
                }
            }
        }
        (head, String::from_utf8(body).expect("text"))
    }
}

/// Measures the servers alternately, and prints the median of the rounds.
pub(crate) fn measure(calls: usize, rounds: usize) -> ExitCode {
    println!("| connection | rmcp, µs per call | tool-mcp | times rmcp |\n|---|---|---|---|");
    for (way, peer, modern) in [("sessions", "rmcp", false), ("without sessions", "rmcp-json", true), ("without sessions, rmcp with events", "rmcp", true)] {
        let mut servers = [Server::start(peer, modern), Server::start("ours", modern)];
        let mut costs = [Vec::new(), Vec::new()];
        for server in &mut servers {
            server.cost(calls / 10 + 100);
        }
        for _ in 0..rounds {
            for (server, costs) in servers.iter_mut().zip(&mut costs) {
                costs.push(server.cost(calls));
            }
        }
        let [theirs, our] = costs.map(|mut costs| {
            costs.sort_unstable();
            costs[costs.len() / 2] as f64 / calls as f64 / 1000.0
        });
        println!("| {way} | {theirs:.1} | {our:.1} | {:.2} |", our / theirs);
    }
    ExitCode::SUCCESS
}
