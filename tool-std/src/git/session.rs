//! The git runs of one tool call, within one deadline.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tool_core::redact::Redactor;
use tool_core::{ErrorKind, SecretString, ToolContext, ToolError};

use super::address::Address;
use super::command::{Command, Remote};
use super::credential::Scope;
use super::name::{self, Repo};
use super::repository::{self, Repository};
use super::settings::{Git, Settings};
use super::state::State;
use super::{config, credential};
use crate::isolate::{Cause, Exit, IsolateError, Isolation, Keep};
use crate::workspace::Workspace;

/// The values from the context that a call needs.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) settings: Arc<Settings>,
    pub(super) workspace: Workspace,
    isolation: Isolation,
}

/// The output of a git process that exited by itself.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

/// A tool call in progress.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) parts: Parts,
    began: Instant,
}

impl Parts {
    pub(super) fn of(cx: &ToolContext, workspace: Workspace) -> Result<Self, ToolError> {
        let absent =
            |what: &str| ToolError::unavailable(format!("`{what}`, a host value of the context,"));
        let git = cx.extension::<Git>().ok_or_else(|| absent("Git"))?;
        let isolation = cx
            .extension::<Isolation>()
            .ok_or_else(|| absent("Isolation"))?;
        Ok(Self {
            settings: git.0,
            workspace,
            isolation,
        })
    }

    pub(super) fn begin(&self) -> Session {
        Session {
            parts: self.clone(),
            began: Instant::now(),
        }
    }
}

