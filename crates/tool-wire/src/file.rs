//! Files in results and in messages of the user.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tool_core::{Part, Source};

/// A file among the parts of a result or of a user's message.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    /// The media type: type and subtype, without parameters.
    pub(super) media_type: &'a str,
    pub(super) bytes: Bytes<'a>,
    pub(super) name: Option<&'a str>,
}

/// The bytes of a file, or their address.
#[derive(Clone, Copy)]
pub(super) enum Bytes<'a> {
    Base64(&'a str),
    At(&'a str),
}

/// A part of a result or of a user's message: text or a file.
pub(super) enum Piece<'a> {
    Text(&'a str),
    File(File<'a>),
}

pub(super) fn piece(part: &Part) -> Piece<'_> {
    match part {
        Part::Text { text } => Piece::Text(text),
        Part::File {
            media_type,
            source: Source::Base64(data),
            name,
        } => Piece::File(File::new(media_type, Bytes::Base64(data), name.as_deref())),
        Part::File {
            media_type,
            source: Source::Url(url),
            name,
        } => Piece::File(File::new(media_type, Bytes::At(url), name.as_deref())),
        // `Part` and `Source` are non-exhaustive, but this crate is built with one version of `tool-core`, which has no other variants.
        _ => Piece::Text("[left out: a part of an unknown kind]"),
    }
}

impl<'a> File<'a> {
    fn new(media_type: &'a str, bytes: Bytes<'a>, name: Option<&'a str>) -> Self {
        Self {
            media_type: media_type.split(';').next().unwrap_or_default().trim(),
            bytes,
            name: name.filter(|name| !name.is_empty()),
        }
    }
}

impl File<'_> {
    pub(super) fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns whether this is a PNG, JPEG, GIF or WebP image, which Chat Completions, Responses and Anthropic accept.
    pub(super) fn is_common_image(&self) -> bool {
        matches!(
            self.media_type,
            "image/png" | "image/jpeg" | "image/gif" | "image/webp"
        )
    }

    /// Returns the length of the base64 text, or 0 for a file at an address.
    pub(super) fn encoded(&self) -> usize {
        match self.bytes {
            Bytes::Base64(data) => data.len(),
            Bytes::At(_) => 0,
        }
    }

    /// Returns the name and content of a text file as text of the message, for providers that do not accept its type as a file; `None` if the file is
    /// at an address, is too long or is not text.
    pub(super) fn as_text(&self) -> Option<String> {
        /// A longer text would take too much of the model's context window.
        const MOST: usize = 256 << 10;
        let is_text = match self.media_type.split_once('/')? {
            ("text", _)
            | ("application", "json" | "xml" | "yaml" | "toml" | "javascript" | "sql") => true,
            (_, rest) => {
                rest.ends_with("+json") || rest.ends_with("+xml") || rest.ends_with("+yaml")
            }
        };
        let text = (is_text && self.encoded() <= MOST)
            .then(|| self.text())
            .flatten()?;
        Some(format!("{}:\n{text}", self.named()))
    }

    /// Returns whether the file is at an http or https address.
    pub(super) fn is_web(&self) -> bool {
        let web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        matches!(self.bytes, Bytes::At(url) if web(url))
    }

    /// Returns the file's own address, or a `data:` URL that contains its bytes.
    pub(super) fn url(&self) -> Cow<'_, str> {
        match self.bytes {
            Bytes::At(url) => Cow::Borrowed(url),
            Bytes::Base64(data) => Cow::Owned(format!("data:{};base64,{data}", self.media_type)),
        }
    }

    /// Returns the bytes as text, if they are present and valid UTF-8.
    pub(super) fn text(&self) -> Option<String> {
        let Bytes::Base64(data) = self.bytes else {
            return None;
        };
        String::from_utf8(BASE64_STANDARD.decode(data).ok()?).ok()
    }

    /// Returns the file's name, or a name made from its media type.
    pub(super) fn named(&self) -> Cow<'_, str> {
        self.name.map_or_else(
            || {
                let kind = self.media_type.rsplit('/').next().unwrap_or_default();
                Cow::Owned(format!("file.{kind}"))
            },
            Cow::Borrowed,
        )
    }
}
