//! Gemini `generateContent` API: replies, streamed responses and messages of a request.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tool_core::store::Usage;
use tool_core::turn::ModelMessage;

use super::chat::reported;
use super::file::{Bytes, File, Piece, piece};
use super::json::{NO_ARGUMENTS, Node, Object, arguments_object, json as raw};
use super::reply::{Draft, Reading, Reasoning};
use super::results::{ToolResult, View};
use super::{Delta, ModelReply, Provider, RequestMessages, StopReason, WireError};

const GEMINI: Provider = Provider::Gemini;

/// The documented placeholder for a call without a thought signature. Gemini 3 refuses a message of the model whose first call has no signature.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Prefix of the ids that are generated here for calls without an id. These ids are never sent to the provider.
const MADE: &str = "gemini_call_";

pub(super) fn reply(body: &str) -> Result<ModelReply, WireError> {
    let mut streamed = Streamed::default();
    streamed.element(&Node::read(GEMINI, body)?, &mut Vec::new())?;
    streamed.close()
}

/// The part of a reply that has been read.
#[derive(Debug)]
pub(super) struct Streamed {
    draft: Draft,
    reasoning: Reasoning,
    /// The provider's id of this reply.
    response: Option<String>,
    parts: Vec<Box<RawValue>>,
    finish: Option<String>,
    usage: Option<Counts>,
}

/// The token counts of a reply. Each response of a stream has the counts up to then, and may lack some of them.
#[derive(Debug, Default)]
struct Counts {
    prompt: Option<u64>,
    tool_use_prompt: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
}

impl Counts {
    fn read(&mut self, usage: &Object<'_>) {
        usage.counted("promptTokenCount", &mut self.prompt);
        usage.counted("toolUsePromptTokenCount", &mut self.tool_use_prompt);
        usage.counted("cachedContentTokenCount", &mut self.cached);
        usage.counted("candidatesTokenCount", &mut self.candidates);
        usage.counted("thoughtsTokenCount", &mut self.thoughts);
    }

    /// Returns the sums. The count of the prompt includes cached tokens, and the count of the candidates does not include thoughts.
    fn total(&self) -> Usage {
        let sum = |one: Option<u64>, other: Option<u64>| {
            one.unwrap_or_default()
                .saturating_add(other.unwrap_or_default())
        };
        Usage {
            input_tokens: sum(self.prompt, self.tool_use_prompt),
            cache_read_tokens: self.cached,
            output_tokens: sum(self.candidates, self.thoughts),
            reasoning_tokens: self.thoughts,
            ..Usage::default()
        }
    }
}

impl Default for Streamed {
    fn default() -> Self {
        Self {
            draft: Draft::new(GEMINI),
            reasoning: Reasoning::default(),
            response: None,
            parts: Vec::new(),
            finish: None,
            usage: None,
        }
    }
}

impl Streamed {
    /// Reads a response, or an array of responses: without `alt=sse` in the URL, the API sends a stream as an array, and errors may be in an array
    /// even with it.
    fn element(&mut self, node: &Node<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let Ok(responses) = node.array() else {
            return self.response(&node.object()?, deltas);
        };
        for response in responses {
            self.response(&response.object()?, deltas)?;
        }
        Ok(())
    }

    /// Reads a response. In a stream, each response contains a piece of the reply.
    fn response(&mut self, body: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        reported(GEMINI, body)?;
        if self.response.is_none() {
            self.response = body.text_if_any("responseId")?;
        }
        if let Some(usage) = body.inner("usageMetadata") {
            self.usage.get_or_insert_default().read(&usage);
        }
        let feedback = body.get("promptFeedback");
        let feedback = feedback.map(|feedback| feedback.object()).transpose()?;
        if let Some(feedback) = feedback
            && let Some(reason) = feedback.text_if_any("blockReason")?
        {
            return Err(WireError::Reported {
                provider: GEMINI,
                kind: reason,
                code: None,
                message: "the prompt was blocked".to_owned(),
            });
        }
        let Some(candidates) = body.get("candidates") else {
            return Ok(());
        };
        let candidate = match &candidates.array()?[..] {
            [] => return Ok(()),
            [candidate] => candidate.object()?,
            _ => {
                return Err(
                    candidates.wrong("one candidate, so send the request without `candidateCount`")
                );
            }
        };
        if let Some(content) = candidate.get("content")
            && let Some(parts) = content.object()?.get("parts")
        {
            for part in parts.array()? {
                self.part(&part, deltas)?;
            }
        }
        if let Some(finish) = candidate.text_if_any("finishReason")? {
            self.finish = Some(finish);
        }
        Ok(())
    }

