//! Images, audio and files that a tool returns.

use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::model::{ModelOutput, Part, Source, source_of, write_file};
use super::{ToModelOutput, check, seen};
use crate::error::ToolError;
use crate::schema::rules::Rule;
use crate::schema::{Kind, Schema, StrictSchema};

/// The content of the three public types: a media type, the bytes or a URL, and a name.
#[derive(Clone, PartialEq, Eq)]
struct Body {
    media_type: String,
    source: Source,
    name: Option<String>,
}

/// The differences between the three public types.
struct MediaKind {
    /// The noun with its article, for messages.
    text: &'static str,
    /// The required prefix of the media type; empty if every type is allowed.
    prefix: &'static str,
    /// An example of a media type, for messages.
    example: &'static str,
}

const IMAGE: &MediaKind = &MediaKind {
    text: "the image",
    prefix: "image/",
    example: "image/png",
};
const AUDIO: &MediaKind = &MediaKind {
    text: "the audio",
    prefix: "audio/",
    example: "audio/wav",
};
const FILE: &MediaKind = &MediaKind {
    text: "the file",
    prefix: "",
    example: "application/pdf",
};

impl Body {
    /// Creates a body. Fails if the part is invalid, because a provider could refuse every later request of the thread, if the media type does not
    /// have the prefix, or if there are too many bytes.
    fn new(
        noun: &MediaKind,
        media_type: &str,
        source: Source,
        name: Option<String>,
    ) -> Result<Self, String> {
        let media_type = lower(media_type.trim());
        let text = noun.text;
        let part = Part::File {
            media_type,
            source,
            name,
        };
        check::part(&part).map_err(|why| format!("{text} {why}"))?;
        let Part::File {
            media_type,
            source,
            name,
        } = part
        else {
            return Err(format!("{text} is a text"));
        };
        if !media_type.starts_with(noun.prefix) {
            return Err(format!(
                "{text} has the media type `{media_type}`: write one that begins with `{}`, such as `{}`, or return a `File`",
                noun.prefix, noun.example
            ));
        }
        let size = source.size();
        if size > check::MOST_BYTES {
            return Err(format!(
                "{text} has {size} bytes and at most {} are allowed: make it smaller, or use its URL",
                check::MOST_BYTES
            ));
        }
        Ok(Self {
            media_type,
            source,
            name,
        })
    }

    fn of_bytes(noun: &MediaKind, media_type: &str, bytes: &[u8]) -> Result<Self, String> {
        // The size is checked before the bytes are encoded, because encoding would need even more memory for bytes that are too large.
        if bytes.len() > check::MOST_BYTES {
            return Err(format!(
                "{} has {} bytes and at most {} are allowed: make it smaller, or use its URL",
                noun.text,
                bytes.len(),
                check::MOST_BYTES
            ));
        }
        let source = Source::Base64(BASE64_STANDARD.encode(bytes));
        Self::new(noun, media_type, source, None)
    }

    fn of_detected(noun: &MediaKind, bytes: &[u8]) -> Result<Self, String> {
        if bytes.is_empty() {
            return Err(format!("{} has no data: leave it out", noun.text));
        }
        match detect(bytes) {
            Some(media_type) => Self::of_bytes(noun, media_type, bytes),
            None => Err(format!(
                "{} has bytes of an unknown type: pass the media type to `new`, such as `{}`",
                noun.text, noun.example
            )),
        }
    }

    fn into_part(self) -> Part {
        Part::File {
            media_type: self.media_type,
            source: self.source,
            name: self.name,
        }
    }
}

/// Converts the type to lower case, because media types are compared without case. Parameters keep their case.
fn lower(media_type: &str) -> String {
    match media_type.split_once(';') {
        None => media_type.to_ascii_lowercase(),
        Some((essence, rest)) => format!("{};{rest}", essence.to_ascii_lowercase()),
    }
}

/// The media types that [`detect`] recognizes.
pub(super) const DETECTED: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "audio/wav",
    "audio/mpeg",
    "audio/ogg",
    "audio/flac",
    "application/pdf",
];

/// Detects the media type by the first bytes.
pub(super) fn detect(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'A',
            b'V',
            b'E',
            ..,
        ] => "audio/wav",
        [b'I', b'D', b'3', ..] => "audio/mpeg",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [b'f', b'L', b'a', b'C', ..] => "audio/flac",
        [b'%', b'P', b'D', b'F', b'-', ..] => "application/pdf",
        _ => return None,
    })
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        seen::note(|| self.clone().into_part());
        write_file(
            &self.media_type,
            &self.source,
            self.name.as_deref(),
            serializer,
        )
    }
}

