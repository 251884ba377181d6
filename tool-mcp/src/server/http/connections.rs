//! The server's loop: connections with a limit of time for the head of each request.

use std::io;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tool_core::CancellationToken;

/// How long no connection is taken after the system had no room for one.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves until `stopped`, and then until the last request that is being answered has its answer.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    header_timeout: Duration,
    stopped: CancellationToken,
) {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout);
    let service = TowerToHyperService::new(routes);
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stopped.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_of_one_connection(&error) => continue,
            Err(error) => {
                tracing::error!(%error, "no connection can be taken now");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        without_delay(&stream);
        let connection = server.serve_connection(TokioIo::new(stream), service.clone());
        let connection = open.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection has ended early");
            }
        });
    }
    drop(listener);
    open.shutdown().await;
}

/// Streams are many small writes; each would wait for the client's delayed acknowledgement.
fn without_delay(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::warn!(%error, "a connection answers slowly, because it waits before small writes");
    }
}

/// The client has gone away before it was served.
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
    use super::*;

    #[tokio::test]
    async fn small_writes_leave_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (stream, _) = accepted.unwrap();
        without_delay(&stream);
        assert!(stream.nodelay().unwrap() && client.is_ok());
    }
}
