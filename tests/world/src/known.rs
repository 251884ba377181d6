//! Kept plans, which reproduce open findings or are regression tests of fixed findings.

use std::path::{Path, PathBuf};

use crate::plan::{Plan, State};

/// Returns the plans in a folder, each with its file, sorted by the names of the files.
///
/// # Errors
///
/// Returns an error if the folder or a `.json` file in it cannot be read, or if such a file is not a plan.
pub fn plans(folder: &Path) -> Result<Vec<(PathBuf, Plan)>, String> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("`{}` cannot be read: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|of| of == "json"))
        .collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let plan = serde_json::from_str(&text)
            .map_err(|error| format!("`{}`: {error}", file.display()))?;
        Ok((file, plan))
    };
    files.into_iter().map(read).collect()
}

/// Returns the invariants that fire because of open findings.
///
/// # Errors
///
/// Returns an error in the same cases as [`plans`].
pub fn open_invariants(folder: &Path) -> Result<Vec<String>, String> {
    let plans = plans(folder)?;
    let expected = plans.into_iter().filter_map(|(_, plan)| plan.expect);
    let open = expected.filter(|expect| expect.state == State::Open);
    let names = open.flat_map(|expect| std::iter::once(expect.invariant).chain(expect.also));
    Ok(names.collect())
}
