//! The accept loop of the HTTP server, with a time limit for the head of each request.
//!
//! hyper's own limit sets a timer for each head. On a multi-threaded runtime each of these timers wakes the thread
//! that waits for the next timer, which costs two to four more system calls for each request (benches/README.md).

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// Pause of the accept loop after an error that does not concern one connection, such as too many open files.
const PAUSE: Duration = Duration::from_secs(1);
/// Shortest and longest interval between two checks for idle connections.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(5));

/// Serves HTTP/1 until `stopped` is cancelled, and then finishes the requests in progress.
///
/// A connection is closed if no complete request head is received within `header_timeout`, or if it is idle for that time between two requests. After
/// `stopped` is cancelled, a connection is also closed if its client has not read a part of the response within `header_timeout`, because the server
/// might otherwise never end.
///
/// ```no_run
/// use std::time::Duration;
///
/// use axum::Router;
/// use tokio::net::TcpListener;
/// use tokio_util::sync::CancellationToken;
///
/// # async fn serve(routes: Router) -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:8081").await?;
/// let stopped = CancellationToken::new();
/// tool_http::serve(listener, routes, Duration::from_secs(30), stopped).await;
/// # Ok(())
/// # }
/// ```
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    header_timeout: Duration,
    stopped: CancellationToken,
) {
    let server = http1::Builder::new();
    let service = TowerToHyperService::new(routes);
    let graceful = GracefulShutdown::new();
    let mut open = Open::new(header_timeout);
    loop {
        let accepted = tokio::select! {
            biased;
            () = stopped.cancelled() => break,
            () = open.look() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_of_one_connection(&error) => continue,
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted now");
                tokio::select! {
                    () = stopped.cancelled() => break,
                    () = tokio::time::sleep(PAUSE) => continue,
                }
            }
        };
        without_delay(&stream);
        let client = Arc::new(Client::new(open.began));
        let (service, asking) = (service.clone(), Arc::clone(&client));
        let service = service_fn(move |request| {
            let asked = Asked::new(&asking);
            let answered = service.call(request);
            async move {
                let response: Result<Response<Body>, Infallible> = answered.await;
                response.map(|response| response.map(|body| Answering { body, asked }))
            }
        });
        let connection = server.serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection has ended early");
            }
        });
        open.add(client, task.abort_handle());
    }
    drop(listener);
    open.is_ending = true;
    let end = graceful.shutdown();
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return,
            () = open.look() => {}
        }
    }
}

/// The open connections, and the timer of the check for idle connections.
struct Open {
    began: Instant,
    timeout: Duration,
    looks: tokio::time::Interval,
    connections: Vec<(Arc<Client>, AbortHandle)>,
    /// Whether connections to clients that do not read their responses are closed.
    is_ending: bool,
}

impl Open {
    fn new(timeout: Duration) -> Self {
        let mut looks = tokio::time::interval((timeout / 4).clamp(LOOKS.0, LOOKS.1));
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Self {
            began: Instant::now(),
            timeout,
            looks,
            connections: Vec::new(),
            is_ending: false,
        }
    }

    fn add(&mut self, client: Arc<Client>, task: AbortHandle) {
        self.connections.push((client, task));
    }

    /// Waits for the next check. Closes the connections that have waited too long for a request head, and, while the server stops, the connections
    /// whose clients do not read.
    async fn look(&mut self) {
        if self.connections.is_empty() {
            std::future::pending::<()>().await;
        }
        self.looks.tick().await;
        let (timeout, is_ending) = (self.timeout, self.is_ending);
        self.connections.retain(|(client, task)| {
            let reason = if client.has_waited(timeout) {
                Some("no complete request head arrived in time")
            } else if is_ending && client.reads_nothing(timeout) {
                Some("the server stops, and the client does not read the response")
            } else {
                None
            };
            if let Some(reason) = reason {
                tracing::debug!("a connection was closed: {reason}");
                task.abort();
            }
            reason.is_none() && !task.is_finished()
        });
    }
}

