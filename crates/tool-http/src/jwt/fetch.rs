//! Fetching of an issuer's JSON Web Key Set.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::header::{ACCEPT, AGE, CACHE_CONTROL};
use http::{HeaderMap, StatusCode};
use reqwest::{Certificate, Client, Url, redirect};

use super::JwtConfigError;

/// Maximum length of a body in bytes. A set of 100 RSA keys of 4,096 bits takes less than a fifth of this length.
const LONGEST_BODY: usize = 512 * 1024;
/// Default timeout of a request, including its body.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Fetches the keys of an issuer: [`HttpJwks`] over HTTP, or an implementation of the host, such as one that reads a file.
///
/// ```
/// use futures::FutureExt as _;
/// use futures::future::BoxFuture;
/// use tool_http::{FetchedJwks, JwksError, JwksFetcher};
///
/// /// Keys that the operator has written into a file.
/// struct JwksFile(std::path::PathBuf);
///
/// impl JwksFetcher for JwksFile {
///     fn fetch(&self) -> BoxFuture<'_, Result<FetchedJwks, JwksError>> {
///         async {
///             let read = std::fs::read(&self.0);
///             let body = read.map_err(|error| JwksError::new(error.to_string()))?;
///             Ok(FetchedJwks::new(body))
///         }
///         .boxed()
///     }
/// }
/// ```
pub trait JwksFetcher: Send + Sync + 'static {
    /// Fetches the key set. Only one call runs at a time, and each call is cancelled after 15
    /// seconds. After an error, the cached keys are used until they expire.
    fn fetch(&self) -> BoxFuture<'_, Result<FetchedJwks, JwksError>>;
}

/// A fetched key set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchedJwks {
    /// The JSON Web Key Set.
    pub body: Vec<u8>,
    /// The time for which the keys may be used; `None` if the response does not specify it.
    pub max_age: Option<Duration>,
}

impl FetchedJwks {
    /// Creates a key set without a maximum age.
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            max_age: None,
        }
    }

    /// Sets the time for which the keys may be used.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }
}

/// The error of a failed fetch. It is written to the host's log and never shown to a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JwksError(String);

impl JwksError {
    /// Creates an error with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Fetches keys over HTTPS; `http` is allowed for loopback addresses only.
///
/// Redirects are not followed, a body longer than 512 KiB is an error, and a request takes at most 10 seconds by default
/// ([`timeout`](Self::timeout)). The system's certificates are trusted; on Linux, `SSL_CERT_FILE` replaces them. The variables `HTTPS_PROXY` and
/// `NO_PROXY` are respected, except for loopback addresses, which are always requested directly.
#[derive(Clone)]
pub struct HttpJwks {
    url: Url,
    roots: Vec<Certificate>,
    timeout: Duration,
    client: Client,
}

impl HttpJwks {
    /// Creates a fetcher for a URL: the `jwks_uri` of the issuer's metadata. Fails if the URL is malformed, contains
    /// a user or a password, or is neither `https` nor `http` with a loopback address, or if the HTTP client cannot
    /// be built, for example because the system's certificates cannot be read.
    pub fn new(url: &str) -> Result<Self, JwtConfigError> {
        let fault = |reason: &str| JwtConfigError::Url {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        let parsed = Url::parse(url).map_err(|error| fault(&error.to_string()))?;
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(JwtConfigError::Url {
                // The URL may contain a password, so only its host is shown.
                url: parsed.host_str().unwrap_or_default().to_owned(),
                reason: "it contains a user or a password, remove it".to_owned(),
            });
        }
        match parsed.scheme() {
            "https" => {}
            "http" if is_loopback(&parsed) => {}
            "http" => {
                return Err(fault(
                    "keys that are fetched over `http` can be replaced in transit, write `https`",
                ));
            }
            _ => return Err(fault("it is not an `https` URL")),
        }
        let client = client(&parsed, &[])?;
        Ok(Self {
            url: parsed,
            roots: Vec::new(),
            timeout: TIMEOUT,
            client,
        })
    }

    /// Also trusts a root certificate in DER, such as the certificate of a company's own certificate authority. Fails if the certificate is
    /// malformed, or if the HTTP client cannot be built.
    pub fn root_certificate(mut self, der: &[u8]) -> Result<Self, JwtConfigError> {
        let root = Certificate::from_der(der);
        self.roots.push(root.map_err(|error| client_error(&error))?);
        self.client = client(&self.url, &self.roots)?;
        Ok(self)
    }

    /// Sets the timeout of a request, from the DNS lookup to the end of the body; 10 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn get(&self) -> Result<FetchedJwks, JwksError> {
        let request = self.client.get(self.url.clone()).timeout(self.timeout);
        let request = request.header(ACCEPT, "application/jwk-set+json, application/json");
        let mut response = request.send().await.map_err(|error| broken(&error))?;
        if response.status() != StatusCode::OK {
            return Err(JwksError::new(format!(
                "the response has the status {}",
                response.status()
            )));
        }
        let max_age = max_age(response.headers());
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| broken(&error))? {
            if body.len() + part.len() > LONGEST_BODY {
                return Err(JwksError::new(format!(
                    "the response is longer than {LONGEST_BODY} bytes"
                )));
            }
            body.extend_from_slice(&part);
        }
        Ok(FetchedJwks { body, max_age })
    }
}

