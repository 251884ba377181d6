//! `as = Type`: a schema that is stated for a type with another reader.

use crate::schema::rules::report::{Fact, Path, Report};
use crate::schema::rules::table::Rule;
use crate::schema::{Kind, Schema, text};

/// Checks that a type reads what the schema stated for it lets a model send, as far as the forms of JSON tell. `own` is the schema of the
/// type itself; a type without one is not checked.
#[track_caller]
pub const fn check_as(own: Option<&Schema>, stated: &Schema, owner: &str, field: &str) {
    let Some(own) = own else {
        return;
    };
    if let Some([reads, sends]) = contradiction(own, stated) {
        let mut report = Report::new();
        report.add(
            &Path::owner(owner).field(field),
            &Rule::AS_TYPE,
            &[Fact::Text(reads), Fact::Text(sends)],
        );
        report.tell();
    }
}

/// What the type reads, and what it cannot read of the stated schema.
const fn contradiction(own: &Schema, stated: &Schema) -> Option<[&'static str; 2]> {
    let own = bare(own);
    let stated = bare(stated);
    match (&own.kind, &stated.kind) {
        (Kind::Optional(own), Kind::Optional(stated))
        | (Kind::Array { items: own, .. }, Kind::Array { items: stated, .. })
        | (Kind::Map(own), Kind::Map(stated)) => contradiction(own, stated),
        (Kind::Optional(own), _) => contradiction(own, stated),
        (_, Kind::Optional(_)) => match form(own) {
            Some(reads) => Some([reads, "null"]),
            None => None,
        },
        // A whole number is a number, too.
        (Kind::Number { .. }, Kind::Integer(_) | Kind::IntegerEnum(_)) => None,
        _ => match (form(own), form(stated)) {
            (Some(reads), Some(sends)) if !text::same(reads, sends) => Some([reads, sends]),
            _ => None,
        },
    }
}

const fn bare(schema: &Schema) -> &Schema {
    let mut schema = schema;
    while let Kind::Constrained(inner, _) = &schema.kind {
        schema = inner;
    }
    schema
}

/// The form that values have in JSON, where there is one.
const fn form(schema: &Schema) -> Option<&'static str> {
    Some(match &schema.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Enum(_) => "a string",
        Kind::Integer(_) | Kind::IntegerEnum(_) => "a whole number",
        Kind::Number { .. } => "a number",
        Kind::Boolean => "a boolean",
        Kind::Array { .. } | Kind::Tuple(_) => "a list",
        Kind::Object(_) | Kind::Map(_) => "an object",
        // serde reads a `Duration` from a record, and a union from several forms.
        Kind::Duration
        | Kind::Union(_)
        | Kind::Optional(_)
        | Kind::Constrained(..)
        | Kind::Ref(_)
        | Kind::Any
        | Kind::Null
        | Kind::Never
        | Kind::Refused { .. } => return None,
    })
}
