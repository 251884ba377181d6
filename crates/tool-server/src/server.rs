//! The admin API as a server: its settings, authentication of every request, and the listener.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use http::header::CONTENT_TYPE;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tool_core::Registry;
use tool_core::policy::SharedPolicy;
use tool_core::store::seal::Vault;
use tool_core::store::{StoreError, VariableRequest, Workspace};
use tool_core::stored::StoredTools;

use crate::access::{Access, Role};
use crate::auth::{Authenticator, Caller};
use crate::entry::Entry;
use crate::openapi;
use crate::problem::{Kind, Problem};
use crate::resources;
use crate::state::{AdminStore, Inner, Shared, Supplied};

/// The timeout for the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// The admin API of a host. Clones are cheap and share one state.
///
/// ```
/// use tool_core::store::MemoryStore;
/// use tool_server::{AdminServer, Caller, Role, StaticTokens, token_hash};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tokens = StaticTokens::default()
///     .add(token_hash("a long random text"), Caller::new("olga", "acme", Role::Operator))?;
/// let server = AdminServer::builder(MemoryStore::default()).authenticator(tokens).build()?;
/// let routes = axum::Router::new().nest("/admin", server.routes());
/// # let _: axum::Router = routes;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AdminServer {
    inner: Shared,
    token: Option<Arc<str>>,
}

/// The settings of an [`AdminServer`].
#[must_use]
pub struct AdminServerBuilder {
    store: Arc<dyn AdminStore>,
    policy: Option<SharedPolicy>,
    registry: Option<Registry>,
    stored_tools: Option<StoredTools>,
    vault: Option<Vault>,
    supplied: Option<Box<Supplied>>,
    workspace: Workspace,
    entry: Entry,
}

impl AdminServerBuilder {
    /// Adds the policy of the host. Without it, `/v1/policy` and the routes below it return 404.
    pub fn policy(mut self, policy: &SharedPolicy) -> Self {
        self.policy = Some(policy.clone());
        self
    }

    /// Adds the tools of the host. The API then validates edited arguments of approvals, reports on the policy, and lists the secrets that the tools
    /// declare and lack.
    pub fn registry(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Adds the stored tools of the host, which the API then creates, changes and binds to agents. `tools` should use the store of the server; the
    /// runners of `tools` validate new versions of functions.
    pub fn stored_tools(mut self, tools: StoredTools) -> Self {
        self.stored_tools = Some(tools);
        self
    }

    /// Adds the vault of the host. The API uses it to seal secrets and variables, to list the declared secrets, and to rotate and retire keys. The
    /// vault must use the store of the server, because this store contains the sealed values. The names of secrets and the ids of keys are listed
    /// without a vault as well.
    pub fn vault(mut self, vault: &Vault) -> Self {
        self.vault = Some(vault.clone());
        self
    }

    /// Sets a callback for each request for variables that was answered completely, so that the host starts the sub-agent that waits for the values.
    /// It is called after the values were stored and before the response is sent, so it must not block: start a task, or send the request to one.
    ///
    /// The callback is not called again after a crash: a host also starts waiting sub-agents when it continues their conversation.
    ///
    /// ```
    /// use tool_core::store::{MemoryStore, VariableRequest};
    /// use tool_server::AdminServer;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, supplied) = std::sync::mpsc::channel::<VariableRequest>();
    /// let server = AdminServer::builder(MemoryStore::default()).on_variables_supplied(move |request| {
    ///     // Sending fails if the receiver was dropped; then no sub-agent is started.
    ///     let _ = sender.send(request.clone());
    /// });
    /// # drop((server.build()?, supplied));
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_variables_supplied(
        mut self,
        callback: impl Fn(&VariableRequest) + Send + Sync + 'static,
    ) -> Self {
        self.supplied = Some(Box::new(callback));
        self
    }

    /// Adds an authenticator of callers. The server tries authenticators in the order in which they were added.
    ///
    /// Without an authenticator, the server creates a random token for an operator of the host with the role [`Role::Admin`], and prints it to
    /// standard error.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.entry.authenticators.push(Arc::new(authenticator));
        self
    }

    /// Sets the workspace of the random token; [`Workspace::single`] by default.
    pub fn workspace(mut self, workspace: impl Into<Workspace>) -> Self {
        self.workspace = workspace.into();
        self
    }

    /// Allows requests for a host: `name` on every port, or `name:port` on one port. Loopback names are always allowed.
    pub fn host(mut self, host: &str) -> Self {
        self.entry.guard.host(host);
        self
    }

