use tool_core::prelude::*;

/// Connects.
#[tool]
pub fn connect(
    /// Where.
    address: std::net::SocketAddr,
) -> Result<(), ToolError> {
    let _ = address;
    Ok(())
}

fn main() {}
