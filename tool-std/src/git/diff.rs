//! The `git_diff` tool, which shows changes as text.

use tool_core::prelude::*;

use super::command::Command;
use super::handle::Reader;
use super::name;
use super::repository::Repository;

/// What changed, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Diff {
    /// The difference in git's unified format; empty where there is none.
    pub diff: String,
    /// Bytes of the whole difference.
    pub bytes: u64,
    /// Whether `diff` is only its beginning: ask for one path at a time.
    pub truncated: bool,
}

/// Shows what changed in a cloned repository: in the working tree (the default), in what is staged, or between two commits. Files that git does not know
/// yet are in `git_status`, not here.
#[tool(
    category = "git",
    example("What is not staged", { "path": ".repos/rust-lang/log-1f0c9a3e" }),
    example("What the last commit changed in one file", {
        "path": ".repos/rust-lang/log-1f0c9a3e", "from": "HEAD~1", "to": "HEAD", "paths": ["src/lib.rs"],
    }),
)]
pub async fn git_diff(
    git: &Reader,
    /// The repository: the `path` that `git_clone` returned, or a path from the workspace on.
    path: String,
    /// What is staged, against `from` or the last commit.
    #[arg(default = false)]
    staged: bool,
    /// The commit to compare with: a hash, a branch, a tag or `HEAD`, perhaps with `~2` behind it.
    from: Option<String>,
    /// The commit to compare; null for the working tree. Needs `from`.
    to: Option<String>,
    /// Only these files and folders, from the repository on.
    #[arg(max_items = 100)]
    paths: Option<Vec<String>>,
    /// Most bytes of `diff`.
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

/// `git diff` without the commits and paths to compare.
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
