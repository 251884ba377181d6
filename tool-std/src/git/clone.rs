//! `git_clone`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, OpenOptions};
use tool_core::prelude::*;

use super::command::{Command, Remote};
use super::credential::{self, Scope};
use super::handle::Fetcher;
use super::name::{self, Repo};
use super::repository::Repository;
use super::session::{Parts, Session, current, short};
use super::settings::Settings;
use super::state::{self, EPHEMERAL, State};
use super::sweep::{REPOSITORIES, removed, sweep};
use crate::workspace::{Workspace, enter};

/// What a clone has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloneStatus {
    /// Files of its last commit.
    Cloned,
    /// Nothing: the repository has no commit yet.
    Empty,
}

/// A repository that was cloned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Cloned {
    /// Its folder, absolute. Files in it are read by this path.
    pub path: String,
    /// The branch that is checked out; nothing where it is a tag.
    pub branch: Option<String>,
    /// The commit that is checked out, in short; nothing where there is none.
    pub commit: Option<String>,
    /// Whether there is anything in it.
    pub status: CloneStatus,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Older clones of this conversation that are gone now, because nobody used or changed them for two hours.
    pub removed: Vec<String>,
}

/// Clones a repository of the host's git server into the workspace and returns the absolute path of the clone: the last commit of one
/// branch, without history. Private repositories need the host's token. Clones that no tool used and nothing changed for two hours are removed, with
/// the work in them that was not pushed.
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
    let place = session
        .blocking({
            let repo = repo.clone();
            move |parts| Place::take(parts, &repo)
        })
        .await??;
    let path = place.spot.path();
    let outcome = clone(&session, &repo, branch, &place.spot, token).await;
    match outcome {
        Ok(_) => place.keep(),
        // It is gone before the answer comes.
        Err(_) => session.blocking(move |_| place.discard()).await?,
    }
    let (branch, commit) = outcome?;
    Ok(Cloned {
        path: path.display().to_string(),
        branch,
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
    place: &Arc<Spot>,
    token: Option<SecretString>,
) -> Result<(Option<String>, Option<String>), ToolError> {
    let address = &session.settings().address;
    let url = address.url(repo);
    let token = credential::brought(session.settings(), token);
    let mut shim = None;
    if let Some(token) = token.clone() {
        let (place, repo) = (Arc::clone(place), repo.clone());
        let lent = session.blocking(move |parts| place.lend(&parts.settings, &repo, &token));
        shim = Some(lent.await??);
    }
    let helper = shim.as_deref().map(credential::setting).transpose()?;
    let command = Command::new("clone")
        .args([
            "--quiet",
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
        .arg(place.path())
        .writes()
        .reaches(Remote {
            address,
            url: &url,
            credentials: shim.as_deref(),
            helper: helper.as_deref(),
            pushes: false,
        });
    session.succeed(command).await?;
    let settled = session.blocking({
        let (place, repo) = (Arc::clone(place), repo.clone());
        move |parts| place.settle(&parts.settings, &repo, token.as_ref())
    });
    settled.await??;
    let repository = place.repository();
    let branch = current(session, &repository).await?;
    Ok((branch, short(session, &repository, "HEAD").await?))
}

/// Where a clone goes, and what the host keeps of it. All of it goes when it is dropped, unless it is kept.
#[derive(Debug)]
struct Place {
    spot: Arc<Spot>,
    settled: bool,
}

#[derive(Debug)]
struct Spot {
    workspace: Workspace,
    state: State,
    /// The folder of the owner.
    parent: Dir,
    owner: String,
    folder: String,
    suffix: String,
}

impl Place {
    fn take(parts: &Parts, repo: &Repo) -> io::Result<Self> {
        Ok(Self {
            spot: Arc::new(Spot::take(parts, repo)?),
            settled: false,
        })
    }

    fn keep(mut self) {
        self.settled = true;
    }

    fn discard(mut self) {
        self.settled = true;
        if !self.spot.remove() {
            tracing::warn!(target: "tool_std::git", folder = self.spot.folder, "a failed clone was not removed");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        // The call was cancelled: its git dies at this moment and may still write.
        let spot = Arc::clone(&self.spot);
        let removal = std::thread::Builder::new().spawn(move || {
            for _ in 0..20 {
                spot.remove();
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        // What no thread can be had for goes with what is old.
        if let Err(error) = removal {
            tracing::warn!(target: "tool_std::git", %error, "a clone that was given up was not removed");
        }
    }
}

impl Spot {
    /// A new folder that nobody else has.
    fn take(parts: &Parts, repo: &Repo) -> io::Result<Self> {
        let workspace = parts.workspace.clone();
        let state = State::open(&workspace)?;
        for _ in 0..100 {
            let suffix = state::suffix();
            let folder = format!("{}-{suffix}", repo.name);
            let parent = enter(&enter(workspace.dir()?, REPOSITORIES)?, &repo.owner)?;
            match parent.create_dir(&folder) {
                Ok(()) => {
                    return Ok(Self {
                        workspace,
                        state,
                        parent,
                        owner: repo.owner.clone(),
                        folder,
                        suffix,
                    });
                }
                // Taken, or somebody has just removed the owner's empty folder.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no name for a clone is free"))
    }

    fn path(&self) -> PathBuf {
        let names = [REPOSITORIES, &self.owner, &self.folder];
        names
            .iter()
            .fold(self.workspace.path().to_owned(), |path, name| {
                path.join(name)
            })
    }

    fn name(&self) -> String {
        state::name(&self.owner, &self.folder)
    }

    fn shim(&self) -> String {
        format!("{EPHEMERAL}{}", self.suffix)
    }

    /// The clone; nobody else has written in it yet.
    fn repository(&self) -> Repository {
        Repository {
            top: self.path(),
            shown: self.folder.clone(),
            kept: None,
            config: Vec::new(),
        }
    }

    /// Token and helper for as long as the clone runs; where they are.
    fn lend(&self, settings: &Settings, repo: &Repo, token: &SecretString) -> io::Result<PathBuf> {
        let path = settings.address.repository(repo);
        let scope = Scope::of(settings, &path);
        self.state.install(&self.shim(), scope, token)?;
        Ok(self.state.path(&self.shim()))
    }

    /// What is kept of a clone that has come to its end.
    fn settle(
        &self,
        settings: &Settings,
        repo: &Repo,
        token: Option<&SecretString>,
    ) -> io::Result<()> {
        self.state.forget(&self.shim())?;
        let (name, address) = (self.name(), &settings.address);
        self.state.record(&name, &address.url(repo))?;
        self.state.mark(&name, settings.now())?;
        if let Some(token) = token {
            let path = address.repository(repo);
            let scope = Scope::of(settings, &path);
            self.state.install(&name, scope, token)?;
            self.configure(&credential::setting(&self.state.path(&name))?)?;
        }
        Ok(())
    }

    /// Tells git itself whom to ask, for a fetch that is not ours.
    fn configure(&self, helper: &str) -> io::Result<()> {
        let value = helper.replace('\\', r"\\").replace('"', "\\\"");
        let dot_git = self
            .parent
            .open_dir_nofollow(&self.folder)?
            .open_dir_nofollow(".git")?;
        let mut options = OpenOptions::new();
        options.append(true);
        let mut config = dot_git.open_with("config", &options)?;
        write!(
            config,
            "[credential]\n\thelper =\n\thelper = \"{value}\"\n\tuseHttpPath = true\n"
        )
    }

    /// Whether nothing is left of it.
    fn remove(&self) -> bool {
        let gone = removed(&self.parent, &self.folder);
        let forgotten = [self.name(), self.shim()].map(|name| self.state.forget(&name).is_ok());
        if let Ok(dir) = self.workspace.dir() {
            // Only where they are empty.
            let _ = dir.remove_dir(format!("{REPOSITORIES}/{}", self.owner));
            let _ = dir.remove_dir(REPOSITORIES);
        }
        gone && forgotten == [true, true]
    }
}
