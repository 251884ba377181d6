//! Tests of stored tools whose functions are tools of MCP servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::stored::{SaveError, Saved, StoredTools};
use tool_core::{CancellationToken, ErrorKind};
use tool_mcp::McpServer;
use tool_mcp::client::{McpClient, McpRunner};
use tool_mcp::rmcp::transport::TokioChildProcess;
use tool_mcp_client_tests::script;

use crate::own::{connect, eras};
use crate::support::{Hostile, Listed, payload};

/// A sum.
#[derive(Serialize, StrictSchema)]
struct Sum {
    /// The sum.
    total: i64,
}

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> Sum {
    Sum {
        total: a.saturating_add(b),
    }
}

/// A host whose stored tools call MCP servers.
struct World {
    runner: McpRunner,
    tools: StoredTools,
    workspace: &'static str,
}

fn schema(value: &Value) -> ToolSchema {
    ToolSchema::new(value.to_string()).unwrap()
}

fn object(properties: &Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn version(input: &Value, output: &Value) -> NewFunctionVersion {
    NewFunctionVersion::new(schema(input), schema(output))
}

fn faults(saved: Result<Saved, SaveError>) -> Vec<(String, String)> {
    match saved {
        Err(SaveError::Rejected(faults)) => {
            let faults = faults.into_iter();
            faults.map(|fault| (fault.pointer, fault.text)).collect()
        }
        other => panic!("expected faults, got {other:?}"),
    }
}

#[track_caller]
fn failed(result: &CallResult, kind: ErrorKind, part: &str) {
    let error = result.error().unwrap();
    assert_eq!(error.kind(), kind, "{error:?}");
    let all = format!("{}\n{}", error.model_text(), error.operator_text());
    assert!(all.contains(part), "{all}");
}

impl World {
    fn new(runner: McpRunner) -> Self {
        Self {
            tools: StoredTools::new(MemoryStore::default()).runner(runner.clone()),
            runner,
            workspace: "acme",
        }
    }

    /// Returns the same host for a different tenant.
    fn of(&self, workspace: &'static str) -> Self {
        Self {
            runner: self.runner.clone(),
            tools: self.tools.clone(),
            workspace,
        }
    }

    async fn edit(&self, change: ToolChange) -> Result<Saved, SaveError> {
        let admin = Editor::member(self.workspace, "olga", MemberRole::Admin);
        let edit = ToolEdit::new(admin, change, Timestamp::now());
        self.tools.edit(edit).await
    }

    async fn function(&self, server: &str, tool: &str) -> Function {
        let kind = FunctionKind::Mcp {
            server: server.to_owned(),
            tool: tool.to_owned(),
        };
        let new = ToolChange::CreateFunction(NewFunction::new(tool, kind));
        let saved = self.edit(new).await.unwrap();
        saved.edited.into_function().unwrap()
    }

    async fn create(
        &self,
        function: &str,
        version: NewFunctionVersion,
    ) -> Result<Saved, SaveError> {
        let function = function.to_owned();
        let change = ToolChange::CreateVersion { function, version };
        self.edit(change).await
    }

    async fn publish(&self, function: &str, version: NewFunctionVersion) -> FunctionVersion {
        let saved = self.create(function, version).await.unwrap();
        let version = saved.edited.into_version().unwrap();
        let id = version.id.clone();
        self.edit(ToolChange::Publish { version: id })
            .await
            .unwrap();
        version
    }

    async fn bind(&self, new: NewTool) {
        let new = ToolChange::CreateTool(Box::new(new));
        let tool = self.edit(new).await.unwrap().edited.into_tool().unwrap();
        let (agent, tool) = ("clerk".to_owned(), tool.id);
        self.edit(ToolChange::Bind { agent, tool }).await.unwrap();
    }

    /// Creates a function with this published version, and binds a stored tool with the name of the server's tool to the agent. Returns the function.
    async fn offer(&self, server: &str, tool: &str, version: NewFunctionVersion) -> Function {
        let function = self.function(server, tool).await;
        self.publish(&function.id, version).await;
        self.bind(NewTool::server(tool, &*function.id)).await;
        function
    }

    async fn toolset(&self) -> Toolset {
        let workspace = Workspace::new(self.workspace);
        let own = self.tools.of_agent(&workspace, "clerk").await.unwrap();
        assert_eq!(own.left_out, []);
        own.registry.open()
    }

    async fn call_in(&self, name: &str, arguments: Value, cx: &ToolContext) -> CallResult {
        let call = ToolCall::new("c-1", name, arguments.to_string());
        self.toolset().await.call(call, cx).await
    }

    async fn call(&self, name: &str, arguments: Value) -> CallResult {
        let cx = ToolContext::builder().workspace(self.workspace).build();
        self.call_in(name, arguments, &cx).await
    }
}

fn sums() -> McpServer {
    let registry = Registry::builder().tool::<add>().build().unwrap();
    McpServer::builder(registry).name("sums").build()
}

/// Returns a runner that starts the misbehaving server as a child process for each connection.
fn restarting() -> McpRunner {
    McpRunner::default().connecting("hostile", || async {
        let mut command = Command::new("python3");
        command.arg(script("hostile.py"));
        let builder = TokioChildProcess::builder(command).stderr(std::process::Stdio::null());
        let (transport, _) = builder.spawn().map_err(|error| error.to_string())?;
        let client = McpClient::connect(transport).await;
        client.map_err(|error| error.to_string())
    })
}

// S3-34: a tool of a server of either protocol version runs as a stored tool, with the schemas of the server.
#[tokio::test]
async fn tool_of_a_server_runs_as_a_stored_tool() {
    for era in eras() {
        let client = connect(&sums(), era).await;
        let world = World::new(McpRunner::default().server("sums", &client));
        let version = world.runner.version_of("sums", "add").await.unwrap();
        world.offer("sums", "add", version).await;
        let result = world.call("add", json!({"a": 40, "b": 2})).await;
        assert_eq!(payload(&result), json!({"total": 42}));
        let result = world.call("add", json!({"a": "x", "b": 2})).await;
        failed(&result, ErrorKind::InvalidArguments, "/a");
        // The hints of the server are not trusted.
        let hints = world.toolset().await.get("add").unwrap().hints();
        assert!(
            hints.destructive && hints.open_world && !hints.read_only,
            "{hints:?}"
        );
    }
}

// S3-21: the effects that an admin states replace the default, by which a foreign function may have any effect.
#[tokio::test]
async fn admin_lowers_the_effects_of_a_tool_of_a_server() {
    let client = connect(&sums(), eras()[0].clone()).await;
    let world = World::new(McpRunner::default().server("sums", &client));
    let version = world.runner.version_of("sums", "add").await.unwrap();
    let function = world.offer("sums", "add", version).await;
    let mut update = FunctionUpdate::default();
    update.effects = Some(Some(FunctionEffects {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    }));
    let (id, expected) = (function.id, None);
    world
        .edit(ToolChange::UpdateFunction {
            id,
            update,
            expected,
        })
        .await
        .unwrap();
    let hints = world.toolset().await.get("add").unwrap().hints();
    assert!(
        hints.read_only && !hints.destructive && !hints.open_world,
        "{hints:?}"
    );
}

// S3-11, S3-34: a version is refused if its schemas do not match the server's tool, if the server does not list the tool or lists it twice, if the
// host has no server of this name, or if the server cannot be reached.
#[tokio::test]
async fn version_has_to_fit_the_tool_of_the_server() {
    let listed = Listed::start(&json!({"tools": [
        {"name": "find", "description": "Finds.", "inputSchema": {
            "type": "object", "properties": {"text": text(), "limit": {"type": "integer", "maximum": 10}}, "required": ["text"],
        }, "outputSchema": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}},
        {"name": "twin", "description": "One.", "inputSchema": {"type": "object"}},
        {"name": "twin", "description": "Two.", "inputSchema": {"type": "object"}},
    ]}))
    .await;
    let world = World::new(McpRunner::default().server("listed", &listed.client));
    let n = |kind: &str| json!({"type": "object", "properties": {"n": {"type": kind}}, "required": ["n"]});
    let limit = json!({"type": "integer", "maximum": 10});
    for (input, output, pointer, part) in [
        (
            object(&json!({"text": {"type": "integer"}})),
            n("number"),
            "/input_schema",
            "`/text`: ",
        ),
        (
            object(&json!({"text": text(), "limit": {"type": "integer", "maximum": 50}})),
            n("number"),
            "/input_schema",
            "`/limit`: ",
        ),
        (
            object(&json!({"limit": limit})),
            n("number"),
            "/input_schema",
            "`/text`: ",
        ),
        (
            object(&json!({"text": text(), "other": text()})),
            n("number"),
            "/input_schema",
            "`/other`: ",
        ),
        // The server may return other keys, so an output schema that forbids them is refused.
        (
            object(&json!({"text": text()})),
            object(&json!({"n": {"type": "number"}})),
            "/output_schema",
            "",
        ),
        (
            object(&json!({"text": text()})),
            n("integer"),
            "/output_schema",
            "`/n`: ",
        ),
    ] {
        let function = world.function("listed", "find").await;
        let faults = faults(world.create(&function.id, version(&input, &output)).await);
        let found = faults
            .iter()
            .find(|(at, text)| at == pointer && text.contains(part));
        assert!(found.is_some(), "{input} {output}: {faults:?}");
    }
    let function = world.function("listed", "find").await;
    let good = version(
        &object(&json!({"text": text(), "limit": limit})),
        &n("number"),
    );
    world.create(&function.id, good).await.unwrap();
    for (server, tool, part) in [
        (
            "listed",
            "lose",
            "does not list the tool `lose`, it lists `find`",
        ),
        ("listed", "twin", "lists `twin` twice"),
        (
            "other",
            "find",
            "has no MCP server `other`, name one of `listed`",
        ),
    ] {
        let function = world.function(server, tool).await;
        let version = version(&object(&json!({})), &json!({}));
        let faults = faults(world.create(&function.id, version).await);
        assert_eq!(faults[0].0, "/function");
        assert!(faults[0].1.contains(part), "{faults:?}");
    }
    // The connection to the server is closed.
    listed.client.close();
    while !listed.client.is_closed() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let function = world.function("listed", "find").await;
    let version = version(&object(&json!({"text": text()})), &n("number"));
    let faults = faults(world.create(&function.id, version).await);
    assert!(
        faults[0]
            .1
            .contains("the tools of the MCP server `listed` cannot be read"),
        "{faults:?}"
    );
}

