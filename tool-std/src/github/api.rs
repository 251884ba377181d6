//! Requests to GitHub's REST API, <https://docs.github.com/en/rest>.

use std::time::{Duration, SystemTime};

use ::http::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use serde::de::DeserializeOwned;
use tool_core::prelude::*;
use tool_core::{ErrorKind, Issue};
use url::Url;

use crate::http::{Method, Request, bearer};
use crate::vendor::{Client, Fault, Reply};

/// Maximum number of pages that are requested for one list.
const MOST_PAGES: usize = 10;

/// A repository, parsed from `owner/name`.
pub(super) struct Repo<'a> {
    pub(super) owner: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Repo<'a> {
    /// Parses `owner/name`. The names `.` and `..` are refused, because they would lead to a different path of the API.
    pub(super) fn parse(text: &'a str) -> Result<Self, ToolError> {
        match text.split_once('/') {
            Some((owner, name)) if !matches!(name, "." | "..") => Ok(Self { owner, name }),
            _ => Err(ToolError::invalid_arguments(vec![Issue {
                pointer: "/repo".to_owned(),
                expected: "a repository as `owner/name`".to_owned(),
                found: format!("`{text}`"),
            }])),
        }
    }
}

/// Creates a request with the headers that GitHub recommends.
pub(super) fn request(
    client: &Client,
    method: Method,
    path: &[&str],
    token: Option<&SecretString>,
) -> Result<Request, ToolError> {
    dressed(client.request(method, path)?, token)
}

fn dressed(request: Request, token: Option<&SecretString>) -> Result<Request, ToolError> {
    let request = request
        .header(
            ACCEPT,
            HeaderValue::from_static("application/vnd.github+json"),
        )
        .header(
            HeaderName::from_static("x-github-api-version"),
            HeaderValue::from_static("2022-11-28"),
        );
    match token {
        Some(token) => request.secret_header(AUTHORIZATION, &bearer(token)),
        None => Ok(request),
    }
}

/// Sends a request and returns the response if it succeeded.
pub(super) async fn send(client: &Client, request: Request) -> Result<Reply, ToolError> {
    let reply = client.send(request).await?;
    if reply.is_success() {
        return Ok(reply);
    }
    Err(refused(&reply))
}

/// The body of an error.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<Detail>,
}

/// A detail of an error, which is an object or a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Detail {
    Text(String),
    Object {
        #[serde(default)]
        field: Option<String>,
        #[serde(default)]
        code: Option<String>,
        #[serde(default)]
        message: Option<String>,
    },
}

impl Detail {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Object {
                message: Some(message),
                ..
            } => message.clone(),
            Self::Object { field, code, .. } => format!(
                "`{}` is {}",
                field.as_deref().unwrap_or_default(),
                code.as_deref().unwrap_or_default()
            ),
        }
    }
}

fn refused(reply: &Reply) -> ToolError {
    let response = &reply.response;
    let refusal: Refusal = response.json().unwrap_or_default();
    if let Some(wait) = exhausted(reply) {
        let fault = Fault {
            text: refusal.message,
            ..Fault::default()
        };
        return reply
            .refuse(ErrorKind::RateLimited, &fault)
            .retry_after(wait);
    }
    let mut text = refusal.message;
    for detail in &refusal.errors {
        text = format!("{text}; {}", detail.text());
    }
    if let Some(needed) = response.header("x-accepted-github-permissions") {
        text = format!("{text} (needed: {needed})");
    }
    let advice = match response.status() {
        404 => Some(
            "check `repo` and `number`; a private repository is only visible to a token with access to it",
        ),
        422 => Some("change the arguments"),
        _ => None,
    };
    reply.fail(&Fault {
        code: String::new(),
        text,
        advice,
    })
}

/// Returns the time until the primary rate limit is reset, if it is exhausted,
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>.
fn exhausted(reply: &Reply) -> Option<Duration> {
    let response = &reply.response;
    let is_limit = matches!(response.status(), 403 | 429)
        && response.header("x-ratelimit-remaining") == Some("0");
    if !is_limit {
        return None;
    }
    let reset = response.header("x-ratelimit-reset")?.parse().ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Some(Duration::from_secs(reset).saturating_sub(now.unwrap_or_default()))
}

/// The entries of several pages, and whether there are more.
pub(super) struct Pages<T> {
    pub(super) entries: Vec<T>,
    pub(super) more: bool,
}

/// Requests pages until `limit` entries are kept, at most [`MOST_PAGES`]. `read` returns the entries of a page that are kept.
pub(super) async fn pages<P: DeserializeOwned, T>(
    client: &Client,
    first: Request,
    token: Option<&SecretString>,
    limit: usize,
    mut read: impl FnMut(P) -> Vec<T>,
) -> Result<Pages<T>, ToolError> {
    let mut entries = Vec::new();
    let mut next = Some(first);
    for _ in 0..MOST_PAGES {
        let Some(request) = next.take() else { break };
        let reply = send(client, request).await?;
        entries.extend(read(reply.json()?));
        next = match next_page(&reply)? {
            Some(url) => Some(dressed(Request::new(Method::Get, url), token)?),
            None => None,
        };
        if entries.len() >= limit {
            break;
        }
    }
    let more = next.is_some() || entries.len() > limit;
    entries.truncate(limit);
    Ok(Pages { entries, more })
}

/// Returns the URL of the next page, if there is one. Fails if the URL is invalid or has a different origin than this page, because the request for
/// the next page contains the token.
fn next_page(reply: &Reply) -> Result<Option<Url>, ToolError> {
    let Some(links) = reply.response.header("link") else {
        return Ok(None);
    };
    let next = links.split(',').find_map(|link| {
        let (url, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters
            .split(';')
            .any(|parameter| matches!(parameter.trim(), "rel=\"next\"" | "rel=next"));
        is_next.then_some(url)
    });
    let Some(next) = next else { return Ok(None) };
    let here = Url::parse(reply.response.url())?;
    match here.join(next) {
        Ok(url) if url.origin() == here.origin() => Ok(Some(url)),
        _ => Err(ToolError::new(
            "GitHub names a next page at a different address, ask for fewer results",
        )),
    }
}
