//! Services that read web pages in place of the program.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::Effect;
use tool_core::prelude::*;

use crate::http::Http;

/// A page that a service has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchedPage {
    /// The URL of the page, after all redirects.
    pub url: String,
    /// The status of the page's server, if the service reports it. A status other than 200 is an error.
    pub status: Option<u16>,
    /// The title of the page.
    pub title: Option<String>,
    /// The main text of the page, as Markdown.
    pub markdown: String,
    /// The URLs of the links of the page.
    pub links: Vec<String>,
}

/// A service that reads pages in place of the program, for example because it runs their scripts.
///
/// ```
/// use futures::future::{BoxFuture, FutureExt as _};
/// use tool_core::prelude::*;
/// use tool_std::http::Http;
/// use tool_std::web::{FetchedPage, PageProvider, Pages, fetch_webpage};
///
/// /// A service that has a single page.
/// struct Fixture;
///
/// impl PageProvider for Fixture {
///     fn fetch<'a>(
///         &'a self,
///         _: &'a Http,
///         _: Option<&'a SecretString>,
///         url: &'a str,
///     ) -> BoxFuture<'a, Result<FetchedPage, ToolError>> {
///         let page = FetchedPage { url: url.to_owned(), markdown: "# Lamps".to_owned(), ..FetchedPage::default() };
///         async { Ok(page) }.boxed()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let cx = ToolContext::builder().with(Pages::from(Fixture)).build();
/// let call = ToolCall::new("1", "fetch_webpage", r#"{"url": "https://example.com/lamps"}"#);
/// let result = toolset![fetch_webpage].call(call, &cx).await;
/// assert!(result.model_text().contains("# Lamps"));
/// # }
/// ```
pub trait PageProvider: Send + Sync + 'static {
    /// Reads a page. Requests must use `http`, so that its guard applies to the service. `key` is the secret `firecrawl_api_key` of the call, also
    /// for other services. The guard has admitted `url`; addresses that its host resolves to are not checked.
    fn fetch<'a>(
        &'a self,
        http: &'a Http,
        key: Option<&'a SecretString>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<FetchedPage, ToolError>>;
}

/// The service that [`fetch_webpage`](fn@super::fetch_webpage) uses, passed to it with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with). By default, the program reads pages itself.
#[derive(Clone, Default)]
#[must_use]
pub struct Pages {
    service: Option<Arc<dyn PageProvider>>,
    http: Http,
}

impl Pages {
    /// Reads pages with a service instead of in the program.
    pub fn from(provider: impl PageProvider) -> Self {
        Self {
            service: Some(Arc::new(provider)),
            http: Http::default(),
        }
    }

    /// Reads a page with the service; `None` if the host has set none.
    pub(super) async fn fetch(
        &self,
        key: Option<&SecretString>,
        url: &str,
    ) -> Option<Result<FetchedPage, ToolError>> {
        let service = self.service.as_ref()?;
        if let Err(refusal) = self.http.admits(url) {
            return Some(Err(refusal.into_tool_error()));
        }
        Some(service.fetch(&self.http, key, url).await)
    }
}

/// Prints whether there is a service, and not the service, which may contain anything.
impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("service", &self.service.is_some())
            .field("http", &self.http)
            .finish()
    }
}

impl FromContext for Pages {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let mut pages: Self = cx.extension().unwrap_or_default();
        pages.http = Http::of(cx);
        Ok(pages)
    }
}
