//! A check of a text against the schema tree of a scalar type.

use tool_core::StrictSchema;
use tool_core::schema::{Constraints, Kind, Schema};

/// Returns whether the type's schema admits this text.
pub fn text<T: StrictSchema>(text: &str) -> bool {
    admits(T::SCHEMA, &Constraints::NONE, text)
}

fn admits(schema: &Schema, bounds: &Constraints, text: &str) -> bool {
    let length = text.chars().count();
    let bounded = bounds.pattern.is_none_or(|pattern| pattern.is_match(text))
        && bounds.min_length.is_none_or(|least| length >= least)
        && bounds.max_length.is_none_or(|most| length <= most);
    match schema.kind {
        Kind::Constrained(inner, inside) => admits(inner, &inside.under(bounds), text),
        Kind::String => bounded,
        Kind::Char => bounded && length == 1,
        Kind::Format(format) => bounded && format.matches(text.as_bytes()),
        _ => false,
    }
}
