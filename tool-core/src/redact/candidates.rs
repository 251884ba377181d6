//! The positions of a text that need a thorough search.

use super::scan::{GLANCE, Scanner};

/// Iterator over the positions of a text where a form may begin, in order.
pub(super) struct Places<'a> {
    scanner: &'a Scanner,
    text: &'a [u8],
    last: bool,
    /// Everything before this position was searched.
    at: usize,
    /// Every byte before this position is checked one by one, without the fast search.
    close: usize,
    /// The next position that the fast search finds. It is out of date if it is before `at`.
    hit: Option<usize>,
    /// The position of the next byte that may begin an escape.
    escape: Option<usize>,
    /// The position of the next line break, or `+` for a space, that may be within a form.
    line: Option<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn new(scanner: &'a Scanner, text: &'a [u8], last: bool) -> Self {
        let mut this = Self {
            scanner,
            text,
            last,
            at: 0,
            close: 0,
            hit: None,
            escape: None,
            line: None,
        };
        match &scanner.glance {
            None => this.close = text.len(),
            Some(glance) => {
                this.hit = glance.find(text).map(|hit| hit.start());
                this.escape = this.next_escape(0);
                this.line = this.next_line(0);
            }
        }
        this
    }

    fn next_escape(&self, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        Some(from + memchr::memchr3(b'\\', b'%', b'&', rest)?)
    }

    fn next_line(&self, mut from: usize) -> Option<usize> {
        loop {
            let rest = self.text.get(from..)?;
            let at = from
                + if self.scanner.plus {
                    memchr::memchr2(b'\n', b'+', rest)
                } else {
                    memchr::memchr(b'\n', rest)
                }?;
            // Most lines end with a byte that base64 and lists do not contain.
            let line = self.text[..at]
                .strip_suffix(b"\r")
                .unwrap_or(&self.text[..at]);
            let inside = |byte: &u8| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'+' | b'/' | b'-' | b'_' | b',' | b':' | b' ')
            };
            if self.text[at] == b'+' || line.last().is_some_and(inside) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            if let Some(close) = self.text.get(..self.close) {
                for (at, byte) in close.iter().enumerate().skip(self.at) {
                    if self.scanner.may_begin(*byte, self.text.get(at + 1)) {
                        self.at = at + 1;
                        return Some(at);
                    }
                }
                self.at = self.at.max(self.close);
            }
            let glance = self.scanner.glance.as_ref()?;
            if self.at >= self.text.len() {
                return None;
            }
            if self.hit.is_some_and(|hit| hit < self.at) {
                let hit = glance.find(&self.text[self.at..]);
                self.hit = hit.map(|hit| self.at + hit.start());
            }
            if self.escape.is_some_and(|at| at < self.at) {
                self.escape = self.next_escape(self.at);
            }
            if self.line.is_some_and(|at| at < self.at) {
                self.line = self.next_line(self.at);
            }
            // Stop before bytes that the fast search cannot handle, and before the end of a text that continues.
            let near = [self.escape, self.line].into_iter().flatten().min();
            let near = match near {
                Some(near) => near,
                None if self.last => self.text.len() + GLANCE,
                None => self.text.len() - 1,
            };
            let from = near.saturating_sub(GLANCE).max(self.at);
            match self.hit {
                Some(hit) if hit < from => {
                    self.at = hit + 1;
                    return Some(hit);
                }
                _ if from >= self.text.len() => return None,
                _ => (self.at, self.close) = (from, near + 1),
            }
        }
    }
}
