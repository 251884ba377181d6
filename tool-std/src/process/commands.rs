//! The host's settings for `run_command`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tool_core::{Effect, FromContext, SecretString, ToolContext, ToolError};

use super::proxies;
use crate::isolate::{Isolation, Job, Keep, Limits, Network, environment};

/// Shells that take a command line after `-c`.
const SHELLS: [&str; 11] = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox",
];

/// The settings of `run_command`: a host value with [`Effect::ALL`].
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
    /// Creates settings with no shell, no network, the default [`Limits`] and [`Keep`], and at most 10 minutes. The
    /// [`PASSED`](crate::isolate::PASSED) variables of this process's environment are read once, here.
    ///
    /// Proxy variables are only for commands that may use a network: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` and their lower-case forms are passed
    /// only if [`network`](Self::network) opens a network; the user name and password are removed from their URLs. For a command that needs the
    /// password, set the variable with [`env`](Self::env), which passes it unchanged.
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

    /// Adds a variable, which replaces a passed variable of the same name. A command can print its value: to hide it from the model, also add it to
    /// the context as a secret, so that it is redacted from results.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<SecretString>) -> Self {
        self.added.push((name.into(), value.into()));
        self
    }

    /// Removes a variable, whether it is passed or was added before. `HOME` and `TMPDIR` are set to the folder of the call in any case.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.added.retain(|(known, _)| known != name);
        self
    }

    /// Allows command lines: a `command` of one item is run by this shell, and a `command` may call shells with `-c`.
    #[must_use]
    pub fn shell(mut self, path: impl Into<PathBuf>) -> Self {
        self.shell = Some(path.into());
        self
    }

    /// Lets commands read and execute a path in addition to the system's paths, such as a toolchain.
    #[must_use]
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Sets the network that commands may use.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets the resource limits of a command.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how much of the output is stored, and how much a command may write.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Sets the maximum time of a command, even if a call asks for more.
    #[must_use]
    pub fn most(mut self, time: Duration) -> Self {
        self.most = time;
        self
    }

    /// Returns the isolation of commands from the host.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Returns the job of a command that runs in `cwd`, may write below `workspace` (the folder of the conversation) and has the private folder
    /// `scratch`.
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
                "`command` has no program, write the program as its first item",
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
            .envs(proxies::shown(&self.environment, &self.network))
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

/// Returns whether a program is a shell with an option that runs a command line: `-c`, alone or among other letters, `--command` or `--init-command`.
/// The first argument that is not an option, and all arguments after it, belong to a script.
fn takes_a_line(program: &str, args: &[String]) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str);
    let Some(name) = name.filter(|name| SHELLS.contains(name)) else {
        return false;
    };
    if let ("busybox", Some((applet, args))) = (name, args.split_first()) {
        return takes_a_line(applet, args);
    }
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let value_follows = match arg.strip_prefix(['-', '+']) {
            None | Some("" | "-") => return false,
            Some("-rcfile" | "-init-file") => true,
            Some(long) if long.starts_with('-') => {
                if long.starts_with("-command") || long.starts_with("-init-command") {
                    return true;
                }
                false
            }
            Some(letters) if arg.starts_with('-') && letters.contains('c') => return true,
            // The options `o` and `O` take a value: `-o pipefail`, `-O extglob`.
            Some(letters) => letters.contains(['o', 'O']),
        };
        if value_follows {
            args.next();
        }
    }
    false
}

impl FromContext for Commands {
    const EFFECT: Effect = Effect::ALL;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension::<Self>()
            .or_else(|| cx.extension::<Isolation>().map(Self::new))
            .ok_or_else(|| ToolError::unavailable("`Commands`, a host value of the context,"))
    }
}

/// Leaves out the values of environment variables.
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

#[cfg(test)]
mod tests {
    use super::takes_a_line;

    #[test]
    fn shell_command_line_is_distinguished_from_a_script() {
        let takes = |command: &str| {
            let mut words = command.split(' ').map(str::to_owned);
            let program = words.next().unwrap_or_default();
            takes_a_line(&program, &words.collect::<Vec<_>>())
        };
        for line in [
            "sh -c id",
            "/bin/bash -lc id",
            "dash -ec id",
            "bash -x -c id",
            "bash +x -c id",
            "bash -o pipefail -c id",
            "bash -eo pipefail -c id",
            "bash -O extglob -ec id",
            "bash --norc -c id",
            "bash --rcfile x -c id",
            "fish --command=id",
            "busybox sh -c id",
        ] {
            assert!(takes(line), "{line}");
        }
        for script in [
            "bash build.sh -race",
            "bash -e build.sh -c",
            "sh -- build.sh -c",
            "sh - build.sh -c",
            "bash -o pipefail build.sh -c",
            "busybox tar -c x",
            "busybox",
            "bash",
            "cargo -c",
            "gcc -c x.c",
        ] {
            assert!(!takes(script), "{script}");
        }
    }
}
