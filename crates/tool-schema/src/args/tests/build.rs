//! Short constructors for test schemas. They leak memory, as dynamic schemas do.

use crate::schema::{
    Constraints, EnumValue, Example, Field, Integer, IntegerValue, Json, Kind, Number, Schema,
    Tagging, Text, Union, Variant,
};

pub(super) type Node = &'static Schema;

pub(super) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(super) fn list<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

pub(super) fn node(kind: Kind) -> Node {
    leak(Schema::new(kind))
}

pub(super) fn integer(name: &'static str, min: i128, max: u128) -> Node {
    node(Kind::Integer(Integer {
        name,
        min,
        max,
        not_zero: false,
    }))
}

pub(super) fn u32s() -> Node {
    integer("u32", 0, u32::MAX.into())
}

pub(super) fn i64s() -> Node {
    integer("i64", i64::MIN.into(), u128::from(i64::MAX.unsigned_abs()))
}

pub(super) fn text() -> Node {
    node(Kind::String)
}

pub(super) fn number() -> Node {
    node(Kind::Number { single: false })
}

pub(super) fn boolean() -> Node {
    node(Kind::Boolean)
}

pub(super) fn optional(inner: Node) -> Node {
    node(Kind::Optional(inner))
}

pub(super) fn array(items: Node) -> Node {
    node(Kind::Array {
        items,
        unique: false,
        exactly: None,
    })
}

pub(super) fn set(items: Node) -> Node {
    node(Kind::Array {
        items,
        unique: true,
        exactly: None,
    })
}

pub(super) fn choice(values: &[&'static str]) -> Node {
    let values = values.iter().map(|value| EnumValue {
        value,
        description: Text::EMPTY,
    });
    node(Kind::Enum(list(values.collect())))
}

pub(super) fn numbers(values: &[i128]) -> Node {
    let values = values.iter().map(|value| IntegerValue {
        value: *value,
        name: "n",
        description: Text::EMPTY,
    });
    node(Kind::IntegerEnum(list(values.collect())))
}

pub(super) fn field(name: &'static str, schema: Node) -> Field {
    Field::new(name, Text::EMPTY, schema)
}

pub(super) fn defaulted(name: &'static str, schema: Node, text: &'static str) -> Field {
    // The guard uses only the text of a default, so the value is a placeholder.
    field(name, schema).default_value(Example {
        value: &Json::Null,
        text,
    })
}

pub(super) fn object(fields: Vec<Field>) -> Node {
    node(Kind::Object(list(fields)))
}

pub(super) fn named(name: &'static str, schema: Node) -> Node {
    leak(schema.named(name))
}

pub(super) fn bounded(inner: Node, set: impl FnOnce(&mut Constraints)) -> Node {
    let mut bounds = Constraints::NONE;
    set(&mut bounds);
    node(Kind::Constrained(inner, leak(bounds)))
}

#[allow(clippy::unnecessary_wraps, reason = "bounds are optional")]
pub(super) fn number_bound(text: &'static str) -> Option<Number> {
    Some(match text.parse() {
        Ok(value) => Number::Integer { value, text },
        Err(_) => Number::Float {
            value: text.parse().expect(text),
            text,
        },
    })
}

pub(super) fn union(tagging: Tagging, variants: Vec<(&'static str, Option<Node>)>) -> Node {
    let variants = variants.into_iter().map(|(name, schema)| Variant {
        name,
        description: Text::EMPTY,
        schema,
    });
    node(Kind::Union(Union {
        tagging,
        variants: list(variants.collect()),
    }))
}
