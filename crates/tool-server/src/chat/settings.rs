//! The settings of a chat server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use tool_agent::runtime::{StoredEvents, UiView};
use tool_core::store::{StoreError, ThreadId, Workspace};
use tool_core::{ToolContext, ToolContextBuilder, Toolset};

use super::driver::{AgentDriver, Driver, ModelDriver};
use super::{ChatServer, Contexts, Inner};
use crate::access::Role;
use crate::auth::{Authenticator, Caller};
use crate::entry::Entry;

/// The settings of a [`ChatServer`]. `D` drives the conversations: a [`ModelDriver`] of [`ChatServer::builder`] or an [`AgentDriver`] of
/// [`ChatServer::agents`].
#[must_use]
pub struct ChatServerBuilder<D = ModelDriver> {
    driver: D,
    contexts: Arc<Contexts>,
    role: Role,
    entry: Entry,
}

impl<D> ChatServerBuilder<D> {
    pub(super) fn new(driver: D) -> Self {
        Self {
            driver,
            contexts: Arc::new(|_, _, cx| futures::future::ready(Ok(Some(cx.build()))).boxed()),
            role: Role::Viewer,
            entry: Entry::new(4 * 1024 * 1024),
        }
    }

    /// Sets a function that decides whether a caller may use a conversation, and that builds the context of its runs. `None` is answered like a
    /// conversation that does not exist.
    ///
    /// The builder that is passed has the workspace and the user of the caller and the conversation; add host values, secrets and a deadline. By default,
    /// each caller may use every conversation of its workspace.
    ///
    /// ```
    /// # use tool_core::store::MemoryStore;
    /// # use tool_core::turn::Turns;
    /// # use tool_server::chat::{ChatModel, ChatServer};
    /// # fn server(turns: Turns, model: impl ChatModel) -> Result<(), tool_core::store::StoreError> {
    /// // A conversation has the name of its user and a number, such as `ann-7`. A comparison of prefixes would give `ann` the conversation `ann-lee-7`.
    /// let chat = ChatServer::builder(turns, model).context(|caller, thread, cx| async move {
    ///     let owner = thread.conversation().rsplit_once('-').map(|(owner, _)| owner);
    ///     let own = owner == Some(&*caller.subject);
    ///     Ok(own.then(|| cx.build()))
    /// });
    /// # let _ = chat.build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn context<F>(
        mut self,
        context: impl Fn(Caller, ThreadId, ToolContextBuilder) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Option<ToolContext>, StoreError>> + Send + 'static,
    {
        self.contexts = Arc::new(move |caller, thread, cx| context(caller, thread, cx).boxed());
        self
    }

    /// Adds an authenticator of callers. The server tries authenticators in the order in which they were added.
    ///
    /// Without an authenticator, the server creates a random token of a caller with the required role, and prints it to standard error.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.entry.authenticators.push(Arc::new(authenticator));
        self
    }

    /// Sets the role that every request requires; [`Role::Viewer`] by default, which every role includes.
    ///
    /// A caller can answer only the approval requests of its own calls. An approver answers the requests of other callers with the admin API.
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Allows requests for a host: `name` on every port, or `name:port` on one port. Loopback names are always allowed.
    pub fn host(mut self, host: &str) -> Self {
        self.entry.guard.host(host);
        self
    }

    /// Allows requests from web pages of an origin, such as `https://app.example.com`. Loopback origins are always allowed, and so are requests
    /// without `Origin`: browsers send this header with each cross-origin request that changes something or whose response a page can read.
    pub fn origin(mut self, origin: &str) -> Self {
        self.entry.guard.origin(origin);
        self
    }

    /// Sets the maximum length of a request body in bytes; 4 MiB by default, because an interface sends files as base64 text.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.entry.max_body = bytes;
        self
    }

    /// Sets how long a request may take until its response begins; 30 seconds by default. The stream may take longer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.entry.timeout = timeout;
        self
    }

    fn built(mut self, driver: impl FnOnce(D) -> Driver) -> Result<ChatServer, StoreError> {
        let caller = Caller::new("user", Workspace::single(), self.role);
        let token = self.entry.complete("The chat", caller)?;
        let inner = Arc::new(Inner {
            driver: driver(self.driver),
            contexts: self.contexts,
            role: self.role,
            entry: self.entry,
            live: Mutex::default(),
        });
        Ok(ChatServer { inner, token })
    }
}

impl ChatServerBuilder<ModelDriver> {
    /// Sets the tools of a run; none by default. The function is called for each request that begins or follows a run, and before each step. The
    /// toolset's [gate](tool_core::Gate) creates the approval requests.
    pub fn tools(
        mut self,
        tools: impl Fn(&ToolContext) -> Toolset + Send + Sync + 'static,
    ) -> Self {
        self.driver.tools = Arc::new(tools);
        self
    }

    /// Builds the server. Fails if no authenticator was added and the system provides no random bytes.
    pub fn build(self) -> Result<ChatServer, StoreError> {
        self.built(Driver::Model)
    }
}

impl ChatServerBuilder<AgentDriver> {
    /// Sets the store of the events of the runtime ([`AgentRuntimeBuilder::events`]), from which a client reads the pieces of a step that a different
    /// process drives. Without this setting, such a client gets each step when the step is complete. The server reads the events at the interval of
    /// [`StoredEvents::poll_every`].
    ///
    /// [`AgentRuntimeBuilder::events`]: tool_agent::runtime::AgentRuntimeBuilder::events
    pub fn events(mut self, events: StoredEvents) -> Self {
        self.driver.events = Some(events);
        self
    }

    /// Shows each step when its message is complete, instead of piece by piece. With neither this setting nor [`resetting`](Self::resetting), a
    /// message ends with an error if pieces are withdrawn, for example because a request failed after its first piece.
    pub fn holding(mut self) -> Self {
        self.driver.shown = UiView::holding;
        self
    }

    /// Withdraws pieces with the chunk `reset-step`, for interfaces of version 7 of the AI SDK. Other versions end the message with an error.
    pub fn resetting(mut self) -> Self {
        self.driver.shown = UiView::resetting;
        self
    }

    /// Builds the server. Fails if no authenticator was added and the system provides no random bytes.
    pub fn build(self) -> Result<ChatServer, StoreError> {
        self.built(Driver::Agents)
    }
}
