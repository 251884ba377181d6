//! Checks that bounds are possible for the type that they are stated for.

use crate::schema::rules::report::{Fact, Path, Report};
use crate::schema::rules::table::Rule;
use crate::schema::{Constraints, Format, Integer, Kind, Number, Schema};

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

const fn wrong(report: &mut Report, path: &Path<'_>, text: &str) {
    report.add(path, &Rule::CONSTRAINT, &[Fact::Text(text)]);
}

const fn numeric(report: &mut Report, path: &Path<'_>, base: &Schema, bounds: &Constraints) {
    if bounds.min.is_none() && bounds.max.is_none() && bounds.multiple_of.is_none() {
        return;
    }
    match &base.kind {
        Kind::Integer(integer) => whole(report, path, integer, bounds),
        Kind::Number { .. } => {}
        _ => {
            wrong(
                report,
                path,
                "`range` and `multiple_of` are for numbers, the field has a different type",
            );
            return;
        }
    }
    if let Some(step) = bounds.multiple_of
        && value(step) <= 0.0
    {
        wrong(report, path, "`multiple_of` must be above 0");
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
        wrong(
            report,
            path,
            "the range is empty, write the smaller bound first",
        );
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

/// The value as a double; rounded if it has more than 53 bits.
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
        wrong(report, path, "a bound of a whole number is a whole number");
    }
    outside(report, path, integer, bounds.min);
    outside(report, path, integer, bounds.max);
    if let Some(Number::Float { .. }) = bounds.multiple_of {
        wrong(
            report,
            path,
            "`multiple_of` of a whole number is a whole number",
        );
    }
}

const fn outside(report: &mut Report, path: &Path<'_>, integer: &Integer, bound: Option<Number>) {
    if let Some(Number::Integer { value, text }) = bound
        && (value < integer.min || value > 0 && value.unsigned_abs() > integer.max)
        && report.begin(path, Rule::CONSTRAINT.id)
    {
        report.push("the bound `");
        report.push(text);
        report.push("` is outside of `");
        report.push(integer.name);
        report.push("`");
        report.end();
    }
}

const fn textual(report: &mut Report, path: &Path<'_>, base: &Schema, bounds: &Constraints) {
    let measured = bounds.min_length.is_some() || bounds.max_length.is_some();
    if measured || bounds.pattern.is_some() {
        match &base.kind {
            Kind::String | Kind::Format(_) => {}
            Kind::Array { .. } => wrong(
                report,
                path,
                "`length` and `pattern` are for text, count a list with `min_items` and `max_items`",
            ),
            _ => wrong(
                report,
                path,
                "`length` and `pattern` are for text, the field has a different type",
            ),
        }
    }
    if let (Some(least), Some(most)) = (bounds.min_length, bounds.max_length)
        && least > most
    {
        wrong(
            report,
            path,
            "the length is empty, write the smaller bound first",
        );
    }
    if let Some(pattern) = bounds.pattern
        && let Some(fault) = pattern.fault()
    {
        report.add_worded(path, fault.rule(), fault.message());
    }
    match bounds.format {
        None => return,
        Some(Format::Uri) => report.add(path, &Rule::FORMAT_URI, &[]),
        Some(Format::Unknown(name)) => report.add(path, &Rule::FORMAT_UNKNOWN, &[Fact::Text(name)]),
        Some(_) => {}
    }
    match &base.kind {
        Kind::String => {}
        Kind::Format(_) => wrong(report, path, "the type has a format already"),
        _ => wrong(
            report,
            path,
            "`format` is for text, the field has a different type",
        ),
    }
}

const fn listed(report: &mut Report, path: &Path<'_>, base: &Schema, bounds: &Constraints) {
    if bounds.min_items.is_none() && bounds.max_items.is_none() && !bounds.unique {
        return;
    }
    match &base.kind {
        Kind::Array { exactly: None, .. } => {}
        Kind::Array { .. } if bounds.min_items.is_none() && bounds.max_items.is_none() => {}
        Kind::Array { .. } => wrong(report, path, "an array has a fixed number of items already"),
        _ => wrong(
            report,
            path,
            "`min_items`, `max_items` and `unique` are for lists, the field has a different type",
        ),
    }
    if let (Some(least), Some(most)) = (bounds.min_items, bounds.max_items)
        && least > most
    {
        wrong(
            report,
            path,
            "the number of items is empty, write the smaller bound first",
        );
    }
}
