//! System messages in each provider's format.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;

use super::Provider;
use super::json::json as raw;

/// The system messages of a thread, for providers that accept them in a field of the request and not among the messages: `system` of
/// Anthropic and Bedrock, `systemInstruction` of Gemini. The field contains the text of each message, in order.
///
/// Flatten it into the request of any provider: it writes no field without a system message, and no field for OpenAI Chat Completions and Responses,
/// where system messages are among the other messages. A request cannot have the same field twice: if your request already has it, store its text
/// with [`Turns::instruct`](tool_core::turn::Turns::instruct), or join both with [`texts`](Self::texts).
///
/// ```
/// use serde::Serialize;
/// use serde_json::json;
/// use serde_json::value::RawValue;
/// use tool_wire::{Provider, SystemPrompt};
///
/// #[derive(Serialize)]
/// struct Body<'a> {
///     model: &'a str,
///     #[serde(flatten)]
///     system: &'a SystemPrompt,
///     messages: &'a [Box<RawValue>],
/// }
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let history = Provider::Anthropic.system_message("Be brief.");
/// let body = Body { model: "a-model", system: &history.system, messages: &history.messages };
/// assert_eq!(
///     serde_json::to_value(&body)?,
///     json!({"model": "a-model", "system": [{"type": "text", "text": "Be brief."}], "messages": []})
/// );
///
/// let history = Provider::Chat.system_message("Be brief.");
/// let body = Body { model: "a-model", system: &history.system, messages: &history.messages };
/// assert_eq!(
///     serde_json::to_value(&body)?,
///     json!({"model": "a-model", "messages": [{"role": "system", "content": "Be brief."}]})
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct SystemPrompt {
    /// The provider, if it accepts the texts in a field.
    provider: Option<Provider>,
    texts: Vec<String>,
}

impl SystemPrompt {
    /// Adds the text of a system message, for a provider that accepts the texts in a field.
    pub(super) fn push(&mut self, provider: Provider, text: String) {
        self.provider = Some(provider);
        self.texts.push(text);
    }

    /// Returns whether the prompt contains no text, and therefore adds no field to the request.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the texts of the system messages, in order.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns the field's name and value, or `None` if the request needs no field, for a request that is built by hand.
    pub fn field(&self) -> Option<(&'static str, Box<RawValue>)> {
        let provider = self.provider.filter(|_| !self.is_empty())?;
        let block = |text: &String| match provider {
            Provider::Anthropic => json!({"type": "text", "text": text}),
            _ => json!({"text": text}),
        };
        let blocks: Vec<_> = self.texts.iter().map(block).collect();
        Some(match provider {
            Provider::Gemini => ("systemInstruction", raw(&json!({"parts": blocks}))),
            _ => ("system", raw(&blocks)),
        })
    }
}

impl Serialize for SystemPrompt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let field = self.field();
        let mut fields = serializer.serialize_map(Some(field.iter().len()))?;
        if let Some((name, value)) = field {
            fields.serialize_entry(name, &value)?;
        }
        fields.end()
    }
}
