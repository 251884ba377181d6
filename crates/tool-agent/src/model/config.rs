//! The configuration of a model.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tool_core::limits::SharedLimits;
use tool_wire::Provider;

#[cfg(feature = "bedrock")]
use super::aws::Signing;
use super::endpoint::Endpoint;
use super::http::HttpModel;
use super::price::ModelPrice;
use super::reasoning::PastReasoning;
use super::retry::{Retry, Timeouts};
use super::{Credentials, body};

/// Limit on the output tokens of a request to Anthropic if the host sets none. The API requires a limit.
const ANTHROPIC_TOKENS: u32 = 8_192;

/// Configures a model; created by [`HttpModel::builder`].
///
/// ```
/// use std::time::Duration;
/// use serde_json::json;
/// use tool_agent::model::{Endpoint, HttpModel, Timeouts};
///
/// let mut timeouts = Timeouts::default();
/// timeouts.idle = Duration::from_secs(30);
/// let model = HttpModel::builder(Endpoint::compatible("http://localhost:11434/v1"), "qwen3")
///     .max_tokens(2_000)
///     .temperature(0.2)
///     .field("reasoning_effort", json!("low"))
///     .timeouts(timeouts)
///     .build()?;
/// # Ok::<(), tool_agent::model::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HttpModelBuilder {
    endpoint: Endpoint,
    model: String,
    max_tokens: Option<u32>,
    temperature: Option<f64>,
    cache: Option<CacheTime>,
    past_reasoning: Option<PastReasoning>,
    price: Option<ModelPrice>,
    limits: Option<SharedLimits>,
    fields: Map<String, Value>,
    timeouts: Timeouts,
    retry: Retry,
}

/// The time for which Anthropic or Bedrock keeps the beginning of a request in the prompt cache after the last use. The prices are those of
/// Anthropic from November 2026.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheTime {
    /// Five minutes. Writing costs 1.25 times the price of input tokens.
    FiveMinutes,
    /// One hour. Writing costs twice the price of input tokens.
    OneHour,
}

/// The configuration of a model is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The base URL is not an `http` or `https` URL, or it contains credentials, a query or a fragment.
    #[error("the base URL `{url}` is not valid: {why}; write it as `https://host/path`")]
    Url {
        /// The base URL of the endpoint.
        url: String,
        /// A description of the fault.
        why: String,
    },
    /// The endpoint would send credentials without encryption.
    #[error(
        "the endpoint `{url}` would send credentials over http: use https, or allow it with `Endpoint::allow_http` in a network that you trust"
    )]
    PlainHttp {
        /// The base URL of the endpoint.
        url: String,
    },
    /// A header cannot be sent.
    #[error("the header `{name}` cannot be sent: {why}")]
    Header {
        /// The name of the header.
        name: String,
        /// A description of the fault.
        why: &'static str,
    },
    /// The name of the model is empty or consists of white space.
    #[error("the name of the model is empty: use the provider's name for it")]
    NoModel,
    /// [`HttpModelBuilder::field`] was called with the name of a field that a host must not set.
    #[error(
        "the field `{0}` of the request is reserved for the agent loop: remove it from the additional fields"
    )]
    Field(String),
    /// The temperature is not a finite number.
    #[error("the temperature is not a finite number: use a number such as 0.2")]
    Temperature,
    /// The provider's API does not have this parameter. The request types of Anthropic's own client library (2.12) have no temperature.
    #[error(
        "{provider} has no parameter `{parameter}`: remove it, or add it with `HttpModelBuilder::field` for an old model that accepts it"
    )]
    Unsupported {
        /// The name of the parameter.
        parameter: &'static str,
        /// The provider of the endpoint.
        provider: Provider,
    },
    /// The HTTP client could not be created.
    #[error("the HTTP client could not be created: {0}")]
    Client(String),
}

impl HttpModelBuilder {
    pub(super) fn new(endpoint: Endpoint, model: String) -> Self {
        Self {
            endpoint,
            model,
            max_tokens: None,
            temperature: None,
            cache: None,
            past_reasoning: None,
            price: None,
            limits: None,
            fields: Map::new(),
            timeouts: Timeouts::default(),
            retry: Retry::default(),
        }
    }

