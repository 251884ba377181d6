//! Checks of a tool's parameters: their types, and the limits of the tool that a parameter exceeds.

use crate::schema::dialect::Spec;
use crate::schema::rules::is_plain;
use crate::schema::rules::limits::{
    MOST_OPTIONALS, MOST_UNIONS, MOST_UNWARNED_OPTIONALS, MOST_UNWARNED_UNIONS, Survey, fits, sizes,
};
use crate::schema::rules::report::{Path, Report};
use crate::schema::rules::walk::Walk;
use crate::schema::warn::{many_optionals, many_unions};
use crate::schema::{Field, Kind, Schema};

/// Checks a parameter of a tool: the rules of [`check_field`](super::check_field), the rules that depend on the providers, and whether the tool
/// exceeds a limit with this parameter. `at` is its index among the parameters that the model sends.
#[track_caller]
pub const fn check_argument(schema: &Schema, spec: &Spec, survey: &Survey, at: usize, param: &str) {
    let fits = fits(spec, survey);
    if fits && is_plain(schema) {
        return;
    }
    let mut report = Report::new();
    let owner = Path::owner(spec.name);
    let path = owner.field(param);
    Walk {
        report: &mut report,
        providers: spec.providers,
        told: false,
    }
    .node(&path, schema);
    if !fits {
        crossing(&mut report, &path, spec, survey, at);
    }
    report.tell();
}

/// Reports the limits that the parameter at this index exceeds: totals that the tool exceeds with this parameter but not with the parameters before
/// it, and the limits of its own depth and its largest enum.
const fn crossing(report: &mut Report, path: &Path<'_>, spec: &Spec, whole: &Survey, at: usize) {
    let (before, after) = around(spec, at);
    let alone = match &spec.input.kind {
        Kind::Object(fields) => survey_of(fields.split_at(at).1.split_at(1).0),
        _ => return,
    };
    // The reported totals count the whole tool. Each of them is reported once, at the parameter that exceeds the limit.
    let told = Survey {
        optionals: total(
            before.optionals,
            after.optionals,
            whole.optionals,
            MOST_OPTIONALS,
        ),
        unions: total(before.unions, after.unions, whole.unions, MOST_UNIONS),
        depth: alone.depth,
        properties: total(before.properties, after.properties, whole.properties, 5_000),
        enum_values: total(
            before.enum_values,
            after.enum_values,
            whole.enum_values,
            1_000,
        ),
        characters: total(
            before.characters,
            after.characters,
            whole.characters,
            120_000,
        ),
        largest_enum: alone.largest_enum,
        crowded: false,
        ..*whole
    };
    sizes(report, path, &told, spec.providers);
}

/// Returns the total of the whole tool if the limit is exceeded at this parameter, otherwise 0.
const fn total(before: usize, after: usize, whole: usize, most: usize) -> usize {
    if before <= most && after > most {
        whole
    } else {
        0
    }
}

/// Returns two surveys: of the parameters before this index, and of these parameters together with the parameter at the index.
const fn around(spec: &Spec, at: usize) -> (Survey, Survey) {
    match &spec.input.kind {
        Kind::Object(fields) => (
            survey_of(fields.split_at(at).0),
            survey_of(fields.split_at(at + 1).0),
        ),
        _ => (Survey::NOTHING, Survey::NOTHING),
    }
}

const fn survey_of(fields: &[Field]) -> Survey {
    let mut survey = Survey::NOTHING;
    survey.fields(fields, 1);
    survey
}

/// Returns whether the parameter at this index accepts 128-bit integers.
pub const fn takes_wide_integer(spec: &Spec, at: usize) -> bool {
    match &spec.input.kind {
        Kind::Object(fields) => survey_of(fields.split_at(at).1.split_at(1).0).wide_integer,
        _ => false,
    }
}

/// Returns whether the rule `limit-optional` warns at the parameter at this index. An error about the same limit replaces the
/// warning.
pub const fn crosses_optionals(spec: &Spec, survey: &Survey, at: usize) -> bool {
    if !many_optionals(spec, survey) {
        return false;
    }
    let (before, after) = around(spec, at);
    before.optionals <= MOST_UNWARNED_OPTIONALS && after.optionals > MOST_UNWARNED_OPTIONALS
}

/// Returns whether the rule `limit-union` warns at the parameter at this index. An error about the same limit replaces the
/// warning.
pub const fn crosses_unions(spec: &Spec, survey: &Survey, at: usize) -> bool {
    if !many_unions(spec, survey) {
        return false;
    }
    let (before, after) = around(spec, at);
    before.unions <= MOST_UNWARNED_UNIONS && after.unions > MOST_UNWARNED_UNIONS
}
