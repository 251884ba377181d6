//! `search_files`.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use tool_core::ErrorKind;
use tool_core::prelude::*;

use super::find::{from, glob};
use super::limits::Limits;
use super::open::{Home, walked};
use super::walk::{Files, Walk, threads};
use crate::workspace::Reader;

/// Most bytes of a line that is returned.
const LINE: usize = 500;

/// Most bytes of a line that is searched: a file with a longer one is skipped from there on.
const HEAP: usize = 16 << 20;

/// Lines that match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Matches {
    /// The files that have some, by path.
    pub files: Vec<FileMatches>,
    /// How many matching lines this result holds.
    pub matches: u64,
    /// Whether there are more behind these.
    pub truncated: bool,
    /// Where to go on: the `offset` of the next call.
    pub next_offset: Option<u64>,
    /// Files that could not be read: with a second name, on another file system, without permission, or with a line that is too long.
    pub skipped: u64,
}

/// The lines of one file that match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct FileMatches {
    /// The file, from the workspace on.
    pub path: String,
    /// The lines, and those around them that were asked for.
    pub lines: Vec<Line>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Line {
    /// Its number, counted from 1.
    pub line: u64,
    /// Its text without its end; of a long line the first 500 bytes and `…`.
    pub text: String,
    /// Whether it matches; a line around a match does not.
    pub matched: bool,
}

/// Finds lines in the text files of the workspace by a regular expression. What `.gitignore` and `.ignore` leave out and names that
/// begin with a dot are not looked at, unless said; `.git` and binary files never are.
#[tool(
    category = "files",
    example("Where something is defined", { "pattern": "fn\\s+resolve", "glob": "*.rs" }),
    example("A text as it is, with two lines around it", { "pattern": "a[0].b()", "literal": true, "context": 2 }),
)]
#[expect(
    clippy::too_many_arguments,
    reason = "each is one that a model may give"
)]
pub fn search_files(
    cx: &ToolContext,
    reader: &Reader,
    limits: &Limits,
    /// A regular expression in Rust's syntax, about one line.
    #[arg(length = 1..=10_000)]
    pattern: String,
    /// The folder or file to look in, from the workspace on, or absolute and inside the workspace.
    #[arg(default = ".")]
    path: String,
    /// Only files that this glob matches, as in `find_files`.
    #[arg(length = 1..=1000)]
    glob: Option<String>,
    /// Take the pattern as plain text.
    #[arg(default = false)]
    literal: bool,
    /// Take capital and small letters as the same.
    #[arg(default = false)]
    ignore_case: bool,
    /// How many lines to return before and after each match.
    #[arg(default = 0, range = 0..=10)]
    context: u32,
    /// Take names that begin with a dot.
    #[arg(default = false)]
    hidden: bool,
    /// Take what `.gitignore` and `.ignore` leave out.
    #[arg(default = false)]
    ignored: bool,
    /// How many matching lines to return.
    #[arg(default = 100, range = 1..=1000)]
    limit: u32,
    /// How many matching lines to leave out: `next_offset` of the result before.
    #[arg(default = 0, range = 0..=100_000)]
    offset: u64,
) -> Result<Matches, ToolError> {
    let matcher = RegexMatcherBuilder::new()
        .fixed_strings(literal)
        .case_insensitive(ignore_case)
        .line_terminator(Some(b'\n'))
        .build(&pattern)
        .map_err(|error| {
            ToolError::new(format!(
                "`{pattern}` is no regular expression: {error}; set `literal` to take it as it is"
            ))
        })?;
    let only = glob.as_deref().map(self::glob).transpose()?;
    let path = reader.resolve(&path).map_err(ToolError::shown)?;
    let home = Home::of(reader)?;
    let cancelled = || cx.is_cancelled();
    let walk = Walk {
        home: &home,
        hidden,
        ignored,
        most: limits.walked,
        cancelled: &cancelled,
    };
    let mut files = walk.files(&path)?;
    if let Some(only) = only {
        files
            .paths
            .retain(|file| only.is_match(from(&files.start, file)));
    }
    let search = Search {
        home: &home,
        matcher: &matcher,
        context: context as usize,
        files: &files.paths,
        // One more, to know whether there are more.
        wanted: offset + u64::from(limit) + 1,
        cancelled: &cancelled,
        next: AtomicUsize::new(0),
        matches: AtomicU64::new(0),
        skipped: AtomicU64::new(0),
        found: Mutex::default(),
        stopped: AtomicBool::new(false),
    };
    let (found, skipped) = search.run()?;
    Ok(cut(found, &files, offset, limit, limits.bytes, skipped))
}

