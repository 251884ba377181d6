//! What is mounted, read-only for a job: what Landlock lets pass (mode, owner, times and attributes of files) is then refused by the
//! file system, outside of what the job may write.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, mount_remount, move_mount, open_tree,
};

use crate::isolate::wire::Held;

/// File systems that the supervisor writes itself, or that hold nothing that stays.
const KEPT: [&str; 6] = ["cgroup", "cgroup2", "proc", "sysfs", "devtmpfs", "devpts"];

/// Makes every mount of this process's namespace read-only, but for what lies below these paths.
pub(super) fn read_only(writes: &[OsString]) -> Held {
    match make(writes) {
        Ok(()) => Held::Yes(String::from("mounts of its own")),
        Err(error) => Held::No(format!("this host may not change mounts: {error}")),
    }
}

fn make(writes: &[OsString]) -> io::Result<()> {
    let table = fs::read("/proc/self/mountinfo")?;
    // Copies of what may be written, as it was.
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let mut open = Vec::with_capacity(writes.len());
    for path in writes {
        // Not there is not to be granted, which is told where that is done.
        let Ok(path) = fs::canonicalize(path) else {
            continue;
        };
        open.push((open_tree(CWD, &path, flags)?, path));
    }
    for mount in table.split(|byte| *byte == b'\n') {
        let Some((point, flags)) = parse(mount) else {
            continue;
        };
        let flags = flags | MountFlags::BIND | MountFlags::RDONLY;
        match mount_remount(&point, flags, c"") {
            // Under another mount, where nobody gets.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for (tree, path) in open {
        move_mount(
            tree,
            c"",
            CWD,
            &path,
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
        )?;
    }
    Ok(())
}

/// Where it is mounted and how; none where it is left as it is. `id parent device root point options… - type source options`.
fn parse(mount: &[u8]) -> Option<(PathBuf, MountFlags)> {
    let dash = mount.windows(3).position(|three| three == b" - ")?;
    let mut front = mount[..dash].split(|byte| *byte == b' ').skip(4);
    let (point, options) = (front.next()?, front.next()?);
    let kind = mount[dash + 3..].split(|byte| *byte == b' ').next()?;
    if KEPT.iter().any(|kept| kept.as_bytes() == kind) {
        return None;
    }
    let point = unescape(point);
    // The folder of cgroups, in which new ones are made.
    if point.starts_with("/sys") {
        return None;
    }
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
    Some((point, flags))
}

/// The table writes space, tab, newline and backslash as three octal digits.
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
    fn a_line_of_the_table_is_a_path_and_its_options() {
        let (point, flags) =
            parse(br"36 35 98:0 /a /mnt/a\040b rw,nosuid,noatime master:1 - ext3 /dev/root rw")
                .unwrap();
        assert_eq!(point, Path::new("/mnt/a b"));
        assert_eq!(flags, MountFlags::NOSUID | MountFlags::NOATIME);
        assert!(parse(b"37 35 0:5 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids").is_none());
        assert!(parse(b"").is_none());
    }
}
