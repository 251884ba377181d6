//! OpenAI Responses API: replies, streamed events and items of a request.

use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::store::Usage;
use tool_core::turn::ModelMessage;

use super::chat::{named, reported};
use super::file::{Bytes, File, Piece, piece};
use super::json::{Node, Object, json, with_key};
use super::reply::{Draft, Reading, Reasoning, call_id};
use super::results::{ToolResult, View};
use super::{Delta, ModelReply, Provider, RequestMessages, StopReason, WireError};

const RESPONSES: Provider = Provider::Responses;

pub(super) fn reply(body: &str) -> Result<ModelReply, WireError> {
    let mut streamed = Streamed::default();
    streamed.ended(&Node::read(RESPONSES, body)?.object()?)?;
    streamed.close()
}

/// An item of the output that is being read.
#[derive(Debug)]
struct Item {
    index: u64,
    /// The latest JSON of the item: from the event that began it or, once the item is complete, from the event that completed it.
    raw: Box<RawValue>,
    whole: bool,
    call: Option<Called>,
    text: String,
    /// Whether the item's reasoning has streamed, so that the completed item adds no reasoning.
    reasoned: bool,
}

/// The function call of an item.
#[derive(Debug)]
struct Called {
    id: String,
    /// Whether the JSON of the item lacks this id.
    made: bool,
    name: String,
    arguments: String,
}

/// The part of a reply that has been read.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    items: Vec<Item>,
    reasoning: Reasoning,
    /// The part of an item that the latest reasoning belongs to: number of the item, key and number of the part.
    thinking: Option<(u64, &'static str, u64)>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    refused: bool,
}

impl Streamed {
    /// Reads a complete response, from the body or from the last event.
    fn ended(&mut self, response: &Object<'_>) -> Result<(), WireError> {
        // A response that failed has used tokens too.
        self.usage = response.inner("usage").map(|usage| {
            let input = usage.inner("input_tokens_details");
            let input = |key| input.as_ref().and_then(|details| details.count(key));
            let output = usage.inner("output_tokens_details");
            Usage {
                input_tokens: usage.count("input_tokens").unwrap_or_default(),
                cache_read_tokens: input("cached_tokens"),
                cache_write_5m_tokens: input("cache_write_tokens"),
                output_tokens: usage.count("output_tokens").unwrap_or_default(),
                reasoning_tokens: output.and_then(|details| details.count("reasoning_tokens")),
                ..Usage::default()
            }
        });
        reported(RESPONSES, response)?;
        let status = response.required("status")?;
        self.stop = Some(match &*status.text()? {
            "completed" => StopReason::End,
            "incomplete" => {
                let details = response.get("incomplete_details");
                let details = details.map(|details| details.object()).transpose()?;
                let reason = details.map(|details| details.text_if_any("reason"));
                match reason.transpose()?.flatten().as_deref() {
                    Some("max_output_tokens") | None => StopReason::Length,
                    Some("content_filter") => StopReason::Filtered,
                    Some(other) => StopReason::Other(other.to_owned()),
                }
            }
            "failed" => {
                return Err(WireError::Reported {
                    provider: RESPONSES,
                    kind: "failed".to_owned(),
                    code: None,
                    message: String::new(),
                });
            }
            // The request was made with `background`, or was cancelled.
            other => StopReason::Other(other.to_owned()),
        });
        // Streamed items have been read already.
        if self.items.is_empty()
            && let Some(output) = response.get("output")
        {
            for (index, item) in output.array()?.iter().enumerate() {
                self.item(index as u64, item, true, &mut Vec::new())?;
            }
        }
        Ok(())
    }

