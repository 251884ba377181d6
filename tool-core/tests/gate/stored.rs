//! Stored tools behind a gate.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::env::{self, Env, Task, Work};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::stored::{
    FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner, LinkedRunner, SaveError, Saved,
    StoredTools,
};
use tool_core::turn::{ClientResult, ModelMessage, Outcome, Turn, TurnError, Turns};
use tool_core::{
    Approvals, Audit, CallResult, Dialect, Disables, ErrorKind, Gate, Registry, Reply, Rules,
    SecretNeed, Sweeper,
};

use crate::support::{Mailbox, count, placed, send_mail};

/// Returns the runtime user of the call.
#[tool(read_only)]
async fn whoami(cx: &ToolContext) -> String {
    cx.runtime_user().unwrap_or("nobody").to_owned()
}

/// Runs TypeScript functions. Their code has the form `echo TEXT`, and `TEXT` is the output.
struct EchoRunner;

impl FunctionRunner for EchoRunner {
    fn facts(
        &self,
        function: &Function,
        _: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        match function.kind {
            FunctionKind::TypeScript { .. } => Some(Ok(FunctionFacts::calling([]))),
            _ => None,
        }
    }

    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        Box::pin(async move {
            let code = &call.version.files["main.ts"];
            let (_, output) = code.split_once("echo ").unwrap();
            FunctionOutput::new(output)
        })
    }
}

/// Runs HTTP functions. Each call returns `found`.
struct HttpRunner;

impl FunctionRunner for HttpRunner {
    fn facts(
        &self,
        function: &Function,
        _: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let is_own = matches!(function.kind, FunctionKind::Http { .. });
        is_own.then(|| Ok(FunctionFacts::foreign(function)))
    }

    fn run(&self, _: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        Box::pin(async { FunctionOutput::new("found") })
    }
}

/// A host with stored tools of the workspace `acme`, bound to the agent `clerk`.
struct World {
    store: MemoryStore,
    tools: StoredTools,
    gate: Gate,
    mailbox: Mailbox,
}

fn linked() -> Registry {
    let registry = Registry::builder().tool::<send_mail>().tool::<count>();
    let registry = registry.tool::<whoami>().renamed("tally", "count");
    registry.build().unwrap()
}

fn editor(role: MemberRole) -> Editor {
    Editor::member("acme", "olga", role)
}

fn schema(value: &Value) -> ToolSchema {
    ToolSchema::new(value.to_string()).unwrap()
}

fn text() -> ToolSchema {
    schema(&json!({"type": "string"}))
}

fn object(properties: &Value) -> ToolSchema {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    schema(&json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }))
}

fn empty() -> ToolSchema {
    object(&json!({}))
}

fn client(name: &str) -> NewTool {
    let input = object(&json!({"question": {"type": "string"}}));
    let mut tool = NewTool::client(name, input, object(&json!({"color": {"type": "string"}})));
    tool.description = Some("Asks the user.".to_owned());
    tool
}

impl World {
    fn new() -> Self {
        Self::with(Rules::default())
    }

    fn with(rules: Rules) -> Self {
        let store = MemoryStore::default();
        let gate = Gate::builder()
            .approvals(Approvals::builder(store.clone()).build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let tools = StoredTools::new(store.clone())
            .runner(LinkedRunner::new(&linked(), rules))
            .runner(EchoRunner)
            .runner(HttpRunner);
        Self {
            store,
            tools,
            gate,
            mailbox: Mailbox::default(),
        }
    }

    async fn edit(&self, role: MemberRole, change: ToolChange) -> Result<Saved, SaveError> {
        let edit = ToolEdit::new(editor(role), change, Timestamp::now());
        self.tools.edit(edit).await
    }

    async fn admin(&self, change: ToolChange) -> ToolEdited {
        self.edit(MemberRole::Admin, change).await.unwrap().edited
    }

    async fn function(&self, kind: FunctionKind) -> Function {
        let new = NewFunction::new("f", kind);
        let edited = self.admin(ToolChange::CreateFunction(new)).await;
        edited.into_function().unwrap()
    }

    /// Creates a version of a function and publishes it.
    async fn publish(&self, function: &str, version: NewFunctionVersion) -> FunctionVersion {
        let function = function.to_owned();
        let version = ToolChange::CreateVersion { function, version };
        let version = self.admin(version).await.into_version().unwrap();
        let id = version.id.clone();
        self.admin(ToolChange::Publish { version: id }).await;
        version
    }

    /// Creates a function that runs the linked tool `name`.
    async fn linked(&self, name: &str) -> Function {
        let tool = name.to_owned();
        let function = self.function(FunctionKind::Linked { tool }).await;
        let version = LinkedRunner::version_of(linked().get(name).unwrap()).unwrap();
        self.publish(&function.id, version).await;
        function
    }

    /// Creates a tool and binds it to `clerk`.
    async fn tool(&self, new: NewTool) -> StoredTool {
        let edited = self.admin(ToolChange::CreateTool(Box::new(new))).await;
        let tool = edited.into_tool().unwrap();
        let (agent, id) = ("clerk".to_owned(), tool.id.clone());
        self.admin(ToolChange::Bind { agent, tool: id }).await;
        tool
    }

    async fn change(&self, id: &str, update: ToolUpdate) -> Result<Saved, SaveError> {
        let change = ToolChange::UpdateTool {
            id: id.to_owned(),
            update: Box::new(update),
            expected: None,
        };
        self.edit(MemberRole::Admin, change).await
    }

    async fn delete(&self, id: &str) {
        let (id, expected) = (id.to_owned(), None);
        self.admin(ToolChange::DeleteTool { id, expected }).await;
    }

    async fn join(&self, user: &str) {
        let member = Member::new("acme", user, MemberRole::Viewer, Timestamp::now());
        let admin = editor(MemberRole::Admin);
        self.store.put_member(member, &admin).await.unwrap();
    }

    /// Loads the current tools of `clerk`.
    async fn now(&self) -> Toolset {
        let own = self.tools.of_agent(&"acme".into(), "clerk").await.unwrap();
        assert_eq!(own.left_out, []);
        own.registry.open().through(&self.gate)
    }

    fn cx(&self) -> ToolContext {
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .agent("clerk");
        cx.conversation("main").with(self.mailbox.clone()).build()
    }

    async fn call(&self, tools: &Toolset, name: &str, arguments: &Value) -> CallResult {
        let place = u32::try_from(self.rows().await.len()).unwrap() + 1;
        let call = ToolCall::new(format!("c-{place}"), name, arguments.to_string());
        tools.call(call, &placed(&self.cx(), place)).await
    }

    async fn rows(&self) -> Vec<AuditRow> {
        let all = AuditFilter::default();
        self.store.export(Scope::All, &all).await.unwrap()
    }

    /// Approves the requests of these tokens.
    async fn approve(&self, tools: &Toolset, tokens: impl IntoIterator<Item = String>) {
        for token in tokens {
            let (approvals, acme) = (self.gate.approvals().unwrap(), Workspace::new("acme"));
            let answer = approvals.answer(&acme, tools, &token, Reply::Approve, "boss", None);
            answer.await.unwrap();
        }
    }
}

/// Returns the faults of a rejected change as pointers and texts.
fn rejected(saved: Result<Saved, SaveError>) -> Vec<(String, String)> {
    match saved {
        Err(SaveError::Rejected(faults)) => {
            let faults = faults.into_iter();
            faults.map(|fault| (fault.pointer, fault.text)).collect()
        }
        other => panic!("expected faults, got {other:?}"),
    }
}

fn refused(result: &CallResult, kind: ErrorKind, why: &str) {
    let error = result.error().unwrap();
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.operator_text().contains(why), "{error:?}");
}

