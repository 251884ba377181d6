//! The `search_web` tool, which searches the web.

use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use url::Url;

use super::article::LONGEST_URL;
use super::choice::{Keys, Search};
use crate::Excerpt;
use crate::html::{parse, text_of};
use crate::http::{Http, Request};

/// Timeout of a request to a search engine.
const WAIT: Duration = Duration::from_secs(10);

/// Number of bytes of an engine's text that are parsed to remove HTML. The number is larger than the longest excerpt, and small enough to be parsed
/// quickly.
const MOST_MARKED: usize = 16_384;

/// A query for a search engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// The text of the query.
    pub query: String,
    /// Maximum number of results.
    pub limit: u32,
    /// The depth of the search, for engines that support it.
    pub depth: Option<Depth>,
}

/// The depth of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A fast search with short excerpts.
    Basic,
    /// A slower search with more text of each page.
    Advanced,
}

/// One result of a search engine, unchanged. HTML in it is removed later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchHit {
    /// The title of the page.
    pub title: String,
    /// The URL of the page.
    pub url: String,
    /// A part of the page's text.
    pub snippet: String,
    /// The score of the match, if the engine reports one.
    pub score: Option<f64>,
}

/// A search engine that `search_web` can query.
///
/// ```
/// use futures::future::{BoxFuture, FutureExt as _};
/// use tool_core::prelude::*;
/// use tool_std::http::Http;
/// use tool_std::web::{Search, SearchHit, SearchProvider, SearchQuery, search_web};
///
/// /// A search engine with a single page.
/// struct Fixture;
///
/// impl SearchProvider for Fixture {
///     fn name(&self) -> &str {
///         "fixture"
///     }
///
///     fn needs_key(&self) -> bool {
///         false
///     }
///
///     fn search<'a>(
///         &'a self,
///         _: &'a Http,
///         _: Option<&'a SecretString>,
///         query: &'a SearchQuery,
///     ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
///         let title = format!("All about {}", query.query);
///         let hit = SearchHit { title, url: "https://example.com/".to_owned(), ..SearchHit::default() };
///         async { Ok(vec![hit]) }.boxed()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let cx = ToolContext::builder().with(Search::only(Fixture)).build();
/// let call = ToolCall::new("1", "search_web", r#"{"query": "lamps"}"#);
/// let result = toolset![search_web].call(call, &cx).await;
/// assert!(result.model_text().contains("All about lamps"));
/// assert_eq!(result.citations()[0].source_id(), "https://example.com/");
/// # }
/// ```
pub trait SearchProvider: Send + Sync + 'static {
    /// Returns the name that selects this engine.
    fn name(&self) -> &str;

    /// Returns whether requests need a key: the secret `search_api_key`, or the engine's separate secret (see [`Search`]).
    fn needs_key(&self) -> bool;

    /// Sends a query to the engine. Requests must use `http`, so that its guard applies.
    fn search<'a>(
        &'a self,
        http: &'a Http,
        key: Option<&'a SecretString>,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>>;
}

/// The results of a search engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct SearchResults {
    /// The query that was searched.
    pub query: String,
    /// The name of the search engine.
    pub provider: String,
    /// The pages, best first.
    pub results: Vec<SearchResult>,
}

/// One page of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct SearchResult {
    /// The rank of the page; 1 is the best.
    pub rank: u32,
    /// The title of the page, at most 300 characters.
    pub title: Excerpt<300>,
    /// The URL of the page.
    pub url: String,
    /// A part of the text of the page, at most 2,000 characters.
    pub snippet: Excerpt<2_000>,
    /// The score of the match, if the engine reports one.
    pub score: Option<f64>,
}

