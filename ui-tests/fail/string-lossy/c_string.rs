use tool_core::prelude::*;

/// Opens.
#[tool]
pub fn open(
    /// A path.
    path: Option<std::ffi::CString>,
) -> Result<bool, ToolError> {
    Ok(path.is_some())
}

fn main() {}
