//! Writer of random values that mostly match a schema.

use std::fmt::Write as _;

use super::build::*;
use crate::schema::{Field, Format, Kind, Schema, Tagging};

/// A source of random choices.
pub(super) struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn pick(&mut self, count: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % count
    }

    pub(super) fn one<T: Copy>(&mut self, values: &[T]) -> T {
        let at = self.pick(values.len());
        *values.get(at).unwrap()
    }
}

/// Names of fields. The rules refuse the last three names in a checked type.
pub(super) const NAMES: [&str; 6] = ["a", "b", "min_stars", "c d", "é", "q\"\\"];

/// Writes values that mostly match the schema.
pub(super) struct Writer<'t> {
    pub(super) tape: &'t mut Tape,
    pub(super) out: String,
    /// The probability of a random value in place of a matching one, in 256ths. The probabilities of the other faults are derived from it.
    pub(super) wrong: usize,
    pub(super) scope: Vec<(&'static str, Node)>,
    pub(super) depth: usize,
    /// Whether an object has a repeated key.
    pub(super) twice: bool,
}

const NUMBERS: [&str; 19] = [
    "0",
    "1",
    "5",
    "1.0",
    "-0",
    "2e0",
    "25e-1",
    "-2",
    "30",
    "0.5",
    "127",
    "128",
    "-128.0",
    "55",
    "4294967295",
    "4294967296",
    "1e1",
    "2.5",
    "-1.5",
];
const TEXTS: [&str; 20] = [
    "",
    "a",
    "rust",
    "Go",
    "RUST",
    "5",
    "true",
    "äö",
    "😀",
    "2024-02-29",
    "2023-02-29",
    "1.2.3.4",
    "a@b.de",
    "PT1M30S",
    "P1Y",
    "P2W",
    "one",
    "2024-01-31T08:00:00Z",
    "550e8400-e29b-41d4-a716-446655440000",
    "[\"a\"]",
];

