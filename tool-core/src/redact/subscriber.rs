//! Log writers for `tracing-subscriber` that redact secrets.

use tracing_subscriber::fmt::MakeWriter;

use super::{RedactingWriter, SharedRedactor};

/// A `MakeWriter` for `tracing_subscriber` whose writers redact secrets.
///
/// Without it, everything that the host's own code and its dependencies log is written unredacted.
///
/// ```
/// use tool_core::redact::{RedactingMakeWriter, SharedRedactor};
///
/// let shared = SharedRedactor::default();
/// let subscriber = tracing_subscriber::fmt()
///     .with_writer(RedactingMakeWriter::new(std::io::stderr, shared.clone()))
///     .finish();
/// # let _ = subscriber;
/// ```
#[derive(Clone, Debug)]
pub struct RedactingMakeWriter<M> {
    inner: M,
    shared: SharedRedactor,
}

impl<M> RedactingMakeWriter<M> {
    /// Wraps the writers that `inner` makes.
    pub fn new(inner: M, shared: SharedRedactor) -> Self {
        Self { inner, shared }
    }
}

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for RedactingMakeWriter<M> {
    type Writer = RedactingWriter<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactingWriter::new(self.inner.make_writer(), self.shared.clone())
    }

    fn make_writer_for(&'a self, meta: &tracing::Metadata<'_>) -> Self::Writer {
        RedactingWriter::new(self.inner.make_writer_for(meta), self.shared.clone())
    }
}
