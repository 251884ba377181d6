//! Loading of a server's tools: the options, and the decision which tools are offered.

use std::collections::{BTreeMap, BTreeSet};
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use tool_core::schema::dynamic;
use tool_core::{Dialect, Dialects};

use super::call::Live;
use super::connect::{Connected, Link};
use super::content::Results;
use super::entry::Entry;
use super::list;
use super::lock::{McpDrift, McpLock, key};
use super::names::{self, Named};
use super::notifications::NotificationObserver;
use super::report::{McpReport, Refusal, ToolReport};
use super::text::{shown, shown_fault};
use super::{McpTools, McpToolsError};

/// Default timeout of a call, the same as in the protocol's own TypeScript client.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// Default limit of an output's size in bytes.
pub const DEFAULT_OUTPUT_LIMIT: usize = 4 << 20;

/// Default timeout for one page of the tool list.
pub(crate) const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the tools of a server: `mcp_tools(&client).await?`.
///
/// Accepts an [`McpClient`](super::McpClient), and any running client or peer of rmcp (see [`Connected`]
/// for the differences). Options are set before the `await`; see the [module](super) for an example.
///
/// # Errors
///
/// Fails if the list cannot be read completely. A tool that cannot be offered is not an error; see [`McpTools::report`].
#[doc(alias("mcp client", "list_tools", "mcpServers"))]
pub fn mcp_tools(client: &impl Connected) -> LoadTools {
    LoadTools {
        link: client.link(),
        options: Options::default(),
        lock: None,
        list_timeout: LIST_TIMEOUT,
    }
}

/// Options for reading a server's tools. Created by [`mcp_tools`].
#[derive(Debug)]
#[must_use = "`.await` it"]
pub struct LoadTools {
    link: Link,
    options: Options,
    lock: Option<McpLock>,
    list_timeout: Duration,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each option is independent of the others"
)]
pub(crate) struct Options {
    namespace: Option<String>,
    map_names: bool,
    pub(crate) trust_hints: bool,
    pub(crate) read_only: BTreeSet<String>,
    hold_outputs: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) output_limit: usize,
    non_strict: bool,
    non_strict_tools: BTreeSet<String>,
    remove_hidden_text: bool,
    pub(crate) exact_results: bool,
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
            non_strict: false,
            non_strict_tools: BTreeSet::new(),
            remove_hidden_text: false,
            exact_results: false,
        }
    }
}

impl Options {
    /// Returns whether the host allows the tool to be offered without strict mode.
    pub(crate) fn is_non_strict(&self, remote: &str) -> bool {
        self.non_strict || self.non_strict_tools.contains(remote)
    }
}

