//! Another MCP server's tools as one's own.
//!
//! [`mcp_tools`] reads what a server lists, judges each tool by the rules that tools of one's own are judged by, and gives those that
//! pass as [`DynamicTool`]s. What comes is a frozen snapshot: a [`Registry`](tool_core::Registry) is built from it, and a server whose
//! list has changed is read again into a new one. Every call passes the host's gate like any other.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_mcp::McpServer;
//! use tool_mcp::client::{McpClient, mcp_tools};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first.
//!     a: i64,
//!     /// The second.
//!     b: i64,
//! ) -> i64 {
//!     a.saturating_add(b)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A server of ours at the other end of two pipes; `TokioChildProcess` or streamable HTTP stand there elsewhere.
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
//! A server that is a child process is reached by `TokioChildProcess`, which comes with the feature `client`. For one behind HTTP turn on
//! rmcp's own features `transport-streamable-http-client-reqwest` and `reqwest` (its TLS), and give `StreamableHttpClientTransport`.
//!
//! # What is not trusted
//!
//! * **Effects.** What a server says of them is a hint. Unless the host trusts it ([`LoadTools::trust_hints`]) or says itself what a
//!   tool does ([`LoadTools::read_only`]), a tool may do anything: remove, overwrite, and reach beyond its server. So a host's gate asks for
//!   approval where no policy allows the call.
//! * **Contracts.** A server can change a tool after somebody looked at it. [`McpTools::lock`] is what was accepted; given to
//!   the next load, it keeps out every tool whose description, schemas or annotations differ, and every new one, until
//!   [`McpTools::accept`]. While a snapshot lives, a server that tells of a changed list is read again before the next call, and a
//!   tool that changed is refused.
//! * **Texts.** A tool with hidden characters in any of its texts, or with a text of more than [`MOST_TEXT`] bytes, is refused, unless the
//!   host has them [removed](LoadTools::remove_hidden_text). Whatever is shown to people (report, lock, log, operator's errors) shows such
//!   characters as `\u{…}`, and so do results to the model ([`LoadTools::exact_results`]). What a
//!   host reads itself is as the server wrote it: instructions, prompts and resources of [`McpClient::peer`], questions to a handler.
//!   [`tool_core::hidden`] looks at those.
//! * **Results.** They have a [bound](LoadTools::output_limit), a [time](LoadTools::timeout) and the form that the output schema
//!   promises. Errors of the protocol reach the operator; the model reads what the tool itself says of its failure.
//!
//! # Tools that no strict mode takes
//!
//! Many servers have tools with maps, values of any type or choices without a tag. A strict mode takes none of them, so by default such a
//! tool is left out where a provider has one. [`LoadTools::allow_non_strict`] offers it there as not strict, with the server's own
//! schema. Formats (`"format": "uri"`) are not checked here; whether a text is one is the server's decision.
//!
//! # What the protocol's types cost
//!
//! rmcp keeps arguments and results as [`serde_json::Value`]. So the keys of schemas and results are sorted; a `number` is passed as the
//! nearest double, in both directions, and whole numbers of a result beyond 64 bits are rounded to one. An `integer` argument beyond 64 bits
//! is not rounded but refused before the call.
//!
//! A server of the older era may only give objects. Where a tool gives something else, most wrap it as `{"result": …}` and say so in
//! the output schema; the payload is what the server gave.

mod call;
mod check;
mod connect;
mod content;
mod ears;
mod entry;
mod list;
mod load;
mod lock;
mod names;
mod report;
mod text;

pub use connect::{Connected, McpClient};
pub use list::{MOST_TOOLS, McpToolsError};
pub use load::{DEFAULT_OUTPUT_LIMIT, DEFAULT_TIMEOUT, LoadTools, mcp_tools};
pub use lock::{Contract, Facet, McpDrift, McpLock};
pub use report::{McpReport, Refusal, ToolReport};
pub use text::MOST_TEXT;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use tool_core::{DynamicTool, Effect, RegistryBuilder, ToolContext};

use call::Live;
use entry::Entry;
use load::Options;

/// A server's tools as they were when they were read.
///
/// Made by [`mcp_tools`]; see there and in the [module](self).
#[must_use = "build a registry from it"]
pub struct McpTools {
    live: Arc<Live>,
    options: Options,
    entries: Vec<Entry>,
    /// Entries of the list that are not valid tools, and why.
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
    /// What the server calls itself.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What was made of each tool: which are offered to whom, and which are refused and why.
    pub fn report(&self) -> &McpReport {
        &self.report
    }

    /// The tools that are offered, for a registry or to be changed further.
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

    /// Adds the tools that are offered.
    pub fn add_to(&self, registry: RegistryBuilder) -> RegistryBuilder {
        self.tools().fold(registry, RegistryBuilder::dynamic)
    }

    /// The contracts that are accepted, to be kept for the next load. Of a load without a lock, those of all tools.
    pub fn lock(&self) -> &McpLock {
        &self.lock
    }

    /// How the server's tools differ from the lock, as far as it is not accepted.
    pub fn drift(&self) -> &McpDrift {
        &self.drift
    }

    /// Accepts what the server now says of a tool, or that it is gone, by the server's name for it. Tells whether there was something to
    /// accept. Registries that were built before are not touched.
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

    /// Accepts everything that the server now says.
    pub fn accept_all(&mut self) {
        self.lock = self.live.snapshot.clone();
        self.judge();
    }

    /// Whether the server has told of a changed list that nobody has read yet.
    ///
    /// Only heard through an [`McpClient`].
    pub async fn is_stale(&self) -> bool {
        self.live.is_stale().await
    }

    /// Waits until the server tells of a changed list, or for ever where that is not heard.
    pub async fn changed(&self) {
        let Some(ears) = &self.live.link.ears else {
            return std::future::pending().await;
        };
        ears.changed_since(self.live.seen().await).await;
    }

    /// Asks the server again, and gives how its tools differ from this snapshot. From then on, tools that differ are refused when they are
    /// called; a new load takes them in.
    pub async fn recheck(&self) -> Result<McpDrift, McpToolsError> {
        self.live.recheck().await
    }

    /// Makes the report anew.
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
        // Also where every provider takes it as strict: a request may have too many of those.
        if self.options.is_non_strict(&tool.name)
            && let Ok(check) = entry.input()
        {
            made = made.non_strict(Arc::clone(check));
        }
        self.effects(made, tool)
    }

    /// What the tool may do, read as carefully as the host has it.
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
