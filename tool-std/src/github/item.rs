//! Issues and pull requests, as GitHub sends them and as tools return them.

use tool_core::prelude::*;

use crate::Excerpt;

/// The kind of an entry. GitHub numbers issues and pull requests of a repository together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// The entry is an issue.
    Issue,
    /// The entry is a pull request.
    PullRequest,
}

/// An issue or a pull request in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct IssueSummary {
    /// The repository, as `owner/name`.
    pub repo: Excerpt<150>,
    /// The number in the repository.
    pub number: u32,
    /// Whether it is an issue or a pull request.
    pub kind: IssueKind,
    /// The title of the issue or pull request.
    pub title: Excerpt<300>,
    /// The state: `open` or `closed`.
    pub state: Excerpt<20>,
    /// The login of the author.
    pub author: Excerpt<50>,
    /// The names of the labels.
    pub labels: Vec<Excerpt<100>>,
    /// The logins of the assignees.
    pub assignees: Vec<Excerpt<50>>,
    /// The number of comments.
    pub comments: u32,
    /// The beginning of the text, in Markdown.
    pub body: Excerpt<500>,
    /// The time of the creation, in ISO 8601.
    pub created_at: Excerpt<30>,
    /// The time of the last change, in ISO 8601.
    pub updated_at: Excerpt<30>,
    /// The URL of the page on GitHub.
    pub url: Excerpt<300>,
}

/// A comment on an issue or a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct IssueComment {
    /// The login of the author.
    pub author: Excerpt<50>,
    /// The text, in Markdown; at most 4,000 characters.
    pub body: Excerpt<4_000>,
    /// The time of the creation, in ISO 8601.
    pub created_at: Excerpt<30>,
    /// The URL of the comment on GitHub.
    pub url: Excerpt<300>,
}

/// An issue or a pull request, as GitHub sends it.
#[derive(Debug, Deserialize)]
pub(super) struct Item {
    pub(super) number: u32,
    pub(super) title: String,
    pub(super) state: String,
    pub(super) html_url: String,
    #[serde(default)]
    repository_url: String,
    user: Option<User>,
    #[serde(default)]
    pub(super) labels: Vec<Label>,
    #[serde(default)]
    pub(super) assignees: Option<Vec<User>>,
    #[serde(default)]
    comments: u32,
    pub(super) body: Option<String>,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    updated_at: String,
    #[serde(default)]
    pull_request: Option<serde::de::IgnoredAny>,
}

/// A person or an app.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
}

/// A label, which is an object or a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Label {
    Text(String),
    Object { name: Option<String> },
}

impl Label {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Text(name) => name,
            Self::Object { name } => name.as_deref().unwrap_or_default(),
        }
    }
}

impl Item {
    pub(super) fn kind(&self) -> IssueKind {
        match self.pull_request {
            Some(_) => IssueKind::PullRequest,
            None => IssueKind::Issue,
        }
    }

    /// Returns the summary. `repo` is the repository of the call; if it is `None`, as in a search, the repository that GitHub names is used.
    pub(super) fn summary(&self, repo: Option<&str>) -> IssueSummary {
        let logins = self.assignees.iter().flatten();
        IssueSummary {
            repo: Excerpt::of(repo.unwrap_or_else(|| self.repo())),
            number: self.number,
            kind: self.kind(),
            title: Excerpt::of(self.title.as_str()),
            state: Excerpt::of(self.state.as_str()),
            author: author(self.user.as_ref()),
            labels: self
                .labels
                .iter()
                .map(|label| Excerpt::of(label.name()))
                .collect(),
            assignees: logins
                .map(|user| Excerpt::of(user.login.as_str()))
                .collect(),
            comments: self.comments,
            body: Excerpt::of(self.body.as_deref().unwrap_or_default()),
            created_at: Excerpt::of(self.created_at.as_str()),
            updated_at: Excerpt::of(self.updated_at.as_str()),
            url: Excerpt::of(self.html_url.as_str()),
        }
    }

    /// Returns the last two segments of the repository's URL.
    fn repo(&self) -> &str {
        let url = self.repository_url.as_str();
        let slashes = url.rmatch_indices('/').nth(1);
        slashes.map_or(url, |(at, _)| &url[at + 1..])
    }
}

/// A comment, as GitHub sends it.
#[derive(Debug, Deserialize)]
pub(super) struct Comment {
    pub(super) html_url: String,
    user: Option<User>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    created_at: String,
}

impl Comment {
    pub(super) fn shown(self) -> IssueComment {
        IssueComment {
            author: author(self.user.as_ref()),
            body: Excerpt::of(self.body.unwrap_or_default()),
            created_at: Excerpt::of(self.created_at),
            url: Excerpt::of(self.html_url),
        }
    }
}

/// Returns the login of an author. GitHub sends null for deleted accounts, which its pages show as `ghost`.
pub(super) fn author(user: Option<&User>) -> Excerpt<50> {
    Excerpt::of(user.map_or("ghost", |user| user.login.as_str()))
}
