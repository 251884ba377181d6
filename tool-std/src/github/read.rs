//! The tools that read issues and pull requests.

use tool_core::prelude::*;

use super::GitHubRead;
use super::api::{Pages, Repo, pages, request, send};
use super::item::{Comment, IssueComment, IssueKind, IssueSummary, Item, User, author};
use crate::Excerpt;
use crate::http::{Method, Request};

/// Number of entries of a page, the most that GitHub allows.
const PER_PAGE: &str = "100";

/// A filter for the state of issues and pull requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateFilter {
    /// Only open ones.
    Open,
    /// Only closed ones, merged pull requests included.
    Closed,
    /// All of them.
    All,
}

impl StateFilter {
    fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }
}

/// Issues and pull requests of a list or a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Issues {
    /// The entries: newest first in a list, best match first in a search.
    pub issues: Vec<IssueSummary>,
    /// The number of matches of a search, which may be more than are returned; null for a list.
    pub total: Option<u32>,
    /// Whether there are more than returned; narrow the filters or the query to see them.
    pub truncated: bool,
}

/// One issue or pull request with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Issue {
    /// The summary, whose `body` is only the beginning of the text.
    pub issue: IssueSummary,
    /// The text, in Markdown; at most 20,000 characters.
    pub body: Excerpt<20_000>,
    /// The first comments, as many as requested.
    pub comments: Vec<IssueComment>,
    /// Whether there are more comments than returned.
    pub truncated: bool,
}

/// One pull request with its branches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PullRequest {
    /// The number in the repository.
    pub number: u32,
    /// The title of the pull request.
    pub title: Excerpt<300>,
    /// The state: `open` or `closed`.
    pub state: Excerpt<20>,
    /// Whether the pull request is a draft.
    pub draft: bool,
    /// Whether the pull request was merged.
    pub merged: bool,
    /// Whether it can be merged without conflicts; null if GitHub has not computed this.
    pub mergeable: Option<bool>,
    /// The login of the author.
    pub author: Excerpt<50>,
    /// The branch with the changes, as `owner:branch`.
    pub head: Excerpt<300>,
    /// The branch that gets the changes.
    pub base: Excerpt<300>,
    /// The number of commits.
    pub commits: u32,
    /// The number of changed files.
    pub changed_files: u32,
    /// The number of added lines.
    pub additions: u32,
    /// The number of deleted lines.
    pub deletions: u32,
    /// The text, in Markdown; at most 20,000 characters.
    pub body: Excerpt<20_000>,
    /// The URL of the page on GitHub.
    pub url: Excerpt<300>,
}

/// Reads one GitHub issue or pull request: title, state, labels, text and, if requested, its first comments.
#[tool(
    category = "github",
    example("Only the issue", { "repo": "rust-lang/log", "number": 17 }),
    example("With comments", { "repo": "rust-lang/log", "number": 17, "comments": 20 }),
)]
pub async fn get_github_issue(
    github: &GitHubRead,
    #[secret("github_token")] token: Option<SecretString>,
    /// The repository, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: String,
    /// The number of the issue or pull request.
    #[arg(range = 1..=2_000_000_000)]
    number: u32,
    /// The maximum number of comments to return.
    #[arg(default = 0, range = 0..=100)]
    comments: u32,
) -> Result<Issue, ToolError> {
    let (client, token) = (&github.0, token.as_ref());
    let place = Repo::parse(&repo)?;
    let number = number.to_string();
    let path = ["repos", place.owner, place.name, "issues", &number];
    let reply = send(client, request(client, Method::Get, &path, token)?).await?;
    let item: Item = reply.json()?;
    let issue = item.summary(Some(&repo));
    let Pages { entries, more } = if comments == 0 {
        Pages {
            more: issue.comments > 0,
            entries: Vec::new(),
        }
    } else {
        let path = [&path[..], &["comments"]].concat();
        let first = request(client, Method::Get, &path, token)?.query("per_page", PER_PAGE);
        let read = |page: Vec<Comment>| page.into_iter().map(Comment::shown).collect();
        pages(client, first, token, as_count(comments), read).await?
    };
    Ok(Issue {
        body: Excerpt::of(item.body.unwrap_or_default()),
        issue,
        comments: entries,
        truncated: more,
    })
}

/// Lists the issues or pull requests of a GitHub repository, newest first.
#[tool(
    category = "github",
    example("Open issues", { "repo": "rust-lang/log" }),
    example("Closed pull requests", { "repo": "rust-lang/log", "kind": "pull_request", "state": "closed", "limit": 10 }),
    example("Bugs of a person", { "repo": "rust-lang/log", "labels": ["bug"], "assignee": "octocat" }),
)]
pub async fn list_github_issues(
    github: &GitHubRead,
    #[secret("github_token")] token: Option<SecretString>,
    /// The repository, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: String,
    /// The kind of the entries; null for both kinds.
    kind: Option<IssueKind>,
    /// The state of the entries.
    #[arg(default = "open")]
    state: StateFilter,
    /// Labels that an entry must have, all of them.
    #[arg(default = [], max_items = 20)]
    labels: Vec<String>,
    /// The login of the person to whom an entry is assigned; `none` for entries without an assignee, and `*` for any assignee.
    #[arg(length = 1..=50)]
    assignee: Option<String>,
    /// The maximum number of entries to return.
    #[arg(default = 30, range = 1..=100)]
    limit: u32,
) -> Result<Issues, ToolError> {
    let place = Repo::parse(&repo)?;
    let path = ["repos", place.owner, place.name, "issues"];
    let mut first = request(&github.0, Method::Get, &path, token.as_ref())?
        .query("state", state.as_str())
        .query("per_page", PER_PAGE);
    if !labels.is_empty() {
        first = first.query("labels", labels.join(","));
    }
    if let Some(assignee) = assignee {
        first = first.query("assignee", assignee);
    }
    // The API lists both kinds, so entries of the other kind are left out here.
    let read = |page: Vec<Item>| {
        let wanted = page
            .into_iter()
            .filter(|item| kind.is_none_or(|kind| item.kind() == kind));
        wanted.map(|item| item.summary(Some(&repo))).collect()
    };
    let found = pages(&github.0, first, token.as_ref(), as_count(limit), read).await?;
    Ok(Issues {
        issues: found.entries,
        total: None,
        truncated: found.more,
    })
}

