//! The description of a job: the program, and the files, network and resources that it may use.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::net::unix::pipe;

/// A program to run once, and the files, network and resources that it may use.
///
/// A job inherits neither the environment nor the working directory of the host: they are set here. All jobs can read the system's libraries and
/// programs (such as `/usr`, `/bin` and `/lib`), and a few files of `/etc`, for example for name resolution and TLS.
///
/// ```
/// use std::time::Duration;
/// use tool_isolate::{Job, Limits, Network};
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
    /// A path, or a name that is looked up in the job's own `PATH`.
    Named(OsString),
    /// The helper's binary, in one of its modes.
    Mode(String),
}

impl Job {
    /// Creates a job for a program: a path, or a name that is looked up in the job's own `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self::of(Program::Named(program.into()))
    }

    /// Creates a job for the helper's binary, by default the host's own, in a mode that [`mode!`](crate::mode) has registered.
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

    /// Adds one argument for the program.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments for the program.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. A later value of the same name replaces an earlier one.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.into()));
        self
    }

    /// Sets several environment variables of the program.
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        self,
        vars: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        vars.into_iter()
            .fold(self, |job, (name, value)| job.env(name, value))
    }

    /// Sets the working directory; the default is `/`.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = path.into();
        self
    }

    /// Lets the job read and execute a file, or a directory with everything below it.
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Lets the job read, execute and change a file, or also create and delete everything below a directory. No device can be created there.
    pub fn writes(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Sets the network that the job may use; the default is [`Network::Off`].
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets the resource limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Kills the job and all its descendants after this time; with [`Isolation::GroupOnly`](crate::Isolation::GroupOnly), its process group. By
    /// default, a job has no deadline.
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// Lets the caller write to the job's standard input, which is empty by default.
    pub fn stdin(mut self) -> Self {
        self.stdin = true;
        self
    }

    /// Returns the program or mode, as the caller named it.
    pub fn name(&self) -> String {
        match &self.program {
            Program::Named(program) => Path::new(program).display().to_string(),
            Program::Mode(mode) => mode.clone(),
        }
    }
}

/// Omits the values of environment variables, because they may be tokens.
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

/// The network that a job may use.
///
/// Landlock restricts TCP by port and not by address: a job that may connect to port 443 may do so on any host. UDP, which includes DNS, is
/// unrestricted except under [`Network::Off`] in a network namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// No network at all if the host can create a network namespace, and otherwise no TCP if the kernel's Landlock can restrict it.
    #[default]
    Off,
    /// TCP on some ports only, if the kernel's Landlock can restrict it.
    Tcp {
        /// Ports that the job may connect to.
        connect: Vec<u16>,
        /// Ports that the job may listen on.
        bind: Vec<u16>,
    },
    /// The same network as the host.
    Open,
}

impl Network {
    /// Allows connections to these TCP ports, and no listening on TCP ports.
    pub fn tcp(connect: impl IntoIterator<Item = u16>) -> Self {
        Self::Tcp {
            connect: connect.into_iter().collect(),
            bind: Vec::new(),
        }
    }
}

/// The resource limits of a job. `None` adds no limit to the host's limits.
///
/// Limits of the tree apply to the job and its descendants together and require cgroups that the host may create. Limits of a process apply to
/// each process separately, on every Linux. With [`Isolation::GroupOnly`](crate::Isolation::GroupOnly), no limit is set. The limit of a user's
/// processes (`RLIMIT_NPROC`) is not used: it applies neither to root nor to a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Memory in bytes: of the tree if there is a memory cgroup, and of the writable data of each process (`RLIMIT_DATA`) in every case.
    pub memory: Option<u64>,
    /// Number of processes and threads of the tree, if there is a pids cgroup.
    pub processes: Option<u64>,
    /// Number of open files of each process (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Size of a file that a process writes, in bytes (`RLIMIT_FSIZE`).
    pub file_size: Option<u64>,
    /// Processor time of each process, in seconds (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
}

impl Default for Limits {
    /// Returns limits of 1 GiB of memory, 256 processes, 1,024 open files and files of 1 GiB, with unlimited processor time.
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
    /// Creates limits that restrict nothing.
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
    memory: "Sets the limit of memory, in bytes. The limit of a process is at least 32 MiB, which the helper needs.",
    processes: "Sets the limit of processes and threads.",
    open_files: "Sets the limit of open files of each process. Values below 16 count as 16.",
    file_size: "Sets the limit of a file's size, in bytes.",
    cpu_seconds: "Sets the limit of processor time, in seconds.",
}

/// The host's ends of a job's pipes.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: Option<pipe::Sender>,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}
