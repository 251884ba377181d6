//! The `git_commit` tool, which commits changes.

use tool_core::prelude::*;

use super::command::Command;
use super::handle::Writer;
use super::name;
use super::repository::Repository;
use super::session::short;
use super::status::{FileState, status};
use crate::Excerpt;

/// Maximum number of nested repositories in a result.
const MOST_LEFT_OUT: usize = 100;

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Committed {
    /// The short hash of the commit.
    pub commit: String,
    /// The current branch; null if no branch is checked out.
    pub branch: Option<Excerpt<300>>,
    /// The number of files that the commit changes.
    pub files: u64,
    /// Repositories inside this repository, which are not committed: the first 100.
    pub left_out: Vec<Excerpt<300>>,
}

/// Commits changes of a cloned repository: all changes, including new files, or only changes below some paths. It does not push.
#[tool(
    category = "git",
    example("Everything", { "path": ".repos/rust-lang/log-1f0c9a3e", "message": "Fix the typo in the readme" }),
    example("One file", { "path": ".repos/rust-lang/log-1f0c9a3e", "message": "Bump the version", "paths": ["Cargo.toml"] }),
)]
pub async fn git_commit(
    git: &Writer,
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    path: String,
    /// The commit message: a line that describes the change, and optionally an empty line and details.
    #[arg(length = 1..=20_000)]
    message: String,
    /// Commit only these files and folders, relative to the repository; null for every change.
    #[arg(min_items = 1, max_items = 100)]
    paths: Option<Vec<String>>,
) -> Result<Committed, ToolError> {
    name::paths("/paths", paths.as_deref().unwrap_or_default())?;
    if message.trim().is_empty() {
        return Err(ToolError::new("the message is empty, describe the change"));
    }
    if message.contains('\0') {
        return Err(ToolError::new(
            "the message contains a NUL character, which git does not accept, remove it",
        ));
    }
    let session = git.begin();
    let (author, email) = session
        .settings()
        .author
        .clone()
        .ok_or_else(|| ToolError::unavailable("the author of commits (`Git::author`)"))?;
    let repository = session.repository(path).await?;
    let only = paths.as_deref().unwrap_or_default();
    let before = status(&session, &repository, "all", only).await?;
    // `git add` would read nested repositories with their own configuration, so it receives the name of each file.
    let (left_out, files): (Vec<_>, Vec<_>) = before
        .changes
        .iter()
        .filter(|change| change.unstaged != FileState::Unchanged)
        .map(|change| change.path.clone())
        .partition(|path| path.ends_with('/'));
    if before.changes.len() == left_out.len() {
        return Err(ToolError::new(
            "there is nothing to commit: no file, or none in `paths`, differs from the last commit, see `git_status`",
        ));
    }
    if !files.is_empty() {
        let list: String = files.iter().flat_map(|file| [file, "\0"]).collect();
        let add = Command::new("add")
            .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .stdin(list.into_bytes())
            .on(&repository)
            .writes();
        session.succeed(add).await?;
    }
    let commit = command(&repository, (&author, &email))
        .args((!only.is_empty()).then_some("--only"))
        .arg("--")
        .args(only)
        .stdin(message.into_bytes());
    let said = session.succeed(commit).await?;
    // Another call may have moved `HEAD` meanwhile.
    let (branch, commit) = made(&said).ok_or_else(|| {
        ToolError::new("the commit was created, but its hash is unknown: see `git_log`")
            .operator(said.lines().next().unwrap_or_default())
    })?;
    let changed = Command::new("diff-tree")
        .args(["--no-commit-id", "--name-only", "--root", "-r", "-z"])
        .arg(commit)
        .on(&repository);
    let changed = session.succeed(changed).await?;
    let short = short(&session, &repository, commit).await?;
    Ok(Committed {
        commit: short.unwrap_or_else(|| commit.to_owned()),
        branch: branch.map(Excerpt::of),
        files: changed.split_terminator('\0').count() as u64,
        left_out: left_out
            .into_iter()
            .take(MOST_LEFT_OUT)
            .map(Excerpt::of)
            .collect(),
    })
}

/// Parses the branch, unless `HEAD` is detached, and the hash of a commit from the line that git prints about it: `[main 1c0ffee…] The subject`,
/// `[main (root-commit) 1c0ffee…] …` or `[detached HEAD 1c0ffee…] …`.
fn made(said: &str) -> Option<(Option<&str>, &str)> {
    let line = said.lines().find_map(|line| line.strip_prefix('['))?;
    let mut words = line.split(' ');
    let first = words.next()?;
    let hash = words.find_map(|word| word.strip_suffix(']'))?;
    let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    // The name of a branch cannot contain a space.
    let is_detached = line.starts_with("detached HEAD ");
    is_hash.then_some(((!is_detached).then_some(first), hash))
}

/// Returns the command `git commit` without paths. It reads the message from standard input.
pub(super) fn command<'a>(
    repository: &'a Repository,
    (author, email): (&str, &str),
) -> Command<'a> {
    Command::new("commit")
        .args(["--no-verify", "--no-gpg-sign"])
        .args(["--cleanup=whitespace", "--file=-"])
        .env("GIT_AUTHOR_NAME", author)
        .env("GIT_AUTHOR_EMAIL", email)
        .env("GIT_COMMITTER_NAME", author)
        .env("GIT_COMMITTER_EMAIL", email)
        .first_output()
        .setting("core.abbrev", "no")
        .on(repository)
        .writes()
}

#[cfg(test)]
mod tests {
    use super::made;

    #[test]
    fn commit_is_read_from_the_line_that_git_prints() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        for (line, branch) in [
            (format!("[main {hash}] [x] a] b"), Some("main")),
            (format!("[a]b (root-commit) {hash}] x"), Some("a]b")),
            (format!("[detached HEAD {hash}] x"), None),
        ] {
            let said = format!("warning: x\n{line}\n 1 file changed\n");
            assert_eq!(made(&said), Some((branch, hash)), "{line}");
        }
        for line in ["", "[main 0123] x", "[main]", "main 0123"] {
            assert_eq!(made(line), None, "{line}");
        }
    }
}
