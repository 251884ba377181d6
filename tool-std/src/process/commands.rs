//! How `run_command` runs commands here.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tool_core::{Effect, FromContext, SecretString, ToolContext, ToolError};

use crate::isolate::{Isolation, Job, Keep, Limits, Network, environment};

/// Shells that take a line of text after `-c`.
const SHELLS: [&str; 11] = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox",
];

/// How `run_command` runs commands: a host value with [`Effect::ALL`].
///
/// ```
/// use std::time::Duration;
/// use tool_std::isolate::{Isolation, Network};
/// use tool_std::process::Commands;
///
/// let commands = Commands::new(Isolation::new())
///     .env("GH_TOKEN", "ghp_…".to_owned())
///     .reads("/opt/toolchain")
///     .network(Network::tcp([443]))
///     .most(Duration::from_secs(600));
/// assert!(!format!("{commands:?}").contains("ghp_"));
/// ```
#[derive(Clone)]
pub struct Commands {
    pub(super) isolation: Isolation,
    environment: Vec<(OsString, OsString)>,
    added: Vec<(String, SecretString)>,
    shell: Option<PathBuf>,
    reads: Vec<PathBuf>,
    network: Network,
    limits: Limits,
    pub(super) keep: Keep,
    most: Duration,
}

impl Commands {
    /// No shell, no network, the [`Limits`] and [`Keep`] of their defaults, at most 10 minutes. The environment is read here and
    /// never again.
    pub fn new(isolation: Isolation) -> Self {
        Self {
            isolation,
            environment: environment().collect(),
            added: Vec::new(),
            shell: None,
            reads: Vec::new(),
            network: Network::Off,
            limits: Limits::default(),
            keep: Keep::default(),
            most: Duration::from_mins(10),
        }
    }

    /// Adds a variable; it replaces one that would have passed. A command can print it: what must not be read by the model is also a
    /// secret of the context, whose results are masked.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<SecretString>) -> Self {
        self.added.push((name.into(), value.into()));
        self
    }

    /// Lets a command of one item be a line for this shell, and lets shells take lines.
    #[must_use]
    pub fn shell(mut self, path: impl Into<PathBuf>) -> Self {
        self.shell = Some(path.into());
        self
    }

    /// A path beside the system's that commands may read and execute, such as a toolchain's.
    #[must_use]
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// What commands may reach.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// How much a command may use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How much of the output is kept, and how much there may be.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// The longest time that a command may ask for.
    #[must_use]
    pub fn most(mut self, time: Duration) -> Self {
        self.most = time;
        self
    }

    /// How commands are kept apart from the host.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// The job of a command that runs in `cwd`, may write below `workspace` and has `scratch` to itself.
    pub(super) fn job(
        &self,
        command: &[String],
        workspace: &Path,
        cwd: &Path,
        scratch: &Path,
        time: Duration,
    ) -> Result<Job, ToolError> {
        let Some((program, args)) = command.split_first().filter(|(first, _)| !first.is_empty())
        else {
            return Err(ToolError::new(
                "`command` names no program, write the program as its first item",
            ));
        };
        let mut job = match &self.shell {
            Some(shell) if args.is_empty() => Job::new(shell).arg("-c").arg(program),
            None if takes_a_line(program, args) => {
                return Err(ToolError::new(
                    "there is no shell here, write the program and each of its arguments as an item of `command`",
                ));
            }
            _ => Job::new(program).args(args),
        };
        job = job
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("HOME", scratch)
            .env("TMPDIR", scratch);
        for (name, value) in &self.added {
            use tool_core::ExposeSecret as _;
            job = job.env(name, value.expose_secret());
        }
        job = self.reads.iter().fold(job, Job::reads);
        Ok(job
            .cwd(cwd)
            .writes(workspace)
            .writes(scratch)
            .network(self.network.clone())
            .limits(self.limits.clone())
            .deadline(time.min(self.most)))
    }
}

/// A shell with `-c`, alone or among other letters.
fn takes_a_line(program: &str, args: &[String]) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| SHELLS.contains(&name))
        && args.iter().any(|arg| {
            arg.strip_prefix('-')
                .is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
        })
}

impl FromContext for Commands {
    const EFFECT: Effect = Effect::ALL;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension::<Self>()
            .or_else(|| cx.extension::<Isolation>().map(Self::new))
            .ok_or_else(|| ToolError::unavailable("`Commands`, a host value of the context,"))
    }
}

/// Without the values of the environment.
impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let added: Vec<_> = self.added.iter().map(|(name, _)| name).collect();
        f.debug_struct("Commands")
            .field("isolation", &self.isolation)
            .field("added", &added)
            .field("shell", &self.shell)
            .field("reads", &self.reads)
            .field("network", &self.network)
            .field("limits", &self.limits)
            .field("keep", &self.keep)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
