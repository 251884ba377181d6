//! Servers that are not ours: where they are, and how they are started.

use std::path::{Path, PathBuf};

/// The interpreter of a virtual environment with one version of the `mcp` package, or `None` where the tests cannot run.
///
/// # Panics
///
/// Where it is missing and `CI` is set.
pub fn python(environment: &str) -> Option<PathBuf> {
    place("TOOL_TEST_PY", &format!("../{environment}/bin/python"))
}

/// A file of a package for Node.
///
/// # Panics
///
/// Where it is missing and `CI` is set.
pub fn node(file: &str) -> Option<PathBuf> {
    place("TOOL_TEST_NODE", &format!("node_modules/{file}"))
}

/// A server of ours that is written in Python without any package.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("servers")
        .join(name)
}

fn place(variable: &str, needed: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let place = folder.map(|folder| folder.join(needed));
    let place = place.filter(|place| place.exists());
    if place.is_none() {
        let what = format!(
            "`{variable}` names no folder with `{needed}`: say `tests/clients/install FOLDER`, and set it as that says"
        );
        assert!(std::env::var_os("CI").is_none(), "{what}");
        println!("skipped: {what}");
    }
    place
}
