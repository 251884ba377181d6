//! One loop for every provider: sends definitions, reads calls from the streamed response, sends results.
//!
//! `cargo run --example wire` needs no network and no key, because this file contains the response that each provider would send.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tool_core::prelude::*;
use tool_wire::{ModelReply, Offer, Provider};

/// Returns the number of days until a date.
#[tool(read_only, example("The end of a year", { "date": "2026-12-31" }))]
pub fn days_until(
    /// The date, as in 2026-12-31.
    date: String,
) -> Result<u32, ToolError> {
    match date.as_str() {
        "2026-12-31" => Ok(39),
        _ => Err(ToolError::new("only the end of 2026 is known")),
    }
}

/// A request: the fields about tools, and the conversation under the provider's field name. A real request also has a model and other fields.
#[derive(Serialize)]
struct Request<'a> {
    #[serde(flatten)]
    offer: &'a Offer,
    #[serde(flatten)]
    conversation: HashMap<&'static str, &'a [Box<RawValue>]>,
}

impl<'a> Request<'a> {
    fn of(provider: Provider, offer: &'a Offer, messages: &'a [Box<RawValue>]) -> Self {
        let name = match provider {
            Provider::Responses => "input",
            Provider::Gemini => "contents",
            Provider::Chat | Provider::Anthropic | Provider::Bedrock => "messages",
        };
        Self {
            offer,
            conversation: HashMap::from([(name, messages)]),
        }
    }
}

/// Takes the place of a host's HTTP client, which sends the request and feeds the body of the response to the stream as it arrives.
fn post(
    provider: Provider,
    request: &str,
    step: usize,
) -> Result<ModelReply, Box<dyn std::error::Error>> {
    println!("  request {step}: {} bytes", request.len());
    let mut stream = provider.stream();
    for event in answer(provider, step) {
        if provider == Provider::Bedrock {
            // The SDK of Bedrock decodes the frames itself.
            stream.event(event)?;
        } else {
            // Chunks of a body may have any size.
            for piece in format!("data: {event}\n\n").as_bytes().chunks(20) {
                stream.feed(piece)?;
            }
        }
    }
    Ok(stream.finish()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for provider in Provider::ALL {
        println!("{provider}");
        runtime.block_on(converse(provider))?;
    }
    Ok(())
}

async fn converse(provider: Provider) -> Result<(), Box<dyn std::error::Error>> {
    let (tools, cx) = (toolset![days_until], ToolContext::anonymous());
    let offer = provider.offer(&tools)?; // fails if the provider would refuse the tools
    let mut messages = vec![provider.user("How long is it until the end of the year?")];
    for step in 1.. {
        let request = serde_json::to_string(&Request::of(provider, &offer, &messages))?;
        let reply = post(provider, &request, step)?;
        messages.extend(provider.assistant(reply.message()));
        if reply.calls().is_empty() {
            println!("  model: {} ({:?})", reply.text(), reply.stop());
            break;
        }
        let mut results = Vec::new();
        for call in reply.calls() {
            println!("  call: {} {}", call.name, call.arguments);
            results.push(tools.call(call.clone(), &cx).await);
        }
        let results = provider.results(reply.message(), &results)?;
        for message in &results.messages {
            println!("  result: {message}");
        }
        messages.extend(results.messages);
    }
    Ok(())
}

/// Returns the scripted replies of each provider: first a call, then a sentence.
fn answer(provider: Provider, step: usize) -> Vec<&'static str> {
    match (provider, step) {
        (Provider::Chat, 1) => vec![
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"days_until","arguments":"{\"date\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"2026-12-31\"}"}}]},"finish_reason":"tool_calls"}]}"#,
        ],
        (Provider::Chat, _) => {
            vec![r#"{"choices":[{"delta":{"content":"39 days."},"finish_reason":"stop"}]}"#]
        }
        (Provider::Responses, 1) => vec![
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"days_until","arguments":"{\"date\":\"2026-12-31\"}","status":"completed"}}"#,
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ],
        (Provider::Responses, _) => vec![
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"39 days."}]}}"#,
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ],
        (Provider::Anthropic, 1) => vec![
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"days_until","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"date\":\"2026-12-31\"}"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        ],
        (Provider::Anthropic, _) => vec![
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"39 days."}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        ],
        (Provider::Gemini, 1) => vec![
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"days_until","args":{"date":"2026-12-31"}}}]},"finishReason":"STOP"}]}"#,
        ],
        (Provider::Gemini, _) => vec![
            r#"{"candidates":[{"content":{"parts":[{"text":"39 days."}]},"finishReason":"STOP"}]}"#,
        ],
        (Provider::Bedrock, 1) => vec![
            r#"{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"days_until"}}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"date\":\"2026-12-31\"}"}}}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
            r#"{"messageStop":{"stopReason":"tool_use"}}"#,
        ],
        (Provider::Bedrock, _) => vec![
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"39 days."}}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
            r#"{"messageStop":{"stopReason":"end_turn"}}"#,
        ],
    }
}