impl Writer<'_> {
    fn string(&mut self, text: &str) {
        if self.tape.pick(8) == 0 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let (first, rest) = text.split_at(1);
            let code = u32::from(first.chars().next().unwrap());
            let rest = serde_json::to_string(rest).unwrap();
            let _ = write!(self.out, "\"\\u{code:04x}{}", rest.get(1..).unwrap());
        } else {
            self.out.push_str(&serde_json::to_string(text).unwrap());
        }
    }

    fn space(&mut self) {
        if self.tape.pick(6) == 0 {
            self.out.push_str(self.tape.one(&[" ", "\n", "\t \r"]));
        }
    }

    fn wild(&mut self) {
        match self.tape.pick(8) {
            0 => self.out.push_str("null"),
            1 => self.out.push_str(self.tape.one(&["true", "false"])),
            2 | 3 => {
                let number = self.tape.one(&NUMBERS);
                self.out.push_str(number);
            }
            4 => self.out.push_str(self.tape.one(&[
                "[]",
                "[1]",
                "{}",
                "{\"a\":1}",
                "[\"a\",\"a\"]",
                "{\"a\":null,\"b\":2}",
            ])),
            _ => {
                let text = self.tape.one(&TEXTS);
                self.string(text);
            }
        }
    }

    pub(super) fn value(&mut self, schema: Node) {
        if self.tape.pick(256) < self.wrong || self.depth > 12 {
            self.wild();
            return;
        }
        if self.tape.pick(256) < self.wrong {
            // A valid value inside of a string, as input for repairs.
            // A repeated key inside of the string is not a repeated key of the arguments.
            let (out, twice) = (std::mem::take(&mut self.out), self.twice);
            self.shape(schema);
            self.twice = twice;
            let inner = std::mem::replace(&mut self.out, out);
            self.out.push_str(&serde_json::to_string(&inner).unwrap());
            return;
        }
        self.shape(schema);
    }

    fn shape(&mut self, schema: Node) {
        self.depth += 1;
        if !schema.name.is_empty() {
            self.scope.push((schema.name, schema));
        }
        match &schema.kind {
            Kind::String | Kind::Char => {
                let text = self.tape.one(&TEXTS);
                self.string(text);
            }
            Kind::Format(format) => {
                let text = match format {
                    Format::Date => "2024-02-29",
                    Format::Uuid => "550e8400-e29b-41d4-a716-446655440000",
                    Format::Ipv4 => "1.2.3.4",
                    Format::Email => "a@b.de",
                    _ => "2024-01-31T08:00:00Z",
                };
                self.string(text);
            }
            Kind::Duration => self.string("PT1M30S"),
            Kind::Integer(_) | Kind::Number { .. } | Kind::IntegerEnum(_) => {
                let number = self.tape.one(&NUMBERS);
                self.out.push_str(number);
            }
            Kind::Boolean => self.out.push_str("true"),
            Kind::Enum(values) => {
                let value = self.tape.one(values).value;
                self.string(value);
            }
            Kind::Null => self.out.push_str("null"),
            Kind::Any | Kind::Never | Kind::Refused { .. } => self.wild(),
            Kind::Optional(inner) => {
                if self.tape.pick(4) == 0 {
                    self.out.push_str("null");
                } else {
                    self.value(inner);
                }
            }
            Kind::Constrained(inner, _) => self.shape(inner),
            Kind::Ref(name) => {
                let node = self
                    .scope
                    .iter()
                    .rev()
                    .find(|(known, _)| known == name)
                    .unwrap()
                    .1;
                self.shape(node);
            }
            Kind::Array { items, exactly, .. } => {
                let count = exactly.unwrap_or_else(|| self.tape.pick(4));
                self.items(&vec![*items; count]);
            }
            Kind::Tuple(items) => self.items(items),
            Kind::Map(values) => {
                let count = self.tape.pick(3);
                self.members(
                    NAMES
                        .iter()
                        .take(count)
                        .map(|name| (*name, *values))
                        .collect(),
                    None,
                );
            }
            Kind::Object(fields) => self.record(fields, None),
            Kind::Union(union) => {
                let variant = self.tape.one(union.variants);
                match (union.tagging, variant.schema) {
                    (Tagging::External, None) => self.string(variant.name),
                    (Tagging::External, Some(schema)) => {
                        self.members(vec![(variant.name, schema)], None);
                    }
                    (Tagging::Internal { tag }, schema) => {
                        match schema.map(|schema| &schema.kind) {
                            Some(Kind::Object(fields)) => {
                                self.record(fields, Some((tag, variant.name)));
                            }
                            _ => self.members(vec![], Some((tag, variant.name))),
                        }
                    }
                    (Tagging::Adjacent { tag, content }, schema) => {
                        self.members(
                            schema.map(|schema| (content, schema)).into_iter().collect(),
                            Some((tag, variant.name)),
                        );
                    }
                    (Tagging::Untagged, None) => self.out.push_str("null"),
                    (Tagging::Untagged, Some(schema)) => self.value(schema),
                }
            }
        }
        if !schema.name.is_empty() {
            self.scope.pop();
        }
        self.depth -= 1;
    }

    fn record(&mut self, fields: &'static [Field], tag: Option<(&str, &str)>) {
        let mut members = Vec::new();
        for field in fields {
            let may_lack = !field.is_required();
            if may_lack && self.tape.pick(3) == 0 || self.tape.pick(256) < self.wrong / 2 {
                continue;
            }
            members.push((field.name, field.schema));
        }
        if self.tape.pick(4) == 0 {
            members.reverse();
        }
        self.members(members, tag);
    }

    fn members(&mut self, mut members: Vec<(&str, Node)>, tag: Option<(&str, &str)>) {
        if self.tape.pick(256) < self.wrong / 4 {
            members.push((self.tape.one(&NAMES), leak(Schema::new(Kind::Any))));
        }
        self.out.push('{');
        let at = self.tape.pick(members.len() + 1);
        let mut keys = Vec::new();
        let mut comma = false;
        for index in 0..=members.len() {
            if index == at
                && let Some((tag, name)) = tag
            {
                self.comma(&mut comma);
                keys.push(tag);
                self.string(tag);
                self.out.push(':');
                if self.tape.pick(256) < self.wrong / 2 {
                    self.wild();
                } else {
                    self.string(name);
                }
            }
            if let Some((key, schema)) = members.get(index) {
                self.comma(&mut comma);
                keys.push(key);
                self.string(key);
                self.space();
                self.out.push(':');
                self.space();
                self.value(schema);
            }
        }
        self.space();
        self.out.push('}');
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        self.twice |= keys.len() < count;
    }

    fn comma(&mut self, comma: &mut bool) {
        if std::mem::replace(comma, true) {
            self.out.push(',');
        }
        self.space();
    }

    fn items(&mut self, items: &[Node]) {
        self.out.push('[');
        let mut comma = false;
        for item in items {
            self.comma(&mut comma);
            self.value(item);
        }
        self.space();
        self.out.push(']');
    }
}
