//! Response bodies: reading up to a limit, decompression, and detection of text.

use std::io::{self, Write};

use encoding_rs::Encoding;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

/// Maximum number of bytes by which a body on the wire may exceed the limit of decompressed bytes, for the framing of the compression format.
const FRAMING: usize = 64 * 1024;

/// The encodings that can be decompressed, for `Accept-Encoding`.
pub(super) const ENCODINGS: &str = "gzip, deflate";

/// A body, up to the limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// Whether the body was longer than the limit.
    pub(super) cut: bool,
}

/// The reason why a body could not be read.
#[derive(Debug)]
pub(super) enum BodyError {
    /// The connection failed before the end of the body.
    Broken(hyper::Error),
    /// The encoding of the body is not one of [`ENCODINGS`], or the body is encoded more than once.
    Encoding(String),
    /// The body does not match its encoding.
    Packed(io::Error),
}

/// A writer that stores the first bytes and refuses the rest, which stops the decoder.
struct Capped {
    bytes: Vec<u8>,
    most: usize,
    cut: bool,
}

impl Write for Capped {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        let room = self.most - self.bytes.len();
        let taken = more.len().min(room);
        self.bytes.extend_from_slice(&more[..taken]);
        if taken < more.len() {
            self.cut = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decompresses the bytes that are written to it.
enum Unpack {
    Plain(Capped),
    Gzip(MultiGzDecoder<Capped>),
    /// `deflate` before its first byte, which shows whether there is a zlib header. The standard requires the header, but some servers do not send
    /// it.
    Deflate(Option<Capped>),
    Zlib(ZlibDecoder<Capped>),
    Raw(DeflateDecoder<Capped>),
}

impl Unpack {
    fn new(headers: &HeaderMap, most: usize) -> Result<Self, BodyError> {
        let sink = Capped {
            bytes: Vec::new(),
            most,
            cut: false,
        };
        let values = headers.get_all(CONTENT_ENCODING).iter();
        let values: Vec<&str> = values
            .map(|value| value.to_str().unwrap_or("?").trim())
            .collect();
        // Several headers mean the same as one header with a list.
        let coding = values.join(", ");
        match coding.to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain(sink)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(MultiGzDecoder::new(sink))),
            "deflate" => Ok(Self::Deflate(Some(sink))),
            _ => Err(BodyError::Encoding(coding.chars().take(64).collect())),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let (Self::Deflate(sink), Some(first)) = (&mut *self, bytes.first())
            && let Some(sink) = sink.take()
        {
            // RFC 1950: the low four bits name the compression method; 8 is deflate.
            *self = if first & 0x0f == 8 {
                Self::Zlib(ZlibDecoder::new(sink))
            } else {
                Self::Raw(DeflateDecoder::new(sink))
            };
        }
        match self {
            Self::Plain(sink) => sink.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
            Self::Deflate(_) => Ok(()),
            Self::Zlib(decoder) => decoder.write_all(bytes),
            Self::Raw(decoder) => decoder.write_all(bytes),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) | Self::Deflate(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Raw(decoder) => decoder.try_finish(),
        }
    }

    fn sink(&mut self) -> Option<&mut Capped> {
        match self {
            Self::Plain(sink) => Some(sink),
            Self::Gzip(decoder) => Some(decoder.get_mut()),
            Self::Deflate(sink) => sink.as_mut(),
            Self::Zlib(decoder) => Some(decoder.get_mut()),
            Self::Raw(decoder) => Some(decoder.get_mut()),
        }
    }

    fn is_cut(&mut self) -> bool {
        self.sink().is_some_and(|sink| sink.cut)
    }

    fn take(&mut self, cut: bool) -> Body {
        self.sink().map_or_else(Body::default, |sink| Body {
            bytes: std::mem::take(&mut sink.bytes),
            cut: cut || sink.cut,
        })
    }
}

/// Reads a body until `most` bytes of it are decompressed and leaves the rest unread, so neither an endless body nor a decompression bomb uses more
/// memory than this limit.
pub(super) async fn read(
    headers: &HeaderMap,
    mut body: Incoming,
    most: usize,
) -> Result<Body, BodyError> {
    let mut unpack = Unpack::new(headers, most)?;
    let mut on_wire = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(BodyError::Broken)?;
        let Some(bytes) = frame.data_ref() else {
            continue;
        };
        on_wire = on_wire.saturating_add(bytes.len());
        let written = unpack.write(bytes);
        if unpack.is_cut() || on_wire > most.saturating_add(FRAMING) {
            return Ok(unpack.take(true));
        }
        written.map_err(BodyError::Packed)?;
    }
    let finished = if on_wire == 0 {
        Ok(())
    } else {
        unpack.finish()
    };
    if unpack.is_cut() {
        return Ok(unpack.take(true));
    }
    finished.map_err(BodyError::Packed)?;
    Ok(unpack.take(false))
}

/// Returns the media type, in lower case and without parameters, and the charset.
pub(crate) fn media_type(headers: &HeaderMap) -> (String, Option<&str>) {
    let text = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let mut parts = text.unwrap_or_default().split(';');
    let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"'))
    });
    (essence, charset)
}

/// Returns whether bodies of this media type are text; `None` if this depends on the body.
pub(crate) fn is_text(essence: &str) -> Option<bool> {
    const TEXTS: [&str; 12] = [
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/x-www-form-urlencoded",
        "application/x-ndjson",
        "application/jsonl",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/graphql",
        "application/sql",
    ];
    if essence.is_empty() || essence == "application/octet-stream" {
        return None;
    }
    let suffix = ["+json", "+xml", "+yaml"];
    Some(
        essence.starts_with("text/")
            || TEXTS.contains(&essence)
            || suffix.iter().any(|suffix| essence.ends_with(suffix)),
    )
}

/// Returns whether bytes look like text: they begin with a byte order mark, or their first 1,024 bytes have no control characters that text does not
/// use.
pub(crate) fn looks_like_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024)];
    Encoding::for_bom(head).is_some()
        || !head
            .iter()
            .any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
}

/// Cuts a text after `most` characters; returns whether any were removed.
pub(crate) fn cut_chars(text: &mut String, most: usize) -> bool {
    match text.char_indices().nth(most) {
        Some((at, _)) => {
            text.truncate(at);
            true
        }
        None => false,
    }
}