impl Body {
    fn read<'de, D: Deserializer<'de>>(noun: &MediaKind, from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Written {
            media_type: String,
            #[serde(default)]
            filename: Option<String>,
            url: String,
        }
        let Written {
            media_type,
            filename,
            url,
        } = Written::deserialize(from)?;
        let source = source_of(&media_type, url);
        Self::new(noun, &media_type, source, filename).map_err(D::Error::custom)
    }
}

/// Prints `Body { media_type: "image/png", source: Base64(68 bytes), name: None }`, without the bytes.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("media_type", &self.media_type)
            .field("source", &self.source)
            .field("name", &self.name)
            .finish()
    }
}

/// These types have no schema: a model cannot write bytes, and MCP clients pass structured content to models as text.
const REFUSED: &Schema = &Schema::new(Kind::Refused {
    rule: Rule::MEDIA.id,
    text: Rule::MEDIA.text,
});

/// Returns whether values of a type contain images, audio or files, so that an output schema cannot describe them.
pub(crate) fn is_media(schema: &Schema) -> bool {
    match &schema.kind {
        Kind::Refused { rule, .. } => *rule == Rule::MEDIA.id,
        Kind::Optional(inner) | Kind::Constrained(inner, _) | Kind::Map(inner) => is_media(inner),
        Kind::Array { items, .. } => is_media(items),
        Kind::Tuple(items) => items.iter().any(|item| is_media(item)),
        Kind::Object(fields) => fields.iter().any(|field| is_media(field.schema)),
        Kind::Union(union) => {
            let mut held = union.variants.iter().filter_map(|variant| variant.schema);
            held.any(is_media)
        }
        _ => false,
    }
}

macro_rules! media {
    ($(#[$doc:meta])* $name:ident, $noun:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(Body);

        impl $name {
            /// Creates a value from bytes. Fails if the media type is malformed or not of this kind, if the type has a known signature and the bytes
            /// have a different known one, if there are no bytes, or if there are more than 20 MiB. Bytes without a known signature are accepted as
            /// the stated type.
            pub fn new(media_type: &str, bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
                Body::of_bytes($noun, media_type, bytes.as_ref())
                    .map(Self)
                    .map_err(ToolError::new)
            }

            /// Creates a value from base64 text, with the standard alphabet and padding. Fails in the same cases as [`new`](Self::new), and for text
            /// that is not base64.
            pub fn base64(media_type: &str, data: impl Into<String>) -> Result<Self, ToolError> {
                Body::new($noun, media_type, Source::Base64(data.into()), None)
                    .map(Self)
                    .map_err(ToolError::new)
            }

            /// Creates a value from an absolute URL, which the provider or the client fetches. If a provider does not fetch URLs, the model reads the URL.
            /// Fails if the media type is malformed or not of this kind, if the URL is not absolute, and for a `data:` URL.
            pub fn url(media_type: &str, url: impl Into<String>) -> Result<Self, ToolError> {
                Body::new($noun, media_type, Source::Url(url.into()), None)
                    .map(Self)
                    .map_err(ToolError::new)
            }

            /// Sets a name to show, such as `chart.png`. Control characters in it are removed, and a blank name counts as none.
            #[must_use]
            pub fn named(mut self, name: impl Into<String>) -> Self {
                let name: String = name.into().chars().filter(|c| !c.is_control()).collect();
                self.0.name = (!name.trim().is_empty()).then_some(name);
                self
            }

            /// Returns the media type, with type and subtype in lower case.
            pub fn media_type(&self) -> &str {
                &self.0.media_type
            }

            /// Returns the name to show.
            pub fn name(&self) -> Option<&str> {
                self.0.name.as_deref()
            }

            /// Returns the bytes, or their URL.
            pub fn source(&self) -> &Source {
                &self.0.source
            }

            /// Returns the bytes; `None` if only the URL is known.
            pub fn to_bytes(&self) -> Option<Vec<u8>> {
                match &self.0.source {
                    Source::Base64(data) => BASE64_STANDARD.decode(data).ok(),
                    Source::Url(_) => None,
                }
            }
        }

        /// Prints the value without the bytes.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("media_type", &self.0.media_type)
                    .field("source", &self.0.source)
                    .field("name", &self.0.name)
                    .finish()
            }
        }

        /// Serializes the value for the client: `{"type":"file","mediaType":"…","filename":"…","url":"…"}`, where the URL of bytes is a `data:` URL. This is
        /// the `file` part of the AI SDK.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        /// Deserializes a value from the form that clients receive.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Body::read($noun, deserializer).map(Self)
            }
        }

        impl From<$name> for Part {
            fn from(media: $name) -> Self {
                media.0.into_part()
            }
        }

        impl From<&$name> for Part {
            fn from(media: &$name) -> Self {
                media.clone().into()
            }
        }

        impl From<$name> for ModelOutput {
            fn from(media: $name) -> Self {
                Self::parts([Part::from(media)])
            }
        }

        impl ToModelOutput for $name {
            fn to_model_output(&self) -> ModelOutput {
                self.clone().into()
            }
        }

        /// This schema is always refused: see `media` in `docs/rules.md`.
        impl StrictSchema for $name {
            const SCHEMA: &'static Schema = REFUSED;
        }
    };
}

