//! Paths of the third-party and scripted MCP servers, and how to start them.

use std::path::{Path, PathBuf};

/// Returns the path of one of our servers that are written in Python without packages.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("servers")
        .join(name)
}
