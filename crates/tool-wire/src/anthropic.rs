//! Anthropic Messages API: replies, streamed events and assistant messages.

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::store::Usage;
use tool_core::turn::ModelMessage;

use super::chat::{named, reported};
use super::json::{Node, Object, arguments_object, as_message, json as raw, with_key};
use super::reply::{Draft, Reading, Reasoning, call_id};
use super::usage::{by_ttl, whole_input};
use super::{Delta, ModelReply, Provider, StopReason, WireError};

mod results;

pub(super) use results::{block, results};

const ANTHROPIC: Provider = Provider::Anthropic;

pub(super) fn reply(body: &str) -> Result<ModelReply, WireError> {
    let body = Node::read(ANTHROPIC, body)?.object()?;
    reported(ANTHROPIC, &body)?;
    let mut streamed = Streamed::default();
    for (index, block) in body.required("content")?.array()?.iter().enumerate() {
        streamed.begin(index as u64, block, &mut Vec::new())?;
        streamed.blocks[index].whole = true;
    }
    streamed.stop = body.text_if_any("stop_reason")?;
    streamed.used(&body);
    streamed.close()
}

/// A block of the message that is being read.
#[derive(Debug)]
struct Block {
    index: u64,
    whole: bool,
    /// The block as it began. Streamed pieces are added to it only for a compaction block.
    raw: Box<RawValue>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text {
        text: String,
        citations: Vec<Box<RawValue>>,
    },
    Call {
        id: String,
        name: String,
        input: String,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    /// Any other block, such as a call that the provider runs itself, its result, or redacted thinking. The string is the streamed input.
    Other(String),
}

/// The part of a reply that has been read.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    blocks: Vec<Block>,
    reasoning: Reasoning,
    stop: Option<String>,
    usage: Option<Counts>,
    /// Whether the final event was read.
    ended: bool,
}

/// The token counts of a reply. Counts in a later event are cumulative, so they replace the counts of an earlier event. A later event may lack some
/// of them.
#[derive(Debug, Default)]
struct Counts {
    top: Iteration,
    /// The sum of the iterations that the counts at the top level do not include.
    apart: Usage,
}

/// The token counts of one run of a model, or the counts at the top level. A reply may have several runs.
#[derive(Debug, Default)]
struct Iteration {
    /// Tokens of the input that were neither read from a cache nor written to it.
    fresh: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    /// The part of `written` that is cached for 1 hour.
    hours: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    fn read(&mut self, usage: &Object<'_>) {
        self.top.read(usage);
        let Some(iterations) = usage.get("iterations").and_then(|list| list.array().ok()) else {
            return;
        };
        let mut apart = Usage::default();
        for iteration in iterations.iter().filter_map(|node| node.object().ok()) {
            // The counts at the top level include all other runs, but not the runs that compact the context or ask a different model for advice.
            let kind = iteration.get("type").and_then(|kind| kind.text().ok());
            if matches!(kind.as_deref(), Some("compaction" | "advisor_message")) {
                apart += Iteration::of(&iteration).usage();
            }
        }
        self.apart = apart;
    }

    fn total(&self) -> Usage {
        let mut usage = self.top.usage();
        usage += self.apart;
        usage
    }
}

impl Iteration {
    fn read(&mut self, usage: &Object<'_>) {
        let later = Self::of(usage);
        // Some compatible servers send zeros in place of the input that an earlier event has reported.
        if later.input() > 0 {
            self.fresh = later.fresh.or(self.fresh);
            self.read = later.read.or(self.read);
            self.written = later.written.or(self.written);
            self.hours = later.hours.or(self.hours);
        }
        self.output = later.output.or(self.output);
        self.thinking = later.thinking.or(self.thinking);
    }

    fn of(usage: &Object<'_>) -> Self {
        let created = usage.inner("cache_creation");
        let output = usage.inner("output_tokens_details");
        Self {
            fresh: usage.count("input_tokens"),
            read: usage.count("cache_read_input_tokens"),
            written: usage.count("cache_creation_input_tokens"),
            hours: created.and_then(|created| created.count("ephemeral_1h_input_tokens")),
            output: usage.count("output_tokens"),
            thinking: output.and_then(|details| details.count("thinking_tokens")),
        }
    }

    /// Returns the tokens of the whole input. Anthropic does not count cached tokens in `input_tokens`.
    fn input(&self) -> u64 {
        whole_input(self.fresh, self.read, self.written)
    }

