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

/// A media type with bytes or an address, and what it may hold.
#[derive(Clone, PartialEq, Eq)]
struct Body {
    media_type: String,
    source: Source,
    name: Option<String>,
}

/// What distinguishes the three public types.
struct Noun {
    /// With its article, for messages.
    text: &'static str,
    /// What the media type begins with; empty where it may be any.
    prefix: &'static str,
    /// A media type to write.
    example: &'static str,
}

const IMAGE: &Noun = &Noun {
    text: "the image",
    prefix: "image/",
    example: "image/png",
};
const AUDIO: &Noun = &Noun {
    text: "the audio",
    prefix: "audio/",
    example: "audio/wav",
};
const FILE: &Noun = &Noun {
    text: "the file",
    prefix: "",
    example: "application/pdf",
};

impl Body {
    /// Checks everything that a provider would refuse in every later request.
    fn new(
        noun: &Noun,
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
                "{text} has {size} bytes and at most {} are allowed: make it smaller, or give its address",
                check::MOST_BYTES
            ));
        }
        Ok(Self {
            media_type,
            source,
            name,
        })
    }

    fn of_bytes(noun: &Noun, media_type: &str, bytes: &[u8]) -> Result<Self, String> {
        // Before they are encoded, which would double what is too large.
        if bytes.len() > check::MOST_BYTES {
            return Err(format!(
                "{} has {} bytes and at most {} are allowed: make it smaller, or give its address",
                noun.text,
                bytes.len(),
                check::MOST_BYTES
            ));
        }
        let source = Source::Base64(BASE64_STANDARD.encode(bytes));
        Self::new(noun, media_type, source, None)
    }

    fn of_detected(noun: &Noun, bytes: &[u8]) -> Result<Self, String> {
        if bytes.is_empty() {
            return Err(format!("{} has no data: leave it out", noun.text));
        }
        match detect(bytes) {
            Some(media_type) => Self::of_bytes(noun, media_type, bytes),
            None => Err(format!(
                "{} has bytes of no type that is known here: say the media type with `new`, such as `{}`",
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

/// Media types are compared without case; their parameters keep it.
fn lower(media_type: &str) -> String {
    match media_type.split_once(';') {
        None => media_type.to_ascii_lowercase(),
        Some((essence, rest)) => format!("{};{rest}", essence.to_ascii_lowercase()),
    }
}

/// The types that [`detect`] tells apart.
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

/// The media type by the first bytes.
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
    fn read<'de, D: Deserializer<'de>>(noun: &Noun, from: D) -> Result<Self, D::Error> {
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

/// `Image { media_type: "image/png", source: Base64(68 bytes), name: None }`
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("media_type", &self.media_type)
            .field("source", &self.source)
            .field("name", &self.name)
            .finish()
    }
}

/// No schema: a model cannot write bytes, and clients of MCP hand structured content to models as text.
const REFUSED: &Schema = &Schema::new(Kind::Refused {
    rule: Rule::MEDIA.id,
    text: Rule::MEDIA.text,
});

/// Whether values of a type hold images, audio or files, so that an output schema cannot describe them.
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
            /// From its bytes. An error where the media type is not one of this kind, where the bytes begin as those of another type
            /// that is known here do, where there are none, or where there are more than 20 MiB. Bytes that begin as nothing that is
            /// known are taken for what they are said to be.
            pub fn new(media_type: &str, bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
                Body::of_bytes($noun, media_type, bytes.as_ref())
                    .map(Self)
                    .map_err(ToolError::new)
            }

            /// From its bytes as base64 text, with the standard alphabet and padding. The errors are those of [`new`](Self::new).
            pub fn base64(media_type: &str, data: impl Into<String>) -> Result<Self, ToolError> {
                Body::new($noun, media_type, Source::Base64(data.into()), None)
                    .map(Self)
                    .map_err(ToolError::new)
            }

            /// At an absolute address, which the provider or the client fetches. A provider that fetches none reads the address.
            pub fn url(media_type: &str, url: impl Into<String>) -> Result<Self, ToolError> {
                Body::new($noun, media_type, Source::Url(url.into()), None)
                    .map(Self)
                    .map_err(ToolError::new)
            }

            /// The same with a name to show, such as `chart.png`. Control characters in it are removed, and an empty name is none.
            #[must_use]
            pub fn named(mut self, name: impl Into<String>) -> Self {
                let name: String = name.into().chars().filter(|c| !c.is_control()).collect();
                self.0.name = (!name.trim().is_empty()).then_some(name);
                self
            }

            /// The media type, in lower case.
            pub fn media_type(&self) -> &str {
                &self.0.media_type
            }

            /// The name.
            pub fn name(&self) -> Option<&str> {
                self.0.name.as_deref()
            }

            /// Where the bytes are.
            pub fn source(&self) -> &Source {
                &self.0.source
            }

            /// The bytes; `None` where only the address is known.
            pub fn to_bytes(&self) -> Option<Vec<u8>> {
                match &self.0.source {
                    Source::Base64(data) => BASE64_STANDARD.decode(data).ok(),
                    Source::Url(_) => None,
                }
            }
        }

        /// Without the bytes.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("media_type", &self.0.media_type)
                    .field("source", &self.0.source)
                    .field("name", &self.0.name)
                    .finish()
            }
        }

        /// For the client: `{"type":"file","mediaType":"…","filename":"…","url":"…"}`, where the URL of bytes is a `data:` URL. This is
        /// the part of the type `file` that the AI SDK has.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        /// From the form in which a client or a store has it.
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

        /// Refused by every rule: see `media` in `docs/rules.md`.
        impl StrictSchema for $name {
            const SCHEMA: &'static Schema = REFUSED;
        }
    };
}

