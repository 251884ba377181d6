//! HTTP requests and responses.

use std::fmt;
use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::de::DeserializeOwned;
use tool_core::ExposeSecret as _;
use tool_core::prelude::*;
use url::Url;

use super::body::media_type;
use super::follow::Secret;
use crate::charset::decode;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, StrictSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`: reads the resource.
    Get,
    /// `HEAD`: reads only the headers.
    Head,
    /// `POST`: sends data, for example to create a resource.
    Post,
    /// `PUT`: replaces the resource.
    Put,
    /// `PATCH`: changes a part of the resource.
    Patch,
    /// `DELETE`: deletes the resource.
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
#[derive(Clone)]
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
    /// Whether a redirect that would change the method is returned instead of followed.
    pub(super) keep_method: bool,
}

impl Request {
    /// Creates a request without headers and body.
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
            keep_method: false,
        }
    }

    /// Adds a parameter to the URL's query.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds a header to the request.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Sends a secret in a header, to the URL's origin only; a redirect to a different origin does not get it. Returns an error if a header cannot
    /// contain the secret.
    pub fn secret_header(
        mut self,
        name: HeaderName,
        secret: &SecretString,
    ) -> Result<Self, ToolError> {
        let value = HeaderValue::from_str(secret.expose_secret());
        let mut value = value.map_err(|_| {
            ToolError::unavailable(format_args!(
                "a secret that is valid in the header `{name}`"
            ))
        })?;
        value.set_sensitive(true);
        self.secret = Some(Secret::Header(name, value));
        Ok(self)
    }

    /// Sends a secret as a query parameter, to the URL's origin only; a redirect to a different origin does not get the secret. [`Response::url`]
    /// does not contain the secret.
    pub fn secret_query(mut self, name: &'static str, secret: &SecretString) -> Self {
        self.secret = Some(Secret::Query(name, secret.clone()));
        self
    }

    /// Sets a JSON body and its `Content-Type`.
    pub fn json(self, body: &serde_json::Value) -> Self {
        let kind = HeaderValue::from_static("application/json");
        self.header(header::CONTENT_TYPE, kind)
            .body(body.to_string().into_bytes())
    }

    /// Sets the body of the request.
    pub fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// Sets the maximum number of decompressed bytes of the response's body that are read.
    pub fn most_bytes(mut self, bytes: usize) -> Self {
        self.most_bytes = Some(bytes);
        self
    }

    /// Sets the timeout for the request with all its redirects; the [host's timeout](super::Http::timeout) applies as well.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Does not follow a redirect that would change the method, such as 303 after `POST`: the redirect itself is the response. By default, such a
    /// redirect is followed with `GET`.
    pub fn keep_method(mut self) -> Self {
        self.keep_method = true;
        self
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn reads(&self) -> bool {
        matches!(self.method, http::Method::GET | http::Method::HEAD)
    }
}

/// Prints the method and the URL; leaves out added query parameters, headers, body and secret.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The response to a request: the last one, after the redirects that were followed.
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
    /// Returns the status code, such as 200.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the URL of the response, after the redirects that were followed.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the value of a header, if the response has it and it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    #[cfg(feature = "web")]
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the body, decompressed, up to the limit.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Returns whether the body was longer than the limit.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns a note about the response, such as why it has no body.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the body, decoded as text.
    pub fn text(&self) -> String {
        decode(&self.body, media_type(&self.headers).1, None)
    }

    /// Returns the body, deserialized from JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }

    /// Returns the time to wait before a retry, if the server sends `Retry-After`, as seconds or as a date.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.header("retry-after")?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let then = httpdate::parse_http_date(text).ok()?;
        // For a date in the past, the wait is zero.
        Some(
            then.duration_since(std::time::SystemTime::now())
                .unwrap_or_default(),
        )
    }
}