// S3-03, S3-04: two stored tools run one function, each with its own name and description.
#[tokio::test]
async fn two_stored_tools_run_one_linked_tool() {
    let world = World::new();
    let function = world.linked("count").await;
    for (name, text) in [
        ("count_mails", "Counts mails."),
        ("count_calls", "Counts calls."),
    ] {
        let mut tool = NewTool::server(name, &*function.id);
        tool.description = Some(text.to_owned());
        world.tool(tool).await;
    }
    let tools = world.now().await;
    assert!(tools.names().eq(["count_calls", "count_mails"]));
    assert_eq!(
        tools.get("count_mails").unwrap().description(),
        "Counts mails."
    );
    for name in ["count_mails", "count_calls"] {
        assert_eq!(
            world
                .call(&tools, name, &json!({"from": 3}))
                .await
                .model_text(),
            "3"
        );
    }
    // The audit has a row for each stored tool and for each run of the linked tool.
    let rows = world.rows().await;
    let names: Vec<_> = rows.iter().map(|row| row.tool.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "count").count(), 2);
    assert!(
        names.contains(&"count_mails") && names.contains(&"count_calls"),
        "{names:?}"
    );
}

// S1-43: a function that names a linked tool by its earlier name runs the renamed tool.
#[tokio::test]
async fn function_with_an_earlier_name_runs_the_renamed_tool() {
    let world = World::new();
    let tool = "tally".to_owned();
    let function = world.function(FunctionKind::Linked { tool }).await;
    let version = LinkedRunner::version_of(linked().get("count").unwrap()).unwrap();
    world.publish(&function.id, version).await;
    let mut tool = NewTool::server("count_mails", &*function.id);
    tool.description = Some("Counts mails.".to_owned());
    world.tool(tool).await;
    let tools = world.now().await;
    let arguments = json!({"from": 3});
    let result = world.call(&tools, "count_mails", &arguments).await;
    assert_eq!(result.model_text(), "3");
    let rows = world.rows().await;
    assert!(rows.iter().any(|row| row.tool == "count"), "{rows:?}");
}

// S3-05: a tool without a description is saved with a warning; models read its function's description or a generated text.
#[tokio::test]
async fn missing_description_is_a_warning() {
    let world = World::new();
    let function = world.linked("count").await;
    let new = NewTool::server("count_mails", &*function.id);
    let saved = world
        .edit(MemberRole::Author, ToolChange::CreateTool(Box::new(new)))
        .await
        .unwrap();
    assert!(
        saved.warnings[0].contains("has no description"),
        "{:?}",
        saved.warnings
    );
    let tool = saved.edited.into_tool().unwrap();
    let (agent, id) = ("clerk".to_owned(), tool.id.clone());
    world.admin(ToolChange::Bind { agent, tool: id }).await;
    assert_eq!(
        world.now().await.get("count_mails").unwrap().description(),
        "Runs `count_mails`."
    );
    let update = FunctionUpdate::default();
    let mut update = update;
    update.description = Some(Some("Counts.".to_owned()));
    let (id, expected) = (function.id, None);
    world
        .admin(ToolChange::UpdateFunction {
            id,
            update,
            expected,
        })
        .await;
    assert_eq!(
        world.now().await.get("count_mails").unwrap().description(),
        "Counts."
    );
    let mut described = ToolUpdate::default();
    described.description = Some(Some("Counts mails.".to_owned()));
    assert_eq!(
        world.change(&tool.id, described).await.unwrap().warnings,
        [""; 0]
    );
}

