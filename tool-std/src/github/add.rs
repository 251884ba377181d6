//! The tools that add issues, pull requests and comments.

use serde_json::json;
use tool_core::prelude::*;

use super::GitHubWrite;
use super::api::{Repo, request, send};
use super::item::{Comment, Item, Label};
use crate::Excerpt;
use crate::http::Method;
use crate::vendor::Client;

/// An issue or a pull request that was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct CreatedIssue {
    /// The number in the repository.
    pub number: u32,
    /// The URL of the page on GitHub.
    pub url: Excerpt<300>,
    /// Labels and assignees of the call that GitHub left out, because they do not exist or the token may not set them.
    pub left_out: Vec<String>,
}

/// A comment that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct CreatedComment {
    /// The URL of the comment on GitHub.
    pub url: Excerpt<300>,
}

/// Creates an issue in a GitHub repository. Search for an existing issue first.
#[tool(
    category = "github",
    example("A bug", { "repo": "acme/site", "title": "The search page is empty", "body": "Open /search?q=a and wait." }),
    example("With a label and a person", { "repo": "acme/site", "title": "Update the imprint", "body": "The address has changed.", "labels": ["content"], "assignee": "octocat" }),
)]
pub async fn create_github_issue(
    github: &GitHubWrite,
    #[secret("github_token")] token: SecretString,
    /// The repository, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: String,
    /// The title of the issue.
    #[arg(length = 1..=256)]
    title: String,
    /// The text, in Markdown.
    #[arg(length = 0..=65536)]
    body: String,
    /// The names of labels of the repository.
    #[arg(default = [], max_items = 20)]
    labels: Vec<String>,
    /// The login of the person to assign.
    #[arg(length = 1..=50)]
    assignee: Option<String>,
) -> Result<CreatedIssue, ToolError> {
    let place = Repo::parse(&repo)?;
    let path = ["repos", place.owner, place.name, "issues"];
    let mut content = json!({"title": title, "body": body});
    if !labels.is_empty() {
        content["labels"] = json!(labels);
    }
    if let Some(assignee) = &assignee {
        content["assignees"] = json!([assignee]);
    }
    let item: Item = post(&github.0, &path, &token, &content).await?;
    let has_label = |name: &String| item.labels.iter().any(|label| is_named(label, name));
    let has_assignee = |name: &String| {
        let mut logins = item.assignees.iter().flatten();
        logins.any(|user| user.login.eq_ignore_ascii_case(name))
    };
    let mut left_out: Vec<String> = labels.into_iter().filter(|name| !has_label(name)).collect();
    left_out.extend(assignee.filter(|name| !has_assignee(name)));
    Ok(CreatedIssue {
        number: item.number,
        url: Excerpt::of(item.html_url),
        left_out,
    })
}

fn is_named(label: &Label, name: &str) -> bool {
    label.name().to_lowercase() == name.to_lowercase()
}

/// Creates a pull request in a GitHub repository, from a branch that was pushed before.
#[tool(
    category = "github",
    example("For a branch", { "repo": "acme/site", "title": "Fix the search page", "body": "Closes #17.", "head": "fix-search", "base": "main" }),
    example("A draft, from a fork", { "repo": "acme/site", "title": "New theme", "body": "", "head": "octocat:theme", "base": "main", "draft": true }),
)]
pub async fn create_github_pull_request(
    github: &GitHubWrite,
    #[secret("github_token")] token: SecretString,
    /// The repository that gets the changes, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: String,
    /// The title of the pull request.
    #[arg(length = 1..=256)]
    title: String,
    /// The text, in Markdown.
    #[arg(length = 0..=65536)]
    body: String,
    /// The branch with the changes; `owner:branch` for a branch of a fork.
    #[arg(length = 1..=250, audit = value)]
    head: String,
    /// The branch that gets the changes.
    #[arg(length = 1..=250, audit = value)]
    base: String,
    /// Whether the pull request is a draft.
    #[arg(default = false)]
    draft: bool,
) -> Result<CreatedIssue, ToolError> {
    let place = Repo::parse(&repo)?;
    let path = ["repos", place.owner, place.name, "pulls"];
    let content = json!({"title": title, "body": body, "head": head, "base": base, "draft": draft});
    let item: Item = post(&github.0, &path, &token, &content).await?;
    Ok(CreatedIssue {
        number: item.number,
        url: Excerpt::of(item.html_url),
        left_out: Vec::new(),
    })
}

/// Adds a comment to a GitHub issue or pull request.
#[tool(
    category = "github",
    example("On an issue", { "repo": "acme/site", "number": 17, "body": "I can reproduce this with version 2.4." }),
    example("On a pull request", { "repo": "acme/site", "number": 18, "body": "The tests pass now." }),
)]
pub async fn comment_github_issue(
    github: &GitHubWrite,
    #[secret("github_token")] token: SecretString,
    /// The repository, as `owner/name`.
    #[arg(pattern = "^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$", audit = value)]
    repo: String,
    /// The number of the issue or pull request.
    #[arg(range = 1..=2_000_000_000)]
    number: u32,
    /// The text, in Markdown.
    #[arg(length = 1..=65536)]
    body: String,
) -> Result<CreatedComment, ToolError> {
    let place = Repo::parse(&repo)?;
    let number = number.to_string();
    let path = [
        "repos",
        place.owner,
        place.name,
        "issues",
        &number,
        "comments",
    ];
    let content = json!({ "body": body });
    let comment: Comment = post(&github.0, &path, &token, &content).await?;
    Ok(CreatedComment {
        url: Excerpt::of(comment.html_url),
    })
}

async fn post<T: serde::de::DeserializeOwned>(
    client: &Client,
    path: &[&str],
    token: &SecretString,
    content: &serde_json::Value,
) -> Result<T, ToolError> {
    let request = request(client, Method::Post, path, Some(token))?.json(content);
    send(client, request).await?.json()
}
