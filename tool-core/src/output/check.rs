//! Checks of the parts of results and messages. A part that fails would make providers refuse the request that contains it, or a later request of its
//! thread.

use std::io;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use base64::read::DecoderReader;

use super::media;
use super::model::{Part, Source};

/// Maximum number of bytes of a file of a result, and of all files of one result together. As base64 text, this is less than the maximum size of a
/// request to Anthropic (32 MB), OpenAI (50 MB) and Gemini (100 MB). For a provider that accepts less, the wire format leaves the file out.
pub(crate) const MOST_BYTES: usize = 20 << 20;

/// Checks a part. The error is the predicate of a sentence, with the fault and the correction.
pub(crate) fn part(part: &Part) -> Result<(), String> {
    let (media_type, source) = match part {
        Part::Text { text } if text.trim().is_empty() => {
            return Err("is an empty text: leave it out".to_owned());
        }
        Part::Text { .. } => return Ok(()),
        Part::File {
            media_type, source, ..
        } => (media_type, source),
    };
    if !is_media_type(media_type) {
        return Err(format!(
            "has the media type `{media_type}`: write type and subtype, such as `image/png`"
        ));
    }
    match source {
        Source::Base64(data) if data.is_empty() => Err("has no data: leave it out".to_owned()),
        Source::Base64(data) => {
            let mut bytes = DecoderReader::new(data.as_bytes(), &BASE64_STANDARD);
            io::copy(&mut bytes, &mut io::sink()).map_err(|error| {
                format!(
                    "is not base64 ({error}): encode the bytes with the standard alphabet and padding, without `data:` in front"
                )
            })?;
            // Providers check the bytes, too, and refuse a request whose image has a different type than stated.
            let media_type = media_type.to_ascii_lowercase();
            match media::detect(&beginning(data)) {
                Some(found) if found != media_type && media::DETECTED.contains(&&*media_type) => {
                    Err(format!(
                        "has the media type `{media_type}` and the bytes of `{found}`: write `{found}`"
                    ))
                }
                _ => Ok(()),
            }
        }
        Source::Url(url) if url.starts_with("data:") => {
            Err("has a `data:` URL: pass the text after its comma to `Part::base64`".to_owned())
        }
        Source::Url(url) if is_address(url) => Ok(()),
        Source::Url(url) => Err(format!(
            "has the URL `{url}`: write an absolute URL, such as `https://example.com/cat.png`"
        )),
    }
}

/// Removes empty texts unless a text is the only part. Replaces each file that fails the check or exceeds the total size with a line that states
/// the reason.
///
/// The tool has already run, so a wrong part must not turn its result into a failure.
pub(super) fn usable(parts: Vec<Part>) -> Vec<Part> {
    let mut left = MOST_BYTES;
    let alone = parts.len() == 1;
    let parts = parts.into_iter().filter_map(|each| {
        let (media_type, size) = match &each {
            // Providers refuse empty texts.
            Part::Text { text } => return (alone || !text.trim().is_empty()).then_some(each),
            Part::File {
                media_type, source, ..
            } => (media_type, source.size()),
        };
        let why = match part(&each) {
            Err(why) => format!("it {why}"),
            Ok(()) if size > left => {
                format!("the files of a result may have {MOST_BYTES} bytes in total")
            }
            Ok(()) => {
                left -= size;
                return Some(each);
            }
        };
        tracing::warn!(%media_type, size, why, "a file of a tool's result is left out");
        Some(Part::text(format!("[a file is left out: {why}]")))
    });
    parts.collect()
}

/// Decodes the first bytes of base64 text, enough to detect the type.
pub(super) fn beginning(data: &str) -> Vec<u8> {
    let first = data.get(..data.len().min(24)).unwrap_or_default();
    BASE64_STANDARD.decode(first).unwrap_or_default()
}

/// Returns whether a text is `type/subtype`, with parameters or without. Ranges such as `image/*` are not types.
fn is_media_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let token = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "!#$&^_.+-".contains(c);
        !text.is_empty() && text.chars().all(plain)
    };
    let printable = |c: char| !c.is_control();
    matches!(essence.split_once('/'), Some((kind, sub)) if token(kind) && token(sub))
        && text.chars().all(printable)
}

/// Returns whether a text is `scheme://rest`, without white space.
fn is_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let odd = |c: char| c.is_whitespace() || c.is_control();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(plain)
        && !rest.is_empty()
        && !rest.contains(odd)
}
