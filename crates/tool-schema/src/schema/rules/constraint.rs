//! Checks that bounds are possible for the type that they are stated for.

use crate::schema::rules::report::{Fact, Path, Report};
use crate::schema::{Constraints, Format, Integer, Kind, Number, Schema};
use tool_rules::Rule;

/// Checks that a field that may be absent may also be null: for `#[serde(default)]` without an explicit default.
#[track_caller]
pub const fn check_optional(schema: &Schema, owner: &str, field: &str) {
    if !schema.is_optional() && !schema.is_reported() {
        let mut report = Report::new();
        report.add(
            &Path::owner(owner).field(field),
            &Rule::OPTIONAL_NOT_NULLABLE,
            &[],
        );
        report.tell();
    }
}

/// Checks the bounds of a field against the type of the field.
#[track_caller]
pub const fn check_constraints(
    schema: &Schema,
    constraints: &Constraints,
    owner: &str,
    field: &str,
) {
    if base(schema).is_reported() {
        return;
    }
    let mut report = Report::new();
    let owner = Path::owner(owner);
    faults(&mut report, &owner.field(field), schema, constraints);
    report.tell();
}

/// Adds the faults of the bounds to the report.
pub(crate) const fn faults(
    report: &mut Report,
    path: &Path<'_>,
    schema: &Schema,
    constraints: &Constraints,
) {
    let base = base(schema);
    numeric(report, path, base, constraints);
    textual(report, path, base, constraints);
    listed(report, path, base, constraints);
}

const fn base(schema: &Schema) -> &Schema {
    let mut base = schema;
    while let Kind::Optional(inner) | Kind::Constrained(inner, _) = &base.kind {
        base = inner;
    }
    base
}

const fn numeric(report: &mut Report, path: &Path<'_>, base: &Schema, bounds: &Constraints) {
    if bounds.min.is_none() && bounds.max.is_none() && bounds.multiple_of.is_none() {
        return;
    }
    match &base.kind {
        Kind::Integer(integer) => whole(report, path, integer, bounds),
        Kind::Number { .. } => {}
        _ => {
            report.add(path, &Rule::RANGE_NOT_NUMBER, &[]);
            return;
        }
    }
    if let Some(step) = bounds.multiple_of
        && value(step) <= 0.0
    {
        report.add(path, &Rule::MULTIPLE_OF_ZERO, &[]);
    }
    if let (Some(min), Some(max)) = (bounds.min, bounds.max)
        && is_empty(
            min,
            bounds.exclusive_min,
            max,
            bounds.exclusive_max,
            matches!(base.kind, Kind::Integer(_)),
        )
    {
        report.add(path, &Rule::RANGE_EMPTY, &[]);
    }
}

const fn is_empty(min: Number, above: bool, max: Number, below: bool, is_whole: bool) -> bool {
    if let (Number::Integer { value: min, .. }, Number::Integer { value: max, .. }) = (min, max) {
        if is_whole {
            return min.saturating_add(above as i128) > max.saturating_sub(below as i128);
        }
        return min > max || min == max && (above || below);
    }
    let (min, max) = (value(min), value(max));
    // Not written with `>` and `>=`: a bound that is NaN must make the range empty.
    let some = min < max || min <= max && !above && !below;
    !some
}

/// Returns the value as a double; rounded if it has more than 53 bits.
#[allow(
    clippy::cast_precision_loss,
    reason = "bounds of fractions are compared as the type compares them"
)]
pub(crate) const fn value(number: Number) -> f64 {
    match number {
        Number::Integer { value, .. } => value as f64,
        Number::Float { value, .. } => value,
    }
}

const fn whole(report: &mut Report, path: &Path<'_>, integer: &Integer, bounds: &Constraints) {
    if matches!(bounds.min, Some(Number::Float { .. }))
        || matches!(bounds.max, Some(Number::Float { .. }))
    {
        report.add(path, &Rule::RANGE_NOT_WHOLE, &[]);
    }
    outside(report, path, integer, bounds.min);
    outside(report, path, integer, bounds.max);
    if let Some(Number::Float { .. }) = bounds.multiple_of {
        report.add(path, &Rule::MULTIPLE_OF_NOT_WHOLE, &[]);
    }
}

const fn outside(report: &mut Report, path: &Path<'_>, integer: &Integer, bound: Option<Number>) {
    if let Some(Number::Integer { value, text }) = bound
        && (value < integer.min || value > 0 && value.unsigned_abs() > integer.max)
    {
        report.add(
            path,
            &Rule::RANGE_OUTSIDE,
            &[Fact::Text(text), Fact::Text(integer.name)],
        );
    }
}

const fn textual(report: &mut Report, path: &Path<'_>, base: &Schema, bounds: &Constraints) {
    let measured = bounds.min_length.is_some() || bounds.max_length.is_some();
    if measured || bounds.pattern.is_some() {
        match &base.kind {
            Kind::String | Kind::Format(_) => {}
            Kind::Array { .. } => report.add(path, &Rule::LENGTH_OF_LIST, &[]),
            _ => report.add(path, &Rule::LENGTH_NOT_TEXT, &[]),
        }
    }
    if let (Some(least), Some(most)) = (bounds.min_length, bounds.max_length)
        && least > most
    {
        report.add(path, &Rule::LENGTH_EMPTY, &[]);
    }
    if let Some(pattern) = bounds.pattern
        && let Some(fault) = pattern.fault()
    {
        report.add(path, fault.broken(), &[]);
    }
    match bounds.format {
        None => return,
        Some(Format::Uri) => report.add(path, &Rule::FORMAT_URI, &[]),
        Some(Format::Unknown(name)) => report.add(path, &Rule::FORMAT_UNKNOWN, &[Fact::Text(name)]),
        Some(_) => {}
    }
    match &base.kind {
        Kind::String => {}
        Kind::Format(_) => report.add(path, &Rule::FORMAT_TWICE, &[]),
        _ => report.add(path, &Rule::FORMAT_NOT_TEXT, &[]),
    }
}

const fn listed(report: &mut Report, path: &Path<'_>, base: &Schema, bounds: &Constraints) {
    if bounds.min_items.is_none() && bounds.max_items.is_none() && !bounds.unique {
        return;
    }
    match &base.kind {
        Kind::Array { exactly: None, .. } => {}
        Kind::Array { .. } if bounds.min_items.is_none() && bounds.max_items.is_none() => {}
        Kind::Array { .. } => report.add(path, &Rule::ITEMS_FIXED, &[]),
        _ => report.add(path, &Rule::ITEMS_NOT_LIST, &[]),
    }
    if let (Some(least), Some(most)) = (bounds.min_items, bounds.max_items)
        && least > most
    {
        report.add(path, &Rule::ITEMS_EMPTY, &[]);
    }
}
