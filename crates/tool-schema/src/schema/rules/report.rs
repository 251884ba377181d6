//! Collector of the faults of a schema, for one panic in const evaluation or for a list at run time.

use crate::schema::Schema;
use crate::schema::rules::Rule;

/// A fault found at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The id of the rule.
    pub rule: &'static str,
    /// Path to the fault, such as `Filter.tags[]`.
    pub path: String,
    /// The problem, and what to write instead.
    pub text: String,
}

/// The path from the owner to a node. It is stored on the stack of the walk.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
    /// The node at this path, for resolving `Kind::Ref`.
    node: Option<&'a Schema>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Owner(&'a str),
    Field(&'a str),
    Items,
    Item(usize),
    Values,
}

impl<'a> Path<'a> {
    pub(crate) const fn owner(name: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Owner(name),
            node: None,
        }
    }

    pub(crate) const fn field(&'a self, name: &'a str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Field(name),
            node: None,
        }
    }

    pub(crate) const fn items(&'a self) -> Self {
        Self {
            parent: Some(self),
            step: Step::Items,
            node: None,
        }
    }

    pub(crate) const fn item(&'a self, index: usize) -> Self {
        Self {
            parent: Some(self),
            step: Step::Item(index),
            node: None,
        }
    }

    pub(crate) const fn values(&'a self) -> Self {
        Self {
            parent: Some(self),
            step: Step::Values,
            node: None,
        }
    }

    /// Sets the node at this path.
    pub(crate) const fn at(mut self, node: &'a Schema) -> Self {
        self.node = Some(node);
        self
    }

    /// Returns the innermost node with this name and module that encloses the path.
    pub(crate) const fn enclosing(&self, name: &str, module: &str) -> Option<&'a Schema> {
        let mut path = self;
        loop {
            if let Some(node) = path.node
                && node.is_type(name, module)
            {
                return Some(node);
            }
            match path.parent {
                Some(parent) => path = parent,
                None => return None,
            }
        }
    }
}

/// A value that is inserted into a message.
#[derive(Clone, Copy)]
pub(crate) enum Fact<'a> {
    Text(&'a str),
    Number(usize),
}

/// The position of one fault in the text.
#[derive(Clone, Copy)]
struct Mark {
    rule: &'static str,
    path: usize,
    text: usize,
    end: usize,
}

const MOST_BYTES: usize = 4096;
const MOST_FAULTS: usize = 24;
/// Bytes that are reserved for the line that counts the remaining faults.
const TAIL: usize = 64;

/// The faults of one walk, as one text with a line for each fault.
pub(crate) struct Report {
    bytes: [u8; MOST_BYTES + TAIL],
    len: usize,
    /// Current maximum length of the text.
    most: usize,
    marks: [Mark; MOST_FAULTS],
    /// Number of faults found.
    count: usize,
    /// Number of faults in the text.
    told: usize,
    /// Start of the line that is being written.
    start: usize,
    /// Rule of the first fault that is not in the text.
    untold: &'static str,
}

