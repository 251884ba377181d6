//! Termination signals of the server process.

/// Waits until the process receives a termination signal: Ctrl-C, and on Unix also `SIGTERM`, which containers, systemd and `kill` send.
///
/// If the handler of one signal cannot be installed, the function waits for the other signal. If no handler can be installed, it waits forever.
///
/// ```no_run
/// # async fn serve(routes: axum::Router) -> std::io::Result<()> {
/// use std::time::Duration;
///
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// let stopped = tokio_util::sync::CancellationToken::new();
/// let stop = async {
///     tool_http::shutdown_signal().await;
///     stopped.cancel();
/// };
/// tokio::join!(tool_http::serve(listener, routes, Duration::from_secs(30), stopped.clone()), stop);
/// # Ok(())
/// # }
/// ```
pub async fn shutdown_signal() {
    let interrupted = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "no signal handler can be installed for Ctrl-C");
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => _ = signal.recv().await,
        Err(error) => {
            tracing::error!(%error, "no signal handler can be installed for SIGTERM");
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending::<()>().await;
}
