//! What browsers want to see before a page of another origin may use the server.

use std::time::Duration;

use http::header::{HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Method};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::guard::Guard;

/// How long a browser may keep the answer to a preflight request; browsers keep it for two hours at most.
const KEPT: Duration = Duration::from_hours(2);

/// Lets the pages in that the guard trusts. A preflight request has no token and is answered here.
pub(super) fn layer(guard: &Guard) -> CorsLayer {
    let guard = guard.clone();
    let trusted = move |origin: &HeaderValue, _: &http::request::Parts| {
        origin.to_str().is_ok_and(|origin| guard.trusts(origin))
    };
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(trusted))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // The newer wire has headers that tools name (`Mcp-Param-…`).
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            HeaderName::from_static("mcp-session-id"),
            HeaderName::from_static("mcp-protocol-version"),
            WWW_AUTHENTICATE,
            RETRY_AFTER,
        ])
        .max_age(KEPT)
}
