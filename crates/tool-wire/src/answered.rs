//! Results of calls and files, as messages of a provider's request.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::turn::{ModelMessage, ToolMessage};
use tool_core::{CallResult, ModelOutput, Part, Source};

use super::json::json as raw;
use super::{Provider, SystemPrompt, WireError};

/// The result of a call as the model reads it: from a [`CallResult`] or a turn's [`ToolMessage`].
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) view: View<'a>,
    pub(super) is_error: bool,
}

/// The form in which the model reads a result.
#[derive(Clone, Debug)]
pub(super) enum View<'a> {
    Text(Cow<'a, str>),
    Json(&'a RawValue),
    Parts(Cow<'a, [Part]>),
}

impl View<'_> {
    /// The result as text alone, for providers whose results hold only text.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(json) => Cow::Borrowed(json.get()),
            Self::Parts(parts) => Cow::Owned(ModelOutput::parts(parts.iter().cloned()).to_text()),
        }
    }
}

/// The view of a payload that the model reads itself: a JSON string becomes plain text.
fn payload(payload: &RawValue) -> View<'_> {
    if !payload.get().starts_with('"') {
        return View::Json(payload);
    }
    let text = serde_json::from_str::<String>(payload.get());
    View::Text(text.map_or(Cow::Borrowed(payload.get()), Cow::Owned))
}

fn view(output: &ModelOutput) -> View<'_> {
    if let Some(json) = output.as_json() {
        return View::Json(json);
    }
    let parts = output.to_parts();
    match &*parts {
        [Part::Text { text }] => View::Text(Cow::Owned(text.clone())),
        _ => View::Parts(parts),
    }
}

impl<'a> From<&'a CallResult> for ToolResult<'a> {
    fn from(result: &'a CallResult) -> Self {
        let view = match (result.error(), result.model_output(), result.output()) {
            (Some(error), _, _) => View::Text(error.model_text().into()),
            (None, Some(output), _) => view(output),
            (None, None, Some(output)) => payload(output),
            (None, None, None) => View::Text(Cow::Borrowed("")),
        };
        Self {
            id: result.id(),
            name: result.name(),
            view,
            is_error: result.is_error(),
        }
    }
}

impl<'a> From<&'a ToolMessage> for ToolResult<'a> {
    fn from(message: &'a ToolMessage) -> Self {
        let view = match (&message.model, &message.output) {
            (Some(output), _) => view(output),
            // If the text is the text of the payload, the model reads the payload.
            (None, Some(output)) if output.get() == message.text => payload(output),
            (None, _) => View::Text(Cow::Borrowed(&message.text)),
        };
        Self {
            id: &message.id,
            name: &message.name,
            view,
            is_error: message.is_error(),
        }
    }
}

/// Messages in a provider's format: the results of calls, a user's message, or a whole thread.
#[derive(Clone, Debug, Default)]
pub struct RequestMessages {
    /// Messages (items, contents) of the next request, in order.
    pub messages: Vec<Box<RawValue>>,
    /// Files that the provider does not accept. In place of each one, the model reads a line that names it.
    pub left_out: Vec<UnsupportedFile>,
    /// The system messages, if the provider takes them outside the messages. Flatten this into the request.
    pub system: SystemPrompt,
    /// The number of documents in the messages, for Bedrock: no two documents in a request may have the same name.
    pub(super) documents: usize,
}

/// A file that a provider does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedFile {
    /// The id of the call whose result has the file; `None` for a file in a user's message.
    pub call: Option<String>,
    /// The media type of the file.
    pub media_type: String,
    /// Why the provider does not accept the file.
    pub why: &'static str,
}

impl RequestMessages {
    /// Adds a system message, at the place where the provider takes it.
    pub(super) fn add_system(&mut self, provider: Provider, text: String) {
        match provider {
            Provider::Chat | Provider::Responses => {
                self.messages
                    .push(raw(&json!({"role": "system", "content": text})));
            }
            Provider::Anthropic | Provider::Gemini | Provider::Bedrock => {
                self.system.push(provider, text);
            }
        }
    }

    /// Records a file that is left out, and returns the line that the model reads. `call` is the call whose result has the file.
    pub(super) fn leave_out(
        &mut self,
        call: Option<&str>,
        file: &File<'_>,
        why: &'static str,
    ) -> String {
        self.left_out.push(UnsupportedFile {
            call: call.map(str::to_owned),
            media_type: file.media_type.to_owned(),
            why,
        });
        let mut line = format!("[{} left out", file.media_type);
        if let Some(name) = file.name {
            line.push_str(", ");
            line.push_str(name);
        }
        if let Bytes::At(url) = file.bytes {
            line.push_str(", ");
            line.push_str(url);
        }
        line.push_str(": ");
        line.push_str(why);
        line.push(']');
        line
    }
}

