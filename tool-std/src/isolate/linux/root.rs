//! A root of its own for a job: an empty file system with the files and folders that it was granted, at their own paths.
//!
//! The right to connect to a socket is that of its mode, whatever Landlock grants before interface 9. A socket that cannot be named cannot be
//! connected to.

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
use crate::isolate::wire::Spec;

/// Where the new root is mounted until it is the root. It covers nothing that is still needed, because the copies are made before.
const PLACE: &str = "/proc";

/// Names below `/dev` of what a process has open.
const OPEN: [&str; 4] = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// As many links in one path as the kernel follows.
const LINKS: usize = 40;

/// Why there is no such root.
pub(super) enum Failed {
    /// All is as it was.
    Before(io::Error),
    /// It is the root, and not whole.
    Half(io::Error),
}

/// Makes it the root of the calling thread, which is alone in its namespace of mounts. `writes` are copies of what the job may write, with their
/// real paths.
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

/// Leaves the old root, which lies over the new one, and puts what the job may write into the new one.
fn enter(writes: &[(PathBuf, OwnedFd)]) -> rustix::io::Result<()> {
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    writes
        .iter()
        .try_for_each(|(path, tree)| attach(tree, path))
}

/// A file system with nothing in it, mounted nowhere yet.
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

/// What the new root holds. Paths are real ones: no part of them is a link.
#[derive(Default)]
struct Plan {
    /// Copies of what may be read; none lies below another one, nor below what may be written.
    trees: Vec<(PathBuf, OwnedFd)>,
    /// The folder that the job starts in.
    cwd: Option<PathBuf>,
    /// The links on the way, with their targets.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Plan {
    fn read(spec: &Spec, writes: &[(PathBuf, OwnedFd)]) -> io::Result<Self> {
        let mut this = Self::default();
        for path in OPEN {
            // The links are what is wanted, not what is open here.
            let _ = this.resolve(Path::new(path));
        }
        let mut reads: Vec<_> = ["/proc"]
            .iter()
            .chain(&SYSTEM)
            .chain(&DEVICES)
            .map(Path::new)
            .chain(spec.reads.iter().map(Path::new))
            // What is not there cannot be granted, which Landlock says with the path's name.
            .filter_map(|path| this.resolve(path))
            .collect();
        reads.sort_by_key(|path| path.components().count());
        let granted = reads.iter().chain(writes.iter().map(|(path, _)| path));
        if granted.into_iter().any(|path| path == Path::new("/")) {
            return Err(io::Error::other("`/` is granted, with all that is in it"));
        }
        for path in reads {
            let mut is_there = this.trees.iter().chain(writes);
            if is_there.any(|(tree, _)| path.starts_with(tree)) {
                continue;
            }
            match copy(&path) {
                Ok(tree) => this.trees.push((path, tree)),
                // Nor could the job read it.
                Err(rustix::io::Errno::ACCESS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for path in &spec.writes {
            // The real paths are known; the links to them are wanted.
            let _ = this.resolve(Path::new(path));
        }
        this.cwd = this.resolve(Path::new(&spec.cwd));
        Ok(this)
    }

    /// The real path of an absolute one, if there is such a file. The links on the way are noted.
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

    /// Fills the new root, with places for what is written, and makes it the current folder.
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
        // A mounted folder contains its own links.
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

/// The names of a path without its root; `..` is one of them.
fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// The path from the root on.
fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Something to mount over.
fn point(path: &Path, is_folder: bool) -> io::Result<()> {
    if is_folder {
        return fs::create_dir_all(path);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path).map(drop)
}
