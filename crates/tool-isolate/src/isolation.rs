//! The isolation of jobs: the host's choice of mechanisms.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::IsolateError;
use crate::group;
use crate::job::{Job, Network};
#[cfg(target_os = "linux")]
use crate::linux::host::{Settings, start};
use crate::mechanism::Mechanism;
use crate::modes::{IDLE, helper_is_called};
use crate::report::Report;
use crate::run::{JobOutcome, Keep};
use crate::running::{Backend, Running};
use crate::wire::{Held, InForce};

/// The isolation of jobs from the host. Put a value into the context with `ToolContext::builder().with(isolation)`.
///
/// As a parameter of a tool it has the effect [`Effect::ALL`](tool_core::Effect::ALL), because a program may do everything that its job allows. A
/// pack whose jobs do less defines its own host value with a smaller effect, and reads the isolation from the context.
///
/// ```
/// use tool_isolate::{Isolation, Mechanism};
///
/// // All mechanisms of the kernel, except PID namespaces.
/// let isolation = Isolation::new().without(Mechanism::PidNamespace);
/// // Jobs are refused where Landlock is not in force.
/// let strict = Isolation::new().require(Mechanism::Landlock);
/// # let _ = (isolation, strict);
/// ```
#[derive(Clone, Debug)]
pub enum Isolation {
    /// Jobs start through the helper.
    Helper(Helper),
    /// The host itself starts the jobs, each in a process group that is killed at the end of the job. A daemon that leaves its group survives, a
    /// host that dies leaves all processes behind, access to files, ports and privileges is not restricted, and no [`Limits`](crate::Limits) are
    /// set. Use this only if no helper can run.
    GroupOnly,
}

tool_core::host_value!(Isolation, tool_core::Effect::ALL);

/// The helper's binary, and the mechanisms that are turned off or required.
#[derive(Clone, Debug, Default)]
pub struct Helper {
    path: Option<PathBuf>,
    without: Vec<Mechanism>,
    require: Vec<Mechanism>,
    told: Arc<LoggedWarnings>,
}

/// The warnings that were already logged, shared by all clones.
#[derive(Debug, Default)]
struct LoggedWarnings {
    files: AtomicBool,
    network: AtomicBool,
}

impl Default for Isolation {
    fn default() -> Self {
        Self::new()
    }
}

impl Isolation {
    /// Uses the host's own binary as the helper. Its `main` must begin with [`tool_isolate::helper()`](crate::helper).
    ///
    /// Mechanisms that the kernel lacks are left out. If that leaves files or the network unrestricted, a warning is logged once; a host that relies
    /// on a mechanism should [require](Self::require) it.
    pub fn new() -> Self {
        Self::Helper(Helper::default())
    }

    /// Uses a different binary as the helper, whose `main` begins with [`tool_isolate::helper()`](crate::helper): for tests, because the test harness
    /// generates their `main`.
    #[must_use]
    pub fn helper(self, path: impl Into<PathBuf>) -> Self {
        self.change(|helper| helper.path = Some(path.into()))
    }

    /// Turns a mechanism off.
    #[must_use]
    pub fn without(self, mechanism: Mechanism) -> Self {
        self.change(|helper| helper.without.push(mechanism))
    }

    /// Refuses jobs that need this mechanism if it is not in force: [`NetworkNamespace`](Mechanism::NetworkNamespace) is needed by jobs
    /// with [`Network::Off`], [`PidsCgroup`](Mechanism::PidsCgroup) and [`MemoryCgroup`](Mechanism::MemoryCgroup) by jobs with the respective limit,
    /// and every other mechanism by all jobs.
    #[must_use]
    pub fn require(self, mechanism: Mechanism) -> Self {
        self.change(|helper| helper.require.push(mechanism))
    }

    /// Changes an option of the helper. On [`GroupOnly`](Self::GroupOnly), this switches to the helper.
    fn change(self, change: impl FnOnce(&mut Helper)) -> Self {
        let mut helper = match self {
            Self::Helper(helper) => helper,
            Self::GroupOnly => Helper::default(),
        };
        change(&mut helper);
        Self::Helper(helper)
    }

