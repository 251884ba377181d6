//! JSON form of an argument, for the help.

use std::fmt::Write as _;

use tool_core::schema::{Kind, Schema, Tagging, Union, Variant};

/// Maximum length of a form in bytes. A longer form is written again with fewer levels.
const LONGEST: usize = 1200;

/// Maximum number of levels of lists and records in a form.
const LEVELS: usize = 8;

/// Formats the JSON that a schema accepts: `{"kind": "circle", "radius": NUMBER} or {"kind": "point"}`. A key with `?` is optional.
pub(super) fn sketch(schema: &Schema) -> String {
    let mut levels = LEVELS;
    loop {
        let mut text = String::new();
        write(schema, levels, &mut text);
        if text.len() <= LONGEST || levels == 1 {
            return text;
        }
        levels -= 1;
    }
}

fn write(schema: &Schema, levels: usize, text: &mut String) {
    match schema.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Duration => text.push_str("TEXT"),
        Kind::Integer(_) => text.push_str("WHOLE NUMBER"),
        Kind::Number { .. } => text.push_str("NUMBER"),
        Kind::Boolean => text.push_str("true or false"),
        Kind::Null => text.push_str("null"),
        Kind::Enum(values) => {
            let values = values.iter().map(|value| quoted(value.value));
            text.push_str(&values.collect::<Vec<_>>().join(" or "));
        }
        Kind::IntegerEnum(values) => {
            let values = values.iter().map(|value| value.value.to_string());
            text.push_str(&values.collect::<Vec<_>>().join(" or "));
        }
        Kind::Optional(inner) | Kind::Constrained(inner, _) => write(inner, levels, text),
        // This is a recursive reference to an enclosing type.
        Kind::Ref(name) => text.push_str(name),
        Kind::Any | Kind::Never | Kind::Refused { .. } => text.push_str("JSON"),
        Kind::Array { .. } | Kind::Tuple(_) if levels == 0 => text.push_str("[…]"),
        Kind::Array { items, .. } => {
            text.push('[');
            write(items, levels - 1, text);
            text.push_str(", …]");
        }
        Kind::Tuple(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write(item, levels - 1, text);
            }
            text.push(']');
        }
        Kind::Object(_) | Kind::Map(_) | Kind::Union(_) if levels == 0 => text.push_str("{…}"),
        Kind::Object(_) => record(None, Some(schema), levels, text),
        Kind::Map(inner) => {
            text.push_str("{TEXT: ");
            write(inner, levels - 1, text);
            text.push_str(", …}");
        }
        Kind::Union(union) => {
            for (at, variant) in union.variants.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { " or " });
                self::variant(&union, variant, levels, text);
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a variant with the tag or key by which the union identifies it.
fn variant(union: &Union, variant: &Variant, levels: usize, text: &mut String) {
    let name = quoted(variant.name);
    match (union.tagging, variant.schema) {
        (Tagging::External, None) => text.push_str(&name),
        (Tagging::External, Some(inner)) => {
            let _ = write!(text, "{{{name}: ");
            write(inner, levels - 1, text);
            text.push('}');
        }
        (Tagging::Internal { tag }, inner) => record(Some((tag, &name)), inner, levels, text),
        (Tagging::Adjacent { tag, .. }, None) => record(Some((tag, &name)), None, levels, text),
        (Tagging::Adjacent { tag, content }, Some(inner)) => {
            let _ = write!(text, "{{{}: {name}, {}: ", quoted(tag), quoted(content));
            write(inner, levels - 1, text);
            text.push('}');
        }
        (Tagging::Untagged, Some(inner)) => write(inner, levels, text),
        (Tagging::Untagged, None) => text.push_str("null"),
    }
}

/// Writes a record, with a tag before its fields if it has one.
fn record(tag: Option<(&str, &str)>, fields: Option<&Schema>, levels: usize, text: &mut String) {
    text.push('{');
    let mut first = true;
    if let Some((tag, name)) = tag {
        let _ = write!(text, "{}: {name}", quoted(tag));
        first = false;
    }
    if let Some(Kind::Object(fields)) = fields.map(|schema| schema.kind) {
        for field in fields.iter().filter(|field| field.input) {
            text.push_str(if first { "" } else { ", " });
            first = false;
            let may_be_absent = if field.is_required() { "" } else { "?" };
            let _ = write!(text, "{}{may_be_absent}: ", quoted(field.name));
            write(field.schema, levels - 1, text);
        }
    }
    text.push('}');
}
