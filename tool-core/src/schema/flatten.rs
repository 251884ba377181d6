//! `#[serde(flatten)]`: the fields of a record, laid into the record around it.

use crate::schema::rules::{Path, Report, Rule};
use crate::schema::{Field, Kind, Schema, Text};

/// A part of a record with flattened fields.
#[derive(Clone, Copy, Debug)]
pub enum Flat {
    /// A field of its own.
    One(Field),
    /// The fields of another record.
    Inner(&'static Schema),
}

/// Checks that a field under `#[serde(flatten)]` holds a closed record.
///
/// # Panics
///
/// In const evaluation, when it does not.
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

/// How many fields the record has.
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

/// The fields of the record; `N` comes from [`flat_len`].
///
/// # Panics
///
/// In const evaluation, when it does not.
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
        "`flatten` was given another length than `flat_len` told"
    );
    fields
}

/// The fields to lay in: none where [`check_flatten`] refuses the type, so that it is told once.
const fn inner(schema: &Schema) -> &'static [Field] {
    match schema.kind {
        Kind::Object(fields) => fields,
        _ => &[],
    }
}