/// A search of many files. They are taken in their order and each one that is taken is searched, so when enough is found, everything
/// before it is: which matches are returned depends on no clock.
struct Search<'a> {
    home: &'a Home<'a>,
    matcher: &'a RegexMatcher,
    context: usize,
    files: &'a [String],
    wanted: u64,
    cancelled: &'a (dyn Fn() -> bool + Sync),
    next: AtomicUsize,
    matches: AtomicU64,
    skipped: AtomicU64,
    found: Mutex<BTreeMap<usize, Hits>>,
    stopped: AtomicBool,
}

impl Search<'_> {
    fn run(self) -> Result<(BTreeMap<usize, Hits>, u64), ToolError> {
        std::thread::scope(|scope| {
            for _ in 1..threads().min(self.files.len()) {
                scope.spawn(|| self.work());
            }
            self.work();
        });
        if self.stopped.into_inner() {
            return Err(ToolError::of(
                ErrorKind::Cancelled,
                "the call was cancelled",
            ));
        }
        let found = self
            .found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        Ok((found, self.skipped.into_inner()))
    }

    fn work(&self) {
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(HEAP))
            .build();
        while self.matches.load(Ordering::Relaxed) < self.wanted {
            if (self.cancelled)() {
                self.stopped.store(true, Ordering::Relaxed);
                return;
            }
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = self.files.get(index) else {
                return;
            };
            let mut hits = Hits {
                lines: Vec::new(),
                matches: 0,
                most: self.wanted,
            };
            let read = match walked(self.home, path) {
                Ok(Some((file, _))) => searcher.search_file(self.matcher, &file, &mut hits).is_ok(),
                _ => false,
            };
            if !read {
                self.skipped.fetch_add(1, Ordering::Relaxed);
            }
            if hits.matches > 0 {
                self.matches.fetch_add(hits.matches, Ordering::Relaxed);
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.insert(index, hits);
            }
        }
    }
}

/// What is found in one file.
struct Hits {
    /// Lines in their order, each with the number of the match that it is or stands around.
    lines: Vec<(u64, Line)>,
    matches: u64,
    most: u64,
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        let line = line(found.line_number(), found.bytes(), true);
        self.lines.push((self.matches, line));
        Ok(self.matches < self.most)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = line(context.line_number(), context.bytes(), false);
        let behind = u64::from(*context.kind() == SinkContextKind::Before);
        self.lines.push((self.matches + behind, line));
        Ok(true)
    }
}

fn line(number: Option<u64>, bytes: &[u8], matched: bool) -> Line {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE)]).into_owned();
    if bytes.len() > LINE {
        // What the cut left of a character.
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

/// The matches from `offset` on, as many as fit, with the lines around them.
fn cut(
    found: BTreeMap<usize, Hits>,
    files: &Files,
    offset: u64,
    limit: u32,
    most: usize,
    skipped: u64,
) -> Matches {
    let total: u64 = found.values().map(|hits| hits.matches).sum();
    let last = offset.saturating_add(limit.into());
    // Matches of the files before, bytes so far, and the match that was looked at last.
    let (mut before, mut bytes, mut at) = (0, 0, offset);
    let mut shown = Vec::new();
    'files: for (index, hits) in found {
        let mut lines = Vec::new();
        for (of, line) in hits.lines {
            let of = before + of;
            if of > at && of > offset {
                if of > last || bytes > most {
                    push(&mut shown, files, index, lines);
                    break 'files;
                }
                at = of;
            }
            if of > offset {
                bytes += line.text.len();
                lines.push(line);
            }
        }
        before += hits.matches;
        push(&mut shown, files, index, lines);
    }
    Matches {
        files: shown,
        matches: at - offset,
        truncated: at < total || files.more,
        next_offset: (at < total).then_some(at),
        skipped,
    }
}

fn push(shown: &mut Vec<FileMatches>, files: &Files, index: usize, lines: Vec<Line>) {
    if !lines.is_empty() {
        let path = files.paths[index].clone();
        shown.push(FileMatches { path, lines });
    }
}