    fn part(&mut self, node: &Node<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        let part = node.object()?;
        self.parts.push(node.raw().to_owned());
        if let Some(call) = part.get("functionCall") {
            self.reasoning.end();
            return self.call(&call.object()?, deltas);
        }
        let thought = part.get("thought").map(|thought| thought.boolean());
        let text = part.text_if_any("text")?;
        if thought.transpose()? == Some(true) {
            self.reasoning.push(&text.unwrap_or_default(), deltas);
        } else if let Some(text) = text
            && !text.is_empty()
        {
            self.reasoning.end();
            self.draft.text(&text);
            deltas.push(Delta::Text(text));
        }
        Ok(())
    }

    fn call(&mut self, call: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        for key in ["partialArgs", "willContinue"] {
            if let Some(piece) = call.get(key) {
                return Err(piece.wrong(
                    "a complete call, so send the request without `streamFunctionCallArguments`",
                ));
            }
        }
        let name = call.text("name")?;
        let given = call.text_if_any("id")?.filter(|id| !id.trim().is_empty());
        let id = given.unwrap_or_else(|| self.made());
        let arguments = call.get("args");
        let arguments = arguments
            .map_or(NO_ARGUMENTS, |args| args.raw().get())
            .to_owned();
        deltas.push(Delta::Call {
            id: id.clone(),
            name: name.clone(),
        });
        deltas.push(Delta::Arguments {
            id: id.clone(),
            text: arguments.clone(),
        });
        self.draft.call(id, name, arguments);
        Ok(())
    }

    /// Generates an id for a call without an id: the reply's id, if the provider sends it, and the number of the call. Reading a reply again
    /// generates the same ids.
    fn made(&self) -> String {
        let mut id = MADE.to_owned();
        if let Some(response) = &self.response {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            id.extend(response.chars().take(40).map(plain));
            id.push('_');
        }
        let _ = write!(id, "{}", self.draft.count());
        id
    }

    fn close(mut self) -> Result<ModelReply, WireError> {
        if !self.parts.is_empty() {
            // The parts contain thought signatures, which must be sent back in the same position.
            self.draft.written(&[raw(&Content {
                role: "model",
                parts: self.parts,
            })]);
        }
        self.draft.reasoning(self.reasoning);
        self.draft.used(self.usage.as_ref().map(Counts::total));
        self.draft.close(match self.finish.as_deref() {
            None => StopReason::Cut,
            Some("STOP") => StopReason::End,
            Some("MAX_TOKENS") => StopReason::Length,
            Some(
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
                | "IMAGE_SAFETY",
            ) => StopReason::Filtered,
            Some(other) => StopReason::Other(other.to_owned()),
        })
    }
}