impl Session {
    pub(super) fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Runs blocking work outside of the runtime's async threads.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Parts) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let parts = self.parts.clone();
        Ok(tokio::task::spawn_blocking(move || work(&parts)).await?)
    }

    /// Opens the repository at a path, after checking that nothing in its `.git` leads out of it, and that the allowlist permits its configuration.
    pub(super) async fn repository(&self, path: String) -> Result<Repository, ToolError> {
        let mut repository = self
            .blocking(move |parts| repository::open(&parts.workspace, &path, parts.settings.now()))
            .await??;
        // Git itself parses the same bytes that were read here, so no second parser can disagree. The process that parses them has no access to the
        // repository.
        let list = Command::new("config")
            .args(["--file", "-", "--no-includes", "--null", "--list"])
            .env("GIT_DIR", "/dev/null")
            .stdin(std::mem::take(&mut repository.config));
        let listed = self.run(list).await?;
        if listed.code != 0 {
            return Err(ToolError::new(
                "the repository's `.git/config` cannot be read by git: clone the repository again",
            )
            .operator(listed.stderr));
        }
        let helper = helper(&repository)?;
        config::check(&listed.stdout, helper.as_deref())?;
        Ok(repository)
    }

    /// Opens the repository at a path and stores the token of the call, if it has one. Returns the repository and its branch: the given branch, by
    /// default the current branch.
    pub(super) async fn signed_in(
        &self,
        path: String,
        branch: Option<String>,
        token: Option<SecretString>,
    ) -> Result<(Repository, String), ToolError> {
        // Validate the name before any process starts.
        if let Some(branch) = &branch {
            name::branch("/branch", branch)?;
        }
        let repository = self.repository(path).await?;
        let branch = named(self, &repository, branch).await?;
        Ok((self.sign_in(repository, token).await?, branch))
    }

    /// Stores the token of the call, for the repository's remote. It replaces the stored token, so later calls in the conversation that have no token
    /// use the new token. Stores nothing if the repository was not cloned by `git_clone` from the host's current server.
    async fn sign_in(
        &self,
        mut repository: Repository,
        token: Option<SecretString>,
    ) -> Result<Repository, ToolError> {
        let Some(token) = credential::brought(self.settings(), token) else {
            return Ok(repository);
        };
        let Some(kept) = &mut repository.kept else {
            return Ok(repository);
        };
        let Some(repo) = cloned_from(&kept.url, &self.settings().address) else {
            return Ok(repository);
        };
        let name = kept.name.clone();
        let renewed = self.blocking(move |parts| {
            let path = parts.settings.address.repository(&repo);
            let scope = Scope::of(&parts.settings, &path);
            State::open(&parts.workspace)?.renew(&name, scope, &token)
        });
        kept.credentials = Some(renewed.await??);
        Ok(repository)
    }

    /// Runs a git command that has to succeed, and returns its standard output.
    pub(super) async fn succeed(&self, command: Command<'_>) -> Result<String, ToolError> {
        let word = command.word;
        let output = self.run(command).await?;
        if output.code != 0 {
            return Err(failed(word, &output));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a git command and returns the line that it prints, or `None` if it fails or prints nothing.
    pub(super) async fn line(&self, command: Command<'_>) -> Result<Option<String>, ToolError> {
        let output = self.run(command).await?;
        let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.code == 0 && !line.is_empty()).then_some(line))
    }

    /// Runs a git command until it exits. Fails if it cannot be started, is killed, exceeds the deadline of the call, or writes more than the limit,
    /// unless the command [keeps only the beginning](Command::first_output).
    pub(super) async fn run(&self, mut command: Command<'_>) -> Result<Output, ToolError> {
        let settings = self.settings();
        let late = || timed_out(command.word, settings);
        let left = settings
            .deadline
            .checked_sub(self.began.elapsed())
            .ok_or_else(late)?;
        let job = command.job(settings).deadline(left);
        let mut keep = Keep::all(settings.output);
        if command.only_first {
            keep.limit = u64::MAX;
        }
        let folder = command
            .remote
            .as_ref()
            .and_then(|remote| remote.credentials);
        let redactor = match folder.map(Path::to_owned) {
            Some(folder) => {
                self.blocking(move |_| credential::redactor(&folder))
                    .await??
            }
            None => Redactor::default(),
        };
        let ran = match command.stdin.take() {
            None => self.parts.isolation.run(job, keep).await,
            Some(input) => self.feed(job, keep, input).await,
        };
        let ran = ran.map_err(|error| not_run(&error, command.repository))?;
        if ran.too_much {
            return Err(ToolError::new(format!(
                "`git {}` wrote more than {} bytes and was stopped: ask for less, such as one path or fewer commits",
                command.word, settings.output
            )));
        }
        match (ran.ended.because, ran.ended.exit) {
            (Cause::Deadline(_), _) => Err(timed_out(command.word, settings)),
            (Cause::Itself, Exit::Code(code)) => Ok(Output {
                code,
                stdout: redactor.redact_bytes(&ran.stdout.head).into_owned(),
                stderr: redactor
                    .redact(&String::from_utf8_lossy(&ran.stderr.head))
                    .into_owned(),
            }),
            (because, exit) => Err(ToolError::new(format!(
                "`git {}` was killed before it finished, perhaps because it used too much memory",
                command.word
            ))
            .operator(format!("{because:?}, {exit:?}"))),
        }
    }

    async fn feed(
        &self,
        job: crate::isolate::Job,
        keep: Keep,
        input: Vec<u8>,
    ) -> Result<crate::isolate::JobOutcome, IsolateError> {
        let mut running = self.parts.isolation.spawn(job).await?;
        running.feed(input);
        running.finish(keep).await
    }
}

/// Returns the value of `credential.helper` for a repository; `None` if no token is stored for it.
pub(super) fn helper(repository: &Repository) -> Result<Option<String>, ToolError> {
    let folder = repository
        .kept
        .as_ref()
        .and_then(|kept| kept.credentials.as_deref());
    Ok(folder.map(credential::setting).transpose()?)
}

/// Returns the remote of a repository. Fails if `git_clone` did not create the repository, or if the remote does not belong to the host's current
/// base of repositories.
pub(super) fn recorded<'a>(
    repository: &'a Repository,
    address: &'a Address,
    helper: Option<&'a str>,
) -> Result<Remote<'a>, ToolError> {
    let kept = repository.kept.as_ref().ok_or_else(|| {
        ToolError::new(format!(
            "`{}` was not created by `git_clone`, so its remote is not known to be safe: clone it with `git_clone` first",
            repository.shown
        ))
    })?;
    if cloned_from(&kept.url, address).is_none() {
        return Err(ToolError::new(
            "the repository was cloned from a host that is no longer configured here: clone it again",
        ));
    }
    Ok(Remote {
        address,
        url: &kept.url,
        credentials: kept.credentials.as_deref(),
        helper,
        pushes: false,
    })
}

