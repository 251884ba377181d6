//! What of an output a model reads.

use std::borrow::Cow;
use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{check, seen};
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
    /// The payload, as far as this many bytes reach; the pipeline makes a text of it. A payload with files is given as the text that names
    /// them, and the files, which do not count.
    #[serde(skip)]
    Bounded(usize, Option<Box<Named>>),
    /// What was to be read could not be written; the call fails with this.
    #[serde(skip)]
    Broken(String),
}

/// A payload with files, as a text that names them. Boxed above, because results are moved often and few have files.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) text: String,
    /// In the order of their numbers in the text.
    pub(crate) files: Vec<Part>,
}

/// One part of what a model reads: of a tool's output, or of a user's message ([`UserMessage`](crate::turn::UserMessage)).
///
/// A tool may return parts, where it is not known before how many texts and files there are:
///
/// ```
/// use tool_core::prelude::*;
/// use tool_core::{Image, Part};
///
/// /// Shows the pages that match.
/// #[tool(read_only)]
/// fn show_pages() -> Result<Vec<Part>, ToolError> {
///     let page = Image::detect(b"GIF89a\x01\0\x01\0")?;
///     Ok(vec!["Page 1".into(), page.clone().into(), "Page 2".into(), page.into()])
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let result = toolset![show_pages].call(ToolCall::new("c-1", "show_pages", "{}"), &ToolContext::anonymous()).await;
/// # assert_eq!(result.model_text(), "Page 1\n[image/gif]\nPage 2\n[image/gif]");
/// # }
/// ```
///
/// In the output of a tool, a file is `{"type":"file","mediaType":"…","filename":"…","url":"…"}`, where the URL of bytes is a `data:` URL,
/// as an [`Image`](crate::Image) is. Anywhere else it is written as stores keep it, with `media_type`, `source` and `name`. Both are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
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
        name: Option<String>,
    },
}

/// A [`Part`] as stores keep it. What version 0.1 has written is read by later ones, and the other way round.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kept<'a> {
    Text {
        text: &'a str,
    },
    File {
        media_type: &'a str,
        source: &'a Source,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: &'a Option<String>,
    },
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kept = match self {
            Self::Text { text } => Kept::Text { text },
            Self::File {
                media_type,
                source,
                name,
            } if seen::note(|| self.clone()) => {
                return write_file(media_type, source, name.as_deref(), serializer);
            }
            Self::File {
                media_type,
                source,
                name,
            } => Kept::File {
                media_type,
                source,
                name,
            },
        };
        kept.serialize(serializer)
    }
}

/// As a part of the type `file` of the AI SDK's messages, which interfaces show as it is.
pub(super) fn write_file<S: Serializer>(
    media_type: &str,
    source: &Source,
    name: Option<&str>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    /// `data:image/png;base64,…`, or the address, without a copy of the bytes.
    struct Url<'a>(&'a str, &'a Source);

    impl Serialize for Url<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Self(media_type, source) = self;
            match source {
                Source::Url(url) => serializer.serialize_str(url),
                Source::Base64(data) => {
                    serializer.collect_str(&format_args!("data:{media_type};base64,{data}"))
                }
            }
        }
    }

    let count = if name.is_some() { 4 } else { 3 };
    let mut written = serializer.serialize_struct("File", count)?;
    written.serialize_field("type", "file")?;
    written.serialize_field("mediaType", media_type)?;
    match name {
        Some(name) => written.serialize_field("filename", name)?,
        None => written.skip_field("filename")?,
    }
    written.serialize_field("url", &Url(media_type, source))?;
    written.end()
}

/// The URL of a file as [`write_file`] writes it.
pub(super) fn source_of(media_type: &str, url: String) -> Source {
    let data = url.strip_prefix("data:").and_then(|rest| {
        let own = rest.strip_prefix(media_type);
        own.and_then(|rest| rest.strip_prefix(";base64,"))
            .or_else(|| Some(rest.split_once(";base64,")?.1))
    });
    match data {
        Some(data) => Source::Base64(data.to_owned()),
        None => Source::Url(url),
    }
}

/// A [`Part`] as stores keep it, or as clients get it.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written {
    Text {
        text: String,
    },
    File {
        #[serde(alias = "mediaType")]
        media_type: String,
        url: Option<String>,
        source: Option<Source>,
        #[serde(alias = "filename")]
        name: Option<String>,
    },
}

impl TryFrom<Written> for Part {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        Ok(match written {
            Written::Text { text } => Self::Text { text },
            Written::File {
                media_type,
                url,
                source,
                name,
            } => Self::File {
                source: match (source, url) {
                    (Some(source), _) => source,
                    (None, Some(url)) => source_of(&media_type, url),
                    (None, None) => return Err("a file has a `url`"),
                },
                media_type,
                name,
            },
        })
    }
}

/// Where the bytes of a part are.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// Here, as base64 text.
    Base64(String),
    /// At an address.
    Url(String),
}

impl Source {
    /// How many bytes are here.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Base64(data) => decoded_size(data),
            Self::Url(_) => 0,
        }
    }
}

/// How many bytes a base64 text stands for.
pub fn decoded_size(data: &str) -> usize {
    let end = data.bytes().rev().take(2);
    let padding = end.filter(|byte| *byte == b'=').count();
    (data.len() / 4 * 3).saturating_sub(padding)
}

