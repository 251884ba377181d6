//! MCP client: the tools of another MCP server as tools of this program.
//!
//! [`mcp_tools`] reads the tools of a server, checks each tool by the rules for this program's own tools, and returns the
//! valid tools as [`DynamicTool`]s. The result is a snapshot, from which the host builds a [`Registry`](tool_core::Registry).
//! If the server's list changes, load a new snapshot. The host's gate checks every call like any other call.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_mcp::McpServer;
//! use tool_mcp::client::{McpClient, mcp_tools};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! ) -> i64 {
//!     a.saturating_add(b)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // This example connects to its own server over pipes; use `TokioChildProcess` or streamable HTTP for a real server.
//! let server = McpServer::builder(Registry::builder().tool::<add>().build()?).name("sums").build();
//! let (ours, theirs) = tokio::io::duplex(4096);
//! let (input, output) = tokio::io::split(theirs);
//! tokio::spawn(async move { server.serve_lines(input, output).await });
//!
//! let client = McpClient::connect(tokio::io::split(ours)).await?;
//! let sums = mcp_tools(&client).namespace("sums").trust_hints().await?;
//! let registry = sums.add_to(Registry::builder()).build()?;
//! let tools = registry.open();
//! assert_eq!(tools.names().collect::<Vec<_>>(), ["sums__add"]);
//!
//! let call = ToolCall::new("c-1", "sums__add", r#"{"a":40,"b":2}"#);
//! let result = tools.call(call, &ToolContext::anonymous()).await;
//! assert_eq!(result.model_text(), "42");
//! # Ok(())
//! # }
//! ```
//!
//! For a server that is a child process, use `TokioChildProcess`, which the feature `client` enables. For a server over HTTP, enable
//! rmcp's own features `transport-streamable-http-client-reqwest` and `reqwest` (for TLS), and use `StreamableHttpClientTransport`.
//!
//! # Untrusted data of a server
//!
//! * **Effects.** A server's hints about effects are not trusted. Unless the host trusts them ([`LoadTools::trust_hints`])
//!   or declares a tool's effects itself ([`LoadTools::read_only`]), the tool is assumed to delete, overwrite, and reach
//!   beyond its server. A host's gate therefore asks for approval unless a policy allows the call.
//! * **Contracts.** A server can change a tool after it was reviewed. [`McpTools::lock`] returns the
//!   accepted contracts. If they are passed to the next load, every new tool and every tool whose title, description, schemas or
//!   annotations differ is refused until [`McpTools::accept`]. While a snapshot is in use, the list of a server that
//!   reports a change is read again before the next call, and a tool that was changed or removed is refused.
//! * **Texts.** A tool is refused if one of its texts contains hidden characters or is too long: more than [`MOST_TEXT`]
//!   bytes, or 256 bytes for the tool's name and title. The host can allow the [removal](LoadTools::remove_hidden_text)
//!   of these parts from titles, descriptions, defaults and examples. Reports, locks, logs and errors for operators show
//!   hidden characters as `\u{…}`, and so do results for the model (see [`LoadTools::exact_results`]). Texts that a host
//!   reads through [`McpClient::peer`] or a handler are unchanged: instructions, prompts, resources and questions.
//!   Check them with [`tool_core::hidden`].
//! * **Results.** They have a [size limit](LoadTools::output_limit), a [timeout](LoadTools::timeout), and must match
//!   the output schema. Protocol errors are reported to the operator; the model reads the tool's own error text.
//!
//! # Tools that a strict mode does not support
//!
//! Many servers have tools with maps, untyped values or overlapping choices. By default, such a tool is not offered to a
//! provider whose strict mode does not support its schema. [`LoadTools::allow_non_strict`] offers the tool to that provider
//! without strict mode, with the server's own schema. Formats (`"format": "uri"`) are not validated here.
//!
//! # Precision and order of values
//!
//! rmcp stores arguments and results as [`serde_json::Value`]. The keys of schemas and results are therefore
//! sorted, a `number` is passed as the nearest double in both directions, and integers of a result beyond 64 bits
//! are rounded to a double. An `integer` argument beyond 64 bits is not rounded but refused before the call.
//!
//! A server of the legacy protocol may return only objects as structured content. If a tool returns a different type, most servers wrap
//! it as `{"result": …}` and declare that in the output schema; the payload is the object that the server returned.

mod call;
mod check;
mod connect;
mod content;
mod entry;
mod list;
mod load;
mod lock;
mod names;
mod notifications;
mod report;
mod stored;
mod text;

pub use connect::{Connected, McpClient};
pub use list::{MOST_TOOLS, McpToolsError};
pub use load::{DEFAULT_OUTPUT_LIMIT, DEFAULT_TIMEOUT, LoadTools, mcp_tools};
pub use lock::{Contract, Facet, McpDrift, McpLock};
pub use report::{McpReport, Refusal, ToolReport};
pub use stored::McpRunner;
pub use text::MOST_TEXT;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use tool_core::{DynamicTool, Effect, RegistryBuilder, ToolContext};

use call::Live;
use entry::Entry;
use load::Options;

/// A snapshot of a server's tools.
///
/// Created by [`mcp_tools`]. The documentation of the [module](self) has an example.
#[must_use = "build a registry from it"]
pub struct McpTools {
    live: Arc<Live>,
    options: Options,
    entries: Vec<Entry>,
    /// Entries of the list that are not valid tools: the name and the reason.
    broken: Vec<(String, String)>,
    server: String,
    lock: McpLock,
    drift: McpDrift,
    report: McpReport,
}

