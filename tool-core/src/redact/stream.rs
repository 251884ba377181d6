//! Text that comes in pieces.

use super::{Redactor, into_text};

/// Masks secrets in text that comes in pieces, also where one is cut in two.
///
/// Every `push` gives what is settled by then: all but the end of the text so far that more text could make part of a secret. That
/// is never more than the longest spelling of a secret, with the white space that may stand between its parts. `finish` gives the rest. Put together, it is what
/// [`Redactor::redact`] makes of the whole text.
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
    /// What is held back. Never printed: half a secret is one as well.
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

    /// Takes the next piece, and gives what is settled.
    pub fn push(&mut self, text: &str) -> String {
        into_text(self.push_bytes(text.as_bytes()))
    }

    /// The rest. The next `push` begins another text.
    pub fn finish(&mut self) -> String {
        into_text(self.finish_bytes())
    }

    /// [`push`](Self::push) of bytes that need not be text.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.0.extend_from_slice(bytes);
        let (masked, settled) = self.redactor.advance(&self.held.0, false);
        let masked = masked.into_owned();
        self.held.0.drain(..settled);
        masked
    }

    /// [`finish`](Self::finish) of bytes that need not be text.
    pub fn finish_bytes(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held.0);
        self.redactor.advance(&held, true).0.into_owned()
    }

    /// Looks for other secrets from here on, also in what is held back.
    pub(super) fn know(&mut self, redactor: Redactor) {
        self.redactor = redactor;
    }
}
