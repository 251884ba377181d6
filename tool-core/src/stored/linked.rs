//! The runner of functions that call linked tools.

use futures::future::BoxFuture;
use tool_schema::dialect::Dialect;

use super::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner};
use crate::call::ToolCall;
use crate::error::ToolError;
use crate::registry::Registry;
use crate::store::{
    Function, FunctionKind, FunctionVersion, NewFunctionVersion, StoreError, ToolSchema,
};
use crate::tool::ToolDef;
use crate::visibility::Rules;

/// Runs functions of the kind `linked`, which call tools of a registry.
///
/// The function makes a nested call of the linked tool, so the linked tool passes the gate under its own name: a deny rule or kill switch for the
/// linked tool also applies to every stored tool that calls it, and a call whose effect requires an approval requests one. Each of the two calls has an
/// audit row.
#[derive(Clone, Debug)]
pub struct LinkedRunner {
    registry: Registry,
    rules: Rules,
}

impl LinkedRunner {
    /// Creates a runner of the tools in a registry that the rules allow. The rules apply to the names of linked tools, not to the names of stored
    /// tools.
    pub fn new(registry: &Registry, rules: Rules) -> Self {
        Self {
            registry: registry.clone(),
            rules,
        }
    }

    /// Creates a version with the schemas of a linked tool. If the tool has no output schema, the output is a string. Fails with `Conflict` if the tool
    /// has no argument schema.
    pub fn version_of(tool: &ToolDef) -> Result<NewFunctionVersion, StoreError> {
        let input = ToolSchema::new(tool.schema(Dialect::JsonSchema))?;
        let output = match tool.output_schema() {
            Some(schema) => ToolSchema::new(schema)?,
            None => ToolSchema::new(r#"{"type":"string"}"#)?,
        };
        Ok(NewFunctionVersion::new(input, output))
    }

    /// Returns the linked tool, by its name or an alias, or the reason why functions cannot run it.
    fn tool(&self, name: &str) -> Result<&ToolDef, String> {
        let registry = &self.registry;
        let Some(tool) = registry.get(name).or_else(|| registry.get_by_alias(name)) else {
            return Err(format!(
                "the program has no tool `{name}`: name a linked tool"
            ));
        };
        if tool.is_harness() || tool.is_meta() || tool.is_client() {
            return Err(format!(
                "the host or the client runs the tool `{name}` itself, so no function can run it"
            ));
        }
        Ok(tool)
    }
}

impl FunctionRunner for LinkedRunner {
    fn facts(
        &self,
        function: &Function,
        _: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let FunctionKind::Linked { tool } = &function.kind else {
            return None;
        };
        Some(self.tool(tool).map(|tool| FunctionFacts {
            timeout: tool.timeout(),
            output_limit: tool.output_limit(),
            ..FunctionFacts::calling([tool])
        }))
    }

    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        let own = self.clone();
        Box::pin(async move {
            let FunctionCall {
                function,
                arguments,
                cx,
                ..
            } = call;
            let FunctionKind::Linked { tool } = &function.kind else {
                return Err(ToolError::new("the function is not a linked tool"));
            };
            let tools = own.registry.toolset(&cx, &own.rules.renewed());
            let name = own.tool(tool).map_or(tool.as_str(), ToolDef::wire_name);
            let call = ToolCall::new("linked", name, arguments.to_string());
            let result = tools.call(call, &cx).await;
            for citation in result.citations() {
                cx.cite(citation.clone());
            }
            let output = result.outcome.into_inner()?;
            Ok(FunctionOutput {
                payload: output.payload,
                model: output.model,
            })
        })
    }
}
