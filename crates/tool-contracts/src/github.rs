//! The tools of the pack `github` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `get_github_issue`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GetGithubIssue {
    /// The repository, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: String,
    /// The number of the issue or pull request.
    #[cfg_attr(feature = "schema", schema(range = 1..=2_000_000_000))]
    pub number: u32,
    /// The maximum number of comments to return.
    #[cfg_attr(feature = "schema", schema(range = 0..=100))]
    pub comments: Option<u32>,
}

impl ToolContract for GetGithubIssue {
    const NAME: &'static str = "get_github_issue";
    type Input = Self;
    type Output = Issue;
}

/// The arguments of `list_github_issues`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ListGithubIssues {
    /// The repository, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: String,
    /// The kind of the entries; null for both kinds.
    pub kind: Option<IssueKind>,
    /// The state of the entries.
    pub state: Option<StateFilter>,
    /// Labels that an entry must have, all of them.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub labels: Option<Vec<String>>,
    /// The login of the person to whom an entry is assigned; `none` for entries without an assignee, and `*` for any assignee.
    #[cfg_attr(feature = "schema", schema(length = 1..=50))]
    pub assignee: Option<String>,
    /// The maximum number of entries to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=100))]
    pub limit: Option<u32>,
}

impl ToolContract for ListGithubIssues {
    const NAME: &'static str = "list_github_issues";
    type Input = Self;
    type Output = Issues;
}

/// The arguments of `search_github_issues`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchGithubIssues {
    /// Words, and qualifiers of GitHub such as `in:title` or `label:bug`.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub query: String,
    /// The repository to search, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: Option<String>,
    /// The kind of the entries.
    pub kind: Option<IssueKind>,
    /// The state of the entries.
    pub state: Option<StateFilter>,
    /// The maximum number of entries to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=100))]
    pub limit: Option<u32>,
}

impl ToolContract for SearchGithubIssues {
    const NAME: &'static str = "search_github_issues";
    type Input = Self;
    type Output = Issues;
}

/// The arguments of `get_github_pull_request`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GetGithubPullRequest {
    /// The repository, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: String,
    /// The number of the pull request.
    #[cfg_attr(feature = "schema", schema(range = 1..=2_000_000_000))]
    pub number: u32,
}

impl ToolContract for GetGithubPullRequest {
    const NAME: &'static str = "get_github_pull_request";
    type Input = Self;
    type Output = PullRequest;
}

/// The arguments of `create_github_issue`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreateGithubIssue {
    /// The repository, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: String,
    /// The title of the issue.
    #[cfg_attr(feature = "schema", schema(length = 1..=256))]
    pub title: String,
    /// The text, in Markdown.
    #[cfg_attr(feature = "schema", schema(length = 0..=65536))]
    pub body: String,
    /// The names of labels of the repository.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub labels: Option<Vec<String>>,
    /// The login of the person to assign.
    #[cfg_attr(feature = "schema", schema(length = 1..=50))]
    pub assignee: Option<String>,
}

impl ToolContract for CreateGithubIssue {
    const NAME: &'static str = "create_github_issue";
    type Input = Self;
    type Output = CreatedIssue;
}

/// The arguments of `create_github_pull_request`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreateGithubPullRequest {
    /// The repository that gets the changes, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: String,
    /// The title of the pull request.
    #[cfg_attr(feature = "schema", schema(length = 1..=256))]
    pub title: String,
    /// The text, in Markdown.
    #[cfg_attr(feature = "schema", schema(length = 0..=65536))]
    pub body: String,
    /// The branch with the changes; `owner:branch` for a branch of a fork.
    #[cfg_attr(feature = "schema", schema(length = 1..=250))]
    pub head: String,
    /// The branch that gets the changes.
    #[cfg_attr(feature = "schema", schema(length = 1..=250))]
    pub base: String,
    /// Whether the pull request is a draft.
    pub draft: Option<bool>,
}

impl ToolContract for CreateGithubPullRequest {
    const NAME: &'static str = "create_github_pull_request";
    type Input = Self;
    type Output = CreatedIssue;
}

