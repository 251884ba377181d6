//! Errors of serde on admitted text, with the path of the value.

use serde_json::Error;

use super::Decoder;
use crate::args::bytes;
use crate::args::describe::found;
use crate::args::issue::{Issue, Path};
use crate::args::scan::Cursor;

/// An error of serde or of a user's conversion on admitted text, for example because a custom `Deserialize` is stricter than its schema.
#[derive(Debug)]
pub struct Misread(Issue);

impl Misread {
    /// Creates the error for a value that was not read from text.
    pub fn whole(error: &Error) -> Self {
        let found = "arguments that do not match".to_owned();
        Self(issue(String::new(), error, found))
    }

    /// Creates the error for a value that a user's conversion refused.
    #[cold]
    pub(in crate::args) fn of_value(text: &str, error: &Error) -> Self {
        Self(issue(String::new(), error, found(text)))
    }

    /// Returns the issue: serde's message and the path of the value.
    pub fn into_issue(self) -> Issue {
        self.0
    }

    #[cold]
    pub(super) fn of(error: &Error, decoder: &Decoder<'_>) -> Self {
        let text = decoder.cursor.text();
        let trail = decoder.trail.as_deref();
        let mut path = Path::default();
        for step in trail.into_iter().flat_map(|trail| trail.steps.iter().rev()) {
            match *step {
                Step::Key(at) => path.key(&key(text, at)),
                Step::Item(index) => path.item(index),
            }
        }
        let value = value(text, trail.map_or(0, |trail| trail.value));
        Self(issue(path.pointer(), error, found(value)))
    }
}

fn issue(pointer: String, error: &Error, found: String) -> Issue {
    Issue {
        pointer,
        expected: format!("a value that the tool accepts ({error})"),
        found,
    }
}

/// One step of the path to the refused value.
#[derive(Debug)]
pub(super) enum Step {
    /// Byte offset of the key.
    Key(usize),
    Item(usize),
}

/// The path to the innermost refused value, recorded from the inside out as the error propagates.
#[derive(Debug)]
pub(super) struct Trail {
    /// Byte offset of the value.
    value: usize,
    steps: Vec<Step>,
}

impl Decoder<'_> {
    /// Records that the error comes from the value at this offset.
    #[cold]
    pub(super) fn passed(&mut self, value: usize, step: Step) {
        let fresh = || {
            Box::new(Trail {
                value,
                steps: Vec::new(),
            })
        };
        self.trail.get_or_insert_with(fresh).steps.push(step);
    }
}

/// Reads the key at a byte offset.
fn key(text: &str, at: usize) -> String {
    let mut cursor = Cursor::new(text);
    cursor.at = at;
    let Ok(key) = cursor.key() else {
        return String::new();
    };
    bytes::decode(cursor.slice(key.start, key.end)).into_owned()
}

/// Returns the text of the value at a byte offset.
fn value(text: &str, at: usize) -> &str {
    let mut cursor = Cursor::new(text);
    cursor.at = at;
    cursor.space();
    let start = cursor.at;
    if cursor.skip().is_err() {
        return "";
    }
    cursor.slice(start, cursor.at)
}
