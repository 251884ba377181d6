//! MCP server for a toolset.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
#[cfg(feature = "http")]
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{Implementation, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::task::TaskTracker;
use tool_core::{Gate, Registry, Repair, Rules, ToolContext, ToolError, Toolset};

mod ask;
mod builder;
mod call;
mod caller;
mod changes;
mod compose;
mod content;
#[cfg(feature = "http")]
pub mod http;
mod list;
mod message;
mod nothing;
#[cfg(feature = "stdio")]
mod stdio;
mod verbatim;

pub use ask::{StateKey, StateKeyError, Waiting};
pub use builder::McpServerBuilder;
pub use caller::Caller;
#[cfg(feature = "http")]
pub use http::{Auth, HttpOptions};
pub use nothing::NoHandler;
#[cfg(feature = "stdio")]
pub use stdio::ServeError;

/// An MCP server that serves tools only.
#[doc(alias("FastMCP", "mcp server", "rmcp"))]
pub type McpServer = Composed<NoHandler>;

/// An MCP server that adds tools to a host's own [`ServerHandler`](rmcp::ServerHandler).
///
/// The server handles the tools, and the gate of the toolset checks each call. Prompts, resources, completion, logging
/// and every other method are forwarded to the host's handler. Cloning is cheap: all clones share the state of one server.
///
/// ```
/// use tool_core::prelude::*;
/// use tool_mcp::McpServer;
///
/// /// Counts the letters of a word.
/// #[tool(read_only)]
/// fn count_letters(
///     /// The word whose letters are counted.
///     word: String,
/// ) -> u64 {
///     word.chars().count() as u64
/// }
///
/// # fn main() -> Result<(), tool_core::RegistryError> {
/// let registry = Registry::builder().tool::<count_letters>().build()?;
/// let server = McpServer::builder(registry)
///     .name("letters")
///     .version("1.0.0")
///     .context(|caller| ToolContext::builder().user(caller.subject().unwrap_or("anonymous")).build())
///     .build();
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
pub struct Composed<H> {
    core: Arc<Core>,
    host: Arc<H>,
}

impl<H> Clone for Composed<H> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            host: Arc::clone(&self.host),
        }
    }
}

impl<H> fmt::Debug for Composed<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Composed")
            .field("server", &self.core.implementation.name)
            .finish_non_exhaustive()
    }
}

/// The tools of a server, which may differ by caller.
#[derive(Clone)]
pub struct Tools(Source);

#[derive(Clone)]
enum Source {
    Registry(Registry),
    Fixed(Toolset),
    Each(Arc<dyn Fn(&ToolContext) -> Toolset + Send + Sync>),
}

impl Tools {
    /// Serves the tools of a registry that `rules` allow for each caller. A caller cannot
    /// call a hidden tool either; the error is the same as for an unknown tool.
    pub fn ruled(
        registry: Registry,
        rules: impl Fn(&ToolContext) -> Rules + Send + Sync + 'static,
    ) -> Self {
        Self::each(move |cx| registry.toolset(cx, &rules(cx)))
    }

    /// Serves the toolset that `make` returns for each caller.
    pub fn each(make: impl Fn(&ToolContext) -> Toolset + Send + Sync + 'static) -> Self {
        Self(Source::Each(Arc::new(make)))
    }

    fn toolset(&self, cx: &ToolContext) -> Toolset {
        match &self.0 {
            Source::Registry(registry) => registry.open(),
            Source::Fixed(toolset) => toolset.clone(),
            Source::Each(make) => make(cx),
        }
    }
}

/// Serves every tool of the registry to all callers.
impl From<Registry> for Tools {
    fn from(registry: Registry) -> Self {
        Self(Source::Registry(registry))
    }
}

/// Serves these tools to all callers.
impl From<Toolset> for Tools {
    fn from(toolset: Toolset) -> Self {
        Self(Source::Fixed(toolset))
    }
}

type MakeContext = Arc<
    dyn for<'a> Fn(&'a Caller<'a>) -> BoxFuture<'a, Result<ToolContext, ToolError>> + Send + Sync,
>;

/// The part of the server that does not depend on the host's handler.
pub(crate) struct Core {
    tools: RwLock<Tools>,
    context: Option<MakeContext>,
    gate: Option<Gate>,
    implementation: Implementation,
    instructions: Option<String>,
    page: usize,
    host_tools: bool,
    listeners: changes::Listeners,
    outlets: list::OutputSchemas,
    anonymous: ToolContext,
    /// Running calls, which a graceful shutdown waits for.
    calls: TaskTracker,
    /// Whether the client's user may approve calls.
    approves: bool,
    /// The repair mode for arguments; `None` uses the setting of the toolset.
    repair: Option<Repair>,
    /// Calls that wait for an answer from the user.
    parking: ask::Parking,
}

