//! Which id a folder belongs to.
//!
//! A file beside the folders holds the id. It appears with its content in one step and never changes, so of two ids that want a name at
//! the same time, in any two processes, one has it. On a file system without case the file says the same of `A` and `a`.

use std::io;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::{IDS, Replace, enter, name, open_root, replace};

/// The name of the folder of an id.
pub(super) fn folder(root: &Path, instance: &str, id: &str) -> io::Result<String> {
    let root = open_root(root)?;
    let ids = enter(&enter(&root, instance)?, IDS)?;
    for name in name::candidates(id) {
        if take(&ids, &name, id)? {
            return Ok(name);
        }
    }
    Err(io::Error::other(
        "other conversations have every name that this one could have",
    ))
}

/// The name of the folder of an id that has one; nothing is taken.
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

/// Whether the name is this id's, taking it where it is nobody's.
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
