//! Amazon Bedrock Converse API: replies, streamed events and assistant messages.

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::store::Usage;
use tool_core::turn::ModelMessage;

use super::json::{Node, Object, arguments_object, as_message, json as raw};
use super::reply::{Draft, Reading, Reasoning, call_id};
use super::usage::{by_ttl, whole_input};
use super::{Delta, ModelReply, Provider, StopReason, WireError};

mod results;

pub(super) use results::{block, results};

const BEDROCK: Provider = Provider::Bedrock;

pub(super) fn reply(body: &str) -> Result<ModelReply, WireError> {
    let body = Node::read(BEDROCK, body)?.object()?;
    if !body.has("output")
        && let Some(message) = body.text_if_any("message")?
    {
        let kind = body.text_if_any("__type")?;
        return Err(WireError::Reported {
            provider: BEDROCK,
            kind: kind.unwrap_or_else(|| "error".to_owned()),
            code: None,
            message,
        });
    }
    let mut streamed = Streamed::default();
    let message = body
        .required("output")?
        .object()?
        .required("message")?
        .object()?;
    for (index, block) in message.required("content")?.array()?.iter().enumerate() {
        let kind = streamed.identified(Kind::whole(&block.object()?)?);
        if let Kind::Thinking { text, .. } = &kind {
            streamed.reasoning.end();
            streamed.reasoning.push(text, &mut Vec::new());
        }
        streamed.blocks.push(Block {
            index: index as u64,
            whole: true,
            raw: Some(block.raw().to_owned()),
            kind,
        });
    }
    streamed.stop = body.text_if_any("stopReason")?;
    streamed.usage = usage(&body);
    streamed.close()
}

/// Returns the tokens that the request used. Bedrock does not count cached tokens in `inputTokens`.
fn usage(of: &Object<'_>) -> Option<Usage> {
    let usage = of.inner("usage")?;
    let read = usage.count("cacheReadInputTokens");
    let written = usage.count("cacheWriteInputTokens");
    let details = usage.get("cacheDetails").and_then(|list| list.array().ok());
    let details = details.unwrap_or_default();
    let hours = details.iter().filter_map(|detail| detail.object().ok());
    let hours = hours.filter(|detail| detail.text("ttl").is_ok_and(|ttl| ttl == "1h"));
    let hours = hours.filter_map(|detail| detail.count("inputTokens"));
    let hours = (!details.is_empty()).then(|| hours.fold(0, u64::saturating_add));
    let (minutes, hours) = by_ttl(written, hours);
    Some(Usage {
        input_tokens: whole_input(usage.count("inputTokens"), read, written),
        cache_read_tokens: read,
        cache_write_5m_tokens: minutes,
        cache_write_1h_tokens: hours,
        output_tokens: usage.count("outputTokens").unwrap_or_default(),
        reasoning_tokens: None,
        cost_micros: None,
    })
}

/// A block of the message that is being read.
#[derive(Debug)]
struct Block {
    index: u64,
    whole: bool,
    /// The raw JSON of the block, unless the block was streamed in pieces.
    raw: Option<Box<RawValue>>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Call {
        id: String,
        name: String,
        input: String,
    },
    Thinking {
        text: String,
        signature: Option<String>,
    },
    /// Encrypted reasoning, which only the provider can read.
    Sealed(String),
    /// Calls that the provider runs itself, their results, encrypted reasoning in a reply that is not streamed, and blocks that a later version of
    /// the API may add.
    Other,
}

impl Kind {
    fn whole(block: &Object<'_>) -> Result<Self, WireError> {
        if let Some(text) = block.text_if_any("text")? {
            return Ok(Self::Text(text));
        }
        if let Some(call) = block.get("toolUse") {
            return Self::call(&call.object()?);
        }
        let Some(thought) = block.inner("reasoningContent") else {
            return Ok(Self::Other);
        };
        let Some(reasoning) = thought.inner("reasoningText") else {
            return Ok(Self::Other);
        };
        Ok(Self::Thinking {
            text: reasoning.text_if_any("text")?.unwrap_or_default(),
            signature: reasoning.text_if_any("signature")?,
        })
    }

