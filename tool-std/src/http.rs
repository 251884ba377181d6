//! HTTP tools: requests to public hosts, through a guard against requests to private addresses (SSRF).
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_std::http::http_get;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let tools = Registry::builder().tool::<http_get>().build().unwrap().open();
//! let call = ToolCall::new("1", "http_get", r#"{"url": "http://0x7f.1/admin"}"#);
//! let result = tools.call(call, &ToolContext::anonymous()).await;
//! assert_eq!(result.model_text(), "`127.0.0.1` is not at a public address, only hosts on the internet can be reached");
//! # }
//! ```
//!
//! A successful call, and the result that a model reads:
//!
//! ```text
//! http_get {"url": "https://api.example.com/v1/items", "query": [{"name": "page", "value": "2"}]}
//!
//! {"status":200,"url":"https://api.example.com/v1/items?page=2","headers":[{"name":"content-type","value":"application/json"}],
//!  "body":{"items":[]},"truncated":false,"duration_ms":84}
//! ```
//!
//! # Two tools
//!
//! [`http_get`](fn@http_get) reads, [`http_request`](fn@http_request) supports each [`Method`]. A single tool for both would have to be declared
//! destructive for every page that it reads: users would stop reading its approval prompts, and no read could be retried after a failure or run in
//! parallel with others. [`http_request`](fn@http_request) supports `GET` as well, so that a host can offer it alone.
//!
//! # Configuration
//!
//! By default, public hosts can be reached at ports 80 and 443, without any secret. A host changes this with an [`Http`] in the context:
//!
//! ```
//! use std::time::Duration;
//! use tool_core::{SecretString, ToolContext};
//! use tool_std::http::{Credential, Guard, Http};
//!
//! let http = Http::default()
//!     .guard(Guard::default().allow(["example.com"])?)
//!     .credential(Credential::for_hosts(["api.example.com"])?)
//!     .timeout(Duration::from_secs(5));
//! let cx = ToolContext::builder().with(http).secret("http_api_key", SecretString::from("key-4711")).build();
//! # drop(cx);
//! # Ok::<(), tool_std::http::DomainError>(())
//! ```
//!
//! # Defended and undefended threats
//!
//! [`Guard`] describes where requests may be sent. Every redirect is a new request that passes the guard. The tools send the secret `http_api_key`
//! only to the domains that the host set for it ([`Credential::for_hosts`]). No secret is sent to a different origin after a redirect.
//! No proxy is used: environment variables that name a proxy are not read. Cookies are not stored, responses are not cached, and each request has
//! its own connection. Bodies are limited by their decompressed size and read only up to the limit.
//!
//! Not defended: how a public host uses a request, and services at public addresses that trust requests from inside their own network.
//!
//! Cost: see the table of the [crate](crate#cost).

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::{Effect, ErrorKind};

mod body;
mod connect;
mod credential;
mod follow;
mod guard;
mod headers;
mod names;
#[cfg(feature = "http-runner")]
mod operation;
mod request;
mod resolve;
#[cfg(feature = "http-runner")]
mod runner;
mod special;
#[cfg(feature = "http")]
mod tools;

pub use ::http::{HeaderName, HeaderValue};
#[cfg(feature = "web")]
pub(crate) use body::{cut_chars, is_text, looks_like_text, media_type};
use connect::Tls;
#[cfg(any(
    feature = "web",
    feature = "slack",
    feature = "github",
    feature = "hubspot"
))]
pub(crate) use credential::bearer;
pub use credential::{AuthStyle, Credential};
pub(crate) use follow::SendError;
pub use guard::{AddressPolicy, Guard, Refusal};
pub use headers::Field;
pub use names::DomainError;
pub use request::{Method, Request, Response};
pub use resolve::{Resolver, SystemResolver};
#[cfg(feature = "http-runner")]
pub use runner::HttpRunner;
pub use special::special_range;
#[cfg(feature = "http")]
pub use tools::{Answered, http_get, http_request};

/// The settings of requests: one value for all tools of this module, cheap to clone, passed to them with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// A context without an `Http` uses the defaults: public hosts, no secret.
#[derive(Clone, Default)]
#[must_use]
pub struct Http {
    guard: Guard,
    tls: Tls,
    settings: Arc<Settings>,
}

/// Omits the certificates, because they are long. An `Http` contains no secrets.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("guard", &self.guard)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
struct Settings {
    user_agent: HeaderValue,
    timeout: Duration,
    max_chars: u32,
    most_bytes: usize,
    redirects: usize,
    credential: Option<Credential>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: HeaderValue::from_static(concat!("tool-std/", env!("CARGO_PKG_VERSION"))),
            timeout: Duration::from_secs(15),
            max_chars: 16_384,
            most_bytes: 4 << 20,
            redirects: 5,
            credential: None,
        }
    }
}