    /// Limits the output tokens of each request, reasoning included. Without it, the limit of the provider applies, and 8,192 for Anthropic, which
    /// requires a limit.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature. Without it, the request contains none. For Anthropic, [`build`](Self::build) refuses a temperature
    /// ([`ConfigError::Unsupported`]).
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Lets Anthropic or Bedrock cache the beginning of each request, up to its last message, so that the cached part costs less than other input in
    /// the next step of the run: a tenth of the input price at Anthropic. Without this setting, Anthropic and Bedrock cache nothing. The setting has
    /// no effect for other providers; OpenAI and Gemini cache without it.
    ///
    /// A request to Bedrock has up to three of the four permitted cache points: one after the system prompt, so that the tools before the prompt are
    /// cached too, and two after the last two messages of the user, to which results of calls belong. Bedrock refuses cache points for a model
    /// without a prompt cache, and [`CacheTime::OneHour`] for a model that caches for five minutes only, such as Amazon Nova. Below the minimum
    /// length of the model, which is 1,024 tokens or more, no provider caches, and the request succeeds.
    #[must_use]
    pub fn cache_prompt(mut self, time: CacheTime) -> Self {
        self.cache = Some(time);
        self
    }

    /// Sets how requests to a server of Chat Completions contain the reasoning of earlier messages. The default is [`PastReasoning::Required`] for
    /// DeepSeek and for Kimi at their own addresses, and [`PastReasoning::Own`] for all other servers. It has no effect on other formats, which
    /// define what is sent back.
    #[must_use]
    pub fn past_reasoning(mut self, rule: PastReasoning) -> Self {
        self.past_reasoning = Some(rule);
        self
    }

    /// Sets the price of the model. Each usage that the provider reports then has its cost
    /// ([`Usage::cost_micros`](tool_core::store::Usage::cost_micros)), also the usage of failed attempts. In a chain, each model has its own price.
    /// Without it, the cost is not known.
    #[must_use]
    pub fn price(mut self, price: ModelPrice) -> Self {
        self.price = Some(price);
        self
    }

