//! The `git_status` tool, which lists changed files.

use tool_core::prelude::*;

use super::command::Command;
use super::handle::Reader;
use super::repository::Repository;
use super::session::Session;
use crate::Excerpt;

/// Maximum number of changes in a result.
const MOST: usize = 500;
/// Maximum number of bytes of the paths of these changes.
const MOST_BYTES: usize = 64 << 10;

/// The state of a file, in the index or in the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// The file is unchanged.
    Unchanged,
    /// The file is new.
    Added,
    /// The content has changed.
    Modified,
    /// The file was deleted.
    Deleted,
    /// The file was renamed.
    Renamed,
    /// The file is a copy of a different file.
    Copied,
    /// The type changed, between a file and a link.
    TypeChanged,
    /// The file has a merge conflict.
    Unmerged,
    /// Git does not track the file.
    Untracked,
}

/// A file that differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct FileChange {
    /// The path of the file in the repository. The path of a folder with only new files ends with `/`.
    pub path: String,
    /// The path before the file was renamed, or the path of the file that was copied.
    pub from: Option<String>,
    /// The state in the index, for the next commit.
    pub staged: FileState,
    /// The state in the working tree, compared with the index.
    pub unstaged: FileState,
}

/// The status of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Status {
    /// The current branch; null if a single commit is checked out.
    pub branch: Option<Excerpt<300>>,
    /// The last commit; null if there is none.
    pub commit: Option<String>,
    /// The upstream: the branch on the server that the current branch tracks.
    pub upstream: Option<Excerpt<300>>,
    /// The number of commits that only the current branch has.
    pub ahead: Option<u64>,
    /// The number of commits that only the upstream has.
    pub behind: Option<u64>,
    /// The files that differ: at most 500, and at most 64 KiB of paths.
    pub changes: Vec<FileChange>,
    /// Whether there are more files.
    pub truncated: bool,
}

/// Returns the current branch of a cloned repository, the numbers of commits ahead of and behind its upstream, and the files that differ from
/// the last commit.
#[tool(
    category = "git",
    example("A clone", { "path": ".repos/rust-lang/log-1f0c9a3e" }),
    example("By the path that `git_clone` returned", { "path": "/srv/workspaces/acme/conversations/c1/.repos/rust-lang/log-1f0c9a3e" }),
)]
pub async fn git_status(
    git: &Reader,
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    path: String,
) -> Result<Status, ToolError> {
    let session = git.begin();
    let repository = session.repository(path).await?;
    let mut status = status(&session, &repository, "normal", &[]).await?;
    let all = status.changes.len();
    let mut bytes = 0;
    status.changes.truncate(MOST);
    status.changes.retain(|change| {
        let own = change.path.len() + change.from.as_ref().map_or(0, String::len);
        let fits = bytes + own <= MOST_BYTES;
        bytes += if fits { own } else { 0 };
        fits
    });
    status.truncated = status.changes.len() < all;
    Ok(status)
}

/// Returns the status of the whole repository, or of the paths below `paths`.
pub(super) async fn status(
    session: &Session,
    repository: &Repository,
    untracked: &str,
    paths: &[String],
) -> Result<Status, ToolError> {
    let command = command(repository, untracked, paths);
    Ok(parse(&session.succeed(command).await?))
}

pub(super) fn command<'a>(
    repository: &'a Repository,
    untracked: &str,
    paths: &[String],
) -> Command<'a> {
    Command::new("status")
        .args(["--porcelain=v2", "--branch", "-z"])
        .arg(format!("--untracked-files={untracked}"))
        .args([
            "--ignore-submodules=all",
            "--find-renames",
            "--ahead-behind",
            "--",
        ])
        .args(paths)
        .on(repository)
}

/// Parses lines that end with NUL. A renamed or copied file has an additional line for its old path.
fn parse(text: &str) -> Status {
    let mut status = Status {
        branch: None,
        commit: None,
        upstream: None,
        ahead: None,
        behind: None,
        changes: Vec::new(),
        truncated: false,
    };
    let mut lines = text.split_terminator('\0');
    while let Some(line) = lines.next() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "#" => header(&mut status, rest),
            "1" => status.changes.extend(change(rest, 7, None)),
            "2" => status.changes.extend(change(rest, 8, lines.next())),
            "u" => status
                .changes
                .extend(rest.splitn(10, ' ').nth(9).map(unmerged)),
            "?" => status.changes.push(FileChange {
                path: rest.to_owned(),
                from: None,
                staged: FileState::Unchanged,
                unstaged: FileState::Untracked,
            }),
            _ => {}
        }
    }
    status
}

fn header(status: &mut Status, rest: &str) {
    let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
    match name {
        "branch.oid" if value != "(initial)" => status.commit = Some(value.to_owned()),
        "branch.head" if value != "(detached)" => status.branch = Some(Excerpt::of(value)),
        "branch.upstream" => status.upstream = Some(Excerpt::of(value)),
        "branch.ab" => {
            let count = |text: Option<&str>| text?.get(1..)?.parse().ok();
            let mut counts = value.split(' ');
            status.ahead = count(counts.next());
            status.behind = count(counts.next());
        }
        _ => {}
    }
}

/// Parses `XY …` with this many fields before the path.
fn change(rest: &str, fields: usize, from: Option<&str>) -> Option<FileChange> {
    let path = rest.splitn(fields + 1, ' ').nth(fields)?;
    let mut states = rest.chars().map(state);
    Some(FileChange {
        path: path.to_owned(),
        from: from.map(str::to_owned),
        staged: states.next()?,
        unstaged: states.next()?,
    })
}

fn unmerged(path: &str) -> FileChange {
    FileChange {
        path: path.to_owned(),
        from: None,
        staged: FileState::Unmerged,
        unstaged: FileState::Unmerged,
    }
}

fn state(letter: char) -> FileState {
    match letter {
        'A' => FileState::Added,
        'M' => FileState::Modified,
        'D' => FileState::Deleted,
        'R' => FileState::Renamed,
        'C' => FileState::Copied,
        'T' => FileState::TypeChanged,
        'U' => FileState::Unmerged,
        _ => FileState::Unchanged,
    }
}
