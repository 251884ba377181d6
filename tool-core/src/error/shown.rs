//! The error types with `derive(ToolError)`, and the texts of their errors that the model may read.

use std::error::Error as StdError;

use linkme::distributed_slice;

/// The entry that `#[derive(ToolError)]` generates for a type: a fn that returns whether an error is shown, or `None`
/// if the error is of a different type.
#[doc(hidden)]
pub struct ShownError(Option<fn(&(dyn StdError + 'static)) -> Option<bool>>);

impl ShownError {
    /// Creates the entry of a type.
    #[doc(hidden)]
    pub const fn new(shown: fn(&(dyn StdError + 'static)) -> Option<bool>) -> Self {
        Self(Some(shown))
    }
}

/// The entries of all types with the derive. [`TOOLS`](crate::private::TOOLS) explains the name of the symbol.
#[doc(hidden)]
#[distributed_slice]
pub static TOOL_CORE_0_1_SHOWN_ERRORS: [ShownError];

pub use TOOL_CORE_0_1_SHOWN_ERRORS as SHOWN_ERRORS;

/// Keeps the slice non-empty: an empty slice has no section, and linkers differ in how they treat a missing section.
#[distributed_slice(TOOL_CORE_0_1_SHOWN_ERRORS)]
#[allow(
    unsafe_code,
    reason = "linkme places it in its own section, which the lint counts as unsafe"
)]
static SENTINEL: ShownError = ShownError(None);

/// Returns the text of an error, if the model may read it.
pub(super) fn text(error: &(dyn StdError + Send + Sync + 'static)) -> Option<String> {
    let is_shown = TOOL_CORE_0_1_SHOWN_ERRORS
        .iter()
        .filter_map(|of| of.0)
        .find_map(|of| of(error))?;
    is_shown.then(|| error.to_string())
}
