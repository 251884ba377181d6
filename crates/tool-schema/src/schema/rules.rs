//! Rules that reject schemas that a provider would reject.
//!
//! Each `check_*` function is for const evaluation: it panics once, with the faults of its subject, one per line, up to a limit. [`faults`]
//! checks schemas at run time.

mod arguments;
mod constraint;
mod limits;
mod overlap;
mod report;
mod stated;
#[cfg(test)]
mod tests;
mod walk;

pub use arguments::{check_argument, crosses_optionals, crosses_unions, takes_wide_integer};
pub(crate) use constraint::value as number_value;
pub use constraint::{check_constraints, check_optional};
pub(crate) use limits::{
    MOST_OPTIONALS, MOST_UNIONS, MOST_UNWARNED_OPTIONALS, MOST_UNWARNED_UNIONS,
};
pub use limits::{
    Survey, check_limits, check_root, check_tool, check_toolset, is_tool_name, survey,
    toolset_faults,
};
pub use report::Fault;
pub(crate) use report::{Fact, Path, Report};
pub use stated::check_as;
pub use tool_rules::Rule;

use crate::schema::dialect::Dialects;
use crate::schema::{Kind, Schema};
use walk::Walk;

/// Fast path for most fields. Returns whether the type is a string, a number or a boolean, alone, optional or in an array of any length. Every
/// provider accepts these types. An array of integers is excluded, because it may be bytes.
const fn is_plain(schema: &Schema) -> bool {
    let leaf = match &schema.kind {
        Kind::Optional(inner) => &inner.kind,
        Kind::Array {
            items,
            exactly: None,
            ..
        } if !matches!(items.kind, Kind::Integer(_)) => &items.kind,
        kind => kind,
    };
    matches!(
        leaf,
        Kind::String | Kind::Integer(_) | Kind::Number { .. } | Kind::Boolean
    )
}

/// Checks the type of a field against the rules that apply to every provider. The derive of the type that contains the field calls it.
///
/// The walk stops at types that their own derive has checked. Types that are only serialized (`input` is false) are not checked.
#[track_caller]
pub const fn check_field(schema: &Schema, owner: &str, field: &str, input: bool) {
    if !input || schema.checked || is_plain(schema) {
        return;
    }
    let mut report = Report::new();
    let owner = Path::owner(owner);
    Walk {
        report: &mut report,
        providers: Dialects::NONE,
        told: false,
    }
    .node(&owner.field(field), schema);
    report.tell();
}

/// Checks a type as a whole: its keys, values and variants; [`check_field`] checks its fields. A type that is only serialized (`input` is false) is
/// checked only for values that serde cannot serialize.
#[track_caller]
pub const fn check_type(schema: &Schema, input: bool) {
    let mut report = Report::new();
    let owner = Path::owner(schema.name);
    let mut walk = Walk {
        report: &mut report,
        providers: Dialects::NONE,
        told: false,
    };
    if input {
        walk.whole(&owner, schema);
    } else {
        walk.written(&owner, schema);
    }
    report.tell();
}

/// Checks one variant of a union, alone and against the variants before it; [`check_type`] checks the union itself. A variant that is only serialized
/// (`input` is false) is checked only for values that serde cannot serialize.
#[track_caller]
pub const fn check_variant(schema: &Schema, at: usize, input: bool) {
    let Kind::Union(union) = &schema.kind else {
        return;
    };
    let mut report = Report::new();
    let owner = Path::owner(schema.name);
    let mut walk = Walk {
        report: &mut report,
        providers: Dialects::NONE,
        told: false,
    };
    if input {
        walk.variant_at(&owner, union, at);
    } else {
        walk.written_variant(&owner, union, at);
    }
    report.tell();
}

/// Reports a type that contains itself through other types, at the field that closes the cycle.
///
/// # Panics
///
/// If `closed` is true; in const evaluation this is a compile error.
#[track_caller]
pub const fn check_circle(closed: bool, owner: &str, field: &str, held: &str, way: &str) {
    if !closed {
        return;
    }
    let mut report = Report::new();
    let owner_path = Path::owner(owner);
    report.add(
        &owner_path.field(field),
        &Rule::RECURSIVE_CIRCLE,
        &[Fact::Text(held), Fact::Text(owner), Fact::Text(way)],
    );
    report.tell();
}

/// Checks a parameter of a tool against the rules of [`check_field`], and its complete tree against the rules that depend on the providers.
#[track_caller]
pub const fn check_param(schema: &Schema, providers: Dialects, tool: &str, param: &str) {
    if is_plain(schema) {
        return;
    }
    let mut report = Report::new();
    let owner = Path::owner(tool);
    Walk {
        report: &mut report,
        providers,
        told: false,
    }
    .node(&owner.field(param), schema);
    report.tell();
}

/// Reports a fault of a tool, or of one of its parameters, that `tool-core` has found. `fact` replaces `{0}` in the rule's message.
///
/// # Panics
///
/// Always; in const evaluation this is a compile error.
#[track_caller]
pub const fn refuse(tool: &str, param: Option<&str>, rule: &Rule, fact: &str) {
    let mut report = Report::new();
    let owner = Path::owner(tool);
    let facts = &[Fact::Text(fact)];
    match param {
        Some(param) => report.add(&owner.field(param), rule, facts),
        None => report.add(&owner, rule, facts),
    }
    report.tell();
}

/// Returns the faults of a tool's arguments, for schemas that are read at run time. If the report has no room for some of them, the last entry
/// counts these.
pub fn faults(schema: &Schema, providers: Dialects, owner: &str) -> Vec<Fault> {
    let mut report = Report::new();
    let path = Path::owner(owner);
    limits::root(&mut report, &path, schema);
    let survey = survey(schema);
    Walk {
        report: &mut report,
        providers,
        told: false,
    }
    .node(&path, schema);
    limits::crowded(&mut report, &path, &survey);
    limits::sizes(&mut report, &path, &survey, providers);
    report.faults()
}