    /// Reads the JSON of an item, which is sent when the item begins, and again when it is complete.
    fn item(
        &mut self,
        index: u64,
        node: &Node<'_>,
        done: bool,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), WireError> {
        let object = node.object()?;
        let mut item = Item {
            index,
            raw: node.raw().to_owned(),
            whole: done && object.text_if_any("status")?.as_deref() != Some("incomplete"),
            call: None,
            text: String::new(),
            reasoned: false,
        };
        let known = self.items.iter().find(|known| known.index == index);
        let reasoned = known.is_some_and(|known| known.reasoned);
        match &*object.text("type")? {
            "function_call" => {
                let (id, made) = self.call_id(index, object.text_if_any("call_id")?);
                item.call = Some(Called {
                    id,
                    made,
                    name: object.text("name")?,
                    arguments: object.text_if_any("arguments")?.unwrap_or_default(),
                });
            }
            "message" => {
                if let Some(content) = object.get("content") {
                    let refused;
                    (item.text, refused) = text_of(&content)?;
                    self.refused |= refused;
                }
            }
            "reasoning" if done && !reasoned => {
                item.reasoned = true;
                for key in ["summary", "content"] {
                    let parts = object.get(key).and_then(|parts| parts.array().ok());
                    for (at, part) in (0..).zip(parts.unwrap_or_default()) {
                        let piece = part.object()?.text_if_any("text")?;
                        self.think((index, key, at), &piece.unwrap_or_default(), deltas);
                    }
                }
            }
            "reasoning" => item.reasoned = reasoned,
            "custom_tool_call" => {
                let kind = object.required("type")?;
                return Err(kind.wrong("`function_call`, as no other kind of tool was offered"));
            }
            // Items of tools that the provider runs itself are sent back unchanged, like reasoning.
            _ => {}
        }
        let known = self.items.iter_mut().find(|known| known.index == index);
        if known.is_none()
            && let Some(call) = &item.call
        {
            deltas.push(Delta::Call {
                id: call.id.clone(),
                name: call.name.clone(),
            });
        }
        match known {
            Some(known) => *known = item,
            None => self.items.push(item),
        }
        Ok(())
    }

    /// Returns the id of an item's call, and whether the item lacks this id. The id of a call remains the same until its item is complete.
    fn call_id(&self, index: u64, given: Option<String>) -> (String, bool) {
        let given = given.filter(|id| !id.trim().is_empty());
        let known = self.items.iter().find(|item| item.index == index);
        if let Some(known) = known.and_then(|item| item.call.as_ref())
            && (known.made || given.is_none())
        {
            return (known.id.clone(), true);
        }
        let made = given.is_none();
        let earlier = || {
            self.items
                .iter()
                .filter_map(|item| Some(&*item.call.as_ref()?.id))
        };
        (call_id(given, earlier), made)
    }

    /// Adds a piece of reasoning in a part of an item. Each part is a block.
    fn think(&mut self, part: (u64, &'static str, u64), piece: &str, deltas: &mut Vec<Delta>) {
        if self.thinking.replace(part) != Some(part) {
            self.reasoning.end();
        }
        self.reasoning.push(piece, deltas);
    }

    fn open(&mut self, event: &Object<'_>) -> Result<&mut Item, WireError> {
        let index = event.required("output_index")?;
        let number = index.number()?;
        self.items
            .iter_mut()
            .find(|item| item.index == number)
            .ok_or_else(|| index.wrong("the number of an item that has begun"))
    }

    fn close(mut self) -> Result<ModelReply, WireError> {
        self.items.sort_by_key(|item| item.index);
        let mut draft = Draft::new(RESPONSES);
        let mut written = Vec::new();
        for item in self.items {
            if !item.whole {
                draft.broken();
            }
            draft.text(&item.text);
            match item.call {
                // An incomplete call is written again, with the arguments that were received.
                Some(call) if !item.whole => {
                    written.push(json(&FunctionCall::of(
                        &call.id,
                        &call.name,
                        &call.arguments,
                    )));
                    draft.call(call.id, call.name, call.arguments);
                }
                Some(call) => {
                    // The result has the id of the call, so the item must have it as well.
                    written.push(if call.made {
                        with_key(&item.raw, "call_id", json(&call.id))
                    } else {
                        item.raw
                    });
                    draft.call(call.id, call.name, call.arguments);
                }
                None if item.whole => written.push(item.raw),
                None => {}
            }
        }
        draft.written(&written);
        draft.reasoning(self.reasoning);
        draft.used(self.usage);
        draft.close(match self.stop {
            None => StopReason::Cut,
            Some(StopReason::End) if self.refused => StopReason::Filtered,
            Some(stop) => stop,
        })
    }
}

/// Returns the text of a message's parts, and whether the model refused.
fn text_of(content: &Node<'_>) -> Result<(String, bool), WireError> {
    let (mut text, mut refused) = (String::new(), false);
    for part in content.array()? {
        let part = part.object()?;
        match &*part.text("type")? {
            "output_text" => text.push_str(&part.text("text")?),
            "refusal" => {
                text.push_str(&part.text("refusal")?);
                refused = true;
            }
            _ => {}
        }
    }
    Ok((text, refused))
}

impl Reading for Streamed {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = Node::read(RESPONSES, data)?.object()?;
        // The API sends `error` events also with the fields in `error`, and some servers send them without a type.
        reported(RESPONSES, &event)?;
        match &*event.text("type")? {
            kind @ ("response.output_item.added" | "response.output_item.done") => {
                let index = event.required("output_index")?.number()?;
                let done = kind == "response.output_item.done";
                self.item(index, &event.required("item")?, done, deltas)?;
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let piece = event.text("delta")?;
                self.open(&event)?.text.push_str(&piece);
                deltas.push(Delta::Text(piece));
            }
            kind @ ("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                let (key, number) = match kind {
                    "response.reasoning_text.delta" => ("content", "content_index"),
                    _ => ("summary", "summary_index"),
                };
                // Reasoning is only displayed, so an event that lacks an index must not make the reply fail.
                let index = event.count("output_index").unwrap_or_default();
                let piece = event.text_if_any("delta")?.unwrap_or_default();
                if let Ok(item) = self.open(&event) {
                    item.reasoned = true;
                }
                let number = event.count(number).unwrap_or_default();
                self.think((index, key, number), &piece, deltas);
            }
            "response.function_call_arguments.delta" => {
                let text = event.text("delta")?;
                let index = event.required("output_index")?;
                let Some(call) = &mut self.open(&event)?.call else {
                    return Err(index.wrong("the number of a call"));
                };
                call.arguments.push_str(&text);
                let id = call.id.clone();
                deltas.push(Delta::Arguments { id, text });
            }
            "response.function_call_arguments.done" => {
                let whole = event.text("arguments")?;
                let index = event.required("output_index")?;
                let Some(call) = &mut self.open(&event)?.call else {
                    return Err(index.wrong("the number of a call"));
                };
                call.arguments = whole;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.ended(&event.required("response")?.object()?)?;
            }
            // As documented, with the fields at the top level.
            "error" => return Err(named(RESPONSES, &event, &["code"])),
            // Ignores all other events, such as progress of tools that the provider runs itself, and annotations: the items contain both.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage.filter(Usage::is_measured)
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, WireError> {
        self.close()
    }
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    r#type: &'static str,
    call_id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

impl<'a> FunctionCall<'a> {
    fn of(call_id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        Self {
            r#type: "function_call",
            call_id,
            name,
            arguments,
        }
    }
}

pub(super) fn assistant(message: &ModelMessage) -> Vec<Box<RawValue>> {
    let mut items = Vec::new();
    if !message.text.is_empty() || message.calls.is_empty() {
        let text = serde_json::json!({"role": "assistant", "content": message.text});
        items.push(json(&text));
    }
    let calls = message.calls.iter();
    items.extend(calls.map(|call| json(&FunctionCall::of(&call.id, &call.name, &call.arguments))));
    items
}

#[derive(Serialize)]
struct Answer<'a> {
    r#type: &'static str,
    call_id: &'a str,
    output: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<serde_json::Value>),
}