/// Without the bytes, which fill a log.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base64(_) => write!(f, "Base64({} bytes)", self.size()),
            Self::Url(url) => f.debug_tuple("Url").field(url).finish(),
        }
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
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

/// What stands for a file that holds a secret.
pub const HOLDS_SECRET: &str = "[a file is left out here, it holds a secret]";

/// The payload without the files that hold a secret: masked in place, such a file would be another one.
pub(crate) fn without_secret_files(
    payload: Box<RawValue>,
    model: Option<&ModelOutput>,
    redactor: &Redactor,
) -> Box<RawValue> {
    let parts = match model {
        Some(ModelOutput(Content::Parts(parts))) => parts,
        Some(ModelOutput(Content::Bounded(_, Some(named)))) => &named.files,
        _ => return payload,
    };
    let secret: Vec<Part> = parts
        .iter()
        .filter(|part| part.holds_secret(redactor))
        .cloned()
        .collect();
    match seen::without(payload.get(), &secret, HOLDS_SECRET).map(RawValue::from_string) {
        Some(Ok(payload)) => payload,
        _ => payload,
    }
}

impl Part {
    /// Whether the bytes hold a secret: as they are, or as base64 text.
    fn holds_secret(&self, redactor: &Redactor) -> bool {
        let Self::File {
            source: Source::Base64(data),
            ..
        } = self
        else {
            return false;
        };
        redactor.finds(data)
            || BASE64_STANDARD
                .decode(data)
                .is_ok_and(|bytes| matches!(redactor.redact_bytes(&bytes), Cow::Owned(_)))
    }

    fn redacted(self, redactor: &Redactor) -> Self {
        match self {
            Self::Text { text } => Self::text(redactor.own(text)),
            file if file.holds_secret(redactor) => Self::text(HOLDS_SECRET),
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

fn redacted(parts: Vec<Part>, redactor: &Redactor) -> Vec<Part> {
    parts
        .into_iter()
        .map(|part| part.redacted(redactor))
        .collect()
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

    /// The model reads text, images, audio and files, in this order.
    ///
    /// ```
    /// use tool_core::{Image, ModelOutput, Part};
    ///
    /// let image = Image::detect(b"GIF89a\x01\0\x01\0")?;
    /// let output = ModelOutput::parts([Part::text("The page:"), image.into()]);
    /// assert_eq!(output.to_text(), "The page:\n[image/gif]");
    /// # Ok::<(), tool_core::ToolError>(())
    /// ```
    pub fn parts<P: Into<Part>>(parts: impl IntoIterator<Item = P>) -> Self {
        Self(Content::Parts(parts.into_iter().map(Into::into).collect()))
    }

    /// The model reads the payload, but no more than this of it.
    pub(crate) fn bounded(limit: usize) -> Self {
        Self(Content::Bounded(limit, None))
    }

    /// How much of the payload the model reads, where that is bounded; and the text that it reads instead, with files.
    pub(crate) fn bound(&self) -> Option<(usize, Option<&Named>)> {
        match &self.0 {
            Content::Bounded(limit, files) => Some((*limit, files.as_deref())),
            _ => None,
        }
    }

    /// The view of an output whose payload has files.
    pub(crate) fn with_files(self, payload: &RawValue, files: Vec<Part>) -> Self {
        match self.0 {
            Content::Bounded(limit, None) if !files.is_empty() => {
                seen::bounded(payload, files, limit)
            }
            // The tool has said what the model reads.
            _ => self,
        }
    }

    /// As text alone; a part that is no text is named by its media type.
    pub fn to_text(&self) -> String {
        match &self.0 {
            Content::Text(text) | Content::Broken(text) => text.clone(),
            Content::Json(json) => json.get().to_owned(),
            Content::Bounded(limit, _) => format!("[the first {limit} bytes of the output]"),
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
            Content::Bounded(limit, files) => Content::Bounded(
                limit,
                // A text within the payload's JSON, so that it is masked as JSON is.
                files.map(|named| {
                    Box::new(Named {
                        text: redactor.redact_json(&named.text).into_owned(),
                        files: redacted(named.files, redactor),
                    })
                }),
            ),
            Content::Parts(parts) => Content::Parts(redacted(parts, redactor)),
        })
    }

    /// How many bytes it has, those of files as base64 text.
    pub(crate) fn size(&self) -> usize {
        let of = |part: &Part| match part {
            Part::Text { text } => text.len(),
            Part::File { source, .. } => match source {
                Source::Base64(data) => data.len(),
                Source::Url(url) => url.len(),
            },
        };
        match &self.0 {
            Content::Text(text) | Content::Broken(text) => text.len(),
            Content::Json(json) => json.get().len(),
            Content::Parts(parts) => parts.iter().map(of).sum(),
            // A part of the payload.
            Content::Bounded(..) => 0,
        }
    }

    /// The error where the output could not be written. A file that no provider takes is left out.
    pub(crate) fn proven(self) -> Result<Self, ToolError> {
        match self.0 {
            Content::Broken(text) => Err(ToolError::new("the tool's output could not be written")
                .operator(format!("its model output is not JSON: {text}"))),
            Content::Parts(parts) => Ok(Self(Content::Parts(check::usable(parts)))),
            other => Ok(Self(other)),
        }
    }
}