impl Http {
    /// Sets the guard, which decides to which hosts requests may be sent.
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// Sets the hosts that may get the secret `http_api_key`, and its header.
    pub fn credential(mut self, credential: Credential) -> Self {
        self.settings().credential = Some(credential);
        self
    }

    /// Sets the time limit of a request with all its redirects, even if the request asks for more. The default is 15 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings().timeout = timeout;
        self
    }

    /// Sets the maximum, and default, number of characters of a body in the result of [`http_get`](fn@http_get) and
    /// [`http_request`](fn@http_request). The default is 16,384.
    pub fn max_chars(mut self, chars: u32) -> Self {
        self.settings().max_chars = chars;
        self
    }

    /// Sets the maximum number of decompressed bytes of a response's body that are read, for requests without their own [limit](Request::most_bytes).
    /// The default is 4 MiB.
    pub fn most_bytes(mut self, bytes: usize) -> Self {
        self.settings().most_bytes = bytes;
        self
    }

    /// Sets the maximum number of redirects of a request. The default is 5.
    pub fn redirects(mut self, most: usize) -> Self {
        self.settings().redirects = most;
        self
    }

    /// Sets the `User-Agent` header of requests that do not have one.
    pub fn user_agent(mut self, name: HeaderValue) -> Self {
        self.settings().user_agent = name;
        self
    }

    /// Trusts a certificate (DER) in addition to the certificates of the system.
    pub fn root_certificate(mut self, der: Vec<u8>) -> Self {
        self.tls = self.tls.with_root(der);
        self
    }

    fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    /// Sends a request under these settings, for search providers and your own tools.
    pub async fn send(&self, request: Request) -> Result<Response, ToolError> {
        self.attempt(request).await.map_err(|failed| failed.error)
    }

    /// Sends a request as [`send`](Self::send) does. The error also says whether a server may have received the request.
    pub(crate) async fn attempt(&self, request: Request) -> Result<Response, SendError> {
        follow::follow(self, request).await
    }

    /// Sends a request to a service that the host itself has named. The service may be at any address that the guard does not
    /// [block](Guard::block); its redirects to a different origin must be allowed as for [`send`](Self::send).
    pub async fn send_to_own(&self, request: Request) -> Result<Response, ToolError> {
        self.trusting(request.url()).send(request).await
    }

    /// Returns these settings, with the origin of a URL allowed in addition.
    pub(crate) fn trusting(&self, url: &str) -> Self {
        let mut own = self.clone();
        if let Ok(url) = url::Url::parse(url) {
            own.guard = own.guard.trusting(url.origin());
        }
        own
    }

    /// Checks whether the guard admits a URL, as far as that is known before its host is resolved.
    #[cfg(any(feature = "web", feature = "vendor"))]
    pub(crate) fn admits(&self, url: &str) -> Result<(), Refusal> {
        self.guard.url(url).map(drop)
    }

    pub(crate) fn of(cx: &ToolContext) -> Self {
        /// The settings of all contexts without an `Http`. They share one value, because each value reads the system's certificates on first use.
        static DEFAULT: LazyLock<Http> = LazyLock::new(Http::default);
        cx.extension().unwrap_or_else(|| DEFAULT.clone())
    }
}

/// Permission to read from other hosts, as a host value: `http: &HttpRead`.
#[derive(Clone, Debug)]
pub struct HttpRead(Http);

impl HttpRead {
    /// Returns the time limit of a request with all its redirects.
    #[cfg(feature = "web")]
    pub(crate) fn longest(&self) -> std::time::Duration {
        self.0.settings.timeout
    }

    /// Sends a request with the method `GET` or `HEAD`; any other method is an error.
    pub async fn send(&self, request: Request) -> Result<Response, ToolError> {
        if !request.reads() {
            return Err(ToolError::of(
                ErrorKind::Denied,
                "only `GET` and `HEAD` are possible here",
            ));
        }
        self.0.send(request).await
    }
}

impl FromContext for HttpRead {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(Http::of(cx)))
    }
}

/// Permission to send any request to other hosts, as a host value: `http: &HttpWrite`.
#[derive(Clone, Debug)]
pub struct HttpWrite(Http);

impl HttpWrite {
    /// Sends a request with any [`Method`], as [`Http::send`] does.
    pub async fn send(&self, request: Request) -> Result<Response, ToolError> {
        self.0.send(request).await
    }
}

impl FromContext for HttpWrite {
    const EFFECT: Effect = Effect::ALL;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(Http::of(cx)))
    }
}
