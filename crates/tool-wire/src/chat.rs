//! OpenAI Chat Completions API: replies, streamed chunks and messages of a request.

use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::ToolCall;
use tool_core::store::Usage;
use tool_core::turn::ModelMessage;

use super::file::{Bytes, File, Piece, piece};
use super::json::{Node, Object, json};
use super::reply::{Draft, Reading, Reasoning, call_id};
use super::results::{ToolResult, View};
use super::{Delta, ModelReply, Provider, RequestMessages, StopReason, WireError};

mod reasoning;

use reasoning::{Fields, Thought};

const CHAT: Provider = Provider::Chat;

pub(super) fn reply(body: &str) -> Result<ModelReply, WireError> {
    let mut streamed = Streamed::default();
    let body = Node::read(CHAT, body)?.object()?;
    streamed.usage = usage(&body);
    let choice = choice(&body, true)?;
    if let Some(choice) = choice {
        streamed.message(&choice.required("message")?.object()?, &mut Vec::new())?;
        streamed.finish = choice.text_if_any("finish_reason")?;
    }
    streamed.close()
}

/// Returns the tokens that the request used. In a stream, the last report counts.
fn usage(body: &Object<'_>) -> Option<Usage> {
    let usage = body.inner("usage")?;
    let input = usage.inner("prompt_tokens_details");
    let input = |key| input.as_ref().and_then(|details| details.count(key));
    let output = usage.inner("completion_tokens_details");
    let reasoning = output.and_then(|details| details.count("reasoning_tokens"));
    let prompt = usage.count("prompt_tokens").unwrap_or_default();
    let mut completion = usage.count("completion_tokens").unwrap_or_default();
    // Some servers, such as xAI's, do not count reasoning in `completion_tokens`, but include it in the total.
    let apart = completion.saturating_add(reasoning.unwrap_or_default());
    if usage.count("total_tokens") == Some(prompt.saturating_add(apart)) {
        completion = apart;
    }
    Some(Usage {
        input_tokens: prompt,
        cache_read_tokens: input("cached_tokens"),
        cache_write_5m_tokens: input("cache_write_tokens"),
        output_tokens: completion,
        reasoning_tokens: reasoning,
        ..Usage::default()
    })
}

/// Returns an error if the body or the event reports an error, as an object or as a text.
pub(super) fn reported(provider: Provider, body: &Object<'_>) -> Result<(), WireError> {
    let Some(error) = body.get("error") else {
        return Ok(());
    };
    let Ok(error) = error.object() else {
        return Err(WireError::Reported {
            provider,
            kind: "error".to_owned(),
            code: None,
            message: error.text()?,
        });
    };
    Err(named(provider, &error, &["type", "status", "code"]))
}

/// Creates the error that an object describes. Its kind is the text of the first of the keys `kinds` that has a text, otherwise `error`.
pub(super) fn named(provider: Provider, error: &Object<'_>, kinds: &[&str]) -> WireError {
    let word = |key: &str| error.get(key)?.text().ok().filter(|word| !word.is_empty());
    let number = |key| Some(error.get(key)?.number().ok()?.to_string());
    let kind = kinds.iter().copied().find_map(word);
    let kind = kind.unwrap_or_else(|| "error".to_owned());
    let code = word("code").or_else(|| number("code"));
    WireError::Reported {
        provider,
        code: code.filter(|code| *code != kind),
        kind,
        message: word("message").unwrap_or_default(),
    }
}

/// Returns the only choice of a response or of a chunk; `None` for a chunk that reports only the token usage. More than one choice is an error.
fn choice<'a>(body: &Object<'a>, whole: bool) -> Result<Option<Object<'a>>, WireError> {
    reported(CHAT, body)?;
    // Some servers report the token usage of a stream in a chunk that has only the usage.
    if !whole && !body.has("choices") && body.has("usage") {
        return Ok(None);
    }
    let choices = body.required("choices")?;
    match &choices.array()?[..] {
        // The last chunk may report only the token usage.
        [] if !whole => Ok(None),
        [choice] => {
            let choice = choice.object()?;
            reported(CHAT, &choice)?;
            match choice.get("index").map(|index| index.number()) {
                None | Some(Ok(0)) => Ok(Some(choice)),
                Some(Err(error)) => Err(error),
                Some(Ok(_)) => Err(choices.wrong("one choice, so send the request without `n`")),
            }
        }
        _ => Err(choices.wrong("one choice, so send the request without `n`")),
    }
}

