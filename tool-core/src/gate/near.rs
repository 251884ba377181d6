//! The answer for a name that is not there.

use crate::args::nearest;
use crate::error::{ErrorKind, ToolError};

/// Most names that are offered.
const MOST: usize = 5;
/// Most of the wanted name that is said back.
const SHOWN: usize = 80;

/// The error for a name that is not there. A hidden tool's name is not among those given here, so it answers the same.
pub(crate) fn unknown<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> ToolError {
    let near = nearest(wanted, names, MOST);
    let shown: String = wanted.chars().take(SHOWN).collect();
    ToolError::of(
        ErrorKind::UnknownTool,
        match near.as_slice() {
            [] => format!("there is no tool `{shown}`"),
            [one] => format!("there is no tool `{shown}`, did you mean `{one}`?"),
            many => format!(
                "there is no tool `{shown}`, did you mean one of `{}`?",
                many.join("`, `")
            ),
        },
    )
}