    fn call(call: &Object<'_>) -> Result<Self, WireError> {
        if call.text_if_any("type")?.as_deref() == Some("server_tool_use") {
            return Ok(Self::Other);
        }
        let input = call.get("input");
        Ok(Self::Call {
            id: call.text_if_any("toolUseId")?.unwrap_or_default(),
            name: call.text("name")?,
            input: input.map_or_else(String::new, |input| input.raw().get().to_owned()),
        })
    }
}

/// The part of a reply that has been read.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    blocks: Vec<Block>,
    reasoning: Reasoning,
    stop: Option<String>,
    usage: Option<Usage>,
}

impl Streamed {
    /// Generates an id for a call that has none.
    fn identified(&self, mut kind: Kind) -> Kind {
        if let Kind::Call { id, .. } = &mut kind {
            let earlier = || self.blocks.iter().filter_map(Block::call_id);
            *id = call_id(Some(std::mem::take(id)), earlier);
        }
        kind
    }

    /// Returns the block that an event belongs to. Creates the block if it does not exist, because a block of text or of reasoning begins without a
    /// start event.
    fn open(&mut self, event: &Object<'_>) -> Result<&mut Block, WireError> {
        let place = event.required("contentBlockIndex")?;
        let index = place.number()?;
        let at = match self.blocks.iter().position(|block| block.index == index) {
            Some(at) if self.blocks[at].whole => {
                return Err(place.wrong("the number of a block that is open"));
            }
            Some(at) => at,
            None => {
                self.blocks.push(Block {
                    index,
                    whole: false,
                    raw: None,
                    kind: Kind::Text(String::new()),
                });
                self.blocks.len() - 1
            }
        };
        Ok(&mut self.blocks[at])
    }

    fn start(&mut self, event: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let start = event.required("start")?.object()?;
        let kind = match start.get("toolUse") {
            None => Kind::Other,
            Some(call) => self.identified(Kind::call(&call.object()?)?),
        };
        if let Kind::Call { id, name, .. } = &kind {
            deltas.push(Delta::Call {
                id: id.clone(),
                name: name.clone(),
            });
        }
        self.open(event)?.kind = kind;
        Ok(())
    }

    fn delta(&mut self, event: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let node = event.required("delta")?;
        let delta = node.object()?;
        let kind = &mut self.open(event)?.kind;
        if let Some(piece) = delta.text_if_any("text")? {
            let Kind::Text(text) = kind else {
                return Err(node.wrong("a delta of the type of its block"));
            };
            text.push_str(&piece);
            if !piece.is_empty() {
                deltas.push(Delta::Text(piece));
            }
        } else if let Some(call) = delta.get("toolUse") {
            let text = call.object()?.text("input")?;
            match kind {
                Kind::Call { id, input, .. } => {
                    input.push_str(&text);
                    let id = id.clone();
                    if !text.is_empty() {
                        deltas.push(Delta::Arguments { id, text });
                    }
                }
                Kind::Other => {}
                _ => return Err(node.wrong("a delta of the type of its block")),
            }
        } else if let Some(thought) = delta.get("reasoningContent") {
            let thought = thought.object()?;
            think(kind, &thought)?;
            let piece = thought.text_if_any("text")?;
            self.reasoning.push(&piece.unwrap_or_default(), deltas);
        }
        Ok(())
    }

    fn close(mut self) -> Result<ModelReply, WireError> {
        self.blocks.sort_by_key(|block| block.index);
        let mut draft = Draft::new(BEDROCK);
        let mut content = Vec::new();
        for block in self.blocks {
            if !block.whole {
                draft.broken();
            }
            content.extend(block.written());
            match block.kind {
                Kind::Text(text) => draft.text(&text),
                Kind::Call { id, name, input } => draft.call(id, name, input),
                Kind::Thinking { .. } | Kind::Sealed(_) | Kind::Other => {}
            }
        }
        if let Some(message) = as_message("assistant", content) {
            draft.written(&[message]);
        }
        draft.reasoning(self.reasoning);
        draft.used(self.usage);
        draft.close(match self.stop.as_deref() {
            None => StopReason::Cut,
            Some("end_turn" | "stop_sequence" | "tool_use") => StopReason::End,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("guardrail_intervened" | "content_filtered") => StopReason::Filtered,
            Some(other) => StopReason::Other(other.to_owned()),
        })
    }
}

