//! The `git_log` tool, which lists commits.

use tool_core::prelude::*;

use super::command::Command;
use super::handle::Reader;
use super::name;
use super::repository::Repository;
use crate::Excerpt;

/// One commit of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Commit {
    /// The hash of the commit.
    pub commit: String,
    /// The name of the author, at most 200 characters.
    pub author: Excerpt<200>,
    /// The e-mail address of the author, at most 200 characters.
    pub email: Excerpt<200>,
    /// The time at which the author wrote the commit, in ISO 8601.
    pub date: String,
    /// The first line of the message, at most 500 characters.
    pub subject: Excerpt<500>,
    /// The rest of the message, at most 2,000 characters.
    pub body: Excerpt<2_000>,
}

/// Commits, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Log {
    /// The commits, newest first.
    pub commits: Vec<Commit>,
    /// Whether there are more commits.
    pub truncated: bool,
}

/// Lists commits of a cloned repository, the newest first. A clone by `git_clone` has only the last commit, and commits that were made or
/// fetched since.
#[tool(
    category = "git",
    example("The last commits", { "path": ".repos/rust-lang/log-1f0c9a3e" }),
    example("The last change of one file", { "path": ".repos/rust-lang/log-1f0c9a3e", "limit": 1, "paths": ["Cargo.toml"] }),
)]
pub async fn git_log(
    git: &Reader,
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    path: String,
    /// The commit to begin with: a hash, a branch, a tag or `HEAD`, optionally followed by `~2`; null for `HEAD`.
    revision: Option<String>,
    /// The maximum number of commits.
    #[arg(default = 20, range = 1..=200)]
    limit: u32,
    /// List only commits that changed these files and folders, relative to the repository.
    #[arg(max_items = 100)]
    paths: Option<Vec<String>>,
) -> Result<Log, ToolError> {
    let paths = paths.unwrap_or_default();
    name::paths("/paths", &paths)?;
    let revision = name::revision("/revision", revision.as_deref().unwrap_or("HEAD"))?;
    let session = git.begin();
    let repository = session.repository(path).await?;
    let command = command(&repository, revision, limit + 1)
        .arg("--")
        .args(&paths);
    let text = session.succeed(command).await?;
    let mut commits = parse(&text);
    let truncated = commits.len() > limit as usize;
    commits.truncate(limit as usize);
    Ok(Log { commits, truncated })
}

/// Returns the command `git log` without paths.
pub(super) fn command<'a>(repository: &'a Repository, revision: &str, count: u32) -> Command<'a> {
    Command::new("log")
        .args([
            "--no-show-signature",
            "--no-mailmap",
            "--no-notes",
            "--no-color",
            "--no-patch",
            "-z",
        ])
        .arg("--format=%H%x00%an%x00%ae%x00%aI%x00%s%x00%b")
        .arg(format!("--max-count={count}"))
        .arg(revision)
        .on(repository)
}

/// Parses commits of six fields each; no field of a commit can contain a NUL.
fn parse(text: &str) -> Vec<Commit> {
    let fields: Vec<&str> = text.split('\0').collect();
    fields
        .chunks_exact(6)
        .map(|fields| Commit {
            commit: fields[0].to_owned(),
            author: Excerpt::of(fields[1]),
            email: Excerpt::of(fields[2]),
            date: fields[3].to_owned(),
            subject: Excerpt::of(fields[4]),
            body: Excerpt::of(fields[5].trim_end()),
        })
        .collect()
}
