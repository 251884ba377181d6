//! Messages of a request: the model's messages, the results of its calls, and the user's messages.

use serde_json::value::RawValue;
use tool_core::turn::{ModelMessage, UserMessage};

use super::results::{self, ToolResult};
use super::{
    Provider, RequestMessages, WireError, anthropic, bedrock, chat, gemini, responses, user,
};

impl Provider {
    /// Writes the model's message as messages (items, contents) of the next request: unchanged if the message has the stored form of this provider,
    /// otherwise made from its text and calls.
    pub fn assistant(self, message: &ModelMessage) -> Vec<Box<RawValue>> {
        self.unchanged(message, None)
            .unwrap_or_else(|| self.rewritten(message))
    }

    /// Returns the model's message as it was written, for a request to an origin. Returns `None` if the message has no stored form of a provider, or
    /// has the form of a different provider or origin. An unknown origin, of the request or of the message, counts as the same origin.
    pub(super) fn unchanged(
        self,
        message: &ModelMessage,
        origin: Option<&str>,
    ) -> Option<Vec<Box<RawValue>>> {
        let written = message.written.as_ref()?;
        let elsewhere = |written: &str| origin.is_some_and(|origin| origin != written);
        if written.provider != self.name() || written.origin.as_deref().is_some_and(elsewhere) {
            return None;
        }
        serde_json::from_str(&written.messages).ok()
    }

    /// Writes the model's message from its text and its calls.
    pub(super) fn rewritten(self, message: &ModelMessage) -> Vec<Box<RawValue>> {
        match self {
            Self::Chat => chat::assistant(message),
            Self::Responses => responses::assistant(message),
            Self::Anthropic => anthropic::assistant(message),
            Self::Gemini => gemini::assistant(message),
            Self::Bedrock => bedrock::assistant(message),
        }
    }

    /// Writes the results of a message's calls as messages (items, contents) of the next request.
    ///
    /// The messages are in the order of the calls and not of `results`: each result answers the first open call with its id. Every
    /// call must have a result. A [`CallResult`](tool_core::CallResult) and a turn's [`ToolMessage`](tool_core::turn::ToolMessage) are both accepted.
    pub fn results<'a, R: Into<ToolResult<'a>>>(
        self,
        message: &ModelMessage,
        results: impl IntoIterator<Item = R>,
    ) -> Result<RequestMessages, WireError> {
        let results = results::in_order(message, results.into_iter().map(Into::into))?;
        let mut out = RequestMessages::default();
        self.write_results(&results, &mut out);
        Ok(out)
    }

    pub(super) fn write_results(self, results: &[ToolResult<'_>], out: &mut RequestMessages) {
        match self {
            Self::Chat => chat::results(results, out),
            Self::Responses => responses::results(results, out),
            Self::Anthropic => anthropic::results(results, out),
            Self::Gemini => gemini::results(results, out),
            Self::Bedrock => bedrock::results(results, out),
        }
    }

    /// Writes a system message to the messages or to the field [`RequestMessages::system`], for hosts with their own loop;
    /// [`history`](Self::history) writes it automatically.
    pub fn system_message(self, text: &str) -> RequestMessages {
        let mut out = RequestMessages::default();
        out.add_system(self, text.to_owned());
        out
    }

    /// Writes a user's text as a message (item, content) of the next request.
    pub fn user(self, text: &str) -> Box<RawValue> {
        user::text(self, text)
    }

    /// Writes a user's message with images and files, for hosts with their own loop; [`history`](Self::history) writes it automatically.
    ///
    /// ```
    /// use tool_core::Part;
    /// use tool_core::turn::UserMessage;
    /// use tool_wire::Provider;
    ///
    /// let message = UserMessage::from([
    ///     Part::text("What is on this picture?"),
    ///     Part::url("image/png", "https://example.com/cat.png"),
    /// ]);
    /// let sent = Provider::Chat.user_message(&message);
    /// assert!(sent.messages[0].get().contains(r#""image_url":{"url":"https://example.com/cat.png"}"#));
    ///
    /// // Bedrock does not fetch addresses, so the model reads a line in place of the picture.
    /// let sent = Provider::Bedrock.user_message(&message);
    /// assert_eq!(sent.left_out[0].media_type, "image/png");
    /// ```
    pub fn user_message(self, message: &UserMessage) -> RequestMessages {
        let mut out = RequestMessages::default();
        user::write(self, message.parts(), &mut out);
        out
    }
}
