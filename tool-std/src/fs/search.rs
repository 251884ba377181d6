//! The `search_files` tool, which finds lines by a regular expression.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::Searcher;
use tool_core::ErrorKind;
use tool_core::prelude::*;

use super::find::{from, glob};
use super::hits::{Hits, Watched, searcher};
use super::limits::Limits;
use super::open::{Home, walked};
use super::walk::{Files, RuleCount, Walk, threads};
use crate::workspace::Reader;

/// Maximum number of bytes of a compiled pattern, and of the DFA states that each thread caches for it. The slowest known pattern of 1,000
/// characters, a repeated `(?i)\pL`, compiles in 80 ms; with the library's limits of 100 MB and 1 GB it took 40 s and 1.6 GB.
const COMPILED: usize = 2 << 20;

/// The lines that match the pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Matches {
    /// The files with matching lines, by path.
    pub files: Vec<FileMatches>,
    /// The number of matching lines in this result.
    pub matches: u64,
    /// Whether there are more matches: after these, or in files that were not searched.
    pub truncated: bool,
    /// The `offset` of the next call, to continue.
    pub next_offset: Option<u64>,
    /// The number of files that could not be read, for example files with several hard links, on a different file system, without permission, or with
    /// a line that is too long.
    pub skipped: u64,
    /// Advice if not every file was searched or not every ignore rule was applied.
    pub note: Option<String>,
}

/// The matching lines of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct FileMatches {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The matching lines and the requested lines around them.
    pub lines: Vec<Line>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Line {
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The text of the line without its line end; if it is long, the first 500 bytes and `…`.
    pub text: String,
    /// Whether the line matches. It is false for the lines around a match.
    pub matched: bool,
}

