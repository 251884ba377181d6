//! Clients of vendors' APIs, which the packs of vendors share: addresses, rate limits and errors.
//!
//! Requests use the [`Http`] of the context, so its guard, timeout and certificates apply. A secret is sent to the origin of the
//! API only.
//!
//! # Rate limits
//!
//! If a vendor responds with 429, or with 403 and `Retry-After`, it has not carried out the request, and the request is sent again up to three times:
//! after the time in `Retry-After`, or by default after 1, 2 and 4 seconds ([`Api::first_wait`]). The call fails with
//! [`RateLimited`](tool_core::ErrorKind::RateLimited) and the time to wait after the third repeat, or at once if the wait is longer than
//! [`Api::longest_wait`] or than the time until the deadline of the call. A call also fails at once if GitHub responds that its primary limit is
//! exhausted.
//!
//! # Requests with an unknown result
//!
//! A request that changes something is not repeated after any other error. If the request was sent, and the response is missing, unreadable or a
//! server error, the call fails with [`Interrupted`](tool_core::ErrorKind::Interrupted), because the change may have been made. A redirect that would
//! turn such a request into a `GET` is not followed.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use url::Url;

use crate::Excerpt;
use crate::http::{Http, Method, Request, Response, SendError};

/// Maximum number of times that a request is repeated because of the rate limit.
const REPEATS: u32 = 3;

/// The address of a vendor's API, and the waits for its rate limit.
///
/// ```
/// use std::time::Duration;
/// use tool_std::vendor::Api;
///
/// let api = Api::at("https://gateway.internal/vendor").longest_wait(Duration::from_secs(5));
/// # drop(api);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Api {
    base: String,
    /// Whether the host has set the address. Otherwise the guard treats it like any other URL.
    own: bool,
    longest_wait: Duration,
    first_wait: Duration,
}

impl Api {
    /// Creates an address that the host chooses, such as a gateway or a test server. It may be in a private network. If it is an HTTP
    /// URL without a user name, the host's [`Guard`](crate::http::Guard) refuses it only if its host is [blocked](crate::http::Guard::block).
    pub fn at(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            own: true,
            longest_wait: Duration::from_secs(20),
            first_wait: Duration::from_secs(1),
        }
    }

    /// Creates the vendor's public address.
    pub(crate) fn public(base: &'static str) -> Self {
        Self {
            own: false,
            ..Self::at(base)
        }
    }

    /// Sets the longest wait before a request is repeated. The default is 20 seconds.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Sets the wait before the first repeat if the vendor does not name one. It doubles with each repeat. The default is 1 second.
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }
}

/// The client of a call to a vendor's API.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    vendor: &'static str,
    api: Api,
    http: Http,
    deadline: Option<Instant>,
}

/// A vendor's description of an error.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    /// The vendor's code, such as `channel_not_found`; may be empty.
    pub(crate) code: String,
    /// The vendor's text; may be empty.
    pub(crate) text: String,
    /// What the model should do instead.
    pub(crate) advice: Option<&'static str>,
}

impl Client {
    pub(crate) fn new(vendor: &'static str, api: &Api, cx: &ToolContext) -> Self {
        let http = Http::of(cx);
        let left = cx.remaining();
        Self {
            vendor,
            http: if api.own {
                http.trusting(&api.base)
            } else {
                http
            },
            api: api.clone(),
            deadline: left.and_then(|left| Instant::now().checked_add(left)),
        }
    }

    /// Creates a request to a path below the base of the API. Each segment is percent-encoded.
    pub(crate) fn request(&self, method: Method, path: &[&str]) -> Result<Request, ToolError> {
        let unusable = |why: &dyn std::fmt::Display| {
            ToolError::unavailable(format_args!(
                "a usable address of {} instead of `{}` ({why})",
                self.vendor, self.api.base
            ))
        };
        let mut url = Url::parse(&self.api.base).map_err(|error| unusable(&error))?;
        url.path_segments_mut()
            .map_err(|()| unusable(&"it has no path"))?
            .pop_if_empty()
            .extend(path);
        Ok(Request::new(method, url).keep_method())
    }

    /// Sends a request, and returns the response with any status. Repeats the request if the vendor limits the rate.
    pub(crate) async fn send(&self, request: Request) -> Result<Reply, ToolError> {
        let reads = request.reads();
        self.repeat(request, reads).await
    }

    /// Sends a request that changes nothing although its method is `POST`, such as a search.
    pub(crate) async fn read(&self, request: Request) -> Result<Reply, ToolError> {
        self.repeat(request, true).await
    }

    async fn repeat(&self, request: Request, reads: bool) -> Result<Reply, ToolError> {
        self.http.admits(request.url()).map_err(|refusal| {
            let text = format!("requests to {} are not allowed here", self.vendor);
            ToolError::of(ErrorKind::Unavailable, text).operator(format!(
                "the guard refuses `{}`: {refusal}; add its host to the guard's allowlist",
                request.url()
            ))
        })?;
        let mut repeats = 0;
        loop {
            let sent = self.http.attempt(request.clone()).await;
            let response = sent.map_err(|error| self.unsent(error, reads))?;
            let Some(wait) = limit(&response) else {
                return Ok(Reply {
                    vendor: self.vendor,
                    response,
                    reads,
                });
            };
            let wait = wait.unwrap_or(self.api.first_wait * 2_u32.pow(repeats));
            if repeats == REPEATS || !self.may_wait(wait) {
                let text = format!("{} has had too many requests, try again later", self.vendor);
                return Err(ToolError::of(ErrorKind::RateLimited, text).retry_after(wait));
            }
            tokio::time::sleep(wait).await;
            repeats += 1;
        }
    }

