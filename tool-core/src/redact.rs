//! Redaction of secrets in text, in many spellings.
//!
//! A [`Redactor`] contains the secrets of a turn. It finds each secret in its original form, without the white space around it, with other line
//! breaks, in escapes of JSON, URLs, HTML, Rust, C and Python, in hex, in base64 and as a list of bytes, and replaces it with `[secret:NAME]`. The
//! [threat model](crate::guides::threat_model) lists the spellings that are found and not found. The pipeline redacts every output of a tool:
//! payload, model text, citations, progress, notes, errors. Text that a host prints itself does not pass the pipeline. For that text, use
//!
//! - [`RedactingWriter`], and under the feature `tracing-subscriber` `RedactingMakeWriter`, for logs,
//! - under the feature `otel` `RedactingExporter`, for spans,
//! - [`install_panic_hook`], for the text of a panic.
//!
//! All of these use a [`SharedRedactor`], to which a host adds the secrets of a context until the context is dropped.
//!
//! ```
//! use tool_core::SecretString;
//! use tool_core::redact::Redactor;
//!
//! let redactor = Redactor::new([("docs_api_key", SecretString::from("sk-4711/ä"))])?;
//! assert_eq!(redactor.redact("key=sk-4711/ä!"), "key=[secret:docs_api_key]!");
//! assert_eq!(redactor.redact("?key=sk-4711%2f%C3%A4&n=1"), "?key=[secret:docs_api_key]&n=1");
//! assert_eq!(redactor.redact(r#"{"key":"sk-4711\/\u00e4"}"#), r#"{"key":"[secret:docs_api_key]"}"#);
//! assert_eq!(redactor.redact("Basic OnNrLTQ3MTEvw6Q="), "Basic O[secret:docs_api_key]=");
//! assert_eq!(redactor.redact("nothing here"), "nothing here");
//! # Ok::<(), tool_core::redact::TooShort>(())
//! ```
//!
//! A redactor does not find a secret that a tool has changed in any other way (reversed, compressed, encrypted, split over two values), and it does not find a
//! part of a secret. It stores the secrets in memory in clear text for as long as it exists, and does not wipe them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use scan::{Found, Scanner};

mod candidates;
mod clean;
mod entity;
mod escape;
mod forms;
mod json;
mod list;
mod panic;
mod scan;
mod shared;
mod stream;
mod tree;
mod values;
mod writer;

#[cfg(feature = "otel")]
mod otel;
#[cfg(feature = "tracing-subscriber")]
mod subscriber;

pub(crate) use clean::{Clean, Redact};
#[cfg(feature = "otel")]
pub use otel::RedactingExporter;
pub use panic::install_panic_hook;
pub use shared::{Lease, SharedRedactor};
pub use stream::StreamRedactor;
#[cfg(feature = "tracing-subscriber")]
pub use subscriber::RedactingMakeWriter;
pub use writer::RedactingWriter;

/// Finds and redacts secrets. Cheap to clone. See the [module](self).
#[derive(Clone, Default)]
#[doc(alias("mask", "secret scanning", "PII"))]
pub struct Redactor(Option<Arc<Known>>);

struct Known {
    scanner: Scanner,
    /// The placeholder of each secret, such as `[secret:NAME]`.
    masks: Vec<String>,
}

/// The error for a secret with so few bytes that it would be found in other text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secret `{name}` has fewer than 6 bytes, white space around it not counted, and would match other text: use a longer one"
)]
pub struct TooShort {
    /// Name of the secret.
    pub name: String,
}

impl Redactor {
    /// Minimum number of bytes of a secret, not counting white space around it.
    pub const SHORTEST: usize = 6;

    /// Creates a redactor from names and secrets. If one secret is the beginning of another one, the longer of the two is redacted.
    ///
    /// A secret of fewer than six bytes is refused, because it would be found in texts that contain the same letters by chance.
    pub fn new<N: Into<String>>(
        secrets: impl IntoIterator<Item = (N, SecretString)>,
    ) -> Result<Self, TooShort> {
        let secrets: Vec<(String, SecretString)> = secrets
            .into_iter()
            .map(|(name, secret)| (name.into(), secret))
            .collect();
        if let Some((name, _)) = secrets
            .iter()
            .find(|(_, secret)| Self::is_short(secret.expose_secret()))
        {
            return Err(TooShort { name: name.clone() });
        }
        let values: Vec<&str> = secrets
            .iter()
            .map(|(_, secret)| secret.expose_secret())
            .collect();
        let Some(scanner) = Scanner::new(values.iter().copied()) else {
            return Ok(Self::default());
        };
        let masks = secrets
            .iter()
            .map(|(name, _)| mask(name, &values))
            .collect();
        Ok(Self(Some(Arc::new(Known { scanner, masks }))))
    }

