use tool_core::prelude::*;

/// The tool `open` of this test.
#[tool]
pub fn open(
    /// The argument `path` of the tool.
    path: Option<std::ffi::CString>,
) -> Result<bool, ToolError> {
    Ok(path.is_some())
}

fn main() {}
