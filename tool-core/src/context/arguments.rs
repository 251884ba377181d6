//! Checks of arguments. The errors contain no secrets.

use super::ToolContext;
use crate::args::{self, Admitted, Issue, Repair};
use crate::error::ToolError;
use crate::schema::Schema;

/// Checks arguments against a schema. The error contains no part of a secret.
#[inline]
pub(crate) fn check<'t>(
    schema: &Schema,
    written: &'t str,
    repair: Repair,
    cx: &ToolContext,
) -> Result<Admitted<'t>, ToolError> {
    args::admit(schema, written, repair).map_err(|issues| {
        misfit(written, cx, issues, |masked| {
            args::admit(schema, masked, repair).err()
        })
    })
}

/// Creates the error for arguments that do not match the schema. `again` checks the redacted text of the arguments and
/// returns its issues.
#[cold]
pub(crate) fn misfit(
    written: &str,
    cx: &ToolContext,
    issues: Vec<Issue>,
    again: impl Fn(&str) -> Option<Vec<Issue>>,
) -> ToolError {
    if issues.is_empty() {
        // The check found no issue, because it stopped after the maximum number of ways to read the text.
        return unfit();
    }
    ToolError::invalid_arguments(
        cx.redactor()
            .issues(written, issues, |masked| again(masked).unwrap_or_default()),
    )
}

/// Creates the error for arguments for which no issue is known.
pub(crate) fn unfit() -> ToolError {
    ToolError::invalid_arguments(vec![Issue {
        pointer: String::new(),
        expected: "arguments that the tool accepts".to_owned(),
        found: "arguments that do not match".to_owned(),
    }])
}
