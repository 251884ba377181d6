//! The `git_branch` tool, which lists, creates, checks out and deletes branches.

use tool_core::prelude::*;

use super::command::Command;
use super::handle::Writer;
use super::name;
use super::repository::Repository;
use super::session::{Session, current};
use crate::Excerpt;

/// Maximum number of branches in a result.
const MOST: usize = 200;

/// The action on branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchAction {
    /// List all of the branches.
    List,
    /// Create a branch and check it out.
    Create,
    /// Check out an existing branch.
    Switch,
    /// Delete a branch whose commits are in a different branch.
    Delete,
}

/// One branch of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Branch {
    /// The name of the branch, at most 300 characters. The name of a branch of the server begins with `origin/`.
    pub name: Excerpt<300>,
    /// The short hash of its last commit.
    pub commit: String,
}

/// The branches after the action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Branches {
    /// The current branch; null if a single commit is checked out.
    pub current: Option<Excerpt<300>>,
    /// All branches, at most 200.
    pub branches: Vec<Branch>,
    /// Whether there are more branches.
    pub truncated: bool,
}

/// Lists, creates, checks out or deletes branches of a cloned repository. Changes that are not committed are kept; if an action would lose
/// them, it fails.
#[tool(
    category = "git",
    example("All branches", { "path": ".repos/rust-lang/log-1f0c9a3e", "action": "list" }),
    example("A new branch from the current commit", { "path": ".repos/rust-lang/log-1f0c9a3e", "action": "create", "name": "fix/typo" }),
    example("A branch that was fetched", {
        "path": ".repos/rust-lang/log-1f0c9a3e", "action": "create", "name": "release", "from": "origin/release",
    }),
)]
pub async fn git_branch(
    git: &Writer,
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    path: String,
    /// The action to perform.
    action: BranchAction,
    /// The name of the branch; not for `list`.
    name: Option<String>,
    /// The commit at which a new branch begins: a hash, a branch, a tag or `HEAD`; null for the current commit. Only for `create`.
    from: Option<String>,
) -> Result<Branches, ToolError> {
    let wanted = |name: &Option<String>| match name {
        Some(text) => name::branch("/name", text).map(str::to_owned),
        None => Err(ToolError::new(
            "`name` is missing, write the name of the branch",
        )),
    };
    if from.is_some() && action != BranchAction::Create {
        return Err(ToolError::new("`from` is only for `create`, leave it out"));
    }
    let command = match action {
        BranchAction::List => None,
        BranchAction::Create => {
            let from = name::revision("/from", from.as_deref().unwrap_or("HEAD"))?;
            let name = wanted(&name)?;
            Some(
                Command::new("switch")
                    .args([
                        "--quiet",
                        "--no-guess",
                        "--no-recurse-submodules",
                        "--create",
                        &name,
                    ])
                    .args((from != "HEAD").then_some(from)),
            )
        }
        BranchAction::Switch => Some(
            Command::new("switch")
                .args(["--quiet", "--no-guess", "--no-recurse-submodules"])
                .arg(wanted(&name)?),
        ),
        BranchAction::Delete => Some(
            Command::new("branch")
                .args(["--quiet", "--delete", "--"])
                .arg(wanted(&name)?),
        ),
    };
    let session = git.begin();
    let repository = session.repository(path).await?;
    if let Some(command) = command {
        session.succeed(command.on(&repository).writes()).await?;
    }
    list(&session, &repository).await
}

async fn list(session: &Session, repository: &Repository) -> Result<Branches, ToolError> {
    let command = Command::new("for-each-ref")
        .arg(format!("--count={}", MOST + 1))
        .arg("--format=%(symref)%00%(refname:lstrip=2)%00%(objectname:short)")
        .args(["refs/heads/", "refs/remotes/"])
        .on(repository);
    let text = session.succeed(command).await?;
    let mut branches: Vec<Branch> = text
        .lines()
        // Skip symbolic references such as `origin/HEAD`, which only refer to a different branch.
        .filter_map(|line| line.strip_prefix('\0')?.split_once('\0'))
        .map(|(name, commit)| Branch {
            name: Excerpt::of(name),
            commit: commit.to_owned(),
        })
        .collect();
    let truncated = branches.len() > MOST;
    branches.truncate(MOST);
    Ok(Branches {
        current: current(session, repository).await?.map(Excerpt::of),
        branches,
        truncated,
    })
}
