//! What of an output a model reads.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::ToolError;
use crate::redact::Redactor;

/// What the model reads of an output.
///
/// ```
/// use tool_core::ModelOutput;
///
/// assert_eq!(ModelOutput::text("3 hits").to_text(), "3 hits");
/// assert_eq!(ModelOutput::json(&[1, 2]).to_text(), "[1,2]");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
#[doc(alias("content block", "image", "multimodal"))]
pub struct ModelOutput(pub(crate) Content);

/// As a store keeps it, too: what is skipped there is settled before a result is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    Text(String),
    Json(Box<RawValue>),
    Parts(Vec<Part>),
    /// The payload, as far as this many bytes reach; the pipeline makes a text of it.
    #[serde(skip)]
    Bounded(usize),
    /// What was to be read could not be written; the call fails with this.
    #[serde(skip)]
    Broken(String),
}

/// One part of what a model reads: of a tool's output, or of a user's message ([`UserMessage`](crate::turn::UserMessage)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image or a file.
    File {
        /// Its media type, such as `image/png`.
        media_type: String,
        /// Where its bytes are.
        source: Source,
        /// A name to show.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

/// Where the bytes of a part are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// Here, as base64 text.
    Base64(String),
    /// At an address.
    Url(String),
}

impl Part {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// An image or file whose bytes are base64 text.
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::File {
            media_type: media_type.into(),
            source: Source::Base64(data.into()),
            name: None,
        }
    }

    /// An image or file at an address.
    pub fn url(media_type: impl Into<String>, url: impl Into<String>) -> Self {
        Self::File {
            media_type: media_type.into(),
            source: Source::Url(url.into()),
            name: None,
        }
    }

    /// The same file with a name; a URI where it can be found by one. Text has no name.
    #[must_use]
    pub fn named(mut self, title: impl Into<String>) -> Self {
        if let Self::File { name, .. } = &mut self {
            *name = Some(title.into());
        }
        self
    }
}

impl Part {
    fn redacted(self, redactor: &Redactor) -> Self {
        match self {
            Self::Text { text } => Self::text(redactor.own(text)),
            Self::File {
                source: Source::Base64(data),
                ..
            } if matches!(redactor.redact(&data), Cow::Owned(_)) => {
                Self::text("[a file is left out here, it holds a secret]")
            }
            Self::File {
                media_type,
                source,
                name,
            } => Self::File {
                media_type: redactor.own(media_type),
                source: match source {
                    Source::Url(url) => Source::Url(redactor.own(url)),
                    other @ Source::Base64(_) => other,
                },
                name: name.map(|name| redactor.own(name)),
            },
        }
    }
}

/// Parts as text alone: a file is named by its media type.
pub(crate) fn parts_as_text(parts: &[Part]) -> String {
    let lines: Vec<Cow<'_, str>> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => Cow::Borrowed(text.as_str()),
            Part::File { media_type, .. } => Cow::Owned(format!("[{media_type}]")),
        })
        .collect();
    lines.join("\n")
}

impl ModelOutput {
    /// Whether it is no more than a text.
    #[cfg(feature = "host")]
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self.0, Content::Json(_) | Content::Parts(_))
    }

    /// The model reads this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Content::Text(text.into()))
    }

    /// The model reads this value as JSON. A value that cannot be written as JSON makes the call fail.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Self {
        Self(match serde_json::value::to_raw_value(value) {
            Ok(json) => Content::Json(json),
            Err(error) => Content::Broken(error.to_string()),
        })
    }

    /// The model reads text, images and files.
    pub fn parts(parts: impl IntoIterator<Item = Part>) -> Self {
        Self(Content::Parts(parts.into_iter().collect()))
    }

    /// The model reads the payload, but no more than this of it.
    pub(crate) fn bounded(limit: usize) -> Self {
        Self(Content::Bounded(limit))
    }

    /// How much of the payload the model reads, where that is bounded.
    pub(crate) fn bound(&self) -> Option<usize> {
        match self.0 {
            Content::Bounded(limit) => Some(limit),
            _ => None,
        }
    }

    /// As text alone; a part that is no text is named by its media type.
    pub fn to_text(&self) -> String {
        match &self.0 {
            Content::Text(text) | Content::Broken(text) => text.clone(),
            Content::Json(json) => json.get().to_owned(),
            Content::Bounded(limit) => format!("[the first {limit} bytes of the output]"),
            Content::Parts(parts) => parts_as_text(parts),
        }
    }

    /// As parts, for providers whose results have them.
    pub fn to_parts(&self) -> Cow<'_, [Part]> {
        match &self.0 {
            Content::Parts(parts) => Cow::Borrowed(parts),
            _ => Cow::Owned(vec![Part::text(self.to_text())]),
        }
    }

    /// The JSON value, where it is one.
    pub fn as_json(&self) -> Option<&RawValue> {
        match &self.0 {
            Content::Json(json) => Some(json),
            _ => None,
        }
    }

    /// The same without secrets. A file that holds one is left out, and a text says so.
    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        Self(match self.0 {
            Content::Text(text) => Content::Text(redactor.own(text)),
            Content::Json(json) => Content::Json(redactor.payload(json)),
            Content::Broken(text) => Content::Broken(redactor.own(text)),
            Content::Bounded(limit) => Content::Bounded(limit),
            Content::Parts(parts) => Content::Parts(
                parts
                    .into_iter()
                    .map(|part| part.redacted(redactor))
                    .collect(),
            ),
        })
    }

    /// The error where the output could not be written.
    pub(crate) fn proven(self) -> Result<Self, ToolError> {
        match self.0 {
            Content::Broken(text) => Err(ToolError::new("the tool's output could not be written")
                .operator(format!("its model output is not JSON: {text}"))),
            _ => Ok(self),
        }
    }
}