/// Returns the repository that a cloned URL names, if the URL belongs to the host's base of repositories.
fn cloned_from(url: &str, address: &Address) -> Option<Repo> {
    let parts: Vec<&str> = url.rsplitn(3, '/').collect();
    let [name, owner, _] = parts[..] else {
        return None;
    };
    let repo = Repo::parse(&format!("{owner}/{name}")).ok()?;
    (address.url(&repo) == url).then_some(repo)
}

/// Returns the short hash of a commit, if it exists.
pub(super) async fn short(
    session: &Session,
    repository: &Repository,
    commit: &str,
) -> Result<Option<String>, ToolError> {
    let command = Command::new("rev-parse")
        .args(["--short", "--verify", "--quiet", commit])
        .on(repository);
    session.line(command).await
}

/// Returns the branch that is checked out; `None` if `HEAD` is detached.
pub(super) async fn current(
    session: &Session,
    repository: &Repository,
) -> Result<Option<String>, ToolError> {
    let command = Command::new("symbolic-ref")
        .args(["--short", "--quiet", "HEAD"])
        .on(repository);
    session.line(command).await
}

/// Returns the branch that a call names, by default the current branch. Fails if its name is invalid or no branch is checked out.
async fn named(
    session: &Session,
    repository: &Repository,
    branch: Option<String>,
) -> Result<String, ToolError> {
    let branch = match branch {
        Some(branch) => Some(branch),
        None => current(session, repository).await?,
    };
    // Also validate the branch that is checked out: its name comes from `.git/HEAD`, which a program may have written.
    match branch {
        Some(branch) => name::branch("/branch", &branch).map(str::to_owned),
        None => Err(ToolError::new(
            "no branch is checked out, name one in `branch`",
        )),
    }
}

fn timed_out(word: &str, settings: &Settings) -> ToolError {
    let seconds = settings.deadline.as_secs_f64();
    ToolError::of(
        ErrorKind::TimedOut,
        format!(
            "the call timed out after {seconds} s, at `git {word}`, and was stopped: ask for less, or try again later"
        ),
    )
}

fn not_run(error: &IsolateError, repository: Option<&Repository>) -> ToolError {
    // Git has already run once, without a repository, to parse the configuration, so git itself can be started. The folder may exist again by now, so
    // the error may name the program instead of the folder.
    let is_folder = matches!(
        error,
        IsolateError::Refused { .. } | IsolateError::NotFound { .. }
    );
    if let Some(repository) = repository.filter(|_| is_folder) {
        return ToolError::new(format!(
            "git could not enter `{}`, whose folder was replaced or removed at the same time: try again, or clone it again",
            repository.shown
        ))
        .operator(error.to_string());
    }
    ToolError::of(
        ErrorKind::Unavailable,
        "git cannot be run here, details are in the host's log",
    )
    .operator(error.to_string())
}

/// Returns the error for a failed git command, with the part of its message that the model may read.
pub(super) fn failed(word: &str, output: &Output) -> ToolError {
    const MOST: usize = 400;
    let denied = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "unable to get password",
        "helper told us to quit",
        "error: 401",
        "error: 403",
    ];
    let text = &output.stderr;
    let said = if denied.iter().any(|sign| text.contains(sign)) {
        String::from(
            "the server refused access: the repository does not exist, or is private and there is no token for it, or the token does not allow this",
        )
    } else {
        let told = text.lines().filter(|line| {
            ["fatal: ", "error: ", "remote: ", " ! "]
                .iter()
                .any(|sign| line.starts_with(sign))
        });
        let told = told.collect::<Vec<_>>().join("; ");
        let told = if told.is_empty() { text.trim() } else { &told };
        told.chars().take(MOST).collect()
    };
    ToolError::new(format!(
        "`git {word}` failed (exit {}): {said}",
        output.code
    ))
    .operator(text.clone())
}
