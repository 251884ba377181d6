//! Error for an unknown tool name, with similar names.

use super::{ErrorKind, ToolError};
use crate::args::nearest;

/// Maximum number of suggested names.
const MOST: usize = 5;
/// Maximum number of characters of the wanted name in the error.
const SHOWN: usize = 80;

/// Creates the error for a call under an alias of the visible tool `now`.
pub(crate) fn renamed_tool(now: &str, wanted: &str) -> ToolError {
    unknown(&[now], wanted)
}

/// Creates the error for an unknown tool. Callers pass visible names only, so the error is the same for a hidden and a missing tool.
pub(crate) fn unknown_tool<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> ToolError {
    unknown(&nearest(wanted, names, MOST), wanted)
}

fn unknown(near: &[&str], wanted: &str) -> ToolError {
    let shown: String = wanted.chars().take(SHOWN).collect();
    ToolError::of(
        ErrorKind::UnknownTool,
        match near {
            [] => format!("there is no tool `{shown}`"),
            [one] => format!("there is no tool `{shown}`, did you mean `{one}`?"),
            many => format!(
                "there is no tool `{shown}`, did you mean one of `{}`?",
                many.join("`, `")
            ),
        },
    )
}
