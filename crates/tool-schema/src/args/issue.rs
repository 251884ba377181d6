//! Issues and repairs of arguments.

use serde::Serialize;

/// One problem with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Issue {
    /// JSON pointer to the value (RFC 6901); empty for the arguments as a whole.
    pub pointer: String,
    /// Description of the values that the schema accepts at this place.
    pub expected: String,
    /// Short description of the value in the arguments at this place.
    pub found: String,
}

/// The changes by which the guard may make invalid arguments valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Repair {
    /// No repairs: accepts the arguments that the tool's JSON Schema admits. In addition, an optional field or a field with a default may be null or
    /// absent, and blank text counts as `{}`.
    Off,
    /// Repairs invalid arguments if they can be read in only one way. Valid arguments are never repaired.
    #[default]
    Safe,
}

/// One change that made arguments valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RepairNote {
    /// JSON pointer to the value (RFC 6901); empty for the arguments as a whole.
    pub pointer: String,
    /// Description of the change.
    pub what: &'static str,
}

/// One step of a path.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

/// The path from the arguments to a value inside of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(Vec<Step>);

/// Maximum number of characters of a key in a pointer.
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

    /// Returns the number of steps from the arguments to the value.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the value is an item of a list.
    pub(super) fn is_item(&self) -> bool {
        matches!(self.0.last(), Some(Step::Item(_)))
    }

    /// Returns the path as a JSON pointer.
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

/// Shortens text to at most `most` characters, with `…` for the rest.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
