//! The built-in search engines: Tavily, `SerpApi`, Brave, `SearXNG` and `DuckDuckGo`.

use ::http::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;

use super::search::{Depth, SearchHit, SearchProvider, SearchQuery, ask, request};
use crate::http::{Http, Method, Request, bearer};

/// Maximum number of results that the APIs of Tavily and Brave accept.
const MOST: u32 = 20;

/// Implements [`SearchProvider`] for a struct, from the URL of its API and a function that queries it.
macro_rules! engine {
    ($type:ident, $name:literal, key: $key:literal, $url:literal, $ask:ident) => {
        impl Default for $type {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $type {
            /// Uses the engine's public address. The host's [`Guard`](crate::http::Guard) must allow it, like any URL.
            pub fn new() -> Self {
                let (url, own) = (String::from($url), false);
                Self(Place { url, own })
            }
        }

        engine!($type, $name, key: $key, $ask);
    };
    ($type:ident, $name:literal, key: $key:literal, $ask:ident) => {
        impl $type {
            /// Uses an address that the host chooses, which may be in a private network. If it is an HTTP URL without a user name, the host's
            /// [`Guard`](crate::http::Guard) refuses it only if its host is [blocked](crate::http::Guard::block).
            pub fn at(url: impl Into<String>) -> Self {
                let (url, own) = (url.into(), true);
                Self(Place { url, own })
            }
        }

        impl SearchProvider for $type {
            fn name(&self) -> &str {
                $name
            }

            fn needs_key(&self) -> bool {
                $key
            }

            fn search<'a>(
                &'a self,
                http: &'a Http,
                key: Option<&'a SecretString>,
                query: &'a SearchQuery,
            ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
                async move {
                    let key = match key {
                        None if $key => {
                            return Err(ToolError::unavailable(concat!("the key of `", $name, "`")));
                        }
                        key => key.cloned().unwrap_or_default(),
                    };
                    $ask(&self.0, http, &key, query).await
                }
                .boxed()
            }
        }
    };
}

/// The address of an engine.
#[derive(Clone, Debug)]
struct Place {
    url: String,
    /// Whether the host has set the address. Otherwise the guard treats it like any other URL.
    own: bool,
}

impl Place {
    async fn ask(&self, http: &Http, request: Request, engine: &str) -> Result<Value, ToolError> {
        let http = if self.own {
            http.trusting(&self.url)
        } else {
            http.clone()
        };
        ask(&http, request, "the search engine", engine).await
    }
}

/// The search engine Tavily, <https://docs.tavily.com/documentation/api-reference/endpoint/search>.
#[derive(Clone, Debug)]
pub struct Tavily(Place);

/// Google, queried through `SerpApi`, <https://serpapi.com/search-api>.
#[derive(Clone, Debug)]
pub struct SerpApi(Place);

/// The search engine Brave, <https://api-dashboard.search.brave.com/app/documentation/web-search/get-started>.
#[derive(Clone, Debug)]
pub struct Brave(Place);

/// A self-hosted `SearXNG`, <https://docs.searxng.org/dev/search_api.html>; its settings have to enable the format `json`.
#[derive(Clone, Debug)]
pub struct SearXng(Place);

/// Instant answers of `DuckDuckGo`, <https://duckduckgo.com/api>, its only API that needs no key. It finds topics and official sites, and has no
/// results for most other queries.
#[derive(Clone, Debug)]
pub struct DuckDuckGo(Place);

engine!(Tavily, "tavily", key: true, "https://api.tavily.com/search", tavily);
engine!(SerpApi, "serpapi", key: true, "https://serpapi.com/search.json", serpapi);
engine!(Brave, "brave", key: true, "https://api.search.brave.com/res/v1/web/search", brave);
engine!(SearXng, "searxng", key: false, searxng);
engine!(DuckDuckGo, "duckduckgo", key: false, "https://api.duckduckgo.com/", duckduckgo);

async fn tavily(
    place: &Place,
    http: &Http,
    key: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let depth = match query.depth {
        Some(Depth::Advanced) => "advanced",
        Some(Depth::Basic) | None => "basic",
    };
    let request = request(Method::Post, &place.url)
        .secret_header(AUTHORIZATION, &bearer(key))?
        .json(&json!({
            "query": query.query,
            "max_results": query.limit.min(MOST),
            "search_depth": depth,
        }));
    let found = place.ask(http, request, "tavily").await?;
    Ok(hits(&found["results"], "url", "content"))
}

async fn serpapi(
    place: &Place,
    http: &Http,
    key: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let request = request(Method::Get, &place.url)
        .query("engine", "google")
        .query("q", &query.query)
        .query("num", query.limit.to_string())
        .secret_query("api_key", key);
    let found = place.ask(http, request, "serpapi").await?;
    Ok(hits(&found["organic_results"], "link", "snippet"))
}

async fn brave(
    place: &Place,
    http: &Http,
    key: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let request = request(Method::Get, &place.url)
        .query("q", &query.query)
        .query("count", query.limit.min(MOST).to_string())
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .secret_header(HeaderName::from_static("x-subscription-token"), key)?;
    let found = place.ask(http, request, "brave").await?;
    Ok(hits(&found["web"]["results"], "url", "description"))
}

async fn searxng(
    place: &Place,
    http: &Http,
    _: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let url = format!("{}/search", place.url.trim_end_matches('/'));
    let request = request(Method::Get, &url)
        .query("q", &query.query)
        .query("format", "json");
    let found = place.ask(http, request, "searxng").await?;
    Ok(hits(&found["results"], "url", "content"))
}

async fn duckduckgo(
    place: &Place,
    http: &Http,
    _: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let request = request(Method::Get, &place.url)
        .query("q", &query.query)
        .query("format", "json")
        .query("no_html", "1")
        .query("no_redirect", "1")
        .query("skip_disambig", "1");
    let found = place.ask(http, request, "duckduckgo").await?;
    let mut all = Vec::new();
    if let (Some(url), Some(snippet)) = (text(&found, "AbstractURL"), text(&found, "AbstractText"))
    {
        all.push(SearchHit {
            title: text(&found, "Heading").unwrap_or_default(),
            url,
            snippet,
            score: None,
        });
    }
    topics(&found["Results"], &mut all);
    topics(&found["RelatedTopics"], &mut all);
    Ok(all)
}

/// Collects topics, including those in groups of topics. The text of a topic begins with its title.
fn topics(list: &Value, all: &mut Vec<SearchHit>) {
    for topic in list.as_array().into_iter().flatten() {
        topics(&topic["Topics"], all);
        if let (Some(url), Some(said)) = (text(topic, "FirstURL"), text(topic, "Text")) {
            let title = said.split(" - ").next().unwrap_or_default().to_owned();
            all.push(SearchHit {
                title,
                url,
                snippet: said,
                score: None,
            });
        }
    }
}

/// Reads a list of results. An entry without a URL is skipped; other missing fields are empty.
fn hits(list: &Value, url: &str, snippet: &str) -> Vec<SearchHit> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|found| {
        Some(SearchHit {
            title: text(found, "title").unwrap_or_default(),
            url: text(found, url)?,
            snippet: text(found, snippet).unwrap_or_default(),
            score: found["score"].as_f64(),
        })
    })
    .collect()
}

/// Returns the text of a field, if it is present and not empty.
fn text(value: &Value, key: &str) -> Option<String> {
    let text = value[key].as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}