    fn usage(&self) -> Usage {
        let (minutes, hours) = by_ttl(self.written, self.hours);
        Usage {
            input_tokens: self.input(),
            cache_read_tokens: self.read,
            cache_write_5m_tokens: minutes,
            cache_write_1h_tokens: hours,
            output_tokens: self.output.unwrap_or_default(),
            reasoning_tokens: self.thinking,
            cost_micros: None,
        }
    }
}

impl Streamed {
    /// Reads the token usage of a message or an event.
    fn used(&mut self, of: &Object<'_>) {
        if let Some(usage) = of.inner("usage") {
            self.usage.get_or_insert_default().read(&usage);
        }
    }

    fn begin(
        &mut self,
        index: u64,
        node: &Node<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), WireError> {
        let block = node.object()?;
        let kind = match &*block.text("type")? {
            "text" => {
                let text = block.text("text")?;
                if !text.is_empty() {
                    deltas.push(Delta::Text(text.clone()));
                }
                let citations = block.get("citations");
                let citations = citations.map(|citations| citations.array()).transpose()?;
                let citations = citations.unwrap_or_default();
                Kind::Text {
                    text,
                    citations: citations.iter().map(|node| node.raw().to_owned()).collect(),
                }
            }
            "tool_use" => {
                let earlier = || self.blocks.iter().filter_map(Block::call_id);
                let id = call_id(block.text_if_any("id")?, earlier);
                let name = block.text("name")?;
                deltas.push(Delta::Call {
                    id: id.clone(),
                    name: name.clone(),
                });
                let input = block.get("input");
                Kind::Call {
                    id,
                    name,
                    input: input.map_or_else(String::new, |input| input.raw().get().to_owned()),
                }
            }
            "thinking" => {
                let thinking = block.text_if_any("thinking")?.unwrap_or_default();
                self.reasoning.end();
                self.reasoning.push(&thinking, deltas);
                Kind::Thinking {
                    thinking,
                    signature: block.text_if_any("signature")?.unwrap_or_default(),
                }
            }
            _ => Kind::Other(String::new()),
        };
        self.blocks.push(Block {
            index,
            whole: false,
            raw: node.raw().to_owned(),
            kind,
        });
        Ok(())
    }

    fn open(&mut self, event: &Object<'_>) -> Result<&mut Block, WireError> {
        let index = event.required("index")?;
        let number = index.number()?;
        let open = |block: &&mut Block| block.index == number && !block.whole;
        self.blocks
            .iter_mut()
            .find(open)
            .ok_or_else(|| index.wrong("the number of a block that is open"))
    }

    fn delta(&mut self, event: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let node = event.required("delta")?;
        let delta = node.object()?;
        let kind = delta.text("type")?;
        let block = self.open(event)?;
        match (&*kind, &mut block.kind) {
            ("text_delta", Kind::Text { text, .. }) => {
                let piece = delta.text("text")?;
                text.push_str(&piece);
                deltas.push(Delta::Text(piece));
            }
            ("citations_delta", Kind::Text { citations, .. }) => {
                citations.push(delta.required("citation")?.raw().to_owned());
            }
            ("input_json_delta", Kind::Call { id, input, .. }) => {
                let text = delta.text("partial_json")?;
                if text.is_empty() {
                    return Ok(());
                }
                // The block begins with an empty object, a placeholder for the input that follows.
                if input == "{}" {
                    input.clear();
                }
                input.push_str(&text);
                let id = id.clone();
                deltas.push(Delta::Arguments { id, text });
            }
            ("input_json_delta", Kind::Other(input)) => {
                input.push_str(&delta.text("partial_json")?);
            }
            // A compaction block begins empty, and one delta has all of its fields.
            ("compaction_delta", Kind::Other(_)) => {
                for (key, value) in delta.entries().filter(|(key, _)| *key != "type") {
                    block.raw = with_key(&block.raw, key, value.to_owned());
                }
            }
            ("thinking_delta", Kind::Thinking { thinking, .. }) => {
                let piece = delta.text("thinking")?;
                thinking.push_str(&piece);
                self.reasoning.push(&piece, deltas);
            }
            ("signature_delta", Kind::Thinking { signature, .. }) => {
                *signature = delta.text("signature")?;
            }
            (
                "text_delta" | "citations_delta" | "input_json_delta" | "thinking_delta"
                | "signature_delta",
                _,
            ) => return Err(node.wrong("a delta of the type of its block")),
            // A later version of the API may add types of deltas.
            _ => {}
        }
        Ok(())
    }