// S3-09, S3-10: in a toolset that is older than version 2, a pinned tool runs version 1, and a tool without a pin runs version 2.
#[tokio::test]
async fn published_version_runs_at_the_next_call_unless_the_tool_is_pinned() {
    let world = World::new();
    let function = world
        .function(FunctionKind::TypeScript {
            entry: "main.ts".to_owned(),
        })
        .await;
    let version = |word: &str| {
        let mut version = NewFunctionVersion::new(empty(), text());
        version
            .files
            .insert("main.ts".to_owned(), format!("echo {word}"));
        version
    };
    let one = world.publish(&function.id, version("one")).await;
    let mut pinned = NewTool::server("pinned", &*function.id);
    pinned.function_version = Some(one.id);
    world.tool(pinned).await;
    world.tool(NewTool::server("free", &*function.id)).await;
    let tools = world.now().await;
    for name in ["pinned", "free"] {
        assert_eq!(
            world.call(&tools, name, &json!({})).await.model_text(),
            "one"
        );
    }
    world.publish(&function.id, version("two")).await;
    assert_eq!(
        world.call(&tools, "pinned", &json!({})).await.model_text(),
        "one"
    );
    assert_eq!(
        world.call(&tools, "free", &json!({})).await.model_text(),
        "two"
    );
}

// S3-10, S3-11: a version with a different schema runs only in toolsets that were built after it was published. An older toolset also refuses the
// calls of a tool that requires a confirmation now.
#[tokio::test]
async fn changed_schema_is_shown_before_it_applies() {
    let world = World::new();
    let function = world
        .function(FunctionKind::TypeScript {
            entry: "main.ts".to_owned(),
        })
        .await;
    let version = |input: ToolSchema| {
        let mut version = NewFunctionVersion::new(input, text());
        version
            .files
            .insert("main.ts".to_owned(), "echo done".to_owned());
        version
    };
    world.publish(&function.id, version(empty())).await;
    let tool = world.tool(NewTool::server("go", &*function.id)).await;
    let tools = world.now().await;
    world
        .publish(
            &function.id,
            version(object(&json!({"to": {"type": "string"}}))),
        )
        .await;
    let result = world.call(&tools, "go", &json!({})).await;
    refused(
        &result,
        ErrorKind::Unavailable,
        "have changed since the toolset was built",
    );
    let tools = world.now().await;
    refused(
        &world.call(&tools, "go", &json!({})).await,
        ErrorKind::InvalidArguments,
        "to",
    );
    assert_eq!(
        world
            .call(&tools, "go", &json!({"to": "x"}))
            .await
            .model_text(),
        "done"
    );
    // The tool now requires a confirmation, which the gate of this toolset has not requested.
    let mut asks = ToolUpdate::default();
    asks.requires_confirmation = Some(true);
    world.change(&tool.id, asks).await.unwrap();
    let result = world.call(&tools, "go", &json!({"to": "x"})).await;
    refused(&result, ErrorKind::Unavailable, "have changed");
}

// S3-11: the model sees the tool's own schema, and calls are validated against it before the function runs.
#[tokio::test]
async fn schema_of_the_tool_is_shown_and_checked() {
    let world = World::new();
    let function = world.linked("send_mail").await;
    let narrow = json!({
        "type": "object",
        "properties": {"to": {"type": "string", "enum": ["boss"]}, "copies": {"type": "integer", "enum": [1]}},
        "required": ["to", "copies"], "additionalProperties": false,
    });
    let mut tool = NewTool::server("tell_the_boss", &*function.id);
    tool.input_schema = Some(ToolSchema::new(narrow.to_string()).unwrap());
    world.tool(tool).await;
    let tools = world.now().await;
    let shown = tools
        .get("tell_the_boss")
        .unwrap()
        .schema(Dialect::JsonSchema);
    let shown: Value = serde_json::from_str(shown).unwrap();
    assert_eq!(shown["properties"]["to"]["enum"], json!(["boss"]));
    let listed: Value = serde_json::from_str(&tools.definitions(Dialect::JsonSchema)).unwrap();
    assert!(listed.to_string().contains(&shown.to_string()), "{listed}");
    for bad in [
        json!({"to": "eve", "copies": 1}),
        json!({"to": "boss", "copies": 2}),
        json!({"to": "boss", "copies": 1, "cc": "eve"}),
    ] {
        refused(
            &world.call(&tools, "tell_the_boss", &bad).await,
            ErrorKind::InvalidArguments,
            "",
        );
    }
    assert_eq!(world.mailbox.sent(), 0);
}

