//! The runner of stored tools whose functions are TypeScript.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use tool_core::store::{Function, FunctionKind, FunctionVersion};
use tool_core::stored::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner, ToolFault};
use tool_core::{ErrorKind, Registry, Rules, ToolContext, ToolDef, ToolError};

use crate::calls::Callable;
use crate::code::Code;
use crate::outcome::{CodeError, RunResult, Status};
use crate::process::GRACE;

/// Maximum time of the compilation when a version is saved.
const CHECK: Duration = Duration::from_secs(10);

/// Extensions of the files that are compiled and can be imported. The entry file may have a different extension.
const EXTENSIONS: [&str; 4] = [".ts", ".js", ".mts", ".mjs"];

/// Runs functions of the kind `type_script` in the engine of `run_code`.
///
/// The default export of the entry file is a function. It gets the arguments of the call as an object. Its result is the output of the tool and has
/// to match the output schema; if the function returns a promise, the value of the promise is the output. Files import each other by relative paths
/// (`import { total } from "./lib.ts"`). They import the modules that [`CodeBuilder::module`](crate::CodeBuilder::module) grants by name.
///
/// The code calls the tools in [`FunctionVersion::uses`] as `tools.name({…})`, in the same way as the code of `run_code`: every call passes the gate
/// under the name of the tool. The effects of the function are the effects of these tools. If a call needs an approval, the call of the function is
/// pending. After the approval, the function is called again, and the ledger returns the results of the calls that were made before. A tool that asks
/// a question while it runs gets an answer only if the host allows code to [wait](crate::CodeBuilder::waiting).
///
/// [`StoredTools::edit`](tool_core::stored::StoredTools::edit) compiles a new version in an engine process, and refuses it with the file, the line
/// and the message of the error.
///
/// ```standalone_crate
/// use tool_code::{Code, TypeScriptRunner};
/// use tool_core::prelude::*;
/// use tool_core::store::*;
/// use tool_core::stored::StoredTools;
/// use tool_core::{Registry, Rules};
///
/// /// Returns the price of an item in cents.
/// #[tool(read_only)]
/// fn price(
///     /// The number of the item.
///     item: u32,
/// ) -> u32 {
///     item * 100
/// }
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     tool_isolate::helper(); // the first line of a host: this binary is also the engine
///     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
///     runtime.block_on(async {
///         let linked = Registry::builder().tool::<price>().build()?;
///         let runner = TypeScriptRunner::new(Code::builder().build()?, &linked, Rules::default());
///         let tools = StoredTools::new(MemoryStore::default()).runner(runner);
///         let olga = Editor::member("acme", "olga", MemberRole::Author);
///         let save = async |change| tools.edit(ToolEdit::new(olga.clone(), change, Timestamp::now())).await;
///
///         let kind = FunctionKind::TypeScript { entry: "main.ts".to_owned() };
///         let function = save(ToolChange::CreateFunction(NewFunction::new("total", kind))).await?.edited.into_function().unwrap();
///         let items = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"integer"}}},"required":["items"],"additionalProperties":false}"#;
///         let mut version = NewFunctionVersion::new(ToolSchema::new(items)?, ToolSchema::new(r#"{"type":"integer"}"#)?);
///         version.uses = vec!["price".to_owned()];
///         version.files.insert("main.ts".to_owned(), r#"
///             export default async function total({ items }: { items: number[] }): Promise<number> {
///                 const prices = await Promise.all(items.map(item => tools.price({ item })));
///                 return prices.reduce((sum, price) => sum + price, 0);
///             }
///         "#.to_owned());
///         let version = ToolChange::CreateVersion { function: function.id.clone(), version };
///         let version = save(version).await?.edited.into_version().unwrap();
///         save(ToolChange::Publish { version: version.id }).await?;
///         let tool = save(ToolChange::CreateTool(Box::new(NewTool::server("total", function.id)))).await?.edited.into_tool().unwrap();
///         save(ToolChange::Bind { agent: "cashier".to_owned(), tool: tool.id }).await?;
///
///         let own = tools.of_agent(&Workspace::new("acme"), "cashier").await?;
///         let cx = ToolContext::builder().workspace("acme").build();
///         let result = own.registry.open().call(ToolCall::new("c-1", "total", r#"{"items":[1,2]}"#), &cx).await;
///         assert_eq!(result.model_text(), "300");
///         Ok(())
///     })
/// }
/// ```
#[derive(Clone, Debug)]
pub struct TypeScriptRunner {
    code: Code,
    registry: Registry,
    rules: Rules,
}