    fn close(mut self) -> Result<ModelReply, WireError> {
        self.blocks.sort_by_key(|block| block.index);
        let mut draft = Draft::new(ANTHROPIC);
        let mut content = Vec::new();
        for block in self.blocks {
            if !block.whole {
                draft.broken();
            }
            content.extend(block.written());
            match block.kind {
                Kind::Text { text, .. } => draft.text(&text),
                Kind::Call { id, name, input } => draft.call(id, name, input),
                Kind::Thinking { .. } | Kind::Other(_) => {}
            }
        }
        if let Some(message) = as_message("assistant", content) {
            draft.written(&[message]);
        }
        draft.reasoning(self.reasoning);
        draft.used(self.usage.as_ref().map(Counts::total));
        draft.close(match self.stop.as_deref() {
            None => StopReason::Cut,
            Some("end_turn" | "stop_sequence" | "tool_use") => StopReason::End,
            Some("pause_turn") => StopReason::Paused,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Filtered,
            Some(other) => StopReason::Other(other.to_owned()),
        })
    }
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
            // The API refuses an empty text in a request.
            Kind::Text { text, .. } if text.is_empty() => None,
            Kind::Text { text, citations } if citations.is_empty() => {
                Some(raw(&json!({"type": "text", "text": text})))
            }
            Kind::Text { text, citations } => Some(raw(&Cited {
                r#type: "text",
                text,
                citations,
            })),
            Kind::Call { id, name, input } => Some(raw(&Use {
                r#type: "tool_use",
                id,
                name,
                input: &arguments_object(input),
            })),
            Kind::Thinking { .. } | Kind::Other(_) if !self.whole => None,
            Kind::Thinking {
                thinking,
                signature,
            } => Some(raw(
                &json!({"type": "thinking", "thinking": thinking, "signature": signature}),
            )),
            Kind::Other(input) if input.is_empty() => Some(self.raw.clone()),
            Kind::Other(input) => {
                let input = serde_json::from_str(input).unwrap_or_else(|_| raw(&json!({})));
                Some(with_key(&self.raw, "input", input))
            }
        }
    }
}

impl Reading for Streamed {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let event = Node::read(ANTHROPIC, data)?.object()?;
        reported(ANTHROPIC, &event)?;
        match &*event.text("type")? {
            "content_block_start" => {
                let index = event.required("index")?;
                let number = index.number()?;
                if self.blocks.iter().any(|block| block.index == number) {
                    return Err(index.wrong("the number of a new block"));
                }
                self.begin(number, &event.required("content_block")?, deltas)?;
            }
            "content_block_delta" => self.delta(&event, deltas)?,
            "content_block_stop" => self.open(&event)?.whole = true,
            "message_start" => {
                if let Some(message) = event.inner("message") {
                    self.used(&message);
                }
            }
            "message_delta" => {
                self.used(&event);
                let delta = event.required("delta")?.object()?;
                if let Some(stop) = delta.text_if_any("stop_reason")? {
                    self.stop = Some(stop);
                }
            }
            // `reported` has handled an event with a value of `error`; this event has no such value.
            "error" => return Err(named(ANTHROPIC, &event, &[])),
            "message_stop" => self.ended = true,
            // Ignores `ping`, and events that a later version of the API may add.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.ended
    }

    fn usage(&self) -> Option<Usage> {
        let usage = self.usage.as_ref().map(Counts::total);
        usage.filter(Usage::is_measured)
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, WireError> {
        self.close()
    }
}

#[derive(Serialize)]
struct Use<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    input: &'a RawValue,
}

#[derive(Serialize)]
struct Cited<'a> {
    r#type: &'static str,
    text: &'a str,
    citations: &'a [Box<RawValue>],
}

pub(super) fn assistant(message: &ModelMessage) -> Vec<Box<RawValue>> {
    let mut content = Vec::new();
    if !message.text.is_empty() {
        content.push(raw(&json!({"type": "text", "text": message.text})));
    }
    content.extend(message.calls.iter().map(|call| {
        raw(&Use {
            r#type: "tool_use",
            id: &call.id,
            name: &call.name,
            input: &arguments_object(&call.arguments),
        })
    }));
    Vec::from_iter(as_message("assistant", content))
}