    /// Sets limits on requests. They apply across all processes that share the store of the limits. Each attempt counts as one request, with the name
    /// of the model in place of the name of a tool. Pass clones of one value to all models of an account to count their requests together. Use
    /// [`Limit::each_tool`](tool_core::limits::Limit::each_tool) to count each model separately.
    ///
    /// If a limit is exhausted, a chain tries its next model at once. The last model of a chain, and a model without a chain, waits in memory if the
    /// wait is within the [budget](Retry::budget) of the step and the deadline of the context. Otherwise the run is suspended for the wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_agent::model::{ApiKey, Endpoint, HttpModel};
    /// use tool_core::limits::{Limit, SharedLimits};
    /// # use tool_core::store::MemoryStore;
    /// # let store = MemoryStore::default();
    ///
    /// // With a `PostgresStore`, at most 60 requests in a minute and 8 at the same time, from all machines.
    /// let limits = SharedLimits::builder(store, "OpenAI")
    ///     .limit(Limit::quota(60, Duration::from_mins(1)))
    ///     .limit(Limit::at_once(8))
    ///     .build()?;
    /// let model = HttpModel::builder(Endpoint::openai(ApiKey::new("…")), "gpt-5").shared_limits(limits).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shared_limits(mut self, limits: SharedLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Adds a field to the body of every request, such as `reasoning` or `service_tier`. If this crate writes the field too, the value is applied to
    /// it as a JSON merge patch (RFC 7396): the keys of an object are merged, and `null` removes a field, such as `stream_options` for a server that
    /// refuses it. A second call with the same name replaces the first.
    ///
    /// [`build`](Self::build) refuses the field in which the provider expects the messages (`messages`, `input` or `contents`), and `system`,
    /// `systemInstruction`, `tools`, `toolConfig`, `model` and `stream`.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// Sets how long each phase of a request may take. In a chain, each model has its own timeouts.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets when a failed request is sent again. In a chain, the setting of the first model applies to all models.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Checks the configuration and creates the model. No request is sent.
    pub fn build(self) -> Result<HttpModel, ConfigError> {
        let Self {
            endpoint,
            model,
            mut max_tokens,
            temperature,
            cache,
            past_reasoning,
            price,
            limits,
            fields,
            timeouts,
            retry,
        } = self;
        if model.trim().is_empty() {
            return Err(ConfigError::NoModel);
        }
        if temperature.is_some_and(|temperature| !temperature.is_finite()) {
            return Err(ConfigError::Temperature);
        }
        let provider = endpoint.provider;
        if provider == Provider::Anthropic && temperature.is_some() {
            return Err(ConfigError::Unsupported {
                parameter: "temperature",
                provider,
            });
        }
        if let Some(name) = fields.keys().find(|name| body::is_reserved(provider, name)) {
            return Err(ConfigError::Field(name.clone()));
        }
        if provider == Provider::Anthropic {
            max_tokens = max_tokens.or(Some(ANTHROPIC_TOKENS));
        }
        let url = url(&endpoint, &model)?;
        let mut headers = headers(&endpoint.headers)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key_header = endpoint.key_header.as_deref().map(name).transpose()?;
        let mut client = Client::builder();
        if is_loopback(&url) {
            // A proxy from the environment could not reach this machine, and with `http` it would receive the key in clear text.
            client = client.no_proxy();
        }
        let client = client
            // A redirect would send the key and the conversation to an address that the host did not configure.
            .redirect(redirect::Policy::none())
            .connect_timeout(timeouts.connect)
            .user_agent(concat!("tool-agent/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ConfigError::Client(error.to_string()))?;
        let mut params = body::params(&endpoint, max_tokens, temperature);
        if let Some(time) = cache.filter(|_| provider == Provider::Anthropic) {
            params.insert("cache_control".to_owned(), body::cache_control(time));
        }
        let cache_points = cache.filter(|_| provider == Provider::Bedrock);
        body::merge(&mut params, fields);
        let origin = format!("{} {model}", endpoint.base.trim_end_matches('/'));
        // OpenAI, Anthropic and Bedrock end every stream with a final event. Gemini and compatible servers of Chat Completions may not.
        let ends_with_event = match provider {
            Provider::Chat => endpoint.own,
            Provider::Responses | Provider::Anthropic | Provider::Bedrock => true,
            Provider::Gemini => false,
        };
        let azure = url.host_str().is_some_and(is_azure);
        let past_reasoning = past_reasoning.unwrap_or_else(|| PastReasoning::of(&url, &model));
        let target = Target {
            client,
            provider,
            past_reasoning,
            model,
            url,
            origin,
            headers,
            key_header,
            credentials: endpoint.credentials,
            price,
            limits,
            #[cfg(feature = "bedrock")]
            signing: endpoint.signing,
            params,
            cache_points,
            timeouts,
            azure,
            ends_with_event,
            not_before: Mutex::new(None),
        };
        Ok(HttpModel::new(Arc::new(target), retry))
    }
}

/// A model at an endpoint, checked and ready for requests.
pub(super) struct Target {
    pub(super) client: Client,
    pub(super) provider: Provider,
    pub(super) past_reasoning: PastReasoning,
    pub(super) model: String,
    pub(super) url: Url,
    /// The endpoint and the model. Opaque parts of a reply, such as signatures, are sent back only to the origin that wrote them.
    pub(super) origin: String,
    pub(super) headers: HeaderMap,
    pub(super) key_header: Option<HeaderName>,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) price: Option<ModelPrice>,
    pub(super) limits: Option<SharedLimits>,
    #[cfg(feature = "bedrock")]
    pub(super) signing: Option<Signing>,
    /// The fields of the body that are equal in every request.
    pub(super) params: Map<String, Value>,
    /// The cache time of the cache points in a request to Bedrock; `None` for no cache points.
    pub(super) cache_points: Option<CacheTime>,
    pub(super) timeouts: Timeouts,
    pub(super) azure: bool,
    /// Whether a stream without its final event is broken, even if it states the reason why the model stopped.
    pub(super) ends_with_event: bool,
    /// The end of the wait that the provider requested. All clones of the model respect it.
    pub(super) not_before: Mutex<Option<Instant>>,
}

impl Target {
    /// Returns the limit on the output tokens of a request; `None` if the request contains none.
    pub(super) fn max_tokens(&self) -> Option<u64> {
        body::max_tokens(self.provider, &self.params)
    }