    /// Starts a job and returns a handle with its pipes. Dropping the handle or the future kills the job and all its descendants; with
    /// [`GroupOnly`](Self::GroupOnly), it kills the process group of the job.
    ///
    /// # Errors
    ///
    /// Fails if there is no helper, the helper fails or does not start the job, the program does not exist or may not be run, the working directory
    /// cannot be entered, a required mechanism is not in force, or an operation of the system fails.
    pub async fn spawn(&self, job: Job) -> Result<Running, IsolateError> {
        match self {
            Self::GroupOnly => {
                let (group, pipes) = group::spawn(&job)?;
                Ok(Running::new(Backend::Group(group), pipes))
            }
            Self::Helper(helper) => helper.spawn(job).await,
        }
    }

    /// Reports which mechanisms restrict jobs on this system, and which access remains open.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`spawn`](Self::spawn), and an error if the helper is lost.
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), tool_isolate::IsolateError> {
    /// let report = tool_isolate::Isolation::new().report().await?;
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

    /// Runs a job until it ends, and returns the head and tail of its output.
    ///
    /// Dropping the future kills the job.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`spawn`](Self::spawn), and an error if the output cannot be read or the job cannot be
    /// waited for, for example because the helper is lost. A job that fails, is
    /// killed or exceeds its deadline is not an error.
    pub async fn run(&self, job: Job, keep: Keep) -> Result<JobOutcome, IsolateError> {
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
            // If `main` does not call the helper, the binary would run as a second host.
            None if !helper_is_called() => return Err(IsolateError::NoHelper),
            // This path names the running binary, even if the file at its path was replaced.
            None => PathBuf::from("/proc/self/exe"),
        };
        let settings = Settings {
            mechanisms: self.mechanisms(),
            requires_unix_sockets: self.require.contains(&Mechanism::UnixSockets),
        };
        let (remote, pipes) = start(&path, &job, &settings).await?;
        let mut running = Running::new(Backend::Remote(remote), pipes);
        if let Some(missing) = missing(&self.require, &job, running.held()) {
            running.kill();
            running.wait().await?;
            return Err(IsolateError::NotInForce(missing));
        }
        for (open, reason) in self.first_heard(&job, running.held()) {
            tracing::warn!(open, reason, "programs are not fully isolated");
        }
        Ok(running)
    }

    /// Returns the warnings about access that is unexpectedly open, with the reason and the remedy. Each warning is returned once for all
    /// clones of an isolation.
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
                    "a job can connect to every address that the host can connect to, though its network is restricted; \
                     `Isolation::require(Mechanism::NetworkNamespace)` refuses jobs whose network is off then",
                ),
                reason.clone(),
            ));
        }
        heard
    }

    /// Returns the mechanisms that the host has not turned off.
    fn mechanisms(&self) -> Vec<Mechanism> {
        let mut left = Mechanism::ALL.to_vec();
        left.retain(|mechanism| !self.without.contains(mechanism));
        left
    }
}

/// Returns the error for a required mechanism that the job needs and that is not in force. A network namespace is needed only by jobs whose network
/// is off, a pids or memory cgroup only by jobs with the respective limit.
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
    format!("`{mechanism:?}` is required but not in force: {reason}")
}

#[cfg(test)]
mod tests {
    use super::{Held, Helper, InForce, Isolation, Job, Mechanism, Network, missing};
    use crate::job::Limits;

    fn helper(isolation: Isolation) -> Helper {
        match isolation {
            Isolation::Helper(helper) => helper,
            Isolation::GroupOnly => Helper::default(),
        }
    }

    #[test]
    fn mechanism_that_a_job_does_not_use_is_not_required() {
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
        // Mechanisms that apply to every job are required for every job.
        for mechanism in [Mechanism::Landlock, Mechanism::PidNamespace] {
            assert!(missing(&[mechanism], &open, &none).is_some());
        }
    }

    #[test]
    fn missing_isolation_is_reported_once() {
        let none = InForce::default();
        let (off, open) = (Job::new("true"), Job::new("true").network(Network::Open));
        let first = helper(Isolation::new());
        let clone = first.clone();
        assert_eq!(first.first_heard(&open, &none).len(), 1);
        assert_eq!(clone.first_heard(&off, &none).len(), 1);
        assert_eq!(first.first_heard(&off, &none), []);
        // Mechanisms that are explicitly turned off cause no warning.
        let without = Isolation::new()
            .without(Mechanism::Landlock)
            .without(Mechanism::NetworkNamespace);
        assert_eq!(helper(without).first_heard(&off, &none), []);
        // Mechanisms that are in force cause no warning.
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
