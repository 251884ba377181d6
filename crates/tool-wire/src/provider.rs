//! The model providers whose APIs are supported.

use std::fmt;

use serde::{Deserialize, Serialize};
use tool_core::Dialect;

/// The API of a model provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[doc(alias(
    "OpenAI",
    "Claude",
    "chat completions",
    "responses API",
    "function calling"
))]
pub enum Provider {
    /// The Chat Completions API of `OpenAI`, and of the many compatible servers.
    Chat,
    /// The Responses API of `OpenAI`.
    Responses,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The `generateContent` API of Gemini.
    Gemini,
    /// The Converse API of Amazon Bedrock.
    Bedrock,
}

impl Provider {
    /// All providers, in the order of the variants.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Responses,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
    ];

    /// Returns the name of the provider in stores and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// Returns the schema dialect of the provider. Bedrock uses the dialect of Anthropic.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Chat | Self::Responses => Dialect::OpenAi,
            Self::Anthropic | Self::Bedrock => Dialect::Anthropic,
            Self::Gemini => Dialect::Gemini,
        }
    }
}

/// Writes the name of the provider's API, such as `OpenAI Responses`.
impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chat => "OpenAI Chat Completions",
            Self::Responses => "OpenAI Responses",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Bedrock => "Bedrock",
        })
    }
}
