//! Checks of the `Host` and `Origin` headers, against DNS rebinding and requests from untrusted web pages.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{Request, StatusCode, Uri};

/// Refuses requests for unknown hosts and from untrusted web pages. The hosts `localhost`, `127.0.0.1` and `[::1]` are always allowed, and so are
/// their `http` and `https` origins. A request without `Origin` needs only an allowed host: browsers send `Origin` with each cross-origin `POST`, and
/// with each cross-origin request whose response a page can read.
///
/// ```
/// use tool_http::{HostGuard, HostRefusal};
///
/// let mut guard = HostGuard::default();
/// guard.host("admin.example.com");
/// let request = |host: &str| http::Request::builder().header("host", host).body(()).unwrap();
/// assert_eq!(guard.check(&request("admin.example.com:443")), Ok(()));
/// assert_eq!(guard.check(&request("localhost:8081")), Ok(()));
/// assert_eq!(guard.check(&request("evil.example")), Err(HostRefusal::Host));
/// ```
#[derive(Clone, Debug, Default)]
pub struct HostGuard {
    hosts: Vec<String>,
    /// Scheme and authority of each allowed origin.
    origins: Vec<String>,
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostRefusal {
    /// The header `Host` is missing or malformed, or the request contains several `Host` headers.
    #[error("the header `Host` is missing, malformed or sent several times")]
    NoHost,
    /// The host is not allowed.
    #[error("the host in the header `Host` is not allowed")]
    Host,
    /// The origin is not allowed.
    #[error("the origin in the header `Origin` is not allowed")]
    Origin,
}

impl HostRefusal {
    /// Returns the status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
        }
    }
}

/// Host names of the loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl HostGuard {
    /// Allows a host: `name` on every port, or `name:port` on one port.
    pub fn host(&mut self, host: &str) {
        self.hosts.push(host.to_ascii_lowercase());
    }

    /// Allows an origin, such as `https://app.example.com`.
    pub fn origin(&mut self, origin: &str) {
        self.origins
            .push(plain(origin.trim_end_matches('/')).to_ascii_lowercase());
    }

    /// Checks the headers `Host` and `Origin` of a request.
    ///
    /// # Errors
    ///
    /// Fails if the host is missing, malformed, sent several times or not allowed, or if an origin is not allowed.
    pub fn check<B>(&self, request: &Request<B>) -> Result<(), HostRefusal> {
        let mut hosts = request.headers().get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next(), request.uri().authority()) {
            (Some(host), None, _) => host
                .to_str()
                .ok()
                .and_then(|host| host.parse::<Authority>().ok()),
            // HTTP/2 sends the host in the request's URI.
            (None, _, authority) => authority.cloned(),
            _ => None,
        };
        let Some(host) = host else {
            return Err(HostRefusal::NoHost);
        };
        if !self.lets_in(&host) {
            return Err(HostRefusal::Host);
        }
        for origin in request.headers().get_all(ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.trusts(origin)) {
                return Err(HostRefusal::Origin);
            }
        }
        Ok(())
    }

    fn lets_in(&self, host: &Authority) -> bool {
        let is = |known: &str| {
            known.eq_ignore_ascii_case(host.host()) || known.eq_ignore_ascii_case(host.as_str())
        };
        LOOPBACK
            .iter()
            .any(|name| name.eq_ignore_ascii_case(host.host()))
            || self.hosts.iter().any(|known| is(known))
    }

    /// Returns whether an origin is allowed.
    pub fn trusts(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.origins.iter().any(|known| *known == plain(&origin)) {
            return true;
        }
        let Ok(uri) = origin.parse::<Uri>() else {
            return false;
        };
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| LOOPBACK.contains(&host))
    }
}

/// Returns an origin without the default port of its scheme.
fn plain(origin: &str) -> &str {
    let implied = match origin.split_once("://") {
        Some(("https", _)) => ":443",
        Some(("http", _)) => ":80",
        _ => return origin,
    };
    origin.strip_suffix(implied).unwrap_or(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(guard: &HostGuard, host: &str, origin: Option<&str>) -> Option<StatusCode> {
        let mut request = Request::builder().uri("/mcp").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        let refused = guard.check(&request.body(()).unwrap()).err()?;
        Some(refused.status())
    }

    #[test]
    fn only_local_hosts_are_allowed_by_default() {
        let guard = HostGuard::default();
        for host in [
            "localhost",
            "localhost:8080",
            "127.0.0.1:1",
            "[::1]:80",
            "LOCALHOST",
        ] {
            assert_eq!(status(&guard, host, None), None, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
        ] {
            assert_eq!(
                status(&guard, host, None),
                Some(StatusCode::FORBIDDEN),
                "{host}"
            );
        }
        assert_eq!(status(&guard, "a b", None), Some(StatusCode::BAD_REQUEST));
        for origin in [
            "http://localhost:5173",
            "https://127.0.0.1",
            "http://[::1]:3000",
        ] {
            assert_eq!(status(&guard, "localhost", Some(origin)), None, "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "file://localhost",
        ] {
            let refused = status(&guard, "localhost", Some(origin));
            assert_eq!(refused, Some(StatusCode::FORBIDDEN), "{origin}");
        }
    }

    #[test]
    fn configured_hosts_and_origins_are_allowed() {
        let mut guard = HostGuard::default();
        guard.host("mcp.example.com");
        guard.host("other.example.com:8443");
        guard.origin("https://App.example.com:443/");
        assert_eq!(
            status(
                &guard,
                "mcp.example.com:99",
                Some("https://app.example.com")
            ),
            None
        );
        assert_eq!(status(&guard, "other.example.com:8443", None), None);
        assert!(status(&guard, "other.example.com", None).is_some());
        assert!(status(&guard, "mcp.example.com", Some("http://app.example.com")).is_some());
        assert!(
            status(
                &guard,
                "mcp.example.com",
                Some("https://app.example.com:8443")
            )
            .is_some()
        );
    }
}
