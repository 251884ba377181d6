//! A line-by-line search of a single file.

use std::io;
use std::ops::RangeInclusive;

use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::search::Line;

/// Maximum number of bytes of a line in a result.
const LINE: usize = 500;

/// Maximum number of bytes of a line that is searched. A longer line ends the search of its file with an error. The search of one line cannot be
/// cancelled: with the worst patterns, a line of 1 MB took 4 to 17 s, and a line of 16 MB took a few minutes.
const HEAP: usize = 1 << 20;

pub(super) fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(HEAP))
        .build()
}

/// A reader that fails as soon as the call is cancelled, so that the search of a long file ends.
pub(super) struct Watched<'a, R> {
    pub(super) from: R,
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl<R: io::Read> io::Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.cancelled)() {
            return Err(io::Error::other("the call was cancelled"));
        }
        self.from.read(buffer)
    }
}

/// The matching lines of one file.
pub(super) struct Hits {
    /// Lines in order, each with the number of its match. A context line has the number of the match that it belongs to.
    pub(super) lines: Vec<(u64, Line)>,
    pub(super) matches: u64,
    /// Numbers of the matches whose lines are kept, counted from 1.
    keep: RangeInclusive<u64>,
    most: u64,
}

impl Hits {
    pub(super) fn new(keep: RangeInclusive<u64>, most: u64) -> Self {
        Self {
            lines: Vec::new(),
            matches: 0,
            keep,
            most,
        }
    }

    fn keep(&mut self, of: u64, line: impl FnOnce() -> Line) {
        if self.keep.contains(&of) {
            self.lines.push((of, line()));
        }
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        self.keep(self.matches, || {
            line(found.line_number(), found.bytes(), true)
        });
        Ok(self.matches < self.most)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let behind = u64::from(*context.kind() == SinkContextKind::Before);
        self.keep(self.matches + behind, || {
            line(context.line_number(), context.bytes(), false)
        });
        Ok(true)
    }
}

fn line(number: Option<u64>, bytes: &[u8], matched: bool) -> Line {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE)]).into_owned();
    if bytes.len() > LINE {
        // Remove the remains of a multi-byte character that was cut.
        while text.ends_with('\u{fffd}') {
            text.pop();
        }
        text.push('…');
    }
    Line {
        line: number.unwrap_or_default(),
        text,
        matched,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::atomic::{AtomicU32, Ordering};

    use grep_regex::RegexMatcher;

    use super::{Hits, Watched, searcher};

    /// An endless stream of lines.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for pair in buffer.chunks_mut(2) {
                pair.copy_from_slice(&b"x\n"[..pair.len()]);
            }
            Ok(buffer.len() / 2 * 2)
        }
    }

    // search_files: a cancelled call stops reading a file of any length
    #[test]
    fn search_of_an_endless_file_stops_when_the_call_is_cancelled() {
        let asked = AtomicU32::new(0);
        let watched = Watched {
            from: Endless,
            cancelled: &|| asked.fetch_add(1, Ordering::Relaxed) == 100,
        };
        let mut hits = Hits::new(0..=0, u64::MAX);
        let matcher = RegexMatcher::new("absent").unwrap();
        let told = searcher(0).search_reader(&matcher, watched, &mut hits);
        assert_eq!(told.unwrap_err().to_string(), "the call was cancelled");
    }

    // search_files: only the lines of the requested matches are kept in memory
    #[test]
    fn skipped_lines_are_counted_but_not_stored() {
        let text = "a\nhit\nb\n".repeat(1000);
        let matcher = RegexMatcher::new("hit").unwrap();
        for (keep, most, matches, held) in [
            (0..=0, u64::MAX, 1000, 0),
            (0..=0, 10, 10, 0),
            (501..=502, 503, 503, 6),
            (1..=2, 3, 3, 6),
        ] {
            let mut hits = Hits::new(keep, most);
            let told = searcher(1).search_slice(&matcher, text.as_bytes(), &mut hits);
            told.unwrap();
            assert_eq!((hits.matches, hits.lines.len()), (matches, held));
        }
    }
}
