//! Tests of stored tools whose functions are TypeScript: files, calls of tools, effects, and errors.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use serde_json::{Value, json};
use tool_code::{Code, Limits, TypeScriptRunner};
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::stored::{SaveError, Saved, StoredTools};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Approvals, Audit, CancellationToken, ErrorKind, Gate, Reply, Rules};
use tool_isolate::Isolation;

use super::support::{Diary, builder, limits};

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> i64 {
    a.saturating_add(b)
}

/// Returns the workspace of the caller.
#[tool(read_only)]
fn tenant(cx: &ToolContext) -> String {
    cx.own_workspace().to_string()
}

/// Permission to write into the diary.
#[derive(Clone)]
struct Pen(Diary);

tool_core::host_value!(Pen, tool_core::Effect::WRITE);

/// Writes a line.
#[tool]
async fn note(
    pen: &Pen,
    /// The line.
    text: String,
) -> &'static str {
    pen.0.write(text);
    "noted"
}

/// Removes everything.
#[tool(destructive, open_world)]
async fn wipe() -> &'static str {
    "wiped"
}

/// Calls a service with a secret, which the service repeats in its error.
#[tool(read_only)]
async fn ask_service(#[secret("service_key")] key: SecretString) -> Result<String, ToolError> {
    use tool_core::ExposeSecret as _;
    Err(ToolError::new(format!(
        "`{}` was refused",
        key.expose_secret()
    )))
}

fn linked() -> Registry {
    Registry::builder()
        .tool::<add>()
        .tool::<tenant>()
        .tool::<note>()
        .tool::<wipe>()
        .tool::<ask_service>()
        .build()
        .unwrap()
}

fn runner(code: Code) -> TypeScriptRunner {
    TypeScriptRunner::new(code, &linked(), Rules::default())
}

struct World {
    tools: StoredTools,
    workspace: &'static str,
}

fn schema(value: &Value) -> ToolSchema {
    ToolSchema::new(value.to_string()).unwrap()
}

fn object(properties: &Value) -> ToolSchema {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    schema(&json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }))
}

/// Returns a version without arguments, whose output is any value.
fn version(files: &[(&str, &str)], uses: &[&str]) -> NewFunctionVersion {
    let mut version = NewFunctionVersion::new(object(&json!({})), schema(&json!({})));
    for (path, source) in files {
        version
            .files
            .insert((*path).to_owned(), (*source).to_owned());
    }
    version.uses = uses.iter().map(|name| (*name).to_owned()).collect();
    version
}

