//! A toolset as an MCP server.

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
pub use caller::{Caller, Principal};
#[cfg(feature = "http")]
pub use http::{Auth, AuthError, HttpOptions, TokenVerifier, shutdown_signal};
#[cfg(feature = "jwt")]
pub use http::{
    FetchedJwks, HttpJwks, JwksError, JwksFetcher, JwtAlgorithm, JwtConfigError, JwtVerifier,
    JwtVerifierBuilder,
};
pub use nothing::NoHandler;
#[cfg(feature = "stdio")]
pub use stdio::ServeError;

/// An MCP server of tools alone.
#[doc(alias("FastMCP", "mcp server", "rmcp"))]
pub type McpServer = Composed<NoHandler>;

/// Tools as an MCP server, beside whatever else a host's own [`ServerHandler`](rmcp::ServerHandler) serves.
///
/// Tools are served here, each call through the gate of its toolset; prompts, resources, completion, logging and every other method
/// go to the host's handler. Cheap to clone: all clones are one server.
///
/// ```
/// use tool_core::prelude::*;
/// use tool_mcp::McpServer;
///
/// /// Counts the letters of a word.
/// #[tool(read_only)]
/// fn count_letters(
///     /// The word.
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
///     .context(|caller| ToolContext::builder().user(caller.subject().unwrap_or("nobody")).build())
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

/// What the server serves whom.
#[derive(Clone)]
pub struct Tools(Source);

#[derive(Clone)]
enum Source {
    Registry(Registry),
    Fixed(Toolset),
    Each(Arc<dyn Fn(&ToolContext) -> Toolset + Send + Sync>),
}

impl Tools {
    /// The tools of a registry that these rules let through, asked for each caller: who may not see a tool cannot call it either,
    /// and is told that there is none.
    pub fn ruled(
        registry: Registry,
        rules: impl Fn(&ToolContext) -> Rules + Send + Sync + 'static,
    ) -> Self {
        Self::each(move |cx| registry.toolset(cx, &rules(cx)))
    }

    /// A toolset for each caller.
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

/// Every tool of the registry, for everybody.
impl From<Registry> for Tools {
    fn from(registry: Registry) -> Self {
        Self(Source::Registry(registry))
    }
}

/// These tools, for everybody.
impl From<Toolset> for Tools {
    fn from(toolset: Toolset) -> Self {
        Self(Source::Fixed(toolset))
    }
}

type MakeContext = Arc<
    dyn for<'a> Fn(&'a Caller<'a>) -> BoxFuture<'a, Result<ToolContext, ToolError>> + Send + Sync,
>;

/// What does not depend on the host's handler.
pub(crate) struct Core {
    tools: RwLock<Tools>,
    context: Option<MakeContext>,
    gate: Option<Gate>,
    implementation: Implementation,
    instructions: Option<String>,
    page: usize,
    host_tools: bool,
    listeners: changes::Listeners,
    outlets: list::Outlets,
    anonymous: ToolContext,
    /// Calls that run.
    calls: TaskTracker,
    /// The client's user may approve calls.
    approves: bool,
    /// How arguments are treated, where the host says so for this server.
    repair: Option<Repair>,
    /// Runs that wait for an answer.
    parking: ask::Parking,
}

impl Core {
    /// The context of a request.
    async fn context(
        &self,
        request: &RequestContext<RoleServer>,
    ) -> Result<ToolContext, ErrorData> {
        let caller = Caller::new(request);
        let Some(make) = &self.context else {
            return Ok(caller.default_context(&self.anonymous));
        };
        make(&caller).await.map_err(|error| {
            tracing::error!(error = %error.operator_text(), "no context could be made for a caller");
            ErrorData::internal_error(error.model_text(), None)
        })
    }

    /// Whether no more calls are taken.
    #[cfg(feature = "http")]
    fn is_draining(&self) -> bool {
        self.gate.as_ref().is_some_and(Gate::is_draining)
    }

    /// Waits until no call runs any more, but not longer than `patience`; what then still runs behind a gate is cancelled by it.
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
                "calls were cancelled, because they took longer than the end may wait"
            );
        }
    }

    /// The tools of a caller.
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

/// How an answer is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// As before 2026-07-28.
    legacy: bool,
    /// By a transport of ours.
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
    /// Starts a server of these tools: a [`Registry`], a [`Toolset`], or [`Tools`] that differ by caller.
    pub fn builder(tools: impl Into<Tools>) -> McpServerBuilder {
        McpServerBuilder::new(tools.into())
    }

    /// The same server, with what else a handler of the host's own serves. Its `tools/list` and `tools/call` are not asked, see
    /// [`host_tools`](Composed::host_tools).
    pub fn compose<H: rmcp::ServerHandler>(self, host: H) -> Composed<H> {
        Composed {
            core: self.core,
            host: Arc::new(host),
        }
    }
}

impl<H> Composed<H> {
    /// Serves the tools of the host's own handler as well, after those of the toolset and where no tool of the toolset has their
    /// names. They pass no gate: neither arguments nor visibility nor approval are checked here.
    ///
    /// Say it before the server is cloned or served; afterwards it is left out, and a warning says so.
    #[must_use]
    pub fn host_tools(mut self) -> Self {
        if let Some(core) = Arc::get_mut(&mut self.core) {
            core.host_tools = true;
        } else {
            tracing::warn!(
                "`host_tools` was said to a server that is served already, and is left out"
            );
        }
        self
    }

    /// Serves other tools from now on, and tells every client that listens.
    pub async fn replace_tools(&self, tools: impl Into<Tools>) {
        *self
            .core
            .tools
            .write()
            .unwrap_or_else(PoisonError::into_inner) = tools.into();
        self.tools_changed().await;
    }

    /// Tells every client that listens that its tools have changed: a policy has another version, a tool was switched on or off.
    pub async fn tools_changed(&self) {
        self.core.listeners.notify().await;
    }

    /// The host's own handler.
    pub fn host(&self) -> &H {
        &self.host
    }

    /// The gate that every call passes.
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
