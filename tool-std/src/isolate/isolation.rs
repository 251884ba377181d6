//! How jobs are kept apart here.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::error::IsolateError;
use super::group;
use super::job::{Job, Network};
use super::modes::{IDLE, helper_is_called};
use super::report::Report;
use super::run::{Keep, Ran};
use super::running::Running;
use super::wire::{Held, InForce};

/// How jobs are kept apart from the host: put one into the context with `ToolContext::builder().with(isolation)`.
///
/// As a parameter of a tool it has the effect [`Effect::ALL`](tool_core::Effect::ALL), because a program may do anything that its job
/// allows. A pack whose jobs do less has a host value of its own, with the smaller effect, and finds the isolation in the context there.
///
/// ```
/// use tool_std::isolate::{Isolation, Mechanism};
///
/// // Everything that the kernel has, but for namespaces of processes.
/// let isolation = Isolation::new().without(Mechanism::PidNamespace);
/// // Jobs are refused where Landlock is not in force.
/// let strict = Isolation::new().require(Mechanism::Landlock);
/// # let _ = (isolation, strict);
/// ```
#[derive(Clone, Debug)]
pub enum Isolation {
    /// Jobs start through the helper.
    Helper(Helper),
    /// Jobs start from the host itself, each in a process group that is killed at its end. A daemon that leaves its group stays, a host that
    /// dies leaves everything, and no file, port or privilege is taken away. Accept this by name where you must.
    GroupOnly,
}

tool_core::host_value!(Isolation, tool_core::Effect::ALL);

/// Which binary helps, and what it leaves out.
#[derive(Clone, Debug, Default)]
pub struct Helper {
    path: Option<PathBuf>,
    without: Vec<Mechanism>,
    require: Vec<Mechanism>,
    told: Arc<Told>,
}

/// Of what the log has heard, over all clones.
#[derive(Debug, Default)]
struct Told {
    files: AtomicBool,
    network: AtomicBool,
}

/// Something that the kernel may offer. All are used where they are there; a host turns one off, or insists on it, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Mechanism {
    /// Files, TCP ports, signals and tracing by Landlock. Who requires it requires that files are held; what else a kernel's Landlock keeps,
    /// [`Isolation::report`] says.
    Landlock,
    /// A namespace of processes, whose end ends all in it at once, and of the memory and queues that they share.
    PidNamespace,
    /// Mounts that are read-only outside of what a job may write, those of devices, `/sys`, `/proc` and cgroups included. For root, and for who may
    /// make a namespace of users with [`PidNamespace`](Self::PidNamespace).
    ReadOnlyMounts,
    /// A root in which only what a job was granted is to be found. For whom, as [`ReadOnlyMounts`](Self::ReadOnlyMounts).
    OwnRoot,
    /// No Unix socket with a path outside of what a job was granted, such as that of a container engine or of D-Bus. A root of its own keeps it from
    /// them where it sees no other processes' roots, by Landlock or by a `/proc` of its own; so does Landlock alone from interface 9 on. Where neither is in force and a host [requires](Isolation::require) this, the job has no
    /// Unix sockets at all, by seccomp; nor `io_uring`, nor programs for another architecture than the host's.
    UnixSockets,
    /// A namespace of networks for jobs with [`Network::Off`](super::Network::Off).
    NetworkNamespace,
    /// A cgroup of version 2, which is killed at once.
    CgroupKill,
    /// A cgroup that limits the processes of the tree.
    PidsCgroup,
    /// A cgroup that limits the memory of the tree.
    MemoryCgroup,
    /// No capabilities, for a host that has some.
    Capabilities,
}

impl Mechanism {
    /// Every mechanism, for instance to turn all of them off but one.
    pub const ALL: &'static [Self] = &[
        Self::Landlock,
        Self::PidNamespace,
        Self::ReadOnlyMounts,
        Self::OwnRoot,
        Self::UnixSockets,
        Self::NetworkNamespace,
        Self::CgroupKill,
        Self::PidsCgroup,
        Self::MemoryCgroup,
        Self::Capabilities,
    ];
}

impl Default for Isolation {
    fn default() -> Self {
        Self::new()
    }
}

impl Isolation {
    /// The host's own binary is the helper. Its `main` begins with [`tool_std::helper()`](crate::helper).
    ///
    /// What the kernel does not have is done without. Where that leaves files or the network open, the log is warned once; a host that
    /// counts on them [requires](Self::require) them.
    pub fn new() -> Self {
        Self::Helper(Helper::default())
    }