    /// Returns the remaining part of the wait that the provider requested.
    pub(super) fn wait(&self) -> Option<Duration> {
        let not_before = self
            .not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let wait = not_before
            .as_ref()?
            .saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(wait)
    }

    /// Stores a wait that the provider requests, unless a longer wait is stored already.
    pub(super) fn rest(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut not_before = self
            .not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *not_before = until.max(*not_before);
    }
}

/// Returns the URL of requests.
fn url(endpoint: &Endpoint, model: &str) -> Result<Url, ConfigError> {
    let base = endpoint.base.trim().trim_end_matches('/');
    let wrong = |why: &str| ConfigError::Url {
        url: shown(&endpoint.base),
        why: why.to_owned(),
    };
    let mut url: Url = base.parse().map_err(|error| wrong(&format!("{error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("its scheme is not http or https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "it contains credentials: pass them with `Endpoint::credentials`",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(
            "it contains a query or a fragment: pass query parameters with `Endpoint::query`",
        ));
    }
    if url.scheme() == "http"
        && has_credentials(endpoint)
        && !endpoint.allow_http
        && !is_loopback(&url)
    {
        return Err(ConfigError::PlainHttp {
            url: shown(&endpoint.base),
        });
    }
    {
        let mut path = url
            .path_segments_mut()
            .map_err(|()| wrong("it has no host"))?;
        path.pop_if_empty();
        match endpoint.provider {
            Provider::Chat => path.extend(["chat", "completions"]),
            Provider::Responses => path.push("responses"),
            Provider::Anthropic => path.push("messages"),
            Provider::Gemini => {
                if !model.contains('/') {
                    path.push("models");
                }
                path.extend(format!("{model}:streamGenerateContent").split('/'))
            }
            Provider::Bedrock => path.push("model"),
        };
    }
    if endpoint.provider == Provider::Bedrock {
        // AWS computes the signature over the path with an encoded `:`, which `path_segments_mut` does not encode.
        let path = format!("{}/{}/converse-stream", url.path(), encoded(model));
        url.set_path(&path);
    }
    if endpoint.provider == Provider::Gemini {
        url.query_pairs_mut().append_pair("alt", "sse");
    }
    for (name, value) in &endpoint.query {
        url.query_pairs_mut().append_pair(name, value);
    }
    Ok(url)
}

/// Encodes all characters of a segment of a path except the unreserved ones.
fn encoded(segment: &str) -> String {
    let mut out = String::new();
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Returns whether requests to an endpoint contain credentials or are signed with them.
fn has_credentials(endpoint: &Endpoint) -> bool {
    #[cfg(feature = "bedrock")]
    if endpoint.signing.is_some() {
        return true;
    }
    endpoint.credentials.is_some()
}

/// Returns a URL for errors and debug output: without user, password, query and fragment, which may contain secrets.
pub(super) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => url.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

/// Returns whether the host of a URL is `localhost` or a loopback address.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Returns whether a host belongs to Azure, whose quota codes have a different meaning.
fn is_azure(host: &str) -> bool {
    [
        ".openai.azure.com",
        ".cognitiveservices.azure.com",
        ".services.ai.azure.com",
    ]
    .iter()
    .any(|suffix| host.ends_with(suffix))
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    for (header, value) in given {
        let value = HeaderValue::from_str(value).map_err(|_| ConfigError::Header {
            name: header.clone(),
            why: "its value contains a control character",
        })?;
        headers.insert(name(header)?, value);
    }
    Ok(headers)
}

fn name(header: &str) -> Result<HeaderName, ConfigError> {
    HeaderName::from_bytes(header.as_bytes()).map_err(|_| ConfigError::Header {
        name: header.to_owned(),
        why: "its name contains a character that header names cannot contain",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Only Azure uses the name `insufficient_quota` for a limit per minute. A host does not belong to Azure if its name merely contains a domain of
    // Azure.
    #[test]
    fn hosts_of_azure_are_known() {
        for (host, expected) in [
            ("acme.openai.azure.com", true),
            ("acme.cognitiveservices.azure.com", true),
            ("acme.services.ai.azure.com", true),
            ("openai.azure.com.example.com", false),
            ("notopenai.azure.com", false),
            ("api.openai.com", false),
        ] {
            assert_eq!(is_azure(host), expected, "{host}");
        }
    }
}
