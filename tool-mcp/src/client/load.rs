//! Reads a server's tools and judges them.

use std::collections::{BTreeMap, BTreeSet};
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::Value;
use tool_core::schema::dynamic::{self, Fault};
use tool_core::{Dialect, Dialects};

use super::call::Live;
use super::connect::{Connected, Link};
use super::ears::Ears;
use super::list::{self, Listed};
use super::lock::{McpDrift, McpLock};
use super::names::{self, Named};
use super::report::{McpReport, Refusal, ToolReport};
use super::{McpTools, McpToolsError};

/// How long a call may take where the host says nothing: as long as the protocol's own TypeScript client waits.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// How many bytes an output may have where the host says nothing.
pub const DEFAULT_OUTPUT_LIMIT: usize = 4 << 20;

/// How long a page of the list may take.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the tools of a server: `mcp_tools(&client).await?`.
///
/// Takes an [`McpClient`](super::McpClient), and any running client or peer of rmcp's ([`Connected`] says what is different there).
/// Options stand before the `await`; see the [module](super) for an example.
///
/// # Errors
///
/// Where the list cannot be read to its end. A tool that cannot be offered is no error, [`McpTools::report`] tells of it.
#[doc(alias("mcp client", "list_tools", "mcpServers"))]
pub fn mcp_tools(client: &impl Connected) -> LoadTools {
    LoadTools {
        link: client.link(),
        options: Options::default(),
        lock: None,
        list_timeout: LIST_TIMEOUT,
    }
}

/// How a server's tools are read. Made by [`mcp_tools`].
#[derive(Debug)]
#[must_use = "`.await` it"]
pub struct LoadTools {
    link: Link,
    options: Options,
    lock: Option<McpLock>,
    list_timeout: Duration,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    namespace: Option<String>,
    map_names: bool,
    pub(crate) trust_hints: bool,
    pub(crate) read_only: BTreeSet<String>,
    hold_outputs: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) output_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            namespace: None,
            map_names: false,
            trust_hints: false,
            read_only: BTreeSet::new(),
            hold_outputs: false,
            timeout: Some(DEFAULT_TIMEOUT),
            output_limit: DEFAULT_OUTPUT_LIMIT,
        }
    }
}

impl LoadTools {
    /// Puts a name before the tools': `search` becomes `github:search`, which travels as `github__search`. Tools of two servers then do
    /// not meet.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.options.namespace = Some(namespace.into());
        self
    }

    /// Gives tools whose name no provider takes a name that they take. Otherwise they are refused, and reported.
    ///
    /// The rule: each character that is no ASCII letter, digit, `_` or `-` becomes `_`; without a namespace, a name that then does not
    /// begin with a letter gets `t_` before it; a name that is too long for the 64 bytes that travel is cut, and ends in `_` and the
    /// first 8 hex digits of the SHA-256 of the server's name. Two tools that come to the same name are both refused.
    pub fn map_names(mut self) -> Self {
        self.options.map_names = true;
        self
    }

    /// Takes what the server says of a tool's effects as true: `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`, with
    /// the protocol's defaults for what it leaves out. For servers of one's own.
    pub fn trust_hints(mut self) -> Self {
        self.options.trust_hints = true;
        self
    }

    /// The host knows that this tool only reads, whatever the server says; by the server's name for it.
    pub fn read_only(mut self, remote: impl Into<String>) -> Self {
        self.options.read_only.insert(remote.into());
        self
    }

    /// What was accepted before: tools that differ from it and tools that are not in it are refused until they are
    /// [accepted](McpTools::accept). Without a lock everything is accepted as it comes; with an empty one, nothing is.
    pub fn lock(mut self, lock: McpLock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Refuses a tool to whose output schema outputs cannot be held. Otherwise it is offered without, and reported.
    pub fn hold_outputs(mut self) -> Self {
        self.options.hold_outputs = true;
        self
    }

    /// How long a call may take, [`DEFAULT_TIMEOUT`] where nothing is said. `None` leaves it to the turn's deadline.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// How long the server may take for a page of its list, 30 seconds where nothing is said.
    pub fn list_timeout(mut self, timeout: Duration) -> Self {
        self.list_timeout = timeout;
        self
    }

    /// The most bytes that an output may have, content and structured content together; [`DEFAULT_OUTPUT_LIMIT`] where nothing is said.
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.options.output_limit = bytes;
        self
    }

    async fn load(self) -> Result<McpTools, McpToolsError> {
        let Self {
            link,
            options,
            lock,
            list_timeout,
        } = self;
        let info = link.peer.peer_info();
        let server = info.and_then(|info| Some(info.server_info.as_ref()?.name.clone()));
        let seen = link.ears.as_ref().map_or(0, Ears::changes);
        let listed = list::read(&link.peer, list_timeout).await?;
        let snapshot = McpLock {
            tools: listed.contracts(),
        };
        let lock = lock.unwrap_or_else(|| snapshot.clone());
        let output_limit = options.output_limit;
        let mut tools = McpTools {
            live: Arc::new(Live::new(link, snapshot, seen, list_timeout, output_limit)),
            options,
            listed,
            server: server.unwrap_or_else(|| "unnamed".to_owned()),
            lock,
            drift: McpDrift::default(),
            report: McpReport::default(),
        };
        tools.judge();
        for refused in tools.report.refused() {
            let (server, why) = (&tools.server, &refused.refusals);
            tracing::warn!(
                server,
                tool = refused.remote,
                ?why,
                "a tool of an MCP server is refused"
            );
        }
        Ok(tools)
    }
}

