//! What a tool returns, and what of it the model reads.

use std::borrow::Cow;
use std::time::SystemTime;

use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::ToolError;
use crate::redact::Redactor;

mod into_output;
mod write;

pub(crate) use write::write;

/// What an erased run gives.
#[derive(Debug)]
pub(crate) struct Output {
    /// The payload, for the client.
    pub(crate) payload: Box<RawValue>,
    /// What the model reads instead.
    pub(crate) model: Option<ModelOutput>,
}

/// What a tool fn may return.
///
/// `Result<T, E>` with a serialisable `T` and any error, a [`ToolStream`](crate::ToolStream), the types of the standard library, and
/// whatever derives `StrictSchema` and `Serialize`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not something a tool can return",
    note = "return `Result<{Self}, ToolError>`: any type that is `Serialize` can stand there",
    note = "or derive `StrictSchema` and `Serialize` for `{Self}`"
)]
pub trait IntoOutput {
    /// The payload's type.
    type Value: Serialize + Send + 'static;

    /// The one value, or the stream that ends with it.
    fn into_returned(self) -> Result<Returned<Self::Value>, ToolError>;
}

/// An error that may end a tool.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`: it is no `std::error::Error`",
    label = "its error cannot become a `ToolError`",
    note = "return `Result<…, ToolError>`: `?` takes every `std::error::Error`, what is none takes `.map_err(|error| ToolError::new(\"…\"))?`",
    note = "`Box<dyn Error>` is none either: `.map_err(ToolError::foreign)?` takes `Box<dyn Error + Send + Sync>` and `anyhow::Error`"
)]
pub trait Failure {
    /// The error of this crate.
    fn into_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Failure for E {
    fn into_error(self) -> ToolError {
        self.into()
    }
}

/// What a tool fn gave.
pub enum Returned<T> {
    /// The output.
    Value(T),
    /// Steps that end with the output.
    Stream(BoxStream<'static, Result<Step<T>, ToolError>>),
}

/// One step of a generator tool, progress written as JSON already.
pub enum Step<T> {
    /// For the client.
    Progress(Box<RawValue>),
    /// The output.
    Final(T),
}

/// What the model reads of an output.
///
/// ```
/// use tool_core::ModelOutput;
///
/// assert_eq!(ModelOutput::text("3 hits").to_text(), "3 hits");
/// assert_eq!(ModelOutput::json(&[1, 2]).to_text(), "[1,2]");
/// ```
#[derive(Clone, Debug)]
pub struct ModelOutput(Content);

#[derive(Clone, Debug)]
enum Content {
    Text(String),
    Json(Box<RawValue>),
    Parts(Vec<Part>),
    /// The payload, as far as this many bytes reach; the pipeline makes a text of it.
    Bounded(usize),
    /// What was to be read could not be written; the call fails with this.
    Broken(String),
}

/// What a model reads, as a store keeps it.
#[cfg(feature = "host")]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredModel {
    Text(String),
    Json(Box<RawValue>),
    Parts(Vec<Part>),
}

#[cfg(feature = "host")]
impl ModelOutput {
    pub(crate) fn to_stored(&self) -> StoredModel {
        match &self.0 {
            Content::Text(text) | Content::Broken(text) => StoredModel::Text(text.clone()),
            Content::Json(json) => StoredModel::Json(json.clone()),
            Content::Parts(parts) => StoredModel::Parts(parts.clone()),
            // Settled before anything is stored.
            Content::Bounded(_) => StoredModel::Text(self.to_text()),
        }
    }

    pub(crate) fn from_stored(stored: StoredModel) -> Self {
        Self(match stored {
            StoredModel::Text(text) => Content::Text(text),
            StoredModel::Json(json) => Content::Json(json),
            StoredModel::Parts(parts) => Content::Parts(parts),
        })
    }
}

/// One part of what a model reads.
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

impl ModelOutput {
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
            Content::Parts(parts) => {
                let lines: Vec<Cow<'_, str>> = parts
                    .iter()
                    .map(|part| match part {
                        Part::Text { text } => Cow::Borrowed(text.as_str()),
                        Part::File { media_type, .. } => Cow::Owned(format!("[{media_type}]")),
                    })
                    .collect();
                lines.join("\n")
            }
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

/// An output that says itself what the model reads of it. The client still gets the whole.
///
/// A tool whose output type has this is shown to the model through it, without a word on the attribute.
pub trait ToModelOutput {
    /// What the model reads.
    fn to_model_output(&self) -> ModelOutput;
}

/// Where (a part of) an output comes from.
///
/// A tool attaches it with [`ToolContext::cite`](crate::ToolContext::cite); it reaches the client beside the output and is not
/// touched by what the model reads.
///
/// ```
/// use tool_core::Citation;
///
/// let citation = Citation::new("handbook", "onboarding.md")
///     .version("42")
///     .retrieved_at("2026-03-01T09:30:00Z")?;
/// assert!(Citation::new("handbook", "onboarding.md").retrieved_at("yesterday").is_err());
/// # Ok::<(), tool_core::ToolError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Citation {
    source: String,
    source_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(deserialize_with = "timestamp")]
    retrieved_at: String,
}

impl Citation {
    /// Names the source and the thing in it; retrieved now.
    pub fn new(source: impl Into<String>, source_id: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            source_id: source_id.into(),
            version: None,
            retrieved_at: rfc3339(SystemTime::now()),
        }
    }

    /// Which version of it.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// When it was read, as ISO 8601 text with an offset.
    pub fn retrieved_at(mut self, time: impl Into<String>) -> Result<Self, ToolError> {
        let time = time.into();
        if !is_timestamp(&time) {
            return Err(ToolError::new("the tool's citation is malformed").operator(format!(
                "`retrieved_at` of a citation is `{time}`, write ISO 8601 such as `2026-03-01T09:30:00Z`"
            )));
        }
        self.retrieved_at = time;
        Ok(self)
    }

    /// When it was read.
    #[must_use]
    pub fn retrieved(mut self, time: SystemTime) -> Self {
        self.retrieved_at = rfc3339(time);
        self
    }

    /// The source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The thing in the source.
    pub fn source_id(&self) -> &str {
        &self.source_id
    }

    /// Its version.
    pub fn version_text(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// When it was read, as ISO 8601 text.
    pub fn retrieved_at_text(&self) -> &str {
        &self.retrieved_at
    }
}

fn is_timestamp(text: &str) -> bool {
    crate::schema::Format::DateTime.matches(text.as_bytes())
}

fn timestamp<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_timestamp(&text) {
        return Ok(text);
    }
    Err(serde::de::Error::custom(
        "`retrievedAt` is no ISO 8601 time with an offset",
    ))
}

/// UTC with seconds. Days to a date by Howard Hinnant's `civil_from_days`.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 {
        month_shifted + 3
    } else {
        month_shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3_600,
        second % 3_600 / 60,
        second % 60
    )
}
