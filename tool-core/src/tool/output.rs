//! Checks of outputs against the output schemas of tools that are created at run time.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::SchemaCheck;
use crate::args::{self, Issue, Repair};
use crate::schema::dynamic;
use crate::schema::{Field, Kind, Schema};

/// The check of outputs against an output schema.
#[derive(Clone)]
pub(crate) enum OutputCheck {
    /// A schema that this crate can read.
    Read(Tree),
    /// A schema that the host's own check validates.
    Checked(Arc<dyn SchemaCheck>),
}

/// An output schema that this crate can read.
#[derive(Clone, Copy)]
pub(crate) struct Tree {
    schema: &'static Schema,
    /// Whether an object in the schema allows keys that the schema does not name.
    open: bool,
    /// Whether the output is not an object. The schema is then the schema of an object with the output as `result`.
    wrapped: bool,
}

impl OutputCheck {
    /// Reads a JSON Schema, or returns why outputs cannot be checked against it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the output schema is not JSON: {error}"))?;
        let (schema, wrapped) = dynamic::read_output(&value).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            format!(
                "outputs cannot be validated against the output schema: {}",
                faults.join("; ")
            )
        })?;
        Ok(Self::Read(Tree {
            schema: schema.schema(),
            open: is_open(&value),
            wrapped,
        }))
    }

    /// Returns the faults of an output that does not match the schema.
    pub(crate) fn issues(&self, output: &str) -> Vec<Issue> {
        match self {
            Self::Read(tree) => tree.issues(output),
            Self::Checked(check) => match serde_json::from_str(output) {
                Ok(value) => check.issues(&value),
                // The output is nested too deeply to be read, or is not JSON.
                Err(error) => vec![Issue {
                    pointer: String::new(),
                    expected: "JSON that can be checked".to_owned(),
                    found: error.to_string(),
                }],
            },
        }
    }
}

impl Tree {
    fn issues(&self, output: &str) -> Vec<Issue> {
        let whole = if self.wrapped {
            Cow::Owned(format!(r#"{{"result":{output}}}"#))
        } else {
            Cow::Borrowed(output)
        };
        let pruned;
        let text = if self.open {
            let Ok(mut value) = serde_json::from_str::<Value>(&whole) else {
                return Vec::new();
            };
            prune(self.schema, &mut value);
            pruned = value.to_string();
            &pruned
        } else {
            &*whole
        };
        let mut issues = args::admit(self.schema, text, Repair::Off)
            .err()
            .unwrap_or_default();
        if self.wrapped {
            for issue in &mut issues {
                if let Some(pointer) = issue.pointer.strip_prefix("/result") {
                    issue.pointer = pointer.to_owned();
                }
            }
        }
        issues
    }
}

/// Returns whether any object with `properties` in a JSON Schema allows unnamed keys, which is JSON Schema's default.
fn is_open(schema: &Value) -> bool {
    match schema {
        Value::Object(entries) => {
            let object = entries.contains_key("properties")
                && entries.get("additionalProperties") != Some(&Value::Bool(false));
            object || entries.values().any(is_open)
        }
        Value::Array(items) => items.iter().any(is_open),
        _ => false,
    }
}

/// Removes the keys that an open object does not name, because the schema does not restrict their values.
fn prune(schema: &Schema, value: &mut Value) {
    match (&schema.kind, value) {
        (Kind::Optional(inner) | Kind::Constrained(inner, _), value) => prune(inner, value),
        (Kind::Array { items, .. }, Value::Array(list)) => {
            for item in list {
                prune(items, item);
            }
        }
        (Kind::Object(fields), Value::Object(entries)) => {
            let find = |key: &str| fields.iter().find(|field: &&Field| field.name == key);
            entries.retain(|key, _| find(key).is_some());
            for (key, value) in entries {
                if let Some(field) = find(key) {
                    prune(field.schema, value);
                }
            }
        }
        _ => {}
    }
}
