//! The tools `run_code` and `describe_api`, built for one toolset.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tool_core::{
    Approval, DynamicTool, Effect, Registry, RegistryError, ToolContext, ToolDef, ToolError,
    Toolset, ToolsetError,
};

use crate::calls::Callable;
use crate::code::Code;
use crate::declare::declarations;
use crate::process::GRACE;

/// The reason why `run_code` cannot be added to a toolset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// The registry rejected one of the two tools.
    #[error(transparent)]
    Registry(RegistryError),
    /// The toolset already has a tool `run_code` or `describe_api`.
    #[error(transparent)]
    Toolset(ToolsetError),
}

/// The arguments of the tool `run_code`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunCode {
    code: String,
    timeout_ms: Option<u64>,
}

/// The arguments of the tool `describe_api`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribeApi {
    tools: Option<Vec<String>>,
}

impl Code {
    /// Returns a toolset with only `run_code` and `describe_api`: the model does not see the other tools, but its code can call
    /// the tools that are available to code.
    ///
    /// The gate, policy and rules of `tools` apply to `run_code` and to every call that the code makes.
    ///
    /// # Errors
    ///
    /// Fails if `tools` already has a tool with one of the two names, or if the registry rejects one of the two tools.
    ///
    /// ```
    /// use tool_code::Code;
    /// use tool_core::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only)]
    /// fn add(
    ///     /// The first number.
    ///     a: i32,
    ///     /// The second number.
    ///     b: i32,
    /// ) -> i64 {
    ///     i64::from(a) + i64::from(b)
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let code = Code::builder().build()?;
    /// let tools = code.instead_of(&toolset![add], &ToolContext::anonymous())?;
    /// assert!(tools.names().eq(["describe_api", "run_code"]));
    /// assert!(tools.get("run_code").unwrap().description().contains("  add(args: {"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn instead_of(&self, tools: &Toolset, cx: &ToolContext) -> Result<Toolset, OfferError> {
        let both = self.beside(tools, cx)?;
        Ok(both.filter(|def| ["run_code", "describe_api"].contains(&def.wire_name())))
    }

    /// Returns the tools together with `run_code` and `describe_api`.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`instead_of`](Self::instead_of).
    pub fn beside(&self, tools: &Toolset, cx: &ToolContext) -> Result<Toolset, OfferError> {
        let callable = Callable::new(tools, cx, self.0.waiting);
        let registry = Registry::builder()
            .dynamic(self.run_code(&callable))
            .dynamic(describe_api(&callable))
            .build()
            .map_err(OfferError::Registry)?;
        let own = registry.open().named("code");
        tools.clone().combine(&own).map_err(OfferError::Toolset)
    }

    fn run_code(&self, callable: &Callable) -> DynamicTool {
        let most = u64::try_from(self.limits().time.as_millis()).unwrap_or(u64::MAX);
        let schema = json!({
            "type": "object",
            "properties": {
                "code": {
                    "type": "string",
                    "description": "A module of JavaScript or TypeScript, or the body of an async function that returns its result.",
                },
                "timeout_ms": {
                    "type": ["integer", "null"],
                    "minimum": 1,
                    "maximum": most,
                    "description": "End the run after this many milliseconds; the longest time allowed if left out.",
                },
            },
            "required": ["code"],
            "additionalProperties": false,
        });
        let (code, own) = (self.clone(), callable.clone());
        let run = move |arguments: RunCode, cx: ToolContext| {
            let time = arguments.timeout_ms.map(Duration::from_millis);
            let run = code.start_with(arguments.code, own.clone(), &cx, time);
            run.finish()
        };
        let tool = DynamicTool::new("run_code", self.description(callable), schema, run)
            .title("Run code")
            .category("code")
            .output_schema(&result_schema())
            .timeout(self.limits().time.saturating_add(GRACE * 4))
            // The code itself has no effects, and each call that it makes passes the gate, so `run_code` needs no approval.
            .approval(Approval::Never)
            .only_calls();
        let all = |test: fn(&ToolDef) -> bool| callable.defs().all(test);
        if all(|def| def.hints().read_only) {
            let tool = tool.read_only();
            let closed = all(|def| !def.hints().open_world);
            return if closed { tool } else { tool.open_world() };
        }
        let effect = callable
            .defs()
            .fold(Effect::NONE, |all, def| all.union(def.effect()));
        // A tool without a declared effect is not read-only, and neither is `run_code` if it can call such a tool.
        let unstated = !effect.changes_state();
        tool.effect(if unstated {
            effect.beyond(Effect::READ)
        } else {
            effect
        })
    }

    fn description(&self, callable: &Callable) -> String {
        let limits = self.limits();
        let modules: Vec<String> = ["tools"]
            .into_iter()
            .chain(self.0.modules.iter().map(|(name, _)| name.as_str()))
            .map(|name| format!("`{name}`"))
            .collect();
        let mut text = format!(
            "Runs JavaScript or TypeScript and returns its result. Use it to call several tools at once, to process their outputs, \
             and to compute; a single call needs no code. Top-level `await` and `return` work. Tools are async functions of the global \
             `tools`: each takes one object, returns the tool's output as a value, and throws an error with `message` and `kind` if it \
             fails. `console.log(…)` and `report(value)` are returned with the result. There is no network, file, timer or host object; \
             `import` can load only {}. A run has {} seconds, {} MiB and {} calls.",
            modules.join(", "),
            limits.time.as_secs_f64(),
            limits.memory >> 20,
            limits.calls,
        );
        let api = declarations(callable.defs());
        if api.len() <= self.0.inline {
            let _ = write!(text, "\n\n```ts\n{api}```");
        } else {
            let names = callable.names().join(", ");
            // The hash covers the omitted declarations, so that pinning this description pins them too.
            let hash = Sha256::digest(api.as_bytes());
            let hash = hash.iter().take(8).fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            let _ = write!(
                text,
                "\n\nTools: {names}. Call `describe_api` for the types that you need (API {hash})."
            );
        }
        text.push_str(EXAMPLES);
        text
    }
}