impl IntoFuture for LoadTools {
    type Output = Result<McpTools, McpToolsError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.load().boxed()
    }
}

/// Judges each tool; the report begins with the tools in their order, and ends with what is none.
pub(crate) fn judge(listed: &Listed, options: &Options, drift: &McpDrift) -> McpReport {
    let space = options.namespace.as_deref();
    let named = |tool: &Tool| {
        if options.map_names {
            names::mapped(space, &tool.name)
        } else {
            names::plain(space, &tool.name)
        }
    };
    let named: Vec<Option<Named>> = listed.tools.iter().map(named).collect();
    let mut wires = BTreeMap::<&str, Vec<usize>>::new();
    for (at, named) in named.iter().enumerate() {
        if let Some(named) = named {
            wires.entry(&named.wire).or_default().push(at);
        }
    }
    let tools = listed.tools.iter().zip(&named).enumerate();
    let mut report: Vec<ToolReport> = tools
        .map(|(at, (tool, named))| {
            let mut report = one(tool, options, drift);
            match named {
                None => report.refusals.insert(0, Refusal::Name),
                Some(named) => {
                    let others = wires.get(&*named.wire).into_iter().flatten();
                    for other in others.filter(|other| **other != at) {
                        let other = listed.tools[*other].name.to_string();
                        report.refusals.push(Refusal::Collision(other));
                    }
                    report.name = Some(named.name.clone());
                }
            }
            report
        })
        .collect();
    let broken = listed.broken.iter().map(|(name, why)| {
        let mut report = empty(name);
        report.refusals.push(Refusal::Broken(why.clone()));
        report
    });
    report.extend(broken);
    McpReport(report)
}

fn empty(remote: &str) -> ToolReport {
    ToolReport {
        remote: remote.to_owned(),
        name: None,
        refusals: Vec::new(),
        providers: Dialects::NONE,
        left_out: Vec::new(),
        notes: Vec::new(),
        unheld: Vec::new(),
    }
}

/// Judges a tool by all but its name.
fn one(tool: &Tool, options: &Options, drift: &McpDrift) -> ToolReport {
    let mut report = empty(&tool.name);
    if let Some(facets) = drift.changed.get(&*tool.name) {
        report.refusals.push(Refusal::Changed(facets.clone()));
    }
    if drift.added.iter().any(|added| *added == tool.name) {
        report.refusals.push(Refusal::New);
    }
    if tool
        .description
        .as_deref()
        .is_none_or(|text| text.trim().is_empty())
    {
        report.refusals.push(Refusal::Description);
    }
    match dynamic::read(&Value::Object((*tool.input_schema).clone())) {
        Err(faults) => report.refusals.push(Refusal::Schema(faults)),
        Ok(schema) => {
            for dialect in Dialect::ALL {
                let faults = schema.faults(dialect);
                if faults.is_empty() {
                    report.providers = report.providers.with(dialect);
                } else {
                    report.left_out.push((dialect, faults));
                }
            }
            if report.providers.is_empty() {
                report.refusals.push(Refusal::NoProvider);
            }
            report.notes = schema.notes().to_vec();
        }
    }
    if let Some(faults) = unheld(tool) {
        if options.hold_outputs {
            report.refusals.push(Refusal::Output(faults));
        } else {
            report.unheld = faults;
        }
    }
    report
}

/// Why outputs cannot be held to the schema that the server states for them.
fn unheld(tool: &Tool) -> Option<Vec<Fault>> {
    let schema = tool.output_schema.as_deref()?;
    dynamic::read_output(&Value::Object(schema.clone())).err()
}