    /// Another binary is the helper, whose `main` begins with [`tool_std::helper()`](crate::helper): for tests, whose `main` is not theirs.
    #[must_use]
    pub fn helper(self, path: impl Into<PathBuf>) -> Self {
        self.change(|helper| helper.path = Some(path.into()))
    }

    /// Turns a mechanism off.
    #[must_use]
    pub fn without(self, mechanism: Mechanism) -> Self {
        self.change(|helper| helper.without.push(mechanism))
    }

    /// Refuses jobs that this mechanism does not hold, if it has something to hold: [`NetworkNamespace`](Mechanism::NetworkNamespace) those
    /// with [`Network::Off`], the cgroups those with a limit.
    #[must_use]
    pub fn require(self, mechanism: Mechanism) -> Self {
        self.change(|helper| helper.require.push(mechanism))
    }

    /// Who asks [`GroupOnly`](Self::GroupOnly) for something of the helper's asks for the helper.
    fn change(self, change: impl FnOnce(&mut Helper)) -> Self {
        let mut helper = match self {
            Self::Helper(helper) => helper,
            Self::GroupOnly => Helper::default(),
        };
        change(&mut helper);
        Self::Helper(helper)
    }

    /// Starts a job, with its pipes in the caller's hands. Dropping what it gives, or the future, ends the job and all that descends from it.
    ///
    /// # Errors
    ///
    /// There is no helper, no such program, it must not run, or a required mechanism is not in force.
    pub async fn spawn(&self, job: Job) -> Result<Running, IsolateError> {
        match self {
            Self::GroupOnly => group::spawn(&job),
            Self::Helper(helper) => helper.spawn(job).await,
        }
    }

    /// What holds jobs here, and what stays open.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), tool_std::isolate::IsolateError> {
    /// let report = tool_std::isolate::Isolation::new().report().await?;
    /// assert_eq!(report.item("egress").map(|item| item.mechanism.as_str()), Some("none"));
    /// println!("{report}");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn report(&self) -> Result<Report, IsolateError> {
        match self {
            Self::GroupOnly => Ok(Report::of(&group::held(), false)),
            Self::Helper(_) => {
                let mut running = self.spawn(Job::this(IDLE)).await?;
                let report = Report::of(running.held(), true);
                running.wait().await?;
                Ok(report)
            }
        }
    }

    /// Runs a job to its end and keeps the head and tail of what it writes.
    ///
    /// Dropping the future ends the job.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn), or the helper is lost. A job that fails, is killed or runs out of time is no error here.
    pub async fn run(&self, job: Job, keep: Keep) -> Result<Ran, IsolateError> {
        super::run::run(self.spawn(job).await?, keep).await
    }
}

impl Helper {
    #[cfg(not(target_os = "linux"))]
    async fn spawn(&self, _: Job) -> Result<Running, IsolateError> {
        Err(IsolateError::NoHelper)
    }

    #[cfg(target_os = "linux")]
    async fn spawn(&self, job: Job) -> Result<Running, IsolateError> {
        let path = match &self.path {
            Some(path) => path.clone(),
            // Without its line in `main`, the host would start a second host.
            None if !helper_is_called() => return Err(IsolateError::NoHelper),
            // The file that runs, also where another was put in its place.
            None => PathBuf::from("/proc/self/exe"),
        };
        let mut running = super::linux::host::start(&path, &job, self).await?;
        if let Some(missing) = missing(&self.require, &job, running.held()) {
            running.kill();
            running.wait().await?;
            return Err(IsolateError::NotInForce(missing));
        }
        for (open, reason) in self.first_heard(&job, running.held()) {
            tracing::warn!(target: "tool_std::isolate", open, reason, "programs are not kept apart");
        }
        Ok(running)
    }

    /// What stays open that nobody may expect, why and what to do: each once for all clones of an isolation.
    fn first_heard(&self, job: &Job, held: &InForce) -> Vec<(String, String)> {
        let accepts = |mechanism| self.without.contains(&mechanism);
        let mut heard = Vec::new();
        if !accepts(Mechanism::Landlock)
            && let Some((open, reason)) = held.open_files()
            && !self.told.files.swap(true, Ordering::Relaxed)
        {
            heard.push((
                format!(
                    "{open}; `Isolation::require(Mechanism::Landlock)` refuses jobs then, `without(Mechanism::Landlock)` accepts it silently"
                ),
                reason.to_owned(),
            ));
        }
        let accepted = accepts(Mechanism::Landlock)
            && (accepts(Mechanism::NetworkNamespace) || job.network != Network::Off);
        if let Held::No(reason) = &held.tcp
            && job.network != Network::Open
            && !held.network_namespace.is_yes()
            && !accepted
            && !self.told.network.swap(true, Ordering::Relaxed)
        {
            heard.push((
                String::from(
                    "a job reaches whatever the host reaches, though it was not to; `Isolation::require(Mechanism::NetworkNamespace)` refuses \
                     jobs whose network is off then",
                ),
                reason.clone(),
            ));
        }
        heard
    }

