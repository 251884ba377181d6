//! Requests to other hosts, through a guard that lets nothing reach what is not public.
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
//! A call that goes through, and what a model reads of it:
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
//! [`http_get`](fn@http_get) reads, [`http_request`](fn@http_request) does whatever a method can. One tool for both would have to be called destructive for every
//! page that it reads: its approvals would be clicked away, and no read would be repeated after a failure or run beside another.
//! [`http_request`](fn@http_request) takes `GET` as well, so that a host may offer it alone.
//!
//! # What a host says
//!
//! Nothing, and public hosts can be reached at ports 80 and 443 without any secret. Everything else is an [`Http`] in the context:
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
//! # What it defends
//!
//! See [`Guard`] for where requests may go. Every redirect is a new request that passes the guard, and a secret goes to no other
//! origin than the one it is for. There is no proxy: environment variables that name one are not read. There are no cookies and no
//! cache, and each request has a connection of its own. Bodies are read as far as they are wanted, after they are unpacked.
//!
//! Not defended: what a public host does with a request that it gets, and public addresses inside of a network that trusts them.
//!
//! Cost: 65 crates beyond `tool-core`'s.

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
mod request;
mod resolve;
mod special;
mod tools;

pub use ::http::{HeaderName, HeaderValue};
#[cfg(feature = "web")]
pub(crate) use body::{cut_chars, decode, is_text, looks_like_text, media_type};
use connect::Tls;
pub use credential::{AuthStyle, Credential};
pub use guard::{AddressPolicy, Guard, Refusal};
pub use headers::Field;
pub use names::DomainError;
pub use request::{Method, Request, Response};
pub use resolve::{Resolver, SystemResolver};
pub use special::special_range;
pub use tools::{Answered, http_get, http_request};

/// How requests are made: one value for all tools of this module, cheap to clone, given to them with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// A context without one has the defaults: public hosts, no secret.
#[derive(Clone, Default)]
#[must_use]
pub struct Http {
    guard: Guard,
    tls: Tls,
    settings: Arc<Settings>,
}

/// Without certificates, which are long. No secret is a part of this.
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
    /// Where requests may go.
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// Who may get the secret `http_api_key`.
    pub fn credential(mut self, credential: Credential) -> Self {
        self.settings().credential = Some(credential);
        self
    }

    /// The longest a request with all its redirects may take, whatever it asks for itself; 15 seconds where nothing is said.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings().timeout = timeout;
        self
    }

    /// Most characters of a body in the result of [`http_get`](fn@http_get) and [`http_request`](fn@http_request), and how many there are where a model asks for
    /// nothing else; 16,384 where nothing is said.
    pub fn max_chars(mut self, chars: u32) -> Self {
        self.settings().max_chars = chars;
        self
    }

    /// Most bytes of a page, unpacked, that are read to find its text; 4 MB where nothing is said.
    pub fn most_bytes(mut self, bytes: usize) -> Self {
        self.settings().most_bytes = bytes;
        self
    }

    /// How often a request may be sent on; 5 times where nothing is said.
    pub fn redirects(mut self, most: usize) -> Self {
        self.settings().redirects = most;
        self
    }

    /// What requests say that they come from.
    pub fn user_agent(mut self, name: HeaderValue) -> Self {
        self.settings().user_agent = name;
        self
    }

    /// Trusts a certificate (DER) beside those of the system.
    pub fn root_certificate(mut self, der: Vec<u8>) -> Self {
        self.tls = self.tls.with_root(der);
        self
    }

    fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    /// Sends a request under these rules. This is for search providers and tools of one's own.
    pub async fn send(&self, request: Request) -> Result<Response, ToolError> {
        follow::follow(self, request).await
    }

    /// The same, for a service that the host itself has named: it may be anywhere but where the guard [blocks](Guard::block), whatever
    /// it sends on to may not.
    pub async fn send_to_own(&self, request: Request) -> Result<Response, ToolError> {
        self.trusting(request.url()).send(request).await
    }

    /// These rules, and leave to go to a URL's origin.
    pub(crate) fn trusting(&self, url: &str) -> Self {
        let mut own = self.clone();
        if let Ok(url) = url::Url::parse(url) {
            own.guard = own.guard.trusting(url.origin());
        }
        own
    }

    /// Whether requests may go to a URL, as far as that is known before its host is looked up.
    #[cfg(feature = "web")]
    pub(crate) fn admits(&self, url: &str) -> Result<(), Refusal> {
        self.guard.url(url).map(drop)
    }

    pub(crate) fn of(cx: &ToolContext) -> Self {
        /// One for all, because certificates are read for each anew.
        static DEFAULT: LazyLock<Http> = LazyLock::new(Http::default);
        cx.extension().unwrap_or_else(|| DEFAULT.clone())
    }
}

/// Leave to read from other hosts, as a host value: `http: &HttpRead`.
#[derive(Clone, Debug)]
pub struct HttpRead(Http);

impl HttpRead {
    /// The longest that a call may take.
    #[cfg(feature = "web")]
    pub(crate) fn longest(&self) -> std::time::Duration {
        self.0.settings.timeout
    }

    /// Sends a request that reads: any other method than `GET` and `HEAD` is an error.
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

/// Leave to send any request to other hosts, as a host value: `http: &HttpWrite`.
#[derive(Clone, Debug)]
pub struct HttpWrite(Http);

impl HttpWrite {
    /// Sends a request.
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
