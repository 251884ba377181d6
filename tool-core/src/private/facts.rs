//! Facts about a tool that generated code computes from its types.

use tool_schema::__private0::{HasSpec, Lowered, Render, check_result, measure, refuse, total};

use crate::effect::Effect;
use crate::schema::dialect::Dialect;
use crate::schema::rules::{Rule, Survey, survey};
use crate::schema::{Example, Schema};

/// Constants that follow from a tool's `Spec`, computed once.
pub trait Facts: HasSpec {
    /// Number of bytes of the tool's definitions.
    const TOTAL: usize = total(&measure(Self::SPEC));
    /// Survey of the arguments that a model fills in.
    const SURVEY: Survey = survey(Self::SPEC.input);
}

impl<T: HasSpec> Facts for T {}

/// Returns the definition of `T` in a dialect; `TOTAL` is [`Facts::TOTAL`].
pub fn text<T: HasSpec, const TOTAL: usize>(dialect: Dialect) -> Lowered {
    Render::<T, TOTAL>::LOWERED[dialect.index()]
}

/// Returns the package, or the name of the crate if cargo does not build the crate.
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

/// Checks that a host parameter of a `read_only` tool cannot change state.
///
/// # Panics
///
/// Panics in const evaluation if the host parameter can change state.
#[track_caller]
pub const fn check_read_only(effect: Effect, tool: &str, param: &str, host: &str) {
    if !effect.changes_state() {
        return;
    }
    refuse(tool, Some(param), &Rule::READ_ONLY_WRITES, host);
}

/// Checks that the stated result of an example matches the tool's output, if the output has a strict schema.
///
/// # Panics
///
/// Panics in const evaluation if the result does not match the output.
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