    /// Allows requests from web pages of an origin, such as `https://console.example.com`. Loopback origins are always allowed, and so are
    /// requests without `Origin`: browsers send this header with each cross-origin request that changes something or whose response a page can read.
    pub fn origin(mut self, origin: &str) -> Self {
        self.entry.guard.origin(origin);
        self
    }

    /// Sets the maximum length of a request body in bytes; 1 MiB by default.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.entry.max_body = bytes;
        self
    }

    /// Sets the timeout of a request; 30 seconds by default. It does not limit the body of an export or of an event stream.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.entry.timeout = timeout;
        self
    }

    /// Builds the server. Fails if no authenticator was added and the system provides no random bytes.
    pub fn build(mut self) -> Result<AdminServer, StoreError> {
        let caller = Caller::new("admin", self.workspace, Role::Admin).of_host();
        let token = self.entry.complete("The admin API", caller)?;
        let inner = Arc::new(Inner {
            store: self.store,
            policy: self.policy,
            replacing: Mutex::new(()),
            registry: self.registry,
            stored_tools: self.stored_tools,
            vault: self.vault,
            supplied: self.supplied,
            entry: self.entry,
            ending: CancellationToken::new(),
        });
        Ok(AdminServer { inner, token })
    }
}

impl AdminServer {
    /// Creates a builder for a server on a store, such as `SqliteStore`.
    pub fn builder(store: impl AdminStore) -> AdminServerBuilder {
        Self::shared(Arc::new(store))
    }

    /// Creates a builder for a server on a store that is shared with other owners.
    pub fn shared(store: Arc<dyn AdminStore>) -> AdminServerBuilder {
        AdminServerBuilder {
            store,
            policy: None,
            registry: None,
            stored_tools: None,
            vault: None,
            supplied: None,
            workspace: Workspace::single(),
            entry: Entry::new(1024 * 1024),
        }
    }

    /// Returns the random token; `None` if an authenticator was configured.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the routes, for a host with its own HTTP server: `/v1/…`, and the OpenAPI document at `/openapi.json`.
    ///
    /// Every request is authenticated, including requests for paths that do not exist.
    pub fn routes(&self) -> Router {
        let (routes, _) = resources::all().split_for_parts();
        let document: Arc<str> = openapi_json().into();
        let document = move || {
            let document = Arc::clone(&document);
            async move { ([(CONTENT_TYPE, "application/json")], document.to_string()) }
        };
        let enter = middleware::from_fn_with_state(Arc::clone(&self.inner), enter);
        routes
            .route("/openapi.json", get(document))
            .method_not_allowed_fallback(async || {
                Problem::new(
                    Kind::MethodNotAllowed,
                    "the header `Allow` names the methods of this resource",
                )
            })
            .fallback(async || {
                Problem::new(
                    Kind::NotFound,
                    "the path does not exist, `/openapi.json` describes the paths that exist",
                )
            })
            .layer(enter)
            .with_state(Arc::clone(&self.inner))
    }

    /// Ends the streams of events, including the streams of later requests. Call it when your own HTTP server shuts down, because a graceful
    /// shutdown waits for the end of every response; [`serve_until`](Self::serve_until) calls this function itself.
    pub fn end_streams(&self) {
        self.inner.ending.cancel();
    }

    /// Serves HTTP until `stop` completes, and then finishes the requests in progress.
    pub async fn serve_until(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let stopped = CancellationToken::new();
        let serving = tool_http::serve(listener, self.routes(), HEADER_TIMEOUT, stopped.clone());
        let end = async {
            stop.await;
            stopped.cancel();
            self.end_streams();
        };
        tokio::join!(serving, end);
        Ok(())
    }
}

/// Returns the OpenAPI 3.1 document of the API as JSON. It depends only on the version of this crate.
///
/// ```
/// assert!(tool_server::openapi_json().contains("\"openapi\":\"3.1.0\""));
/// ```
pub fn openapi_json() -> String {
    let mut document = resources::all().into_openapi();
    openapi::refer_to_items(&mut document);
    // The document consists of texts and numbers, which always serialize.
    serde_json::to_string(&document).unwrap_or_default()
}

/// Middleware that checks every request. Each route checks its own role.
async fn enter(State(admin): State<Shared>, request: Request, next: Next) -> Response {
    let late = "the request took too long, repeat it; a change may have been made, so read the resource first or repeat the change with its `Idempotency-Key`";
    let access = Access::role(Role::Viewer);
    admin.entry.enter(request, next, access, late).await
}
