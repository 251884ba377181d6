//! Conversion of the owned tree to `&'static` schema nodes.
//!
//! Schema nodes are `&'static` because the nodes of compiled tools are constants. The nodes made here are leaked, once for each
//! distinct schema text: see [`super::DynSchema`].

use serde_json::Number as JsonNumber;

use super::doc::{Doc, escape};
use super::node::{Bounds, Node, Owned, Property};
use crate::schema::pattern::Pattern;
use crate::schema::{
    Constraints, EnumValue, Example, Field, Integer, IntegerValue, Json, Kind, Number, Schema,
    Tagging, Text, Union, Variant,
};

fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn keep_all<T>(values: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(values.collect::<Vec<_>>().into_boxed_slice())
}

fn keep_text(text: &str) -> &'static str {
    if text.is_empty() {
        ""
    } else {
        Box::leak(text.to_owned().into_boxed_str())
    }
}

fn words(text: &str) -> Text {
    Text::escaped(keep_text(&escape(text)))
}

/// Leaks a tree and returns its root.
pub(super) fn freeze(node: &Node) -> &'static Schema {
    let mut schema = Schema::new(kind(&node.kind)).described(words(&node.description));
    if let Some(name) = &node.name {
        schema = schema.named(keep_text(name));
    }
    keep(schema)
}

/// The type of JSON integers, limited to the ranges of `i64` and `u64`.
const INTEGER: Integer = Integer {
    name: "integer",
    min: i64::MIN as i128,
    max: u64::MAX as u128,
    not_zero: false,
};

fn kind(kind: &Owned) -> Kind {
    match kind {
        Owned::String => Kind::String,
        Owned::Format(format) => Kind::Format(*format),
        Owned::Integer { not_zero } => Kind::Integer(Integer {
            not_zero: *not_zero,
            ..INTEGER
        }),
        Owned::Number => Kind::Number { single: false },
        Owned::Boolean => Kind::Boolean,
        Owned::Enum(values) => Kind::Enum(keep_all(values.iter().map(|(value, description)| {
            EnumValue {
                value: keep_text(value),
                description: words(description),
            }
        }))),
        Owned::IntegerEnum(values) => {
            Kind::IntegerEnum(keep_all(values.iter().map(|(value, description)| {
                IntegerValue {
                    value: *value,
                    // The description is used in place of the name of a Rust variant.
                    name: keep_text(description.trim_end_matches('.')),
                    description: Text::EMPTY,
                }
            })))
        }
        Owned::Array { items, unique } => Kind::Array {
            items: freeze(items),
            unique: *unique,
            exactly: None,
        },
        Owned::Object(properties) => Kind::Object(keep_all(properties.iter().map(field))),
        Owned::Tagged { tag, variants } => Kind::Union(Union {
            tagging: Tagging::Internal {
                tag: keep_text(tag),
            },
            variants: keep_all(variants.iter().map(|(value, node)| Variant {
                name: keep_text(value),
                description: words(&node.description),
                schema: Some(freeze(node)),
            })),
        }),
        Owned::Untagged(nodes) => Kind::Union(Union {
            tagging: Tagging::Untagged,
            variants: keep_all(nodes.iter().enumerate().map(|(index, node)| Variant {
                name: keep_text(&node.name.clone().unwrap_or_else(|| (index + 1).to_string())),
                description: Text::EMPTY,
                schema: Some(freeze(node)),
            })),
        }),
        Owned::Optional(inner) => Kind::Optional(freeze(inner)),
        Owned::Constrained(inner, bounds) => {
            Kind::Constrained(freeze(inner), keep(constraints(bounds)))
        }
        Owned::Ref(name) => Kind::Ref(keep_text(name)),
        Owned::Map(values) => Kind::Map(freeze(values)),
        Owned::Any => Kind::Any,
        Owned::Null => Kind::Null,
        Owned::Tuple(items) => Kind::Tuple(keep_all(items.iter().map(freeze))),
        Owned::Never => Kind::Never,
    }
}

fn field(property: &Property) -> Field {
    let field = Field::new(
        keep_text(&property.name),
        words(&property.description),
        freeze(&property.node),
    );
    match &property.default {
        Some(default) => field.default_value(Example {
            value: keep(json(default)),
            text: keep_text(&default.text()),
        }),
        None => field,
    }
}

fn constraints(bounds: &Bounds) -> Constraints {
    Constraints {
        min: bounds.min.as_ref().map(number),
        max: bounds.max.as_ref().map(number),
        exclusive_min: bounds.exclusive_min,
        exclusive_max: bounds.exclusive_max,
        multiple_of: bounds.multiple_of.as_ref().map(number),
        min_length: bounds.min_length,
        max_length: bounds.max_length,
        // The reader accepted only patterns that parse.
        pattern: bounds
            .pattern
            .as_ref()
            .and_then(|source| Pattern::parse(keep_text(source)).ok())
            .map(|pattern| keep(pattern) as _),
        min_items: bounds.min_items,
        max_items: bounds.max_items,
        ..Constraints::NONE
    }
}

fn number(number: &JsonNumber) -> Number {
    match Doc::Number(number.clone()).as_integer() {
        Some(value) => Number::Integer {
            value,
            text: keep_text(&value.to_string()),
        },
        None => Number::Float {
            value: number.as_f64().unwrap_or_default(),
            text: keep_text(&number.to_string()),
        },
    }
}

fn json(doc: &Doc) -> Json {
    match doc {
        Doc::Null => Json::Null,
        Doc::Boolean(value) => Json::Boolean(*value),
        Doc::Number(value) => Json::Number(number(value)),
        Doc::String(text) => Json::String(keep_text(text)),
        Doc::Array(items) => Json::Array(keep_all(items.iter().map(json))),
        Doc::Object(entries) => Json::Object(keep_all(
            entries
                .iter()
                .map(|(key, value)| (keep_text(key), json(value))),
        )),
    }
}
