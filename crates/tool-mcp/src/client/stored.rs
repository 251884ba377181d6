//! The runner of stored tools whose functions are tools of MCP servers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::Value;
use tokio::sync::Mutex;
use tool_core::store::{
    Function, FunctionKind, FunctionVersion, NewFunctionVersion, ToolSchema, Workspace,
};
use tool_core::stored::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner, ToolFault};
use tool_core::{ErrorKind, ToModelOutput as _, ToolError};
use tool_schema::lock::{Callers, LockedTool, changes};

use super::call::Live;
use super::connect::{Connected, Link, McpClient};
use super::content::Results;
use super::list;
use super::load::{DEFAULT_OUTPUT_LIMIT, DEFAULT_TIMEOUT, LIST_TIMEOUT};
use super::lock::McpLock;
use super::notifications::NotificationObserver;
use super::text::shown;

/// Age after which a server's list is read again, because not every server reports its changes.
const FRESH: Duration = Duration::from_mins(1);

/// Maximum time of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of names in an error.
const MOST_NAMES: usize = 20;

/// Runs functions of the kind `mcp`: tools of other MCP servers, which the host has registered under names.
///
/// The host decides which servers exist and how they are reached; the author of a function only names a server and its tool.
/// [`server`](Self::server) registers a server for every workspace. [`server_of`](Self::server_of) registers a server for one workspace: functions of
/// other workspaces cannot use it.
///
/// # Schemas
///
/// [`StoredTools::edit`](tool_core::stored::StoredTools::edit) compares the schemas of a new version with the schemas of the server's tool. The tool
/// must accept all arguments that match the version's input schema. If the server declares an output schema, all outputs that match it must match the
/// version's output schema. The schemas are compared again before each call. The server's list is read again first if the server has reported a
/// change, if the list is older than a minute or if the connection was closed. If the schemas no longer match, the tool is not called: an author must
/// publish a version with the new schemas, such as the version that [`version_of`](Self::version_of) returns.
///
/// If a server cannot be reached or its tools cannot be read, the call fails with the error [`Unavailable`](ErrorKind::Unavailable).
///
/// # Effects
///
/// The hints of a server are not trusted: a function has destructive and open-world effects until an admin declares other effects
/// ([`Function::effects`]).
///
/// ```
/// use tool_core::prelude::*;
/// use tool_core::store::*;
/// use tool_core::stored::StoredTools;
/// use tool_mcp::McpServer;
/// use tool_mcp::client::{McpClient, McpRunner};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// ) -> i64 {
///     a.saturating_add(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // This example connects to its own server over pipes; use `TokioChildProcess` or streamable HTTP for a real server.
/// let server = McpServer::builder(Registry::builder().tool::<add>().build()?).name("sums").build();
/// let (ours, theirs) = tokio::io::duplex(4096);
/// let (input, output) = tokio::io::split(theirs);
/// tokio::spawn(async move { server.serve_lines(input, output).await });
/// let client = McpClient::connect(tokio::io::split(ours)).await?;
///
/// let runner = McpRunner::default().server("sums", &client);
/// let tools = StoredTools::new(MemoryStore::default()).runner(runner.clone());
/// let olga = Editor::member("acme", "olga", MemberRole::Author);
/// let save = async |change| tools.edit(ToolEdit::new(olga.clone(), change, Timestamp::now())).await;
///
/// let kind = FunctionKind::Mcp { server: "sums".to_owned(), tool: "add".to_owned() };
/// let function = save(ToolChange::CreateFunction(NewFunction::new("add", kind))).await?.edited.into_function().unwrap();
/// let version = runner.version_of("sums", "add").await.map_err(|error| error.operator_text())?;
/// let version = ToolChange::CreateVersion { function: function.id.clone(), version };
/// let version = save(version).await?.edited.into_version().unwrap();
/// save(ToolChange::Publish { version: version.id }).await?;
/// let tool = save(ToolChange::CreateTool(Box::new(NewTool::server("sum", function.id)))).await?.edited.into_tool().unwrap();
/// save(ToolChange::Bind { agent: "cashier".to_owned(), tool: tool.id }).await?;
///
/// let own = tools.of_agent(&Workspace::new("acme"), "cashier").await?;
/// let cx = ToolContext::builder().workspace("acme").build();
/// let result = own.registry.open().call(ToolCall::new("c-1", "sum", r#"{"a":40,"b":2}"#), &cx).await;
/// assert!(result.model_text().contains("42"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct McpRunner {
    /// The servers by name and workspace; `None` means every workspace.
    servers: BTreeMap<(String, Option<Workspace>), Arc<Server>>,
}

