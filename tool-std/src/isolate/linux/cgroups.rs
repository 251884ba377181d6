//! Cgroups of one job: `cgroup.kill` of version 2, and limits of the tree in either version.
//!
//! The supervisor makes them below the ones it is in, stays outside, and removes them when they are empty. In version 1 a thread can
//! join alone, and what it starts is in there; in version 2 the whole process joins, starts the job and leaves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::isolate::isolation::Mechanism;
use crate::isolate::wire::{Held, InForce, Spec};

/// How often a cgroup is tried to be removed, whose processes have been killed and are not gone yet.
pub(super) const TRIES: u32 = 500;
/// And how long one waits between.
pub(super) const TRY: Duration = Duration::from_millis(2);

/// The cgroups of a job.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    /// Version 2, and the one to go back to.
    unified: Option<(PathBuf, PathBuf)>,
    /// Version 1: one for each controller.
    single: Vec<PathBuf>,
}

impl Cgroups {
    /// Makes what the host may make here. Limits that are not asked for have no cgroup.
    pub(super) fn make(spec: &Spec, held: &mut InForce) -> Self {
        let mut this = Self::default();
        let places = Places::read();
        let name = &spec.cgroups;
        if spec.has(Mechanism::CgroupKill) {
            held.cgroup_kill = match this.make_unified(name, places.unified.as_deref()) {
                Ok(()) => Held::Yes(String::from("`cgroup.kill`")),
                Err(error) => Held::No(format!("no cgroup of version 2 can be made: {error}")),
            };
        }
        let mut limit = |limit: u64, controller: &str, v2: &str, v1: &str| {
            if let Some((unified, _)) = &this.unified
                && fs::write(unified.join(v2), limit.to_string()).is_ok()
            {
                return Held::Yes(format!("`{v2}`"));
            }
            let single = places
                .single(controller)
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
                .and_then(|place| make_single(&place.join(name), v1, limit));
            match single {
                Ok(path) => {
                    this.single.push(path);
                    Held::Yes(format!("`{v1}`"))
                }
                Err(error) => Held::No(format!("no cgroup of `{controller}` can be made: {error}")),
            }
        };
        if spec.has(Mechanism::PidsCgroup)
            && let Some(processes) = spec.limits.processes
        {
            held.pids_cgroup = limit(processes, "pids", "pids.max", "pids.max");
        }
        if spec.has(Mechanism::MemoryCgroup)
            && let Some(bytes) = spec.limits.memory
        {
            held.memory_cgroup = limit(bytes, "memory", "memory.max", "memory.limit_in_bytes");
        }
        if let Some((unified, _)) = &this.unified {
            // Where swap is counted, none of it; what the limit hits goes as a whole.
            let _ = fs::write(unified.join("memory.swap.max"), "0");
            let _ = fs::write(unified.join("memory.oom.group"), "1");
        }
        this
    }

