//! Charset detection and decoding of documents.

use encoding_rs::Encoding;
#[cfg(any(feature = "web", feature = "knowledge-html"))]
use encoding_rs::{REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Number of bytes of a page that are searched for its charset.
#[cfg(any(feature = "web", feature = "knowledge-html"))]
const CHARSET_HEAD: usize = 1024;

/// Decodes bytes as text. The encoding is determined by the byte order mark, otherwise by the server, otherwise by the declaration in the page. If
/// none of them names a known encoding, it is UTF-8 if the bytes are valid UTF-8, of which the last character may be cut, and otherwise windows-1252,
/// in which all bytes are valid.
pub(crate) fn decode(
    bytes: &[u8],
    charset: Option<&str>,
    of_page: Option<&'static Encoding>,
) -> String {
    let said = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = said.or(of_page).unwrap_or_else(|| {
        // The bytes may end within a character.
        match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_some() => encoding_rs::WINDOWS_1252,
            _ => encoding_rs::UTF_8,
        }
    });
    encoding.decode(bytes).0.into_owned()
}

/// Returns the charset that a page declares, as browsers find it: in a `meta` element among its first bytes.
#[cfg(any(feature = "web", feature = "knowledge-html"))]
pub(crate) fn charset(html: &[u8]) -> Option<&'static Encoding> {
    let head = &html[..html.len().min(CHARSET_HEAD)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    head.split("<meta").skip(1).find_map(|after| {
        let element = after.split('>').next()?;
        let (_, value) = element.split_once("charset")?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let label = value
            .trim_start_matches(['"', '\''])
            .split(['"', '\'', ';', ' ', '/'])
            .next()?;
        let said = Encoding::for_label(label.as_bytes())?;
        Some(if [UTF_16BE, UTF_16LE, REPLACEMENT].contains(&said) {
            // The declaration was readable as ASCII, so the page cannot be UTF-16. REPLACEMENT would decode the whole page as one character.
            UTF_8
        } else if said == X_USER_DEFINED {
            WINDOWS_1252
        } else {
            said
        })
    })
}
