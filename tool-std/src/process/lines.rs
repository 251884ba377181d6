//! Splitting output into complete lines, so that neither a character nor a secret without line breaks is split between two progress messages. Only
//! incomplete lines of more than [`LONGEST`] bytes are split.

/// An incomplete line that is longer than this, in bytes, is returned in parts.
const LONGEST: usize = 64 << 10;

/// The beginning of a line that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    /// Adds bytes; returns the lines that are complete now, or an incomplete line that is longer than [`LONGEST`], or else `None`.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<String> {
        self.0.extend_from_slice(bytes);
        let whole = match self.0.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if self.0.len() > LONGEST => self.0.len(),
            None => return None,
        };
        let rest = self.0.split_off(whole);
        let lines = std::mem::replace(&mut self.0, rest);
        Some(String::from_utf8_lossy(&lines).into_owned())
    }

    /// Returns the incomplete line at the end of the stream, if there is one.
    pub(super) fn rest(self) -> Option<String> {
        (!self.0.is_empty()).then(|| String::from_utf8_lossy(&self.0).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Lines};

    #[test]
    fn only_complete_lines_are_reported() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"on"), None);
        assert_eq!(
            lines.push("e\nzw\u{f6}".as_bytes()).as_deref(),
            Some("one\n")
        );
        assert_eq!(lines.push(b"lf\nthree").as_deref(), Some("zw\u{f6}lf\n"));
        assert_eq!(lines.rest().as_deref(), Some("three"));
    }

    #[test]
    fn endless_line_is_cut_at_its_limit() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(&vec![b'x'; LONGEST]), None);
        assert!(
            lines
                .push(b"x")
                .is_some_and(|told| told.len() == LONGEST + 1)
        );
        assert_eq!(lines.rest(), None);
    }
}