#[derive(Debug)]
struct Call {
    /// The number of the call, if the server sends a number.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// The part of a reply that has been read.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    text: String,
    reasoning: Reasoning,
    thought: Thought,
    calls: Vec<Call>,
    finish: Option<String>,
    usage: Option<Usage>,
    refused: bool,
    /// Whether the marker after the last event was read.
    done: bool,
}

impl Streamed {
    /// Reads a complete message, or a streamed piece of a message.
    fn message(&mut self, message: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        if let Some(piece) = self.thought.read(message) {
            self.reasoning.push(&piece, deltas);
        }
        for key in ["content", "refusal"] {
            if let Some(text) = message.text_if_any(key)?
                && !text.is_empty()
            {
                self.refused |= key == "refusal";
                self.reasoning.end();
                self.text.push_str(&text);
                deltas.push(Delta::Text(text));
            }
        }
        if let Some(call) = message.get("function_call") {
            return Err(call
                .wrong("`tool_calls`, so send the request with `tools` and not with `functions`"));
        }
        let Some(calls) = message.get("tool_calls") else {
            return Ok(());
        };
        for call in calls.array()? {
            self.call(&call.object()?, deltas)?;
        }
        Ok(())
    }

    /// Reads a complete call, or a streamed piece of a call.
    fn call(&mut self, call: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        if let Some(kind) = call.get("type")
            && !matches!(&*kind.text()?, "function" | "")
        {
            return Err(kind.wrong("`function`, as no other kind of tool was offered"));
        }
        let index = call.get("index").map(|index| index.number()).transpose()?;
        let id = call.text_if_any("id")?.unwrap_or_default();
        let function = call.get("function").map(|function| function.object());
        let (name, arguments) = match function.transpose()? {
            None => (None, None),
            Some(function) => (
                function.text_if_any("name")?,
                function.text_if_any("arguments")?,
            ),
        };
        let name = name.filter(|name| !name.is_empty());
        let at = if let Some(at) = self.place(index, &id, name.as_deref()) {
            at
        } else {
            let name = name.ok_or_else(|| {
                call.wrong("a call that begins with the name of its function", "none")
            })?;
            // Some compatible servers leave out ids.
            let id = call_id(Some(id), || self.calls.iter().map(|call| &*call.id));
            deltas.push(Delta::Call {
                id: id.clone(),
                name: name.clone(),
            });
            self.calls.push(Call {
                index,
                id,
                name,
                arguments: String::new(),
            });
            self.calls.len() - 1
        };
        let call = &mut self.calls[at];
        if let Some(piece) = arguments
            && !piece.is_empty()
        {
            call.arguments.push_str(&piece);
            deltas.push(Delta::Arguments {
                id: call.id.clone(),
                text: piece,
            });
        }
        Ok(())
    }

    /// Finds the call that a piece belongs to. A piece with a new id or with a new name begins a new call, even if its number is in use: some servers
    /// number every call 0. Without numbers, as in a complete message, a name begins a new call.
    fn place(&self, index: Option<u64>, id: &str, name: Option<&str>) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            None if name.is_some() => return None,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[at];
        let same = (id.is_empty() || call.id == id) && name.is_none_or(|name| call.name == name);
        same.then_some(at)
    }

    fn close(self) -> Result<ModelReply, WireError> {
        let mut draft = Draft::new(CHAT);
        draft.text(&self.text);
        draft.reasoning(self.reasoning);
        for call in self.calls {
            draft.call(call.id, call.name, call.arguments);
        }
        // A stream that was cut off may have ended within a signature.
        let fields = self.thought.fields(!draft.calls().is_empty());
        if let Some(fields) = fields.filter(|_| self.finish.is_some()) {
            let message = written(&self.text, draft.calls(), fields);
            draft.written(&[message]);
        }
        draft.used(self.usage);
        draft.close(match self.finish.as_deref() {
            None => StopReason::Cut,
            Some("stop") if self.refused => StopReason::Filtered,
            Some("stop" | "tool_calls" | "function_call") => StopReason::End,
            Some("length") => StopReason::Length,
            Some("content_filter") => StopReason::Filtered,
            Some(other) => StopReason::Other(other.to_owned()),
        })
    }
}