impl Core {
    /// Makes the context of a request.
    async fn context(
        &self,
        request: &RequestContext<RoleServer>,
    ) -> Result<ToolContext, ErrorData> {
        let caller = Caller::new(request);
        let Some(make) = &self.context else {
            return Ok(caller.default_context(&self.anonymous));
        };
        make(&caller).await.map_err(|error| {
            tracing::error!(error = %error.operator_text(), "the context of a call could not be created");
            ErrorData::internal_error(error.model_text(), None)
        })
    }

    /// Returns whether the gate refuses new calls because it is shutting down.
    #[cfg(feature = "http")]
    fn is_draining(&self) -> bool {
        self.gate.as_ref().is_some_and(Gate::is_draining)
    }

    /// Waits until no call is running, but at most for `patience`. After that, the gate cancels the calls that are still running.
    #[cfg(feature = "http")]
    async fn drain(&self, patience: Duration) {
        let gate = async {
            match &self.gate {
                Some(gate) => gate.drain(patience).await,
                None => 0,
            }
        };
        self.calls.close();
        let (cancelled, _) = tokio::join!(gate, tokio::time::timeout(patience, self.calls.wait()));
        self.calls.reopen();
        if cancelled > 0 {
            tracing::warn!(
                cancelled,
                "calls were cancelled, because they took longer than the shutdown timeout"
            );
        }
    }

    /// Returns the tools of a caller.
    fn toolset(&self, cx: &ToolContext) -> Toolset {
        let tools = self
            .tools
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut toolset = tools.toolset(cx);
        if let Some(mode) = self.repair {
            toolset = toolset.repair(mode);
        }
        match &self.gate {
            Some(gate) => toolset.through(gate),
            None => toolset,
        }
    }
}

/// The form in which a response is serialized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Whether the protocol is older than 2026-07-28.
    legacy: bool,
    /// Whether the transport belongs to this crate, whose transports insert verbatim JSON texts.
    rendered: bool,
}

impl Wire {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        Self {
            legacy: version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28),
            rendered: verbatim::is_rendered(&context.extensions),
        }
    }
}

impl McpServer {
    /// Starts building a server for these tools: a [`Registry`], a [`Toolset`], or [`Tools`] that differ by caller.
    pub fn builder(tools: impl Into<Tools>) -> McpServerBuilder {
        McpServerBuilder::new(tools.into())
    }

    /// Adds a handler of the host, which serves all methods except the methods of tools. The handler's own `tools/list`
    /// and `tools/call` are not used, see [`host_tools`](Composed::host_tools).
    pub fn compose<H: rmcp::ServerHandler>(self, host: H) -> Composed<H> {
        Composed {
            core: self.core,
            host: Arc::new(host),
        }
    }
}

impl<H> Composed<H> {
    /// Also serves the tools of the host's own handler, after the tools of the toolset. A tool whose name the toolset contains is left out. No
    /// gate checks the calls of these tools: arguments, visibility and approvals are not checked here.
    ///
    /// Call this before the server is cloned or served. A later call only logs a warning.
    #[must_use]
    pub fn host_tools(mut self) -> Self {
        if let Some(core) = Arc::get_mut(&mut self.core) {
            core.host_tools = true;
        } else {
            tracing::warn!(
                "`host_tools` was called on a server that was already cloned or served, and is ignored"
            );
        }
        self
    }

    /// Replaces the server's tools, and notifies every subscribed client.
    pub async fn replace_tools(&self, tools: impl Into<Tools>) {
        *self
            .core
            .tools
            .write()
            .unwrap_or_else(PoisonError::into_inner) = tools.into();
        self.tools_changed().await;
    }

    /// Notifies every subscribed client that its tools have changed, for example after a policy update or when a tool is switched on or off.
    pub async fn tools_changed(&self) {
        self.core.listeners.notify().await;
    }

    /// Returns the host's own handler.
    pub fn host(&self) -> &H {
        &self.host
    }

    /// Returns the gate that [`McpServerBuilder::gate`] has set, or `None` if it has set none.
    pub fn gate(&self) -> Option<&Gate> {
        self.core.gate.as_ref()
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind: Cow<'_, str> = match &self.0 {
            Source::Registry(registry) => format!("{} of a registry", registry.len()).into(),
            Source::Fixed(toolset) => format!("{toolset:?}").into(),
            Source::Each(_) => "by caller".into(),
        };
        f.debug_tuple("Tools").field(&kind).finish()
    }
}