/// The state of a connection: it either waits for a request head since a point in time, or answers a request.
struct Client {
    began: Instant,
    /// The time since which the connection waits for a request head, in milliseconds after `began`, or [`ASKED`] while a request is being answered.
    since: AtomicU64,
    /// The time at which the last part of the response was passed to the connection, in milliseconds after `began`, or [`ASKED`] if the connection
    /// has asked for the next part or no response is being sent.
    sent: AtomicU64,
}

const ASKED: u64 = u64::MAX;

impl Client {
    fn new(began: Instant) -> Self {
        let client = Self {
            began,
            since: AtomicU64::new(ASKED),
            sent: AtomicU64::new(ASKED),
        };
        client.waits();
        client
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(ASKED - 1)
    }

    fn waits(&self) {
        self.since.store(self.now(), Ordering::Relaxed);
    }

    fn has_waited(&self, timeout: Duration) -> bool {
        self.is_past(&self.since, timeout)
    }

    /// Returns whether the connection has not asked for the next part of the response in time. A connection asks as soon as its buffers
    /// have space, so this means that the client does not read.
    fn reads_nothing(&self, timeout: Duration) -> bool {
        self.is_past(&self.sent, timeout)
    }

    fn is_past(&self, time: &AtomicU64, timeout: Duration) -> bool {
        let time = time.load(Ordering::Relaxed);
        time != ASKED && u128::from(self.now().saturating_sub(time)) >= timeout.as_millis()
    }
}

/// Guard that marks a connection as answering a request until it is dropped.
struct Asked(Arc<Client>);

impl Asked {
    fn new(client: &Arc<Client>) -> Self {
        client.since.store(ASKED, Ordering::Relaxed);
        Self(Arc::clone(client))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.sent.store(ASKED, Ordering::Relaxed);
        self.0.waits();
    }
}

/// A response body. When it ends, the connection waits for the next request head.
struct Answering {
    body: Body,
    asked: Asked,
}

impl HttpBody for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        let client = &self.asked.0;
        let sent = match polled {
            Poll::Ready(Some(_)) => client.now(),
            Poll::Ready(None) | Poll::Pending => ASKED,
        };
        client.sent.store(sent, Ordering::Relaxed);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Disables Nagle's algorithm: streams are many small writes, and each would wait for the client's delayed acknowledgement.
fn without_delay(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::warn!(%error, "a connection responds slowly, because `TCP_NODELAY` cannot be set");
    }
}

/// Returns whether the error concerns one connection only, for example because the client disconnected before the connection was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn nagle_is_disabled_for_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (stream, _) = accepted.unwrap();
        without_delay(&stream);
        assert!(stream.nodelay().unwrap() && client.is_ok());
    }

    // A client that reads nothing of an endless stream does not keep the server from stopping, and a slow handler finishes its response.
    #[tokio::test]
    async fn client_that_does_not_read_does_not_block_shutdown() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let endless = || async {
            let part = || Ok::<_, Infallible>(Bytes::from(vec![b'x'; 64 * 1024]));
            Body::from_stream(futures::stream::repeat_with(part))
        };
        let (begun, mut slow_begun) = tokio::sync::mpsc::channel(1);
        let slow = move || async move {
            begun.send(()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(600)).await;
            "done"
        };
        let routes = Router::new()
            .route("/endless", axum::routing::get(endless))
            .route("/slow", axum::routing::get(slow));
        let stopped = CancellationToken::new();
        let timeout = Duration::from_millis(200);
        let serving = tokio::spawn(serve(listener, routes, timeout, stopped.clone()));
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        idle.readable().await.unwrap();
        let mut waiting = TcpStream::connect(address).await.unwrap();
        waiting
            .write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        slow_begun.recv().await.unwrap();
        stopped.cancel();
        let mut response = String::new();
        waiting.read_to_string(&mut response).await.unwrap();
        assert!(response.ends_with("done"), "{response}");
        let ended = tokio::time::timeout(Duration::from_mins(1), serving).await;
        ended.expect("the server ends").unwrap();
        drop(idle);
    }
}
