//! A separate root for a job: an empty file system with the granted files and folders, at their original paths.
//!
//! Before ABI version 9 of Landlock, only the mode of a socket with a path decides which processes may connect to it. A process cannot connect
//! to a socket that has no path in its root.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, mount_remount, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use super::mounts::{attach, copy};
use super::restrict::{DEVICES, SYSTEM};
use crate::wire::Spec;

/// The path at which the new root is mounted before it becomes the root. The mount hides nothing that is still needed, because the copies are made
/// earlier.
const PLACE: &str = "/proc";

/// Links below `/dev` to a process's open files.
const OPEN: [&str; 4] = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Maximum number of links in one path, as in the kernel.
const LINKS: usize = 40;

/// The reason why the separate root could not be created.
pub(super) enum Failed {
    /// The change failed before it had an effect, or it was undone.
    Before(io::Error),
    /// The root was changed, but it is incomplete.
    Half(io::Error),
}

/// Creates the new root and makes it the root of the calling thread, which has its own mount namespace. `writes` are copies of the mounts that
/// the job may write, with their real paths.
pub(super) fn make(spec: &Spec, writes: &[(PathBuf, OwnedFd)]) -> Result<(), Failed> {
    let plan = Plan::read(spec, writes).map_err(Failed::Before)?;
    let root = empty().map_err(|error| Failed::Before(error.into()))?;
    attach(&root, Path::new(PLACE)).map_err(|error| Failed::Before(error.into()))?;
    let built = plan
        .build(&root, writes)
        .and_then(|()| Ok(pivot_root(".", ".")?));
    if let Err(error) = built {
        chdir("/")
            .and_then(|()| unmount(PLACE, UnmountFlags::DETACH))
            .map_err(|error| Failed::Half(error.into()))?;
        return Err(Failed::Before(error));
    }
    enter(writes).map_err(|error| Failed::Half(error.into()))
}

/// Detaches the old root, which covers the new one, and mounts the writable copies in the new one.
fn enter(writes: &[(PathBuf, OwnedFd)]) -> rustix::io::Result<()> {
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    writes
        .iter()
        .try_for_each(|(path, tree)| attach(tree, path))
}

/// Creates an empty file system that is not mounted yet.
fn empty() -> rustix::io::Result<OwnedFd> {
    let system = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, c"mode", c"0755")?;
    fsconfig_create(&system)?;
    fsmount(
        &system,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
    )
}

/// The content of the new root. All paths except the targets of links are real: no folder in them is a link.
#[derive(Default)]
struct Plan {
    /// Copies of readable mounts. No copy is below another copy, or below a writable path.
    trees: Vec<(PathBuf, OwnedFd)>,
    /// The working directory of the job.
    cwd: Option<PathBuf>,
    /// The links that paths go through, with their targets.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Plan {
    fn read(spec: &Spec, writes: &[(PathBuf, OwnedFd)]) -> io::Result<Self> {
        let mut this = Self::default();
        for path in OPEN {
            // Only the links are needed, not their targets.
            let _ = this.resolve(Path::new(path));
        }
        let mut reads: Vec<_> = ["/proc"]
            .iter()
            .chain(&SYSTEM)
            .chain(&DEVICES)
            .map(Path::new)
            .chain(spec.reads.iter().map(Path::new))
            // A path that does not exist cannot be granted; Landlock reports it by name later.
            .filter_map(|path| this.resolve(path))
            .collect();
        reads.sort_by_key(|path| path.components().count());
        let granted = reads.iter().chain(writes.iter().map(|(path, _)| path));
        if granted.into_iter().any(|path| path == Path::new("/")) {
            return Err(io::Error::other("`/` is granted, with everything in it"));
        }
        for path in reads {
            let mut is_there = this.trees.iter().chain(writes);
            if is_there.any(|(tree, _)| path.starts_with(tree)) {
                continue;
            }
            match copy(&path) {
                Ok(tree) => this.trees.push((path, tree)),
                // The job could not read this path either.
                Err(rustix::io::Errno::ACCESS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for path in &spec.writes {
            // The real paths are already known; only the links to them are needed.
            let _ = this.resolve(Path::new(path));
        }
        this.cwd = this.resolve(Path::new(&spec.cwd));
        Ok(this)
    }

    /// Returns the real path of an absolute path, if the file exists, and records the links on the way.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut followed = 0;
        let mut left: VecDeque<OsString> = parts(path).collect();
        while let Some(part) = left.pop_front() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(part);
            if !fs::symlink_metadata(&next).ok()?.is_symlink() {
                real = next;
                continue;
            }
            followed += 1;
            if followed > LINKS {
                return None;
            }
            let target = fs::read_link(&next).ok()?;
            for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                left.push_front(part);
            }
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            self.links.insert(next, target);
        }
        Some(real)
    }

    /// Creates mount points and links in the new root, and makes it the current directory.
    fn build(&self, root: &OwnedFd, writes: &[(PathBuf, OwnedFd)]) -> io::Result<()> {
        fchdir(root)?;
        let is_in_tree = |path: &Path| self.trees.iter().any(|(tree, _)| path.starts_with(tree));
        for (path, tree) in &self.trees {
            let inside = inside(path);
            point(inside, path.is_dir())?;
            attach(tree, inside)?;
        }
        for (path, _) in writes {
            if !is_in_tree(path) {
                point(inside(path), path.is_dir())?;
            }
        }
        if let Some(cwd) = self
            .cwd
            .as_ref()
            .filter(|cwd| !is_in_tree(cwd) && cwd.is_dir())
        {
            fs::create_dir_all(inside(cwd))?;
        }
        // A mounted folder already contains its own links.
        let is_mounted =
            |path: &Path| is_in_tree(path) || writes.iter().any(|(tree, _)| path.starts_with(tree));
        for (path, target) in &self.links {
            if !is_mounted(path) {
                let inside = inside(path);
                fs::create_dir_all(inside.parent().unwrap_or(inside))?;
                symlink(target, inside)?;
            }
        }
        let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        Ok(mount_remount(".", flags, c"")?)
    }
}

/// Returns the names of a path without the root; `..` counts as a name.
fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Returns the path relative to the root.
fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Creates a mount point.
fn point(path: &Path, is_folder: bool) -> io::Result<()> {
    if is_folder {
        return fs::create_dir_all(path);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path).map(drop)
}
