//! A JSON value that preserves the order of its keys.
//!
//! `serde_json::Value` sorts keys unless its feature `preserve_order` is enabled somewhere in the build, and providers make a
//! model write its keys in the order of the schema. So a schema is first read into this type.

use core::fmt;
use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::json::{is_plain, quote};

/// A JSON value whose objects keep the order of their keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Doc {
    /// The value `null`.
    Null,
    /// The value `true` or `false`.
    Boolean(bool),
    /// A number, as `serde_json` parses it.
    Number(Number),
    /// A string, with its escapes decoded.
    String(String),
    /// An array of values, in order.
    Array(Vec<Doc>),
    /// An object: keys and values, in order.
    Object(Vec<(String, Doc)>),
}

impl Doc {
    /// Returns the value of a key, if this is an object with that key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns whether this is an object with that key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the keys and values; empty if this is not an object.
    pub(super) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the items; empty if this is not an array.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value as a count, such as the value of `minItems`.
    pub(super) fn as_count(&self) -> Option<usize> {
        match self {
            Self::Number(number) => number
                .as_u64()
                .and_then(|count| usize::try_from(count).ok()),
            _ => None,
        }
    }

    /// Returns the value as an integer; `1.0` counts as `1`.
    pub(super) fn as_integer(&self) -> Option<i128> {
        let Self::Number(number) = self else {
            return None;
        };
        if let Some(value) = number.as_i64() {
            return Some(value.into());
        }
        if let Some(value) = number.as_u64() {
            return Some(value.into());
        }
        let value = number.as_f64()?;
        // The value is whole, and a double represents every integer below 2^53, so the cast is lossless.
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the condition in the same expression limits the value"
        )]
        (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i128)
    }

    /// Returns the types in the `type` keyword; empty if the keyword is absent.
    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        let names = match self.get("type") {
            Some(Self::Array(names)) => names,
            Some(name) => std::slice::from_ref(name),
            None => &[],
        };
        names.iter().filter_map(Self::as_str)
    }

    /// Returns whether the `type` keyword contains this type.
    pub(super) fn says_type(&self, name: &str) -> bool {
        self.types().any(|own| own == name)
    }

    /// Returns the value at a JSON pointer, which is passed without its leading `#`.
    pub(super) fn at(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut node = self;
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match node {
                Self::Object(_) => node.get(&step)?,
                Self::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// Returns the value as compact JSON text.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::String(text) => quote(out, text),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quote(out, key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Escapes text for the inside of a JSON string.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut quoted = String::new();
    quote(&mut quoted, text);
    quoted.pop();
    quoted.remove(0);
    Cow::Owned(quoted)
}

impl From<&Value> for Doc {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => Self::Object(
                map.iter()
                    .map(|(key, value)| (key.clone(), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Doc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocVisitor)
    }
}

struct DocVisitor;

impl<'de> Visitor<'de> for DocVisitor {
    type Value = Doc;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Doc, E> {
        Ok(Doc::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Doc, E> {
        Ok(Doc::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Doc, E> {
        Ok(Doc::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Doc, E> {
        Ok(Doc::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Doc, E> {
        Ok(Number::from_f64(value).map_or(Doc::Null, Doc::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Doc, E> {
        Ok(Doc::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Doc, E> {
        Ok(Doc::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Doc, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Doc::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Doc, A::Error> {
        let mut entries: Vec<(String, Doc)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Doc>()? {
            // As in `serde_json`, the value of a repeated key is its last value. The key keeps its first position.
            match entries.iter_mut().find(|(name, _)| *name == key) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
        }
        Ok(Doc::Object(entries))
    }
}