impl TypeScriptRunner {
    /// Creates a runner that runs functions with these settings. The functions can call the tools of `registry` that the rules allow.
    pub fn new(code: Code, registry: &Registry, rules: Rules) -> Self {
        Self {
            code,
            registry: registry.clone(),
            rules,
        }
    }

    /// Returns a tool that a function calls, or the reason why no function can call it.
    fn tool(&self, name: &str) -> Result<&ToolDef, ToolFault> {
        let fault = |text: String| ToolFault {
            pointer: "/uses".to_owned(),
            text,
        };
        let Some(tool) = self.registry.get(name) else {
            return Err(fault(format!(
                "the program has no tool `{name}`, write the name of a linked tool"
            )));
        };
        if tool.is_harness() || tool.is_meta() || tool.is_client() {
            return Err(fault(format!(
                "the host or the client runs the tool `{name}` itself, so no function can call it"
            )));
        }
        Ok(tool)
    }

    /// Returns the tools of a version, or the faults that prevent the version from running.
    fn tools(&self, version: &FunctionVersion) -> Result<Vec<&ToolDef>, Vec<ToolFault>> {
        let (mut tools, mut faults) = (Vec::new(), Vec::new());
        for name in &version.uses {
            match self.tool(name) {
                Ok(tool) => tools.push(tool),
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() {
            Ok(tools)
        } else {
            Err(faults)
        }
    }

    /// Compiles a version in an engine process.
    async fn compile(&self, version: &FunctionVersion, entry: &str) -> Vec<ToolFault> {
        if let Err(faults) = self.tools(version) {
            return faults;
        }
        let fault = |file: &str, text: String| ToolFault {
            pointer: format!("/files/{}", file.replace('~', "~0").replace('/', "~1")),
            text,
        };
        let Ok(none) = Registry::builder().build() else {
            return Vec::new();
        };
        let cx = ToolContext::anonymous();
        let callable = Callable::new(&none.open(), &cx, false);
        let run = self
            .code
            .start_with(String::new(), callable, &cx, Some(CHECK))
            .importing(files(version, entry))
            .only_check();
        match run.finish().await {
            Ok(RunResult { error: None, .. }) => Vec::new(),
            Ok(RunResult {
                error: Some(error),
                file,
                ..
            }) => {
                let file = file.as_deref().unwrap_or(entry);
                vec![fault(file, shown(&error, Some(file)))]
            }
            Err(error) => vec![fault(
                entry,
                format!(
                    "the code could not be compiled, because the engine did not run: {}",
                    error.operator_text()
                ),
            )],
        }
    }

    async fn call(self, call: FunctionCall) -> Result<FunctionOutput, ToolError> {
        let FunctionKind::TypeScript { entry } = &call.function.kind else {
            return Err(ToolError::new("the function is not TypeScript"));
        };
        let (version, cx) = (&call.version, &call.cx);
        let used = self.tools(version).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let text = "the tool is not set up correctly, so the call was not made";
            ToolError::of(ErrorKind::Unavailable, text).operator(faults.join("; "))
        })?;
        let names: Vec<&str> = used.iter().map(|tool| tool.wire_name()).collect();
        let rules = self.rules.renewed();
        let tools = self.registry.toolset(cx, &rules);
        let tools = tools.filter(|tool| names.contains(&tool.wire_name()));
        // A call that needs an approval ends the run as pending; the function runs again after the approval.
        let callable = Callable::new(&tools, cx, true);
        let callables = callable.names();
        let is_missing = |name: &&&str| !callables.iter().any(|own| own == **name);
        if let Some(name) = names.iter().find(is_missing) {
            let text = "a tool that the function calls is not available, so the call was not made";
            return Err(
                ToolError::of(ErrorKind::Unavailable, text).operator(format!(
                    "`{name}` is hidden: {}",
                    self.registry.toolset(cx, &rules).explain(name)
                )),
            );
        }
        let arguments = call.arguments.to_string();
        let most = self.code.limits().message;
        if arguments.len() > most {
            return Err(ToolError::new(format!(
                "the arguments have {} bytes, and {most} are allowed: send less",
                arguments.len()
            )));
        }
        let time = self.code.limits().time;
        let program = program(entry, &arguments);
        let run = self.code.start_with(program, callable, cx, None);
        let result = run.importing(files(version, entry)).finish().await?;
        let Some(error) = &result.error else {
            return FunctionOutput::new(&result.result);
        };
        let text = shown(error, result.file.as_deref());
        let is_late = result.duration >= time || cx.remaining().is_some_and(|left| left.is_zero());
        Err(match result.status {
            Status::Terminated if is_late => ToolError::of(ErrorKind::TimedOut, text),
            _ => ToolError::new(format!("the code of the tool failed: {text}")),
        }
        .operator(error.stack.clone().unwrap_or_default()))
    }
}

