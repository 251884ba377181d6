//! Support for `#[serde(flatten)]`: inserts the fields of an inner struct into the outer one.

use crate::schema::rules::{Path, Report, Rule};
use crate::schema::{Field, Kind, Schema, Text};

/// A field of a struct that has flattened fields.
#[derive(Clone, Copy, Debug)]
pub enum Flat {
    /// A field that is not flattened.
    One(Field),
    /// A flattened field: the schema of the inner struct.
    Inner(&'static Schema),
}

/// Checks that the type of a field with `#[serde(flatten)]` is a closed object.
///
/// # Panics
///
/// If the type is not a closed object; in const evaluation this is a compile error.
#[track_caller]
pub const fn check_flatten(schema: &Schema, owner: &str, field: &str) {
    let rule = match &schema.kind {
        Kind::Object(_) => return,
        _ if schema.is_reported() => return,
        Kind::Union(_) | Kind::Enum(_) | Kind::IntegerEnum(_) | Kind::Never => &Rule::FLATTEN_ENUM,
        Kind::Map(_) | Kind::Any => &Rule::FLATTEN_MAP,
        Kind::Optional(_) => &Rule::FLATTEN_OPTIONAL,
        _ => &Rule::FLATTEN_TYPE,
    };
    let mut report = Report::new();
    report.add(&Path::owner(owner).field(field), rule, &[]);
    report.tell();
}

/// Returns the number of fields after flattening.
pub const fn flat_len(parts: &[Flat]) -> usize {
    let (mut count, mut at) = (0, 0);
    let at_end = parts.len();
    while at < at_end {
        count += match &parts[at] {
            Flat::One(_) => 1,
            Flat::Inner(schema) => inner(schema).len(),
        };
        at += 1;
    }
    count
}

/// Returns the fields after flattening; `N` must be [`flat_len`] of the same parts.
///
/// # Panics
///
/// If `N` is not that length; in const evaluation this is a compile error.
#[track_caller]
pub const fn flatten<const N: usize>(parts: &[Flat]) -> [Field; N] {
    const NOTHING: Field = Field::new("", Text::EMPTY, &Schema::new(Kind::Null));
    let mut fields = [NOTHING; N];
    let (mut filled, mut at) = (0, 0);
    let at_end = parts.len();
    while at < at_end {
        match &parts[at] {
            Flat::One(field) => {
                fields[filled] = *field;
                filled += 1;
            }
            Flat::Inner(schema) => {
                let inner = inner(schema);
                let mut from = 0;
                let from_end = inner.len();
                while from < from_end {
                    fields[filled] = inner[from];
                    filled += 1;
                    from += 1;
                }
            }
        }
        at += 1;
    }
    assert!(
        filled == N,
        "`flatten` got a different length than `flat_len` returned"
    );
    fields
}

/// Returns the fields of a flattened struct; empty if [`check_flatten`] rejects the type, so that the fault is reported once.
const fn inner(schema: &Schema) -> &'static [Field] {
    match schema.kind {
        Kind::Object(fields) => fields,
        _ => &[],
    }
}
