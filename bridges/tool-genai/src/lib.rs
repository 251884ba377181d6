//! Conversions between [`tool_core`] and [`genai`]: tool definitions, calls and results.
//!
//! [`tools`] returns the definitions for a request, [`message`] reads the response, and [`answers`] returns the messages for the next request.
//!
//! ```
//! use genai::chat::{ChatMessage, ChatRequest};
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
//! async fn ask(client: &genai::Client, tools: &Toolset) -> Result<String, Box<dyn std::error::Error>> {
//!     let mut request = ChatRequest::new(vec![ChatMessage::user("How warm is it in Rome?")])
//!         .with_tools(tool_genai::tools(tools, Dialect::Anthropic)?);
//!     loop {
//!         let response = client.exec_chat("claude-sonnet-4-5", request.clone(), None).await?;
//!         let message = tool_genai::message(&response);
//!         if message.calls.is_empty() || message.truncated {
//!             return Ok(message.text);
//!         }
//!         let mut results = Vec::new();
//!         for call in message.calls {
//!             results.push(tools.call(call, &ToolContext::anonymous()).await);
//!         }
//!         let reply = response.into_assistant_message_for_tool_use();
//!         request = request.append_messages(reply).append_messages(tool_genai::answers(&results));
//!     }
//! }
//! # fn main() {
//! # let _ = ask;
//! # let _ = toolset![temperature];
//! # }
//! ```
//!
//! genai parses the arguments of a call before this crate reads them: only one entry of a duplicate key is kept, and a fraction with more digits than
//! a double, or an integer beyond 64 bits, is rounded. Programs that must avoid this use `tool_wire`.
#![forbid(unsafe_code)]

use genai::chat::{ChatMessage, ChatResponse, StopReason as GenaiStop, Tool, ToolResponse};
use serde_json::Value;
use tool_core::turn::{ModelMessage, StopReason};
use tool_core::{CallResult, Dialect, ToolCall, Toolset};

/// Returns the definitions for a request's `tools`, in the dialect of the model's provider.
///
/// Use [`Dialect::OpenAi`], [`Dialect::Anthropic`] and [`Dialect::Gemini`] for these three providers, and [`Dialect::JsonSchema`] for the others.
/// Tools that are not offered to the provider are left out, see [`Toolset::left_out`]. An error means that the versions of this crate and tool-core
/// do not match.
pub fn tools(tools: &Toolset, dialect: Dialect) -> Result<Vec<Tool>, serde_json::Error> {
    let parts = tools.offered().filter_map(|tool| tool.parts(dialect));
    let tools = parts.map(|parts| {
        let tool = Tool::new(parts.name)
            .with_description(parts.description)
            .with_schema(serde_json::from_str(parts.parameters.get())?);
        Ok(match parts.strict {
            Some(strict) => tool.with_strict(strict),
            None => tool,
        })
    });
    tools.collect()
}

/// Returns the message of the model: all its text, its reasoning as text, and its calls.
///
/// A response counts as truncated if it ended because of its length, a filter, or a reason that genai does not support.
pub fn message(response: &ChatResponse) -> ModelMessage {
    let calls = response.tool_calls().into_iter().map(|call| {
        // Arguments that are not JSON arrive as a string, which is passed on so that the dispatcher refuses it.
        let arguments = match &call.fn_arguments {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        ToolCall::new(&call.call_id, &call.fn_name, arguments)
    });
    ModelMessage {
        text: response.texts().concat(),
        reasoning: response.reasoning_content.clone().unwrap_or_default(),
        calls: calls.collect(),
        truncated: matches!(
            response.stop_reason,
            Some(GenaiStop::MaxTokens(_) | GenaiStop::ContentFilter(_) | GenaiStop::Other(_))
        ),
        stop: response.stop_reason.as_ref().map(|reason| match reason {
            GenaiStop::Completed(_) | GenaiStop::StopSequence(_) => StopReason::End,
            GenaiStop::ToolCall(_) => StopReason::Calls,
            GenaiStop::MaxTokens(_) => StopReason::Length,
            GenaiStop::ContentFilter(_) => StopReason::Filtered,
            GenaiStop::Other(word) => StopReason::Other(word.clone()),
        }),
        ..ModelMessage::default()
    }
}

/// Returns the results for the model, in order, as messages that follow the message with the calls.
pub fn answers(results: &[CallResult]) -> Vec<ChatMessage> {
    let answers = results.iter().map(|result| {
        let answer =
            ToolResponse::new(result.id(), result.model_text()).with_fn_name(result.name());
        ChatMessage::from(answer)
    });
    answers.collect()
}
