//! Reference implementation over a tree of values, which must agree with the one-pass form.

use serde_json::{Map, Value, json};

use super::super::{ITEMS, PREVIEW, blind};
use crate::schema::{AuditForm, Field, Kind, Schema, Tagging, Union};

pub(super) fn form(schema: &Schema, arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => written(Some(schema), value, AuditForm::ByType).to_string(),
        Err(_) => blind(arguments),
    }
}

fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the schema inside optionals and constraints.
fn bare(schema: &Schema) -> &Schema {
    match &schema.kind {
        Kind::Optional(inner) | Kind::Constrained(inner, _) => bare(inner),
        _ => schema,
    }
}

/// Writes a field in its own form, or else in the form of the enclosing value.
fn by_field(field: &Field, value: Value, around: AuditForm) -> Value {
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

fn written(schema: Option<&Schema>, value: Value, form: AuditForm) -> Value {
    let kind = schema.map(|schema| &bare(schema).kind);
    match (value, kind) {
        (value, _) if form == AuditForm::Length => by_length(&value),
        (value @ (Value::Null | Value::Bool(_) | Value::Number(_)), _)
        | (value @ Value::String(_), Some(Kind::Enum(_))) => value,
        (Value::String(text), kind) => by_text(text, kind, form),
        (Value::Array(items), kind) => {
            let inner = match kind {
                Some(Kind::Array { items, .. }) => Some(*items),
                _ => None,
            };
            let most = if form == AuditForm::Value {
                usize::MAX
            } else {
                ITEMS
            };
            let more = items.len().saturating_sub(most);
            let items = items.into_iter().take(most);
            let mut list: Vec<Value> = items.map(|value| written(inner, value, form)).collect();
            if more > 0 {
                list.push(json!({ "more": more }));
            }
            Value::Array(list)
        }
        (Value::Object(entries), Some(Kind::Object(fields))) => object(fields, entries, None, form),
        (Value::Object(entries), Some(Kind::Union(union))) => variant(union, entries, form),
        // Keys that the schema does not name may be private data themselves.
        (value @ Value::Object(_), _) if form == AuditForm::Value => value,
        (value @ Value::Object(_), _) => by_length(&value),
    }
}

fn by_text(text: String, kind: Option<&Kind>, form: AuditForm) -> Value {
    let own = |union: &Union| union.variants.iter().any(|variant| variant.name == text);
    match (form, kind) {
        // The name of a unit variant comes from the schema, so it is not private.
        (_, Some(Kind::Union(union))) if own(union) => Value::String(text),
        (AuditForm::Value, _) => Value::String(text),
        (AuditForm::Preview, _) => {
            json!({ "preview": preview(&text), "length": text.chars().count() })
        }
        (AuditForm::ByType | AuditForm::Length, _) => by_length(&Value::String(text)),
    }
}

/// Writes a record by its fields. Unknown keys are only counted.
fn object(
    fields: &[Field],
    entries: Map<String, Value>,
    tag: Option<&str>,
    form: AuditForm,
) -> Value {
    let mut map = Map::new();
    let mut unknown = 0_u64;
    for (key, value) in entries {
        if tag == Some(key.as_str()) {
            map.insert(key, value);
        } else if let Some(field) = fields.iter().find(|field| field.name == key) {
            map.insert(key, by_field(field, value, form));
        } else {
            unknown += 1;
        }
    }
    if unknown > 0 {
        map.insert("unknown_keys".to_owned(), unknown.into());
    }
    Value::Object(map)
}

fn variant(union: &Union, mut entries: Map<String, Value>, form: AuditForm) -> Value {
    let count = entries.len();
    let keys = || json!({ "keys": count });
    let named = |name: Option<&Value>| {
        let name = name.and_then(Value::as_str)?;
        union.variants.iter().find(|variant| variant.name == name)
    };
    match union.tagging {
        Tagging::Internal { tag } => match named(entries.get(tag)) {
            Some(variant) => match variant.schema.map(|schema| &bare(schema).kind) {
                Some(Kind::Object(fields)) => object(fields, entries, Some(tag), form),
                _ => json!({ tag: variant.name }),
            },
            None => keys(),
        },
        Tagging::Adjacent { tag, content } => match named(entries.get(tag)) {
            Some(variant) => match entries.remove(content) {
                Some(value) => {
                    json!({ tag: variant.name, content: written(variant.schema, value, form) })
                }
                None => json!({ tag: variant.name }),
            },
            None => keys(),
        },
        Tagging::External => match entries.into_iter().next() {
            Some((key, value)) => match union.variants.iter().find(|variant| variant.name == key) {
                Some(variant) => json!({ key: written(variant.schema, value, form) }),
                None => keys(),
            },
            None => keys(),
        },
        // Deserialization chose the variant, and the choice is not known here.
        Tagging::Untagged => keys(),
    }
}
