//! What a server's tools promised when somebody accepted them, and what has become of that.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tool_core::hidden;

use super::text::MOST_TEXT;
use crate::hex::hex;

/// The contracts of a server's tools that a host has accepted, by the server's names.
///
/// Hidden characters are written as `\u{…}`, and a text that is too long is cut and followed by a fingerprint of the whole.
///
/// It is kept between runs, as a file or a row, and given to [`LoadTools::lock`](super::LoadTools::lock). What a model reads stands in
/// it as text, so that whoever reviews a change sees it; schemas and annotations stand as SHA-256.
///
/// ```
/// use tool_mcp::client::McpLock;
///
/// let kept = r#"{"tools":{"search":{"description":"Finds notes.","input":"sha256:00"}}}"#;
/// let lock: McpLock = serde_json::from_str(kept)?;
/// assert_eq!(lock.names().collect::<Vec<_>>(), ["search"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpLock {
    pub(crate) tools: BTreeMap<String, Contract>,
}

impl McpLock {
    /// The tools whose contracts it holds.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The contract of a tool.
    pub fn get(&self, name: &str) -> Option<&Contract> {
        self.tools.get(&key(name))
    }

    /// How the tools of a server differ from those that were accepted.
    pub(crate) fn drift(&self, now: &BTreeMap<String, Contract>) -> McpDrift {
        let names = |of: &BTreeMap<String, Contract>, not: &BTreeMap<String, Contract>| {
            let only = of.keys().filter(|name| !not.contains_key(*name));
            only.cloned().collect()
        };
        let changed = self.tools.iter().filter_map(|(name, before)| {
            let facets = before.differs(now.get(name)?);
            (!facets.is_empty()).then(|| (name.clone(), facets))
        });
        McpDrift {
            added: names(now, &self.tools),
            removed: names(&self.tools, now),
            changed: changed.collect(),
        }
    }
}

/// What a tool promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What a model reads of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The fingerprint of its input schema.
    pub input: String,
    /// The fingerprint of its output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The fingerprint of its annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<String>,
    /// The fingerprint of name, title and description as the server wrote them, where they are shown otherwise here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

/// A tool's name as a lock has it: as people can read it. Another name than the server's only where that has hidden characters, or is longer
/// than any provider takes.
pub(crate) fn key(name: &str) -> String {
    match hidden::show(name, MOST_KEY) {
        Cow::Borrowed(name) => name.to_owned(),
        // Two names that begin with the same bytes stay two.
        Cow::Owned(shown) if shown.ends_with(" […]") => {
            format!("{shown} {}", fingerprint(&Value::from(name)))
        }
        Cow::Owned(shown) => shown,
    }
}

/// The longest name that is kept whole.
const MOST_KEY: usize = 256;

impl Contract {
    pub(crate) fn of(tool: &Tool) -> Self {
        let annotations = tool.annotations.as_ref();
        let annotations = annotations.and_then(|hints| serde_json::to_value(hints).ok());
        let title = tool
            .title
            .as_deref()
            .map(|title| hidden::show(title, MOST_TEXT));
        let description = tool.description.as_deref();
        let description = description.map(|text| hidden::show(text, MOST_TEXT));
        let texts = [
            (
                Some(&*tool.name),
                Some(key(&tool.name)).as_deref() == Some(&*tool.name),
            ),
            (
                tool.title.as_deref(),
                title.as_deref() == tool.title.as_deref(),
            ),
            (
                tool.description.as_deref(),
                description.as_deref() == tool.description.as_deref(),
            ),
        ];
        let is_plain = texts.iter().all(|(_, same)| *same);
        let written = texts.map(|(text, _)| text);
        Self {
            written: (!is_plain).then(|| fingerprint(&serde_json::json!(written))),
            title: title.map(Cow::into_owned),
            description: description.map(Cow::into_owned),
            input: fingerprint(&Value::Object((*tool.input_schema).clone())),
            output: tool
                .output_schema
                .as_ref()
                .map(|schema| fingerprint(&Value::Object((**schema).clone()))),
            annotations: annotations.as_ref().map(fingerprint),
        }
    }

