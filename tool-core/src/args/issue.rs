//! What the guard tells, and how far it may go to make arguments fit.

use serde::Serialize;

/// One problem with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Issue {
    /// Where, as a JSON pointer (RFC 6901); empty for the arguments as a whole.
    pub pointer: String,
    /// What the schema wants there.
    pub expected: String,
    /// What stands there, cut short.
    pub found: String,
}

/// How far arguments may be changed to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Repair {
    /// Not at all: exactly what the tool's JSON Schema admits, and null or nothing for an optional or defaulted field.
    Off,
    /// Where the arguments do not fit and can be read in one way only, they are read so. Arguments that fit are never changed.
    #[default]
    Safe,
}

/// One change that made arguments fit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RepairNote {
    /// Where, as a JSON pointer (RFC 6901); empty for the arguments as a whole.
    pub pointer: String,
    /// What was done.
    pub what: &'static str,
}

/// A step of a path.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

/// The way from the arguments to a value in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(Vec<Step>);

/// Longest part of a key that a pointer shows. Keys of the schema are shorter.
const KEY: usize = 80;

impl Path {
    pub(super) fn key(&mut self, key: &str) {
        self.0.push(Step::Key(cut(key, KEY)));
    }

    pub(super) fn item(&mut self, index: usize) {
        self.0.push(Step::Item(index));
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    pub(super) const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// How many steps it has.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the value is an item of a list.
    pub(super) fn is_item(&self) -> bool {
        matches!(self.0.last(), Some(Step::Item(_)))
    }

    /// The JSON pointer.
    pub(super) fn pointer(&self) -> String {
        let mut out = String::new();
        for step in &self.0 {
            out.push('/');
            match step {
                Step::Key(key) => out.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Item(index) => out.push_str(&index.to_string()),
            }
        }
        out
    }
}

/// Text of at most so many characters, with `…` for what is cut off.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