/// Searches GitHub issues or pull requests, best match first. Without `repo`, it searches everything that the token can see.
#[tool(
    category = "github",
    example("In one repository", { "query": "panic on empty input", "repo": "rust-lang/log" }),
    example("Qualifiers of GitHub", { "query": "author:octocat created:>2026-01-01", "kind": "pull_request", "state": "all" }),
)]
pub async fn search_github_issues(
    github: &GitHubRead,
    #[secret("github_token")] token: Option<SecretString>,
    /// Words, and qualifiers of GitHub such as `in:title` or `label:bug`.
    #[arg(length = 1..=200)]
    query: String,
    /// The repository to search, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: Option<String>,
    /// The kind of the entries.
    #[arg(default = "issue")]
    kind: IssueKind,
    /// The state of the entries.
    #[arg(default = "open")]
    state: StateFilter,
    /// The maximum number of entries to return.
    #[arg(default = 30, range = 1..=100)]
    limit: u32,
) -> Result<Issues, ToolError> {
    let mut words = vec![query];
    if let Some(repo) = &repo {
        words.push(format!("repo:{repo}"));
    }
    words.push(match kind {
        IssueKind::Issue => "is:issue".to_owned(),
        IssueKind::PullRequest => "is:pull-request".to_owned(),
    });
    if state != StateFilter::All {
        words.push(format!("state:{}", state.as_str()));
    }
    let first = request(
        &github.0,
        Method::Get,
        &["search", "issues"],
        token.as_ref(),
    )?;
    let first = first
        .query("q", words.join(" "))
        .query("per_page", PER_PAGE);
    search(github, first, token.as_ref(), as_count(limit)).await
}

/// A page of a search.
#[derive(Debug, Deserialize)]
struct Found {
    total_count: u32,
    #[serde(default)]
    incomplete_results: bool,
    items: Vec<Item>,
}

async fn search(
    github: &GitHubRead,
    first: Request,
    token: Option<&SecretString>,
    limit: usize,
) -> Result<Issues, ToolError> {
    let (mut total, mut incomplete) = (0, false);
    let read = |page: Found| {
        total = page.total_count;
        incomplete |= page.incomplete_results;
        page.items.iter().map(|item| item.summary(None)).collect()
    };
    let found = pages(&github.0, first, token, limit, read).await?;
    Ok(Issues {
        issues: found.entries,
        total: Some(total),
        truncated: found.more || incomplete,
    })
}

/// A pull request, as GitHub sends it.
#[derive(Debug, Deserialize)]
struct Pull {
    number: u32,
    title: String,
    state: String,
    html_url: String,
    user: Option<User>,
    body: Option<String>,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    merged: bool,
    mergeable: Option<bool>,
    head: Branch,
    base: Branch,
    #[serde(default)]
    commits: u32,
    #[serde(default)]
    changed_files: u32,
    #[serde(default)]
    additions: u32,
    #[serde(default)]
    deletions: u32,
}

/// A branch of a pull request. The label is `owner:branch`.
#[derive(Debug, Deserialize)]
struct Branch {
    #[serde(default)]
    label: Option<String>,
    #[serde(rename = "ref")]
    name: String,
}

/// Reads one GitHub pull request: its branches, whether it is merged or can be merged, the size of its changes, and its text.
#[tool(
    category = "github",
    example("A pull request", { "repo": "rust-lang/log", "number": 17 }),
    example("Another repository", { "repo": "acme/site", "number": 4 }),
)]
pub async fn get_github_pull_request(
    github: &GitHubRead,
    #[secret("github_token")] token: Option<SecretString>,
    /// The repository, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: String,
    /// The number of the pull request.
    #[arg(range = 1..=2_000_000_000)]
    number: u32,
) -> Result<PullRequest, ToolError> {
    let place = Repo::parse(&repo)?;
    let number = number.to_string();
    let path = ["repos", place.owner, place.name, "pulls", &number];
    let request = request(&github.0, Method::Get, &path, token.as_ref())?;
    let pull: Pull = send(&github.0, request).await?.json()?;
    Ok(PullRequest {
        number: pull.number,
        title: Excerpt::of(pull.title),
        state: Excerpt::of(pull.state),
        draft: pull.draft,
        merged: pull.merged,
        mergeable: pull.mergeable,
        author: author(pull.user.as_ref()),
        head: Excerpt::of(pull.head.label.unwrap_or(pull.head.name)),
        base: Excerpt::of(pull.base.name),
        commits: pull.commits,
        changed_files: pull.changed_files,
        additions: pull.additions,
        deletions: pull.deletions,
        body: Excerpt::of(pull.body.unwrap_or_default()),
        url: Excerpt::of(pull.html_url),
    })
}

fn as_count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
