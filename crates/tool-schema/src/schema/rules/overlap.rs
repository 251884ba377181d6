//! Comparison of two schemas by JSON types, keys and constant values, to decide whether they are disjoint.

use crate::schema::text::same;
use crate::schema::{EnumValue, Field, IntegerValue, Kind, Schema, Tagging, Union, Variant};

const STRING: u8 = 1;
const INTEGER: u8 = 1 << 1;
const FRACTION: u8 = 1 << 2;
const BOOLEAN: u8 = 1 << 3;
const ARRAY: u8 = 1 << 4;
const OBJECT: u8 = 1 << 5;
const NULL: u8 = 1 << 6;
const ANY: u8 = 0x7F;

/// A set of values that a variant or a field accepts.
#[derive(Clone, Copy)]
enum Part<'a> {
    Whole(&'a Schema),
    /// The set that contains exactly this string.
    Text(&'a str),
    Record(Shape<'a>),
}

/// A closed object: an optional tag, an optional wrapped value, and fields.
#[derive(Clone, Copy)]
struct Shape<'a> {
    tag: Option<(&'a str, &'a str)>,
    wrapped: Option<(&'a str, &'a Schema)>,
    fields: &'a [Field],
}

/// The schema of an untagged variant without content.
const NULL_SCHEMA: &Schema = &Schema::new(Kind::Null);

/// Returns whether it is certain that no value matches both schemas.
pub(super) const fn disjoint(left: &Schema, right: &Schema) -> bool {
    apart(Part::Whole(left), Part::Whole(right))
}

const fn apart(left: Part<'_>, right: Part<'_>) -> bool {
    let (left, right) = (plain(left), plain(right));
    if types(left) & types(right) == 0 {
        return true;
    }
    match (left, right) {
        (
            Part::Whole(Schema {
                kind: Kind::Union(union),
                ..
            }),
            other,
        )
        | (
            other,
            Part::Whole(Schema {
                kind: Kind::Union(union),
                ..
            }),
        ) => {
            let mut at = 0;
            let at_end = union.variants.len();
            while at < at_end {
                if !apart(branch(union, &union.variants[at]), other) {
                    return false;
                }
                at += 1;
            }
            true
        }
        (Part::Text(left), Part::Text(right)) => !same(left, right),
        (
            Part::Text(text),
            Part::Whole(Schema {
                kind: Kind::Enum(values),
                ..
            }),
        )
        | (
            Part::Whole(Schema {
                kind: Kind::Enum(values),
                ..
            }),
            Part::Text(text),
        ) => !has_text(values, text),
        (Part::Record(left), Part::Record(right)) => lacks(left, right) || lacks(right, left),
        (Part::Whole(left), Part::Whole(right)) => match (&left.kind, &right.kind) {
            (Kind::Enum(left), Kind::Enum(right)) => no_common_text(left, right),
            (Kind::IntegerEnum(left), Kind::IntegerEnum(right)) => no_common_number(left, right),
            _ => false,
        },
        _ => false,
    }
}

/// Removes the bounds around a schema, because they do not distinguish variants.
const fn plain(part: Part<'_>) -> Part<'_> {
    let Part::Whole(mut schema) = part else {
        return part;
    };
    while let Kind::Constrained(inner, _) = &schema.kind {
        schema = inner;
    }
    match &schema.kind {
        Kind::Object(fields) => Part::Record(Shape {
            tag: None,
            wrapped: None,
            fields,
        }),
        _ => Part::Whole(schema),
    }
}

const fn branch<'a>(union: &Union, variant: &'a Variant) -> Part<'a> {
    let fields: &[Field] = match variant.schema {
        Some(Schema {
            kind: Kind::Object(fields),
            ..
        }) => fields,
        _ => &[],
    };
    match (union.tagging, variant.schema) {
        (Tagging::External, None) => Part::Text(variant.name),
        (Tagging::External, Some(schema)) => Part::Record(Shape {
            tag: None,
            wrapped: Some((variant.name, schema)),
            fields: &[],
        }),
        (Tagging::Internal { tag }, _) => Part::Record(Shape {
            tag: Some((tag, variant.name)),
            wrapped: None,
            fields,
        }),
        (Tagging::Adjacent { tag, content }, schema) => Part::Record(Shape {
            tag: Some((tag, variant.name)),
            wrapped: match schema {
                Some(schema) => Some((content, schema)),
                None => None,
            },
            fields: &[],
        }),
        (Tagging::Untagged, Some(schema)) => Part::Whole(schema),
        (Tagging::Untagged, None) => Part::Whole(NULL_SCHEMA),
    }
}