pub(super) fn results(results: &[ToolResult<'_>], out: &mut RequestMessages) {
    for result in results {
        let text;
        let output = match &result.view {
            View::Parts(parts) => Content::Parts(
                parts
                    .iter()
                    .map(|part| {
                        let text = match piece(part) {
                            Piece::Text(text) => text.to_owned(),
                            Piece::File(file) => match content(&file) {
                                Ok(content) => return content,
                                Err(why) => out.leave_out(Some(result.id), &file, why),
                            },
                        };
                        serde_json::json!({"type": "input_text", "text": text})
                    })
                    .collect(),
            ),
            view => {
                text = view.text();
                Content::Text(&text)
            }
        };
        out.messages.push(json(&Answer {
            r#type: "function_call_output",
            call_id: result.id,
            output,
        }));
    }
}

/// Writes a file as a part of a result or of a user's message. The error states why the API does not accept the file.
pub(super) fn content(file: &File<'_>) -> Result<serde_json::Value, &'static str> {
    if matches!(file.bytes, Bytes::At(_)) && !file.is_web() {
        return Err("Responses fetches only http and https addresses");
    }
    if file.is_common_image() {
        return Ok(serde_json::json!({"type": "input_image", "image_url": file.url()}));
    }
    if file.is_image() {
        // SVG images are sent as text.
        return match file.as_text() {
            Some(text) => Ok(serde_json::json!({"type": "input_text", "text": text})),
            None => Err("Responses accepts images as PNG, JPEG, GIF and WebP"),
        };
    }
    if file.media_type.starts_with("audio/") || file.media_type.starts_with("video/") {
        return Err("Responses accepts images and documents");
    }
    Ok(match file.bytes {
        Bytes::At(url) => serde_json::json!({"type": "input_file", "file_url": url}),
        Bytes::Base64(_) => serde_json::json!({
            "type": "input_file", "filename": file.named(), "file_data": file.url(),
        }),
    })
}
