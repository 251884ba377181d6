//! JSON values that keep duplicate keys and the order of keys, which `serde_json::Value` loses.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value with its keys in their original order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// The JSON value `null`.
    Null,
    /// The value `true` or `false`.
    Flag(bool),
    /// A number as `serde_json` formats it: `1.5` for `1.50`.
    Number(String),
    /// A string, with its escapes decoded.
    Text(String),
    /// An array of values.
    List(Vec<Json>),
    /// An object: keys and values in order, with duplicate keys.
    Record(Vec<(String, Json)>),
    /// Any JSON text. Parsing never creates this variant; it is only written.
    Raw(String),
}

impl Json {
    /// Returns the value of a key of this object; the first one if the key is duplicate. Returns `None` if the key is missing or this value is not an
    /// object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Record(entries) => entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the text if the value is a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether any object in the value has a duplicate key.
    pub fn tells_twice(&self) -> bool {
        match self {
            Self::Record(entries) => entries.iter().enumerate().any(|(at, (key, value))| {
                entries[..at].iter().any(|(other, _)| other == key) || value.tells_twice()
            }),
            Self::List(items) => items.iter().any(Self::tells_twice),
            _ => false,
        }
    }

    /// Parses a text as JSON.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, is nested too deeply, or contains a number that is too large.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Formats the value with one line for each entry.
    ///
    /// ```
    /// use tool_import::json::Json;
    ///
    /// let json = Json::read(r#"{"b":[1.50,2],"a":{}}"#)?;
    /// assert_eq!(json.pretty(), "{\n  \"b\": [\n    1.5,\n    2\n  ],\n  \"a\": {}\n}");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.lines(&mut out, 0);
        out
    }

    fn lines(&self, out: &mut String, depth: usize) {
        let (open, close, count) = match self {
            Self::List(items) => ('[', ']', items.len()),
            Self::Record(entries) => ('{', '}', entries.len()),
            _ => ('\0', '\0', 0),
        };
        if count == 0 {
            out.push_str(&self.to_string());
            return;
        }
        let line = |out: &mut String, depth: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        };
        out.push(open);
        for at in 0..count {
            out.push_str(if at == 0 { "" } else { "," });
            line(out, depth + 1);
            match self {
                Self::List(items) => items[at].lines(out, depth + 1),
                Self::Record(entries) => {
                    let (key, value) = &entries[at];
                    out.push_str(&quoted(key));
                    out.push_str(": ");
                    value.lines(out, depth + 1);
                }
                _ => {}
            }
        }
        line(out, depth);
        out.push(close);
    }

    /// Returns the name of the value's type in JSON Schema, or `raw` for [`Json::Raw`]. A number is an `integer` if its text parses as an `i64`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "boolean",
            Self::Number(text) if text.parse::<i64>().is_ok() => "integer",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Record(_) => "object",
            Self::Raw(_) => "raw",
        }
    }
}

/// Formats a text as a JSON string, with its quotes.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(text) | Self::Raw(text) => f.write_str(text),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Record(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    write!(
                        f,
                        "{}{}:{value}",
                        if at == 0 { "" } else { "," },
                        quoted(key)
                    )?;
                }
                f.write_str("}")
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Number(serde_json::Value::from(number).to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut record = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            record.push(entry);
        }
        Ok(Json::Record(record))
    }
}