// S3-11, S3-34: a schema that a provider would refuse is not saved, and the fault contains the rule's text and a JSON pointer.
#[tokio::test]
async fn bad_schema_is_rejected_with_rule_and_pointer() {
    let world = World::new();
    let function = world
        .function(FunctionKind::TypeScript {
            entry: "main.ts".to_owned(),
        })
        .await;
    let bad = schema(&json!({
        "type": "object", "additionalProperties": false, "required": ["when"],
        "properties": {"when": {"type": "object", "additionalProperties": {"type": "integer"}}},
    }));
    let mut version = NewFunctionVersion::new(bad.clone(), schema(&json!({"type": "madeup"})));
    version
        .files
        .insert("main.ts".to_owned(), "echo x".to_owned());
    let change = ToolChange::CreateVersion {
        function: function.id.clone(),
        version,
    };
    let faults = rejected(world.edit(MemberRole::Author, change).await);
    let map = "[map-type] a map is refused, take a list of entries with key and value";
    let place = "/input_schema/properties/when";
    assert_eq!(faults[0], (place.to_owned(), map.to_owned()));
    let (pointer, why) = faults.last().unwrap();
    assert_eq!(pointer, "/output_schema");
    assert!(why.starts_with("[untyped-value]"), "{why}");
    assert_eq!(
        world
            .store
            .function_versions(&"acme".into(), &function.id)
            .await
            .unwrap(),
        []
    );

    let mut tool = client("ask me");
    tool.input_schema = Some(bad);
    tool.description = Some(" ".to_owned());
    let faults = rejected(
        world
            .edit(MemberRole::Author, ToolChange::CreateTool(Box::new(tool)))
            .await,
    );
    let pointers: Vec<_> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers[..3], ["/name", "/description", place]);
    // A function without a published version, and a function whose linked tool does not exist.
    let mcp = FunctionKind::Mcp {
        server: "crm".to_owned(),
        tool: "find".to_owned(),
    };
    let mcp = world.function(mcp).await;
    let faults = rejected(
        world
            .edit(
                MemberRole::Author,
                ToolChange::CreateTool(Box::new(NewTool::server("find", &*mcp.id))),
            )
            .await,
    );
    assert_eq!(faults[0].0, "/function");
    assert!(faults[0].1.contains("publish a version"), "{faults:?}");
    let gone = world
        .function(FunctionKind::Linked {
            tool: "gone".to_owned(),
        })
        .await;
    let change = ToolChange::CreateVersion {
        function: gone.id,
        version: NewFunctionVersion::new(empty(), text()),
    };
    let faults = rejected(world.edit(MemberRole::Author, change).await);
    assert!(faults[0].1.contains("no tool `gone`"), "{faults:?}");
    assert_eq!(
        world
            .store
            .stored_tools(&"acme".into(), &StoredToolFilter::default())
            .await
            .unwrap(),
        []
    );
    // The store's error about permissions precedes the faults of the tool.
    let mut tool = client("ask me");
    tool.runtime_user = Some("robot".to_owned());
    let saved = world
        .edit(MemberRole::Author, ToolChange::CreateTool(Box::new(tool)))
        .await;
    assert!(
        matches!(saved, Err(SaveError::Store(StoreError::Forbidden(_)))),
        "{saved:?}"
    );
}

// S3-12: an output that does not match the tool's output schema is an error.
#[tokio::test]
async fn output_that_violates_the_tools_schema_is_an_error() {
    let world = World::new();
    let function = world.linked("count").await;
    let mut tool = NewTool::server("count_mails", &*function.id);
    tool.output_schema = Some(text());
    world.tool(tool).await;
    let result = world
        .call(&world.now().await, "count_mails", &json!({"from": 3}))
        .await;
    refused(
        &result,
        ErrorKind::Failed,
        "does not fit the tool's output schema",
    );
}

// S3-13: examples must match the schemas when the tool is saved and when a version is published; a result is optional.
#[tokio::test]
async fn examples_that_violate_the_schemas_are_rejected() {
    let world = World::new();
    let function = world.linked("count").await;
    let with = |examples: Value| {
        let mut tool = NewTool::server("count_mails", &*function.id);
        tool.examples = serde_json::from_value(examples).unwrap();
        tool
    };
    let save = async |tool| {
        world
            .edit(MemberRole::Author, ToolChange::CreateTool(Box::new(tool)))
            .await
    };
    let bad = with(
        json!([{"args": {"from": 1}, "result": 1}, {"args": {"from": "x"}}, {"args": {"from": 1}, "result": "one"}]),
    );
    let faults = rejected(save(bad).await);
    let pointers: Vec<_> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(
        pointers,
        ["/examples/1/args/from", "/examples/2/result"],
        "{faults:?}"
    );
    let tool = save(with(
        json!([{"args": {"from": 1}}, {"args": {"from": 2}, "result": 2}]),
    ))
    .await
    .unwrap();
    let tool = tool.edited.into_tool().unwrap();
    save(with(Value::Null)).await.unwrap();
    // A version is not published if the examples of a tool do not match its schemas.
    let version = NewFunctionVersion::new(object(&json!({"to": {"type": "string"}})), text());
    let version = ToolChange::CreateVersion {
        function: function.id.clone(),
        version,
    };
    let version = world.admin(version).await.into_version().unwrap();
    let faults = rejected(
        world
            .edit(
                MemberRole::Author,
                ToolChange::Publish {
                    version: version.id,
                },
            )
            .await,
    );
    assert!(
        faults[0]
            .0
            .starts_with(&format!("/tools/{}/examples/0/args", tool.id)),
        "{faults:?}"
    );
    assert_eq!(
        world
            .store
            .function(&"acme".into(), &function.id)
            .await
            .unwrap()
            .unwrap()
            .default_version
            .unwrap()
            .len(),
        32
    );
}

