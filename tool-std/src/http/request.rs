//! What is sent, and what comes back.

use std::fmt;
use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::de::DeserializeOwned;
use tool_core::ExposeSecret as _;
use tool_core::prelude::*;
use url::Url;

use super::body::{decode, media_type};
use super::follow::Secret;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, StrictSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    Get,
    /// Reads the headers alone.
    Head,
    /// Sends something new.
    Post,
    /// Replaces.
    Put,
    /// Changes a part.
    Patch,
    /// Removes.
    Delete,
}

impl From<Method> for http::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::GET,
            Method::Head => Self::HEAD,
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Patch => Self::PATCH,
            Method::Delete => Self::DELETE,
        }
    }
}

/// A request, for [`Http::send`](super::Http::send).
///
/// ```
/// use tool_std::http::{Method, Request};
///
/// let request = Request::new(Method::Get, "https://api.example.com/v1/items").query("page", "2");
/// # drop(request);
/// ```
#[must_use]
pub struct Request {
    pub(super) method: http::Method,
    pub(super) url: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    pub(super) secret: Option<Secret>,
    pub(super) most_bytes: Option<usize>,
    pub(super) timeout: Option<Duration>,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            query: Vec::new(),
            headers: HeaderMap::new(),
            body: None,
            secret: None,
            most_bytes: None,
            timeout: None,
        }
    }

    /// Adds a parameter to the URL's query.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Sends a header.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Sends a secret in a header, to the URL's origin and to no other that the server sends on to. A secret that cannot stand in a
    /// header is an error.
    pub fn secret_header(
        mut self,
        name: HeaderName,
        secret: &SecretString,
    ) -> Result<Self, ToolError> {
        let value = HeaderValue::from_str(secret.expose_secret());
        let mut value = value.map_err(|_| {
            ToolError::unavailable(format_args!(
                "a secret that can stand in the header `{name}`"
            ))
        })?;
        value.set_sensitive(true);
        self.secret = Some(Secret::Header(name, value));
        Ok(self)
    }

    /// Sends a secret as a parameter of the query, to the URL's origin and to no other that the server sends on to. No response tells it
    /// as part of its URL.
    pub fn secret_query(mut self, name: &'static str, secret: &SecretString) -> Self {
        self.secret = Some(Secret::Query(name, secret.clone()));
        self
    }

    /// Sends a body that is JSON.
    pub fn json(self, body: &serde_json::Value) -> Self {
        let kind = HeaderValue::from_static("application/json");
        self.header(header::CONTENT_TYPE, kind)
            .body(body.to_string().into_bytes())
    }

    /// Sends a body.
    pub fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// Reads no more than this of the response's body, unpacked.
    pub fn most_bytes(mut self, bytes: usize) -> Self {
        self.most_bytes = Some(bytes);
        self
    }

    /// The longest that it may take, all redirects together, where the host does not allow [less](super::Http::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn reads(&self) -> bool {
        matches!(self.method, http::Method::GET | http::Method::HEAD)
    }
}

/// Names method and URL; never headers, body and secret.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The answer to a request, behind all redirects.
#[derive(Debug)]
pub struct Response {
    pub(super) status: u16,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) cut: bool,
    pub(super) note: Option<String>,
    pub(super) took: Duration,
}

impl Response {
    /// The status, such as 200.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Where it came from in the end.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// A header, if it is there and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    #[cfg(feature = "web")]
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body, unpacked, as far as it was read.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Whether there is more of the body than was read.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// What cannot be seen from the rest, such as why there is no body.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        decode(&self.body, media_type(&self.headers).1, None)
    }

    /// The body, read as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }

    /// How long to wait before the next try, where the server says so: `Retry-After`, as seconds or as a date.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.header("retry-after")?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let then = httpdate::parse_http_date(text).ok()?;
        // A date that has passed is no time to wait.
        Some(
            then.duration_since(std::time::SystemTime::now())
                .unwrap_or_default(),
        )
    }
}