/// A file among the parts of a result or of a user's message.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    /// Type and subtype, without parameters.
    pub(super) media_type: &'a str,
    pub(super) bytes: Bytes<'a>,
    pub(super) name: Option<&'a str>,
}

/// The bytes of a file, or their address.
#[derive(Clone, Copy)]
pub(super) enum Bytes<'a> {
    Base64(&'a str),
    At(&'a str),
}

/// A part of a result or of a user's message: text or a file.
pub(super) enum Piece<'a> {
    Text(&'a str),
    File(File<'a>),
}

pub(super) fn piece(part: &Part) -> Piece<'_> {
    match part {
        Part::Text { text } => Piece::Text(text),
        Part::File {
            media_type,
            source: Source::Base64(data),
            name,
        } => Piece::File(File::new(media_type, Bytes::Base64(data), name.as_deref())),
        Part::File {
            media_type,
            source: Source::Url(url),
            name,
        } => Piece::File(File::new(media_type, Bytes::At(url), name.as_deref())),
        // `Part` and `Source` are non-exhaustive, but this crate is built with one version of `tool-core`, which has no other variants.
        _ => Piece::Text("[left out: a part of an unknown kind]"),
    }
}

impl<'a> File<'a> {
    fn new(media_type: &'a str, bytes: Bytes<'a>, name: Option<&'a str>) -> Self {
        Self {
            media_type: media_type.split(';').next().unwrap_or_default().trim(),
            bytes,
            name: name.filter(|name| !name.is_empty()),
        }
    }
}

impl File<'_> {
    pub(super) fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Whether this is an image of a type that every provider with image support accepts.
    pub(super) fn is_common_image(&self) -> bool {
        matches!(
            self.media_type,
            "image/png" | "image/jpeg" | "image/gif" | "image/webp"
        )
    }

    /// The length of the base64 text; 0 for a file at an address.
    pub(super) fn encoded(&self) -> usize {
        match self.bytes {
            Bytes::Base64(data) => data.len(),
            Bytes::At(_) => 0,
        }
    }

    /// A text file as text of the message, after its name, for providers that do not accept its type as a file.
    pub(super) fn as_text(&self) -> Option<String> {
        /// A longer text would fill the model's context window.
        const MOST: usize = 256 << 10;
        let is_text = match self.media_type.split_once('/')? {
            ("text", _)
            | ("application", "json" | "xml" | "yaml" | "toml" | "javascript" | "sql") => true,
            (_, rest) => {
                rest.ends_with("+json") || rest.ends_with("+xml") || rest.ends_with("+yaml")
            }
        };
        let text = (is_text && self.encoded() <= MOST)
            .then(|| self.text())
            .flatten()?;
        Some(format!("{}:\n{text}", self.named()))
    }

    /// Whether a provider can fetch the file from a web address.
    pub(super) fn is_web(&self) -> bool {
        let web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        matches!(self.bytes, Bytes::At(url) if web(url))
    }

    /// The file's own address, or a `data:` URL that holds its bytes.
    pub(super) fn url(&self) -> Cow<'_, str> {
        match self.bytes {
            Bytes::At(url) => Cow::Borrowed(url),
            Bytes::Base64(data) => Cow::Owned(format!("data:{};base64,{data}", self.media_type)),
        }
    }

    /// The bytes as text, if they are present and UTF-8.
    pub(super) fn text(&self) -> Option<String> {
        let Bytes::Base64(data) = self.bytes else {
            return None;
        };
        String::from_utf8(BASE64_STANDARD.decode(data).ok()?).ok()
    }

    /// The file's name, or one made from its media type.
    pub(super) fn named(&self) -> Cow<'_, str> {
        self.name.map_or_else(
            || {
                let kind = self.media_type.rsplit('/').next().unwrap_or_default();
                Cow::Owned(format!("file.{kind}"))
            },
            Cow::Borrowed,
        )
    }
}

/// Brings the results of a message's calls into the order of the calls. Fails if a call has no result, or if a result has no call.
pub(super) fn in_order<'a>(
    message: &ModelMessage,
    results: impl Iterator<Item = ToolResult<'a>>,
) -> Result<Vec<ToolResult<'a>>, WireError> {
    let mut open: Vec<Option<ToolResult<'a>>> = message.calls.iter().map(|_| None).collect();
    for result in results {
        let place = message
            .calls
            .iter()
            .zip(&open)
            .position(|(call, taken)| call.id == result.id && taken.is_none());
        match place {
            Some(at) => open[at] = Some(result),
            None => {
                return Err(WireError::Unasked {
                    call: result.id.to_owned(),
                });
            }
        }
    }
    let results = message.calls.iter().zip(open).map(|(call, result)| {
        result.ok_or_else(|| WireError::Unanswered {
            call: call.id.clone(),
        })
    });
    results.collect()
}