media! {
    /// An image that a tool returns to the model and to the client.
    ///
    /// ```
    /// use tool_core::Image;
    /// use tool_core::prelude::*;
    ///
    /// /// A black pixel.
    /// const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    ///
    /// /// Draws a chart of the sales.
    /// #[tool(read_only)]
    /// fn draw_sales() -> Result<Image, ToolError> {
    ///     Ok(Image::base64("image/png", PIXEL)?.named("sales.png"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let result = toolset![draw_sales].call(ToolCall::new("c-1", "draw_sales", "{}"), &ToolContext::anonymous()).await;
    /// // The model sees the image. As text alone, the image is named by its type.
    /// assert_eq!(result.model_text(), "[image/png]");
    /// // The client can show it as `<img src={output.url}>`.
    /// let output: serde_json::Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    /// assert_eq!(output["filename"], "sales.png");
    /// assert_eq!(output["url"], format!("data:image/png;base64,{PIXEL}"));
    /// # }
    /// ```
    ///
    /// The model sees an image anywhere in an output: in a list, next to a text in a tuple, in a field of a struct. Providers accept PNG, JPEG, GIF and WebP.
    /// An image of a different type is left out for providers that do not accept it, and the model reads a line in its place.
    Image, IMAGE
}

media! {
    /// Audio that a tool returns, with the same methods as [`Image`].
    ///
    /// Gemini accepts audio, and Chat Completions accepts WAV and MP3. For other providers, the model reads a line in place of the audio.
    ///
    /// ```
    /// use tool_core::{Audio, ToolError};
    ///
    /// fn speak(wav: &[u8]) -> Result<Audio, ToolError> {
    ///     Audio::wav(wav)
    /// }
    /// assert!(speak(b"RIFF\x24\0\0\0WAVEfmt ").is_ok());
    /// assert_eq!(speak(b"").unwrap_err().model_text(), "the audio has no data: leave it out");
    /// ```
    Audio, AUDIO
}

media! {
    /// A file of any type that a tool returns, with the same methods as [`Image`].
    ///
    /// Providers accept PDF and texts. Some accept more types: for example, Bedrock accepts office documents and videos. If a provider does not
    /// accept the type, the model reads a line in place of the file. An MCP client gets an embedded resource.
    ///
    /// ```
    /// use tool_core::{File, ToolError};
    ///
    /// fn export(rows: &str) -> Result<File, ToolError> {
    ///     Ok(File::new("text/csv", rows)?.named("rows.csv"))
    /// }
    /// assert_eq!(export("a,b\n").unwrap().to_bytes().unwrap(), b"a,b\n");
    /// ```
    File, FILE
}

impl Image {
    /// Creates an image from PNG bytes.
    pub fn png(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/png", bytes)
    }

    /// Creates an image from JPEG bytes.
    pub fn jpeg(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/jpeg", bytes)
    }

    /// Creates an image from GIF bytes.
    pub fn gif(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/gif", bytes)
    }

    /// Creates an image from WebP bytes.
    pub fn webp(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/webp", bytes)
    }

    /// Creates an image from PNG, JPEG, GIF or WebP bytes and detects the type. Fails for other bytes, and for more than 20 MiB.
    ///
    /// ```
    /// use tool_core::Image;
    ///
    /// assert_eq!(Image::detect(b"GIF89a\x01\0\x01\0")?.media_type(), "image/gif");
    /// assert!(Image::detect(b"%PDF-1.7").is_err());
    /// # Ok::<(), tool_core::ToolError>(())
    /// ```
    pub fn detect(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Body::of_detected(IMAGE, bytes.as_ref())
            .map(Self)
            .map_err(ToolError::new)
    }
}

impl Audio {
    /// Creates audio from WAV bytes.
    pub fn wav(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("audio/wav", bytes)
    }

    /// Creates audio from MP3 bytes.
    pub fn mp3(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("audio/mpeg", bytes)
    }
}

impl File {
    /// Creates a file from PDF bytes.
    pub fn pdf(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("application/pdf", bytes)
    }

    /// Creates a file of plain text.
    pub fn text(text: impl AsRef<str>) -> Result<Self, ToolError> {
        Self::new("text/plain", text.as_ref())
    }
}
