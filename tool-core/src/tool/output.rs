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
#[derive(Clone)]
pub(crate) struct Tree {
    schema: &'static Schema,
    /// The JSON Schema, if an object in it allows keys that it does not name. If `wrapped` is true, the schema is wrapped as well.
    open: Option<Arc<Value>>,
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
        let open = is_open(&value).then(|| Arc::new(if wrapped { wrap(value) } else { value }));
        Ok(Self::Read(Tree {
            schema: schema.schema(),
            open,
            wrapped,
        }))
    }

    /// Returns the faults of an output that does not match the schema.
    pub(crate) fn issues(&self, output: &str) -> Vec<Issue> {
        match self {
            Self::Read(tree) => tree.issues(output),
            Self::Checked(check) => match serde_json::from_str(output) {
                Ok(value) => check.issues(&value),
                Err(error) => vec![unreadable(&error)],
            },
        }
    }
}

/// Returns the issue of an output that is nested too deeply to be read, or is not JSON.
fn unreadable(error: &serde_json::Error) -> Issue {
    Issue {
        pointer: String::new(),
        expected: "JSON that can be checked".to_owned(),
        found: error.to_string(),
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
        let text = if let Some(root) = &self.open {
            let mut value = match serde_json::from_str::<Value>(&whole) {
                Ok(value) => value,
                Err(error) => return vec![unreadable(&error)],
            };
            prune(self.schema, Some(root), root, &mut value);
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

/// Returns the schema of an object with the output as `result`. The definitions stay where references find them.
fn wrap(mut schema: Value) -> Value {
    let definitions =
        ["$defs", "definitions"].map(|key| (key, schema.get_mut(key).map(Value::take)));
    let mut whole =
        serde_json::json!({ "properties": { "result": schema }, "additionalProperties": false });
    for (key, found) in definitions {
        if let Some(found) = found {
            whole[key] = found;
        }
    }
    whole
}

/// Follows references, choices between one schema and `null`, and `allOf` with one element. Returns `None` if several schemas describe the value. A node
/// that itself describes an object or a list is returned without its `allOf`.
fn resolved<'a>(root: &'a Value, mut node: &'a Value) -> Option<&'a Value> {
    const MOST: usize = 64;
    for _ in 0..MOST {
        let choice = ["anyOf", "oneOf"]
            .iter()
            .find_map(|key| node.get(key)?.as_array());
        let all_of = node.get("allOf").and_then(Value::as_array);
        if let Some(to) = node.get("$ref") {
            node = root.pointer(to.as_str()?.strip_prefix('#')?)?;
        } else if let Some(choice) = choice {
            let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
            let mut others = choice.iter().filter(|branch| !is_null(branch));
            node = others.next()?;
            if others.next().is_some() {
                return None;
            }
        } else if let Some([only]) = all_of.map(Vec::as_slice)
            && !["properties", "additionalProperties", "items"]
                .iter()
                .any(|key| node.get(key).is_some())
        {
            node = only;
        } else {
            return Some(node);
        }
    }
    None
}

/// Removes the keys that an open object does not name, because the schema does not restrict their values. `node` is the JSON Schema of `value`, if it
/// is known; an object whose JSON Schema is not known counts as open.
fn prune(schema: &Schema, node: Option<&Value>, root: &Value, value: &mut Value) {
    let node = node.and_then(|node| resolved(root, node));
    match (&schema.kind, value) {
        (Kind::Optional(inner) | Kind::Constrained(inner, _), value) => {
            prune(inner, node, root, value);
        }
        (Kind::Array { items, .. }, Value::Array(list)) => {
            let node = node.and_then(|node| node.get("items"));
            for item in list {
                prune(items, node, root, item);
            }
        }
        (Kind::Object(fields), Value::Object(entries)) => {
            let find = |key: &str| fields.iter().find(|field: &&Field| field.name == key);
            let rest = node.and_then(|node| node.get("additionalProperties"));
            if rest != Some(&Value::Bool(false)) {
                entries.retain(|key, _| find(key).is_some());
            }
            for (key, value) in entries {
                if let Some(field) = find(key) {
                    let node = node.and_then(|node| node.get("properties")?.get(key));
                    prune(field.schema, node, root, value);
                }
            }
        }
        _ => {}
    }
}
