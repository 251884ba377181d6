//! Paths of the scripted MCP servers.

use std::path::{Path, PathBuf};

/// Returns the path of a server in the folder `servers`. These servers are written in Python and need no packages.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("servers")
        .join(name)
}
