//! Sending a request and following its redirects.

use std::time::{Duration, Instant};

use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use tool_core::{ErrorKind, ToolError};
use url::Url;

use super::body::{self, Body, BodyError, ENCODINGS};
use super::connect::{ExchangeError, exchange};
use super::guard::Refusal;
use super::headers::for_another_origin;
use super::{Http, Request, Response};
use crate::Excerpt;

/// Maximum length of a redirect's URL, in bytes.
const LONGEST_URL: usize = 4_096;

/// The request of one hop.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
    /// The secret to send. A redirect to a different origin removes it for all further hops.
    secret: Option<Secret>,
    keep_method: bool,
}

/// A secret that is sent only to the origin of the first URL.
#[derive(Clone)]
pub(super) enum Secret {
    Header(header::HeaderName, HeaderValue),
    /// A secret in a query parameter.
    Query(&'static str, tool_core::SecretString),
}

/// Why a request has no response.
#[derive(Debug)]
pub(crate) struct SendError {
    pub(crate) error: ToolError,
    /// Whether a server may have received the request.
    #[cfg_attr(
        not(feature = "vendor"),
        allow(dead_code, reason = "only the packs of vendors read it")
    )]
    pub(crate) sent: bool,
}

impl SendError {
    fn after_sending(error: ToolError) -> Self {
        Self { error, sent: true }
    }
}

impl From<ToolError> for SendError {
    fn from(error: ToolError) -> Self {
        Self { error, sent: false }
    }
}

/// Sends a request and follows its redirects, within the timeout.
pub(super) async fn follow(http: &Http, request: Request) -> Result<Response, SendError> {
    let began = Instant::now();
    let most = http.settings.timeout;
    let wait = request.timeout.unwrap_or(most).min(most);
    match tokio::time::timeout(wait, hops(http, request)).await {
        Ok(done) => done.map(|response| Response {
            took: began.elapsed(),
            ..response
        }),
        Err(_) => Err(SendError::after_sending(ToolError::of(
            ErrorKind::TimedOut,
            format!(
                "there was no complete response within {} ms, try again later or ask for less",
                wait.as_millis()
            ),
        ))),
    }
}

async fn hops(http: &Http, request: Request) -> Result<Response, SendError> {
    let url = http
        .guard
        .url(&request.url)
        .map_err(Refusal::into_tool_error)?;
    let most = request.most_bytes.unwrap_or(http.settings.most_bytes);
    let mut hop = Hop {
        method: request.method,
        url: with_query(url, &request.query),
        headers: request.headers,
        body: request.body.map(Bytes::from),
        secret: request.secret,
        keep_method: request.keep_method,
    };
    let mut passed = 0;
    loop {
        let addresses = http.guard.addresses_of(&hop.url).await;
        let addresses = addresses.map_err(|refusal| SendError {
            error: refused(refusal, passed),
            sent: passed > 0,
        })?;
        let done = exchange(
            &http.tls,
            &hop.url,
            &addresses,
            outgoing(&hop, &http.settings.user_agent)?,
        )
        .await;
        let mut done = done.map_err(|error| SendError {
            sent: passed > 0 || matches!(error, ExchangeError::Http(_)),
            error: unanswered(error, &hop.url),
        })?;
        let status = done.response.status();
        let next = next(&hop, status, done.response.headers());
        let stay = match next {
            Next::Answer => None,
            Next::Hop(next) if passed < http.settings.redirects => {
                hop = *next;
                passed += 1;
                continue;
            }
            Next::Hop(_) => Some(format!(
                "the server redirects to `location`, no more than {} redirects are followed",
                http.settings.redirects
            )),
            Next::OtherMethod => Some(
                "the server redirects to a URL that would be requested with a different method, see `location`"
                    .to_owned(),
            ),
            Next::Elsewhere => Some(
                "the server redirects to a different origin, see `location`: a request that may change something is not repeated there"
                    .to_owned(),
            ),
        };
        let headers = std::mem::take(done.response.headers_mut());
        let read = body::read(&headers, done.response.into_body(), most).await;
        let (body, note) = match read {
            Ok(body) => (body, None),
            Err(error) => unread(error).map_err(SendError::after_sending)?,
        };
        return Ok(Response {
            status: status.as_u16(),
            url: hop.url,
            headers,
            body: body.bytes,
            cut: body.cut,
            note: stay.or(note),
            took: Duration::ZERO,
        });
    }
}

fn with_query(mut url: Url, query: &[(String, String)]) -> Url {
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url.set_fragment(None);
    url
}

