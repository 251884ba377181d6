//! The mounts of a job. They are created in a mount namespace of the thread that starts the job, so the supervisor keeps its own mounts.
//!
//! Read-only mounts refuse operations that Landlock allows outside of the paths that a job may write: changes of mode, owner, times and attributes of
//! files, including devices, `/sys`, `/proc` and cgroups. A separate root contains only the paths of the system and the
//! granted paths, so the job cannot find other Unix sockets.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, mount_remount,
    move_mount, open_tree,
};
use rustix::thread::UnshareFlags;

use super::namespaces::unshare;
use super::root;
use crate::mechanism::Mechanism;
use crate::wire::{Held, InForce, Spec};

/// Creates the job's mounts, in a mount namespace of the calling thread.
///
/// # Errors
///
/// Fails if a writable path cannot be copied or attached, or if the root is only partly changed. Then no job may be started from this thread.
pub(super) fn make(spec: &Spec, held: &mut InForce) -> Result<(), String> {
    let (wants_read_only, wants_root) = (
        spec.has(Mechanism::ReadOnlyMounts),
        spec.has(Mechanism::OwnRoot),
    );
    if !wants_read_only && !wants_root {
        return Ok(());
    }
    if let Err(error) = own_namespace() {
        let none = Held::No(format!(
            "the host is not permitted to create separate mounts: {error}"
        ));
        if wants_read_only {
            held.read_only = none.clone();
        }
        if wants_root {
            held.own_root = none;
        }
        return Ok(());
    }
    // Copy these mounts before they become read-only. They are attached again on top of the read-only mounts.
    let writes = writable(&spec.writes).map_err(|error| half(&error))?;
    if wants_read_only {
        held.read_only = match read_only() {
            Ok(()) => Held::Yes(String::from("separate mounts")),
            Err(error) => Held::No(format!(
                "the host is not permitted to change mounts: {error}"
            )),
        };
    }
    if wants_root {
        match root::make(spec, &writes) {
            Ok(()) => {
                held.own_root = Held::Yes(String::from("a separate root"));
                return Ok(());
            }
            Err(root::Failed::Before(error)) => {
                held.own_root = Held::No(format!(
                    "the host is not permitted to change its root: {error}"
                ));
            }
            Err(root::Failed::Half(error)) => return Err(half(&error)),
        }
    }
    // Attach the copies even if some mounts could not be made read-only.
    if wants_read_only {
        for (path, tree) in &writes {
            attach(tree, path).map_err(|error| half(&error))?;
        }
    }
    Ok(())
}

fn half(error: &dyn std::fmt::Display) -> String {
    format!("the mounts of the job: {error}")
}

/// Moves this thread into a new mount namespace, whose changes do not propagate to the supervisor's namespace.
fn own_namespace() -> rustix::io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
}

/// Copies the mounts at and below these paths, and returns each copy with its real path.
fn writable(paths: &[OsString]) -> io::Result<Vec<(PathBuf, OwnedFd)>> {
    paths
        .iter()
        // A path that does not exist cannot be granted; Landlock reports it by name later.
        .filter_map(|path| fs::canonicalize(path).ok())
        .map(|path| Ok((path.clone(), copy(&path)?)))
        .collect()
}

/// Copies the mounts at and below this path; the copy is not attached to a namespace yet.
pub(super) fn copy(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
}

/// Mounts a copy at this path.
pub(super) fn attach(tree: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(tree, c"", CWD, path, flags)
}

/// Makes every mount of this thread's namespace read-only.
fn read_only() -> io::Result<()> {
    let table = fs::read("/proc/thread-self/mountinfo")?;
    for mount in table.split(|byte| *byte == b'\n') {
        let Some((point, flags)) = parse(mount) else {
            continue;
        };
        let flags = flags | MountFlags::BIND | MountFlags::RDONLY;
        match mount_remount(&point, flags, c"") {
            // A later mount covers this mount, so it is not reachable.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Parses the mount point and flags from a line `id parent device root point options… - type source options`.
fn parse(mount: &[u8]) -> Option<(PathBuf, MountFlags)> {
    let mut fields = mount.split(|byte| *byte == b' ').skip(4);
    let (point, options) = (fields.next()?, fields.next()?);
    let mut flags = MountFlags::empty();
    for option in options.split(|byte| *byte == b',') {
        flags |= match option {
            b"nosuid" => MountFlags::NOSUID,
            b"nodev" => MountFlags::NODEV,
            b"noexec" => MountFlags::NOEXEC,
            b"noatime" => MountFlags::NOATIME,
            b"nodiratime" => MountFlags::NODIRATIME,
            b"relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    Some((unescape(point), flags))
}

/// Decodes a path of the table, in which space, tab, newline and backslash are three octal digits.
fn unescape(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().and_then(|three| {
            let three = std::str::from_utf8(three).ok()?;
            u8::from_str_radix(three, 8).ok()
        });
        match digits {
            Some(escaped) if *byte == b'\\' => {
                bytes.push(escaped);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::parse;
    use rustix::mount::MountFlags;
    use std::path::Path;

    #[test]
    fn mount_table_line_yields_path_and_options() {
        let (point, flags) =
            parse(br"36 35 98:0 /a /mnt/a\040b rw,nosuid,noatime master:1 - ext3 /dev/root rw")
                .unwrap();
        assert_eq!(point, Path::new("/mnt/a b"));
        assert_eq!(flags, MountFlags::NOSUID | MountFlags::NOATIME);
        assert!(parse(b"").is_none());
    }
}