impl LoadTools {
    /// Prefixes the tools' names: `search` becomes `github:search`, with the wire name
    /// `github__search`. This prevents collisions between the tools of two servers.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.options.namespace = Some(namespace.into());
        self
    }

    /// Maps names that no provider accepts to names that providers accept. Without this option such tools are refused and reported. A tool with an
    /// empty name is always refused.
    ///
    /// The rule: each character that is not an ASCII letter, digit, `_` or `-` becomes `_`. Without a namespace, a name that then
    /// does not begin with a letter gets the prefix `t_`. A wire name of more than 64 bytes is cut, and ends in `_` and the first 8
    /// hex digits of the SHA-256 of the tool's name on the server. If two tools are mapped to the same name, both are refused.
    pub fn map_names(mut self) -> Self {
        self.options.map_names = true;
        self
    }

    /// Trusts the server's hints about a tool's effects: `readOnlyHint`, `destructiveHint`, `idempotentHint` and
    /// `openWorldHint`, with the protocol's defaults for missing hints. Use this only for servers that you control.
    pub fn trust_hints(mut self) -> Self {
        self.options.trust_hints = true;
        self
    }

    /// Declares that a tool only reads, regardless of the server's hints. It is still assumed to reach beyond its server. `remote` is the server's
    /// name of the tool.
    pub fn read_only(mut self, remote: impl Into<String>) -> Self {
        self.options.read_only.insert(remote.into());
        self
    }

    /// Offers a tool without strict mode to each provider whose strict mode does not support the tool's schema. Without this option the tool is not
    /// offered to that provider.
    ///
    /// The tool keeps its own schema, with maps, untyped values and choices of any form. The schema is changed only where the provider would refuse
    /// the request even without strict mode, such as for `anyOf` at the root, and [`McpTools::report`] lists each change. Without strict mode a model
    /// may violate the schema, so arguments are validated against it here, before the gate checks the call and before a request is sent. A tool whose
    /// schema cannot be used for validation (for example, it refers to a different address, or is too deep or too large) is not offered to that
    /// provider. Tools that a provider supports in strict mode are still offered in strict mode.
    ///
    /// The report and the audit row of each call name the providers for which the tool is not strict.
    ///
    /// ```
    /// # use tool_mcp::client::{McpClient, McpToolsError, mcp_tools};
    /// # async fn read(client: &McpClient) -> Result<(), McpToolsError> {
    /// let tools = mcp_tools(client).namespace("mongo").allow_non_strict().await?;
    /// for tool in tools.report().offered().filter(|tool| !tool.non_strict.is_empty()) {
    ///     print!("{tool}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_non_strict(mut self) -> Self {
        self.options.non_strict = true;
        self
    }

    /// Works like [`allow_non_strict`](Self::allow_non_strict), but for one tool, by the server's name of the tool.
    pub fn allow_non_strict_tool(mut self, remote: impl Into<String>) -> Self {
        self.options.non_strict_tools.insert(remote.into());
        self
    }

    /// Accepts tools whose texts are too long or contain hidden characters: in titles, descriptions, comments, defaults and examples, characters that
    /// are [not shown](tool_core::hidden) are removed, and long texts are cut to [`MOST_TEXT`](super::MOST_TEXT) bytes, titles of tools to 256 bytes.
    /// Without this option these tools are refused. [`McpTools::report`] lists the removed parts, and the lock shows the hidden characters of titles
    /// and descriptions as `\u{…}`.
    ///
    /// Names of tools and parameters, and values that a model has to repeat, are not changed: a tool with hidden
    /// characters or long texts there is refused in any case.
    pub fn remove_hidden_text(mut self) -> Self {
        self.options.remove_hidden_text = true;
        self
    }

    /// Passes results to the model exactly as the server wrote them. Without this option the model reads hidden characters of results,
    /// errors and progress as `\u{…}`, so that people who read the conversation see the text that the model reads. Use this option for
    /// servers that return files which a model edits by their exact text. The payload for the host is always exact.
    pub fn exact_results(mut self) -> Self {
        self.options.exact_results = true;
        self
    }

    /// Sets the contracts that were accepted before. Tools that differ from the lock or are missing from it are refused
    /// until they are [accepted](McpTools::accept). Without a lock all tools are accepted; with an empty lock, no tool is accepted.
    pub fn lock(mut self, lock: McpLock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Refuses a tool whose outputs cannot be validated against its output schema. Without this option the tool is offered without validation, and
    /// the report lists the reasons.
    pub fn hold_outputs(mut self) -> Self {
        self.options.hold_outputs = true;
        self
    }

    /// Sets the timeout of a call; [`DEFAULT_TIMEOUT`] by default. With `None`, only the turn's deadline applies.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// Sets the timeout for one page of the tool list; 30 seconds by default.
    pub fn list_timeout(mut self, timeout: Duration) -> Self {
        self.list_timeout = timeout;
        self
    }

    /// Sets the maximum size of an output in bytes, content and structured content together; [`DEFAULT_OUTPUT_LIMIT`] by default.
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
        let seen = link.ears.as_ref().map_or(0, NotificationObserver::changes);
        let listed = list::read(&link.peer, list_timeout).await?;
        let snapshot = McpLock {
            tools: listed.contracts(),
        };
        let lock = lock.unwrap_or_else(|| snapshot.clone());
        let entries = listed.tools.iter();
        let entries = entries.map(|tool| Entry::new(tool, options.remove_hidden_text));
        let results = Results {
            limit: options.output_limit,
            exact: options.exact_results,
        };
        let mut tools = McpTools {
            live: Arc::new(Live::new(link, snapshot, seen, list_timeout, results)),
            entries: entries.collect(),
            broken: listed.broken,
            options,
            server: server.map_or_else(|| "unnamed".to_owned(), |name| shown(&name)),
            lock,
            drift: McpDrift::default(),
            report: McpReport::default(),
        };
        tools.judge();
        for refused in tools.report.refused() {
            let (server, why) = (&tools.server, &refused.refusals);
            tracing::warn!(
                server,
                tool = shown(&refused.remote),
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

/// Decides for each tool whether it is offered. The report lists the tools in the server's order, and then the invalid entries.
pub(crate) fn judge(
    entries: &[Entry],
    broken: &[(String, String)],
    options: &Options,
    drift: &McpDrift,
) -> McpReport {
    let space = options.namespace.as_deref();
    let named = |entry: &Entry| {
        if options.map_names {
            names::mapped(space, &entry.tool.name)
        } else {
            names::plain(space, &entry.tool.name)
        }
    };
    let named: Vec<Option<Named>> = entries.iter().map(named).collect();
    let mut wires = BTreeMap::<&str, Vec<usize>>::new();
    for (at, named) in named.iter().enumerate() {
        if let Some(named) = named {
            wires.entry(&named.wire).or_default().push(at);
        }
    }
    let tools = entries.iter().zip(&named).enumerate();
    let mut report: Vec<ToolReport> = tools
        .map(|(at, (entry, named))| {
            let mut report = one(entry, options, drift);
            match named {
                None => report.refusals.insert(0, Refusal::Name),
                Some(named) => {
                    let others = wires.get(&*named.wire).into_iter().flatten();
                    for other in others.filter(|other| **other != at) {
                        let other = entries[*other].tool.name.to_string();
                        report.refusals.push(Refusal::Collision(other));
                    }
                    report.name = Some(named.name.clone());
                }
            }
            report
        })
        .collect();
    let broken = broken.iter().map(|(name, why)| {
        let mut report = empty(name);
        report.refusals.push(Refusal::Broken(shown(why)));
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
        non_strict: Vec::new(),
        changes: Vec::new(),
        cleaned: Vec::new(),
    }
}

/// Decides whether a tool is offered, without regard to its name.
fn one(entry: &Entry, options: &Options, drift: &McpDrift) -> ToolReport {
    let tool = &entry.tool;
    let mut report = empty(&tool.name);
    report.cleaned.clone_from(&entry.cleaned);
    let name = key(&tool.name);
    if let Some(facets) = drift.changed.get(&name) {
        report.refusals.push(Refusal::Changed(facets.clone()));
    }
    if drift.added.contains(&name) {
        report.refusals.push(Refusal::New);
    }
    if tool
        .description
        .as_deref()
        .is_none_or(|text| text.trim().is_empty())
    {
        report.refusals.push(Refusal::Description);
    }
    if !entry.found.hidden.is_empty() {
        report
            .refusals
            .push(Refusal::HiddenText(entry.found.hidden.clone()));
    }
    if !entry.found.long.is_empty() {
        // The tool's schemas are not checked, because that takes time in proportion to their length.
        report
            .refusals
            .push(Refusal::TooLong(entry.found.long.clone()));
        return report;
    }
    input(entry, options, &mut report);
    if let Some(Err(fault)) = entry.output() {
        if options.hold_outputs {
            report.refusals.push(Refusal::Output(vec![fault.clone()]));
        } else {
            report.unheld.push(fault.clone());
        }
    }
    report
}

/// Decides which providers can use a tool's input schema.
fn input(entry: &Entry, options: &Options, report: &mut ToolReport) {
    let schema = Value::Object((*entry.tool.input_schema).clone());
    let read = dynamic::read(&schema);
    let allowed = options.is_non_strict(&entry.tool.name);
    if let Ok(schema) = &read {
        report.notes = schema.notes().iter().map(shown_fault).collect();
    }
    for dialect in Dialect::ALL {
        let strict = match &read {
            Ok(schema) => schema.faults(dialect),
            Err(faults) => faults.clone(),
        };
        let mut strict: Vec<_> = strict.iter().map(shown_fault).collect();
        if strict.is_empty() {
            report.providers = report.providers.with(dialect);
            continue;
        }
        if !allowed {
            report.left_out.push((dialect, strict));
            continue;
        }
        if let Err(fault) = entry.input() {
            strict.push(fault.clone());
            report.left_out.push((dialect, strict));
            continue;
        }
        match dynamic::non_strict(&schema, dialect) {
            Ok(sent) => {
                report.providers = report.providers.with(dialect);
                report.non_strict.push((dialect, strict));
                if !sent.changes.is_empty() {
                    let changes = sent.changes.iter().map(shown_fault);
                    report.changes.push((dialect, changes.collect()));
                }
            }
            Err(faults) => {
                let faults = faults.iter().map(shown_fault);
                report.left_out.push((dialect, faults.collect()));
            }
        }
    }
    if !report.providers.is_empty() {
        return;
    }
    match (read, allowed.then(|| entry.input())) {
        (_, Some(Err(fault))) => {
            report.left_out.clear();
            report.refusals.push(Refusal::Schema(vec![fault.clone()]));
        }
        (Err(faults), None) => {
            report.left_out.clear();
            let faults = faults.iter().map(shown_fault);
            report.refusals.push(Refusal::Schema(faults.collect()));
        }
        _ => report.refusals.push(Refusal::NoProvider),
    }
}
