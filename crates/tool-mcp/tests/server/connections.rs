//! Connections whose clients send nothing, or only a part of a request.

use std::time::Duration;

use crate::support::soon;
use crate::support::web::{Events, Web};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tool_core::prelude::*;
use tool_mcp::{HttpOptions, McpServer};

#[expect(clippy::unwrap_used, reason = "a test fails here")]
fn server() -> McpServer {
    McpServer::builder(Registry::builder().build().unwrap()).build()
}

// A connection whose request head is incomplete is closed after the timeout.
#[tokio::test]
async fn connection_with_an_incomplete_head_is_closed() {
    let options = HttpOptions::new().header_timeout(Duration::from_millis(300));
    let web = Web::of(&server(), options).await;
    for part in ["", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"] {
        let mut stream = TcpStream::connect(web.address).await.unwrap();
        stream.write_all(part.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        soon(stream.read_to_end(&mut rest)).await.unwrap();
        let rest = String::from_utf8_lossy(&rest);
        assert!(
            rest.is_empty() || rest.starts_with("HTTP/1.1 408"),
            "{rest}"
        );
    }
    assert_eq!(web.get("/healthz").await.status, 200);
}

// A request whose body is incomplete is answered with 408 after the timeout.
#[tokio::test]
async fn request_with_an_incomplete_body_is_refused() {
    let options = HttpOptions::new().body_timeout(Duration::from_millis(300));
    let web = Web::of(&server(), options).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let parts = [
        "Content-Length: 100\r\n\r\n",
        "Content-Length: 100\r\n\r\n{\"jsonrpc\":",
        "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
    ];
    let mut streams = Vec::new();
    for part in parts.iter().cycle().take(500) {
        let mut stream = TcpStream::connect(web.address).await.unwrap();
        let text = format!("{head}{part}");
        stream.write_all(text.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    for mut stream in streams {
        let mut rest = Vec::new();
        // The connection is closed as well.
        soon(stream.read_to_end(&mut rest)).await.unwrap();
        let rest = String::from_utf8_lossy(&rest);
        assert!(rest.starts_with("HTTP/1.1 408"), "{rest}");
        assert!(rest.contains("the body did not arrive in time"), "{rest}");
    }
    assert_eq!(web.get("/healthz").await.status, 200);
}

// The timeout of a request head closes idle connections, and does not close the streams of responses.
#[tokio::test]
async fn header_timeout_closes_idle_connections_and_keeps_streams_open() {
    let server = server();
    let options = HttpOptions::new().header_timeout(Duration::from_millis(300));
    let web = Web::of(&server, options).await;
    let session = web.session(&[]).await;
    let mut stream = Events::of(&web, "GET", &[("mcp-session-id", &session)], "").await;
    stream.next().await;
    // The connection is kept alive after a response.
    let mut idle = TcpStream::connect(web.address).await.unwrap();
    let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    idle.write_all(request.as_bytes()).await.unwrap();
    let mut text = Vec::new();
    soon(idle.read_to_end(&mut text)).await.unwrap();
    assert!(
        text.ends_with(b"ok"),
        "the response arrived before the connection was closed"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.tools_changed().await;
    let (_, message) = stream.next().await;
    assert!(message.contains("list_changed"), "{message}");
}

// The idle timeout of a connection restarts after each response.
#[tokio::test]
async fn connection_that_is_used_stays_open() {
    let options = HttpOptions::new().header_timeout(Duration::from_millis(400));
    let web = Web::of(&server(), options).await;
    let mut stream = TcpStream::connect(web.address).await.unwrap();
    for _ in 0..10 {
        let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut part = [0; 1024];
        assert!(soon(stream.read(&mut part)).await.unwrap() > 0);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

// An incomplete request head does not keep a server from stopping.
#[tokio::test]
async fn incomplete_head_does_not_delay_shutdown() {
    let options = HttpOptions::new().header_timeout(Duration::from_millis(300));
    let mut web = Web::of(&server(), options).await;
    let mut stream = TcpStream::connect(web.address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHo").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    web.stop();
    web.stopped().await;
}