impl fmt::Debug for McpRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpRunner")
            .field("servers", &self.servers.keys())
            .finish_non_exhaustive()
    }
}

type Connect = dyn Fn() -> BoxFuture<'static, Result<Link, String>> + Send + Sync;

/// A server that the host has registered.
struct Server {
    name: String,
    connect: Box<Connect>,
    now: Mutex<Option<Arc<Loaded>>>,
}

/// The list of a server's tools, and the connection from which it was read.
struct Loaded {
    live: Arc<Live>,
    tools: Vec<Tool>,
    at: Instant,
}

impl McpRunner {
    /// Registers a connection for the functions of every workspace. If the connection is closed, the tools of the server are unavailable.
    #[must_use]
    pub fn server(self, name: impl Into<String>, client: &impl Connected) -> Self {
        self.with(name.into(), None, kept(client))
    }

    /// Registers a connection for the functions of one workspace. It replaces the server of this name that
    /// [`server`](Self::server) registers, for this workspace.
    #[must_use]
    pub fn server_of(
        self,
        workspace: impl Into<Workspace>,
        name: impl Into<String>,
        client: &impl Connected,
    ) -> Self {
        self.with(name.into(), Some(workspace.into()), kept(client))
    }

    /// Registers a server for the functions of every workspace. The runner connects to the server at its first use, and again after the connection
    /// was closed.
    ///
    /// ```
    /// use tool_mcp::client::{McpClient, McpRunner};
    /// use tool_mcp::rmcp::transport::TokioChildProcess;
    ///
    /// let runner = McpRunner::default().connecting("notes", || async {
    ///     let command = tokio::process::Command::new("notes-server");
    ///     let transport = TokioChildProcess::new(command).map_err(|error| error.to_string())?;
    ///     McpClient::connect(transport).await.map_err(|error| error.to_string())
    /// });
    /// # drop(runner);
    /// ```
    #[must_use]
    pub fn connecting<C, F>(self, name: impl Into<String>, connect: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<McpClient, String>> + Send + 'static,
    {
        let connect = move || {
            let client = connect();
            async move { client.await.map(|client| client.link()) }.boxed()
        };
        self.with(name.into(), None, Box::new(connect))
    }

    fn with(mut self, name: String, workspace: Option<Workspace>, connect: Box<Connect>) -> Self {
        let server = Server {
            name: name.clone(),
            connect,
            now: Mutex::default(),
        };
        self.servers.insert((name, workspace), Arc::new(server));
        self
    }

    /// Returns a new version with the current schemas of a server's tool. If the tool has no output schema, the version allows any output.
    ///
    /// # Errors
    ///
    /// Fails if no server of this name is registered for every workspace, if the server cannot be reached or its tools cannot be read, if it does not
    /// list the tool or lists it twice, or if a schema of the tool is invalid.
    pub async fn version_of(
        &self,
        server: &str,
        tool: &str,
    ) -> Result<NewFunctionVersion, ToolError> {
        let server = self.find(server, None).map_err(ToolError::new)?;
        let loaded = server.load().await?;
        let tool = loaded.tool(&server.name, tool).map_err(ToolError::new)?;
        let input = Value::Object((*tool.input_schema).clone()).to_string();
        let output = match &tool.output_schema {
            Some(schema) => Value::Object((**schema).clone()).to_string(),
            None => "{}".to_owned(),
        };
        Ok(NewFunctionVersion::new(
            ToolSchema::new(input).map_err(ToolError::shown)?,
            ToolSchema::new(output).map_err(ToolError::shown)?,
        ))
    }

    /// Returns the server of this name for the functions of a workspace, or the reason why there is none.
    fn find(&self, name: &str, workspace: Option<&Workspace>) -> Result<&Arc<Server>, String> {
        let of = |workspace: Option<&Workspace>| {
            let key = (name.to_owned(), workspace.cloned());
            self.servers.get(&key)
        };
        of(workspace).or_else(|| of(None)).ok_or_else(|| {
            let may_use = |of: &Option<Workspace>| of.is_none() || of.as_ref() == workspace;
            let keys = self.servers.keys();
            let names = keys.filter(|(_, of)| may_use(of)).map(|(name, _)| &**name);
            format!(
                "the host has no MCP server `{}`, {}",
                shown(name),
                listed(names, "it has no MCP servers", "name one of")
            )
        })
    }

    async fn faults(
        &self,
        function: &Function,
        version: &FunctionVersion,
    ) -> Result<(), Vec<ToolFault>> {
        let FunctionKind::Mcp { server, tool } = &function.kind else {
            return Ok(());
        };
        let at = |text: String| {
            let pointer = "/function".to_owned();
            vec![ToolFault { pointer, text }]
        };
        let server = self.find(server, function.workspace.as_ref());
        let server = server.map_err(at)?;
        let loaded = server.load().await;
        let loaded = loaded.map_err(|error| at(error.operator_text()))?;
        let tool = loaded.tool(&server.name, tool).map_err(at)?;
        let faults = mismatches(tool, version);
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    async fn call(self, call: FunctionCall) -> Result<FunctionOutput, ToolError> {
        let FunctionKind::Mcp { server, tool } = &call.function.kind else {
            return Err(ToolError::new(
                "the function is not a tool of an MCP server",
            ));
        };
        let unavailable = |why: String| {
            let text = "the tool is not available: the host cannot resolve its server or its name on the server";
            ToolError::of(ErrorKind::Unavailable, text).operator(why)
        };
        let server = self.find(server, call.function.workspace.as_ref());
        let server = server.map_err(unavailable)?;
        let loaded = server.load().await?;
        let found = loaded.tool(&server.name, tool).map_err(unavailable)?;
        let faults = mismatches(found, &call.version);
        if !faults.is_empty() {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let text =
                "the tool is not available: it has changed on its server, so the call was not made";
            return Err(ToolError::of(ErrorKind::Unavailable, text).operator(format!(
                "the schemas of `{}` of the MCP server `{}` no longer match the version, publish a version with the new schemas: {}",
                shown(tool),
                server.name,
                faults.join("; ")
            )));
        }
        let Value::Object(arguments) = call.arguments else {
            return Err(ToolError::new("the arguments are not an object"));
        };
        let live = Arc::clone(&loaded.live);
        let told = live.call(Arc::from(&**tool), arguments, call.cx).await?;
        Ok(FunctionOutput::new(&told)?.model(told.to_model_output()))
    }
}

/// Returns a callback that returns the same connection each time, or an error if the connection is closed.
fn kept(client: &impl Connected) -> Box<Connect> {
    let link = client.link();
    Box::new(move || {
        let link = link.clone();
        async move {
            if link.peer.is_transport_closed() {
                return Err("its connection is closed".to_owned());
            }
            Ok(link)
        }
        .boxed()
    })
}

impl Server {
    /// Returns the server's list of tools and its open connection. Connects and reads the list if necessary.
    async fn load(&self) -> Result<Arc<Loaded>, ToolError> {
        let mut now = self.now.lock().await;
        let open = now.take().filter(|loaded| loaded.is_open());
        if let Some(loaded) = &open
            && loaded.at.elapsed() < FRESH
            && !loaded.live.is_stale().await
        {
            return Ok(Arc::clone(now.insert(Arc::clone(loaded))));
        }
        let away = |why: String| {
            let text = "the tool is not available: the tools of its server cannot be read, try again later";
            let operator = format!(
                "the tools of the MCP server `{}` cannot be read: {why}",
                self.name
            );
            ToolError::of(ErrorKind::Unavailable, text).operator(operator)
        };
        let link = if let Some(loaded) = open {
            loaded.live.link.clone()
        } else {
            let link = tokio::time::timeout(CONNECT_TIMEOUT, (self.connect)()).await;
            let late = |_| Err(format!("no connection within {CONNECT_TIMEOUT:?}"));
            link.unwrap_or_else(late).map_err(away)?
        };
        // The changes are counted before the request, so a change that is reported during the request makes the list stale.
        let seen = link.ears.as_ref().map_or(0, NotificationObserver::changes);
        let read = list::read(&link.peer, LIST_TIMEOUT).await;
        let listed = read.map_err(|error| away(error.to_string()))?;
        let snapshot = McpLock {
            tools: listed.contracts(),
        };
        let results = Results {
            limit: DEFAULT_OUTPUT_LIMIT,
            exact: false,
        };
        let loaded = Loaded {
            live: Arc::new(Live::new(link, snapshot, seen, LIST_TIMEOUT, results)),
            tools: listed.tools,
            at: Instant::now(),
        };
        Ok(Arc::clone(now.insert(Arc::new(loaded))))
    }
}

impl Loaded {
    fn is_open(&self) -> bool {
        !self.live.link.peer.is_transport_closed()
    }

    /// Returns a tool of the list, or the reason why it cannot be called.
    fn tool(&self, server: &str, name: &str) -> Result<&Tool, String> {
        let mut named = self.tools.iter().filter(|tool| tool.name == name);
        match (named.next(), named.next()) {
            (Some(tool), None) => Ok(tool),
            (Some(_), Some(_)) => Err(format!(
                "the MCP server `{server}` lists `{}` twice, so no function can call it",
                shown(name)
            )),
            (None, _) => Err(format!(
                "the MCP server `{server}` does not list the tool `{}`, {}",
                shown(name),
                listed(
                    self.tools.iter().map(|tool| &*tool.name),
                    "it lists none",
                    "it lists"
                )
            )),
        }
    }
}

/// Formats names for an error, such as "name one of `a`, `b`".
fn listed<'n>(names: impl Iterator<Item = &'n str>, none: &str, some: &str) -> String {
    let names: Vec<String> = names
        .take(MOST_NAMES)
        .map(|name| format!("`{}`", shown(name)))
        .collect();
    if names.is_empty() {
        return none.to_owned();
    }
    format!("{some} {}", names.join(", "))
}

/// Returns the differences that may make the tool refuse arguments that match the version, or return outputs that do not match the version.
fn mismatches(tool: &Tool, version: &FunctionVersion) -> Vec<ToolFault> {
    let theirs = tool.output_schema.as_ref();
    let theirs = theirs.map(|schema| Value::Object((**schema).clone()).to_string());
    let own = LockedTool {
        input: version.input_schema.text().to_owned(),
        output: theirs
            .is_some()
            .then(|| version.output_schema.text().to_owned()),
        ..LockedTool::default()
    };
    let remote = LockedTool {
        input: Value::Object((*tool.input_schema).clone()).to_string(),
        output: theirs,
        ..LockedTool::default()
    };
    let breaking = changes(&[own], &[remote]).into_iter();
    let breaking = breaking.filter(|change| change.callers == Callers::Breaking);
    breaking
        .map(|change| {
            let schema = match change.part {
                "output" => "/output_schema",
                _ => "/input_schema",
            };
            let place = match &*change.place {
                "" => String::new(),
                place => format!("`{}`: ", shown(place)),
            };
            ToolFault {
                pointer: schema.to_owned(),
                text: format!(
                    "{place}the schema of the tool on its server differs from the schema of the version: {}",
                    shown(&change.text)
                ),
            }
        })
        .collect()
}

impl FunctionRunner for McpRunner {
    fn facts(
        &self,
        function: &Function,
        _: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let FunctionKind::Mcp { server, .. } = &function.kind else {
            return None;
        };
        let server = self.find(server, function.workspace.as_ref());
        Some(server.map(|_| {
            let mut facts = FunctionFacts::foreign(function);
            facts.timeout = Some(DEFAULT_TIMEOUT);
            facts.output_limit = Some(DEFAULT_OUTPUT_LIMIT);
            facts
        }))
    }

    fn check<'a>(
        &'a self,
        function: &'a Function,
        version: &'a FunctionVersion,
    ) -> BoxFuture<'a, Vec<ToolFault>> {
        async move {
            self.faults(function, version)
                .await
                .err()
                .unwrap_or_default()
        }
        .boxed()
    }

    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        self.clone().call(call).boxed()
    }
}
