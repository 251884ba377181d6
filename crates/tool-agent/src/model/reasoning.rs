//! Reasoning of earlier messages in requests to servers of Chat Completions.

use std::collections::BTreeMap;

use reqwest::Url;
use serde_json::value::{RawValue, to_raw_value};

/// How requests to a server of Chat Completions contain the reasoning of earlier messages; set by
/// [`HttpModelBuilder::past_reasoning`](super::HttpModelBuilder::past_reasoning).
///
/// OpenAI's own API has no field for reasoning. Compatible servers add `reasoning_content`, `reasoning` or `reasoning_details`, and have different
/// rules (as of November 2026). DeepSeek (from V3.2) and Kimi refuse a request whose messages with calls lack the reasoning of these calls. Kimi
/// refuses an empty reasoning, too. OpenRouter needs `reasoning_details` unchanged, because they contain signatures. Servers of older models, such as
/// DeepSeek R1, refuse every request with the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias("reasoning_content", "reasoning_details", "DeepSeek", "Kimi"))]
pub enum PastReasoning {
    /// Each message contains its reasoning unchanged, in the same field. The reasoning is sent only to the model and the endpoint that wrote it.
    Own,
    /// As [`Own`](Self::Own), and each message with calls that has no reasoning gets a `reasoning_content` of one space. A server that requires the
    /// field then accepts a thread that a different model began.
    Required,
    /// No message contains reasoning.
    Omit,
}

/// The fields that servers add for reasoning.
const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The shortest text that Kimi accepts as reasoning.
const PLACEHOLDER: &str = " ";

impl PastReasoning {
    /// Returns the rule of a known server.
    pub(super) fn of(url: &Url, model: &str) -> Self {
        match url.host_str() {
            Some("api.deepseek.com") => Self::Required,
            Some("api.moonshot.ai" | "api.moonshot.cn") if model.starts_with("kimi-") => {
                Self::Required
            }
            _ => Self::Own,
        }
    }

    /// Applies the rule to the messages of a request.
    pub(super) fn apply(self, messages: &mut [Box<RawValue>]) {
        if self == Self::Own {
            return;
        }
        for message in messages {
            if let Some(changed) = self.changed(message) {
                *message = changed;
            }
        }
    }

    /// Returns the message as the server needs it; `None` if it needs no change.
    fn changed(self, message: &RawValue) -> Option<Box<RawValue>> {
        // The values remain raw texts, so the arguments of calls are not changed.
        let mut fields: BTreeMap<&str, &RawValue> = serde_json::from_str(message.get()).ok()?;
        if self == Self::Omit {
            let found = FIELDS.map(|field| fields.remove(field).is_some());
            return found.contains(&true).then(|| to_raw_value(&fields).ok())?;
        }
        let is_given = |field: &&str| {
            let value = fields.get(field).map(|value| value.get());
            value.is_some_and(|value| !matches!(value, r#""""# | "[]" | "null"))
        };
        if !fields.contains_key("tool_calls") || FIELDS.iter().any(is_given) {
            return None;
        }
        let placeholder = to_raw_value(PLACEHOLDER).ok()?;
        fields.insert(FIELDS[0], &placeholder);
        to_raw_value(&fields).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A host whose name only begins like the name of a known server has the default rule.
    #[test]
    fn servers_that_require_reasoning_are_known() {
        for (url, model, expected) in [
            ("https://api.deepseek.com/v1", "deepseek-v4-pro", true),
            ("https://api.moonshot.ai/v1", "kimi-k2.6", true),
            ("https://api.moonshot.cn/v1", "kimi-k2-thinking", true),
            ("https://api.moonshot.ai/v1", "moonshot-v1-8k", false),
            ("https://api.deepseek.com.example.com/v1", "m", false),
            (
                "https://openrouter.ai/api/v1",
                "moonshotai/kimi-k2.6",
                false,
            ),
        ] {
            let rule = PastReasoning::of(&url.parse().unwrap(), model);
            assert_eq!(rule == PastReasoning::Required, expected, "{url} {model}");
        }
    }
}