const fn types(part: Part<'_>) -> u8 {
    let schema = match part {
        Part::Whole(schema) => schema,
        Part::Text(_) => return STRING,
        Part::Record(_) => return OBJECT,
    };
    match &schema.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Duration | Kind::Enum(_) => STRING,
        Kind::Integer(_) | Kind::IntegerEnum(_) => INTEGER,
        // A number may be an integer, such as `1.0`.
        Kind::Number { .. } => INTEGER | FRACTION,
        Kind::Boolean => BOOLEAN,
        Kind::Array { .. } | Kind::Tuple(_) => ARRAY,
        Kind::Object(_) | Kind::Map(_) => OBJECT,
        Kind::Null => NULL,
        Kind::Never => 0,
        // The fault of this schema is reported elsewhere, so treat the schema as disjoint from everything.
        Kind::Any if schema.is_reported() => 0,
        Kind::Optional(inner) => types(Part::Whole(inner)) | NULL,
        Kind::Constrained(inner, _) => types(Part::Whole(inner)),
        Kind::Union(union) => {
            let (mut set, mut at) = (0, 0);
            let at_end = union.variants.len();
            while at < at_end {
                set |= types(branch(union, &union.variants[at]));
                at += 1;
            }
            set
        }
        Kind::Ref(_) | Kind::Any | Kind::Refused { .. } => ANY,
    }
}

/// Returns whether `left` requires a key that `right` does not have, or has with a disjoint schema.
const fn lacks(left: Shape<'_>, right: Shape<'_>) -> bool {
    let mut at = 0;
    while at < size(left) {
        let (name, required, value) = entry(left, at);
        if required {
            let mut other = 0;
            let mut found = false;
            while other < size(right) {
                let (key, _, admitted) = entry(right, other);
                if same(name, key) {
                    found = true;
                    if apart(value, admitted) {
                        return true;
                    }
                }
                other += 1;
            }
            if !found {
                return true;
            }
        }
        at += 1;
    }
    false
}

const fn size(shape: Shape<'_>) -> usize {
    shape.tag.is_some() as usize + shape.wrapped.is_some() as usize + shape.fields.len()
}

/// Returns the key at an index, whether it is required, and its values.
const fn entry(shape: Shape<'_>, at: usize) -> (&str, bool, Part<'_>) {
    let mut at = at;
    if let Some((key, value)) = shape.tag {
        if at == 0 {
            return (key, true, Part::Text(value));
        }
        at -= 1;
    }
    if let Some((key, schema)) = shape.wrapped {
        if at == 0 {
            return (key, !schema.is_optional(), Part::Whole(schema));
        }
        at -= 1;
    }
    let field = &shape.fields[at];
    (
        field.name,
        field.input && field.is_required(),
        Part::Whole(field.schema),
    )
}

const fn has_text(values: &[EnumValue], text: &str) -> bool {
    let mut at = 0;
    let at_end = values.len();
    while at < at_end {
        if same(values[at].value, text) {
            return true;
        }
        at += 1;
    }
    false
}

const fn no_common_text(left: &[EnumValue], right: &[EnumValue]) -> bool {
    let mut at = 0;
    let at_end = left.len();
    while at < at_end {
        if has_text(right, left[at].value) {
            return false;
        }
        at += 1;
    }
    true
}

const fn no_common_number(left: &[IntegerValue], right: &[IntegerValue]) -> bool {
    let mut at = 0;
    let at_end = left.len();
    while at < at_end {
        let mut other = 0;
        let other_end = right.len();
        while other < other_end {
            if left[at].value == right[other].value {
                return false;
            }
            other += 1;
        }
        at += 1;
    }
    true
}