/// Searches the web and returns pages with title, URL and a part of their text, best first. Read a page with `fetch_webpage` before you
/// rely on it.
#[tool(
    category = "web",
    example("A question", { "query": "how to rename a field with serde" }),
    example("Thorough, with many results", { "query": "memory safety of C++26", "limit": 10, "depth": "advanced" }),
)]
pub async fn search_web(
    search: &Search,
    cx: &ToolContext,
    #[secret(
        "search_api_key",
        label = "API key of the search engine",
        description = "For the engine that SEARCH_PROVIDER names, if the separate key of that engine is not set. Not needed for SearXNG and DuckDuckGo."
    )]
    shared: Option<SecretString>,
    #[secret("tavily_api_key", label = "API key of Tavily")] tavily: Option<SecretString>,
    #[secret("serpapi_api_key", label = "API key of SerpApi")] serpapi: Option<SecretString>,
    #[secret("brave_api_key", label = "API key of Brave Search")] brave: Option<SecretString>,
    #[secret("firecrawl_api_key", label = "API key of Firecrawl")] firecrawl: Option<SecretString>,
    /// Name of the search engine: tavily, serpapi, brave, searxng, duckduckgo or firecrawl.
    #[variable("SEARCH_PROVIDER")]
    provider: Option<String>,
    /// The query, as for a search engine.
    #[arg(length = 1..=400)]
    query: String,
    /// The maximum number of results to return.
    #[arg(default = 5, range = 1..=20)]
    limit: u32,
    /// The depth of the search. Not every engine supports it.
    depth: Option<Depth>,
) -> Result<SearchResults, ToolError> {
    let Some((engine, meant)) = search.chosen(provider.as_deref()) else {
        return Err(ToolError::unavailable("a search engine"));
    };
    let keys = Keys {
        shared,
        tavily,
        serpapi,
        brave,
        firecrawl,
    };
    let key = keys.of(engine, meant).map_err(|error| match provider {
        Some(name) if !meant => search.unknown(&name),
        _ => error,
    })?;
    let asked = SearchQuery {
        query,
        limit,
        depth,
    };
    let hits = engine.search(&search.http, key.as_ref(), &asked).await?;
    let results = ranked(hits, limit);
    for result in &results {
        cx.cite(Citation::new(engine.name(), &result.url));
    }
    Ok(SearchResults {
        query: asked.query,
        provider: engine.name().to_owned(),
        results,
    })
}

/// Returns at most `limit` hits with the URL of a web page, each page once, in the engine's order. Omits longer URLs than [`LONGEST_URL`].
fn ranked(hits: Vec<SearchHit>, limit: u32) -> Vec<SearchResult> {
    let mut urls = std::collections::HashSet::new();
    let kept = hits.into_iter().filter(|hit| {
        let fits = hit.url.len() <= LONGEST_URL;
        let url = Url::parse(&hit.url).ok().filter(|_| fits);
        url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && urls.insert(url))
    });
    (1..=limit)
        .zip(kept)
        .map(|(rank, hit)| SearchResult {
            rank,
            title: Excerpt::of(plain(&hit.title)),
            snippet: Excerpt::of(plain(&hit.snippet)),
            url: hit.url,
            score: hit.score.filter(|score| score.is_finite()),
        })
        .collect()
}

/// Returns a text on one line, without the HTML that engines put into it; empty if the HTML cannot be parsed.
fn plain(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(MOST_MARKED)];
    let said = if text.contains(['<', '&']) {
        parse(text).map_or_else(|_| String::new(), |page| page.text().to_string())
    } else {
        text.to_owned()
    };
    text_of(&said).unwrap_or_default()
}

/// Sends a request to a service and returns the JSON of the response. A status other than 200, a body that is too long and a body that is not JSON
/// become errors. `what` names the service in the text for the model, such as `the search engine`, and `name` in the text for the operator.
pub(super) async fn ask(
    http: &Http,
    request: Request,
    what: &str,
    name: &str,
) -> Result<serde_json::Value, ToolError> {
    let url = request.url().to_owned();
    http.admits(&url).map_err(|refusal| {
        let text = format!("{what}'s host is not allowed here, continue without it");
        ToolError::of(ErrorKind::Unavailable, text).operator(format!(
            "the guard refuses requests to `{name}` at `{url}`: {refusal}; add its host to the guard's allowlist, or choose another service"
        ))
    })?;
    let response = http.send(request).await?;
    let status = response.status();
    let failed = |kind, text: &str| {
        let error = ToolError::of(kind, format!("{what} {text}"));
        let said = Excerpt::<500>::of(response.text());
        error.operator(format!("`{name}` returned the status {status}: {said}"))
    };
    let error = match status {
        200 if response.is_cut() => failed(
            ErrorKind::Failed,
            "returned a response that is too long, request fewer results",
        ),
        200 => match response.json() {
            Ok(found) => return Ok(found),
            Err(_) => failed(
                ErrorKind::Failed,
                "returned an unexpected response, try again later",
            ),
        },
        401..=403 => failed(
            ErrorKind::Unavailable,
            "refuses the host's key or is not configured for API requests, so it cannot be used now",
        ),
        429 => failed(
            ErrorKind::RateLimited,
            "has had too many requests, try again later",
        ),
        400 | 422 => failed(ErrorKind::Failed, "does not accept this query, rephrase it"),
        _ => failed(ErrorKind::Failed, "cannot answer now, try again later"),
    };
    Err(match response.retry_after() {
        Some(wait) => error.retry_after(wait),
        None => error,
    })
}

/// Creates a request with the timeout for search engines.
pub(super) fn request(method: crate::http::Method, url: &str) -> Request {
    Request::new(method, url).timeout(WAIT)
}
