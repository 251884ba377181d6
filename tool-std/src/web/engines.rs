//! The search engines.

use ::http::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::ExposeSecret as _;
use tool_core::prelude::*;

use super::search::{Depth, SearchHit, SearchProvider, SearchQuery, ask, request};
use crate::http::{Http, Method};

/// One more than the engines' own limits is an error there.
const MOST: u32 = 20;

/// Makes an engine of a struct with the URL of its API and a fn that asks it.
macro_rules! engine {
    ($type:ident, $name:literal, key: $key:literal, $url:literal, $ask:ident) => {
        impl Default for $type {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $type {
            /// At its usual place.
            pub fn new() -> Self {
                Self::at($url)
            }
        }

        engine!($type, $name, key: $key, $ask);
    };
    ($type:ident, $name:literal, key: $key:literal, $ask:ident) => {
        impl $type {
            /// At another place, which the host names and which may be in its own network.
            pub fn at(url: impl Into<String>) -> Self {
                Self { url: url.into() }
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
                            return Err(ToolError::unavailable("the secret `search_api_key`"));
                        }
                        key => key.cloned().unwrap_or_default(),
                    };
                    $ask(&self.url, http, &key, query).await
                }
                .boxed()
            }
        }
    };
}

/// Tavily, <https://docs.tavily.com/documentation/api-reference/endpoint/search>.
#[derive(Clone, Debug)]
pub struct Tavily {
    url: String,
}

/// Google by `SerpApi`, <https://serpapi.com/search-api>.
#[derive(Clone, Debug)]
pub struct SerpApi {
    url: String,
}

/// Brave, <https://api-dashboard.search.brave.com/app/documentation/web-search/get-started>.
#[derive(Clone, Debug)]
pub struct Brave {
    url: String,
}

/// A `SearXNG` of one's own, <https://docs.searxng.org/dev/search_api.html>; its settings have to allow the format `json`.
#[derive(Clone, Debug)]
pub struct SearXng {
    url: String,
}

/// Instant answers of `DuckDuckGo`, <https://duckduckgo.com/api>: what it has of an API without a key. It knows topics and official
/// sites, and nothing of most questions.
#[derive(Clone, Debug)]
pub struct DuckDuckGo {
    url: String,
}

engine!(Tavily, "tavily", key: true, "https://api.tavily.com/search", tavily);
engine!(SerpApi, "serpapi", key: true, "https://serpapi.com/search.json", serpapi);
engine!(Brave, "brave", key: true, "https://api.search.brave.com/res/v1/web/search", brave);
engine!(SearXng, "searxng", key: false, searxng);
engine!(DuckDuckGo, "duckduckgo", key: false, "https://api.duckduckgo.com/", duckduckgo);

async fn tavily(
    url: &str,
    http: &Http,
    key: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let depth = match query.depth {
        Some(Depth::Advanced) => "advanced",
        Some(Depth::Basic) | None => "basic",
    };
    let bearer = SecretString::from(format!("Bearer {}", key.expose_secret()));
    let request = request(Method::Post, url)
        .secret_header(AUTHORIZATION, &bearer)?
        .json(&json!({
            "query": query.query,
            "max_results": query.limit.min(MOST),
            "search_depth": depth,
        }));
    let found = ask(http.send_to_own(request), "tavily").await?;
    Ok(hits(&found["results"], "url", "content"))
}

async fn serpapi(
    url: &str,
    http: &Http,
    key: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let request = request(Method::Get, url)
        .query("engine", "google")
        .query("q", &query.query)
        .query("num", query.limit.to_string())
        .secret_query("api_key", key);
    let found = ask(http.send_to_own(request), "serpapi").await?;
    Ok(hits(&found["organic_results"], "link", "snippet"))
}

async fn brave(
    url: &str,
    http: &Http,
    key: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let request = request(Method::Get, url)
        .query("q", &query.query)
        .query("count", query.limit.min(MOST).to_string())
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .secret_header(HeaderName::from_static("x-subscription-token"), key)?;
    let found = ask(http.send_to_own(request), "brave").await?;
    Ok(hits(&found["web"]["results"], "url", "description"))
}

async fn searxng(
    url: &str,
    http: &Http,
    _: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let url = format!("{}/search", url.trim_end_matches('/'));
    let request = request(Method::Get, &url)
        .query("q", &query.query)
        .query("format", "json");
    let found = ask(http.send_to_own(request), "searxng").await?;
    Ok(hits(&found["results"], "url", "content"))
}

async fn duckduckgo(
    url: &str,
    http: &Http,
    _: &SecretString,
    query: &SearchQuery,
) -> Result<Vec<SearchHit>, ToolError> {
    let request = request(Method::Get, url)
        .query("q", &query.query)
        .query("format", "json")
        .query("no_html", "1")
        .query("no_redirect", "1")
        .query("skip_disambig", "1");
    let found = ask(http.send_to_own(request), "duckduckgo").await?;
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

/// Topics, and those of groups of topics. The text of one begins with its title.
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

/// A list of results. What is no result is left out; what an engine leaves out is empty.
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

/// A text that is there and not empty.
fn text(value: &Value, key: &str) -> Option<String> {
    let text = value[key].as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}