    fn make_unified(&mut self, name: &str, place: Option<&Path>) -> io::Result<()> {
        let place = place.ok_or(io::ErrorKind::NotFound)?;
        let path = place.join(name);
        fs::create_dir(&path)?;
        if !path.join("cgroup.kill").exists() {
            fs::remove_dir(&path)?;
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel has no `cgroup.kill`",
            ));
        }
        self.unified = Some((path, place.to_owned()));
        Ok(())
    }

    /// The whole process joins: before the job starts.
    pub(super) fn join(&self) -> io::Result<()> {
        self.unified.as_ref().map_or(Ok(()), |(path, _)| {
            fs::write(path.join("cgroup.procs"), "0")
        })
    }

    /// This thread joins: what it starts is held, the rest of the process is not.
    pub(super) fn join_thread(&self) -> io::Result<()> {
        self.single
            .iter()
            .try_for_each(|path| fs::write(path.join("tasks"), "0"))
    }

    /// The process leaves: after the job has started.
    pub(super) fn leave(&self) -> io::Result<()> {
        self.unified.as_ref().map_or(Ok(()), |(_, place)| {
            fs::write(place.join("cgroup.procs"), "0")
        })
    }

    /// Kills everything in them, at once where the kernel can.
    pub(super) fn kill(&self) {
        if let Some((path, _)) = &self.unified {
            let _ = fs::write(path.join("cgroup.kill"), "1");
        }
    }

    /// Whether the kernel killed something for memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let unified = self
            .unified
            .iter()
            .map(|(path, _)| path.join("memory.events"));
        let single = self
            .single
            .iter()
            .map(|path| path.join("memory.oom_control"));
        unified
            .chain(single)
            .filter_map(|file| fs::read_to_string(file).ok())
            .flat_map(|text| text.lines().map(String::from).collect::<Vec<_>>())
            .filter_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
            .any(|kills: u64| kills > 0)
    }

    /// Removes them and says whether none is left: one that is not empty stays.
    pub(super) fn remove(&self) -> bool {
        let unified = self.unified.iter().map(|(path, _)| path);
        let left = unified
            .chain(&self.single)
            .filter(|path| fs::remove_dir(path).is_err() && path.exists());
        left.count() == 0
    }

    /// Removes them as soon as what was killed in them is gone.
    pub(super) fn clear(&self) {
        for _ in 0..TRIES {
            if self.remove() {
                return;
            }
            std::thread::sleep(TRY);
        }
    }

    /// Those of a job whose supervisor is gone.
    pub(super) fn left_behind(name: impl AsRef<Path>) -> Self {
        let name = name.as_ref();
        let places = Places::read();
        Self {
            unified: places
                .unified
                .as_ref()
                .map(|place| (place.join(name), place.clone())),
            single: ["pids", "memory"]
                .into_iter()
                .filter_map(|controller| Some(places.single(controller)?.join(name)))
                .collect(),
        }
    }
}

fn make_single(path: &Path, file: &str, limit: u64) -> io::Result<PathBuf> {
    fs::create_dir(path)?;
    if let Err(error) = fs::write(path.join(file), limit.to_string()) {
        let _ = fs::remove_dir(path);
        return Err(error);
    }
    // Memory and swap together, where swap is counted.
    let _ = fs::write(path.join("memory.memsw.limit_in_bytes"), limit.to_string());
    Ok(path.to_owned())
}

/// The cgroups that this process is in, as directories.
#[derive(Debug, Default)]
struct Places {
    unified: Option<PathBuf>,
    single: Vec<(String, PathBuf)>,
}

impl Places {
    fn read() -> Self {
        Self::parse(
            &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
            &fs::read_to_string("/proc/self/mountinfo").unwrap_or_default(),
        )
    }

    /// From `number:controllers:path` and the table of mounts.
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
                    this.single.push((controller.to_owned(), place.clone()));
                }
            }
        }
        this
    }

    fn single(&self, controller: &str) -> Option<&Path> {
        let found = self.single.iter().find(|(known, _)| known == controller);
        found.map(|(_, place)| place.as_path())
    }
}

/// Where a mount shows a cgroup: `id parent device root point options… - type source options`.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::Places;
    use std::path::Path;

    const HYBRID: &str = "\
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/pids rw,nosuid shared:9 - cgroup cgroup rw,pids
33 30 0:29 /box /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory";

    #[test]
    fn places_are_found_in_both_versions_and_below_a_root() {
        let places = Places::parse(
            "8:pids:/\n4:memory:/box/a\n1:cpu:/x\n0::/user.slice/b",
            HYBRID,
        );
        let unified = places.unified.as_deref().unwrap();
        assert_eq!(unified, Path::new("/sys/fs/cgroup/unified/user.slice/b"));
        assert_eq!(
            places.single("pids").unwrap(),
            Path::new("/sys/fs/cgroup/pids")
        );
        assert_eq!(
            places.single("memory").unwrap(),
            Path::new("/sys/fs/cgroup/memory/a")
        );
        assert_eq!(places.single("cpu"), None);
        // Outside of what is mounted.
        assert_eq!(
            Places::parse("4:memory:/other", HYBRID).single("memory"),
            None
        );
    }
}
