//! Opening folders for removal, even without permission to list or empty them.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;

/// Opens a subfolder and lets its owner list, enter and empty it: a program may have removed these permissions, as Go does in its cache. No link is
/// followed, and a mount is not entered.
pub(super) fn open(parent: &Dir, name: &OsStr) -> io::Result<Dir> {
    let folder = handle(parent, name)?;
    let mode = Mode::from_raw_mode(fstat(&folder)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // Ignore an error: the mode does not matter to root, for example. If it matters, emptying the folder fails.
        let _ = set_mode(&folder, mode | Mode::RWXU);
    }
    Ok(Dir::from_std_file(File::from(folder)))
}

/// Opens the folder regardless of its mode.
#[cfg(target_os = "linux")]
fn handle(parent: &Dir, name: &OsStr) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat, openat2};

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match openat2(parent, name, flags, Mode::empty(), within) {
        Err(Errno::XDEV) => Err(mounted()),
        // The kernel may lack this system call, or a sandbox may forbid it.
        Err(Errno::NOSYS | Errno::PERM) => {
            on_the_same_device(parent, openat(parent, name, flags, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// Sets the mode of a folder through its link in `/proc`, because an `O_PATH` handle does not support `fchmod`.
#[cfg(target_os = "linux")]
fn set_mode(folder: &OwnedFd, mode: Mode) -> rustix::io::Result<()> {
    use std::os::fd::AsRawFd as _;

    rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode)
}

#[cfg(not(target_os = "linux"))]
fn handle(parent: &Dir, name: &OsStr) -> io::Result<OwnedFd> {
    use rustix::fs::{AtFlags, chmodat, openat};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat(parent, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?;
            openat(parent, name, flags, Mode::empty())
        }
        opened => opened,
    };
    on_the_same_device(parent, opened?)
}

#[cfg(not(target_os = "linux"))]
fn set_mode(folder: &OwnedFd, mode: Mode) -> rustix::io::Result<()> {
    rustix::fs::fchmod(folder, mode)
}

fn on_the_same_device(parent: &Dir, folder: OwnedFd) -> io::Result<OwnedFd> {
    if fstat(&folder)?.st_dev == fstat(parent)?.st_dev {
        Ok(folder)
    } else {
        Err(mounted())
    }
}

fn mounted() -> io::Error {
    let why = "something is mounted in the tree, unmount it first";
    io::Error::new(io::ErrorKind::CrossesDevices, why)
}