fn main_file(source: &str, uses: &[&str]) -> NewFunctionVersion {
    version(&[("main.ts", source)], uses)
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
    fn new() -> Self {
        Self::with(builder().build().unwrap())
    }

    fn with(code: Code) -> Self {
        let tools = StoredTools::new(MemoryStore::default()).runner(runner(code));
        let workspace = "acme";
        Self { tools, workspace }
    }

    async fn edit(&self, change: ToolChange) -> Result<Saved, SaveError> {
        let author = Editor::member(self.workspace, "olga", MemberRole::Author);
        let edit = ToolEdit::new(author, change, Timestamp::now());
        self.tools.edit(edit).await
    }

    async fn function(&self) -> Function {
        let kind = FunctionKind::TypeScript {
            entry: "main.ts".to_owned(),
        };
        let new = ToolChange::CreateFunction(NewFunction::new("go", kind));
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

    /// Publishes a version of a new function, and binds a new tool that runs the function.
    async fn offer(&self, name: &str, version: NewFunctionVersion) {
        let function = self.function().await;
        self.publish(&function.id, version).await;
        self.bind(NewTool::server(name, function.id)).await;
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

#[track_caller]
fn output(result: &CallResult) -> Value {
    let output = result.output();
    let output = output.unwrap_or_else(|| panic!("{}", result.model_text()));
    serde_json::from_str(output.get()).unwrap()
}

// S3-34: the files of a version import each other, receive the arguments unchanged and call the declared tools.
#[tokio::test]
async fn files_run_with_the_arguments_and_the_declared_tools() {
    let text = json!({"type": "string"});
    let mut version = version(
        &[
            (
                "main.ts",
                r#"
                import { sum } from "./lib/sum";
                import type { Row } from "./lib/types.ts";
                import { note } from "tools";
                enum Step { One = 1, Two }
                export default async function go(args: { text: string; numbers: number[] }): Promise<unknown> {
                    const row: Row = { total: await sum(args.numbers) };
                    console.log("the total is", row.total);
                    return { ...row, said: await note({ text: args.text }), step: Step.Two };
                }
                "#,
            ),
            (
                "lib/sum.ts",
                r#"
                import { zero } from "../zero.js";
                export async function sum(numbers: number[]): Promise<number> {
                    let total = zero;
                    for (const number of numbers) total = await tools.add({ a: total, b: number });
                    return total;
                }
                "#,
            ),
            ("lib/types.ts", "export type Row = { total: number };"),
            ("zero.js", "export const zero = 0;"),
            ("README.md", "This is not { code."),
        ],
        &["add", "note"],
    );
    version.input_schema =
        object(&json!({"text": text, "numbers": {"type": "array", "items": {"type": "integer"}}}));
    version.output_schema = schema(&json!({
        "type": "object",
        "properties": {"total": {"type": "integer"}, "said": text, "step": {"type": "integer"}},
        "required": ["total", "said", "step"], "additionalProperties": false,
    }));
    let world = World::new();
    world.offer("go", version).await;
    let diary = Diary::default();
    let cx = ToolContext::builder()
        .workspace("acme")
        .with(Pen(diary.clone()))
        .build();
    let odd = "\"'`${1}\\ \u{2028}\u{0} </script> é \u{1f600}";
    let result = world
        .call_in("go", json!({"text": odd, "numbers": [1, 2, 39]}), &cx)
        .await;
    assert_eq!(
        output(&result),
        json!({"total": 42, "said": "noted", "step": 2})
    );
    assert_eq!(diary.read(), [odd]);
}

// S3-34: a version is refused if a file does not compile, is too long or has a wrong import, if the entry has no default export, or if a declared
// tool is not linked. The error for a file contains its path, and the errors for syntax and imports contain the line.
#[tokio::test]
async fn compile_error_is_refused_with_its_place() {
    let world = World::new();
    let function = world.function().await;
    let good = "export default () => 1;";
    let late = "const a = 1;\nexport default () => { let b = ; };";
    let twice = "let a = 1;\nlet a = 2;\nexport default () => a;";
    let deep = format!("export default () => {};", "(".repeat(200_000));
    let import = |name: &str| format!("import x from \"{name}\";\n{good}");
    for (files, uses, pointer, parts) in [
        (
            vec![("main.ts", late.to_owned())],
            vec![],
            "/files/main.ts",
            ["main.ts, line 2, column 32", "SyntaxError"],
        ),
        (
            vec![
                ("main.ts", good.to_owned()),
                ("lib/a.ts", "\n\nexport const = 1;".to_owned()),
            ],
            vec![],
            "/files/lib~1a.ts",
            ["lib/a.ts, line 3, column", "SyntaxError"],
        ),
        (
            vec![("main.ts", twice.to_owned())],
            vec![],
            "/files/main.ts",
            ["line 2, column 5", "already been declared"],
        ),
        (
            vec![("main.ts", "export const a = 1;".to_owned())],
            vec![],
            "/files/main.ts",
            ["no default export", "export default"],
        ),
        (
            vec![("main.ts", import("./lib.ts"))],
            vec![],
            "/files/main.ts",
            ["line 1", "the file `lib.ts` does not exist"],
        ),
        (
            vec![("main.ts", import("../../etc/passwd"))],
            vec![],
            "/files/main.ts",
            ["line 1", "the relative path of a file"],
        ),
        (
            vec![("main.ts", import("/etc/passwd"))],
            vec![],
            "/files/main.ts",
            ["line 1", "the relative path of a file"],
        ),
        (
            vec![("main.ts", import(&format!("./{}", "n".repeat(100_000))))],
            vec![],
            "/files/main.ts",
            ["line 1", "does not exist"],
        ),
        (
            vec![("main.ts", import("node:fs"))],
            vec![],
            "/files/main.ts",
            ["line 1", "or one of `tools`"],
        ),
        (
            vec![("main.ts", good.to_owned())],
            vec!["add", "fly"],
            "/uses",
            ["has no tool `fly`", "write the name of a linked tool"],
        ),
        (
            vec![("main.ts", format!("{good}//{}", "x".repeat(300 << 10)))],
            vec![],
            "/files/main.ts",
            ["RangeError", "are allowed"],
        ),
        (
            vec![("main.ts", deep)],
            vec![],
            "/files/main.ts",
            ["Error", ""],
        ),
    ] {
        let files: Vec<_> = files
            .iter()
            .map(|(path, source)| (*path, source.as_str()))
            .collect();
        let faults = faults(world.create(&function.id, version(&files, &uses)).await);
        assert_eq!(faults[0].0, pointer, "{faults:?}");
        for part in parts {
            assert!(faults[0].1.contains(part), "{part}: {faults:?}");
        }
    }
    world
        .create(&function.id, main_file(good, &[]))
        .await
        .unwrap();
}

// S3-34: the effects of a function are the effects of the tools that it declares, and it cannot call other tools.
#[tokio::test]
async fn effects_and_calls_are_those_of_the_declared_tools() {
    let world = World::new();
    world
        .offer(
            "reads",
            main_file("export default () => tools.add({ a: 1, b: 2 });", &["add"]),
        )
        .await;
    world
        .offer(
            "writes",
            main_file(
                "export default () => tools.note({ text: 'x' });",
                &["add", "note"],
            ),
        )
        .await;
    world
        .offer(
            "wipes",
            main_file("export default () => 1;", &["add", "wipe"]),
        )
        .await;
    world
        .offer(
            "sneaks",
            main_file(
                "export default async () =>\n  await tools.wipe({});",
                &["add"],
            ),
        )
        .await;
    let tools = world.toolset().await;
    let hints = |name: &str| tools.get(name).unwrap().hints();
    assert!(hints("reads").read_only && !hints("reads").open_world);
    let note = linked().get("note").unwrap().hints();
    let writes = hints("writes");
    assert!(!writes.read_only);
    assert_eq!(
        (writes.destructive, writes.open_world),
        (note.destructive, note.open_world)
    );
    assert!(hints("wipes").destructive && hints("wipes").open_world && !hints("wipes").read_only);
    assert_eq!(output(&world.call("reads", json!({})).await), 3);
    let sneaks = world.call("sneaks", json!({})).await;
    failed(&sneaks, ErrorKind::Failed, "main.ts, line 2, column");
    failed(
        &sneaks,
        ErrorKind::Failed,
        "there is no tool `wipe`, the available tools are add",
    );
}

// S3-34: a tool that needs an approval requests the approval under its own name, and the function runs again after the approval.
#[tokio::test]
async fn tool_that_needs_an_approval_is_called_after_the_approval() {
    let world = World::new();
    let source =
        "export default async () => [await tools.note({ text: 'first' }), await tools.wipe({})];";
    world
        .offer("wipes", main_file(source, &["note", "wipe"]))
        .await;
    let store = MemoryStore::default();
    let approvals = Approvals::builder(store.clone()).build().unwrap();
    let gate = Gate::builder().approvals(approvals).ledger(store.clone());
    let gate = gate.audit(Audit::required(store.clone())).build();
    let tools = world.toolset().await.through(&gate);
    let (turns, diary) = (Turns::new(store), Diary::default());
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("main");
    let cx = cx.with(Pen(diary.clone())).build();
    let call = ModelMessage::calls([ToolCall::new("call_0", "wipes", "{}")]);
    let message = turns.record(call, &cx).await.unwrap();
    let mut asked = Vec::new();
    let results = loop {
        match turns.run(&tools, &message, &cx).await.unwrap() {
            Turn::Waiting(tickets) => {
                for ticket in tickets {
                    let (approvals, acme) = (gate.approvals().unwrap(), Workspace::new("acme"));
                    let linked = linked().open().through(&gate);
                    let answer = approvals.answer(
                        &acme,
                        &linked,
                        &ticket.token,
                        Reply::Approve,
                        "boss",
                        None,
                    );
                    answer.await.unwrap();
                    asked.push(ticket.tool.clone());
                }
            }
            Turn::Complete(results) => break results,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(results[0].text, r#"["noted","wiped"]"#);
    assert_eq!(asked.last().unwrap(), "wipe");
    assert_eq!(diary.read(), ["first"]);
}

// S3-34: a function cannot call a declared tool that a rule of the host hides, and the error contains the reason.
#[tokio::test]
async fn hidden_tool_is_not_available_to_code() {
    let rules = Rules::default().deny(["note"]);
    let runner = TypeScriptRunner::new(builder().build().unwrap(), &linked(), rules);
    let tools = StoredTools::new(MemoryStore::default()).runner(runner);
    let world = World {
        tools,
        workspace: "acme",
    };
    world
        .offer(
            "notes",
            main_file("export default () => tools.note({ text: 'x' });", &["note"]),
        )
        .await;
    failed(
        &world.call("notes", json!({})).await,
        ErrorKind::Unavailable,
        "`note` is hidden: ",
    );
}

// S3-12: if the returned value does not match the output schema, the result is an error.
#[tokio::test]
async fn returned_value_has_to_fit_the_output_schema() {
    let world = World::new();
    for (name, value) in [("text", "'seven'"), ("nothing", "undefined"), ("fits", "7")] {
        let mut version = main_file(&format!("export default () => {value};"), &[]);
        version.output_schema = schema(&json!({"type": "integer"}));
        world.offer(name, version).await;
    }
    failed(&world.call("text", json!({})).await, ErrorKind::Failed, "");
    failed(
        &world.call("nothing", json!({})).await,
        ErrorKind::Failed,
        "",
    );
    assert_eq!(output(&world.call("fits", json!({})).await), 7);
}

// S3-34: the error for an exception contains the file and the line in the author's code.
#[tokio::test]
async fn exception_names_its_file_and_line() {
    let world = World::new();
    let files = [
        (
            "main.ts",
            "import { fail } from './lib';\nexport default (): never => fail();",
        ),
        (
            "lib.ts",
            "type Text = string;\n\nexport function fail(): never {\n  throw new RangeError('too far');\n}",
        ),
    ];
    world.offer("fails", version(&files, &[])).await;
    world
        .offer("value", main_file("export default 7;", &[]))
        .await;
    let result = world.call("fails", json!({})).await;
    failed(
        &result,
        ErrorKind::Failed,
        "lib.ts, line 4, column 13: RangeError: too far",
    );
    failed(&result, ErrorKind::Failed, "main.ts:2:");
    failed(
        &world.call("value", json!({})).await,
        ErrorKind::Failed,
        "the default export of `main.ts` is not a function",
    );
}

// S3-09, S3-10: a pinned tool runs the files of its version, and a tool without a pin runs the files of the default version.
#[tokio::test]
async fn pinned_version_keeps_its_files() {
    let world = World::new();
    let function = world.function().await;
    let one = world
        .publish(&function.id, main_file("export default () => 'one';", &[]))
        .await;
    let mut pinned = NewTool::server("pinned", &*function.id);
    pinned.function_version = Some(one.id);
    world.bind(pinned).await;
    world.bind(NewTool::server("free", &*function.id)).await;
    world
        .publish(&function.id, main_file("export default () => 'two';", &[]))
        .await;
    assert_eq!(output(&world.call("pinned", json!({})).await), "one");
    assert_eq!(output(&world.call("free", json!({})).await), "two");
}

// S3-34: the code of a tenant calls tools as the tenant, and a different tenant cannot see the tool.
#[tokio::test]
async fn code_of_a_tenant_calls_tools_as_the_tenant() {
    let acme = World::new();
    let umbrella = World {
        tools: acme.tools.clone(),
        workspace: "umbrella",
    };
    let who = || main_file("export default () => tools.tenant({});", &["tenant"]);
    acme.offer("who", who()).await;
    assert_eq!(umbrella.toolset().await.names().count(), 0);
    umbrella.offer("who", who()).await;
    let (one, two) = futures::join!(acme.call("who", json!({})), umbrella.call("who", json!({})));
    assert_eq!(
        (output(&one), output(&two)),
        (json!("acme"), json!("umbrella"))
    );
}

// S3-34: a call that is cancelled, exceeds its deadline or exceeds the time limit of code ends, although its code runs in an endless loop.
#[tokio::test]
async fn cancelled_and_late_calls_end() {
    let endless = || main_file("export default () => { for (;;) {} };", &[]);
    let world = World::new();
    world.offer("endless", endless()).await;
    let cancel = CancellationToken::new();
    let cx = ToolContext::builder()
        .workspace("acme")
        .cancellation(cancel.clone())
        .build();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    };
    let (result, ()) = futures::join!(world.call_in("endless", json!({}), &cx), stop);
    failed(&result, ErrorKind::Cancelled, "");

    let deadline = Duration::from_millis(500);
    let cx = ToolContext::builder()
        .workspace("acme")
        .deadline(deadline)
        .build();
    failed(
        &world.call_in("endless", json!({}), &cx).await,
        ErrorKind::TimedOut,
        "",
    );

    let short = Limits {
        time: Duration::from_millis(500),
        ..limits()
    };
    let world = World::with(builder().limits(short).build().unwrap());
    world.offer("endless", endless()).await;
    failed(
        &world.call("endless", json!({})).await,
        ErrorKind::TimedOut,
        "exceeded its time limit",
    );
}

// S3-34: a secret in the error of a tool is redacted before the code receives the error.
#[tokio::test]
async fn secret_in_the_error_of_a_tool_is_redacted() {
    const SECRET: &str = "key-4711-of-acme";
    let world = World::new();
    let source = "export default async () => {
        try { await tools.ask_service({}); } catch (error) { console.log(error.message); throw new Error(error.message.split('').join('-') + error.message); }
    };";
    world
        .offer("asks", main_file(source, &["ask_service"]))
        .await;
    let cx = ToolContext::builder()
        .workspace("acme")
        .secret("service_key", SECRET)
        .build();
    let result = world.call_in("asks", json!({}), &cx).await;
    failed(&result, ErrorKind::Failed, "[secret:service_key]");
    let error = result.error().unwrap();
    for text in [error.model_text(), error.operator_text()] {
        assert!(!text.contains(SECRET), "{text}");
        assert!(!text.contains("4-7-1-1"), "{text}");
    }
}

// S3-34: without an engine, new versions are refused because they cannot be checked, and calls are refused.
#[tokio::test]
async fn missing_engine_is_a_clear_error() {
    let isolation = Isolation::new().helper("/nonexistent/engine");
    let broken = World::with(Code::builder().isolation(isolation).build().unwrap());
    let function = broken.function().await;
    let saved = broken
        .create(&function.id, main_file("export default () => 1;", &[]))
        .await;
    let faults = faults(saved);
    assert_eq!(faults[0].0, "/files/main.ts");
    assert!(faults[0].1.contains("the engine did not run"), "{faults:?}");

    // A host with an engine has saved the version in the same store.
    let store = MemoryStore::default();
    let tools = StoredTools::new(store.clone()).runner(runner(builder().build().unwrap()));
    let world = World {
        tools,
        workspace: "acme",
    };
    world
        .offer("one", main_file("export default () => 1;", &[]))
        .await;
    let isolation = Isolation::new().helper("/nonexistent/engine");
    let code = Code::builder().isolation(isolation).build().unwrap();
    let tools = StoredTools::new(store).runner(runner(code));
    let world = World {
        tools,
        workspace: "acme",
    };
    failed(
        &world.call("one", json!({})).await,
        ErrorKind::Unavailable,
        "the helper did not start the job",
    );
}