/// Returns the files of a version that are compiled, the entry point first.
fn files(version: &FunctionVersion, entry: &str) -> Vec<(String, String)> {
    let is_code = |path: &str| EXTENSIONS.iter().any(|end| path.ends_with(end));
    let others = version.files.iter();
    let others = others.filter(|(path, _)| *path != entry && is_code(path));
    version
        .files
        .get_key_value(entry)
        .into_iter()
        .chain(others)
        .map(|(path, source)| (path.clone(), source.clone()))
        .collect()
}

/// Returns the code that calls the function. `JSON.parse` gives every key of the arguments to the function, `__proto__` included.
fn program(entry: &str, arguments: &str) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    format!(
        "import main from {};\nif (typeof main !== 'function') throw new TypeError({});\nconst output = await main(JSON.parse({}));\nexport default output;\n",
        quoted(&format!("./{entry}")),
        quoted(&format!(
            "the default export of `{entry}` is not a function"
        )),
        quoted(arguments),
    )
}

/// Returns the text of an error, with its place in a file.
fn shown(error: &CodeError, file: Option<&str>) -> String {
    let CodeError { name, message, .. } = error;
    match (file, error.line) {
        (Some(file), Some(line)) => {
            let column = error.column.unwrap_or(1);
            format!("{file}, line {line}, column {column}: {name}: {message}")
        }
        _ => format!("{name}: {message}"),
    }
}

impl FunctionRunner for TypeScriptRunner {
    fn facts(
        &self,
        function: &Function,
        version: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let FunctionKind::TypeScript { .. } = &function.kind else {
            return None;
        };
        let facts = self.tools(version).map(|tools| {
            let mut facts = FunctionFacts::calling(tools);
            facts.timeout = Some(self.code.limits().time.saturating_add(GRACE * 4));
            facts
        });
        Some(facts.map_err(|faults| {
            let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
            texts.join("; ")
        }))
    }

    fn check<'a>(
        &'a self,
        function: &'a Function,
        version: &'a FunctionVersion,
    ) -> BoxFuture<'a, Vec<ToolFault>> {
        Box::pin(async move {
            match &function.kind {
                FunctionKind::TypeScript { entry } => self.compile(version, entry).await,
                _ => Vec::new(),
            }
        })
    }

    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        Box::pin(self.clone().call(call))
    }
}