    /// That of a name which a server gives to two tools: neither's.
    pub(crate) fn doubled(&self, other: &Self) -> Self {
        let both = serde_json::to_value([self, other]).unwrap_or_default();
        Self {
            title: None,
            description: None,
            input: fingerprint(&both),
            output: None,
            annotations: None,
            written: None,
        }
    }

    /// One fingerprint of all of it.
    pub fn fingerprint(&self) -> String {
        fingerprint(&serde_json::to_value(self).unwrap_or_default())
    }

    /// In what it differs.
    fn differs(&self, other: &Self) -> Vec<Facet> {
        [
            (Facet::Title, self.title != other.title),
            (
                Facet::Description,
                self.description != other.description || self.written != other.written,
            ),
            (Facet::InputSchema, self.input != other.input),
            (Facet::OutputSchema, self.output != other.output),
            (Facet::Annotations, self.annotations != other.annotations),
        ]
        .into_iter()
        .filter_map(|(facet, differs)| differs.then_some(facet))
        .collect()
    }
}

/// SHA-256 over a value with its keys in order, however the value keeps them.
fn fingerprint(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    let hash = Sha256::digest(text.as_bytes());
    let mut text = "sha256:".to_owned();
    hex(hash, &mut text);
    text
}

fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_sorted(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                write_sorted(item, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// A part of a tool's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Facet {
    /// Its name for people.
    Title,
    /// What a model reads of it.
    Description,
    /// What arguments it takes.
    InputSchema,
    /// What its output looks like.
    OutputSchema,
    /// What the server says of its effects.
    Annotations,
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::InputSchema => "input schema",
            Self::OutputSchema => "output schema",
            Self::Annotations => "annotations",
        })
    }
}

/// How a server's tools differ from those that were accepted, by the server's names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct McpDrift {
    /// Tools that nobody has accepted.
    pub added: Vec<String>,
    /// Tools that were accepted and are gone.
    pub removed: Vec<String>,
    /// Tools that are no longer what was accepted, and in what.
    pub changed: BTreeMap<String, Vec<Facet>>,
}

impl McpDrift {
    /// Whether everything is as it was accepted.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// One line for each tool.
impl fmt::Display for McpDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.added {
            writeln!(f, "+ `{name}` is new")?;
        }
        for name in &self.removed {
            writeln!(f, "- `{name}` is gone")?;
        }
        for (name, facets) in &self.changed {
            writeln!(f, "~ `{name}` has another {}", list(facets))?;
        }
        Ok(())
    }
}

pub(crate) fn list(facets: &[Facet]) -> String {
    let words: Vec<String> = facets.iter().map(ToString::to_string).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(value: Value) -> Contract {
        Contract::of(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn each_part_of_a_contract_is_seen_to_change() {
        let plain = json!({"name": "a", "description": "d", "inputSchema": {"type": "object", "properties": {"b": {}, "a": {}}}});
        let with = |key: &str, value: Value| {
            let mut tool = plain.clone();
            tool[key] = value;
            tool
        };
        let before = tool(plain.clone());
        let differs = |value| before.differs(&tool(value));
        assert_eq!(differs(plain.clone()), []);
        assert_eq!(differs(with("title", json!("t"))), [Facet::Title]);
        assert_eq!(
            differs(with("description", json!("d "))),
            [Facet::Description]
        );
        assert_eq!(
            differs(with("inputSchema", json!({"type": "object"}))),
            [Facet::InputSchema]
        );
        assert_eq!(
            differs(with("outputSchema", json!({}))),
            [Facet::OutputSchema]
        );
        assert_eq!(
            differs(with("annotations", json!({"readOnlyHint": true}))),
            [Facet::Annotations]
        );
        assert_ne!(
            before.fingerprint(),
            tool(with("title", json!("t"))).fingerprint()
        );
    }

    #[test]
    fn the_order_of_keys_is_no_change() {
        let sorted = fingerprint(&json!({"a": [1, {"b": 2, "c": 3}], "d": "x"}));
        let text = r#"{"d":"x","a":[1,{"c":3,"b":2}]}"#;
        assert_eq!(fingerprint(&serde_json::from_str(text).unwrap()), sorted);
        assert_ne!(
            fingerprint(&json!({"a": [1, {"b": 2, "c": 4}], "d": "x"})),
            sorted
        );
    }
}