impl std::fmt::Debug for McpTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpTools")
            .field("server", &self.server)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl McpTools {
    /// Returns the server's name, as the server reports it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the report on each tool: the providers to which it is offered, or the reason why it is refused.
    pub fn report(&self) -> &McpReport {
        &self.report
    }

    /// Returns the offered tools, to be configured further or added to a registry.
    ///
    /// ```
    /// # fn shorten(tools: &tool_mcp::client::McpTools) -> tool_core::RegistryBuilder {
    /// use tool_core::Registry;
    ///
    /// let tools = tools.tools().map(|tool| tool.category("notes").sequential());
    /// tools.fold(Registry::builder(), |registry, tool| registry.dynamic(tool))
    /// # }
    /// ```
    pub fn tools(&self) -> impl Iterator<Item = DynamicTool> {
        let entries = self.entries.iter().zip(&self.report.0);
        entries.filter_map(|(entry, report)| {
            let name = report.name.as_deref().filter(|_| report.is_offered())?;
            Some(self.made(entry, name))
        })
    }

    /// Adds the offered tools to a registry.
    pub fn add_to(&self, registry: RegistryBuilder) -> RegistryBuilder {
        self.tools().fold(registry, RegistryBuilder::dynamic)
    }

    /// Returns the accepted contracts, to be stored for the next load. After a load without a lock, these are the contracts of all tools.
    pub fn lock(&self) -> &McpLock {
        &self.lock
    }

    /// Returns the differences between the server's tools and the accepted contracts.
    pub fn drift(&self) -> &McpDrift {
        &self.drift
    }

    /// Accepts the current contract of a tool, or its removal, by the server's name of the tool. Returns
    /// whether there was a difference to accept. Registries that are already built do not change.
    pub fn accept(&mut self, remote: &str) -> bool {
        let name = lock::key(remote);
        let now = self.live.snapshot.tools.get(&name);
        if self.lock.tools.get(&name) == now {
            return false;
        }
        match now {
            Some(contract) => self.lock.tools.insert(name, contract.clone()),
            None => self.lock.tools.remove(&name),
        };
        self.judge();
        true
    }

    /// Accepts the current contracts of all tools.
    pub fn accept_all(&mut self) {
        self.lock = self.live.snapshot.clone();
        self.judge();
    }

    /// Returns whether the server may have changed its list since the list was last read: it has reported a change, or the
    /// subscription to changes was interrupted.
    ///
    /// Always false unless the connection is an [`McpClient`].
    pub async fn is_stale(&self) -> bool {
        self.live.is_stale().await
    }

    /// Waits until [`is_stale`](Self::is_stale) returns true. Waits forever if the connection receives no notifications.
    pub async fn changed(&self) {
        let Some(ears) = &self.live.link.ears else {
            return std::future::pending().await;
        };
        ears.changed_since(self.live.seen().await).await;
    }

    /// Reads the list again, and returns how the server's tools differ from this snapshot.
    /// From then on, calls of tools that differ are refused; load a new snapshot to use them.
    pub async fn recheck(&self) -> Result<McpDrift, McpToolsError> {
        self.live.recheck().await
    }

    /// Computes the drift and the report again.
    fn judge(&mut self) {
        self.drift = self.lock.drift(&self.live.snapshot.tools);
        self.report = load::judge(&self.entries, &self.broken, &self.options, &self.drift);
    }

    fn made(&self, entry: &Entry, name: &str) -> DynamicTool {
        let tool = &entry.tool;
        let remote: Arc<str> = Arc::from(&*tool.name);
        let schema = serde_json::Value::Object((*tool.input_schema).clone());
        let (live, callee) = (Arc::clone(&self.live), Arc::clone(&remote));
        let description = tool.description.as_deref().unwrap_or_default();
        let made = DynamicTool::shown(
            name,
            description,
            &schema,
            move |arguments: JsonObject, cx: ToolContext| {
                Arc::clone(&live).call(Arc::clone(&callee), arguments, cx)
            },
        );
        let mut made = made
            .where_accepted()
            .origin(format!(
                "`{}` of the MCP server `{}`",
                text::shown(&remote),
                self.server
            ))
            .output_limit(self.options.output_limit);
        if let Some(timeout) = self.options.timeout {
            made = made.timeout(timeout);
        }
        let annotations = tool.annotations.as_ref();
        let title = tool.title.as_ref().or_else(|| annotations?.title.as_ref());
        if let Some(title) = title {
            made = made.title(title);
        }
        if let (Some(schema), Some(Ok(check))) = (&tool.output_schema, entry.output()) {
            let schema = serde_json::Value::Object((**schema).clone());
            made = made.output_check(&schema, Arc::clone(check));
        }
        // This also applies if every provider supports the tool in strict mode, because a request may have more strict tools than a provider allows.
        if self.options.is_non_strict(&tool.name)
            && let Ok(check) = entry.input()
        {
            made = made.non_strict(Arc::clone(check));
        }
        self.effects(made, tool)
    }

    /// Sets the tool's effects. Hints of the server are used only if the host trusts them.
    fn effects(&self, made: DynamicTool, tool: &Tool) -> DynamicTool {
        if self.options.read_only.contains(&*tool.name) {
            return made.read_only().open_world();
        }
        let Some(hints) = tool
            .annotations
            .as_ref()
            .filter(|_| self.options.trust_hints)
        else {
            return made.destructive().open_world();
        };
        let read_only = hints.read_only_hint == Some(true);
        let mut made = match (read_only, hints.is_destructive()) {
            (true, _) => made.read_only(),
            (false, true) => made.destructive(),
            (false, false) => made.effect(Effect::WRITE),
        };
        if hints.is_idempotent() {
            made = made.idempotent();
        }
        if hints.open_world_hint != Some(false) {
            made = made.open_world();
        }
        made
    }
}
