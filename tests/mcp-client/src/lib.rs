//! Servers that are not ours: where they are, and how they are started.

use std::path::{Path, PathBuf};

/// A server of ours that is written in Python without any package.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("servers")
        .join(name)
}
