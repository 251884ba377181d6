//! Selection of the search engine of a call, and of its key.

use std::fmt;
use std::sync::Arc;

use tool_core::Effect;
use tool_core::prelude::*;

use super::engines::{Brave, DuckDuckGo, SerpApi, Tavily};
use super::firecrawl::Firecrawl;
use super::search::SearchProvider;
use crate::http::Http;

/// The search engines of a host, passed to [`search_web`](fn@super::search_web) with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// The variable `SEARCH_PROVIDER` of the call selects an engine by name, ignoring case; if it is not set, the first engine is used. The variable is
/// not a secret, because a secret's text would be redacted from the result, which names the engine. A context without a `Search` uses the
/// [default](Search::default).
///
/// # Keys
///
/// Four engines each have a separate secret: `tavily_api_key`, `serpapi_api_key`, `brave_api_key` and `firecrawl_api_key`. If that secret is not set, and for custom
/// engines, `search_api_key` is the key of the selected engine.
///
/// If no engine has the name, perhaps because of a typo, the first engine is selected too. But then `search_api_key` may be the key of the intended
/// engine, so it is not sent to the first engine. The first engine is used only if its separate secret is set or it needs no key; otherwise the call
/// is unavailable, and the error for the operator lists the known names. A host whose queries must reach a single engine uses [`only`](Search::only).
///
/// If an engine needs a key and the context has none, the tool is listed, and calls return an error. To hide the tool instead, a host declares the
/// secret to its registry:
///
/// ```
/// use tool_core::{Registry, Rules, ToolContext};
/// use tool_std::web::search_web;
///
/// # fn main() -> Result<(), tool_core::RegistryError> {
/// let registry = Registry::builder()
///     .tool::<search_web>()
///     .required_secret("search_web", "tavily_api_key")
///     .build()?;
/// let tools = registry.toolset(&ToolContext::anonymous(), &Rules::default());
/// assert!(tools.get("search_web").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Search {
    providers: Vec<Arc<dyn SearchProvider>>,
    pub(super) http: Http,
}

/// `tavily`, `serpapi`, `brave`, `duckduckgo` and `firecrawl`, in this order; `searxng` has no common address, so it is not included.
impl Default for Search {
    fn default() -> Self {
        Self::only(Tavily::new())
            .and(SerpApi::new())
            .and(Brave::new())
            .and(DuckDuckGo::new())
            .and(Firecrawl::new())
    }
}

/// Prints the names of the engines and the HTTP settings; a `Search` contains no secrets.
impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("providers", &self.names().collect::<Vec<_>>())
            .field("http", &self.http)
            .finish()
    }
}

impl Search {
    /// Uses this engine only.
    pub fn only(provider: impl SearchProvider) -> Self {
        Self {
            providers: vec![Arc::new(provider)],
            http: Http::default(),
        }
    }

    /// Adds an engine. It replaces an engine of the same name, ignoring case.
    pub fn and(mut self, provider: impl SearchProvider) -> Self {
        let provider: Arc<dyn SearchProvider> = Arc::new(provider);
        let mut known = self.providers.iter_mut();
        match known.find(|known| known.name().eq_ignore_ascii_case(provider.name())) {
            Some(known) => *known = provider,
            None => self.providers.push(provider),
        }
        self
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().map(|known| known.name())
    }

    /// Returns the engine with a name, ignoring case, and true. Without a name, returns the first engine and true. If no engine has the name, returns
    /// the first engine and false.
    pub(super) fn chosen(&self, name: Option<&str>) -> Option<(&dyn SearchProvider, bool)> {
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let meant = |known: &&Arc<dyn SearchProvider>| {
            name.is_none_or(|name| known.name().eq_ignore_ascii_case(name))
        };
        let mut all = self.providers.iter();
        match all.find(meant) {
            Some(engine) => Some((&**engine, true)),
            None => self.providers.first().map(|first| (&**first, false)),
        }
    }

    /// Returns the error for a name that no engine has, if the first engine cannot be used instead.
    pub(super) fn unknown(&self, name: &str) -> ToolError {
        let known = self.names().collect::<Vec<_>>().join("`, `");
        let name: String = name.chars().take(80).collect();
        ToolError::unavailable(format_args!(
            "a search engine `{name}`, which the variable `SEARCH_PROVIDER` names (known are `{known}`),"
        ))
    }
}

/// The search keys among the secrets of a call.
pub(super) struct Keys {
    pub(super) shared: Option<SecretString>,
    pub(super) tavily: Option<SecretString>,
    pub(super) serpapi: Option<SecretString>,
    pub(super) brave: Option<SecretString>,
    pub(super) firecrawl: Option<SecretString>,
}

impl Keys {
    /// Selects the key for an engine. The shared key is used only if `meant` is true: if the call names this engine, or names no engine.
    pub(super) fn of(
        self,
        engine: &dyn SearchProvider,
        meant: bool,
    ) -> Result<Option<SecretString>, ToolError> {
        let (own, secret) = match engine.name() {
            "tavily" => (self.tavily, Some("tavily_api_key")),
            "serpapi" => (self.serpapi, Some("serpapi_api_key")),
            "brave" => (self.brave, Some("brave_api_key")),
            "firecrawl" => (self.firecrawl, Some("firecrawl_api_key")),
            _ => (None, None),
        };
        let key = own.or(self.shared.filter(|_| meant));
        if key.is_none() && engine.needs_key() {
            let engine = engine.name();
            return Err(ToolError::unavailable(match secret {
                Some(own) => format!(
                    "the secret `{own}` or `search_api_key` for the search engine `{engine}`"
                ),
                None => format!("the secret `search_api_key` for the search engine `{engine}`"),
            }));
        }
        Ok(key)
    }
}

impl FromContext for Search {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let mut search: Self = cx.extension().unwrap_or_default();
        search.http = Http::of(cx);
        Ok(search)
    }
}
