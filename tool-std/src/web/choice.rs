//! Which search engine a call asks, and with which key.

use std::fmt;
use std::sync::Arc;

use tool_core::Effect;
use tool_core::prelude::*;

use super::engines::{Brave, DuckDuckGo, SerpApi, Tavily};
use super::search::SearchProvider;
use crate::http::Http;

/// The search engines that a host knows, given to [`search_web`](fn@super::search_web) with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// The variable `SEARCH_PROVIDER` of the call chooses one by its name, in capitals or not; where it is not set, the first one answers. It
/// is no secret, because a secret's text would be masked in the result that names the engine. A context without this has the
/// [default](Search::default).
///
/// # Keys
///
/// An engine has a secret of its own, `tavily_api_key`, `serpapi_api_key` or `brave_api_key`. Where that is not there, and for engines of
/// a host's own, `search_api_key` is the key of the engine that is asked.
///
/// A name that no engine has, perhaps for a slip of the pen, chooses the first one too, but `search_api_key` may then be the key of the
/// engine that was meant: it is sent to no other. So the first one is asked where its own secret is there or where it needs none, and
/// else the call is unavailable, with the names that are known for the operator. A host whose queries must reach no other engine than
/// its own gives that one [alone](Search::only).
///
/// Where an engine needs a key and the context has none, the tool is there and says that it cannot be used. A host that wants it hidden
/// instead says so to its registry:
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

/// `tavily`, `serpapi`, `brave` and `duckduckgo`, in this order; `searxng` is somewhere else for everybody.
impl Default for Search {
    fn default() -> Self {
        Self::only(Tavily::new())
            .and(SerpApi::new())
            .and(Brave::new())
            .and(DuckDuckGo::new())
    }
}

/// The names of its engines, and how they are reached. No secret is a part of this.
impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("providers", &self.names().collect::<Vec<_>>())
            .field("http", &self.http)
            .finish()
    }
}

impl Search {
    /// This one.
    pub fn only(provider: impl SearchProvider) -> Self {
        Self {
            providers: vec![Arc::new(provider)],
            http: Http::default(),
        }
    }

    /// This one as well. It takes the place of one that has its name.
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

    /// The engine that a name chooses, and whether it has that name; one that is empty is none.
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

    /// No engine has this name, and the first one cannot stand in for it.
    pub(super) fn unknown(&self, name: &str) -> ToolError {
        let known = self.names().collect::<Vec<_>>().join("`, `");
        let name: String = name.chars().take(80).collect();
        ToolError::unavailable(format_args!(
            "a search engine `{name}`, as the variable `SEARCH_PROVIDER` has it (known are `{known}`),"
        ))
    }
}

/// The secrets of a call.
pub(super) struct Keys {
    pub(super) shared: Option<SecretString>,
    pub(super) tavily: Option<SecretString>,
    pub(super) serpapi: Option<SecretString>,
    pub(super) brave: Option<SecretString>,
}

impl Keys {
    /// The key for an engine; the one that several may share only where it is `meant`.
    pub(super) fn of(
        self,
        engine: &dyn SearchProvider,
        meant: bool,
    ) -> Result<Option<SecretString>, ToolError> {
        let (own, secret) = match engine.name() {
            "tavily" => (self.tavily, Some("tavily_api_key")),
            "serpapi" => (self.serpapi, Some("serpapi_api_key")),
            "brave" => (self.brave, Some("brave_api_key")),
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
