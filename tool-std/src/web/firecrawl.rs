//! The service Firecrawl, which searches the web and reads pages, <https://docs.firecrawl.dev/api-reference/v2-introduction>.

use std::time::Duration;

use ::http::header::AUTHORIZATION;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;

use super::pages::{FetchedPage, PageProvider};
use super::search::{SearchHit, SearchProvider, SearchQuery, ask, request};
use crate::html::text_of;
use crate::http::{Http, Method, Request, bearer};

/// Maximum time that Firecrawl may take for a page. The timeout of the host's [`Http`] applies as well.
const PAGE_WAIT: Duration = Duration::from_mins(1);

/// The service Firecrawl: a search engine for [`Search`](super::Search), and a reader of pages for [`Pages`](super::Pages), which runs the
/// scripts of a page.
///
/// Its key is the secret `firecrawl_api_key`. For searches, [`Search`](super::Search) can use the secret `search_api_key` instead.
///
/// ```
/// use tool_core::{SecretString, ToolContext};
/// use tool_std::web::{Firecrawl, Pages, Search};
///
/// let cx = ToolContext::builder()
///     .with(Search::only(Firecrawl::new()))
///     .with(Pages::from(Firecrawl::new()))
///     .secret("firecrawl_api_key", SecretString::from("fc-0123456789"))
///     .build();
/// # drop(cx);
/// ```
#[derive(Clone, Debug)]
pub struct Firecrawl {
    base: String,
    /// Whether the host has set the address. Otherwise the guard treats it like any other URL.
    own: bool,
}

impl Default for Firecrawl {
    fn default() -> Self {
        Self::new()
    }
}

impl Firecrawl {
    /// Uses the public address. The host's [`Guard`](crate::http::Guard) must allow it, like any URL.
    pub fn new() -> Self {
        let (base, own) = (String::from("https://api.firecrawl.dev"), false);
        Self { base, own }
    }

    /// Uses an address that the host chooses, such as a self-hosted Firecrawl, which may be in a private network. If it is
    /// an HTTP URL without a user name, the host's [`Guard`](crate::http::Guard) refuses it only if its host is
    /// [blocked](crate::http::Guard::block).
    pub fn at(base: impl Into<String>) -> Self {
        let (base, own) = (base.into(), true);
        Self { base, own }
    }

    /// Creates a request to a path below the base.
    fn request(&self, path: &str, body: &Value) -> Request {
        let url = format!("{}{path}", self.base.trim_end_matches('/'));
        request(Method::Post, &url).json(body)
    }

    /// Sends a request with the key. `what` names the service in errors.
    async fn send(
        &self,
        http: &Http,
        key: Option<&SecretString>,
        request: Request,
        what: &str,
    ) -> Result<Value, ToolError> {
        let key = key.ok_or_else(|| ToolError::unavailable("the secret `firecrawl_api_key`"))?;
        let request = request.secret_header(AUTHORIZATION, &bearer(key))?;
        let http = if self.own {
            http.trusting(&self.base)
        } else {
            http.clone()
        };
        let found = ask(&http, request, what, "firecrawl").await?;
        if found["success"] == false {
            return Err(
                ToolError::new(format!("{what} cannot answer now, try again later"))
                    .operator(format!("`firecrawl`: {}", found["error"])),
            );
        }
        Ok(found)
    }
}

impl SearchProvider for Firecrawl {
    fn name(&self) -> &'static str {
        "firecrawl"
    }

    fn needs_key(&self) -> bool {
        true
    }

    fn search<'a>(
        &'a self,
        http: &'a Http,
        key: Option<&'a SecretString>,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
        let body = json!({"query": query.query, "limit": query.limit, "sources": ["web"]});
        async move {
            let request = self.request("/v2/search", &body);
            let found = self.send(http, key, request, "the search engine").await?;
            let all = found["data"]["web"].as_array().into_iter().flatten();
            Ok(all.filter_map(hit).collect())
        }
        .boxed()
    }
}

fn hit(found: &Value) -> Option<SearchHit> {
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    Some(SearchHit {
        title: text("title"),
        url: found["url"].as_str()?.to_owned(),
        snippet: text("description"),
        score: None,
    })
}

impl PageProvider for Firecrawl {
    fn fetch<'a>(
        &'a self,
        http: &'a Http,
        key: Option<&'a SecretString>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<FetchedPage, ToolError>> {
        let body = json!({
            "url": url,
            "formats": ["markdown", "links"],
            "onlyMainContent": true,
            "timeout": u64::try_from(PAGE_WAIT.as_millis()).unwrap_or(u64::MAX),
        });
        async move {
            let request = self.request("/v2/scrape", &body).timeout(PAGE_WAIT);
            let found = self
                .send(http, key, request, "the service that reads pages")
                .await?;
            Ok(page(&found["data"], url))
        }
        .boxed()
    }
}

fn page(data: &Value, asked: &str) -> FetchedPage {
    let about = &data["metadata"];
    let title = about["title"].as_str().and_then(text_of);
    let url = about["url"].as_str().or(about["sourceURL"].as_str());
    let links = data["links"].as_array().into_iter().flatten();
    FetchedPage {
        url: url.unwrap_or(asked).to_owned(),
        status: about["statusCode"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok()),
        title,
        markdown: data["markdown"].as_str().unwrap_or_default().to_owned(),
        links: links.filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}
