//! Reader of strings, numbers and enumerated values.

use tool_rules::Rule;

use super::Reader;
use crate::schema::Format;
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::node::{Bounds, Node, Owned};
use crate::schema::pattern::{PatternError, Program};

impl Reader<'_> {
    pub(super) fn string(&mut self, doc: &Doc) -> Node {
        let mut words = String::new();
        let kind = match doc.get("format").and_then(Doc::as_str) {
            None => Owned::String,
            Some("date-time") => Owned::Format(Format::DateTime),
            Some("date") => Owned::Format(Format::Date),
            Some("time") => Owned::Format(Format::Time),
            Some("duration") => Owned::Format(Format::Duration),
            Some("email") => Owned::Format(Format::Email),
            Some("hostname") => Owned::Format(Format::Hostname),
            Some("ipv4") => Owned::Format(Format::Ipv4),
            Some("ipv6") => Owned::Format(Format::Ipv6),
            Some("uuid") => Owned::Format(Format::Uuid),
            Some("uri" | "url") => {
                self.note(&Rule::JSON_FORMAT_URI_STATED, &[]);
                words.push_str("A URL.");
                Owned::String
            }
            Some(other) => {
                self.note(&Rule::JSON_FORMAT_UNKNOWN_STATED, &[&other]);
                words = format!("Format: {other}.");
                Owned::String
            }
        };
        let mut bounds = Bounds {
            min_length: doc.get("minLength").and_then(Doc::as_count),
            max_length: doc.get("maxLength").and_then(Doc::as_count),
            ..Bounds::default()
        };
        if let Some(pattern) = doc.get("pattern").and_then(Doc::as_str) {
            match Program::parse_str(pattern) {
                Ok(_) => bounds.pattern = Some(pattern.to_owned()),
                Err(error) => {
                    let rule = match error {
                        PatternError::Lookaround
                        | PatternError::Backreference
                        | PatternError::WordBoundary => &Rule::JSON_PATTERN_LOOKAROUND_STATED,
                        PatternError::Syntax(_) | PatternError::TooLarge => {
                            &Rule::JSON_PATTERN_SYNTAX_STATED
                        }
                    };
                    self.note(rule, &[&error]);
                    if !words.is_empty() {
                        words.push(' ');
                    }
                    words.extend(["Pattern: `", pattern, "`."]);
                }
            }
        }
        let mut node = bounded(kind, bounds);
        node.say(&words);
        node
    }

    /// Reads `enum` and `const`.
    pub(super) fn listed(&mut self, doc: &Doc, values: &[Doc]) -> Node {
        let nullable = values.contains(&Doc::Null) || doc.says_type("null");
        let values: Vec<&Doc> = values.iter().filter(|value| **value != Doc::Null).collect();
        if values.is_empty() {
            return if nullable {
                Node::new(Owned::Null)
            } else {
                self.fault(&Rule::JSON_ENUM_EMPTY, &[])
            };
        }
        let node = self.listed_values(&values);
        if nullable { node.optional() } else { node }
    }

    fn listed_values(&mut self, values: &[&Doc]) -> Node {
        if values.iter().all(|value| value.as_str().is_some()) {
            let mut listed: Vec<(String, String)> = Vec::new();
            for value in values.iter().filter_map(|value| value.as_str()) {
                if !listed.iter().any(|(held, _)| held == value) {
                    listed.push((value.to_owned(), String::new()));
                }
            }
            return Node::new(Owned::Enum(listed));
        }
        if values.iter().all(|value| value.as_integer().is_some()) {
            let mut listed: Vec<(i128, String)> = Vec::new();
            for value in values.iter().filter_map(|value| value.as_integer()) {
                if !listed.iter().any(|(held, _)| *held == value) {
                    listed.push((value, String::new()));
                }
            }
            return Node::new(Owned::IntegerEnum(listed));
        }
        if values
            .iter()
            .any(|value| matches!(value, Doc::Array(_) | Doc::Object(_)))
        {
            return self.fault(&Rule::JSON_ENUM_COMPLEX, &[]);
        }
        let kind = match values[0] {
            Doc::Boolean(_) => Owned::Boolean,
            Doc::Number(_) => Owned::Number,
            _ => return self.fault(&Rule::JSON_ENUM_MIXED, &[]),
        };
        let same =
            |value: &&Doc| core::mem::discriminant(*value) == core::mem::discriminant(values[0]);
        if !values.iter().all(same) {
            return self.fault(&Rule::JSON_ENUM_MIXED, &[]);
        }
        let mut node = Node::new(kind);
        if values.len() == 1 || node.kind == Owned::Number {
            self.note(&Rule::JSON_VALUES_STATED, &[]);
            let texts: Vec<String> = values.iter().map(|value| value.text()).collect();
            node.say(&format!("One of: {}.", texts.join(", ")));
        }
        node
    }
}

/// Creates a node of this kind, wrapped in its bounds unless they are empty.
pub(super) fn bounded(kind: Owned, bounds: Bounds) -> Node {
    if bounds == Bounds::default() {
        Node::new(kind)
    } else {
        Node::new(Owned::Constrained(Node::boxed(kind), Box::new(bounds)))
    }
}

/// Reads a number or an integer with its bounds.
pub(super) fn number(doc: &Doc, kind: Owned) -> Node {
    let number = |key: &str| match doc.get(key) {
        Some(Doc::Number(number)) => Some(number.clone()),
        _ => None,
    };
    // In draft 4, which some servers still use, `exclusiveMinimum` is a boolean next to `minimum`.
    let flag = |key: &str| doc.get(key) == Some(&Doc::Boolean(true));
    let mut bounds = Bounds {
        min: number("minimum"),
        max: number("maximum"),
        exclusive_min: flag("exclusiveMinimum"),
        exclusive_max: flag("exclusiveMaximum"),
        multiple_of: number("multipleOf"),
        ..Bounds::default()
    };
    if let Some(min) = number("exclusiveMinimum")
        && bounds
            .min
            .as_ref()
            .is_none_or(|held| held.as_f64() <= min.as_f64())
    {
        (bounds.min, bounds.exclusive_min) = (Some(min), true);
    }
    if let Some(max) = number("exclusiveMaximum")
        && bounds
            .max
            .as_ref()
            .is_none_or(|held| held.as_f64() >= max.as_f64())
    {
        (bounds.max, bounds.exclusive_max) = (Some(max), true);
    }
    bounded(kind, bounds)
}