impl Report {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; MOST_BYTES + TAIL],
            len: 0,
            most: MOST_BYTES,
            marks: [Mark {
                rule: "",
                path: 0,
                text: 0,
                end: 0,
            }; MOST_FAULTS],
            count: 0,
            told: 0,
            start: 0,
            untold: "",
        }
    }

    /// Panics with the text of the faults, if there are any, and the number of faults that are not in the text; in const evaluation this is a compile
    /// error.
    #[track_caller]
    #[allow(clippy::panic, clippy::manual_assert, reason = "a compile error")]
    pub(crate) const fn tell(&mut self) {
        if self.count > 0 {
            if self.count > self.told {
                self.most = MOST_BYTES + TAIL;
                self.push("\nand ");
                self.push_number(self.count - self.told);
                self.push(" more");
            }
            panic!("{}", self.as_str());
        }
    }

    const fn as_str(&self) -> &str {
        // Invalid only if the single line was cut off inside a character.
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the schema has faults",
        }
    }

    /// Returns the faults as a list. If some are not in the text, the last entry counts them.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let text =
            |from: usize, to: usize| String::from_utf8_lossy(&self.bytes[from..to]).into_owned();
        let more = self.count - self.told;
        let more = (more > 0).then(|| Fault {
            rule: self.untold,
            path: String::new(),
            text: format!("{more} more faults, of this rule and possibly of others"),
        });
        self.marks[..self.told]
            .iter()
            .map(|mark| Fault {
                rule: mark.rule,
                path: text(mark.path, mark.text),
                text: text(mark.text, mark.end),
            })
            .map(|fault| Fault {
                path: fault.path.split('`').nth(1).unwrap_or_default().to_owned(),
                ..fault
            })
            .chain(more)
            .collect()
    }

    /// Adds a fault with the rule's message.
    pub(crate) const fn add(&mut self, path: &Path<'_>, rule: &Rule, facts: &[Fact<'_>]) {
        if !self.begin(path, rule.id) {
            return;
        }
        let text = rule.text.as_bytes();
        let (mut rest, mut at) = (0, 0);
        let at_end = text.len();
        while at < at_end {
            if text[at] == b'{'
                && at + 2 < text.len()
                && text[at + 2] == b'}'
                && text[at + 1].wrapping_sub(b'0') < 3
            {
                self.push_range(rule.text, rest, at);
                let fact = (text[at + 1] - b'0') as usize;
                if fact < facts.len() {
                    self.push_fact(facts[fact]);
                }
                at += 3;
                rest = at;
            } else {
                at += 1;
            }
        }
        self.push_range(rule.text, rest, at);
        self.end();
    }

    /// Adds a fault with a custom message.
    pub(crate) const fn add_worded(&mut self, path: &Path<'_>, rule: &'static str, text: &str) {
        if self.begin(path, rule) {
            self.push(text);
            self.end();
        }
    }

    /// Begins a line: "`path`: [rule] ". Returns `false` if the report has no room for a further line.
    pub(crate) const fn begin(&mut self, path: &Path<'_>, rule: &'static str) -> bool {
        self.count += 1;
        // After the first fault without room in the text, faults are only counted.
        if self.told == MOST_FAULTS || self.told + 1 < self.count {
            if self.untold.is_empty() {
                self.untold = rule;
            }
            return false;
        }
        self.start = self.len;
        if self.len > 0 {
            self.push("\n");
        }
        let mark = self.len;
        self.push("`");
        self.push_path(path);
        self.push("`: [");
        self.push(rule);
        self.push("] ");
        self.marks[self.told] = Mark {
            rule,
            path: mark,
            text: self.len,
            end: self.len,
        };
        true
    }

    /// Ends a line. A line that was cut off is removed, unless it is the only line.
    pub(crate) const fn end(&mut self) {
        if self.len < self.most || self.told == 0 {
            self.marks[self.told].end = self.len;
            self.told += 1;
        } else {
            self.untold = self.marks[self.told].rule;
            self.len = self.start;
        }
    }

    pub(crate) const fn push_fact(&mut self, fact: Fact<'_>) {
        match fact {
            Fact::Text(text) => self.push(text),
            Fact::Number(number) => self.push_number(number),
        }
    }

    const fn push_path(&mut self, path: &Path<'_>) {
        if let Some(parent) = path.parent {
            self.push_path(parent);
        }
        match path.step {
            Step::Owner(name) => self.push(name),
            Step::Field(name) => {
                self.push(".");
                self.push(name);
            }
            Step::Items => self.push("[]"),
            Step::Item(index) => {
                self.push("[");
                self.push_number(index);
                self.push("]");
            }
            Step::Values => self.push("{}"),
        }
    }

    pub(crate) const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        #[allow(clippy::cast_possible_truncation, reason = "one digit")]
        let digit = [b'0' + (number % 10) as u8];
        self.push_bytes(&digit, 0, 1);
    }

    pub(crate) const fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes(), 0, text.len());
    }

    pub(crate) const fn push_range(&mut self, text: &str, from: usize, to: usize) {
        self.push_bytes(text.as_bytes(), from, to);
    }

    /// Copies byte by byte. This is slow, but only schemas with faults call it.
    const fn push_bytes(&mut self, bytes: &[u8], from: usize, to: usize) {
        let mut at = from;
        while at < to && self.len < self.most {
            self.bytes[self.len] = bytes[at];
            self.len += 1;
            at += 1;
        }
    }
}