/// Adds a piece of thinking. A thinking block begins without a start event.
fn think(kind: &mut Kind, thought: &Object<'_>) -> Result<(), WireError> {
    if matches!(kind, Kind::Text(text) if text.is_empty()) {
        *kind = if thought.has("redactedContent") {
            Kind::Sealed(String::new())
        } else {
            Kind::Thinking {
                text: String::new(),
                signature: None,
            }
        };
    }
    match kind {
        Kind::Thinking { text, signature } => {
            text.push_str(&thought.text_if_any("text")?.unwrap_or_default());
            if let Some(signed) = thought.text_if_any("signature")? {
                *signature = Some(signed);
            }
        }
        Kind::Sealed(sealed) => sealed.push_str(&thought.text("redactedContent")?),
        _ => return Err(thought.wrong("a delta of the type of its block", "thinking")),
    }
    Ok(())
}

impl Block {
    fn call_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Call { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Returns the block as it is sent back to the provider, or `None` if it cannot be sent back.
    fn written(&self) -> Option<Box<RawValue>> {
        match &self.kind {
            Kind::Text(text) if text.is_empty() => None,
            Kind::Call { id, name, input } => Some(raw(&Called {
                tool_use: Use {
                    tool_use_id: id,
                    name,
                    input: &arguments_object(input),
                },
            })),
            _ if let Some(raw) = &self.raw => Some(raw.clone()),
            Kind::Text(text) => Some(raw(&json!({"text": text}))),
            Kind::Thinking { text, signature } if self.whole => {
                let mut thought = json!({"text": text});
                if let Some(signature) = signature {
                    thought["signature"] = json!(signature);
                }
                Some(raw(
                    &json!({"reasoningContent": {"reasoningText": thought}}),
                ))
            }
            Kind::Sealed(sealed) if self.whole => Some(raw(
                &json!({"reasoningContent": {"redactedContent": sealed}}),
            )),
            Kind::Thinking { .. } | Kind::Sealed(_) | Kind::Other => None,
        }
    }
}

impl Reading for Streamed {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let node = Node::read(BEDROCK, data)?;
        let event = node.object()?;
        if let Some(start) = event.get("contentBlockStart") {
            return self.start(&start.object()?, deltas);
        }
        if let Some(delta) = event.get("contentBlockDelta") {
            return self.delta(&delta.object()?, deltas);
        }
        if let Some(stop) = event.get("contentBlockStop") {
            self.open(&stop.object()?)?.whole = true;
            self.reasoning.end();
            return Ok(());
        }
        if let Some(metadata) = event.inner("metadata") {
            self.usage = usage(&metadata);
            return Ok(());
        }
        if let Some(stop) = event.get("messageStop") {
            self.stop = Some(stop.object()?.text("stopReason")?);
            return Ok(());
        }
        let failed = event.entries().find(|(key, _)| key.ends_with("Exception"));
        if let Some((kind, _)) = failed {
            // The name is enough to report the error, so its content may have any shape.
            let message = event
                .inner(kind)
                .and_then(|error| error.get("message")?.text().ok());
            return Err(WireError::Reported {
                provider: BEDROCK,
                kind: kind.to_owned(),
                code: None,
                message: message.unwrap_or_default(),
            });
        }
        if !event.has("messageStart") && !event.has("metadata") {
            return Err(node.wrong("an event with its name, such as `contentBlockDelta`"));
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some() && self.usage.is_some()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage.filter(Usage::is_measured)
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, WireError> {
        self.close()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Called<'a> {
    tool_use: Use<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Use<'a> {
    tool_use_id: &'a str,
    name: &'a str,
    input: &'a RawValue,
}

pub(super) fn assistant(message: &ModelMessage) -> Vec<Box<RawValue>> {
    let mut content = Vec::new();
    if !message.text.is_empty() {
        content.push(raw(&json!({"text": message.text})));
    }
    content.extend(message.calls.iter().map(|call| {
        raw(&Called {
            tool_use: Use {
                tool_use_id: &call.id,
                name: &call.name,
                input: &arguments_object(&call.arguments),
            },
        })
    }));
    Vec::from_iter(as_message("assistant", content))
}
