//! What a server is made from.

use std::fmt;
use std::sync::{Arc, RwLock};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::Implementation;
use tokio_util::task::TaskTracker;
use tool_core::{Gate, Repair, ToolContext, ToolError};

use super::ask::{Parking, StateKey, Waiting};
use super::{Caller, Composed, Core, MakeContext, McpServer, NoHandler, Tools, changes, list};

/// Makes a server.
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

    /// The server's name; `tools` where nothing is said.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.implementation.name = name.into();
        self
    }

    /// The server's version.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.implementation.version = version.into();
        self
    }

    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.implementation.title = Some(title.into());
        self
    }

    /// How the tools are meant to be used together, for the model.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Makes the context of a call from who makes it. Where nothing is said, the principal is the context's user and the session its
    /// session.
    ///
    /// Leave its turn unset, or give every request one of its own: calls of one turn are known by their ids, clients begin to count
    /// anew in each session, and with a ledger the second call of an id would get what the first one returned.
    pub fn context(
        mut self,
        make: impl Fn(&Caller<'_>) -> ToolContext + Send + Sync + 'static,
    ) -> Self {
        self.context = Some(Arc::new(move |caller| {
            futures::future::ready(Ok(make(caller))).boxed()
        }));
        self
    }

    /// As [`context`](Self::context), where that takes a look into a store or may fail. An error answers the request; its model's
    /// face is what the client reads.
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

    /// Puts a host's gate before every call.
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Most tools in one answer to `tools/list`; all where nothing is said, because many clients read the first page only.
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page = tools.max(1);
        self
    }

    /// Asks the client's user whether a call may run that the gate wants approved, or one that its tool makes; who answers is the
    /// principal who calls. Approvals that somebody else has to give go on waiting in the host's inbox.
    ///
    /// A tool that makes a call which has to be approved is called again after the answer, with the same identity: give the gate an
    /// effect ledger, which answers for the calls that the tool has made before.
    ///
    /// Only for clients that have a person in front of them: nothing keeps a program from answering in one's place.
    pub fn approve_by_client(mut self) -> Self {
        self.approves = true;
        self
    }

    /// How arguments that do not fit are treated; as the toolset has it where nothing is said, which is [`Repair::Safe`] unless
    /// [`Toolset::repair`](tool_core::Toolset::repair) has said otherwise. `docs/arguments.md` lists every repair.
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

    /// How long and how many runs wait for answers of their users; 1000 for ten minutes where nothing is said.
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// The key that seals what clients carry between a question and its answer. Where nothing is said it is a random one, and no
    /// other process takes up a call whose question this one has asked.
    pub fn state_key(mut self, key: StateKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The server.
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
            outlets: list::Outlets::default(),
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
