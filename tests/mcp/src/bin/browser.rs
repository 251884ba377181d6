//! Binary that calls an MCP server from pages of two origins in a real browser: `browser PROGRAM`, where PROGRAM is the path of Chromium.
//!
//! The browser resolves the names of the origins to a loopback address. Because the origins have names, the server does not trust them as loopback
//! origins.

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tool_core::prelude::*;
use tool_mcp::{Auth, AuthError, HttpOptions, McpServer, Principal, TokenVerifier};

const PAGE: &str = include_str!("../../clients/page.html");
/// The origin that the server trusts.
const TRUSTED: &str = "app.example.com";
const FOREIGN: &str = "evil.example";
const RESOURCE: &str = "https://mcp.example.com/mcp";
/// The timeout for the report of a page.
const PATIENCE: Duration = Duration::from_mins(2);

type Failure = Box<dyn Error + Send + Sync>;

static SERVER: OnceLock<McpServer> = OnceLock::new();

/// Yields numbers in steps.
#[tool(read_only)]
fn steps() -> ToolStream<String, u64> {
    tool_stream! {
        yield "one".to_owned();
        yield "two".to_owned();
        2
    }
}

/// Notifies clients that the tools have changed.
#[tool(read_only)]
async fn change() -> Result<String, ToolError> {
    if let Some(server) = SERVER.get() {
        server.tools_changed().await;
    }
    Ok("changed".to_owned())
}

struct Known;

impl TokenVerifier for Known {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>> {
        let principal = Principal::new(token).audience([RESOURCE]);
        let found = (token == "alice").then_some(principal);
        async { found.ok_or(AuthError::InvalidToken) }.boxed()
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(browser) = std::env::args().nth(1) else {
        eprintln!("usage: browser PROGRAM, such as /usr/bin/chromium");
        return ExitCode::from(2);
    };
    match both(&browser).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Opens a page of each origin, and returns whether both pages reported that all checks passed.
async fn both(browser: &str) -> Result<bool, Failure> {
    let pages = TcpListener::bind("127.0.0.1:0").await?;
    let page_port = pages.local_addr()?.port();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let registry = Registry::builder()
        .tool::<steps>()
        .tool::<change>()
        .build()?;
    let server = McpServer::builder(registry).name("browser").build();
    let server = SERVER.get_or_init(|| server);
    let options = HttpOptions::new()
        .host("mcp.example.com")
        .origin(format!("http://{TRUSTED}:{page_port}"))
        .auth(Auth::new(RESOURCE, Known));
    let serving = server.serve_http_until(listener, options, std::future::pending());
    let mut serving = std::pin::pin!(serving);
    let mut right = true;
    for origin in [TRUSTED, FOREIGN] {
        let folder =
            std::env::temp_dir().join(format!("mcp-browser-{}-{origin}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let url = format!("http://{origin}:{page_port}/?server=http://mcp.example.com:{port}/mcp");
        let started = start(browser, &folder, &url)?;
        let report = tokio::select! {
            report = tokio::time::timeout(PATIENCE, report(&pages)) => report,
            ended = &mut serving => {
                ended?;
                return Err("the server has ended".into());
            }
        };
        drop(started);
        remove(&folder).await?;
        let report = report.map_err(|_| "the page sent no report in time")??;
        println!("== a page of {origin}\n{report}");
        right &= report.ends_with("all checks passed");
    }
    Ok(right)
}

/// Removes a folder. The browser's child processes keep writing to it until they notice that their parent has exited.
async fn remove(folder: &Path) -> std::io::Result<()> {
    for _ in 0..50 {
        if std::fs::remove_dir_all(folder).is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    std::fs::remove_dir_all(folder)
}

/// A browser process, killed on drop.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(browser: &str, folder: &Path, url: &str) -> std::io::Result<Started> {
    let child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP *.example.com 127.0.0.1, MAP evil.example 127.0.0.1",
        ])
        .arg(format!("--user-data-dir={}", folder.display()))
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(Started(child))
}

/// Serves the page until the page sends its report, and returns the report.
async fn report(pages: &TcpListener) -> Result<String, Failure> {
    loop {
        let (stream, _) = pages.accept().await?;
        // A timeout is necessary, because a browser opens connections that it never uses.
        let answered = tokio::time::timeout(Duration::from_secs(5), answer(stream)).await;
        if let Ok(Ok(Some(report))) = answered {
            return Ok(report);
        }
    }
}

/// Answers one request, and returns its body if the request is a report.
async fn answer(mut stream: TcpStream) -> Result<Option<String>, Failure> {
    let mut request = Vec::new();
    let (head, body) = loop {
        if let Some(whole) = whole(&request) {
            break whole;
        }
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(None);
        }
    };
    let (status, page) = match head.split_whitespace().nth(1) {
        Some(path) if path.starts_with("/?") => ("200 OK", PAGE),
        Some("/report") => ("204 No Content", ""),
        _ => ("404 Not Found", ""),
    };
    let length = page.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{page}"
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(head.starts_with("POST /report ").then_some(body))
}

/// Returns the head and the body of a request, or `None` if the request is incomplete.
fn whole(request: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(request);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let lower = head.to_ascii_lowercase();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let length = length.map_or(Some(0), |length| length.trim().parse().ok())?;
    (body.len() >= length).then(|| (head.to_owned(), body.to_owned()))
}
