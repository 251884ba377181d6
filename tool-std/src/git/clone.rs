//! The `git_clone` tool, which clones a repository into the folder of the conversation.

use std::io::{self, Write as _};
use std::path::PathBuf;

use cap_std::fs::{Dir, OpenOptions};
use tool_core::prelude::*;

use super::command::{Command, Remote};
use super::credential::{self, Scope};
use super::handle::Fetcher;
use super::name::{self, Repo};
use super::private::{PrivateFolder, SITE};
use super::session::{Parts, Session, current, short};
use super::settings::Settings;
use super::state::{self, State};
use super::sweep::{REPOSITORIES, removed, sweep};
use crate::Excerpt;
use crate::workspace::{Workspace, enter};

/// The contents of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloneStatus {
    /// The clone has the files of its last commit.
    Cloned,
    /// The clone is empty, because the repository has no commit yet.
    Empty,
}

/// A repository that was cloned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Cloned {
    /// The absolute path of the clone. Use it to read the files of the clone.
    pub path: String,
    /// The current branch; null if a tag is checked out.
    pub branch: Option<Excerpt<300>>,
    /// The short hash of the current commit; null if there is none.
    pub commit: Option<String>,
    /// Whether the clone has files.
    pub status: CloneStatus,
    /// The duration of the clone in milliseconds.
    pub duration_ms: u64,
    /// Older clones of this conversation that were removed, because they were unused for two hours.
    pub removed: Vec<String>,
}

/// Clones a repository of the host's git server into the workspace, and returns the absolute path of the clone. The clone has the last commit
/// of one branch, without history. Private repositories need the host's token. Older clones that were not used or changed for two hours are
/// deleted, together with commits that were not pushed.
#[tool(
    category = "git",
    example("The default branch", { "repo": "rust-lang/log" }),
    example("Another branch", { "repo": "rust-lang/log", "branch": "release/0.4" }),
)]
pub async fn git_clone(
    git: &Fetcher,
    #[secret("github_token")] token: Option<SecretString>,
    /// The repository, as `owner/name`.
    repo: String,
    /// The branch; null for the repository's default.
    branch: Option<String>,
) -> Result<Cloned, ToolError> {
    let repo = Repo::parse(&repo)?;
    let branch = match &branch {
        Some(branch) => Some(name::branch("/branch", branch)?),
        None => None,
    };
    let session = git.begin();
    let swept = session
        .blocking(|parts| sweep(&parts.workspace, parts.settings.now()))
        .await?;
    swept.warn(&session.parts.workspace);
    let folder = session
        .blocking(|parts| PrivateFolder::make(&parts.workspace))
        .await??;
    let outcome = clone(&session, &repo, branch, &folder, token).await;
    // Remove the folder before the response is sent.
    session.blocking(move |_| folder.remove()).await?;
    let (published, branch, commit) = outcome?;
    let path = published.keep();
    Ok(Cloned {
        path: path.display().to_string(),
        branch: branch.map(Excerpt::of),
        status: match commit {
            Some(_) => CloneStatus::Cloned,
            None => CloneStatus::Empty,
        },
        commit,
        duration_ms: session.elapsed_ms(),
        removed: swept.repositories,
    })
}

async fn clone(
    session: &Session,
    repo: &Repo,
    branch: Option<&str>,
    folder: &PrivateFolder,
    token: Option<SecretString>,
) -> Result<(Published, Option<String>, Option<String>), ToolError> {
    let address = &session.settings().address;
    let url = address.url(repo);
    let token = credential::brought(session.settings(), token);
    let site = folder.repository();
    let mut shim = None;
    if let Some(token) = token.clone() {
        let (name, repo) = (folder.shim(), repo.clone());
        let lent = session.blocking(move |parts| lend(parts, &name, &repo, &token));
        shim = Some(lent.await??);
    }
    let helper = shim.as_deref().map(credential::setting).transpose()?;
    let remote = Remote {
        address,
        url: &url,
        credentials: shim.as_deref(),
        helper: helper.as_deref(),
        pushes: false,
    };
    let command = Command::new("clone")
        .args([
            "--quiet",
            "--no-checkout",
            "--depth=1",
            "--single-branch",
            "--no-local",
            "--no-hardlinks",
        ])
        .args([
            "--no-recurse-submodules",
            "--template=",
            "--origin=origin",
            "--upload-pack=git-upload-pack",
        ])
        .args(branch.map(|branch| format!("--branch={branch}")))
        .arg("--")
        .arg(&url)
        .arg(&site.top)
        .reaches(folder, remote);
    session.succeed(command).await?;
    let commit = short(session, &site, "HEAD").await?;
    if commit.is_some() {
        // The files are checked out without the token and without a network.
        let files = Command::new("reset").args(["--quiet", "--hard"]);
        session.succeed(files.on(&site).writes()).await?;
    }
    let branch = current(session, &site).await?;
    let published = session.blocking({
        let (from, suffix, repo) = (folder.dir()?, folder.suffix().to_owned(), repo.clone());
        move |parts| Published::publish(parts, &from, &suffix, &repo, token.as_ref())
    });
    Ok((published.await??, branch, commit))
}

