//! Assignment of folder names to conversation ids.
//!
//! A file next to the folders contains the id. It is created atomically with its content and never changes, so if calls for different ids request
//! the same name at the same time, even in different processes, exactly one id gets it. On a case-insensitive file system, names that differ only
//! in case have the same file, so they are not assigned to two ids.

use std::io;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::{IDS, Replace, enter, name, open_root, replace};

/// Returns the name of the folder of an id; assigns one if it has none.
pub(super) fn folder(root: &Path, instance: &str, id: &str) -> io::Result<String> {
    let root = open_root(root)?;
    let ids = enter(&enter(&root, instance)?, IDS)?;
    for name in name::candidates(id) {
        if take(&ids, &name, id)? {
            return Ok(name);
        }
    }
    Err(io::Error::other(
        "all possible folder names of this conversation belong to other conversations",
    ))
}

/// Returns the name of the folder of an id, if it has one; assigns none.
pub(super) fn known(instance: &Dir, id: &str) -> io::Result<Option<String>> {
    let absent = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(error),
    };
    let ids = match instance.open_dir_nofollow(IDS) {
        Ok(ids) => ids,
        Err(error) => return absent(error),
    };
    for name in name::candidates(id) {
        match ids.read(&name) {
            Ok(owner) if owner == id.as_bytes() => return Ok(Some(name)),
            Ok(_) => {}
            Err(error) => return absent(error),
        }
    }
    Ok(None)
}

/// Assigns the name to the id if it is free; returns whether the name belongs to the id.
fn take(ids: &Dir, name: &str, id: &str) -> io::Result<bool> {
    match ids.read(name) {
        Ok(owner) => return Ok(owner == id.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match replace(ids, name, id.as_bytes(), Replace::Never) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(ids.read(name)? == id.as_bytes())
        }
        taken => taken.map(|()| true),
    }
}
