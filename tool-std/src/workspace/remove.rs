//! Removal of the files of a workspace or of one conversation.
//!
//! The data that packs store next to the conversations is removed first, because it contains tokens. If something cannot be removed,
//! everything else is removed nevertheless.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::{CONVERSATIONS, claim, own, spare_name};

/// The folders of packs next to the conversations. Each has a subfolder for each conversation with data of the pack.
const KEPT: [&str; 2] = ["git-state", "git-work"];

/// Removes the tree of a workspace, and trees that earlier calls could not remove; returns whether anything was removed.
pub(super) fn instance(root: &Path, slug: &str) -> io::Result<bool> {
    let Some(root) = there(Dir::open_ambient_dir(root, ambient_authority()))? else {
        return Ok(false);
    };
    // This cannot be the name of a workspace, because no such name begins with a dot.
    let aside = format!(".deleted-{slug}");
    let mut done = Tally::default();
    let moved = move_aside(&root, slug, &aside);
    if moved.is_err() {
        // The tree stays where it is, but its tokens can still be removed.
        let _ = remove_kept(&root, slug.as_ref(), None);
    }
    done.found(moved);
    remove_aside(&root, &aside, &mut done, |name| {
        let kept = remove_kept(&root, name, None);
        // An error for a token matters only if the rest of the tree could not be removed either.
        remove(&root, name).map_err(|error| kept.err().unwrap_or(error))
    });
    done.end()
}

/// Removes the folder of a conversation and the data that packs store for it; returns whether anything existed. Its name stays assigned.
pub(super) fn conversation(root: &Path, slug: &str, id: &str) -> io::Result<bool> {
    let Some(root) = there(Dir::open_ambient_dir(root, ambient_authority()))? else {
        return Ok(false);
    };
    let Some(instance) = there(root.open_dir_nofollow(slug))? else {
        return Ok(false);
    };
    let Some(folder) = claim::known(&instance, id)? else {
        return Ok(false);
    };
    let mut done = Tally::default();
    done.found(remove_kept(&root, slug.as_ref(), Some(&folder)));
    match there(instance.open_dir_nofollow(CONVERSATIONS)) {
        Ok(None) => {}
        Err(error) => done.note(Err(error)),
        Ok(Some(conversations)) => {
            done.found(move_aside(&conversations, &folder, &folder));
            remove_aside(&conversations, &folder, &mut done, |name| {
                remove(&conversations, name)
            });
        }
    }
    done.end()
}

/// Removes the data that packs store next to the conversations of a workspace, for all conversations or for one. Returns whether anything existed.
fn remove_kept(root: &Dir, instance: &OsStr, of: Option<&str>) -> io::Result<bool> {
    let Some(instance) = there(own::open(root, instance))? else {
        return Ok(false);
    };
    let mut done = Tally::default();
    for pack in KEPT {
        let removed = match of {
            None => remove(&instance, pack.as_ref()),
            Some(folder) => {
                own::open(&instance, pack.as_ref()).and_then(|pack| remove(&pack, folder.as_ref()))
            }
        };
        done.found(there(removed).map(|was| was.is_some()));
    }
    done.end()
}

/// Renames a tree to `aside` followed by a spare name, so that it cannot be found any more. Returns whether it existed.
fn move_aside(parent: &Dir, name: &str, aside: &str) -> io::Result<bool> {
    let moved = parent.rename(name, parent, format!("{aside}{}", spare_name()));
    Ok(there(moved)?.is_some())
}

/// Removes the trees that this call or an earlier one has moved aside.
fn remove_aside(
    parent: &Dir,
    aside: &str,
    done: &mut Tally,
    remove: impl Fn(&OsStr) -> io::Result<()>,
) {
    let entries = match parent.entries() {
        Ok(entries) => entries,
        Err(error) => return done.note(Err(error)),
    };
    for entry in entries {
        let name = match entry {
            Ok(entry) => entry.file_name(),
            Err(error) => return done.note(Err(error)),
        };
        let rest = name.to_str().and_then(|name| name.strip_prefix(aside));
        // The spare name begins with `.~`, so removing `a` does not remove the leftovers of `a-b`.
        if rest.is_some_and(|rest| rest.starts_with(".~")) {
            done.found(remove(&name).map(|()| true));
        }
    }
}

/// Removes a file, a link, or a tree of any depth with at most two open folders in it: each folder in the tree is first moved to its top level.
/// Mounts in the tree are neither emptied nor removed. If something cannot be removed, everything else is removed nevertheless; the first error is
/// returned.
pub(crate) fn remove(parent: &Dir, name: &OsStr) -> io::Result<()> {
    if !parent.symlink_metadata(name)?.is_dir() {
        return parent.remove_file(name);
    }
    let top = own::open(parent, name)?;
    loop {
        let mut done = Tally::default();
        let mut folders = Vec::new();
        for entry in top.entries()? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.file_name());
            } else {
                done.note(top.remove_file(entry.file_name()));
            }
        }
        for folder in &folders {
            if let Err(error) = flatten(&top, folder, &mut done) {
                done.note(Err(error));
            }
        }
        if folders.is_empty() || !done.changed {
            done.end()?;
            return parent.remove_dir(name);
        }
    }
}

/// Removes a folder at the top level: removes its files, moves its subfolders to the top level, and then removes the empty folder.
fn flatten(top: &Dir, name: &OsStr, done: &mut Tally) -> io::Result<()> {
    let dir = own::open(top, name)?;
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            done.note(lift(&dir, &name, top));
        } else {
            done.note(dir.remove_file(&name));
        }
    }
    drop(dir);
    done.note(top.remove_dir(name));
    Ok(())
}

fn lift(dir: &Dir, name: &OsStr, top: &Dir) -> io::Result<()> {
    let spare = spare_name();
    match dir.rename(name, top, &spare) {
        // Moving a folder writes to the folder itself, because its `..` changes, so it needs write permission.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            own::open(dir, name)?;
            dir.rename(name, top, &spare)
        }
        moved => moved,
    }
}

/// The result of many steps: whether anything changed, and the first error.
#[derive(Default)]
struct Tally {
    changed: bool,
    first: Option<io::Error>,
}

impl Tally {
    fn note(&mut self, step: io::Result<()>) {
        self.found(step.map(|()| true));
    }

    /// Records a step that may have had nothing to do.
    fn found(&mut self, step: io::Result<bool>) {
        match step {
            Ok(changed) => self.changed |= changed,
            // Another process has removed the entry already.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => _ = self.first.get_or_insert(error),
        }
    }

    fn end(self) -> io::Result<bool> {
        self.first.map_or(Ok(self.changed), Err)
    }
}

/// Converts the error [`io::ErrorKind::NotFound`] to `None`.
fn there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