    /// Whether jobs are refused that this mechanism does not hold.
    pub(super) fn requires(&self, mechanism: Mechanism) -> bool {
        self.require.contains(&mechanism)
    }

    /// What the host has not turned off.
    pub(super) fn mechanisms(&self) -> Vec<Mechanism> {
        let mut left = Mechanism::ALL.to_vec();
        left.retain(|mechanism| !self.without.contains(mechanism));
        left
    }
}

/// What the host requires and the job does not have. What a job does not ask for is not required for it: a namespace of networks is for
/// those that are off, a cgroup for those with a limit.
pub(super) fn missing(required: &[Mechanism], job: &Job, held: &InForce) -> Option<String> {
    required.iter().find_map(|mechanism| {
        let one = match mechanism {
            Mechanism::Landlock if held.landlock.is_yes() => match held.open_files() {
                Some((_, reason)) => return Some(refusal(*mechanism, reason)),
                None => return None,
            },
            Mechanism::Landlock => &held.landlock,
            Mechanism::PidNamespace => &held.pid_namespace,
            Mechanism::ReadOnlyMounts => &held.read_only,
            Mechanism::OwnRoot => &held.own_root,
            Mechanism::UnixSockets if held.keeps_unix_sockets() => return None,
            Mechanism::UnixSockets => &held.socket_filter,
            Mechanism::NetworkNamespace if job.network != Network::Off => return None,
            Mechanism::NetworkNamespace => &held.network_namespace,
            Mechanism::CgroupKill => &held.cgroup_kill,
            Mechanism::PidsCgroup if job.limits.processes.is_none() => return None,
            Mechanism::PidsCgroup => &held.pids_cgroup,
            Mechanism::MemoryCgroup if job.limits.memory.is_none() => return None,
            Mechanism::MemoryCgroup => &held.memory_cgroup,
            Mechanism::Capabilities => &held.capabilities,
        };
        match one {
            Held::Yes(_) => None,
            Held::No(reason) => Some(refusal(*mechanism, reason)),
        }
    })
}

fn refusal(mechanism: Mechanism, reason: &str) -> String {
    format!("`{mechanism:?}` is required and not in force: {reason}")
}

#[cfg(test)]
mod tests {
    use super::{Held, Helper, InForce, Isolation, Job, Mechanism, Network, missing};
    use crate::isolate::job::Limits;

    fn helper(isolation: Isolation) -> Helper {
        match isolation {
            Isolation::Helper(helper) => helper,
            Isolation::GroupOnly => Helper::default(),
        }
    }

    #[test]
    fn what_a_job_does_not_ask_for_is_not_required_for_it() {
        let none = InForce::default();
        let open = Job::new("true")
            .network(Network::Open)
            .limits(Limits::none());
        let needs = Job::new("true");
        for mechanism in [
            Mechanism::NetworkNamespace,
            Mechanism::PidsCgroup,
            Mechanism::MemoryCgroup,
        ] {
            assert_eq!(missing(&[mechanism], &open, &none), None);
            assert!(missing(&[mechanism], &needs, &none).is_some());
        }
        // What holds every job is required for every job.
        for mechanism in [Mechanism::Landlock, Mechanism::PidNamespace] {
            assert!(missing(&[mechanism], &open, &none).is_some());
        }
    }

    #[test]
    fn what_nobody_may_expect_is_told_once() {
        let none = InForce::default();
        let (off, open) = (Job::new("true"), Job::new("true").network(Network::Open));
        let first = helper(Isolation::new());
        let clone = first.clone();
        assert_eq!(first.first_heard(&open, &none).len(), 1);
        assert_eq!(clone.first_heard(&off, &none).len(), 1);
        assert_eq!(first.first_heard(&off, &none), []);
        // By name it is accepted.
        let without = Isolation::new()
            .without(Mechanism::Landlock)
            .without(Mechanism::NetworkNamespace);
        assert_eq!(helper(without).first_heard(&off, &none), []);
        // And where it is held there is nothing to tell.
        let mut held = none;
        for held in [
            &mut held.landlock,
            &mut held.truncate,
            &mut held.network_namespace,
        ] {
            *held = Held::Yes(String::new());
        }
        let isolation = helper(Isolation::new());
        assert_eq!(isolation.first_heard(&off, &held), []);
    }
}
