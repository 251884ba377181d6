//! Messages of a request, and the files that the provider does not accept.

use serde_json::json;
use serde_json::value::RawValue;

use super::file::{Bytes, File};
use super::json::json as raw;
use super::{Provider, SystemPrompt};

/// Messages in a provider's format: the results of calls, a user's message, a system message, or a complete thread.
#[derive(Clone, Debug, Default)]
pub struct RequestMessages {
    /// Messages (items, contents) of the next request, in order.
    pub messages: Vec<Box<RawValue>>,
    /// Files that the provider does not accept. In place of each file, the model reads a line that names the file.
    pub left_out: Vec<UnsupportedFile>,
    /// The system messages, if the provider accepts them only outside of the messages. Flatten this into the request.
    pub system: SystemPrompt,
    /// The number of documents in the messages, for Bedrock: no two documents in a request may have the same name.
    pub(super) documents: usize,
}

/// A file that a provider does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedFile {
    /// The id that the request has for the call whose result contains the file; `None` for a file in a user's message.
    pub call: Option<String>,
    /// The media type of the file.
    pub media_type: String,
    /// Why the provider does not accept the file.
    pub why: &'static str,
}

impl RequestMessages {
    /// Adds a system message, at the place where the provider expects it.
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

    /// Records a file that is left out, and returns the line that the model reads. `call` is the id of the call whose result contains the file;
    /// `None` for a file in a user's message.
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
