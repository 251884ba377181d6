//! The `write_file` tool, which writes a whole file.

use std::io;

use cap_std::fs::{Permissions, PermissionsExt as _};
use tool_core::prelude::*;

use super::limits::Limits;
use super::open::{self, Home, Slot};
use crate::workspace::{Facts, Replace, WorkspacePath, Writer, replace};

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Written {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The size of the file in bytes.
    pub size_bytes: u64,
    /// Whether the file is new.
    pub created: bool,
}

/// Writes a whole text file of the workspace, and creates missing folders. An existing file is replaced atomically, unless `overwrite` is
/// false. Use `edit_file` to change a part of a file.
#[tool(
    category = "files",
    destructive,
    example("A new file in a new folder", { "path": "notes/plan.md", "content": "# Plan\n" }),
    example("Only if it does not exist yet", { "path": "config.toml", "content": "port = 80\n", "overwrite": false }),
)]
pub fn write_file(
    writer: &Writer,
    limits: &Limits,
    /// The path of the file, relative to the workspace.
    path: String,
    /// The whole text of the file.
    content: String,
    /// Replace the file if it exists.
    #[arg(default = true)]
    overwrite: bool,
) -> Result<Written, ToolError> {
    let path = file_path(&path)?;
    too_long(&path, content.len(), limits)?;
    let home = Home::of(writer)?;
    let slot = home.slot(&path, true)?;
    let size_bytes = content.len() as u64;
    let written = |created| Written {
        path: path.to_string(),
        size_bytes,
        created,
    };
    let _lock = home.lock(&path, || false)?;
    if let Some(facts) = home.present(&path, &slot)? {
        if overwrite {
            put(&path, &slot, &content, Some(&facts))?;
            return Ok(written(false));
        }
    } else {
        match replace(&slot.dir, slot.name, content.as_bytes(), Replace::Never) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && overwrite => {
                // A program has created an entry of this name meanwhile. It may be of any kind, so it is checked.
                let facts = home.present(&path, &slot)?;
                put(&path, &slot, &content, facts.as_ref())?;
                return Ok(written(facts.is_none()));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => {
                return done
                    .map(|()| written(true))
                    .map_err(|error| open::told(&path, &error));
            }
        }
    }
    Err(ToolError::new(format!(
        "`{path}` already exists: set `overwrite` to true to replace it, or change a part of it with `edit_file`"
    )))
}

/// Parses the path of a file to write.
pub(super) fn file_path(text: &str) -> Result<WorkspacePath, ToolError> {
    let path = WorkspacePath::relative(text).map_err(ToolError::shown)?;
    if text.ends_with('/') || text.ends_with("/.") || text.ends_with("/..") {
        return Err(ToolError::new(format!(
            "`{path}` is written like a folder, write the path of a file"
        )));
    }
    Ok(path)
}

pub(super) fn too_long(
    path: &WorkspacePath,
    bytes: usize,
    limits: &Limits,
) -> Result<(), ToolError> {
    if bytes <= limits.written_bytes {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "`{path}` would have {bytes} bytes, more than the {} that may be written: write several files",
        limits.written_bytes
    )))
}

pub(super) fn put(
    path: &WorkspacePath,
    slot: &Slot<'_>,
    content: &str,
    was: Option<&Facts>,
) -> Result<(), ToolError> {
    let mode = was.map(|facts| Permissions::from_mode(facts.mode));
    replace(
        &slot.dir,
        slot.name,
        content.as_bytes(),
        Replace::Always(mode),
    )
    .map_err(|error| open::told(path, &error))
}
