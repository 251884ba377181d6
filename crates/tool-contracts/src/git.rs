//! The tools of the pack `git` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `git_clone`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitClone {
    /// The repository, as `owner/name`.
    pub repo: String,
    /// The branch; null for the repository's default.
    pub branch: Option<String>,
}

impl ToolContract for GitClone {
    const NAME: &'static str = "git_clone";
    type Input = Self;
    type Output = Cloned;
}

/// The arguments of `git_status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitStatus {
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    pub path: String,
}

impl ToolContract for GitStatus {
    const NAME: &'static str = "git_status";
    type Input = Self;
    type Output = Status;
}

/// The arguments of `git_diff`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitDiff {
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    pub path: String,
    /// Compare the index with `from` or with the last commit.
    pub staged: Option<bool>,
    /// The commit to compare with: a hash, a branch, a tag or `HEAD`, optionally followed by `~2`.
    pub from: Option<String>,
    /// The commit to compare; null for the working tree. Needs `from`.
    pub to: Option<String>,
    /// Compare only these files and folders, relative to the repository.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub paths: Option<Vec<String>>,
    /// The maximum number of bytes of `diff`.
    #[cfg_attr(feature = "schema", schema(range = 1..=1_000_000))]
    pub max_bytes: Option<u32>,
}

impl ToolContract for GitDiff {
    const NAME: &'static str = "git_diff";
    type Input = Self;
    type Output = Diff;
}

/// The arguments of `git_log`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitLog {
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    pub path: String,
    /// The commit to begin with: a hash, a branch, a tag or `HEAD`, optionally followed by `~2`; null for `HEAD`.
    pub revision: Option<String>,
    /// The maximum number of commits.
    #[cfg_attr(feature = "schema", schema(range = 1..=200))]
    pub limit: Option<u32>,
    /// List only commits that changed these files and folders, relative to the repository.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub paths: Option<Vec<String>>,
}

impl ToolContract for GitLog {
    const NAME: &'static str = "git_log";
    type Input = Self;
    type Output = Log;
}

/// The arguments of `git_commit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitCommit {
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    pub path: String,
    /// The commit message: a line that describes the change, and optionally an empty line and details.
    #[cfg_attr(feature = "schema", schema(length = 1..=20_000))]
    pub message: String,
    /// Commit only these files and folders, relative to the repository; null for every change.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 100))]
    pub paths: Option<Vec<String>>,
}

impl ToolContract for GitCommit {
    const NAME: &'static str = "git_commit";
    type Input = Self;
    type Output = Committed;
}

/// The arguments of `git_branch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitBranch {
    /// The repository: the `path` that `git_clone` returned, or a path relative to the workspace.
    pub path: String,
    /// The action to perform.
    pub action: BranchAction,
    /// The name of the branch; not for `list`.
    pub name: Option<String>,
    /// The commit at which a new branch begins: a hash, a branch, a tag or `HEAD`; null for the current commit. Only for `create`.
    pub from: Option<String>,
}

impl ToolContract for GitBranch {
    const NAME: &'static str = "git_branch";
    type Input = Self;
    type Output = Branches;
}

/// The arguments of `git_fetch`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitFetch {
    /// The repository: the `path` that `git_clone` returned.
    pub path: String,
    /// The branch on the server; null for the current branch.
    pub branch: Option<String>,
}

impl ToolContract for GitFetch {
    const NAME: &'static str = "git_fetch";
    type Input = Self;
    type Output = Fetched;
}

/// The arguments of `git_push`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GitPush {
    /// The repository: the `path` that `git_clone` returned.
    pub path: String,
    /// The branch; null for the current branch.
    pub branch: Option<String>,
}

impl ToolContract for GitPush {
    const NAME: &'static str = "git_push";
    type Input = Self;
    type Output = Pushed;
}

/// The contents of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum CloneStatus {
    /// The clone has the files of its last commit.
    Cloned,
    /// The clone is empty, because the repository has no commit yet.
    Empty,
}

/// A repository that was cloned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Cloned {
    /// The absolute path of the clone. Use it to read the files of the clone.
    pub path: String,
    /// The current branch; null if a tag is checked out.
    pub branch: Option<String>,
    /// The short hash of the current commit; null if there is none.
    pub commit: Option<String>,
    /// Whether the clone has files.
    pub status: CloneStatus,
    /// The duration of the clone in milliseconds.
    pub duration_ms: u64,
    /// Older clones of this conversation that were removed, because they were unused for two hours.
    pub removed: Vec<String>,
}

/// The state of a file, in the index or in the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Status {
    /// The current branch; null if a single commit is checked out.
    pub branch: Option<String>,
    /// The last commit; null if there is none.
    pub commit: Option<String>,
    /// The upstream: the branch on the server that the current branch tracks.
    pub upstream: Option<String>,
    /// The number of commits that only the current branch has.
    pub ahead: Option<u64>,
    /// The number of commits that only the upstream has.
    pub behind: Option<u64>,
    /// The files that differ: at most 500, and at most 64 KiB of paths.
    pub changes: Vec<FileChange>,
    /// Whether there are more files.
    pub truncated: bool,
}

/// The difference as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Diff {
    /// The difference in git's unified format; empty if there is none.
    pub diff: String,
    /// The size of the whole difference in bytes.
    pub bytes: u64,
    /// Whether `diff` is only the beginning of the difference: then request one path at a time.
    pub truncated: bool,
}

/// One commit of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Commit {
    /// The hash of the commit.
    pub commit: String,
    /// The name of the author, at most 200 characters.
    pub author: String,
    /// The e-mail address of the author, at most 200 characters.
    pub email: String,
    /// The time at which the author wrote the commit, in ISO 8601.
    pub date: String,
    /// The first line of the message, at most 500 characters.
    pub subject: String,
    /// The rest of the message, at most 2,000 characters.
    pub body: String,
}

/// Commits, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Log {
    /// The commits, newest first.
    pub commits: Vec<Commit>,
    /// Whether there are more commits.
    pub truncated: bool,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Committed {
    /// The short hash of the commit.
    pub commit: String,
    /// The current branch; null if no branch is checked out.
    pub branch: Option<String>,
    /// The number of files that the commit changes.
    pub files: u64,
    /// Repositories inside this repository, which are not committed: the first 100.
    pub left_out: Vec<String>,
}

/// The action on branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Branch {
    /// The name of the branch, at most 300 characters. The name of a branch of the server begins with `origin/`.
    pub name: String,
    /// The short hash of its last commit.
    pub commit: String,
}

/// The branches after the action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Branches {
    /// The current branch; null if a single commit is checked out.
    pub current: Option<String>,
    /// All branches, at most 200.
    pub branches: Vec<Branch>,
    /// Whether there are more branches.
    pub truncated: bool,
}

/// The result of a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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

/// The effect of a push on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum PushStatus {
    /// The branch is new on the server.
    Created,
    /// The branch has new commits on the server.
    Updated,
    /// The server had all commits already.
    UpToDate,
}

/// A branch that was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Pushed {
    /// The name of the branch.
    pub branch: String,
    /// The short hash of its last commit.
    pub commit: String,
    /// The effect on the branch of the server.
    pub status: PushStatus,
}