    /// Returns whether a secret is too short to be redacted: tools may trim it, so white space around it does not count.
    pub(crate) fn is_short(secret: &str) -> bool {
        secret.trim().len() < Self::SHORTEST
    }

    /// Returns whether the redactor has no secrets and therefore changes no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Redacts every secret in a text. Borrows the text if it contains no secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(known) = &self.0 else {
            return Cow::Borrowed(text);
        };
        match known.masked(text.as_bytes()) {
            None => Cow::Borrowed(text),
            Some(masked) => Cow::Owned(into_text(masked)),
        }
    }

    /// Returns whether a text contains a secret.
    pub(crate) fn finds(&self, text: &str) -> bool {
        matches!(self.redact(text), Cow::Owned(_))
    }

    /// Redacts every secret in bytes that need not be text.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.0
            .as_ref()
            .and_then(|known| known.masked(bytes))
            .map_or(Cow::Borrowed(bytes), Cow::Owned)
    }

    /// Returns a redactor for text in several pieces. See [`StreamRedactor`].
    pub fn stream(&self) -> StreamRedactor {
        StreamRedactor::new(self.clone())
    }

    /// Redacts the part of the text that no further bytes can change. Also returns the number of processed bytes.
    ///
    /// If `last` is true, all bytes are processed.
    fn advance<'a>(&self, bytes: &'a [u8], last: bool) -> (Cow<'a, [u8]>, usize) {
        let Some(known) = &self.0 else {
            return (Cow::Borrowed(bytes), bytes.len());
        };
        let found = known.scanner.scan(bytes, last);
        let settled = found.settled;
        (known.write(&bytes[..settled], &found), settled)
    }
}

impl Known {
    /// Returns the redacted text; `None` if the text contains no secrets.
    fn masked(&self, text: &[u8]) -> Option<Vec<u8>> {
        let found = self.scanner.scan(text, true);
        (!found.spans.is_empty()).then(|| self.write(text, &found).into_owned())
    }

    fn write<'a>(&self, text: &'a [u8], found: &Found) -> Cow<'a, [u8]> {
        if found.spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = Vec::with_capacity(text.len());
        let mut done = 0;
        for span in &found.spans {
            masked.extend_from_slice(&text[done..span.range.start]);
            masked.extend_from_slice(self.masks[span.secret].as_bytes());
            done = span.range.end;
        }
        masked.extend_from_slice(&text[done..]);
        Cow::Owned(masked)
    }
}

/// Converts redacted bytes into text. Placeholders begin and end between characters, so valid text stays valid.
fn into_text(masked: Vec<u8>) -> String {
    String::from_utf8(masked)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the placeholder of a secret: the first candidate that cannot be a part of any secret, not even together with the text around it. If there
/// is no such candidate, returns U+FFFD.
fn mask(name: &str, secrets: &[&str]) -> String {
    let meets = |mask: &str| {
        secrets.iter().any(|secret| {
            let overlaps = |left: &str, right: &str| {
                left.char_indices()
                    .any(|(at, _)| right.starts_with(&left[at..]))
            };
            mask.contains(secret)
                || secret.contains(mask)
                || overlaps(mask, secret)
                || overlaps(secret, mask)
        })
    };
    [
        format!("[secret:{name}]"),
        "<masked>".to_owned(),
        "***".to_owned(),
    ]
    .into_iter()
    .find(|mask| !meets(mask))
    .unwrap_or_else(|| char::REPLACEMENT_CHARACTER.to_string())
}

/// Prints the number of secrets, never their names or values.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.0.as_ref().map_or(0, |known| known.masks.len());
        f.debug_struct("Redactor")
            .field("secrets", &secrets)
            .finish_non_exhaustive()
    }
}