/// Finds lines in the text files of the workspace by a regular expression. Skips files that `.gitignore` or `.ignore` exclude and names that
/// begin with a dot, unless an argument includes them, and always skips `.git` and binary files.
#[tool(
    category = "files",
    example("Where something is defined", { "pattern": "fn\\s+resolve", "glob": "*.rs" }),
    example("An exact text, with two lines of context", { "pattern": "a[0].b()", "literal": true, "context": 2 }),
)]
#[expect(clippy::too_many_arguments, reason = "a model can set each argument")]
pub fn search_files(
    cx: &ToolContext,
    reader: &Reader,
    limits: &Limits,
    /// A regular expression in Rust's syntax, which is matched with each line.
    #[arg(length = 1..=1_000)]
    pattern: String,
    /// The folder or file to search, relative to the workspace, or absolute and inside the workspace.
    #[arg(default = ".")]
    path: String,
    /// Search only files that match this glob, as in `find_files`.
    #[arg(length = 1..=1000)]
    glob: Option<String>,
    /// Search for the pattern as plain text.
    #[arg(default = false)]
    literal: bool,
    /// Ignore the difference between upper and lower case.
    #[arg(default = false)]
    ignore_case: bool,
    /// The number of lines to return before and after each match.
    #[arg(default = 0, range = 0..=10)]
    context: u32,
    /// Include names that begin with a dot.
    #[arg(default = false)]
    hidden: bool,
    /// Include files that `.gitignore` or `.ignore` exclude.
    #[arg(default = false)]
    ignored: bool,
    /// The maximum number of matching lines to return.
    #[arg(default = 100, range = 1..=1000)]
    limit: u32,
    /// The number of matching lines to skip: `next_offset` of the previous result.
    #[arg(default = 0, range = 0..=100_000)]
    offset: u64,
) -> Result<Matches, ToolError> {
    let matcher = RegexMatcherBuilder::new()
        .fixed_strings(literal)
        .case_insensitive(ignore_case)
        .line_terminator(Some(b'\n'))
        .size_limit(COMPILED)
        .dfa_size_limit(COMPILED)
        .build(&pattern)
        .map_err(|error| {
            // Only the text of the library's error shows that the pattern is too large.
            let error = error.to_string();
            if error.contains("size limit") {
                return ToolError::new(format!(
                    "`{pattern}` is too large: repeat less, or write `[a-z]` or `(?-u:\\w)` in the place of `\\w` or `\\pL`"
                ));
            }
            ToolError::new(format!(
                "`{pattern}` is not a regular expression: {error}; set `literal` to search for this exact text"
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
        rules: RuleCount::default(),
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
        cancelled: &cancelled,
        skipped: AtomicU64::new(0),
    };
    // Search for one match more than requested, to find out whether more matches exist.
    let mut found = search.run(offset + u64::from(limit) + 1, offset == 0)?;
    if offset > 0 {
        search.fill(&mut found, offset, limit)?;
    }
    let skipped = search.skipped.into_inner();
    let note = files.note(limits.walked);
    Ok(Matches {
        note,
        ..cut(found, &files, offset, limit, limits.bytes, skipped)
    })
}

/// The search of all files of one call.
struct Search<'a> {
    home: &'a Home<'a>,
    matcher: &'a RegexMatcher,
    context: usize,
    files: &'a [String],
    cancelled: &'a (dyn Fn() -> bool + Sync),
    skipped: AtomicU64,
}

/// State that the threads of a search share.
struct Shared {
    wanted: u64,
    /// Whether lines are stored; otherwise matches are only counted.
    keep: bool,
    next: AtomicUsize,
    matches: AtomicU64,
    found: Mutex<BTreeMap<usize, Hits>>,
}

impl Search<'_> {
    /// Searches until `wanted` matches are found, all files are searched or the call is cancelled. Threads take the files in order and search each
    /// file that they take, so when enough is found, all earlier files have been searched: the matches that are returned do not depend on timing.
    fn run(&self, wanted: u64, keep: bool) -> Result<BTreeMap<usize, Hits>, ToolError> {
        let shared = Shared {
            wanted,
            keep,
            next: AtomicUsize::new(0),
            matches: AtomicU64::new(0),
            found: Mutex::default(),
        };
        std::thread::scope(|scope| {
            for _ in 1..threads().min(self.files.len()) {
                // If the system has no more threads, the search runs with fewer.
                let _ = Builder::new().spawn_scoped(scope, || self.work(&shared));
            }
            self.work(&shared);
        });
        self.or_cancelled(
            shared
                .found
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn work(&self, shared: &Shared) {
        let mut searcher = searcher(if shared.keep { self.context } else { 0 });
        while shared.matches.load(Ordering::Relaxed) < shared.wanted && !(self.cancelled)() {
            let index = shared.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.files.len() {
                return;
            }
            // Matches are numbered from 1, so `0..=0` keeps none.
            let keep = if shared.keep {
                1..=shared.wanted
            } else {
                0..=0
            };
            let mut hits = Hits::new(keep, shared.wanted);
            if !self.look(&mut searcher, index, &mut hits) {
                self.skipped.fetch_add(1, Ordering::Relaxed);
            }
            if hits.matches > 0 {
                shared.matches.fetch_add(hits.matches, Ordering::Relaxed);
                let mut found = shared.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.insert(index, hits);
            }
        }
    }

    /// Reads the lines of the matches after `offset`, which `run` only counted. The lines of earlier matches, which may be many, are never stored.
    fn fill(
        &self,
        found: &mut BTreeMap<usize, Hits>,
        offset: u64,
        limit: u32,
    ) -> Result<(), ToolError> {
        let mut searcher = searcher(self.context);
        let last = offset.saturating_add(limit.into());
        let mut before = 0;
        for (index, hits) in found {
            let counted = hits.matches;
            if before < last && before + counted > offset {
                let keep = offset.saturating_sub(before) + 1..=last - before;
                let most = counted.min(last - before + 1);
                let mut again = Hits::new(keep, most);
                self.look(&mut searcher, *index, &mut again);
                // If the file changed meanwhile and has fewer matches now, the new count is used.
                again.matches = if again.matches < most {
                    again.matches
                } else {
                    counted
                };
                *hits = again;
            }
            before += hits.matches;
        }
        self.or_cancelled(())
    }

    /// Searches one file; returns whether it could be read.
    fn look(&self, searcher: &mut Searcher, index: usize, hits: &mut Hits) -> bool {
        let Ok(Some((file, _))) = walked(self.home, &self.files[index]) else {
            return false;
        };
        let watched = Watched {
            from: file,
            cancelled: self.cancelled,
        };
        searcher.search_reader(self.matcher, watched, hits).is_ok()
    }

    fn or_cancelled<T>(&self, found: T) -> Result<T, ToolError> {
        if (self.cancelled)() {
            let why = "the call was cancelled";
            return Err(ToolError::of(ErrorKind::Cancelled, why));
        }
        Ok(found)
    }
}

/// Returns the matches after `offset`, up to `limit` matches and about `most` bytes, with their context lines.
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
    // The number of matches in earlier files, the bytes so far, and the number of the current match.
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
        note: None,
    }
}

fn push(shown: &mut Vec<FileMatches>, files: &Files, index: usize, lines: Vec<Line>) {
    if !lines.is_empty() {
        let path = files.paths[index].clone();
        shown.push(FileMatches { path, lines });
    }
}
