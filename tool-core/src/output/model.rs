//! The output that a model reads: text, JSON or parts.

use std::borrow::Cow;
use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{check, seen};
use crate::error::ToolError;
use crate::redact::Redact;
use crate::redact::Redactor;

/// The output that the model reads.
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

/// The content of a model output, also in stores. The skipped variants are replaced before a result is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    Text(String),
    Json(Box<RawValue>),
    Parts(Vec<Part>),
    /// Limits the model to this many bytes of the payload; the pipeline converts the variant into a text. If the payload has files, the second field has the
    /// text that names them, and the files, which do not count towards the limit.
    #[serde(skip)]
    Bounded(usize, Option<Box<Named>>),
    /// The value could not be serialized as JSON; this is the serializer's error, for the operator only. The call fails.
    #[serde(skip)]
    Broken(String),
}

/// A payload with files, as a text that names them. `Content` boxes it, because results are moved often and few have files.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) text: String,
    /// The files, in the order of their numbers in the text.
    pub(crate) files: Vec<Part>,
}

/// One part of a tool's output for the model, or of a user's message ([`UserMessage`](crate::turn::UserMessage)).
///
/// A tool can return parts if the number of texts and files is not known in advance:
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
/// In the output of a tool, a file is written as `{"type":"file","mediaType":"…","filename":"…","url":"…"}`, where the URL of bytes is a
/// `data:` URL, like an [`Image`](crate::Image). Elsewhere it is written as in stores, with `media_type`, `source` and `name`. Both forms can be deserialized.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
#[non_exhaustive]
pub enum Part {
    /// A text for the model.
    Text {
        /// The text that the model reads.
        text: String,
    },
    /// An image, audio or a file of a different type.
    File {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes, or their URL.
        source: Source,
        /// The file name that a user sees.
        name: Option<String>,
    },
}

/// The form of a [`Part`] in stores. Version 0.1 and later versions read each other's parts.
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

/// Writes a `file` part of the AI SDK's messages, which user interfaces show without conversion.
pub(super) fn write_file<S: Serializer>(
    media_type: &str,
    source: &Source,
    name: Option<&str>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    /// Writes `data:image/png;base64,…`, or the URL, without copying the bytes.
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

/// Returns the source for the URL of a file that [`write_file`] wrote.
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

/// A [`Part`] in the form of stores or in the form that clients receive.
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
                    (None, None) => return Err("a file needs a `url`"),
                },
                media_type,
                name,
            },
        })
    }
}

/// The bytes of a part, or their URL.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The bytes as base64 text.
    Base64(String),
    /// The URL of the bytes.
    Url(String),
}

impl Source {
    /// Returns the number of bytes; 0 for a URL.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Base64(data) => decoded_size(data),
            Self::Url(_) => 0,
        }
    }
}

/// Returns the number of bytes that a base64 text encodes.
pub fn decoded_size(data: &str) -> usize {
    let end = data.bytes().rev().take(2);
    let padding = end.filter(|byte| *byte == b'=').count();
    (data.len() / 4 * 3).saturating_sub(padding)
}

/// Prints the size in place of the bytes, which would fill a log.
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
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Creates an image, audio or a file from base64 text. The text and the media type are not checked here.
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::File {
            media_type: media_type.into(),
            source: Source::Base64(data.into()),
            name: None,
        }
    }

    /// Creates an image, audio or a file from a URL. The URL and the media type are not checked here.
    pub fn url(media_type: impl Into<String>, url: impl Into<String>) -> Self {
        Self::File {
            media_type: media_type.into(),
            source: Source::Url(url.into()),
            name: None,
        }
    }

    /// Sets the name or URI of a file. Has no effect on a text part.
    #[must_use]
    pub fn named(mut self, title: impl Into<String>) -> Self {
        if let Self::File { name, .. } = &mut self {
            *name = Some(title.into());
        }
        self
    }
}

/// The text that replaces a file that contains a secret.
pub const HOLDS_SECRET: &str = "[a file is left out here, because it contains a secret]";

