//! Checks of `as = Type`, which states the schema of a different type.

use crate::schema::rules::report::{Fact, Path, Report};
use crate::schema::{
    Constraints, Field, Format, Integer, IntegerValue, Kind, Number, Schema, text,
};
use tool_rules::Rule;

/// Checks the schema that is stated for a type: with `reads`, that the type can read every value that the stated schema accepts, otherwise that the
/// type writes values of the stated schema. `own` is the schema of the type itself; a type without a schema is not checked. `field` is empty for a
/// type as a whole.
///
/// Only provable contradictions are faults, because a user's type may read more values than its own schema accepts.
#[track_caller]
pub const fn check_as(
    own: Option<&Schema>,
    stated: &Schema,
    owner: &str,
    field: &str,
    reads: bool,
) {
    let Some(own) = own else {
        return;
    };
    if own.is_reported() || stated.is_reported() {
        return;
    }
    if let Some([own, stated]) = contradiction(own, stated, &Constraints::NONE) {
        let rule = if reads {
            &Rule::AS_TYPE
        } else {
            &Rule::AS_TYPE_OUT
        };
        let facts = [Fact::Text(own), Fact::Text(stated)];
        let mut report = Report::new();
        let owner = Path::owner(owner);
        if field.is_empty() {
            report.add(&owner, rule, &facts);
        } else {
            report.add(&owner.field(field), rule, &facts);
        }
        report.tell();
    }
}

/// Compares the schema of a type with the schema that is stated for it, and the bounds around the stated schema. Returns a form that the type reads,
/// and a form that only the stated schema accepts; `None` if there is no contradiction.
const fn contradiction(
    own: &Schema,
    stated: &Schema,
    around: &Constraints,
) -> Option<[&'static str; 2]> {
    // serde does not check the bounds of the type's own schema.
    let (own, _) = bare(own, &Constraints::NONE);
    let (stated, bounds) = bare(stated, around);
    match (&own.kind, &stated.kind) {
        (Kind::Optional(own), Kind::Optional(stated)) => contradiction(own, stated, &bounds),
        (Kind::Optional(own), _) => contradiction(own, stated, &bounds),
        (_, Kind::Optional(_)) => match form(own) {
            Some(reads) => Some([reads, "null"]),
            None => None,
        },
        (Kind::Map(own), Kind::Map(stated)) => contradiction(own, stated, &Constraints::NONE),
        (
            Kind::Array {
                items: own,
                exactly,
                ..
            },
            Kind::Array {
                items: stated,
                exactly: sends,
                ..
            },
        ) => match *exactly {
            Some(count) if !counts(count, *sends, &bounds) => {
                Some(["a fixed number of items", "a different number"])
            }
            _ => contradiction(own, stated, &Constraints::NONE),
        },
        (Kind::Object(own), Kind::Object(stated)) => objects(own, stated),
        (Kind::Integer(own), Kind::Integer(stated)) => integers(own, stated, &bounds),
        (Kind::Integer(own), Kind::IntegerEnum(values)) => values_outside(own, values),
        (Kind::Char, Kind::String) if !is_one(&bounds) => Some(["one character", "longer text"]),
        (Kind::Format(own), Kind::Format(stated)) if !covers(*own, *stated) => {
            Some(["text of one format", "text of a different one"])
        }
        (Kind::Format(own), Kind::String) => match bounds.format {
            Some(stated) if !covers(*own, stated) => {
                Some(["text of one format", "text of a different one"])
            }
            _ => None,
        },
        // serde reads a `Duration` from an object, and the guard rewrites the text as such an object.
        (Kind::Duration, Kind::Duration | Kind::Object(_))
        | (Kind::Object(_), Kind::Duration)
        // Every integer is also a number.
        | (Kind::Number { .. }, Kind::Integer(_) | Kind::IntegerEnum(_)) => None,
        _ => match (form(own), form(stated)) {
            (Some(reads), Some(sends)) if !text::same(reads, sends) => Some([reads, sends]),
            _ => None,
        },
    }
}

/// Removes the `Constrained` nodes around a schema; returns it with all their bounds merged.
const fn bare<'a>(schema: &'a Schema, around: &Constraints) -> (&'a Schema, Constraints) {
    let (mut schema, mut bounds) = (schema, *around);
    while let Kind::Constrained(inner, own) = &schema.kind {
        schema = inner;
        bounds = own.under(&bounds);
    }
    (schema, bounds)
}

/// Returns the form of the values in JSON; `None` if there are several forms, or the form is not compared.
const fn form(schema: &Schema) -> Option<&'static str> {
    Some(match &schema.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Enum(_) => "a string",
        Kind::Integer(_) | Kind::IntegerEnum(_) => "a whole number",
        Kind::Number { .. } => "a number",
        Kind::Boolean => "a boolean",
        Kind::Array { .. } | Kind::Tuple(_) => "a list",
        Kind::Object(_) | Kind::Map(_) => "an object",
        Kind::Duration => "a `Duration`",
        // serde reads a union from several forms.
        Kind::Union(_)
        | Kind::Optional(_)
        | Kind::Constrained(..)
        | Kind::Ref(_)
        | Kind::Any
        | Kind::Null
        | Kind::Never
        | Kind::Refused { .. } => return None,
    })
}

/// Returns whether the bounds fix the number of items to `count`.
const fn counts(count: usize, exactly: Option<usize>, bounds: &Constraints) -> bool {
    match (exactly, bounds.min_items, bounds.max_items) {
        (Some(stated), _, _) => stated == count,
        (None, Some(least), Some(most)) => least == count && most == count,
        _ => false,
    }
}

