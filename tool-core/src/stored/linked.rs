//! The runner of functions that are linked tools.

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

/// Runs functions of the kind `linked`: tools of a registry.
///
/// The function makes a nested call of the linked tool, so the linked tool passes the gate under its own name: a deny rule or a kill switch for it also
/// holds for every stored tool that runs it, and a call that needs an approval by its effect asks for it. The audit has a row for each of the two.
#[derive(Clone, Debug)]
pub struct LinkedRunner {
    registry: Registry,
    rules: Rules,
}

impl LinkedRunner {
    /// Runs the tools of a registry that the rules allow. The rules apply to the names of the linked tools, and not to those of stored tools.
    pub fn new(registry: &Registry, rules: Rules) -> Self {
        Self {
            registry: registry.clone(),
            rules,
        }
    }

    /// A version with the schemas of a linked tool. A tool without an output schema may return any text. Fails with `Conflict` if the tool has no
    /// schema of arguments.
    pub fn version_of(tool: &ToolDef) -> Result<NewFunctionVersion, StoreError> {
        let input = ToolSchema::new(tool.schema(Dialect::JsonSchema))?;
        let output = match tool.output_schema() {
            Some(schema) => ToolSchema::new(schema)?,
            None => ToolSchema::new(r#"{"type":"string"}"#)?,
        };
        Ok(NewFunctionVersion::new(input, output))
    }

    /// Returns the tool of a function, or why it cannot run.
    fn tool(&self, name: &str) -> Result<&ToolDef, String> {
        let Some(tool) = self.registry.get(name) else {
            return Err(format!(
                "the program has no tool `{name}`, name a linked tool"
            ));
        };
        if tool.is_harness() || tool.is_meta() || tool.is_client() {
            return Err(format!(
                "the tool `{name}` is part of the host, so no function can run it"
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
            let tools = own.registry.toolset(&cx, &own.rules);
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