/// Returns the folder that contains the clones of one owner's repositories.
fn owner_folder(workspace: &Workspace, repo: &Repo) -> io::Result<Dir> {
    enter(&enter(workspace.dir()?, REPOSITORIES)?, &repo.owner)
}

/// Installs the token and the helper for the duration of the clone; returns their folder.
fn lend(parts: &Parts, name: &str, repo: &Repo, token: &SecretString) -> io::Result<PathBuf> {
    let state = State::open(&parts.workspace)?;
    let path = parts.settings.address.repository(repo);
    state.install(name, Scope::of(&parts.settings, &path), token)?;
    Ok(state.path(name))
}

/// A clone in the folder of the conversation, and its state. Both are removed when the value is dropped, unless the clone is kept.
#[derive(Debug)]
struct Published {
    workspace: Workspace,
    state: State,
    /// The folder of the repository's owner.
    parent: Dir,
    owner: String,
    folder: String,
    kept: bool,
}

impl Published {
    /// Moves a clone from the folder of a call into the folder of the conversation.
    fn publish(
        parts: &Parts,
        from: &Dir,
        suffix: &str,
        repo: &Repo,
        token: Option<&SecretString>,
    ) -> io::Result<Self> {
        let workspace = parts.workspace.clone();
        let mut clone = Self {
            state: State::open(&workspace)?,
            parent: owner_folder(&workspace, repo)?,
            workspace,
            owner: repo.owner.clone(),
            folder: format!("{}-{suffix}", repo.name),
            kept: false,
        };
        clone.record(&parts.settings, repo, token, from)?;
        let mut tries = 0..10;
        loop {
            match from.rename(SITE, &clone.parent, &clone.folder) {
                // Another call has just removed the empty folder of the owner.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries.next().is_some() => {
                    clone.parent = owner_folder(&clone.workspace, repo)?;
                }
                moved => return moved.map(|()| clone),
            }
        }
    }

    /// Records the clone's URL and time of use in the host's state. If there is a token, also stores the token there and adds the credential helper
    /// to the clone's configuration.
    fn record(
        &self,
        settings: &Settings,
        repo: &Repo,
        token: Option<&SecretString>,
        from: &Dir,
    ) -> io::Result<()> {
        let (name, address) = (self.name(), &settings.address);
        self.state.record(&name, &address.url(repo))?;
        self.state.mark(&name, settings.now())?;
        if let Some(token) = token {
            let path = address.repository(repo);
            let scope = Scope::of(settings, &path);
            self.state.install(&name, scope, token)?;
            configure(from, &credential::setting(&self.state.path(&name))?)?;
        }
        Ok(())
    }

    fn name(&self) -> String {
        state::name(&self.owner, &self.folder)
    }

    /// Keeps the clone; returns its path.
    fn keep(mut self) -> PathBuf {
        self.kept = true;
        let names = [REPOSITORIES, &self.owner, &self.folder];
        let workspace = self.workspace.path().to_owned();
        names.iter().fold(workspace, |path, name| path.join(name))
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let gone = removed(&self.parent, &self.folder);
        if !gone || self.state.forget(&self.name()).is_err() {
            tracing::warn!(target: "tool_std::git", folder = self.folder, "a failed clone was not removed");
        }
        if let Ok(dir) = self.workspace.dir() {
            // These removals fail, as intended, if a folder is not empty.
            let _ = dir.remove_dir(format!("{REPOSITORIES}/{}", self.owner));
            let _ = dir.remove_dir(REPOSITORIES);
        }
    }
}

/// Adds the helper to the clone's configuration, for a `git fetch` that is run by hand.
fn configure(from: &Dir, helper: &str) -> io::Result<()> {
    let value = helper.replace('\\', r"\\").replace('"', "\\\"");
    let mut options = OpenOptions::new();
    options.append(true);
    let mut config = from.open_with(format!("{SITE}/.git/config"), &options)?;
    write!(
        config,
        "[credential]\n\thelper =\n\thelper = \"{value}\"\n\tuseHttpPath = true\n"
    )
}