/// The arguments of `comment_github_issue`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CommentGithubIssue {
    /// The repository, as `owner/name`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")
    )]
    pub repo: String,
    /// The number of the issue or pull request.
    #[cfg_attr(feature = "schema", schema(range = 1..=2_000_000_000))]
    pub number: u32,
    /// The text, in Markdown.
    #[cfg_attr(feature = "schema", schema(length = 1..=65536))]
    pub body: String,
}

impl ToolContract for CommentGithubIssue {
    const NAME: &'static str = "comment_github_issue";
    type Input = Self;
    type Output = CreatedComment;
}

/// The kind of an entry. GitHub numbers issues and pull requests of a repository together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// The entry is an issue.
    Issue,
    /// The entry is a pull request.
    PullRequest,
}

/// An issue or a pull request in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct IssueSummary {
    /// The repository, as `owner/name`.
    pub repo: String,
    /// The number in the repository.
    pub number: u32,
    /// Whether it is an issue or a pull request.
    pub kind: IssueKind,
    /// The title of the issue or pull request.
    pub title: String,
    /// The state: `open` or `closed`.
    pub state: String,
    /// The login of the author.
    pub author: String,
    /// The names of the labels.
    pub labels: Vec<String>,
    /// The logins of the assignees.
    pub assignees: Vec<String>,
    /// The number of comments.
    pub comments: u32,
    /// The beginning of the text, in Markdown.
    pub body: String,
    /// The time of the creation, in ISO 8601.
    pub created_at: String,
    /// The time of the last change, in ISO 8601.
    pub updated_at: String,
    /// The URL of the page on GitHub.
    pub url: String,
}

/// A comment on an issue or a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct IssueComment {
    /// The login of the author.
    pub author: String,
    /// The text, in Markdown; at most 4,000 characters.
    pub body: String,
    /// The time of the creation, in ISO 8601.
    pub created_at: String,
    /// The URL of the comment on GitHub.
    pub url: String,
}

/// A filter for the state of issues and pull requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum StateFilter {
    /// Only open ones.
    Open,
    /// Only closed ones, merged pull requests included.
    Closed,
    /// All of them.
    All,
}

/// Issues and pull requests of a list or a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Issues {
    /// The entries: newest first in a list, best match first in a search.
    pub issues: Vec<IssueSummary>,
    /// The number of matches of a search, which may be more than are returned; null for a list.
    pub total: Option<u32>,
    /// Whether there are more than returned; narrow the filters or the query to see them.
    pub truncated: bool,
}

/// One issue or pull request with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Issue {
    /// The summary, whose `body` is only the beginning of the text.
    pub issue: IssueSummary,
    /// The text, in Markdown; at most 20,000 characters.
    pub body: String,
    /// The first comments, as many as requested.
    pub comments: Vec<IssueComment>,
    /// Whether there are more comments than returned.
    pub truncated: bool,
}

/// One pull request with its branches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PullRequest {
    /// The number in the repository.
    pub number: u32,
    /// The title of the pull request.
    pub title: String,
    /// The state: `open` or `closed`.
    pub state: String,
    /// Whether the pull request is a draft.
    pub draft: bool,
    /// Whether the pull request was merged.
    pub merged: bool,
    /// Whether it can be merged without conflicts; null if GitHub has not computed this.
    pub mergeable: Option<bool>,
    /// The login of the author.
    pub author: String,
    /// The branch with the changes, as `owner:branch`.
    pub head: String,
    /// The branch that gets the changes.
    pub base: String,
    /// The number of commits.
    pub commits: u32,
    /// The number of changed files.
    pub changed_files: u32,
    /// The number of added lines.
    pub additions: u32,
    /// The number of deleted lines.
    pub deletions: u32,
    /// The text, in Markdown; at most 20,000 characters.
    pub body: String,
    /// The URL of the page on GitHub.
    pub url: String,
}

/// An issue or a pull request that was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreatedIssue {
    /// The number in the repository.
    pub number: u32,
    /// The URL of the page on GitHub.
    pub url: String,
    /// Labels and assignees of the call that GitHub left out, because they do not exist or the token may not set them.
    pub left_out: Vec<String>,
}

/// A comment that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreatedComment {
    /// The URL of the comment on GitHub.
    pub url: String,
}