    fn may_wait(&self, wait: Duration) -> bool {
        let left = self
            .deadline
            .map(|end| end.saturating_duration_since(Instant::now()));
        wait <= self.api.longest_wait && left.is_none_or(|left| wait < left)
    }

    fn unsent(&self, SendError { error, sent }: SendError, reads: bool) -> ToolError {
        if reads || !sent {
            return error;
        }
        in_doubt(self.vendor, &error.model_text(), error.operator_text())
    }
}

/// Returns the time to wait if the vendor did not carry out the request because of its rate limit and the request may be repeated; `None` for any
/// other response. The inner `None` means that the vendor named no time. GitHub responds with 403 and `Retry-After` for its secondary limits. If its
/// primary limit is exhausted, it names the end of the limit in a header of its own, so the request is not repeated.
#[expect(
    clippy::option_option,
    reason = "a limit without a time is not the same as no limit"
)]
fn limit(response: &Response) -> Option<Option<Duration>> {
    let is_exhausted = response.header("x-ratelimit-remaining") == Some("0");
    match (response.status(), response.retry_after()) {
        (429, None) if is_exhausted => None,
        (429, wait) => Some(wait),
        (403, Some(wait)) => Some(Some(wait)),
        _ => None,
    }
}

/// Returns the error for a request that may have been carried out.
fn in_doubt(vendor: &str, why: &str, operator: String) -> ToolError {
    let text = format!(
        "it is not known whether {vendor} carried out the request: {why}; check before you repeat it"
    );
    ToolError::of(ErrorKind::Interrupted, text).operator(operator)
}

/// The response of a vendor, with the facts about its request that errors state.
#[derive(Debug)]
pub(crate) struct Reply {
    vendor: &'static str,
    pub(crate) response: Response,
    /// Whether the request changes nothing.
    reads: bool,
}

impl Reply {
    /// Returns whether the status is 2xx.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.response.status())
    }

    /// Deserializes the body of a successful response. If this fails for a request that changes something, the error says that its result is unknown.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        let read = self.response.json();
        read.map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &serde_json::Error) -> ToolError {
        let status = self.response.status();
        let operator = format!(
            "{} returned the status {status} and a body that cannot be read: {error}",
            self.vendor
        );
        if self.reads {
            let text = format!(
                "{} returned an unexpected response, try again later",
                self.vendor
            );
            return ToolError::new(text).operator(operator);
        }
        in_doubt(self.vendor, "its response cannot be read", operator)
    }

    /// Converts the vendor's description of an error to the error of the call.
    pub(crate) fn fail(&self, fault: &Fault) -> ToolError {
        let (vendor, status) = (self.vendor, self.response.status());
        let said = said(fault);
        let operator = match self.response.note() {
            Some(note) => format!("{vendor} returned the status {status}{said}: {note}"),
            None => format!("{vendor} returned the status {status}{said}"),
        };
        let (kind, what) = match status {
            401 => (
                ErrorKind::Unavailable,
                "refuses the host's key, this tool cannot be used now",
            ),
            403 => (
                ErrorKind::Unavailable,
                "does not permit this with the host's key",
            ),
            404 | 410 => (ErrorKind::Failed, "has nothing there"),
            500.. if self.reads => (ErrorKind::Failed, "cannot answer now, try again later"),
            500.. => return in_doubt(vendor, "the server failed", operator),
            300..=399 => (
                ErrorKind::Failed,
                "redirects the request to a different address",
            ),
            _ => (ErrorKind::Failed, "refuses the request"),
        };
        let advice = fault.advice.map(|advice| format!("; {advice}"));
        let text = format!("{vendor} {what}{said}{}", advice.unwrap_or_default());
        ToolError::of(kind, text).operator(operator)
    }

    /// Creates an error of a given kind, for vendors that report errors with the status 200.
    pub(crate) fn refuse(&self, kind: ErrorKind, fault: &Fault) -> ToolError {
        let advice = fault.advice.map(|advice| format!("; {advice}"));
        let text = format!(
            "{} refuses the request{}{}",
            self.vendor,
            said(fault),
            advice.unwrap_or_default()
        );
        ToolError::of(kind, text)
    }
}

/// Returns the vendor's code and text, with a leading separator; empty if there are none.
fn said(fault: &Fault) -> String {
    let code = Excerpt::<100>::of(fault.code.as_str());
    let text = Excerpt::<500>::of(fault.text.trim());
    match (code.is_empty(), text.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!(" (`{code}`)"),
        (true, false) => format!(": {text}"),
        (false, false) => format!(" (`{code}`): {text}"),
    }
}

/// Returns `Basic` and the two secrets in Base64, for the header `Authorization`.
#[cfg(feature = "whatsapp")]
pub(crate) fn basic(name: &SecretString, password: &SecretString) -> SecretString {
    use base64::Engine as _;
    use tool_core::ExposeSecret as _;
    let pair = format!("{}:{}", name.expose_secret(), password.expose_secret());
    let coded = base64::engine::general_purpose::STANDARD.encode(pair);
    SecretString::from(format!("Basic {coded}"))
}
