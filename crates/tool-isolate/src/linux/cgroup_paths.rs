//! Locations in which the cgroups of jobs can be created.
//!
//! In version 2, a cgroup can enable controllers for its children only while it contains no process itself. A host therefore cannot enable the
//! controllers for cgroups below its own. systemd marks a cgroup that it delegates to a service with the attribute `user.delegate`; a host in a
//! leaf of a delegated cgroup creates the cgroups of its jobs next to its own. All other parents belong to a different manager, even if they are
//! writable (systemd's single-writer rule, <https://systemd.io/CGROUP_DELEGATION/>).

use std::fs;
use std::path::{Path, PathBuf};

/// The controllers that set limits.
const CONTROLLERS: [&str; 2] = ["pids", "memory"];

/// The directories of the cgroups that this process is in.
#[derive(Debug, Default)]
pub(super) struct CgroupPaths {
    pub(super) unified: Option<PathBuf>,
    v1: Vec<(String, PathBuf)>,
}

impl CgroupPaths {
    pub(super) fn read() -> Self {
        Self::parse(
            &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
            &fs::read_to_string("/proc/self/mountinfo").unwrap_or_default(),
        )
    }

    /// Parses the lines `number:controllers:path` and the mount table.
    fn parse(cgroups: &str, mounts: &str) -> Self {
        let mut this = Self::default();
        for line in cgroups.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
                continue;
            };
            let Some(place) = mounts
                .lines()
                .find_map(|mount| below(mount, controllers, path))
            else {
                continue;
            };
            if controllers.is_empty() {
                this.unified = Some(place);
            } else {
                for controller in controllers.split(',') {
                    this.v1.push((controller.to_owned(), place.clone()));
                }
            }
        }
        this
    }

    pub(super) fn v1(&self, controller: &str) -> Option<&Path> {
        let found = self.v1.iter().find(|(known, _)| known == controller);
        found.map(|(_, place)| place.as_path())
    }
}

/// Returns the directory of a cgroup below a mount, from a line `id parent device root point options… - type source options`.
fn below(mount: &str, controllers: &str, path: &str) -> Option<PathBuf> {
    let (front, back) = mount.split_once(" - ")?;
    let mut front = front.split(' ').skip(3);
    let (root, point) = (front.next()?, front.next()?);
    let mut back = back.split(' ');
    let (kind, options) = (back.next()?, back.nth(1)?);
    let is_it = if controllers.is_empty() {
        kind == "cgroup2"
    } else {
        kind == "cgroup"
            && controllers
                .split(',')
                .all(|wanted| options.split(',').any(|option| option == wanted))
    };
    if !is_it {
        return None;
    }
    let inside = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(point).join(inside))
}

/// Returns the version 2 cgroup in which the cgroups of jobs are created, for a host that is in `own`.
pub(super) fn home(own: &Path) -> PathBuf {
    if CONTROLLERS.iter().any(|controller| has(own, controller)) {
        return own.to_owned();
    }
    match own.parent() {
        Some(parent) if is_delegated(parent) => parent.to_owned(),
        _ => own.to_owned(),
    }
}

/// Enables the controllers for the children of a cgroup, if that is permitted.
pub(super) fn enable(home: &Path) {
    for controller in CONTROLLERS {
        if !has(home, controller) {
            // If this fails, the error is reported when the limit is set.
            let _ = fs::write(control(home), format!("+{controller}"));
        }
    }
}

fn is_delegated(cgroup: &Path) -> bool {
    let mut value = [0; 1];
    let read = rustix::fs::getxattr(cgroup, "user.delegate", &mut value);
    control(cgroup).exists() && read == Ok(1) && value == *b"1"
}

fn has(cgroup: &Path, controller: &str) -> bool {
    fs::read_to_string(control(cgroup))
        .is_ok_and(|on| on.split_ascii_whitespace().any(|on| on == controller))
}

fn control(cgroup: &Path) -> PathBuf {
    cgroup.join("cgroup.subtree_control")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{CgroupPaths, enable, home};
    use rustix::fs::{XattrFlags, setxattr};
    use std::fs;
    use std::path::Path;

    const HYBRID: &str = "\
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/pids rw,nosuid shared:9 - cgroup cgroup rw,pids
33 30 0:29 /box /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory";

    #[test]
    fn cgroup_paths_are_found_in_both_versions_and_below_a_mount_root() {
        let paths = CgroupPaths::parse(
            "8:pids:/\n4:memory:/box/a\n1:cpu:/x\n0::/user.slice/b",
            HYBRID,
        );
        let unified = paths.unified.as_deref().unwrap();
        assert_eq!(unified, Path::new("/sys/fs/cgroup/unified/user.slice/b"));
        assert_eq!(paths.v1("pids").unwrap(), Path::new("/sys/fs/cgroup/pids"));
        assert_eq!(
            paths.v1("memory").unwrap(),
            Path::new("/sys/fs/cgroup/memory/a")
        );
        assert_eq!(paths.v1("cpu"), None);
        // This cgroup is outside of the mount.
        assert_eq!(
            CgroupPaths::parse("4:memory:/other", HYBRID).v1("memory"),
            None
        );
    }

    // S1-96: in a delegated cgroup, the cgroups of jobs are created next to the host's leaf
    #[test]
    fn cgroups_of_jobs_are_siblings_of_a_delegated_leaf() {
        let service = tempfile::tempdir().unwrap();
        let leaf = service.path().join("host");
        fs::create_dir(&leaf).unwrap();
        let controls = |path: &Path| path.join("cgroup.subtree_control");
        fs::write(controls(&leaf), "\n").unwrap();
        fs::write(controls(service.path()), "").unwrap();
        // A parent that is not delegated is not used, even if it is writable.
        assert_eq!(home(&leaf), leaf);
        if setxattr(service.path(), "user.delegate", b"1", XattrFlags::empty()).is_err() {
            println!(
                "skipped: this file system does not support extended attributes in the namespace `user`"
            );
            return;
        }
        assert_eq!(home(&leaf), service.path());
        // Each missing controller is enabled by its own write, because the kernel rejects a write with several controllers as a whole if one of them
        // fails.
        enable(service.path());
        let last = fs::read_to_string(controls(service.path())).unwrap();
        assert_eq!(last, "+memory");
        fs::write(controls(service.path()), "cpu memory pids\n").unwrap();
        enable(service.path());
        let kept = fs::read_to_string(controls(service.path())).unwrap();
        assert_eq!(kept, "cpu memory pids\n");
        // A host whose own cgroup has the controllers enabled creates the cgroups of its jobs below it.
        fs::write(controls(&leaf), "memory pids\n").unwrap();
        assert_eq!(home(&leaf), leaf);
    }
}
