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
        Ok(value) => written(Some(schema), &value, AuditForm::ByType).to_string(),
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

/// A field as it says, else as what is around it says.
fn by_field(field: &Field, value: &Value, around: AuditForm) -> Value {
    let form = match field.audit {
        AuditForm::ByType => around,
        own => own,
    };
    written(Some(field.schema), value, form)
}

fn by_length(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({ "length": text.chars().count() }),
        Value::Array(items) => json!({ "items": items.len() }),
        Value::Object(entries) => json!({ "keys": entries.len() }),
        other => json!({ "length": other.to_string().len() }),
    }
}

fn written(schema: Option<&Schema>, value: &Value, form: AuditForm) -> Value {
    let kind = schema.map(|schema| &bare(schema).kind);
    match (value, kind) {
        _ if form == AuditForm::Length => by_length(value),
        (Value::Null | Value::Bool(_) | Value::Number(_), _)
        | (Value::String(_), Some(Kind::Enum(_))) => value.clone(),
        // A unit variant is a word of the tool's own.
        (Value::String(text), Some(Kind::Union(union)))
            if union.variants.iter().any(|variant| variant.name == text) =>
        {
            value.clone()
        }
        (Value::String(text), _) => match form {
            AuditForm::Value => value.clone(),
            AuditForm::Preview => {
                json!({ "preview": preview(text), "length": text.chars().count() })
            }
            AuditForm::ByType | AuditForm::Length => by_length(value),
        },
        (Value::Array(items), _) => {
            let inner = match kind {
                Some(Kind::Array { items, .. }) => Some(*items),
                _ => None,
            };
            let most = if form == AuditForm::Value {
                usize::MAX
            } else {
                ITEMS
            };
            let mut list: Vec<Value> = items
                .iter()
                .take(most)
                .map(|value| written(inner, value, form))
                .collect();
            if items.len() > most {
                list.push(json!({ "more": items.len() - most }));
            }
            Value::Array(list)
        }
        (Value::Object(entries), Some(Kind::Object(fields))) => object(fields, entries, None, form),
        (Value::Object(entries), Some(Kind::Union(union))) => variant(union, entries, form),
        // Keys that no schema names may be what should not be stored.
        (Value::Object(_), _) => whole_or_length(value, form),
    }
}

/// What no schema tells apart: whole where that was said, else by its length.
fn whole_or_length(value: &Value, form: AuditForm) -> Value {
    if form == AuditForm::Value {
        value.clone()
    } else {
        by_length(value)
    }
}

/// A record by its fields; keys that are none of them are counted.
fn object(
    fields: &[Field],
    entries: &Map<String, Value>,
    tag: Option<&str>,
    form: AuditForm,
) -> Value {
    let mut map = Map::new();
    let mut unknown = 0_u64;
    for (key, value) in entries {
        if tag == Some(key) {
            map.insert(key.clone(), value.clone());
        } else if let Some(field) = fields.iter().find(|field| field.name == key) {
            map.insert(key.clone(), by_field(field, value, form));
        } else {
            unknown += 1;
        }
    }
    if unknown > 0 {
        map.insert("unknown_keys".to_owned(), unknown.into());
    }
    Value::Object(map)
}

fn variant(union: &Union, entries: &Map<String, Value>, form: AuditForm) -> Value {
    let named = |name: Option<&Value>| {
        let name = name.and_then(Value::as_str)?;
        union.variants.iter().find(|variant| variant.name == name)
    };
    let keys = || json!({ "keys": entries.len() });
    match union.tagging {
        Tagging::Internal { tag } => match named(entries.get(tag)) {
            Some(variant) => match variant.schema.map(|schema| &bare(schema).kind) {
                Some(Kind::Object(fields)) => object(fields, entries, Some(tag), form),
                _ => json!({ tag: variant.name }),
            },
            None => keys(),
        },
        Tagging::Adjacent { tag, content } => match named(entries.get(tag)) {
            Some(variant) => match entries.get(content) {
                Some(value) => {
                    json!({ tag: variant.name, content: written(variant.schema, value, form) })
                }
                None => json!({ tag: variant.name }),
            },
            None => keys(),
        },
        Tagging::External => match entries.iter().next() {
            Some((key, value)) => match union.variants.iter().find(|variant| variant.name == key) {
                Some(variant) => json!({ key: written(variant.schema, value, form) }),
                None => keys(),
            },
            None => keys(),
        },
        // Which variant it is was decided by reading, and is not known here.
        Tagging::Untagged => keys(),
    }
}
