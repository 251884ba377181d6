//! MCP server over streamable HTTP: one endpoint for the legacy and the 2026-07-28 protocol.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use http::StatusCode;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, ToSocketAddrs};
use tool_core::CancellationToken;
use tool_http::{HostGuard, shutdown_signal};

use super::Composed;

mod answer;
mod auth;
mod cors;
mod request;
mod resume;
mod sessions;

pub use auth::Auth;
use resume::Sessions;
use sessions::Owners;

/// Options of the HTTP server.
///
/// ```
/// use tool_mcp::HttpOptions;
///
/// // By default only loopback hosts are allowed.
/// let options = HttpOptions::new()
///     .path("/tools")
///     .host("mcp.example.com")
///     .origin("https://app.example.com:443");
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct HttpOptions {
    path: String,
    guard: HostGuard,
    auth: Option<Auth>,
    longest: usize,
    patience: Duration,
    header_timeout: Duration,
    body_timeout: Duration,
    most_sessions: usize,
    session_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            guard: HostGuard::default(),
            auth: None,
            longest: 4 * 1024 * 1024,
            patience: Duration::from_secs(30),
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_mins(1),
            most_sessions: 4_000,
            session_timeout: Duration::from_mins(30),
        }
    }
}

impl HttpOptions {
    /// Returns options with the path `/mcp`, for loopback hosts only and without authorization.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the endpoint's path; `/mcp` by default.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Allows requests for a host. A name without a port allows every port. Loopback names are always allowed.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.guard.host(&host.into());
        self
    }

    /// Allows requests from web pages of an origin, such as `https://app.example.com`. Loopback origins
    /// are always allowed, and so are requests without `Origin`: browsers send this header with each
    /// cross-origin `POST`, and with each cross-origin request whose response a page can read.
    ///
    /// Allowed pages get CORS headers, also in preflight responses, so that browsers let them read the
    /// responses. These pages may send any header, but no cookies.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.guard.origin(&origin.into());
        self
    }

    /// Requires an access token for every request to the endpoint, except CORS preflight requests.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Sets the maximum length of a request body in bytes; 4 MiB by default.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Sets how long a client may take to send the head of a request, and how long a connection may
    /// be idle between two requests; 30 seconds by default. It applies to [`Composed::serve_http`]
    /// and [`Composed::serve_http_until`]; a host with its own server sets that server's limits.
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout;
        self
    }

    /// Sets how long a client may take to send the body of a request after its head; one
    /// minute by default. The response to a slower request has the status 408.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Sets how many legacy-protocol sessions may be open at once; 4,000 by default. A session uses about
    /// 50 KiB of memory. A client that begins a session beyond the limit gets the status 503 and `Retry-After`.
    pub fn most_sessions(mut self, sessions: usize) -> Self {
        self.most_sessions = sessions;
        self
    }

    /// Sets how long a session may be idle before it ends; 30 minutes by default. A
    /// client that uses the session later gets the status 404 and must begin a new session.
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// Sets how long running calls may continue after the server is asked to stop; 30 seconds by default.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

type Service<H> = StreamableHttpService<Composed<H>, Sessions>;

/// The shared state of the endpoint.
struct Endpoint<H> {
    server: Composed<H>,
    service: Service<H>,
    sessions: Arc<Sessions>,
    owners: Owners,
    options: HttpOptions,
    draining: Arc<AtomicBool>,
}

impl<H: ServerHandler> Composed<H> {
    /// Returns the server's routes, for a host with its own HTTP server: the endpoint,
    /// `/healthz`, `/readyz`, and with authorization the metadata of the protected resource.
    ///
    /// The host's server must disable Nagle's algorithm (`TCP_NODELAY`): streams are many
    /// small writes, and each would wait for the client's delayed acknowledgement.
    pub fn http(&self, options: HttpOptions) -> Router {
        self.routes(options, CancellationToken::new(), Arc::default())
    }

    /// Serves HTTP at an address until the process receives a termination signal ([`shutdown_signal`]),
    /// and then shuts down gracefully like [`serve_http_until`](Self::serve_http_until).
    pub async fn serve_http(
        &self,
        address: impl ToSocketAddrs,
        options: HttpOptions,
    ) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        self.serve_http_until(listener, options, shutdown_signal())
            .await
    }

    /// Serves HTTP until `stop` completes, and then shuts down gracefully: new calls are refused, running calls may
    /// finish until [`HttpOptions::patience`] is over, the remaining calls are cancelled, and the gate writes its audit rows.
    pub async fn serve_http_until(
        &self,
        listener: TcpListener,
        options: HttpOptions,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let (patience, header_timeout) = (options.patience, options.header_timeout);
        let streams = CancellationToken::new();
        let draining = Arc::new(AtomicBool::new(false));
        let routes = self.routes(options, streams.clone(), Arc::clone(&draining));
        let stopped = CancellationToken::new();
        let serving = tool_http::serve(listener, routes, header_timeout, stopped.clone());
        let core = Arc::clone(&self.core);
        let end = async move {
            stop.await;
            draining.store(true, Ordering::Relaxed);
            core.drain(patience).await;
            // Streams that are still open usually only wait for notifications.
            streams.cancel();
            stopped.cancel();
        };
        tokio::join!(serving, end);
        Ok(())
    }

    fn routes(
        &self,
        options: HttpOptions,
        streams: CancellationToken,
        draining: Arc<AtomicBool>,
    ) -> Router {
        let mut kept = SessionConfig::default();
        kept.keep_alive = Some(options.session_timeout);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = kept;
        let sessions = Arc::new(Sessions(sessions));
        let pages = cors::layer(&options.guard);
        let server = self.clone();
        let mut config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            // The endpoint checks hosts and origins itself, and its refusals have a body that clients can parse.
            .disable_allowed_hosts();
        config.cancellation_token = streams;
        config.max_request_body_bytes = options.longest.saturating_add(1024);
        let service =
            StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        let ready = {
            let (core, draining) = (Arc::clone(&self.core), Arc::clone(&draining));
            move || async move {
                let draining = draining.load(Ordering::Relaxed) || core.is_draining();
                if draining {
                    (StatusCode::SERVICE_UNAVAILABLE, "draining")
                } else {
                    (StatusCode::OK, "ready")
                }
            }
        };
        let path = options.path.clone();
        let metadata = options.auth.as_ref().map(|auth| auth.routes(&path));
        let endpoint = Endpoint {
            server: self.clone(),
            service,
            sessions,
            owners: Owners::default(),
            options,
            draining,
        };
        Router::new()
            .route(&path, any(serve::<H>))
            .with_state(Arc::new(endpoint))
            .merge(metadata.unwrap_or_default())
            .layer(pages)
            .route("/healthz", get(async || "ok"))
            .route("/readyz", get(ready))
    }
}

async fn serve<H: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<H>>>,
    request: Request,
) -> Response {
    match endpoint.answer(request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}
