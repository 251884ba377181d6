//! The `fetch_webpage` tool, which returns the main text of a web page.

use std::collections::HashSet;
use std::time::Instant;

use tool_core::ErrorKind;
use tool_core::prelude::*;
use url::Url;

use super::article::{self, Article, LONGEST_URL, MOST_LINKS};
use super::pages::{FetchedPage, Pages};
use crate::Excerpt;
use crate::charset::{charset, decode};
use crate::html::{TooMuch, apart};
use crate::http::{HttpRead, Method, Request, Response};
use crate::http::{cut_chars, is_text, looks_like_text, media_type};

/// Maximum number of characters of the links in a result, unless `max_chars` is larger.
const LINKS: usize = 1_000;

/// The text of a web page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Page {
    /// The URL of the page, after all redirects.
    pub url: String,
    /// The title of the page, at most 300 characters.
    pub title: Option<Excerpt<300>>,
    /// The main text of the page, as Markdown.
    pub markdown: String,
    /// The links in the main text, each once: the first 100, with at most 1,000 characters in total, or `max_chars` if that is more.
    pub links: Vec<Link>,
    /// Whether text of the page was left out, or links were left out because of the limit of their characters.
    pub truncated: bool,
    /// The citation of the page.
    pub citation: PageCitation,
}

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Link {
    /// The text of the link, at most 200 characters.
    pub text: Excerpt<200>,
    /// The URL of the link.
    pub url: String,
}

/// The source of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PageCitation {
    /// The kind of the source: `web`.
    pub source: String,
    /// The URL of the page.
    pub source_id: String,
    /// The time at which the page was read, in ISO 8601.
    pub retrieved_at: String,
}

/// Reads one web page and returns its main text as Markdown, with its links and without navigation and advertising. For an API or a file, use
/// `http_get`.
#[tool(
    category = "web",
    example("A page", { "url": "https://example.com/blog/post" }),
    example("Only its beginning", { "url": "https://example.com/blog/post", "max_chars": 2000 }),
)]
pub async fn fetch_webpage(
    http: &HttpRead,
    pages: &Pages,
    cx: &ToolContext,
    #[secret("firecrawl_api_key", label = "API key of Firecrawl")] key: Option<SecretString>,
    /// The whole URL, `https://…` or `http://…`, of a page on the internet.
    #[arg(length = 1..=4096)]
    url: String,
    /// The maximum number of characters of the text to return.
    #[arg(default = 20000, range = 100..=200000)]
    max_chars: u32,
) -> Result<Page, ToolError> {
    let most = usize::try_from(max_chars).unwrap_or(usize::MAX);
    let (url, mut article, mut truncated) = match pages.fetch(key.as_ref(), &url).await {
        Some(page) => read_by_service(page?, &url)?,
        None => read_here(http, url).await?,
    };
    truncated |= cut_chars(&mut article.markdown, most);
    truncated |= cut_links(&mut article.links, most.max(LINKS));
    let citation = Citation::new("web", &url);
    let page = Page {
        url,
        title: article.title,
        markdown: article.markdown,
        links: article.links,
        truncated,
        citation: PageCitation {
            source: citation.source().to_owned(),
            source_id: citation.source_id().to_owned(),
            retrieved_at: citation.retrieved_at_text().to_owned(),
        },
    };
    cx.cite(citation);
    Ok(page)
}

/// Reads a page in this program. Returns its URL, its text, and whether the response was cut.
async fn read_here(http: &HttpRead, url: String) -> Result<(String, Article, bool), ToolError> {
    // One deadline covers the response and the extraction of its text.
    let deadline = Instant::now() + http.longest();
    let response = http.send(Request::new(Method::Get, url)).await?;
    if response.status() != 200 {
        return Err(refused(&response));
    }
    let article = text(&response, deadline).await?;
    Ok((response.url().to_owned(), article, response.is_cut()))
}