/// Returns whether the bounds may restrict a string to one character. A pattern is assumed to do so.
const fn is_one(bounds: &Constraints) -> bool {
    bounds.pattern.is_some() || matches!((bounds.min_length, bounds.max_length), (Some(1), Some(1)))
}

/// Returns whether a type of the format `own` reads all texts of the format `stated`. The format `uri` and unknown
/// formats are assumed to be compatible.
const fn covers(own: Format, stated: Format) -> bool {
    match (own, stated) {
        (Format::Ip, Format::Ipv4 | Format::Ipv6)
        | (Format::Uri | Format::Unknown(_), _)
        | (_, Format::Uri | Format::Unknown(_)) => true,
        _ => text::same(own.name(), stated.name()),
    }
}

/// Finds a key that the type requires and the stated object lacks, or a field whose schemas contradict each other.
const fn objects(own: &[Field], stated: &[Field]) -> Option<[&'static str; 2]> {
    let mut at = 0;
    let at_end = own.len();
    while at < at_end {
        let field = &own[at];
        if field.input {
            match named(stated, field.name) {
                Some(other) => {
                    let found = contradiction(field.schema, other.schema, &Constraints::NONE);
                    if found.is_some() {
                        return found;
                    }
                }
                None if field.is_required() => {
                    return Some(["a record with a required key", "a record without that key"]);
                }
                None => {}
            }
        }
        at += 1;
    }
    None
}

const fn named<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    let mut at = 0;
    let at_end = fields.len();
    while at < at_end {
        if fields[at].input && text::same(fields[at].name, name) {
            return Some(&fields[at]);
        }
        at += 1;
    }
    None
}

const BEYOND: Option<[&str; 2]> = Some(["a whole number of its width", "numbers beyond it"]);

/// Returns a contradiction if the stated schema accepts integers that the type cannot represent.
const fn integers(
    own: &Integer,
    stated: &Integer,
    bounds: &Constraints,
) -> Option<[&'static str; 2]> {
    let (mut least, mut most, mut has_zero) = (stated.min, stated.max, !stated.not_zero);
    if let Some(Number::Integer { value, .. }) = bounds.min {
        least = value.saturating_add(bounds.exclusive_min as i128);
    }
    if let Some(Number::Integer { value, .. }) = bounds.max {
        let value = value.saturating_sub(bounds.exclusive_max as i128);
        has_zero &= value >= 0;
        most = if value > 0 { value.unsigned_abs() } else { 0 };
    }
    has_zero &= least <= 0;
    if least < own.min || most > own.max || own.not_zero && has_zero {
        BEYOND
    } else {
        None
    }
}

const fn values_outside(own: &Integer, values: &[IntegerValue]) -> Option<[&'static str; 2]> {
    let mut at = 0;
    let at_end = values.len();
    while at < at_end {
        let value = values[at].value;
        let above = value > 0 && value.unsigned_abs() > own.max;
        if value < own.min || above || own.not_zero && value == 0 {
            return BEYOND;
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU8;
    use std::time::Duration;

    use super::contradiction;
    use crate::schema::{Constraints, Number, StrictSchema};

    fn agree<Own: StrictSchema, Stated: StrictSchema>() -> bool {
        contradiction(Own::SCHEMA, Stated::SCHEMA, &Constraints::NONE).is_none()
    }

    // For each of these pairs, serde rejects values that the stated schema accepts.
    #[test]
    fn unreadable_stated_type_is_a_contradiction() {
        assert!(!agree::<u32, String>());
        assert!(!agree::<String, u32>());
        assert!(!agree::<u8, Option<u8>>());
        assert!(!agree::<Vec<u32>, Vec<String>>());
        assert!(!agree::<Option<Vec<u32>>, Vec<bool>>());
        assert!(!agree::<[u16; 2], Vec<u16>>());
        assert!(!agree::<[u16; 2], [u16; 3]>());
        assert!(!agree::<u8, u32>());
        assert!(!agree::<u8, i8>());
        assert!(!agree::<NonZeroU8, u8>());
        assert!(!agree::<u32, f64>());
        assert!(!agree::<char, String>());
        assert!(!agree::<Duration, String>());
        assert!(!agree::<String, Duration>());
        assert!(!agree::<u64, Duration>());
        assert!(!agree::<std::net::Ipv4Addr, std::net::IpAddr>());
    }

    #[test]
    fn readable_stated_type_is_not_a_contradiction() {
        assert!(agree::<u32, u8>());
        assert!(agree::<f64, u32>());
        assert!(agree::<i16, u8>());
        assert!(agree::<Option<String>, String>());
        assert!(agree::<Option<u64>, Option<u8>>());
        assert!(agree::<String, char>());
        assert!(agree::<Duration, Duration>());
        assert!(agree::<std::net::IpAddr, std::net::Ipv6Addr>());
        assert!(agree::<std::net::IpAddr, String>());
        let ten = Some(Number::Integer {
            value: 10,
            text: "10",
        });
        let one = Some(Number::Integer {
            value: 1,
            text: "1",
        });
        let bounds = Constraints {
            min: one,
            max: ten,
            ..Constraints::NONE
        };
        assert!(contradiction(NonZeroU8::SCHEMA, i64::SCHEMA, &bounds).is_none());
    }
}
