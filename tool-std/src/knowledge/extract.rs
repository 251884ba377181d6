//! The text of a document, by its MIME type.

use super::fault::DocumentFault;

/// Suffixes and names of types that are texts although they do not begin with `text/`.
const TEXTS: &[&str] = &[
    "application/json",
    "application/xml",
    "application/yaml",
    "application/toml",
    "application/javascript",
    "application/x-ndjson",
    "application/sql",
];

/// Returns the MIME type in lower case and without its parameters.
pub(super) fn essence(mime: &str) -> String {
    let essence = mime.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Returns whether a MIME type is a text, so that the content itself is indexed.
pub(super) fn is_text(essence: &str) -> bool {
    essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || essence.ends_with("+yaml")
        || TEXTS.contains(&essence)
}

/// Returns the text of a document: `None` if the content is itself the text.
pub(super) fn text(mime: &str, content: &[u8]) -> Result<Option<String>, DocumentFault> {
    if !is_text(&essence(mime)) {
        return Err(DocumentFault::UnsupportedType);
    }
    match str::from_utf8(content) {
        Ok(_) => Ok(None),
        Err(_) => Err(DocumentFault::NotText),
    }
}
