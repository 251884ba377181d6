//! The cgroups of one job: `cgroup.kill` of version 2, and limits of the process tree in either version.
//!
//! The supervisor creates the job's cgroups below or next to its own, and removes them when they are empty. In version 1 a single thread of the
//! supervisor joins, and the processes that it starts are members. In version 2 the whole supervisor joins, starts the job and leaves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::cgroup_paths::{CgroupPaths, enable, home};
use crate::mechanism::Mechanism;
use crate::wire::{Held, InForce, Spec};

/// Pauses between attempts to remove a cgroup whose processes were killed but still exist: the first and the longest pause, and the maximum total
/// time.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
const CLEAR: Duration = Duration::from_secs(20);

/// Number of the supervisor's threads while it starts a job: the main thread, two threads that wait, and the thread that starts the job.
const THREADS: u64 = 4;

/// The cgroups of a job.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    /// Version 2: the job's cgroup, and the supervisor's own cgroup, to which the supervisor returns.
    unified: Option<(PathBuf, PathBuf)>,
    /// The job's limit of processes in version 2, which is set after the supervisor has left the cgroup.
    processes: Option<u64>,
    /// Version 1: one cgroup for each controller.
    single: Vec<PathBuf>,
}

impl Cgroups {
    /// Creates the cgroups that the host may create, but none for a limit that the job does not set. Records in `held` which mechanisms are in force.
    pub(super) fn make(spec: &Spec, held: &mut InForce) -> Self {
        let mut this = Self::default();
        let paths = CgroupPaths::read();
        let name = &spec.cgroups;
        if spec.has(Mechanism::CgroupKill) {
            held.cgroup_kill = match this.make_unified(name, &paths) {
                Ok(()) => Held::Yes(String::from("`cgroup.kill`")),
                Err(error) => Held::No(format!("no cgroup of version 2 can be created: {error}")),
            };
        }
        let mut limit = |limit: u64, controller: &str, v2: &str, v1: &str| {
            if let Some((unified, _)) = &this.unified
                && fs::write(unified.join(v2), limit.to_string()).is_ok()
            {
                return Held::Yes(format!("`{v2}`"));
            }
            let single = paths
                .v1(controller)
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
                .and_then(|place| make_single(&place.join(name), v1, limit));
            match single {
                Ok(path) => {
                    this.single.push(path);
                    Held::Yes(format!("`{v1}`"))
                }
                Err(error) if paths.unified.is_none() => Held::No(format!(
                    "no cgroup of `{controller}` can be created: {error}"
                )),
                Err(_) => Held::No(format!(
                    "cgroups that are created here have no `{controller}`: the host has to be alone in a leaf of a cgroup that is delegated to it, \
                     for systemd by `Delegate=yes` and `DelegateSubgroup=host`"
                )),
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
            // The job gets no swap, if the kernel can limit swap. If the memory limit is exceeded, the kernel kills the whole cgroup.
            let _ = fs::write(unified.join("memory.swap.max"), "0");
            let _ = fs::write(unified.join("memory.oom.group"), "1");
        }
        if let Some(processes) = spec.limits.processes
            && held.pids_cgroup.is_yes()
        {
            this.widen(processes);
        }
        this
    }

    /// Raises the limit by the number of the supervisor's threads, which are members until the job runs.
    fn widen(&mut self, processes: u64) {
        if let Some((path, _)) = &self.unified
            && path.join("pids.max").exists()
            && fs::write(
                path.join("pids.max"),
                (processes.saturating_add(THREADS)).to_string(),
            )
            .is_ok()
        {
            self.processes = Some(processes);
        }
    }

    fn make_unified(&mut self, name: &str, paths: &CgroupPaths) -> io::Result<()> {
        let own = paths.unified.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let home = home(own);
        // If `home` is the host's own cgroup, its controllers cannot be enabled, because the host is a process in it.
        if home != *own {
            enable(&home);
        }
        let path = home.join(name);
        fs::create_dir(&path)?;
        if !path.join("cgroup.kill").exists() {
            fs::remove_dir(&path)?;
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel has no `cgroup.kill`",
            ));
        }
        self.unified = Some((path, own.clone()));
        Ok(())
    }

    /// Moves the whole process into the cgroup, before the job starts.
    pub(super) fn join(&self) -> io::Result<()> {
        self.unified.as_ref().map_or(Ok(()), |(path, _)| {
            fs::write(path.join("cgroup.procs"), "0")
        })
    }

    /// Moves this thread into the cgroups: they limit the processes that it starts, but not the rest of this process.
    pub(super) fn join_thread(&self) -> io::Result<()> {
        self.single
            .iter()
            .try_for_each(|path| fs::write(path.join("tasks"), "0"))
    }

    /// Moves the process back to its own cgroup, after the job has started.
    pub(super) fn leave(&self) -> io::Result<()> {
        let Some((path, own)) = &self.unified else {
            return Ok(());
        };
        fs::write(own.join("cgroup.procs"), "0")?;
        match self.processes {
            Some(processes) => fs::write(path.join("pids.max"), processes.to_string()),
            None => Ok(()),
        }
    }

    /// Kills all members at once, if the kernel supports it.
    pub(super) fn kill(&self) {
        if let Some((path, _)) = &self.unified {
            let _ = fs::write(path.join("cgroup.kill"), "1");
        }
    }

    /// Returns whether the kernel killed a process because the memory limit was exceeded.
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

    /// Removes the cgroups that are empty, and returns whether all of them are removed.
    pub(super) fn remove(&self) -> bool {
        let unified = self.unified.iter().map(|(path, _)| path);
        let left = unified
            .chain(&self.single)
            .filter(|path| fs::remove_dir(path).is_err() && path.exists());
        left.count() == 0
    }

    /// Removes the cgroups as soon as their killed processes have ended, or stops trying after [`CLEAR`].
    pub(super) fn clear(&self) {
        let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
        while !self.remove() && began.elapsed() < CLEAR {
            std::thread::sleep(pause);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Returns the cgroups of a job by their name, for a process that removes them after the supervisor has ended.
    pub(super) fn left_behind(name: impl AsRef<Path>) -> Self {
        let name = name.as_ref();
        let paths = CgroupPaths::read();
        Self {
            processes: None,
            unified: paths
                .unified
                .as_ref()
                .map(|own| (home(own).join(name), own.clone())),
            single: ["pids", "memory"]
                .into_iter()
                .filter_map(|controller| Some(paths.v1(controller)?.join(name)))
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
    // Limit memory and swap together, if the kernel accounts swap.
    let _ = fs::write(path.join("memory.memsw.limit_in_bytes"), limit.to_string());
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Cgroups, THREADS};
    use std::fs;

    // S1-96: the limit of processes does not count the threads of the supervisor
    #[test]
    fn supervisor_threads_do_not_count_against_the_process_limit() {
        let own = tempfile::tempdir().unwrap();
        let path = own.path().join("job");
        fs::create_dir(&path).unwrap();
        let mut cgroups = Cgroups {
            unified: Some((path.clone(), own.path().to_owned())),
            ..Cgroups::default()
        };
        let most = || fs::read_to_string(path.join("pids.max")).unwrap();
        // Without a pids controller in version 2, nothing is written.
        cgroups.widen(1);
        assert!(!path.join("pids.max").exists());
        fs::write(path.join("pids.max"), "1").unwrap();
        cgroups.widen(1);
        assert_eq!(most(), (1 + THREADS).to_string());
        cgroups.leave().unwrap();
        assert_eq!(most(), "1");
    }
}
