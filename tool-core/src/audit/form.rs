//! Arguments as they may be stored.

use serde_json::{Map, Value, json};

use crate::schema::{AuditForm, Field, Kind, Schema, Tagging, Union};

/// Most items of a list that are written out.
const ITEMS: usize = 20;
/// Most characters of a preview.
const PREVIEW: usize = 100;

/// The audited form of arguments that a schema admits, as JSON: numbers, booleans and enum values by value, texts by their length,
/// unless a field says otherwise.
pub(crate) fn form(schema: &Schema, arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => by_type(Some(schema), &value).to_string(),
        Err(_) => blind(arguments),
    }
}

/// The form of arguments that nothing is known of: they may hold anything.
pub(crate) fn blind(arguments: &str) -> String {
    json!({ "bytes": arguments.len() }).to_string()
}

/// The beginning of a text, cut between characters.
pub(crate) fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The node behind optionals and bounds.
fn bare(schema: &Schema) -> &Schema {
    match &schema.kind {
        Kind::Optional(inner) | Kind::Constrained(inner, _) => bare(inner),
        _ => schema,
    }
}

fn by_form(field: &Field, value: &Value) -> Value {
    match (field.audit, value) {
        (AuditForm::Value, _) => value.clone(),
        (AuditForm::Preview, Value::String(text)) => {
            json!({ "preview": preview(text), "length": text.chars().count() })
        }
        (AuditForm::ByType | AuditForm::Preview, _) => by_type(Some(field.schema), value),
        (AuditForm::Length, Value::String(text)) => json!({ "length": text.chars().count() }),
        (AuditForm::Length, Value::Array(items)) => json!({ "items": items.len() }),
        (AuditForm::Length, Value::Object(entries)) => json!({ "keys": entries.len() }),
        (AuditForm::Length, other) => json!({ "length": other.to_string().len() }),
    }
}

fn by_type(schema: Option<&Schema>, value: &Value) -> Value {
    let kind = schema.map(|schema| &bare(schema).kind);
    match (value, kind) {
        (Value::Null | Value::Bool(_) | Value::Number(_), _)
        | (Value::String(_), Some(Kind::Enum(_))) => value.clone(),
        // A unit variant is a word of the tool's own.
        (Value::String(text), Some(Kind::Union(union)))
            if union.variants.iter().any(|variant| variant.name == text) =>
        {
            value.clone()
        }
        (Value::String(text), _) => json!({ "length": text.chars().count() }),
        (Value::Array(items), _) => {
            let inner = match kind {
                Some(Kind::Array { items, .. }) => Some(*items),
                _ => None,
            };
            let mut list: Vec<Value> = items
                .iter()
                .take(ITEMS)
                .map(|value| by_type(inner, value))
                .collect();
            if items.len() > ITEMS {
                list.push(json!({ "more": items.len() - ITEMS }));
            }
            Value::Array(list)
        }
        (Value::Object(entries), Some(Kind::Object(fields))) => object(fields, entries, None),
        (Value::Object(entries), Some(Kind::Union(union))) => variant(union, entries),
        // Keys that no schema names may be what should not be stored.
        (Value::Object(entries), _) => json!({ "keys": entries.len() }),
    }
}

/// A record by its fields; keys that are none of them are counted.
fn object(fields: &[Field], entries: &Map<String, Value>, tag: Option<&str>) -> Value {
    let mut map = Map::new();
    let mut unknown = 0_u64;
    for (key, value) in entries {
        if tag == Some(key) {
            map.insert(key.clone(), value.clone());
        } else if let Some(field) = fields.iter().find(|field| field.name == key) {
            map.insert(key.clone(), by_form(field, value));
        } else {
            unknown += 1;
        }
    }
    if unknown > 0 {
        map.insert("unknown_keys".to_owned(), unknown.into());
    }
    Value::Object(map)
}

fn variant(union: &Union, entries: &Map<String, Value>) -> Value {
    let named = |name: Option<&Value>| {
        let name = name.and_then(Value::as_str)?;
        union.variants.iter().find(|variant| variant.name == name)
    };
    let keys = || json!({ "keys": entries.len() });
    match union.tagging {
        Tagging::Internal { tag } => match named(entries.get(tag)) {
            Some(variant) => match variant.schema.map(|schema| &bare(schema).kind) {
                Some(Kind::Object(fields)) => object(fields, entries, Some(tag)),
                _ => json!({ tag: variant.name }),
            },
            None => keys(),
        },
        Tagging::Adjacent { tag, content } => match named(entries.get(tag)) {
            Some(variant) => match entries.get(content) {
                Some(value) => {
                    json!({ tag: variant.name, content: by_type(variant.schema, value) })
                }
                None => json!({ tag: variant.name }),
            },
            None => keys(),
        },
        Tagging::External => match entries.iter().next() {
            Some((key, value)) => match union.variants.iter().find(|variant| variant.name == key) {
                Some(variant) => json!({ key: by_type(variant.schema, value) }),
                None => keys(),
            },
            None => keys(),
        },
        Tagging::Untagged => keys(),
    }
}
