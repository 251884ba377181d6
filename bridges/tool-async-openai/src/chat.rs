//! Conversions to and from the types of the Chat Completions API.

use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestToolMessageContent, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionResponse, FinishReason, FunctionObject,
};
use serde::Deserialize;
use tool_core::store::Usage;
use tool_core::turn::{ModelMessage, StopReason};
use tool_core::{CallResult, ToolCall, Toolset};

#[derive(Deserialize)]
struct Definition {
    function: FunctionObject,
}

/// Returns the definitions for a request's `tools`. Tools that are not offered to OpenAI are left out, see
/// [`Toolset::left_out`].
///
/// An error means that the versions of this crate and tool-core do not match.
pub fn tools(tools: &Toolset) -> Result<Vec<ChatCompletionTools>, serde_json::Error> {
    let definitions = super::offered(tools).map(|definition| {
        let Definition { function } = serde_json::from_str(definition)?;
        Ok(ChatCompletionTools::Function(ChatCompletionTool {
            function,
        }))
    });
    definitions.collect()
}

/// Returns the message of the model in the first choice.
///
/// The message is empty if the response has no choices. A choice that ended because of its length or a content filter
/// counts as truncated. Calls of custom tools, which take text instead of JSON, are left out, because tool-core has no
/// such tools.
pub fn message(response: &CreateChatCompletionResponse) -> ModelMessage {
    let Some(choice) = response.choices.first() else {
        return ModelMessage::default();
    };
    let calls = choice.message.tool_calls.iter().flatten();
    let calls = calls.filter_map(|call| match call {
        ChatCompletionMessageToolCalls::Function(call) => Some(ToolCall::new(
            &call.id,
            &call.function.name,
            &call.function.arguments,
        )),
        ChatCompletionMessageToolCalls::Custom(_) => None,
    });
    ModelMessage {
        text: choice.message.content.clone().unwrap_or_default(),
        calls: calls.collect(),
        truncated: matches!(
            choice.finish_reason,
            Some(FinishReason::Length | FinishReason::ContentFilter)
        ),
        stop: choice.finish_reason.map(|reason| match reason {
            FinishReason::Stop => StopReason::End,
            FinishReason::Length => StopReason::Length,
            FinishReason::ContentFilter => StopReason::Filtered,
            FinishReason::ToolCalls | FinishReason::FunctionCall => StopReason::Calls,
        }),
        usage: response.usage.as_ref().map(|usage| Usage {
            input_tokens: usage.prompt_tokens.into(),
            cache_read_tokens: usage
                .prompt_tokens_details
                .as_ref()
                .and_then(|details| details.cached_tokens)
                .map(u64::from),
            output_tokens: usage.completion_tokens.into(),
            reasoning_tokens: usage
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens)
                .map(u64::from),
            ..Usage::default()
        }),
        ..ModelMessage::default()
    }
}

/// Returns the results for the model, in order, as messages that follow the message with the calls.
pub fn answers(results: &[CallResult]) -> Vec<ChatCompletionRequestMessage> {
    let answers = results.iter().map(|result| {
        ChatCompletionRequestMessage::Tool(ChatCompletionRequestToolMessage {
            content: ChatCompletionRequestToolMessageContent::Text(result.model_text()),
            tool_call_id: result.id().to_owned(),
        })
    });
    answers.collect()
}
