//! Comparison of two schemas regardless of their spelling.
//!
//! Titles, descriptions, defaults, `minimum`, `maximum`, boolean `additionalProperties`, boolean `items` and formats of types other than `string` are
//! not compared. For example, `schemars` writes only some of the bounds of integer types.

use serde_json::{Map, Value, json};

/// Returns the schema in one spelling: with inlined references, one form of optional values and of choices, and without the keywords that are not
/// compared.
pub fn canonical(schema: &Value) -> Value {
    node(schema, schema)
}

fn node(root: &Value, schema: &Value) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    if let Some(to) = map.get("$ref").and_then(Value::as_str) {
        let target = root
            .pointer(to.trim_start_matches('#'))
            .cloned()
            .unwrap_or_default();
        let mut beside = map.clone();
        beside.remove("$ref");
        return node(root, &merged(target, beside));
    }
    if let Some(branches) = map
        .get("anyOf")
        .or_else(|| map.get("oneOf"))
        .and_then(Value::as_array)
        && map.get("type").is_none()
    {
        return choice(root, branches);
    }
    let mut out = Map::new();
    for (key, value) in map {
        let value = match key.as_str() {
            "title" | "description" | "$schema" | "$defs" | "default" | "minimum" | "maximum"
            | "format"
                if !kept_format(map, key) =>
            {
                continue;
            }
            "additionalProperties" | "items" if value.is_boolean() => continue,
            "type" => one_type(value),
            "const" => {
                out.insert("enum".into(), json!([value]));
                continue;
            }
            "required" | "properties" if value == &json!([]) || value == &json!({}) => continue,
            "properties" => value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, property)| (name.clone(), node(root, property)))
                .collect(),
            "items" | "additionalProperties" => node(root, value),
            "prefixItems" => value
                .as_array()
                .into_iter()
                .flatten()
                .map(|item| node(root, item))
                .collect(),
            "required" | "enum" => sorted(value),
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}

fn kept_format(map: &Map<String, Value>, key: &str) -> bool {
    key == "format"
        && map
            .get("type")
            .is_some_and(|name| one_type(name) == "string")
}

fn one_type(value: &Value) -> Value {
    match value.as_array().map(Vec::as_slice) {
        Some([one, null]) if null == "null" => one.clone(),
        _ => value.clone(),
    }
}

fn sorted(value: &Value) -> Value {
    let mut items: Vec<Value> = value
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| !item.is_null())
        .cloned()
        .collect();
    items.sort_by_key(ToString::to_string);
    Value::Array(items)
}

fn choice(root: &Value, branches: &[Value]) -> Value {
    let mut branches: Vec<Value> = branches
        .iter()
        .map(|branch| node(root, branch))
        .filter(|branch| *branch != json!({"type": "null"}))
        .collect();
    let values: Option<Vec<Value>> = branches
        .iter()
        .map(|branch| {
            (branch["type"] == "string")
                .then(|| branch.get("enum"))
                .flatten()
                .cloned()
        })
        .collect();
    if let Some(values) = values {
        let all: Vec<Value> = values
            .iter()
            .filter_map(Value::as_array)
            .flatten()
            .cloned()
            .collect();
        return json!({"type": "string", "enum": sorted(&Value::Array(all))});
    }
    if branches.len() == 1 {
        return branches.remove(0);
    }
    branches.sort_by_key(ToString::to_string);
    json!({"anyOf": branches})
}

/// Merges a referenced schema with the keywords next to the reference. `schemars` writes an internally tagged variant in this form: the tag next to a
/// reference to the other fields.
fn merged(target: Value, beside: Map<String, Value>) -> Value {
    let Value::Object(mut target) = target else {
        return target;
    };
    for (key, value) in beside {
        match (target.get_mut(&key), value) {
            (Some(Value::Object(held)), Value::Object(more)) => held.extend(more),
            (Some(Value::Array(held)), Value::Array(more)) if key == "required" => {
                held.extend(more);
            }
            (_, value) => {
                target.insert(key, value);
            }
        }
    }
    Value::Object(target)
}