impl Reading for Streamed {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        self.element(&Node::read(GEMINI, data)?, deltas)
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some()
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
struct Content<T> {
    role: &'static str,
    parts: Vec<T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Called<'a> {
    function_call: Call<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'static str>,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: &'a RawValue,
}

/// Returns the provider's own id of a call, or `None` if the id was generated here.
fn own(id: &str) -> Option<&str> {
    (!id.starts_with(MADE)).then_some(id)
}

/// Writes a message that is not sent back as Gemini wrote it: without signatures, so the first call has the placeholder. Parallel calls need none.
pub(super) fn assistant(message: &ModelMessage) -> Vec<Box<RawValue>> {
    let mut parts = Vec::new();
    if !message.text.is_empty() {
        parts.push(raw(&json!({"text": message.text})));
    }
    parts.extend(message.calls.iter().enumerate().map(|(at, call)| {
        raw(&Called {
            function_call: Call {
                id: own(&call.id),
                name: &call.name,
                args: &arguments_object(&call.arguments),
            },
            thought_signature: (at == 0).then_some(NO_SIGNATURE),
        })
    }));
    if parts.is_empty() {
        return Vec::new();
    }
    vec![raw(&Content {
        role: "model",
        parts,
    })]
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Responded<'a> {
    function_response: Answer<'a>,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Value>,
}

/// The response of a function. The API requires an object, and accepts these two keys.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Response<'a> {
    Output(Output<'a>),
    Error(Output<'a>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(&'a str),
    Json(&'a RawValue),
}

/// Writes results, which may contain only a few types of files. The content of other text files becomes text of the result. Other files that a user
/// message may contain are written into a user message after all results, because the message that answers the calls may contain only results.
pub(super) fn results(results: &[ToolResult<'_>], out: &mut RequestMessages) {
    let (mut content, mut behind) = (Vec::new(), Vec::new());
    for result in results {
        let (text, parts) = output(out, result, &mut behind);
        let output = match &result.view {
            View::Json(json) => Output::Json(json),
            _ => Output::Text(&text),
        };
        content.push(raw(&Responded {
            function_response: Answer {
                id: own(result.id),
                name: result.name,
                response: if result.is_error {
                    Response::Error(output)
                } else {
                    Response::Output(output)
                },
                parts,
            },
        }));
    }
    if !content.is_empty() {
        out.messages.push(raw(&Content {
            role: "user",
            parts: content,
        }));
    }
    if !behind.is_empty() {
        out.messages
            .push(raw(&json!({"role": "user", "parts": behind})));
    }
}

/// Returns the text of a result, and the files inside it. Adds files for the message after all results to `behind`.
fn output(
    out: &mut RequestMessages,
    result: &ToolResult<'_>,
    behind: &mut Vec<Value>,
) -> (String, Vec<Value>) {
    let View::Parts(parts) = &result.view else {
        return (result.view.text().into_owned(), Vec::new());
    };
    let mut files = Vec::new();
    let lines: Vec<String> = parts
        .iter()
        .map(|part| {
            let file = match piece(part) {
                Piece::Text(text) => return text.to_owned(),
                Piece::File(file) => file,
            };
            if let Some(inline) = inline(&file) {
                files.push(inline);
                return format!("[{}]", file.named());
            }
            if let Some(text) = file.as_text() {
                return text;
            }
            match content(&file) {
                Ok(written) => {
                    let about = format!("{} of the result of `{}`:", file.named(), result.name);
                    behind.extend([json!({"text": about}), written]);
                    format!("[{}, see below]", file.named())
                }
                Err(why) => out.leave_out(Some(result.id), &file, why),
            }
        })
        .collect();
    (lines.join("\n"), files)
}

/// Writes a file as a part of a result, or returns `None` if the API does not accept its type there, or if the file is at an address.
fn inline(file: &File<'_>) -> Option<Value> {
    let Bytes::Base64(data) = file.bytes else {
        return None;
    };
    let takes = matches!(
        file.media_type,
        "image/png" | "image/jpeg" | "image/webp" | "application/pdf" | "text/plain"
    );
    takes.then(|| json!({"inlineData": {"mimeType": file.media_type, "data": data}}))
}

/// Writes a file as a part of a user message, which may contain more types than a result, and URLs. The error states why the API does not accept
/// the file.
pub(super) fn content(file: &File<'_>) -> Result<Value, &'static str> {
    let known = match file.media_type.split_once('/') {
        Some(("image" | "audio" | "video" | "text", _)) => true,
        _ => matches!(file.media_type, "application/pdf" | "application/json"),
    };
    if !known {
        return Err("Gemini accepts images, audio, video, texts, JSON and PDF");
    }
    match file.bytes {
        Bytes::Base64(data) => Ok(json!({
            "inlineData": {"mimeType": file.media_type, "data": data},
        })),
        Bytes::At(url) if url.starts_with("https://") || url.starts_with("gs://") => Ok(json!({
            "fileData": {"mimeType": file.media_type, "fileUri": url},
        })),
        Bytes::At(_) => Err("Gemini fetches only https and gs addresses"),
    }
}
