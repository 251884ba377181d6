//! Lock of a server's tools: the contracts that a host has accepted, and how the server differs from them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tool_core::hidden;

use super::text::MOST_TEXT;

/// The contracts of a server's tools that a host has accepted, by the tools' names on the server.
///
/// Hidden characters are written as `\u{…}`. A text that is too long is cut and followed by a fingerprint of the whole text.
///
/// Store the lock between runs, as a file or a database row, and pass it to [`LoadTools::lock`](super::LoadTools::lock). It
/// contains titles and descriptions, so that a reviewer sees their changes; schemas and annotations are stored as SHA-256.
///
/// ```
/// use tool_mcp::client::McpLock;
///
/// let stored = r#"{"tools":{"search":{"description":"Finds notes.","input":"sha256:00"}}}"#;
/// let lock: McpLock = serde_json::from_str(stored)?;
/// assert_eq!(lock.names().collect::<Vec<_>>(), ["search"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpLock {
    pub(crate) tools: BTreeMap<String, Contract>,
}

impl McpLock {
    /// Returns the names of the tools in this lock.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Returns the contract of a tool.
    pub fn get(&self, name: &str) -> Option<&Contract> {
        self.tools.get(&key(name))
    }

    /// Returns how the tools of a server differ from this lock.
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

/// The reviewed properties of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The display name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description for the model.
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
    /// The fingerprint of name, title and description as the server wrote them, if they are shown differently here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

/// Returns the name of a tool in a lock, readable for people. It differs from the name on the server only if that name contains hidden characters or
/// is longer than 256 bytes.
pub(crate) fn key(name: &str) -> String {
    match hidden::show(name, MOST_KEY) {
        Cow::Borrowed(name) => name.to_owned(),
        // The fingerprint distinguishes names that begin with the same bytes.
        Cow::Owned(shown) if shown.ends_with(" […]") => {
            format!("{shown} {}", fingerprint(&Value::from(name)))
        }
        Cow::Owned(shown) => shown,
    }
}

/// Maximum length of a name that is stored unchanged, in bytes.
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

    /// Returns the contract of a name that the server uses for several tools. It differs from the contracts of these tools.
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

    /// Returns one fingerprint of the whole contract.
    pub fn fingerprint(&self) -> String {
        fingerprint(&serde_json::to_value(self).unwrap_or_default())
    }

    /// Returns the parts that differ.
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

/// Returns the SHA-256 of a value with sorted keys.
fn fingerprint(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    format!("sha256:{}", hex::encode(Sha256::digest(text)))
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
    /// The display name of the tool.
    Title,
    /// The description for the model.
    Description,
    /// The schema of the arguments.
    InputSchema,
    /// The schema of the output.
    OutputSchema,
    /// The hints about the tool's effects.
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

/// The differences between a server's tools and a lock or an earlier snapshot, by the server's names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct McpDrift {
    /// Tools that are not in the lock or snapshot.
    pub added: Vec<String>,
    /// Tools in the lock or snapshot that the server no longer lists.
    pub removed: Vec<String>,
    /// Tools that differ from the lock or snapshot, with the parts that differ.
    pub changed: BTreeMap<String, Vec<Facet>>,
}

impl McpDrift {
    /// Returns whether there are no differences.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Prints one line for each tool.
impl fmt::Display for McpDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.added {
            writeln!(f, "+ `{name}` is new")?;
        }
        for name in &self.removed {
            writeln!(f, "- `{name}` was removed")?;
        }
        for (name, facets) in &self.changed {
            writeln!(f, "~ `{name}` has a different {}", list(facets))?;
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
    fn change_of_each_contract_part_is_detected() {
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
    fn order_of_keys_does_not_change_the_fingerprint() {
        let sorted = fingerprint(&json!({"a": [1, {"b": 2, "c": 3}], "d": "x"}));
        let text = r#"{"d":"x","a":[1,{"c":3,"b":2}]}"#;
        assert_eq!(fingerprint(&serde_json::from_str(text).unwrap()), sorted);
        assert_ne!(
            fingerprint(&json!({"a": [1, {"b": 2, "c": 4}], "d": "x"})),
            sorted
        );
    }
}
