use tool_core::prelude::*;

/// The tool `connect` of this test.
#[tool]
pub fn connect(
    /// The argument `address` of the tool.
    address: std::net::SocketAddr,
) -> Result<(), ToolError> {
    let _ = address;
    Ok(())
}

fn main() {}