/// Examples in the format that every tool definition uses.
const EXAMPLES: &str = concat!(
    "\n\nExamples:\n- Compute: ",
    r#"{"code":"const words = 'to be or not to be'.split(' ');\nreturn new Set(words).size;"}"#,
    "\n- Types, logs and a short time: ",
    r#"{"code":"type Row = { n: number };\nconst rows: Row[] = [1, 2, 3].map(n => ({ n }));\nconsole.log(rows.length);\nreturn rows.reduce((sum, row) => sum + row.n, 0);","timeout_ms":2000}"#,
);

/// Returns the JSON Schema of the output of `run_code`.
fn result_schema() -> serde_json::Value {
    let text = json!({"type": "string"});
    let place = json!({"type": "integer", "minimum": 1});
    json!({
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["success", "error", "memory", "link_error", "terminated"]},
            "result": {},
            "error": {
                "type": "object",
                "properties": {"name": text, "message": text, "line": place, "column": place, "stack": text},
                "required": ["name", "message"],
            },
            "reports": {"type": "array", "items": {}},
            "logs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"level": {"type": "string", "enum": ["debug", "info", "warn", "error"]}, "text": text},
                    "required": ["level", "text"],
                },
            },
            "logs_dropped": {"type": "integer", "minimum": 1},
            "duration_ms": {"type": "integer", "minimum": 0},
        },
        "required": ["status", "result", "reports", "logs", "duration_ms"],
    })
}

fn describe_api(callable: &Callable) -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "tools": {
                "type": ["array", "null"],
                "items": {"type": "string"},
                "description": "Names of tools; all of them if left out.",
            },
        },
        "required": [],
        "additionalProperties": false,
    });
    let description = concat!(
        "Returns the TypeScript declarations of the tools that code in `run_code` can call. Use it before writing code against a tool whose types \
         are not known yet.",
        "\n\nExamples:\n- Every tool: {}\n- Two of them: {\"tools\":[\"search_docs\",\"read_file\"]}",
    );
    let callable = callable.clone();
    let describe = move |arguments: DescribeApi, _: ToolContext| {
        let told = told(&callable, arguments.tools.as_deref());
        async move { told }
    };
    DynamicTool::new("describe_api", description, schema, describe)
        .title("Describe the API of code")
        .category("code")
        .read_only()
        .idempotent()
}

fn told(callable: &Callable, asked: Option<&[String]>) -> Result<String, ToolError> {
    let names = callable.names();
    let unknown: Vec<String> = asked
        .unwrap_or_default()
        .iter()
        .filter(|name| !names.contains(name))
        .map(|name| format!("`{name}`"))
        .collect();
    if !unknown.is_empty() {
        let callable = match names.as_slice() {
            [] => ": no tools are available to code here".to_owned(),
            names => format!(", only {}", names.join(", ")),
        };
        let unknown = unknown.join(", ");
        return Err(ToolError::new(format!(
            "code cannot call {unknown}{callable}"
        )));
    }
    let wanted = |name: &str| {
        asked.is_none_or(|asked| asked.is_empty() || asked.iter().any(|known| known == name))
    };
    Ok(declarations(
        callable.defs().filter(|def| wanted(def.wire_name())),
    ))
}