/// Returns a runner that starts a new server for each connection. Each server serves one of these lists of tools, beginning with the last list.
fn one_after_the_other(lists: Vec<Value>) -> (McpRunner, tempfile::TempDir, Arc<Mutex<u32>>) {
    let folder = tempfile::tempdir().unwrap();
    let (left, pid) = (Arc::new(Mutex::new(lists)), Arc::<Mutex<u32>>::default());
    let (file, of) = (folder.path().join("served.json"), Arc::clone(&pid));
    let runner = McpRunner::default().connecting("listed", move || {
        let next = left.lock().unwrap().pop();
        let (file, pid) = (file.clone(), Arc::clone(&of));
        async move {
            let next = next.ok_or("the server is switched off")?;
            std::fs::write(&file, next.to_string()).map_err(|error| error.to_string())?;
            let mut command = Command::new("python3");
            command.arg(script("listed.py")).arg(file);
            let transport = TokioChildProcess::new(command).map_err(|error| error.to_string())?;
            *pid.lock().unwrap() = transport.id().unwrap_or_default();
            let client = McpClient::connect(transport).await;
            client.map_err(|error| error.to_string())
        }
    });
    (runner, folder, pid)
}

/// Ends the server's process.
async fn stop(pid: &Mutex<u32>) {
    let pid = pid.lock().unwrap().to_string();
    let killed = Command::new("kill").arg(&pid).status().await.unwrap();
    assert!(killed.success());
    // Gives the client time to read the end of the server's output.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

fn find(kind: &str) -> Value {
    json!({"tools": [{"name": "find", "description": "Finds.", "inputSchema": {
        "type": "object", "properties": {"text": {"type": kind}}, "required": ["text"],
    }}]})
}

// S3-09, S3-10, S3-34: after a server has changed the schema of its tool, the tool is refused until a version with the new schema is published. A
// stored tool that is pinned to the old version stays refused.
#[tokio::test]
async fn changed_schema_is_refused_until_a_version_fits_it() {
    let (runner, _folder, pid) = one_after_the_other(vec![find("integer"), find("string")]);
    let world = World::new(runner);
    let function = world.function("listed", "find").await;
    let of = |kind: &str| version(&object(&json!({"text": {"type": kind}})), &json!({}));
    let one = world.publish(&function.id, of("string")).await;
    let mut pinned = NewTool::server("pinned", &*function.id);
    pinned.function_version = Some(one.id);
    world.bind(pinned).await;
    world.bind(NewTool::server("free", &*function.id)).await;
    for name in ["pinned", "free"] {
        let result = world.call(name, json!({"text": "x"})).await;
        assert_eq!(payload(&result), json!({"text": "x"}));
    }
    // The next connection starts the server with the changed tools.
    stop(&pid).await;
    for name in ["pinned", "free"] {
        let result = world.call(name, json!({"text": "x"})).await;
        failed(
            &result,
            ErrorKind::Unavailable,
            "it has changed on its server",
        );
        failed(
            &result,
            ErrorKind::Unavailable,
            "`/input_schema`: `/text`: ",
        );
    }
    world.publish(&function.id, of("integer")).await;
    assert_eq!(
        payload(&world.call("free", json!({"text": 7})).await),
        json!({"text": 7})
    );
    let result = world.call("pinned", json!({"text": "x"})).await;
    failed(
        &result,
        ErrorKind::Unavailable,
        "it has changed on its server",
    );
    // There is no third list of tools, so the server cannot be started again.
    stop(&pid).await;
    let result = world.call("free", json!({"text": 7})).await;
    failed(
        &result,
        ErrorKind::Unavailable,
        "cannot be read: the server is switched off",
    );
}

// S3-34: a tool that the server no longer lists is refused after the server's notification.
#[tokio::test]
async fn removed_tool_is_refused_after_the_notification() {
    let hostile = Hostile::start("").await;
    let world = World::new(McpRunner::default().server("hostile", &hostile.client));
    world
        .offer("hostile", "stay", version(&object(&json!({})), &json!({})))
        .await;
    let note = version(&object(&json!({"text": text()})), &json!({}));
    world.offer("hostile", "note", note).await;
    assert!(!world.call("stay", json!({})).await.is_error());
    world.call("note", json!({"text": "change"})).await;
    let result = loop {
        // The notification may arrive after the result.
        let result = world.call("stay", json!({})).await;
        if result.is_error() {
            break result;
        }
    };
    failed(
        &result,
        ErrorKind::Unavailable,
        "does not list the tool `stay`",
    );
    // A tool with a changed description runs, because models read the description of the stored tool.
    assert!(!world.call("note", json!({"text": "x"})).await.is_error());
}

// S3-34: a server that ends during a call is unavailable, and is started again for the next call.
#[tokio::test]
async fn server_that_ends_is_unavailable_and_connected_to_again() {
    let world = World::new(restarting());
    for tool in ["die", "stay"] {
        world
            .offer("hostile", tool, version(&object(&json!({})), &json!({})))
            .await;
    }
    for _ in 0..2 {
        failed(
            &world.call("die", json!({})).await,
            ErrorKind::Unavailable,
            "cannot be reached",
        );
        assert!(!world.call("stay", json!({})).await.is_error());
    }
    // The runner does not reopen a connection that the host has opened.
    let hostile = Hostile::start("").await;
    let world = World::new(McpRunner::default().server("hostile", &hostile.client));
    world
        .offer("hostile", "stay", version(&object(&json!({})), &json!({})))
        .await;
    hostile.client.close();
    let result = world.call("stay", json!({})).await;
    failed(&result, ErrorKind::Unavailable, "cannot be reached");
}

// S3-12: if an output is too long or does not match the output schema of the version, the result is an error.
#[tokio::test]
async fn output_of_a_server_has_to_fit_the_version() {
    let hostile = Hostile::start("").await;
    let world = World::new(McpRunner::default().server("hostile", &hostile.client));
    let n = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    world
        .offer("hostile", "wrong", version(&object(&json!({})), &n))
        .await;
    failed(&world.call("wrong", json!({})).await, ErrorKind::Failed, "");
    world
        .offer("hostile", "huge", version(&object(&json!({})), &json!({})))
        .await;
    failed(
        &world.call("huge", json!({})).await,
        ErrorKind::Failed,
        "are allowed, ask for less",
    );
    world
        .offer("hostile", "stay", version(&object(&json!({})), &text()))
        .await;
    assert_eq!(payload(&world.call("stay", json!({})).await), "{}");
}

// S3-34: tenants call different servers under the same name, and a tenant without a server of this name cannot create a version.
#[tokio::test]
async fn tenants_call_their_own_servers() {
    let said = |words: &str| {
        json!({
            "tools": [{"name": "who", "description": "Says who.", "inputSchema": {"type": "object"}}],
            "answers": {"who": {"content": [{"type": "text", "text": words}]}},
        })
    };
    let (acmes, umbrellas) = (
        Listed::start(&said("acme")).await,
        Listed::start(&said("umbrella")).await,
    );
    let runner = McpRunner::default();
    let runner = runner.server_of("acme", "crm", &acmes.client);
    let runner = runner.server_of("umbrella", "crm", &umbrellas.client);
    let acme = World::new(runner);
    for world in [&acme, &acme.of("umbrella")] {
        world
            .offer("crm", "who", version(&object(&json!({})), &text()))
            .await;
        assert_eq!(
            payload(&world.call("who", json!({})).await),
            world.workspace
        );
    }
    let third = acme.of("third");
    let function = third.function("crm", "who").await;
    let faults = faults(
        third
            .create(&function.id, version(&object(&json!({})), &text()))
            .await,
    );
    assert!(
        faults[0]
            .1
            .contains("has no MCP server `crm`, it has no MCP servers"),
        "{faults:?}"
    );
}

// S3-34: a cancelled call and a call that exceeds its deadline end, and the server is notified of a cancellation.
#[tokio::test]
async fn cancelled_and_late_calls_end() {
    let hostile = Hostile::start("").await;
    let world = World::new(McpRunner::default().server("hostile", &hostile.client));
    world
        .offer("hostile", "hang", version(&object(&json!({})), &json!({})))
        .await;
    let cancel = CancellationToken::new();
    let cx = ToolContext::builder()
        .workspace("acme")
        .cancellation(cancel.clone())
        .build();
    let stop = async {
        hostile.until_got("tools/call").await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(world.call_in("hang", json!({}), &cx), stop);
    failed(&result, ErrorKind::Cancelled, "");
    hostile.until_got("notifications/cancelled").await;
    let cx = ToolContext::builder()
        .workspace("acme")
        .deadline(Duration::from_millis(100))
        .build();
    failed(
        &world.call_in("hang", json!({}), &cx).await,
        ErrorKind::TimedOut,
        "",
    );
}

// S3-34: a secret of the context in the error of a server is redacted.
#[tokio::test]
async fn secret_in_the_error_of_a_server_is_redacted() {
    const SECRET: &str = "key-4711-of-acme";
    let listed = Listed::start(&json!({
        "tools": [{"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}],
        "answers": {"find": {"content": [{"type": "text", "text": format!("{SECRET} was refused")}], "isError": true}},
    }))
    .await;
    let world = World::new(McpRunner::default().server("listed", &listed.client));
    world
        .offer("listed", "find", version(&object(&json!({})), &json!({})))
        .await;
    let cx = ToolContext::builder()
        .workspace("acme")
        .secret("crm_key", SECRET)
        .build();
    let result = world.call_in("find", json!({}), &cx).await;
    failed(&result, ErrorKind::Failed, "[secret:crm_key] was refused");
    assert!(!format!("{:?}", result.error()).contains(SECRET));
}
