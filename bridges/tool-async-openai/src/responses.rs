//! Conversions to and from the types of the Responses API.

use async_openai::types::responses::{
    FunctionCallOutput, FunctionCallOutputItemParam, FunctionTool, InputItem, Item, OutputItem,
    OutputMessageContent, ReasoningItemContent, Response, Status, SummaryPart, Tool,
};
use serde::Deserialize;
use tool_core::turn::{ModelMessage, StopReason};
use tool_core::{CallResult, ToolCall, Toolset};

#[derive(Deserialize)]
struct Definition {
    function: FunctionTool,
}

/// Returns the definitions for a request's `tools`. Tools that are not offered to OpenAI are left out, see
/// [`Toolset::left_out`].
///
/// An error means that the versions of this crate and tool-core do not match.
pub fn tools(tools: &Toolset) -> Result<Vec<Tool>, serde_json::Error> {
    let definitions = super::offered(tools).map(|definition| {
        let Definition { function } = serde_json::from_str(definition)?;
        Ok(Tool::Function(function))
    });
    definitions.collect()
}

/// Returns the message of the model: all its text, its reasoning as text, and its function calls.
///
/// A response that is not completed counts as truncated.
pub fn message(response: &Response) -> ModelMessage {
    let mut message = ModelMessage {
        truncated: response.status != Status::Completed,
        stop: stop(response),
        ..ModelMessage::default()
    };
    let mut reasoning = Vec::new();
    for item in &response.output {
        match item {
            OutputItem::Reasoning(item) => {
                for SummaryPart::SummaryText(part) in &item.summary {
                    reasoning.push(&*part.text);
                }
                for ReasoningItemContent::ReasoningText(part) in item.content.iter().flatten() {
                    reasoning.push(&*part.text);
                }
            }
            OutputItem::FunctionCall(call) => {
                message
                    .calls
                    .push(ToolCall::new(&call.call_id, &call.name, &call.arguments));
            }
            OutputItem::Message(said) => {
                for part in &said.content {
                    if let OutputMessageContent::OutputText(part) = part {
                        message.text.push_str(&part.text);
                    }
                }
            }
            _ => {}
        }
    }
    message.reasoning = reasoning.join("\n\n");
    message
}

/// Returns the reason why the model stopped. A response that failed or is still in progress has no stop reason, only
/// [`ModelMessage::truncated`].
fn stop(response: &Response) -> Option<StopReason> {
    match response.status {
        Status::Completed => Some(StopReason::End),
        Status::Incomplete => {
            let details = response.incomplete_details.as_ref();
            Some(match details.map(|details| &*details.reason) {
                Some("max_output_tokens") | None => StopReason::Length,
                Some("content_filter") => StopReason::Filtered,
                Some(other) => StopReason::Other(other.to_owned()),
            })
        }
        _ => None,
    }
}

/// Returns the results for the model, in order, for the next request's `input`.
pub fn answers(results: &[CallResult]) -> Vec<InputItem> {
    let answers = results.iter().map(|result| {
        InputItem::Item(Item::FunctionCallOutput(FunctionCallOutputItemParam {
            call_id: Some(result.id().to_owned()),
            output: FunctionCallOutput::Text(result.model_text()),
            id: None,
            status: None,
            name: None,
            namespace: None,
            caller: None,
        }))
    });
    answers.collect()
}