/// Builds the request that is sent over the connection.
fn outgoing(hop: &Hop, user_agent: &HeaderValue) -> Result<http::Request<Full<Bytes>>, ToolError> {
    let mut url = hop.url.clone();
    let mut headers = hop.headers.clone();
    match &hop.secret {
        Some(Secret::Header(name, value)) => {
            headers.insert(name.clone(), value.clone());
        }
        Some(Secret::Query(name, value)) => {
            let value = tool_core::ExposeSecret::expose_secret(value);
            url.query_pairs_mut().append_pair(name, value);
        }
        None => {}
    }
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    headers.insert(header::HOST, HeaderValue::from_str(&host)?);
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ENCODINGS));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers
        .entry(header::USER_AGENT)
        .or_insert_with(|| user_agent.clone());
    headers
        .entry(header::ACCEPT)
        .or_insert(HeaderValue::from_static("*/*"));
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut request = http::Request::new(Full::new(hop.body.clone().unwrap_or_default()));
    *request.method_mut() = hop.method.clone();
    *request.uri_mut() = target.parse()?;
    *request.headers_mut() = headers;
    Ok(request)
}

/// The next step after a response.
enum Next {
    /// Return the response to the caller.
    Answer,
    /// Follow the redirect with this request.
    Hop(Box<Hop>),
    /// Return the response, because this request must not be repeated at the other origin.
    Elsewhere,
    /// Return the response, because the caller wants the same method on every hop.
    OtherMethod,
}

/// Decides whether to follow a redirect, and chooses the method, headers and body of the next request.
///
/// RFC 9110, 15.4: 303 is followed with GET, or HEAD after HEAD; 301 and 302 change POST to GET and keep other methods; 307 and 308 keep all methods.
/// If the origin changes, the secret is dropped for good, and so are all headers that could identify the user. A request that changes something is
/// not repeated at a different origin: no approval covers that, so the redirect itself is the response.
fn next(hop: &Hop, status: StatusCode, headers: &HeaderMap) -> Next {
    let mut locations = headers.get_all(header::LOCATION).iter();
    let (Some(location), None) = (locations.next(), locations.next()) else {
        return Next::Answer;
    };
    // A URL that is too long for a result is not followed either.
    let location = std::str::from_utf8(location.as_bytes()).ok();
    let location = location.filter(|location| location.len() <= LONGEST_URL);
    let Some(mut url) = location.and_then(|location| hop.url.join(location).ok()) else {
        return Next::Answer;
    };
    url.set_fragment(None);
    let safe = matches!(hop.method, Method::GET | Method::HEAD);
    let method = match status.as_u16() {
        301 | 302 if hop.method == Method::POST => Method::GET,
        301 | 302 | 307 | 308 => hop.method.clone(),
        303 if safe => hop.method.clone(),
        303 => Method::GET,
        _ => return Next::Answer,
    };
    let same_origin = url.origin() == hop.url.origin();
    let repeats = method == hop.method;
    if repeats && !safe && !same_origin {
        return Next::Elsewhere;
    }
    if !repeats && hop.keep_method {
        return Next::OtherMethod;
    }
    let mut headers = if same_origin {
        hop.headers.clone()
    } else {
        for_another_origin(&hop.headers)
    };
    if !repeats {
        headers.remove(header::CONTENT_TYPE);
    }
    Next::Hop(Box::new(Hop {
        method,
        headers,
        body: hop.body.clone().filter(|_| repeats),
        secret: hop.secret.clone().filter(|_| same_origin),
        keep_method: hop.keep_method,
        url,
    }))
}

fn refused(refusal: Refusal, passed: usize) -> ToolError {
    if passed == 0 {
        return refusal.into_tool_error();
    }
    // The first request was carried out, so the kind of the error is not `Denied`.
    let error = refusal.into_tool_error();
    ToolError::new(format!(
        "the server redirects to a URL that is refused: {}",
        error.model_text()
    ))
    .operator(error.operator_text())
}

fn unanswered(error: ExchangeError, url: &Url) -> ToolError {
    let host = url.host_str().unwrap_or_default();
    match error {
        ExchangeError::Connect(error) => ToolError::new(format!(
            "`{host}` could not be reached, try again later or use another URL"
        ))
        .operator(error.to_string()),
        ExchangeError::Tls(error) => ToolError::new(format!(
            "no secure connection to `{host}` could be made, use another URL: {error}"
        )),
        ExchangeError::Roots(error) => {
            ToolError::unavailable(format_args!("a certificate store ({error})"))
        }
        ExchangeError::Http(error) => ToolError::new(format!(
            "`{host}` did not answer with valid HTTP, try again later or use another URL: {error}"
        )),
    }
}

/// Returns an empty body and a note if the body cannot be decoded, so that the response keeps its status; fails if the connection broke.
fn unread(error: BodyError) -> Result<(Body, Option<String>), ToolError> {
    match error {
        BodyError::Broken(error) => Err(ToolError::new(format!(
            "the response ended early, try again later: {error}"
        ))),
        BodyError::Encoding(coding) => Ok((
            Body::default(),
            Some(format!(
                "the body is encoded as `{}`, which was not requested",
                Excerpt::<100>::of(coding)
            )),
        )),
        BodyError::Packed(error) => Ok((
            Body::default(),
            Some(format!("the body could not be decompressed: {error}")),
        )),
    }
}
