//! Metadata of an open file or folder, or of an entry of an open folder.

use std::io;

use cap_std::fs::Dir;
use rustix::fd::AsFd;
use rustix::fs::AtFlags;

use super::Trust;

/// Kind, size, mode, location and link count of a file, and fields that show whether it has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) place: Place,
    links: u64,
    inode: u64,
    changed: (i64, i64),
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

/// The location of a file: its mount, if the kernel reports it, or else its device. A bind mount has the same device as its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    #[cfg(target_os = "linux")]
    Mount(u64),
    Device(u64),
}

/// The reason why an existing file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    HardLinks,
    OtherDevice,
}

impl Facts {
    /// Reads the facts of an open file or folder.
    pub(crate) fn of(open: impl AsFd) -> io::Result<Self> {
        facts(open, "", AtFlags::EMPTY_PATH)
    }

    /// Reads the facts of an entry of a folder. A link is reported as a link and not followed.
    pub(crate) fn at(dir: &Dir, name: &str) -> io::Result<Self> {
        facts(dir, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Checks whether the file may be read or replaced, or the folder entered; `home` is the location of the conversation's folder.
    pub(crate) fn admit(&self, home: Place, trust: Trust) -> Result<(), Refused> {
        if self.place != home && !trust.other_devices {
            return Err(Refused::OtherDevice);
        }
        // The links of a folder are not counted: each of its subfolders adds one.
        if self.kind != Kind::Folder && self.links > 1 && !trust.hard_links {
            return Err(Refused::HardLinks);
        }
        Ok(())
    }
}

impl Kind {
    fn of(mode: rustix::fs::RawMode) -> Self {
        match rustix::fs::FileType::from_raw_mode(mode) {
            rustix::fs::FileType::RegularFile => Self::File,
            rustix::fs::FileType::Directory => Self::Folder,
            rustix::fs::FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

#[cfg(target_os = "linux")]
fn facts(at: impl AsFd, name: &str, flags: AtFlags) -> io::Result<Facts> {
    use rustix::fs::{StatxFlags, statx};

    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let stat = match statx(&at, name, flags, wanted) {
        // The kernel may lack this system call, or a sandbox may forbid it.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => return plain(at, name, flags),
        stat => stat?,
    };
    let device = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
    let tells_mount = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::MNT_ID);
    Ok(Facts {
        kind: Kind::of(stat.stx_mode.into()),
        size: stat.stx_size,
        mode: u32::from(stat.stx_mode) & 0o777,
        place: if tells_mount {
            Place::Mount(stat.stx_mnt_id)
        } else {
            Place::Device(device)
        },
        links: stat.stx_nlink.into(),
        inode: stat.stx_ino,
        changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec.into()),
    })
}

#[cfg(not(target_os = "linux"))]
fn facts(at: impl AsFd, name: &str, flags: AtFlags) -> io::Result<Facts> {
    plain(at, name, flags)
}

#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the widths of these numbers differ between systems; none is negative"
)]
fn plain(at: impl AsFd, name: &str, flags: AtFlags) -> io::Result<Facts> {
    let stat = if name.is_empty() {
        rustix::fs::fstat(at)?
    } else {
        rustix::fs::statat(at, name, flags)?
    };
    Ok(Facts {
        kind: Kind::of(stat.st_mode),
        size: stat.st_size as u64,
        mode: u32::from(stat.st_mode) & 0o777,
        place: Place::Device(stat.st_dev as u64),
        links: stat.st_nlink as u64,
        inode: stat.st_ino as u64,
        changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    })
}