impl JwksFetcher for HttpJwks {
    fn fetch(&self) -> BoxFuture<'_, Result<FetchedJwks, JwksError>> {
        self.get().boxed()
    }
}

impl fmt::Debug for HttpJwks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpJwks")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

fn client(url: &Url, roots: &[Certificate]) -> Result<Client, JwtConfigError> {
    let mut builder = Client::builder()
        .user_agent(concat!("tool-mcp/", env!("CARGO_PKG_VERSION")))
        // A redirect may lead to `http`, or to a host that the operator did not name.
        .redirect(redirect::Policy::none())
        // Requests are minutes apart, so idle connections are closed.
        .pool_max_idle_per_host(0);
    if is_loopback(url) {
        builder = builder.no_proxy();
    } else {
        builder = builder.https_only(true);
    }
    for root in roots {
        builder = builder.add_root_certificate(root.clone());
    }
    builder.build().map_err(|error| client_error(&error))
}

fn client_error(error: &reqwest::Error) -> JwtConfigError {
    JwtConfigError::Client(causes(error))
}

fn broken(error: &reqwest::Error) -> JwksError {
    JwksError::new(causes(error))
}

/// Returns the text of an error and its causes, which `reqwest` leaves out.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Returns whether the host of a URL is `localhost` or a loopback address.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Returns the time for which a response may be used (RFC 9111, section 4.2), minus its `Age`; zero if the response must not be cached.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let mut max_age = None;
    for value in headers.get_all(CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or_default().split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-store" | "no-cache" => return Some(Duration::ZERO),
                // A malformed `max-age` counts as zero; if a response has several, the shortest applies.
                "max-age" => {
                    let seconds = value.trim().trim_matches('"').parse().unwrap_or(0);
                    let shorter = max_age.map_or(seconds, |other: u64| other.min(seconds));
                    max_age = Some(shorter);
                }
                _ => {}
            }
        }
    }
    let age = headers.get(AGE).and_then(|age| age.to_str().ok());
    let age = age.and_then(|age| age.trim().parse().ok()).unwrap_or(0);
    max_age.map(|seconds| Duration::from_secs(seconds.saturating_sub(age)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_of_a_response_follows_its_headers() {
        let of = |lines: &[(http::HeaderName, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(name, http::HeaderValue::from_static(value));
            }
            max_age(&headers).map(|age| age.as_secs())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(CACHE_CONTROL, "public")]), None);
        assert_eq!(
            of(&[(CACHE_CONTROL, "public, Max-Age=600, must-revalidate")]),
            Some(600)
        );
        assert_eq!(
            of(&[(CACHE_CONTROL, "max-age=600"), (AGE, "100")]),
            Some(500)
        );
        assert_eq!(
            of(&[(CACHE_CONTROL, "max-age=600"), (AGE, "1000")]),
            Some(0)
        );
        assert_eq!(of(&[(CACHE_CONTROL, "max-age=600, max-age=60")]), Some(60));
        assert_eq!(
            of(&[(CACHE_CONTROL, "max-age=600"), (CACHE_CONTROL, "no-store")]),
            Some(0)
        );
        assert_eq!(of(&[(CACHE_CONTROL, "max-age=-1")]), Some(0));
        assert_eq!(of(&[(CACHE_CONTROL, "s-maxage=600")]), None);
    }

    // Keys fetched over `http` could be replaced in transit, so only HTTPS and loopback URLs are accepted.
    #[test]
    fn only_https_and_loopback_urls_are_accepted() {
        for url in [
            "https://login.example.com/jwks.json",
            "http://localhost:8080/jwks",
            "http://127.0.0.1/jwks",
            "http://127.9.9.9:1/jwks",
            "http://[::1]:8080/jwks",
            "https://10.0.0.1/jwks",
        ] {
            assert!(HttpJwks::new(url).is_ok(), "{url}");
        }
        for url in [
            "http://login.example.com/jwks.json",
            "http://localhost.evil.example/jwks",
            "http://127.0.0.1.evil.example/jwks",
            "http://10.0.0.1/jwks",
            "http://0.0.0.0/jwks",
            "ftp://localhost/jwks",
            "file:///etc/jwks.json",
            "data:application/json,{}",
            "https://user:pass@login.example.com/jwks",
            "login.example.com/jwks",
            "",
        ] {
            let refused = HttpJwks::new(url).expect_err(url).to_string();
            assert!(!refused.contains("pass@"), "{refused}");
        }
    }

    #[test]
    fn a_malformed_root_certificate_is_refused() {
        let keys = HttpJwks::new("https://login.example.com/jwks.json").unwrap();
        let refused = keys.root_certificate(b"no certificate");
        assert!(matches!(refused, Err(JwtConfigError::Client(_))));
    }
}
