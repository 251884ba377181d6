//! The cost of compiling hostile patterns in `search_files`: `patterns` prints the slowest patterns.
//!
//! Each piece of the list `PIECES` is repeated up to 1,000 characters, the limit of a call. Patterns are measured with and without repetition
//! operators, case-sensitive and case-insensitive. The measured time is the CPU time of the calling thread, which compiles the pattern in an empty
//! workspace; refused patterns are measured as well.

use std::fs;
use std::time::Duration;

use tool_core::prelude::*;
use tool_std::fs::{Limits, search_files};
use tool_std::workspace::{Reader, Workspaces};

/// The maximum length of a pattern, in characters.
const MOST: usize = 1_000;

/// The pieces that are repeated.
const PIECES: [&str; 40] = [
    r"\w", r"\W", r"\d", r"\s", r"\S", r"\b.", r"\b\w", r"\B\pL", r"\pL", r"\PL", r"[\pL\pM]", r"[^\pL]", r"\p{Greek}", r"\p{Han}", r"[\w&&\pL]", r"[\w--a]",
    r"[\w~~\d]", ".", r"(?s:.)", "(.*)", "(.+)+", r"(\w+)*", r"(\w+\s+)", r"(\w|\d)", "(a|b|c)", "(a|ab|abc)", "a?", "k", "ß", "ǆ", "[a-zA-Z]", r"[^\x00-\x7f]",
    r"(?i)\pL", r"(?i)k", r"(?i)\w", "(?i:σ)", "x*y*", "^$", r"(?m:^)\pL", r"\p{Lu}\p{Ll}",
];

/// Repetition operators, which are appended to each piece, to the whole pattern, and to six nested groups.
const REPEATS: [&str; 7] = ["", "?", "*", "{2}", "{10}", "{100}", "{0,50}"];

fn main() {
    let folder = std::env::temp_dir().join("patterns-bench");
    let cx = ToolContext::builder().workspace("bench").conversation("patterns").with(Workspaces::new(folder)).build();
    let reader: Reader = cx.get().expect("a workspace");
    let mut patterns = Vec::new();
    for piece in PIECES {
        for repeat in REPEATS {
            let one = format!("(?:{piece}){repeat}");
            patterns.push(one.repeat(MOST / one.len()));
            let inner = piece.repeat((MOST - 10) / piece.len());
            patterns.push(format!("(?:{inner}){repeat}"));
            let nested = (0..6).fold(piece.to_owned(), |inner, _| format!("(?:{inner}){repeat}"));
            patterns.push(nested.repeat(MOST / nested.len()));
        }
    }
    patterns.retain(|pattern| pattern.chars().count() <= MOST);
    let mut times = Vec::new();
    for pattern in &patterns {
        for ignore_case in [false, true] {
            let before = used();
            let pattern = pattern.clone();
            let found = search_files(
                &cx, &reader, &Limits::default(), pattern.clone(), String::from("."), None, false, ignore_case, 0, false, false, 100, 0,
            );
            times.push((used() - before, found.is_ok(), ignore_case, pattern));
        }
    }
    times.sort_unstable_by_key(|time| std::cmp::Reverse(time.0));
    println!("{} patterns\n\n| pattern | ignore case | ms | |\n|---|---|---|---|", times.len());
    for (time, is_taken, ignore_case, pattern) in times.iter().take(8) {
        let beginning: String = pattern.chars().take(30).collect();
        let taken = if *is_taken { "compiled" } else { "refused" };
        println!("| `{beginning}…` | {ignore_case} | {:.1} | {taken} |", time.as_secs_f64() * 1_000.0);
    }
}

/// Returns the CPU time of this thread.
fn used() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split(' ').next().expect("a number");
    Duration::from_nanos(nanoseconds.parse().expect("a number"))
}
