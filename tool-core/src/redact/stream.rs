//! Redaction of text that is passed in pieces.

use super::{Redactor, into_text};

/// Redacts secrets in text that is passed in pieces, even if a secret is split over two pieces.
///
/// Every `push` returns the text that is settled: all but the end that could be part of a secret if more text follows. That end
/// is never longer than the longest spelling of a secret, with the white space that may be between its parts. `finish` returns the rest.
/// Joined, the returned pieces are the text that [`Redactor::redact`] returns for the whole text.
///
/// ```
/// use tool_core::SecretString;
/// use tool_core::redact::Redactor;
///
/// let redactor = Redactor::new([("token", SecretString::from("tok-1234"))])?;
/// let mut stream = redactor.stream();
/// assert_eq!(stream.push("it is tok-"), "it is ");
/// assert_eq!(stream.push("1234!"), "[secret:token]!");
/// assert_eq!(stream.finish(), "");
/// # Ok::<(), tool_core::redact::TooShort>(())
/// ```
#[derive(Debug)]
pub struct StreamRedactor {
    redactor: Redactor,
    /// The text that is not settled yet. `Debug` never prints it, because a part of a secret is confidential, too.
    held: Held,
}

#[derive(Default)]
struct Held(Vec<u8>);

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl StreamRedactor {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            held: Held::default(),
        }
    }

    /// Takes the next piece and returns the text that is settled.
    pub fn push(&mut self, text: &str) -> String {
        into_text(self.push_bytes(text.as_bytes()))
    }

    /// Returns the rest. The next `push` begins a new text.
    pub fn finish(&mut self) -> String {
        into_text(self.finish_bytes())
    }

    /// Does the same as [`push`](Self::push) for bytes that need not be UTF-8.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.0.extend_from_slice(bytes);
        let (masked, settled) = self.redactor.advance(&self.held.0, false);
        let masked = masked.into_owned();
        self.held.0.drain(..settled);
        masked
    }

    /// Does the same as [`finish`](Self::finish) for bytes that need not be UTF-8.
    pub fn finish_bytes(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held.0);
        self.redactor.advance(&held, true).0.into_owned()
    }

    /// Replaces the secrets to search for, also in the text that is not settled yet.
    pub(super) fn know(&mut self, redactor: Redactor) {
        self.redactor = redactor;
    }
}
