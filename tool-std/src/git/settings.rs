//! The host's settings for git.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::address::{Address, HostError};
use crate::isolate::environment;

/// Settings of the tools of this pack. The host puts a value into its contexts.
///
/// ```
/// use std::time::Duration;
/// use tool_std::git::Git;
///
/// let git = Git::new()
///     .host("https://git.example.org/mirrors")?
///     .author("Build bot", "bot@example.org")
///     .deadline(Duration::from_mins(1));
/// # let _ = git;
/// # Ok::<(), tool_std::git::HostError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Git(pub(super) Arc<Settings>);

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) address: Address,
    pub(super) program: OsString,
    pub(super) author: Option<(String, String)>,
    pub(super) user: String,
    pub(super) deadline: Duration,
    pub(super) output: u32,
    pub(super) host_env: Vec<(OsString, OsString)>,
    pub(super) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl Default for Git {
    fn default() -> Self {
        Self::new()
    }
}

impl Git {
    /// Creates the default settings: repositories of `https://github.com`, 120 seconds for a call, 5 MB of output for each run of git, and no author.
    ///
    /// `PATH`, the proxies (`HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case) and the certificates (`SSL_CERT_FILE`,
    /// `SSL_CERT_DIR`) of this process are read once, here.
    pub fn new() -> Self {
        let host_env = environment().filter(|(_, value)| !value.is_empty());
        Self(Arc::new(Settings {
            address: Address::github(),
            program: OsString::from("git"),
            author: None,
            user: String::from("x-access-token"),
            deadline: Duration::from_mins(2),
            output: 5_000_000,
            host_env: host_env.collect(),
            clock: Arc::new(SystemTime::now),
        }))
    }

    /// Sets the base of the repositories' URLs: `owner/name` is at `{base}/{owner}/{name}.git`. The base is an `https`, `http` or `file` URL without
    /// user, query and fragment. With `http`, the token is sent unencrypted.
    ///
    /// # Errors
    ///
    /// Returns a [`HostError`] if the text is not a URL of this form.
    pub fn host(self, base: &str) -> Result<Self, HostError> {
        let address = Address::parse(base)?;
        Ok(self.change(|settings| settings.address = address))
    }

    /// Sets the author of commits. Without an author, `git_commit` is not available.
    #[must_use]
    pub fn author(self, name: impl Into<String>, email: impl Into<String>) -> Self {
        let author = Some((name.into(), email.into()));
        self.change(|settings| settings.author = author)
    }

    /// Sets the user name that is sent with the token; by default `x-access-token`, as GitHub expects.
    #[must_use]
    pub fn user(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.change(|settings| settings.user = name)
    }

    /// Sets the program to run instead of the `git` in `PATH`.
    #[must_use]
    pub fn program(self, path: impl Into<OsString>) -> Self {
        let path = path.into();
        self.change(|settings| settings.program = path)
    }

    /// Sets the time limit of one call. When it passes, git and all processes that it started are killed. The default is 120 seconds.
    #[must_use]
    pub fn deadline(self, after: Duration) -> Self {
        self.change(|settings| settings.deadline = after)
    }

    /// Sets the maximum number of bytes that one run of git may write to standard output and standard error together. A run that writes more is
    /// killed and the call fails, except for `git commit`, which is not killed and whose output is truncated. The default is 5,000,000.
    #[must_use]
    pub fn output_limit(self, bytes: u32) -> Self {
        self.change(|settings| settings.output = bytes)
    }

    /// Sets the clock that determines the age of repositories; by default the system's clock.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.change(|settings| settings.clock = Arc::new(now))
    }

    fn change(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl Settings {
    /// Returns a variable of the host's environment. [`command`](super::command) decides which variables git receives.
    pub(super) fn env(&self, name: &str) -> Option<&OsString> {
        let mut all = self.host_env.iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    pub(super) fn now(&self) -> SystemTime {
        (self.clock)()
    }
}

/// Omits the environment, because proxies may contain passwords.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("address", &self.address)
            .field("program", &self.program)
            .field("author", &self.author)
            .field("deadline", &self.deadline)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}
