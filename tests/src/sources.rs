//! Rust sources of the repository.

use std::fs;
use std::path::Path;

/// Calls `visit` with every Rust source below a folder, except in hidden folders and in the output folders of builds and package managers.
///
/// # Panics
///
/// Panics if a folder cannot be read.
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
pub fn each_source(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let entry = entry.expect("the entry is readable");
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                each_source(&path, visit);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            visit(&path);
        }
    }
}
