//! The `git_fetch` tool, which fetches a branch from the server.

use std::ffi::OsString;

use tool_core::prelude::*;

use super::command::{Command, Remote};
use super::handle::Fetcher;
use super::private;
use super::repository::Repository;
use super::session::{Session, helper, recorded, short};

/// The reference of the fetched commit in the private repository.
const FETCHED: &str = "refs/fetched";

/// The result of a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Fetched {
    /// The name of the fetched branch in this repository: `origin/…`.
    pub branch: String,
    /// The short hash of its last commit before the fetch; null if the branch is new here.
    pub before: Option<String>,
    /// The short hash of its last commit after the fetch.
    pub commit: String,
    /// Whether the last commit has changed.
    pub updated: bool,
}

/// Fetches a branch from the server into a repository that `git_clone` cloned, as `origin/…`. The working tree does not change. Use
/// `git_branch` to create a branch from the fetched branch.
#[tool(
    category = "git",
    example("The branch that is checked out", { "path": ".repos/rust-lang/log-1f0c9a3e" }),
    example("Another branch", { "path": ".repos/rust-lang/log-1f0c9a3e", "branch": "release/0.4" }),
)]
pub async fn git_fetch(
    git: &Fetcher,
    #[secret("github_token")] token: Option<SecretString>,
    /// The repository: the `path` that `git_clone` returned.
    path: String,
    /// The branch on the server; null for the current branch.
    branch: Option<String>,
) -> Result<Fetched, ToolError> {
    let session = git.begin();
    let (repository, branch) = session.signed_in(path, branch, token).await?;
    let helper = helper(&repository)?;
    let remote = recorded(&repository, &session.settings().address, helper.as_deref())?;
    let tracking = format!("refs/remotes/origin/{branch}");
    let before = short(&session, &repository, &tracking).await?;
    let commit = fetch(&session, &repository, remote, &branch).await?;
    let commit = short(&session, &repository, &commit)
        .await?
        .unwrap_or(commit);
    Ok(Fetched {
        branch: format!("origin/{branch}"),
        updated: before.as_ref() != Some(&commit),
        before,
        commit,
    })
}

/// Fetches a branch into a private repository, and from there, without a network, into the repository of the conversation. Returns the hash of the
/// branch's last commit on the server; another call may have moved the branch in the conversation's repository meanwhile.
pub(super) async fn fetch(
    session: &Session,
    repository: &Repository,
    remote: Remote<'_>,
    branch: &str,
) -> Result<String, ToolError> {
    let folder = private::copied(session, repository, None).await?;
    let own = folder.repository();
    let there = command(remote.url, &format!("refs/heads/{branch}"), FETCHED)
        .on(&own)
        .reaches(&folder, remote);
    let own_path = own.top.join(".git");
    let tracking = format!("refs/remotes/origin/{branch}");
    let here = command(&own_path, FETCHED, &tracking)
        .on(repository)
        .writes()
        .fetches_from(&folder);
    let fetched = async {
        session.succeed(there).await?;
        let commit = Command::new("rev-parse").args(["--verify", FETCHED]);
        let commit = session.succeed(commit.on(&own)).await?;
        session.succeed(here).await?;
        Ok(commit.trim().to_owned())
    };
    let fetched = fetched.await;
    session.blocking(|_| folder.remove()).await?;
    fetched
}

fn command<'a>(from: impl Into<OsString>, source: &str, target: &str) -> Command<'a> {
    Command::new("fetch")
        .args([
            "--quiet",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-tags",
        ])
        .args([
            "--no-write-fetch-head",
            "--update-shallow",
            "--upload-pack=git-upload-pack",
            "--",
        ])
        .arg(from)
        .arg(format!("+{source}:{target}"))
}
