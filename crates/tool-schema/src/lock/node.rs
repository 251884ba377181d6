//! Access to the keywords of one JSON Schema node.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Describes the change of a keyword.
pub(super) fn became(keyword: &str, before: Option<&Value>, now: Option<&Value>) -> String {
    match (before, now) {
        (Some(before), Some(now)) => format!("`{keyword}` {before} became {now}"),
        (None, Some(now)) => format!("`{keyword}` {now} is new"),
        (Some(before), None) => format!("`{keyword}` {before} was removed"),
        (None, None) => format!("`{keyword}` changed"),
    }
}

pub(super) fn reference(node: &Value) -> Option<&str> {
    node.get("$ref")?.as_str()
}

/// Returns the types of a node; `None` if it has no `type`, or its `type` is neither a string nor a list.
pub(super) fn types(node: &Map<String, Value>) -> Option<BTreeSet<&str>> {
    match node.get("type")? {
        Value::String(one) => Some(BTreeSet::from([&**one])),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// Returns the values that a node allows, if it lists them.
pub(super) fn values(node: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (node.get("enum"), node.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect()),
        (_, Some(value)) => Some(vec![value]),
        _ => None,
    }
}

pub(super) fn choices(node: &Map<String, Value>) -> Option<&Vec<Value>> {
    node.get("anyOf").or_else(|| node.get("oneOf"))?.as_array()
}

pub(super) fn requires(node: &Map<String, Value>, key: &str) -> bool {
    let required = node.get("required").and_then(Value::as_array);
    required.is_some_and(|keys| keys.iter().any(|known| known == key))
}

/// Returns the name that identifies a variant: the value of its first property whose only value is a string, or its only key.
pub(super) fn tag(shape: &Value) -> Option<String> {
    let entries = shape.get("properties")?.as_object()?;
    let fixed = entries.values().find_map(|entry| {
        let entry = entry.as_object()?;
        match values(entry)?.as_slice() {
            [Value::String(one)] => Some(one.clone()),
            _ => None,
        }
    });
    fixed.or_else(|| match entries.keys().collect::<Vec<_>>().as_slice() {
        [only] => Some((*only).clone()),
        _ => None,
    })
}

/// Returns a short name of a variant.
pub(super) fn name(shape: &Value) -> String {
    if let Some(tag) = tag(shape) {
        return format!("`{tag}`");
    }
    match shape.get("type").and_then(Value::as_str) {
        Some(kind) => format!("`{kind}`"),
        None => "without a name".to_owned(),
    }
}
