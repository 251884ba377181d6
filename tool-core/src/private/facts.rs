//! Facts about a tool that generated code asks for by its types.

use crate::effect::Effect;
use crate::schema::dialect::{Dialect, HasSpec, Lowered, Render, measure, total};
use crate::schema::example::check_result;
use crate::schema::rules::{Path, Report, Survey, survey};
use crate::schema::{Example, Schema};

/// What follows from a tool's `Spec`, computed once.
pub trait Facts: HasSpec {
    /// Bytes of its definitions.
    const TOTAL: usize = total(&measure(Self::SPEC));
    /// What a model has to fill in.
    const SURVEY: Survey = survey(Self::SPEC.input);
}

impl<T: HasSpec> Facts for T {}

/// The definition of `T` in a dialect; `TOTAL` is [`Facts::TOTAL`].
pub fn text<T: HasSpec, const TOTAL: usize>(dialect: Dialect) -> Lowered {
    Render::<T, TOTAL>::LOWERED[dialect.index()]
}

/// The package, or the crate's name where no cargo builds it.
pub const fn krate(package: Option<&'static str>, module: &'static str) -> &'static str {
    if let Some(package) = package {
        return package;
    }
    let bytes = module.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b':' {
        end += 1;
    }
    module.split_at(end).0
}

/// `read_only` holds only where no host parameter can write.
///
/// # Panics
///
/// In const evaluation, at the parameter that can.
#[track_caller]
pub const fn check_read_only(effect: Effect, tool: &str, param: &str, host: &str) {
    if !effect.changes_state() {
        return;
    }
    let mut report = Report::new();
    let tool = Path::owner(tool);
    if report.begin(&tool.field(param), "effect") {
        report.push("`");
        report.push(host);
        report.push("` can write, remove `read_only` or take a host value that only reads");
        report.end();
    }
    report.tell();
}

/// A result stated with an example fits what the tool returns, where that has a strict schema.
///
/// # Panics
///
/// In const evaluation, at the result.
#[track_caller]
pub const fn check_stated_result(
    output: Option<&Schema>,
    result: &Example,
    tool: &str,
    number: usize,
) {
    if let Some(output) = output {
        check_result(output, result, tool, number);
    }
}