// S3-14: models read the examples after the description.
#[tokio::test]
async fn examples_are_part_of_the_prompt() {
    let world = World::new();
    let function = world.linked("count").await;
    let mut tool = NewTool::server("count_mails", &*function.id);
    tool.description = Some("Counts.".to_owned());
    tool.examples =
        serde_json::from_value(json!([{"args": {"from": 1}}, {"args": {"from": 2}, "result": 2}]))
            .unwrap();
    world.tool(tool).await;
    let tools = world.now().await;
    let tool = tools.get("count_mails").unwrap();
    for dialect in Dialect::ALL {
        let definition = tool.definition(dialect);
        let expected = r#"Counts.\n\nExamples:\n- {\"from\":1}\n- {\"from\":2} → 2"#;
        assert!(definition.contains(expected), "{definition}");
    }
    assert_eq!(tool.description(), "Counts.");
    // A renamed tool keeps the examples.
    let renamed = tools.rename([("count_mails", "n")]).unwrap();
    assert!(
        renamed
            .get("n")
            .unwrap()
            .definition(Dialect::OpenAi)
            .contains("Examples:")
    );
}

// S3-15: a tool that requires a confirmation waits for an approval before its function runs.
#[tokio::test]
async fn required_confirmation_precedes_the_function() {
    let world = World::new();
    let function = world.linked("count").await;
    let mut tool = NewTool::server("count_mails", &*function.id);
    tool.requires_confirmation = true;
    world.tool(tool).await;
    let (turns, cx, tools) = (
        Turns::new(world.store.clone()),
        world.cx(),
        world.now().await,
    );
    let message = ModelMessage::calls([ToolCall::new("call_0", "count_mails", r#"{"from":3}"#)]);
    let message = turns.record(message, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    assert_eq!(tickets[0].tool, "count_mails");
    world
        .approve(&tools, tickets.into_iter().map(|ticket| ticket.token))
        .await;
    let Turn::Complete(results) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    assert_eq!(results[0].text, "3");
}

// S3-15: an approval that the linked tool requires is requested under the linked tool's name.
#[tokio::test]
async fn linked_tool_requests_its_own_approval() {
    let world = World::new();
    let function = world.linked("send_mail").await;
    world
        .tool(NewTool::server("tell_the_team", &*function.id))
        .await;
    let (turns, cx, tools) = (
        Turns::new(world.store.clone()),
        world.cx(),
        world.now().await,
    );
    let message = ModelMessage::calls([ToolCall::new(
        "call_0",
        "tell_the_team",
        r#"{"to":"team","copies":2}"#,
    )]);
    let message = turns.record(message, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        tickets
            .iter()
            .map(|ticket| &*ticket.tool)
            .collect::<Vec<_>>(),
        ["send_mail"]
    );
    assert_eq!(world.mailbox.sent(), 0);
    world
        .approve(
            &linked().open().through(&world.gate),
            tickets.into_iter().map(|ticket| ticket.token),
        )
        .await;
    let Turn::Complete(results) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        (results[0].text.as_str(), world.mailbox.sent()),
        ("sent to team", 2)
    );
}

// S3-16, S3-23: a disabled or deleted tool is not offered, and calls through older toolsets are refused. A disabled tool stays bound.
#[tokio::test]
async fn disabled_and_deleted_tools_do_not_run() {
    let world = World::new();
    let function = world.linked("count").await;
    let tool = world
        .tool(NewTool::server("count_mails", &*function.id))
        .await;
    let before = world.now().await;
    let arguments = json!({"from": 3});
    assert!(
        !world
            .call(&before, "count_mails", &arguments)
            .await
            .is_error()
    );
    world
        .change(&tool.id, ToolUpdate::enable(false))
        .await
        .unwrap();
    assert!(world.now().await.is_empty());
    refused(
        &world
            .call(&world.now().await, "count_mails", &arguments)
            .await,
        ErrorKind::UnknownTool,
        "count_mails",
    );
    refused(
        &world.call(&before, "count_mails", &arguments).await,
        ErrorKind::Denied,
        "is disabled",
    );
    assert_eq!(
        world
            .store
            .bindings(&"acme".into(), &BindingFilter::default())
            .await
            .unwrap()
            .len(),
        1
    );
    world
        .change(&tool.id, ToolUpdate::enable(true))
        .await
        .unwrap();
    assert!(
        !world
            .call(&before, "count_mails", &arguments)
            .await
            .is_error()
    );
    world.delete(&tool.id).await;
    assert!(world.now().await.is_empty());
    refused(
        &world.call(&before, "count_mails", &arguments).await,
        ErrorKind::Denied,
        "is deleted",
    );
}

// S3-19, S3-20: the function runs as the runtime user of the tool, else of the function, else of the workspace; the audit row names this user.
#[tokio::test]
async fn function_observes_the_runtime_user() {
    let world = World::new();
    let function = world.linked("whoami").await;
    let tool = world.tool(NewTool::server("who", &*function.id)).await;
    let seen = async || {
        let tools = world.now().await;
        let text = world.call(&tools, "who", &json!({})).await.model_text();
        // Rows of calls within one millisecond are not in the order of the calls.
        let rows = world.rows().await;
        let number = |row: &&AuditRow| row.call["c-".len()..].parse::<u32>().unwrap();
        let calls = rows.iter().filter(|row| row.tool == "who");
        let row = calls.max_by_key(number).unwrap();
        assert_eq!(row.runtime_user.as_deref().unwrap_or("nobody"), text);
        assert_eq!(row.principal.as_deref(), Some("ann"));
        text
    };
    assert_eq!(seen().await, "nobody");
    for user in ["robot", "mailer", "boss"] {
        world.join(user).await;
    }
    let mut settings = WorkspaceSettings::new("acme", Timestamp::now());
    settings.default_runtime_user = Some("robot".to_owned());
    world
        .store
        .put_workspace(settings, &editor(MemberRole::Admin))
        .await
        .unwrap();
    assert_eq!(seen().await, "robot");
    let mut update = FunctionUpdate::default();
    update.runtime_user = Some(Some("mailer".to_owned()));
    let (id, expected) = (function.id, None);
    world
        .admin(ToolChange::UpdateFunction {
            id,
            update,
            expected,
        })
        .await;
    assert_eq!(seen().await, "mailer");
    let mut update = ToolUpdate::default();
    update.runtime_user = Some(Some("boss".to_owned()));
    world.change(&tool.id, update).await.unwrap();
    assert_eq!(seen().await, "boss");
}

// S3-22: a call of a tool whose runtime user has left the workspace is refused, and the tool is no longer offered.
#[tokio::test]
async fn runtime_user_is_checked_at_each_call() {
    let world = World::new();
    let function = world.linked("whoami").await;
    world.join("robot").await;
    let mut tool = NewTool::server("who", &*function.id);
    tool.runtime_user = Some("robot".to_owned());
    world.tool(tool).await;
    let tools = world.now().await;
    assert_eq!(
        world.call(&tools, "who", &json!({})).await.model_text(),
        "robot"
    );
    world
        .store
        .remove_member(&"acme".into(), "robot", &editor(MemberRole::Admin))
        .await
        .unwrap();
    refused(
        &world.call(&tools, "who", &json!({})).await,
        ErrorKind::Denied,
        "not a member",
    );
    let own = world.tools.of_agent(&"acme".into(), "clerk").await.unwrap();
    assert!(own.registry.is_empty());
    assert!(
        own.left_out[0].why.contains("not a member"),
        "{:?}",
        own.left_out
    );
}

// S3-04: if a linked tool is disabled, calls of a stored tool that runs it are refused too.
#[tokio::test]
async fn rules_for_a_linked_tool_apply_to_stored_tools() {
    let disables = Disables::default();
    let world = World::with(Rules::default().disables(&disables));
    let function = world.linked("count").await;
    world
        .tool(NewTool::server("count_mails", &*function.id))
        .await;
    let tools = world.now().await;
    assert!(
        !world
            .call(&tools, "count_mails", &json!({"from": 1}))
            .await
            .is_error()
    );
    disables.disable("count");
    let result = world.call(&tools, "count_mails", &json!({"from": 1})).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::UnknownTool);
}

// S3-04: of two tools with the same name, one is offered and one is left out, and the reason is reported.
#[tokio::test]
async fn one_of_two_tools_with_the_same_name_is_left_out() {
    let world = World::new();
    world.tool(client("ask")).await;
    let second = world.tool(client("ask")).await;
    let own = world.tools.of_agent(&"acme".into(), "clerk").await.unwrap();
    assert_eq!(own.registry.len(), 1);
    assert_eq!(own.left_out.len(), 1);
    let why = &own.left_out[0].why;
    assert!(why.contains("named `ask`"), "{why}");
    assert!(
        second.created_at
            >= world
                .store
                .stored_tool(&"acme".into(), &second.id)
                .await
                .unwrap()
                .unwrap()
                .created_at
    );
}

/// A runner whose facts contain secrets with invalid keys.
struct FaultyRunner;

impl FunctionRunner for FaultyRunner {
    fn facts(
        &self,
        function: &Function,
        _: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let is_own = matches!(function.kind, FunctionKind::Mcp { .. });
        is_own.then(|| {
            let mut facts = FunctionFacts::foreign(function);
            facts.secrets = vec![SecretNeed::new("not a key"), SecretNeed::new("")];
            Ok(facts)
        })
    }

    fn run(&self, _: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        Box::pin(async { FunctionOutput::new("never") })
    }
}

// S3-04: a tool whose runner returns invalid facts is left out, and the other tools are offered.
#[tokio::test]
async fn tool_with_a_faulty_runner_does_not_hide_the_others() {
    let mut world = World::new();
    world.tools = world.tools.runner(FaultyRunner);
    world.tool(client("ask")).await;
    let kind = FunctionKind::Mcp {
        server: "crm".to_owned(),
        tool: "find".to_owned(),
    };
    let function = world.function(kind).await;
    world
        .publish(&function.id, NewFunctionVersion::new(empty(), text()))
        .await;
    world.tool(NewTool::server("find", &*function.id)).await;
    let own = world.tools.of_agent(&"acme".into(), "clerk").await;
    let own = own.unwrap();
    assert!(own.registry.open().names().eq(["ask"]));
    assert_eq!(own.left_out[0].name, "find");
}

// S3-21: a foreign function is destructive and open-world unless an admin lowers its effects.
#[tokio::test]
async fn foreign_functions_are_destructive_until_an_admin_lowers_their_effects() {
    let world = World::new();
    let kind = FunctionKind::Http {
        document: "api.json".to_owned(),
        operation: "find".to_owned(),
    };
    let function = world.function(kind).await;
    let mut version = NewFunctionVersion::new(empty(), text());
    version.files.insert("api.json".to_owned(), "{}".to_owned());
    world.publish(&function.id, version).await;
    world.tool(NewTool::server("find", &*function.id)).await;
    let tools = world.now().await;
    let hints = tools.get("find").unwrap().hints();
    assert!(
        hints.destructive && hints.open_world && !hints.read_only,
        "{hints:?}"
    );
    // A destructive tool waits for an approval.
    let result = world.call(&tools, "find", &json!({})).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Pending);
    let mut update = FunctionUpdate::default();
    let effects = FunctionEffects {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: true,
    };
    update.effects = Some(Some(effects));
    let (id, expected) = (function.id, None);
    world
        .admin(ToolChange::UpdateFunction {
            id,
            update,
            expected,
        })
        .await;
    let tools = world.now().await;
    let hints = tools.get("find").unwrap().hints();
    assert!(
        !hints.destructive && hints.open_world && hints.read_only,
        "{hints:?}"
    );
    assert_eq!(
        world.call(&tools, "find", &json!({})).await.model_text(),
        "found"
    );
}

fn question(id: &str) -> ToolCall {
    ToolCall::new(id, "ask", r#"{"question":"which?"}"#)
}

fn answer(id: &str, output: &Value) -> ClientResult {
    ClientResult::output(id, serde_json::value::to_raw_value(output).unwrap())
}

/// A model that calls the client tool `ask`, and then answers with the result.
struct Asks;

impl tool_core::turn::Model for Asks {
    fn next<'a>(
        &'a mut self,
        request: tool_core::turn::ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let last = request.messages.last().unwrap();
        let message = match last.role {
            Role::Tool => {
                let result: Value = serde_json::from_str(&last.content).unwrap();
                ModelMessage::text(result["text"].as_str().unwrap())
            }
            _ => ModelMessage::calls([question("call_0")]),
        };
        Box::pin(async { Ok(message) })
    }
}

// S3-08: each drive of the loop returns the call for the client, until the client's result is supplied; then the loop continues.
#[tokio::test]
async fn loop_suspends_for_the_client_and_continues_with_its_result() {
    let world = World::new();
    world.tool(client("ask")).await;
    let (turns, cx, tools) = (
        Turns::new(world.store.clone()),
        world.cx(),
        world.now().await,
    );
    turns.say("Paint it.", &cx).await.unwrap();
    for _ in 0..3 {
        let Outcome::Client(calls) = turns
            .drive(&mut Asks, |_| tools.clone(), &cx)
            .await
            .unwrap()
        else {
            panic!()
        };
        assert_eq!(calls, [question("call_0")]);
    }
    let turn = turns
        .supply(&tools, [answer("call_0", &json!({"color": "red"}))], &cx)
        .await
        .unwrap();
    assert!(matches!(turn, Turn::Complete(_)), "{turn:?}");
    // A second result of the same call changes nothing.
    let Turn::Complete(results) = turns
        .supply(&tools, [answer("call_0", &json!({"color": "blue"}))], &cx)
        .await
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(results[0].text, r#"{"color":"red"}"#);
    let outcome = turns
        .drive(&mut Asks, |_| tools.clone(), &cx)
        .await
        .unwrap();
    assert!(
        matches!(&outcome, Outcome::Answered(text) if text == r#"{"color":"red"}"#),
        "{outcome:?}"
    );
    // All drives together have written one audit row of the call.
    let rows = world.rows().await;
    assert_eq!(rows.iter().filter(|row| row.tool == "ask").count(), 1);
}

// S3-08: the client gets no call with invalid arguments, and its result must match the output schema.
#[tokio::test]
async fn arguments_and_results_of_client_tools_are_checked() {
    let world = World::new();
    world.tool(client("ask")).await;
    let (turns, cx, tools) = (
        Turns::new(world.store.clone()),
        world.cx(),
        world.now().await,
    );
    let bad = ModelMessage::calls([ToolCall::new("call_0", "ask", r#"{"question":7,"x":1}"#)]);
    let bad = turns.record(bad, &cx).await.unwrap();
    let Turn::Complete(results) = turns.run(&tools, &bad, &cx).await.unwrap() else {
        panic!()
    };
    assert!(results[0].is_of(ErrorKind::InvalidArguments));

    for (result, text) in [
        (
            answer("call_1", &json!({"color": 7})),
            "does not match the schema",
        ),
        (answer("call_1", &json!("red")), "does not match the schema"),
        (
            ClientResult::failed("call_1", "the user closed the window"),
            "closed the window",
        ),
    ] {
        let message = turns
            .record(ModelMessage::calls([question("call_1")]), &cx)
            .await
            .unwrap();
        let Turn::Client(calls) = turns.run(&tools, &message, &cx).await.unwrap() else {
            panic!()
        };
        assert_eq!(calls.len(), 1);
        let Turn::Complete(results) = turns.supply(&tools, [result], &cx).await.unwrap() else {
            panic!()
        };
        assert!(
            results[0].is_of(ErrorKind::Failed) && results[0].text.contains(text),
            "{results:?}"
        );
    }
}

// S3-08: a client's result for a call of the host or for an unknown call is refused, and nothing is stored.
#[tokio::test]
async fn result_for_a_call_of_the_host_is_refused() {
    let world = World::new();
    world.tool(client("ask")).await;
    let function = world.linked("send_mail").await;
    world.tool(NewTool::server("tell", &*function.id)).await;
    let (turns, cx, tools) = (
        Turns::new(world.store.clone()),
        world.cx(),
        world.now().await,
    );
    let mail = ToolCall::new("call_0", "tell", r#"{"to":"bob","copies":1}"#);
    turns
        .record(ModelMessage::calls([mail, question("call_1")]), &cx)
        .await
        .unwrap();
    for id in ["call_0", "call_9"] {
        let refused = turns
            .supply(&tools, [answer(id, &json!({"color": "red"}))], &cx)
            .await;
        assert!(
            matches!(&refused, Err(TurnError::NotForClient(call)) if call == id),
            "{refused:?}"
        );
    }
    // The first call waits for an approval, so the client's call is not sent yet, and its result is ignored.
    let turn = turns
        .supply(&tools, [answer("call_1", &json!({"color": "red"}))], &cx)
        .await
        .unwrap();
    assert!(matches!(turn, Turn::Waiting(_)), "{turn:?}");
    let thread = cx.thread().unwrap();
    let messages = ThreadStore::read(&world.store, &thread, None)
        .await
        .unwrap();
    assert_eq!(
        messages
            .iter()
            .filter(|message| message.role == Role::Tool)
            .count(),
        0
    );
}

// S3-15: a call of a client tool that requires a confirmation is sent after the approval, with the approved arguments.
#[tokio::test]
async fn client_tool_waits_for_its_confirmation() {
    let world = World::new();
    let mut tool = client("ask");
    tool.requires_confirmation = true;
    world.tool(tool).await;
    let (turns, cx, tools) = (
        Turns::new(world.store.clone()),
        world.cx(),
        world.now().await,
    );
    let message = turns
        .record(ModelMessage::calls([question("call_0")]), &cx)
        .await
        .unwrap();
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    // A result of the client before the approval is ignored.
    let turn = turns
        .supply(&tools, [answer("call_0", &json!({"color": "red"}))], &cx)
        .await
        .unwrap();
    assert!(matches!(turn, Turn::Waiting(_)), "{turn:?}");
    let edited = Reply::Edit(r#"{"question":"which one?"}"#.to_owned());
    let approvals = world.gate.approvals().unwrap();
    approvals
        .answer(
            &"acme".into(),
            &tools,
            &tickets[0].token,
            edited,
            "boss",
            None,
        )
        .await
        .unwrap();
    for _ in 0..2 {
        let Turn::Client(calls) = turns.run(&tools, &message, &cx).await.unwrap() else {
            panic!()
        };
        assert_eq!(calls[0].arguments, r#"{"question":"which one?"}"#);
    }
    let Turn::Complete(results) = turns
        .supply(&tools, [answer("call_0", &json!({"color": "red"}))], &cx)
        .await
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(results[0].text, r#"{"color":"red"}"#);
}

// S3-08: a client tool is unavailable outside of a turn, because no client can run the call.
#[tokio::test]
async fn client_tool_is_unavailable_outside_of_a_turn() {
    let world = World::new();
    world.tool(client("ask")).await;
    let result = world
        .call(&world.now().await, "ask", &json!({"question": "which?"}))
        .await;
    refused(&result, ErrorKind::Unavailable, "only `Turns`");
}

/// A clock that a test sets.
struct Clock {
    start: Instant,
    millis: AtomicI64,
}

impl Clock {
    fn set(&self, millis: i64) {
        self.millis.store(millis, Ordering::SeqCst);
    }
}

impl Env for Clock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Instant {
        let millis = self.millis.load(Ordering::SeqCst);
        self.start + Duration::from_millis(u64::try_from(millis).unwrap())
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        bytes.fill(7);
        Ok(())
    }

    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: Work) {
        work();
    }
}

// S3-24: the sweeper of the gate removes a deleted tool when its retention has ended.
#[tokio::test(start_paused = true)]
async fn sweeper_removes_deleted_tools_by_the_clock() {
    const DUE: i64 = 1_000 + 7 * 24 * 60 * 60 * 1_000;
    let clock = Arc::new(Clock {
        start: Instant::now(),
        millis: AtomicI64::new(1_000),
    });
    let _entered = env::enter(Arc::clone(&clock) as Arc<dyn Env>);
    let store = MemoryStore::default();
    let admin = editor(MemberRole::Admin);
    let mut settings = WorkspaceSettings::new("acme", Timestamp::now());
    settings.retention_tier = RetentionTier::Short;
    store.put_workspace(settings, &admin).await.unwrap();
    let edit = async |change| {
        store
            .edit(ToolEdit::new(admin.clone(), change, Timestamp::now()))
            .await
    };
    let tool = edit(ToolChange::CreateTool(Box::new(client("ask"))))
        .await
        .unwrap()
        .into_tool()
        .unwrap();
    let (id, expected) = (tool.id.clone(), None);
    edit(ToolChange::DeleteTool { id, expected }).await.unwrap();

    let sweeper = Sweeper::default()
        .every(Duration::from_mins(1))
        .stored_tools(store.clone());
    let gate = Gate::builder().sweeper(sweeper).build();
    let is_kept = async || {
        tokio::time::sleep(Duration::from_mins(3)).await;
        store
            .stored_tool(&"acme".into(), &tool.id)
            .await
            .unwrap()
            .is_some()
    };
    clock.set(DUE - 1_000);
    assert!(is_kept().await);
    // The sweeper purges once per hour.
    clock.set(DUE + 1_000 + 60 * 60 * 1_000);
    assert!(!is_kept().await);
    gate.drain(Duration::from_secs(1)).await;
}
