//! Limits of how much one call reads, lists and writes.

use tool_core::{Effect, FromContext, ToolContext, ToolError};

/// Limits of how much one call reads, lists and writes. A host sets other limits by putting a value into the context. A truncated result is marked as
/// truncated, and contains the position at which to continue, or a note.
///
/// ```
/// use tool_core::ToolContext;
/// use tool_std::fs::Limits;
///
/// let cx = ToolContext::builder().with(Limits::default().lines(2000)).build();
/// assert_eq!(cx.get::<Limits>().unwrap(), Limits::default().lines(2000));
/// assert_eq!(ToolContext::anonymous().get::<Limits>().unwrap(), Limits::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(super) lines: usize,
    pub(super) bytes: usize,
    pub(super) part_lines: u64,
    pub(super) file_bytes: u64,
    pub(super) written_bytes: usize,
    pub(super) entries: usize,
    pub(super) walked: usize,
}

impl Default for Limits {
    /// Returns the default limits: 500 lines and 512 KiB of text in a result, 400 lines in a part, 16 GiB for a file to read and 10 MiB for a file to
    /// write or edit, 200 entries of a folder, one million files in a walk.
    fn default() -> Self {
        Self {
            lines: 500,
            bytes: 512 << 10,
            part_lines: 400,
            file_bytes: 16 << 30,
            written_bytes: 10 << 20,
            entries: 200,
            walked: 1_000_000,
        }
    }
}

impl Limits {
    /// Sets the maximum number of lines that `read_file` returns; at least 1.
    #[must_use]
    pub fn lines(mut self, most: usize) -> Self {
        self.lines = most.max(1);
        self
    }

    /// Sets the maximum number of bytes of text in one result; at least 4, the length of the longest character.
    #[must_use]
    pub fn bytes(mut self, most: usize) -> Self {
        self.bytes = most.max(4);
        self
    }

    /// Sets the maximum number of lines of each part that `read_file_parts` returns; at least 1.
    #[must_use]
    pub fn part_lines(mut self, most: u64) -> Self {
        self.part_lines = most.max(1);
        self
    }

    /// Sets the maximum size of a file to read, in bytes. The whole file is read, because its lines are counted. This takes time for a long file, but
    /// little memory, because the file is read in pieces. Reading stops when the call is cancelled or its deadline passes.
    #[must_use]
    pub fn file_bytes(mut self, most: u64) -> Self {
        self.file_bytes = most;
        self
    }

    /// Sets the maximum size of a file that is written or edited, in bytes.
    #[must_use]
    pub fn written_bytes(mut self, most: usize) -> Self {
        self.written_bytes = most;
        self
    }

    /// Sets the maximum number of entries that `list_directory` returns; at least 1.
    #[must_use]
    pub fn entries(mut self, most: usize) -> Self {
        self.entries = most.max(1);
        self
    }

    /// Sets the maximum number of files that one call of `find_files` or `search_files` examines.
    #[must_use]
    pub fn walked(mut self, most: usize) -> Self {
        self.walked = most;
        self
    }
}

impl FromContext for Limits {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(cx.extension().unwrap_or_default())
    }
}
