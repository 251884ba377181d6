//! Atomic creation and replacement of files.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, OpenOptions, Permissions};

/// The treatment of an existing file of the same name.
#[derive(Clone, Debug)]
pub(crate) enum Replace {
    /// Keep the existing file, and fail with [`io::ErrorKind::AlreadyExists`].
    Never,
    /// Replace the existing file; the new file gets the given mode, if any.
    #[cfg_attr(
        not(feature = "fs"),
        expect(dead_code, reason = "only the tools of `fs` replace files")
    )]
    Always(Option<Permissions>),
}

/// Writes a file under a spare name and renames it: no reader sees a part of it, and other hard links of a replaced file keep the old content.
///
/// `name` is one component. After an error, the file with the spare name is removed, if that is possible.
pub(crate) fn replace(dir: &Dir, name: &str, content: &[u8], mode: Replace) -> io::Result<()> {
    let spare = spare_name();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = dir.open_with(&spare, &options)?;
    let done = file.write_all(content).and_then(|()| match mode {
        Replace::Never => rename_new(dir, &spare, name),
        Replace::Always(mode) => {
            if let Some(mode) = mode {
                file.set_permissions(mode)?;
            }
            dir.rename(&spare, dir, name)
        }
    });
    if done.is_err() {
        // The caller gets the error of the write, not the error of this removal.
        let _ = dir.remove_file(&spare);
    }
    done
}

/// Returns an unused name: no conversation's name contains `~`, and names with a leading dot are hidden from lists by default.
pub(crate) fn spare_name() -> String {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".~{:016x}", SEED.hash_one((std::process::id(), count)))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_new(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;

    match renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        // Not all file systems support this flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_new(dir, from, to),
        done => done.map_err(io::Error::from),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_new(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    link_new(dir, from, to)
}

/// Renames by creating a hard link and removing the old name, so the file has both names for a moment.
fn link_new(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    dir.hard_link(from, dir, to)?;
    dir.remove_file(from)
}