impl Reading for Streamed {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk = Node::read(CHAT, data)?.object()?;
        if let Some(used) = usage(&chunk) {
            self.usage = Some(used);
        }
        let Some(choice) = choice(&chunk, false)? else {
            return Ok(());
        };
        if let Some(delta) = choice.get("delta") {
            self.message(&delta.object()?, deltas)?;
        }
        if let Some(finish) = choice.text_if_any("finish_reason")? {
            self.finish = Some(finish);
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn usage(&self) -> Option<Usage> {
        self.usage.filter(Usage::is_measured)
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, WireError> {
        self.close()
    }
}

#[derive(Serialize)]
struct Assistant<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(flatten)]
    reasoning: Fields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Called<'a>>,
}

#[derive(Serialize)]
struct Called<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

pub(super) fn assistant(message: &ModelMessage) -> Vec<Box<RawValue>> {
    vec![written(&message.text, &message.calls, Fields::default())]
}

/// Writes a message of the model.
fn written(text: &str, calls: &[ToolCall], reasoning: Fields<'_>) -> Box<RawValue> {
    let silent = text.is_empty() && !calls.is_empty();
    let calls = calls.iter().map(|call| Called {
        id: &call.id,
        r#type: "function",
        function: Function {
            name: &call.name,
            arguments: &call.arguments,
        },
    });
    json(&Assistant {
        role: "assistant",
        content: (!silent).then_some(text),
        reasoning,
        tool_calls: calls.collect(),
    })
}

#[derive(Serialize)]
struct Answer<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    content: &'a str,
}

/// Writes results as tool messages. Tool messages can contain only text, so files that are not text are written into a user message after all
/// results.
pub(super) fn results(results: &[ToolResult<'_>], out: &mut RequestMessages) {
    let mut files = Vec::new();
    for result in results {
        let text = match &result.view {
            View::Parts(parts) => {
                let lines: Vec<String> = parts
                    .iter()
                    .map(|part| match piece(part) {
                        Piece::Text(text) => text.to_owned(),
                        Piece::File(file) => match content(&file) {
                            // The text of a file becomes part of the result itself.
                            Ok(_) if let Some(text) = file.as_text() => text,
                            Ok(content) => {
                                let line = format!("[{}, see below]", file.named());
                                let about =
                                    format!("{} of the result of `{}`:", file.named(), result.id);
                                files.push(serde_json::json!({"type": "text", "text": about}));
                                files.push(content);
                                line
                            }
                            Err(why) => out.leave_out(Some(result.id), &file, why),
                        },
                    })
                    .collect();
                lines.join("\n").into()
            }
            view => view.text(),
        };
        out.messages.push(json(&Answer {
            role: "tool",
            tool_call_id: result.id,
            content: &text,
        }));
    }
    if !files.is_empty() {
        let message = serde_json::json!({"role": "user", "content": files});
        out.messages.push(json(&message));
    }
}

/// Writes a file as a part of a user's message. The error states why the API does not accept the file.
pub(super) fn content(file: &File<'_>) -> Result<serde_json::Value, &'static str> {
    if matches!(file.bytes, Bytes::At(_)) && !file.is_web() {
        return Err("Chat Completions fetches only http and https addresses");
    }
    if file.is_common_image() {
        let url = file.url();
        return Ok(serde_json::json!({"type": "image_url", "image_url": {"url": url}}));
    }
    if let Some(text) = file.as_text() {
        return Ok(serde_json::json!({"type": "text", "text": text}));
    }
    if file.is_image() {
        return Err("Chat Completions accepts images as PNG, JPEG, GIF and WebP");
    }
    let Bytes::Base64(data) = file.bytes else {
        return Err("Chat Completions accepts only images by address");
    };
    match file.media_type {
        "application/pdf" => Ok(serde_json::json!({
            "type": "file", "file": {"filename": file.named(), "file_data": file.url()},
        })),
        "audio/wav" | "audio/x-wav" => Ok(audio(data, "wav")),
        "audio/mpeg" | "audio/mp3" => Ok(audio(data, "mp3")),
        _ => Err("Chat Completions accepts images, PDF, WAV, MP3 and texts"),
    }
}

fn audio(data: &str, format: &str) -> serde_json::Value {
    serde_json::json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
}
