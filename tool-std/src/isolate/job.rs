//! What to run, and what it may touch.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One program to run once, and all that it may touch.
///
/// It inherits nothing: what is not said here, it does not have. System libraries and programs (`/usr`, `/bin`, `/lib` and the few
/// files of `/etc` that name resolution and TLS need) are readable for every job.
///
/// ```
/// use std::time::Duration;
/// use tool_std::isolate::{Job, Limits, Network};
///
/// let job = Job::new("git")
///     .args(["fetch", "--depth=1"])
///     .env("PATH", "/usr/bin:/bin")
///     .cwd("/srv/ws/acme/c1/.repos/site")
///     .writes("/srv/ws/acme/c1")
///     .network(Network::tcp([443]))
///     .limits(Limits::default().memory(512 << 20))
///     .deadline(Duration::from_secs(120));
/// assert_eq!(job.name(), "git");
/// ```
#[derive(Clone)]
#[must_use = "a job does nothing until it is run"]
pub struct Job {
    pub(super) program: Program,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
    pub(super) reads: Vec<PathBuf>,
    pub(super) writes: Vec<PathBuf>,
    pub(super) network: Network,
    pub(super) limits: Limits,
    pub(super) deadline: Option<Duration>,
    pub(super) stdin: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Program {
    /// A name that the job's own `PATH` resolves, or a path.
    Named(OsString),
    /// The helper's binary in one of its modes.
    Mode(String),
}

impl Job {
    /// A program: a path, or a name that is looked up in the job's own `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self::of(Program::Named(program.into()))
    }

    /// This very binary in a mode that [`mode!`](crate::mode) has registered.
    pub fn this(mode: impl Into<String>) -> Self {
        Self::of(Program::Mode(mode.into()))
    }

    fn of(program: Program) -> Self {
        Self {
            program,
            args: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            reads: Vec::new(),
            writes: Vec::new(),
            network: Network::Off,
            limits: Limits::default(),
            deadline: None,
            stdin: false,
        }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// More arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// One variable of the environment. A name that is given twice has the later value.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.into()));
        self
    }

    /// More variables.
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        self,
        vars: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        vars.into_iter()
            .fold(self, |job, (name, value)| job.env(name, value))
    }

    /// The directory to start in; `/` unless said.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = path.into();
        self
    }

    /// A file or a directory with all below it that the job may read and execute.
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// A file or a directory with all below it that the job may read, execute, change and delete. No device can be made there.
    pub fn writes(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// What it may reach; [`Network::Off`] unless said.
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// How much it may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// After this time the job and everything that descends from it is killed. There is none unless said.
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// The caller writes to the job's standard input; it is empty unless said.
    pub fn stdin(mut self) -> Self {
        self.stdin = true;
        self
    }

    /// The program or mode, as the caller named it.
    pub fn name(&self) -> String {
        match &self.program {
            Program::Named(program) => Path::new(program).display().to_string(),
            Program::Mode(mode) => mode.clone(),
        }
    }
}

/// Without the values of the environment, which hold tokens.
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Job")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("reads", &self.reads)
            .field("writes", &self.writes)
            .field("network", &self.network)
            .field("limits", &self.limits)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// What a job may reach.
///
/// Landlock knows TCP and ports, not addresses: a job that may connect to port 443 may do so anywhere. UDP, and with it DNS, is open
/// but under [`Network::Off`] in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// No TCP, and no network at all where a network namespace can be made.
    #[default]
    Off,
    /// TCP by port.
    Tcp {
        /// Ports that may be connected to.
        connect: Vec<u16>,
        /// Ports that may be listened on.
        bind: Vec<u16>,
    },
    /// Whatever the host reaches.
    Open,
}

impl Network {
    /// TCP to these ports, and no listening.
    pub fn tcp(connect: impl IntoIterator<Item = u16>) -> Self {
        Self::Tcp {
            connect: connect.into_iter().collect(),
            bind: Vec::new(),
        }
    }
}

/// How much a job may use. `None` sets no limit of ours.
///
/// Limits of the tree hold for the job and its descendants together and need cgroups that the host may use; limits of a process hold for
/// each of them alone, everywhere on Linux. The user's count of processes (`RLIMIT_NPROC`) is not among them: it binds neither root nor a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Memory in bytes: of the tree where there is a memory cgroup, and the writable data of each process (`RLIMIT_DATA`) in any case.
    pub memory: Option<u64>,
    /// Processes and threads of the tree, where there is a pids cgroup.
    pub processes: Option<u64>,
    /// Open files of each process (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Bytes of a file that a process writes (`RLIMIT_FSIZE`).
    pub file_size: Option<u64>,
    /// Seconds of processor time of each process (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
}

impl Default for Limits {
    /// 1 GiB of memory, 256 processes, 1,024 open files, files of 1 GiB, processor time without limit.
    fn default() -> Self {
        Self {
            memory: Some(1 << 30),
            processes: Some(256),
            open_files: Some(1024),
            file_size: Some(1 << 30),
            cpu_seconds: None,
        }
    }
}

impl Limits {
    /// No limit at all.
    pub fn none() -> Self {
        Self {
            memory: None,
            processes: None,
            open_files: None,
            file_size: None,
            cpu_seconds: None,
        }
    }
}

macro_rules! limit {
    ($($name:ident: $doc:literal),+ $(,)?) => {
        impl Limits {$(
            #[doc = $doc]
            #[must_use]
            pub fn $name(mut self, limit: u64) -> Self {
                self.$name = Some(limit);
                self
            }
        )+}
    };
}

limit! {
    memory: "Sets the limit of memory, in bytes; the helper itself needs 32 MiB of data.",
    processes: "Sets the limit of processes and threads.",
    open_files: "Sets the limit of open files.",
    file_size: "Sets the limit of a file's size, in bytes.",
    cpu_seconds: "Sets the limit of processor time, in seconds.",
}
