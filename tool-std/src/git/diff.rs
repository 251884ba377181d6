//! The `git_diff` tool, which shows changes as text.

use tool_core::prelude::*;

use super::command::Command;
use super::handle::Reader;
use super::name;
use super::repository::Repository;

/// The difference as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Diff {
    /// The difference in git's unified format; empty if there is none.
    pub diff: String,
    /// The size of the whole difference in bytes.
    pub bytes: u64,
    /// Whether `diff` is only the beginning of the difference: then request one path at a time.
    pub truncated: bool,
}

/// Shows the changes in a cloned repository: in the working tree (default), in the index, or between two commits. `git_status` shows
/// untracked files; this tool does not.
#[tool(
    category = "git",
    example("Changes that are not staged", { "path": ".repos/rust-lang/log-1f0c9a3e" }),
    example("The changes of the last commit in one file", {
        "path": ".repos/rust-lang/log-1f0c9a3e", "from": "HEAD~1", "to": "HEAD", "paths": ["src/lib.rs"],
    }),
)]
pub async fn git_diff(
    git: &Reader,
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    path: String,
    /// Compare the index with `from` or with the last commit.
    #[arg(default = false)]
    staged: bool,
    /// The commit to compare with: a hash, a branch, a tag or `HEAD`, optionally followed by `~2`.
    from: Option<String>,
    /// The commit to compare; null for the working tree. Needs `from`.
    to: Option<String>,
    /// Compare only these files and folders, relative to the repository.
    #[arg(max_items = 100)]
    paths: Option<Vec<String>>,
    /// The maximum number of bytes of `diff`.
    #[arg(default = 65536, range = 1..=1_000_000)]
    max_bytes: u32,
) -> Result<Diff, ToolError> {
    let paths = paths.unwrap_or_default();
    name::paths("/paths", &paths)?;
    let commits = match (&from, &to) {
        (None, Some(_)) => return Err(ToolError::new("`to` needs `from`, name both commits")),
        (_, Some(_)) if staged => {
            return Err(ToolError::new(
                "`staged` and `to` exclude each other, leave one out",
            ));
        }
        (from, to) => {
            let mut commits = Vec::new();
            for (pointer, commit) in [("/from", from), ("/to", to)] {
                if let Some(commit) = commit {
                    commits.push(name::revision(pointer, commit)?);
                }
            }
            commits
        }
    };
    let session = git.begin();
    let repository = session.repository(path).await?;
    let command = command(&repository)
        .args(staged.then_some("--cached"))
        .args(commits)
        .arg("--")
        .args(&paths);
    let mut diff = session.succeed(command).await?;
    let bytes = diff.len();
    let most = diff.floor_char_boundary(max_bytes as usize);
    diff.truncate(most);
    Ok(Diff {
        truncated: diff.len() < bytes,
        bytes: bytes as u64,
        diff,
    })
}

/// Returns the command `git diff` without the commits and paths to compare.
pub(super) fn command(repository: &Repository) -> Command<'_> {
    Command::new("diff")
        .args([
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--ignore-submodules=all",
            "--submodule=short",
        ])
        .on(repository)
}
