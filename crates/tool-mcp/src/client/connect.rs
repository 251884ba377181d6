//! Connections to MCP servers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService,
    Service, ServiceError,
};
use rmcp::transport::IntoTransport;

use super::notifications::{NotificationObserver, ObservedTransport};

/// A connection to an MCP server that receives the progress of calls and changes of the tool list.
///
/// It is rmcp's client with an observed transport. The connection stays open as long as this value
/// or any tool that was read from it exists; [`close`](Self::close) closes the connection for all of these tools.
///
/// ```no_run
/// use tool_mcp::client::{McpClient, mcp_tools};
/// use tool_mcp::rmcp::transport::TokioChildProcess;
///
/// # async fn read() -> Result<(), Box<dyn std::error::Error>> {
/// let server = tokio::process::Command::new("my-server");
/// let client = McpClient::connect(TokioChildProcess::new(server)?).await?;
/// let tools = mcp_tools(&client).namespace("mine").await?;
/// # Ok(())
/// # }
/// ```
pub struct McpClient<S: Service<RoleClient> = ()> {
    running: Arc<RunningService<RoleClient, S>>,
    ears: NotificationObserver,
}

impl McpClient {
    /// Connects to a server of either protocol version: sends `server/discover`, and falls back to `initialize` if the server does not know this
    /// method or does not respond within ten seconds.
    ///
    /// Accepts any transport of rmcp: a child process, streamable HTTP, or a pair of streams. Questions of the server to its user (elicitation)
    /// are declined; to answer them, use [`connect_with`](Self::connect_with) with a handler.
    ///
    /// # Errors
    ///
    /// Fails if the connection cannot be initialized, for example because the server does not respond or supports none of rmcp's protocol versions.
    pub async fn connect<T, E, A>(transport: T) -> Result<Self, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        Self::connect_with((), transport, lifecycle).await
    }
}

impl<S: Service<RoleClient>> McpClient<S> {
    /// Connects with the host's own client handler, which answers questions of the server. `lifecycle` selects the protocol versions.
    pub async fn connect_with<T, E, A>(
        handler: S,
        transport: T,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let ears = NotificationObserver::new();
        let tap = ObservedTransport {
            inner: transport.into_transport(),
            ears: ears.clone(),
        };
        let running = handler.serve_with_lifecycle(tap, lifecycle).await?;
        listen(running.peer(), &ears).await;
        Ok(Self {
            running: Arc::new(running),
            ears,
        })
    }

    /// Returns the peer of rmcp, for everything except tools.
    pub fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    /// Returns the host's client handler.
    pub fn handler(&self) -> &S {
        self.running.service()
    }

    /// Returns whether the connection to the server is closed.
    pub fn is_closed(&self) -> bool {
        self.running.is_transport_closed()
    }

    /// Closes the connection, also for tools that were read from it. Terminates a server that is a child process.
    pub fn close(&self) {
        self.running.cancellation_token().cancel();
    }
}

impl<S: Service<RoleClient>> fmt::Debug for McpClient<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("peer", self.running.peer())
            .finish_non_exhaustive()
    }
}

/// Timeout for the server's confirmation of a subscription to changes.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum pause before a failed subscription to changes is retried.
const MOST_PAUSE: Duration = Duration::from_mins(1);

/// Subscribes to changes of the tool list, because a server of the 2026-07-28 protocol notifies only subscribers.
/// Renews the subscription as long as the connection is open.
async fn listen(peer: &Peer<RoleClient>, ears: &NotificationObserver) {
    let tells = peer.peer_info().is_some_and(|info| {
        let tools = info.capabilities.tools.as_ref();
        !info.protocol_version.has_initialize()
            && tools.is_some_and(|tools| tools.list_changed == Some(true))
    });
    if !tells {
        return;
    }
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let (peer, ears) = (peer.clone(), ears.clone());
    tokio::spawn(async move {
        let mut ready = Some(ready);
        let mut pause = Duration::from_secs(1);
        while !peer.is_transport_closed() {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            match peer.listen(filter).await {
                Ok(mut subscription) => {
                    if let Some(ready) = ready.take() {
                        let _ = ready.send(());
                    } else {
                        // Changes during the pause were not received, so the list may have changed.
                        ears.doubt();
                    }
                    pause = Duration::from_secs(1);
                    // The observed transport counts each notification before the subscription receives it.
                    while let Ok(Some(_)) = subscription.next().await {}
                }
                Err(error) => {
                    tracing::debug!(%error, "the subscription to changes of an MCP server's tools has failed");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MOST_PAUSE);
        }
    });
    let _ = tokio::time::timeout(LISTEN_TIMEOUT, is_ready).await;
}

/// A source of tools: an [`McpClient`], or any running client or peer of rmcp.
///
/// A client or peer of rmcp does not forward notifications: calls do not report progress, and only [`McpTools::recheck`](super::McpTools::recheck)
/// detects a changed list. The host must not drop the client while its tools are used.
pub trait Connected {
    /// Returns the connection to the server.
    #[doc(hidden)]
    fn link(&self) -> Link;
}

/// A connection to a server, for the tools that were read from it.
#[doc(hidden)]
#[derive(Clone)]
pub struct Link {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) calls: Arc<dyn Calls>,
    pub(crate) ears: Option<NotificationObserver>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

impl<S: Service<RoleClient>> Connected for McpClient<S> {
    fn link(&self) -> Link {
        Link {
            peer: self.peer().clone(),
            calls: Arc::new(ClientCalls(Arc::clone(&self.running))),
            ears: Some(self.ears.clone()),
        }
    }
}

impl Connected for Peer<RoleClient> {
    fn link(&self) -> Link {
        Link {
            peer: self.clone(),
            calls: Arc::new(PeerCalls(self.clone())),
            ears: None,
        }
    }
}

impl<S: Service<RoleClient>> Connected for RunningService<RoleClient, S> {
    fn link(&self) -> Link {
        self.peer().link()
    }
}

/// The reason why a call has no result.
pub(crate) enum Unanswered {
    /// rmcp returned an error.
    Service(ServiceError),
    /// The server asks its user a question, and no handler can answer it.
    Asks,
    /// The server started a background task instead of returning a result.
    Task,
}

/// Sends calls to a server. If a call's future is dropped early, the server is notified that the call is cancelled.
pub(crate) trait Calls: Send + Sync {
    fn call(
        &self,
        params: CallToolRequestParams,
    ) -> BoxFuture<'_, Result<CallToolResult, Unanswered>>;
}

/// Sends calls with the host's handler, which answers the server's questions.
struct ClientCalls<S: Service<RoleClient>>(Arc<RunningService<RoleClient, S>>);

impl<S: Service<RoleClient>> Calls for ClientCalls<S> {
    fn call(
        &self,
        params: CallToolRequestParams,
    ) -> BoxFuture<'_, Result<CallToolResult, Unanswered>> {
        self.0
            .call_tool(params)
            .map(|answer| answer.map_err(Unanswered::Service))
            .boxed()
    }
}

struct PeerCalls(Peer<RoleClient>);

impl Calls for PeerCalls {
    fn call(
        &self,
        params: CallToolRequestParams,
    ) -> BoxFuture<'_, Result<CallToolResult, Unanswered>> {
        async {
            match self.0.call_tool_once(params).await {
                Ok(CallToolResponse::Complete(result)) => Ok(result),
                Ok(CallToolResponse::InputRequired(_)) => Err(Unanswered::Asks),
                Ok(_) => Err(Unanswered::Task),
                Err(error) => Err(Unanswered::Service(error)),
            }
        }
        .boxed()
    }
}
