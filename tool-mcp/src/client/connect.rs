//! The connection to a server.

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

use super::ears::{Ears, Tap};

/// A connection to a server, through which calls tell their progress and changes of the list are heard.
///
/// It is rmcp's own client with an ear on its transport. It lives as long as somebody holds it or the tools that were read from it;
/// [`close`](Self::close) ends it for all.
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
    ears: Ears,
}

impl McpClient {
    /// Connects to a server of either era: asks it by `server/discover`, and shakes hands by `initialize` where it does not know that.
    ///
    /// Takes any transport of rmcp's: a child process, streamable HTTP, a pair of streams. A server that asks its user something is
    /// told that nobody answers; a handler that does is given to [`connect_with`](Self::connect_with).
    ///
    /// # Errors
    ///
    /// Where the server does not answer, or speaks no version of the protocol that rmcp knows.
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
    /// Connects with a client handler of the host's own and in a stated way.
    pub async fn connect_with<T, E, A>(
        handler: S,
        transport: T,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let ears = Ears::new();
        let tap = Tap {
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

    /// rmcp's side of the connection, for everything that is no tool.
    pub fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    /// The host's handler.
    pub fn handler(&self) -> &S {
        self.running.service()
    }

    /// Whether the server is gone.
    pub fn is_closed(&self) -> bool {
        self.running.is_transport_closed()
    }

    /// Ends the connection, also for tools that were read from it. A child process is ended with it.
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

/// How long a server may take to say that it will tell of changes.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest pause before a server is asked again to tell of changes.
const MOST_PAUSE: Duration = Duration::from_mins(1);

/// Asks a server of the era without sessions to tell of changes, which it does only for those who ask, and sees to it as long as the
/// connection lives.
async fn listen(peer: &Peer<RoleClient>, ears: &Ears) {
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
                        // What has changed in the pause was not heard.
                        ears.doubt();
                    }
                    pause = Duration::from_secs(1);
                    // The ears hear what it brings before it does.
                    while let Ok(Some(_)) = subscription.next().await {}
                }
                Err(error) => tracing::debug!(%error, "an MCP server does not tell of changes"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MOST_PAUSE);
        }
    });
    let _ = tokio::time::timeout(LISTEN_TIMEOUT, is_ready).await;
}

/// What tools can be read from: an [`McpClient`], or any running client of rmcp's.
///
/// Of rmcp's own clients nothing is heard while a call runs: calls tell no progress, and a changed list is only seen by
/// [`McpTools::recheck`](super::McpTools::recheck). They have to be kept alive by whoever made them.
pub trait Connected {
    /// How the server is reached.
    #[doc(hidden)]
    fn link(&self) -> Link;
}

/// How a server is reached.
#[doc(hidden)]
#[derive(Clone)]
pub struct Link {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) calls: Arc<dyn Calls>,
    pub(crate) ears: Option<Ears>,
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
            calls: Arc::new(Answering(Arc::clone(&self.running))),
            ears: Some(self.ears.clone()),
        }
    }
}

impl Connected for Peer<RoleClient> {
    fn link(&self) -> Link {
        Link {
            peer: self.clone(),
            calls: Arc::new(Silent(self.clone())),
            ears: None,
        }
    }
}

impl<S: Service<RoleClient>> Connected for RunningService<RoleClient, S> {
    fn link(&self) -> Link {
        self.peer().link()
    }
}

/// Why a call has no result.
pub(crate) enum Unanswered {
    /// rmcp says so.
    Service(ServiceError),
    /// The server asks its user something, and nobody is there to answer.
    Asks,
    /// The server made a task of the call.
    Task,
}

/// Makes calls. Dropped before its end, one tells the server that it is cancelled.
pub(crate) trait Calls: Send + Sync {
    fn call(
        &self,
        params: CallToolRequestParams,
    ) -> BoxFuture<'_, Result<CallToolResult, Unanswered>>;
}

/// The host's handler answers what a server asks in between.
struct Answering<S: Service<RoleClient>>(Arc<RunningService<RoleClient, S>>);

impl<S: Service<RoleClient>> Calls for Answering<S> {
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

struct Silent(Peer<RoleClient>);

impl Calls for Silent {
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
