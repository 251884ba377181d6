//! The end of an instance.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::spare_name;

/// Removes the tree of an instance; whether there was one.
pub(super) fn instance(root: &Path, slug: &str) -> io::Result<bool> {
    let root = match Dir::open_ambient_dir(root, ambient_authority()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    // No slug begins with a dot.
    let prefix = format!(".deleted-{slug}");
    let aside = format!("{prefix}{}", spare_name());
    let was = match root.rename(slug, &root, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        moved => moved.map(|()| true)?,
    };
    let mut was = was;
    for entry in root.entries()? {
        let name = entry?.file_name();
        let of_this = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        // `.~` begins the spare name, so `a` does not take what `a-b` left.
        if of_this.is_some_and(|rest| rest.starts_with(".~")) {
            remove(&root, &name)?;
            was = true;
        }
    }
    Ok(was)
}

/// Removes a tree of any depth with two open folders: each folder in it is first moved to its top. What is mounted cannot be moved, so
/// nothing on another file system is touched.
pub(crate) fn remove(parent: &Dir, name: &OsStr) -> io::Result<()> {
    if !parent.symlink_metadata(name)?.is_dir() {
        return parent.remove_file(name);
    }
    let top = parent.open_dir_nofollow(name)?;
    loop {
        let mut folders = false;
        for entry in top.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            if entry.file_type()?.is_dir() {
                folders = true;
                flatten(&top, &name)?;
            } else {
                top.remove_file(&name)?;
            }
        }
        if !folders {
            break;
        }
    }
    parent.remove_dir(name)
}

fn flatten(top: &Dir, name: &OsStr) -> io::Result<()> {
    let dir = top.open_dir_nofollow(name)?;
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            dir.rename(&name, top, spare_name())?;
        } else {
            dir.remove_file(&name)?;
        }
    }
    drop(dir);
    top.remove_dir(name)
}
