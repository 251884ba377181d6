//! Writer that redacts secrets.

use std::io::{self, Write};

use super::{SharedRedactor, StreamRedactor};

/// A writer that redacts secrets before it passes text to another writer, even if a secret is split over two writes.
///
/// The end of the written text is held back if it may be the beginning of a secret. [`flush`](Write::flush) does not write it;
/// [`finish`](RedactingWriter::finish) and dropping do.
///
/// ```
/// use std::io::Write;
/// use tool_core::SecretString;
/// use tool_core::redact::{RedactingWriter, SharedRedactor};
///
/// let shared = SharedRedactor::default();
/// let _lease = shared.add([("token", SecretString::from("tok-1234"))])?;
/// let mut out = RedactingWriter::new(Vec::new(), shared);
/// write!(out, "got tok-")?;
/// write!(out, "1234\n")?;
/// assert_eq!(out.finish()?, b"got [secret:token]\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RedactingWriter<W: Write> {
    /// The wrapped writer; `None` after [`finish`](Self::finish).
    inner: Option<W>,
    shared: SharedRedactor,
    stream: StreamRedactor,
}

impl<W: Write> RedactingWriter<W> {
    /// Writes into `inner`, and redacts the secrets that `shared` contains at the time of each write.
    pub fn new(inner: W, shared: SharedRedactor) -> Self {
        let stream = shared.current().stream();
        Self {
            inner: Some(inner),
            shared,
            stream,
        }
    }

    /// Writes the text that is held back, and returns the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.rest()?;
        self.inner.take().ok_or_else(finished)
    }

    /// Writes the text that is held back.
    fn rest(&mut self) -> io::Result<()> {
        self.stream.know(self.shared.current());
        let rest = self.stream.finish_bytes();
        match &mut self.inner {
            Some(inner) if !rest.is_empty() => inner.write_all(&rest),
            _ => Ok(()),
        }
    }
}

fn finished() -> io::Error {
    io::Error::other("the writer is finished")
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.know(self.shared.current());
        let masked = self.stream.push_bytes(bytes);
        self.inner
            .as_mut()
            .ok_or_else(finished)?
            .write_all(&masked)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.as_mut().ok_or_else(finished)?.flush()
    }
}

impl<W: Write> Drop for RedactingWriter<W> {
    fn drop(&mut self) {
        // An error cannot be reported here.
        let _ = self.rest();
    }
}