media! {
    /// An image that a tool returns: the model sees it, and the client gets it.
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
    /// // The model sees the image. As text alone it is named by its type.
    /// assert_eq!(result.model_text(), "[image/png]");
    /// // The client gets what `<img src={output.url}>` shows.
    /// let output: serde_json::Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    /// assert_eq!(output["filename"], "sales.png");
    /// assert_eq!(output["url"], format!("data:image/png;base64,{PIXEL}"));
    /// # }
    /// ```
    ///
    /// It is shown wherever it is in an output: in a list, next to a text in a tuple, in a field of a struct. Providers take PNG, JPEG, GIF
    /// and WebP; another type is left out for those that do not take it, and the model reads a line that says so.
    Image, IMAGE
}

media! {
    /// Audio that a tool returns, as [`Image`] is.
    ///
    /// Gemini hears it, and Chat Completions where it is WAV or MP3. For other providers the model reads a line in its place.
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
    /// A file of any type that a tool returns, as [`Image`] is.
    ///
    /// Providers take PDF and texts; Bedrock takes office documents and videos too. A client of MCP gets an embedded resource.
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
    /// A PNG.
    pub fn png(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/png", bytes)
    }

    /// A JPEG.
    pub fn jpeg(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/jpeg", bytes)
    }

    /// A GIF.
    pub fn gif(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/gif", bytes)
    }

    /// A WebP.
    pub fn webp(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("image/webp", bytes)
    }

    /// A PNG, JPEG, GIF or WebP, whichever the bytes are. An error where they are none of these.
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
    /// A WAV.
    pub fn wav(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("audio/wav", bytes)
    }

    /// An MP3.
    pub fn mp3(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("audio/mpeg", bytes)
    }
}

impl File {
    /// A PDF.
    pub fn pdf(bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        Self::new("application/pdf", bytes)
    }

    /// A plain text.
    pub fn text(text: impl AsRef<str>) -> Result<Self, ToolError> {
        Self::new("text/plain", text.as_ref())
    }
}