/// Converts a page that a service has read. The response of the service is as untrusted as the page.
fn read_by_service(page: FetchedPage, asked: &str) -> Result<(String, Article, bool), ToolError> {
    if let Some(status) = page.status.filter(|status| *status != 200) {
        return Err(ToolError::new(format!(
            "`{asked}` returned the status {status}, use another URL"
        )));
    }
    let web = |url: &str| {
        let whole = Url::parse(url).ok().filter(|_| url.len() <= LONGEST_URL);
        whole.filter(|url| matches!(url.scheme(), "http" | "https"))
    };
    let url = web(&page.url).map_or_else(|| asked.to_owned(), String::from);
    let mut seen = HashSet::new();
    let links = page.links.iter().filter_map(|link| web(link));
    let links = links.filter(|link| seen.insert(link.clone()));
    let links = links.take(MOST_LINKS).map(|link| Link {
        text: Excerpt::of(link.as_str()),
        url: link.into(),
    });
    let article = Article {
        title: page.title.map(Excerpt::of),
        markdown: page.markdown.trim().to_owned(),
        links: links.collect(),
    };
    Ok((url, article, false))
}

/// Removes the links after `most` characters in total; returns whether any were removed.
fn cut_links(links: &mut Vec<Link>, most: usize) -> bool {
    let mut chars = 0;
    let kept = links
        .iter()
        .take_while(|link| {
            chars += link.text.chars().count() + link.url.chars().count();
            chars <= most
        })
        .count();
    let cut = kept < links.len();
    links.truncate(kept);
    cut
}

fn refused(response: &Response) -> ToolError {
    let (status, url) = (response.status(), response.url());
    let error = match (status, response.note()) {
        (_, Some(note)) => ToolError::new(format!("`{url}` returned the status {status}: {note}")),
        (429, _) => ToolError::of(
            ErrorKind::RateLimited,
            format!("`{url}` returned the status 429: too many requests"),
        ),
        (404 | 410, _) => ToolError::new(format!(
            "`{url}` returned the status {status}: there is no such page, use another URL"
        )),
        (401 | 403, _) => ToolError::new(format!(
            "`{url}` returned the status {status}: access to it is restricted, use another source"
        )),
        _ => ToolError::new(format!(
            "`{url}` returned the status {status} without a page"
        )),
    };
    match response.retry_after() {
        Some(wait) => error.retry_after(wait),
        None => error,
    }
}

/// Extracts the text of a response.
async fn text(response: &Response, deadline: Instant) -> Result<Article, ToolError> {
    if let Some(note) = response.note() {
        return Err(ToolError::new(format!("the page cannot be read: {note}")));
    }
    let (bytes, (essence, stated)) = (response.bytes(), media_type(response.headers()));
    if !is_text(&essence).unwrap_or_else(|| looks_like_text(bytes)) {
        return Err(ToolError::new(format!(
            "`{}` is not a text page but `{}`, use another source",
            response.url(),
            Excerpt::<100>::of(essence)
        )));
    }
    let is_html = match essence.as_str() {
        "text/html" | "application/xhtml+xml" => true,
        "" | "application/octet-stream" => looks_like_html(bytes),
        _ => false,
    };
    let text = decode(bytes, stated, is_html.then(|| charset(bytes)).flatten());
    if !is_html {
        return Ok(Article {
            title: None,
            markdown: as_it_is(text, &essence),
            links: Vec::new(),
        });
    }
    let url = Url::parse(response.url())?;
    let work = apart(move || article::read(&text, &url, deadline));
    let too_slow = || {
        ToolError::of(
            ErrorKind::TimedOut,
            "the page takes too long to be read, use another source",
        )
    };
    let read = tokio::time::timeout_at(deadline.into(), work).await;
    match read.map_err(|_| too_slow())? {
        Some(Ok(article)) => Ok(article),
        Some(Err(TooMuch)) if Instant::now() >= deadline => Err(too_slow()),
        Some(Err(TooMuch)) => Err(ToolError::new(
            "the page has too many elements, or they are nested too deeply, use another source",
        )),
        None => Err(ToolError::new(
            "the page cannot be read, use another source",
        )),
    }
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_ascii_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html")
        || head.starts_with("<html")
        || head.starts_with("<head")
        || head.starts_with("<body")
}

/// Converts a text that is not HTML to Markdown: plain text, Markdown and texts of an unknown type are unchanged, any other text becomes a code
/// block.
fn as_it_is(text: String, essence: &str) -> String {
    let language = match essence.rsplit(['/', '+']).next().unwrap_or_default() {
        "plain" | "markdown" | "x-markdown" | "" | "octet-stream" => return text,
        language => language.trim_start_matches("x-"),
    };
    // The fence must be longer than any fence in the text.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}
