//! The builder of an MCP server.

use std::fmt;
use std::sync::{Arc, RwLock};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::Implementation;
use tokio_util::task::TaskTracker;
use tool_core::{Gate, Repair, ToolContext, ToolError};

use super::ask::{Parking, StateKey, Waiting};
use super::{Caller, Composed, Core, MakeContext, McpServer, NoHandler, Tools, changes, list};

/// Configures and builds an [`McpServer`].
#[must_use]
pub struct McpServerBuilder {
    tools: Tools,
    context: Option<MakeContext>,
    gate: Option<Gate>,
    implementation: Implementation,
    instructions: Option<String>,
    page: usize,
    waiting: Waiting,
    key: Option<StateKey>,
    approves: bool,
    repair: Option<Repair>,
}

impl McpServerBuilder {
    pub(super) fn new(tools: Tools) -> Self {
        Self {
            tools,
            context: None,
            gate: None,
            implementation: Implementation::new("tools", env!("CARGO_PKG_VERSION")),
            instructions: None,
            page: usize::MAX,
            waiting: Waiting::default(),
            key: None,
            approves: false,
            repair: None,
        }
    }

    /// Sets the server's name; `tools` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.implementation.name = name.into();
        self
    }

    /// Sets the server's version; the version of this crate by default.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.implementation.version = version.into();
        self
    }

    /// Sets the server's display name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.implementation.title = Some(title.into());
        self
    }

    /// Sets the instructions for the model: how the tools are meant to be used together.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the function that makes the context of a call from its caller. By default, the principal's subject and workspace are the user and
    /// the workspace of the context, and the MCP session is its session.
    ///
    /// Leave the context's turn unset, or set a new turn for every request. Calls within a turn are identified by their ids, and
    /// clients restart their ids in each session, so with a ledger the second call with an id would get the stored result of the first call.
    pub fn context(
        mut self,
        make: impl Fn(&Caller<'_>) -> ToolContext + Send + Sync + 'static,
    ) -> Self {
        self.context = Some(Arc::new(move |caller| {
            futures::future::ready(Ok(make(caller))).boxed()
        }));
        self
    }

    /// Works like [`context`](Self::context), but for a context that needs a database look-up or
    /// may fail. An error is returned to the client, with the error's text for models.
    pub fn context_async(
        mut self,
        make: impl for<'a> Fn(&'a Caller<'a>) -> BoxFuture<'a, Result<ToolContext, ToolError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.context = Some(Arc::new(make));
        self
    }

    /// Sets the gate that checks the calls of the server's own tools.
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Sets the number of tools on one page of `tools/list`. By default all tools are on one page, because many clients read only the first page.
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page = tools.max(1);
        self
    }

    /// Asks the client's user to approve calls that need approval, including nested calls that a tool makes, if the client supports forms
    /// (elicitation). The user of the call's context is recorded as the approver. Approvals that need a second person stay pending in the host's
    /// inbox.
    ///
    /// A tool that makes a nested call which needs approval is called again after the answer, with the same identity:
    /// configure the gate with an effect ledger, which returns the stored results of the nested calls that have already run.
    ///
    /// Use this only for clients that ask a person, because a client program could approve calls without asking.
    pub fn approve_by_client(mut self) -> Self {
        self.approves = true;
        self
    }

    /// Sets how arguments that do not match the schema are repaired. By default the setting of the toolset applies, which is [`Repair::Safe`] unless
    /// [`Toolset::repair`](tool_core::Toolset::repair) is set. `docs/arguments.md` lists every repair.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_mcp::McpServer;
    ///
    /// # fn main() -> Result<(), tool_core::RegistryError> {
    /// // `{"values": 7}` for a list is an error that the client reads, and not `[7]`.
    /// let server = McpServer::builder(Registry::builder().build()?).repair(Repair::Off).build();
    /// # Ok(())
    /// # }
    /// ```
    pub fn repair(mut self, mode: Repair) -> Self {
        self.repair = Some(mode);
        self
    }

    /// Sets how many parked calls may wait for answers of their users, and how long a call may wait; 1000 calls and ten minutes by default.
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// Sets the key that seals the state that clients receive with a question and send back with the answer. With the default, a random key, no other
    /// process can continue a call whose question this process has asked.
    pub fn state_key(mut self, key: StateKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Builds the server from these settings.
    pub fn build(self) -> McpServer {
        let core = Core {
            tools: RwLock::new(self.tools),
            context: self.context,
            gate: self.gate,
            implementation: self.implementation,
            instructions: self.instructions,
            page: self.page,
            host_tools: false,
            listeners: changes::Listeners::default(),
            outlets: list::OutputSchemas::default(),
            anonymous: ToolContext::anonymous(),
            calls: TaskTracker::new(),
            approves: self.approves,
            repair: self.repair,
            parking: Parking::new(self.waiting, self.key.unwrap_or_default()),
        };
        Composed {
            core: Arc::new(core),
            host: Arc::new(NoHandler),
        }
    }
}

impl fmt::Debug for McpServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerBuilder")
            .field("name", &self.implementation.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
