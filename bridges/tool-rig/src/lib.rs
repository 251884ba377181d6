//! Conversions between [`tool_core`] and [`rig_core`]: tool definitions, calls and results.
//!
//! For a runtime of rig that runs tools itself, [`tools`] returns a `DynamicTool` for each tool; the toolset checks every call. A program that
//! sends its own completions uses [`definitions`] for the request, [`message`] for the response and [`answer`] for the next request.
//!
//! ```
//! use rig_core::completion::CompletionRequest;
//! use tool_core::prelude::*;
//!
//! /// Returns the temperature in a city, in degrees Celsius.
//! #[tool(read_only)]
//! fn temperature(
//!     /// The name of the city.
//!     city: String,
//! ) -> String {
//!     format!("{city}: 21")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = toolset![temperature];
//! let request = CompletionRequest::new("How warm is it in Rome?").tools(tool_rig::definitions(&tools, Dialect::OpenAi)?);
//! # let _ = request;
//!
//! let dynamic = tool_rig::tools(&tools, Dialect::OpenAi, &ToolContext::anonymous())?;
//! let output = dynamic[0].execute(serde_json::json!({"city": "Rome"})).await?;
//! assert_eq!(output.as_text(), Some("Rome: 21"));
//! # Ok(())
//! # }
//! ```
//!
//! rig parses the arguments of a call before this crate reads them: only one entry of a duplicate key is kept, and a fraction with more digits than a
//! double, or an integer beyond 64 bits, is rounded. Programs that must avoid this use `tool_wire`.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rig_core::completion::{
    AssistantContent, CompletionResponse, FinishReason, Message, ToolDefinition,
};
use rig_core::message::{CallId, ToolName, ToolResult, ToolResultContent};
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};
use serde_json::Value;
use tool_core::turn::{ModelMessage, StopReason};
use tool_core::{CallResult, Dialect, ErrorKind, ToolCall, ToolContext, Toolset};

/// Returns the definitions for a request's `tools`, in the dialect of the model's provider: [`Dialect::OpenAi`],
/// [`Dialect::Anthropic`], [`Dialect::Gemini`], and [`Dialect::JsonSchema`] for the others.
///
/// Tools that are not offered to the provider are left out, see [`Toolset::left_out`]. An error means that the versions of this crate and
/// tool-core do not match.
pub fn definitions(
    tools: &Toolset,
    dialect: Dialect,
) -> Result<Vec<ToolDefinition>, serde_json::Error> {
    let parts = tools.offered().filter_map(|tool| tool.parts(dialect));
    let definitions = parts.map(|parts| {
        let parameters = serde_json::from_str(parts.parameters.get())?;
        let name = ToolName::new(parts.name).map_err(serde::de::Error::custom)?;
        Ok(ToolDefinition::new(name, parts.description, parameters))
    });
    definitions.collect()
}

/// Returns the tools for rig's runtime. The toolset makes each call, with a clone of `cx`.
///
/// rig does not pass the id of a call to its tool, so each call gets a new id that is unique in this process. A host with an effect ledger passes a
/// context with a new turn for each turn of rig.
pub fn tools(
    tools: &Toolset,
    dialect: Dialect,
    cx: &ToolContext,
) -> Result<Vec<DynamicTool>, serde_json::Error> {
    let definitions = definitions(tools, dialect)?.into_iter();
    let shared = Arc::new((tools.clone(), cx.clone()));
    let dynamic = definitions.map(|definition| {
        let (shared, name) = (Arc::clone(&shared), definition.name.to_string());
        DynamicTool::new(
            definition.name,
            definition.description,
            definition.parameters,
            move |arguments| {
                let call = ToolCall::new(id(), &name, arguments.to_string());
                let shared = Arc::clone(&shared);
                Box::pin(async move {
                    let (tools, cx) = &*shared;
                    outcome(&tools.call(call, cx).await)
                })
            },
        )
    });
    Ok(dynamic.collect())
}

/// Returns a call id that is unique in this process.
fn id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    format!("rig-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Converts a result for rig's runtime: the text for the model, and the kind of error for operators.
///
/// # Errors
///
/// Returns the error of the call, with separate texts for the model and the operator. A call that the gate denied is a refusal.
pub fn outcome(result: &CallResult) -> Result<ToolOutput, ToolExecutionError> {
    let Some(error) = result.error() else {
        return Ok(ToolOutput::text(result.model_text()));
    };
    let kind = match error.kind() {
        ErrorKind::InvalidArguments => ToolErrorKind::InvalidArgs,
        ErrorKind::TimedOut => ToolErrorKind::Timeout,
        ErrorKind::Cancelled => ToolErrorKind::Cancelled,
        ErrorKind::UnknownTool => ToolErrorKind::NotFound,
        ErrorKind::Pending => ToolErrorKind::PermissionDenied,
        ErrorKind::RateLimited => ToolErrorKind::RateLimited,
        _ => ToolErrorKind::Other,
    };
    let told = match error.kind() {
        ErrorKind::Denied => ToolExecutionError::refused(error.operator_text()),
        _ => ToolExecutionError::new(kind, error.operator_text()),
    };
    Err(told.with_model_feedback(result.model_text()))
}

/// Returns the message of the model: all its text, its reasoning as text, and its calls.
///
/// A response counts as truncated if it ended because of its length, a filter, an error, an abort, or a reason that rig does not support.
pub fn message(response: &CompletionResponse) -> ModelMessage {
    let mut message = ModelMessage {
        truncated: response.error.is_some()
            || response.aborted.is_some()
            || matches!(
                response.finish_reason(),
                Some(FinishReason::Length | FinishReason::ContentFilter | FinishReason::Other(_))
            ),
        stop: response.finish_reason().map(|reason| match reason {
            FinishReason::Stop => StopReason::End,
            FinishReason::ToolCalls => StopReason::Calls,
            FinishReason::Length => StopReason::Length,
            FinishReason::ContentFilter => StopReason::Filtered,
            FinishReason::Other(word) => StopReason::Other(word.clone()),
            other => StopReason::Other(format!("{other:?}")),
        }),
        ..ModelMessage::default()
    };
    let mut reasoning = Vec::new();
    for part in &response.choice {
        match part {
            AssistantContent::Reasoning(part) if !part.redacted => reasoning.push(&*part.text),
            AssistantContent::Text(text) => message.text.push_str(&text.text),
            AssistantContent::ToolCall(call) => {
                // Arguments that are not an object are passed on unchanged, so that the dispatcher refuses them.
                let function = &call.function;
                let arguments = function.invalid_arguments.clone();
                let arguments = arguments
                    .unwrap_or_else(|| Value::Object(function.arguments.clone()).to_string());
                let id = call.id.wire();
                message
                    .calls
                    .push(ToolCall::new(id, function.name.as_str(), arguments));
            }
            _ => {}
        }
    }
    message.reasoning = reasoning.join("\n\n");
    message
}

/// Returns the results for the model, in order, as one message that follows the message with the calls.
///
/// Returns `None` if no result is left. A result with an empty name, which no provider sends, is left out.
pub fn answer(results: &[CallResult]) -> Option<Message> {
    let results: Vec<ToolResult> = results
        .iter()
        .filter_map(|result| {
            Some(ToolResult {
                call: CallId::from_wire(result.id()),
                name: ToolName::new(result.name()).ok()?,
                content: vec![ToolResultContent::text(result.model_text())],
                is_error: result.is_error(),
            })
        })
        .collect();
    (!results.is_empty()).then(|| Message::tool_results(results))
}