/// Replaces the bytes of each file that contains a secret by [`HOLDS_SECRET`] in the payload. The secret is not redacted within the file, because
/// that would corrupt the file.
pub(crate) fn without_secret_files(
    payload: Box<RawValue>,
    model: Option<&ModelOutput>,
    redactor: &Redactor,
) -> Box<RawValue> {
    let parts = model.map_or(&[][..], ModelOutput::files);
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
    /// Returns whether the bytes of a file contain a secret, decoded or as base64 text.
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

/// Returns parts as text alone. A file is named by its media type.
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
    /// Returns whether the output is only text.
    #[cfg(feature = "host")]
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self.0, Content::Json(_) | Content::Parts(_))
    }

    /// Creates an output of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Content::Text(text.into()))
    }

    /// Creates an output of a value as JSON. If the value cannot be written as JSON, the call fails.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Self {
        Self(match serde_json::value::to_raw_value(value) {
            Ok(json) => Content::Json(json),
            Err(error) => Content::Broken(error.to_string()),
        })
    }

    /// Creates an output of text, images, audio and files, in this order.
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

    /// Creates an output of at most `limit` bytes of the payload.
    pub(crate) fn bounded(limit: usize) -> Self {
        Self(Content::Bounded(limit, None))
    }

    /// Returns the limit of a bounded output, and the text with files that replaces the payload.
    pub(crate) fn bound(&self) -> Option<(usize, Option<&Named>)> {
        match &self.0 {
            Content::Bounded(limit, files) => Some((*limit, files.as_deref())),
            _ => None,
        }
    }

    /// Returns the parts that contain the files of the payload. There are none if the output is text or JSON.
    pub(crate) fn files(&self) -> &[Part] {
        match &self.0 {
            Content::Parts(parts) => parts,
            Content::Bounded(_, Some(named)) => &named.files,
            Content::Text(_)
            | Content::Json(_)
            | Content::Bounded(_, None)
            | Content::Broken(_) => &[],
        }
    }

    /// Adds the files of the payload to a bounded output.
    pub(crate) fn with_files(self, payload: &RawValue, files: Vec<Part>) -> Self {
        match self.0 {
            Content::Bounded(limit, None) if !files.is_empty() => {
                seen::bounded(payload, files, limit)
            }
            // An output that the tool itself made for the model is not changed.
            _ => self,
        }
    }

    /// Returns the output as text alone. A file is named by its media type.
    pub fn to_text(&self) -> String {
        match &self.0 {
            Content::Text(text) | Content::Broken(text) => text.clone(),
            Content::Json(json) => json.get().to_owned(),
            Content::Bounded(limit, _) => format!("[the first {limit} bytes of the output]"),
            Content::Parts(parts) => parts_as_text(parts),
        }
    }

    /// Returns the output as parts, for providers whose results have parts.
    pub fn to_parts(&self) -> Cow<'_, [Part]> {
        match &self.0 {
            Content::Parts(parts) => Cow::Borrowed(parts),
            _ => Cow::Owned(vec![Part::text(self.to_text())]),
        }
    }

    /// Returns the JSON value of an output that [`json`](Self::json) created; `None` for any other output.
    pub fn as_json(&self) -> Option<&RawValue> {
        match &self.0 {
            Content::Json(json) => Some(json),
            _ => None,
        }
    }

    /// Returns the size in bytes. A file counts with its base64 text or its URL, and a bounded output counts as 0.
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
            // A bounded output is a part of the payload, which is counted already.
            Content::Bounded(..) => 0,
        }
    }

    /// Returns the output with its parts corrected by [`check::usable`], or an error if the output could not be written.
    pub(crate) fn proven(self) -> Result<Self, ToolError> {
        match self.0 {
            Content::Broken(text) => Err(ToolError::new("the tool's output could not be written")
                .operator(format!("its model output is not JSON: {text}"))),
            Content::Parts(parts) => Ok(Self(Content::Parts(check::usable(parts)))),
            other => Ok(Self(other)),
        }
    }
}

impl Redactor {
    /// Redacts the secrets in a model output. A file that contains a secret is replaced by a text that explains why the file is missing.
    pub fn model(&self, output: ModelOutput) -> ModelOutput {
        self.clean(output).into_inner()
    }
}

impl Redact for ModelOutput {
    /// Redacts secrets. A file that contains a secret is replaced by a text that explains why the file is missing.
    fn masked(self, redactor: &Redactor) -> Self {
        Self(match self.0 {
            Content::Text(text) => Content::Text(redactor.own(text)),
            Content::Json(json) => Content::Json(redactor.payload(json)),
            Content::Broken(text) => Content::Broken(redactor.own(text)),
            Content::Bounded(limit, files) => Content::Bounded(
                limit,
                // The text is a part of the payload's JSON, so it is redacted as JSON.
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
}
