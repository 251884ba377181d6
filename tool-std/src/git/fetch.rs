//! `git_fetch`.

use tool_core::prelude::*;

use super::command::{Command, Remote};
use super::handle::Fetcher;
use super::repository::Repository;
use super::session::{helper, recorded, short};

/// What a fetch brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Fetched {
    /// The branch as this repository has it now: `origin/…`.
    pub branch: String,
    /// Its last commit before, in short; nothing where it was not known.
    pub before: Option<String>,
    /// Its last commit now, in short.
    pub commit: String,
    /// Whether the two differ.
    pub updated: bool,
}

/// Fetches a branch of a repository that `git_clone` made from the server, as `origin/…`. What is checked out stays as it is: use `git_branch` to make a branch
/// from what was fetched.
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
    /// The branch on the server; null for the one that is checked out.
    branch: Option<String>,
) -> Result<Fetched, ToolError> {
    let session = git.begin();
    let (repository, branch) = session.signed_in(path, branch, token).await?;
    let helper = helper(&repository)?;
    let remote = recorded(&repository, &session.settings().address, helper.as_deref())?;
    let tracking = format!("refs/remotes/origin/{branch}");
    let before = short(&session, &repository, &tracking).await?;
    let command = command(&repository, remote, &branch);
    session.succeed(command).await?;
    let commit = short(&session, &repository, &tracking)
        .await?
        .unwrap_or_default();
    Ok(Fetched {
        branch: format!("origin/{branch}"),
        updated: before.as_ref() != Some(&commit),
        before,
        commit,
    })
}

pub(super) fn command<'a>(
    repository: &'a Repository,
    remote: Remote<'a>,
    branch: &str,
) -> Command<'a> {
    Command::new("fetch")
        .args([
            "--quiet",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-tags",
        ])
        .args([
            "--no-write-fetch-head",
            "--upload-pack=git-upload-pack",
            "--",
        ])
        .arg(remote.url)
        .arg(format!("+refs/heads/{branch}:refs/remotes/origin/{branch}"))
        .on(repository)
        .writes()
        .reaches(remote)
}
