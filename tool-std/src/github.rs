//! Tools for the issues and pull requests of GitHub.
//!
//! ```text
//! search_github_issues {"query": "panic on empty input", "repo": "acme/parser", "state": "open"}
//!
//! {"issues":[{"repo":"acme/parser","number":17,"kind":"issue","title":"Panic on empty input","state":"open","author":"octocat",
//!  "labels":["bug"],"assignees":[],"comments":2,"body":"The parser panics if …","created_at":"2026-03-01T09:30:00Z",
//!  "updated_at":"2026-03-02T08:00:00Z","url":"https://github.com/acme/parser/issues/17"}],"total":1,"truncated":false}
//! ```
//!
//! | tool | effect |
//! |---|---|
//! | [`get_github_issue`](fn@get_github_issue), [`get_github_pull_request`](fn@get_github_pull_request) | reads one issue or pull request |
//! | [`list_github_issues`](fn@list_github_issues), [`search_github_issues`](fn@search_github_issues) | reads lists of them |
//! | [`create_github_issue`](fn@create_github_issue), [`create_github_pull_request`](fn@create_github_pull_request), [`comment_github_issue`](fn@comment_github_issue) | adds an issue, a pull request or a comment |
//!
//! Each action is a tool, so that reading needs no approval and can be repeated after an error.
//!
//! | secret | meaning |
//! |---|---|
//! | `github_token` | a token with access to the issues and pull requests; without it, the tools that write are hidden, and the others read public repositories |
//!
//! A host that uses GitHub Enterprise Server sets the address of its API:
//!
//! ```
//! use tool_core::ToolContext;
//! use tool_std::github::GitHub;
//! use tool_std::vendor::Api;
//!
//! let github = GitHub::default().api(Api::at("https://github.example.com/api/v3"));
//! let cx = ToolContext::builder().with(github).build();
//! # drop(cx);
//! ```
//!
//! # Limits
//!
//! A list has at most 100 entries, with the first 500 characters of each body; a single issue has the first 20,000. At most 10 pages are requested for
//! a list. The audit stores only the lengths of titles, bodies and queries. [`vendor`](crate::vendor) describes rate limits and errors.

mod add;
mod api;
mod item;
mod read;

pub use add::{
    CreatedComment, CreatedIssue, comment_github_issue, create_github_issue,
    create_github_pull_request,
};
pub use item::{IssueComment, IssueKind, IssueSummary};
pub use read::{
    Issue, Issues, PullRequest, StateFilter, get_github_issue, get_github_pull_request,
    list_github_issues, search_github_issues,
};

use tool_core::Effect;
use tool_core::prelude::*;

use crate::vendor::{Api, Client};

/// Settings of the GitHub tools. Pass them with [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone, Debug)]
#[must_use]
pub struct GitHub {
    api: Api,
}

impl Default for GitHub {
    fn default() -> Self {
        Self {
            api: Api::public("https://api.github.com"),
        }
    }
}

impl GitHub {
    /// Sets the address of the REST API, by default `https://api.github.com`.
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }
}

fn client(cx: &ToolContext) -> Client {
    let settings: GitHub = cx.extension().unwrap_or_default();
    Client::new("GitHub", &settings.api, cx)
}

/// Permission to read from GitHub, as a host value: `github: &GitHubRead`.
#[derive(Clone, Debug)]
pub struct GitHubRead(Client);

impl FromContext for GitHubRead {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(client(cx)))
    }
}

/// Permission to add issues, pull requests and comments, as a host value: `github: &GitHubWrite`.
#[derive(Clone, Debug)]
pub struct GitHubWrite(Client);

impl FromContext for GitHubWrite {
    const EFFECT: Effect = Effect::WRITE.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(client(cx)))
    }
}
