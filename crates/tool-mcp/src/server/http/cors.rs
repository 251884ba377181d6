//! CORS headers for web pages of trusted origins.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::future::Either;
use http::header::{HeaderName, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request};
use tool_http::HostGuard;
use tower_http::cors::{AllowHeaders, AllowOrigin, Cors, CorsLayer};
use tower_layer::Layer;
use tower_service::Service;

/// Time for which a browser may cache the response to a preflight request; Chrome allows at most two hours.
const KEPT: Duration = Duration::from_hours(2);

/// Adds CORS headers for the origins that the guard trusts. A preflight request contains no token, so this layer responds to it.
pub(super) fn layer(guard: &HostGuard) -> PageCorsLayer {
    let guard = guard.clone();
    let trusted = move |origin: &HeaderValue, _: &http::request::Parts| {
        origin.to_str().is_ok_and(|origin| guard.trusts(origin))
    };
    let headers = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(trusted))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // In the 2026-07-28 protocol, tools define the names of some headers (`Mcp-Param-…`).
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            HeaderName::from_static("mcp-session-id"),
            HeaderName::from_static("mcp-protocol-version"),
            WWW_AUTHENTICATE,
            RETRY_AFTER,
        ])
        .max_age(KEPT);
    PageCorsLayer(headers)
}

/// The layer that adds CORS headers. Requests without `Origin` do not need these headers and bypass the layer.
#[derive(Clone)]
pub(super) struct PageCorsLayer(CorsLayer);

impl<S: Clone> Layer<S> for PageCorsLayer {
    type Service = PageCors<S>;

    fn layer(&self, inner: S) -> PageCors<S> {
        PageCors {
            pages: self.0.layer(inner.clone()),
            others: inner,
        }
    }
}

#[derive(Clone)]
pub(super) struct PageCors<S> {
    pages: Cors<S>,
    others: S,
}

impl<S, B> Service<Request<B>> for PageCors<S>
where
    S: Service<Request<B>>,
    Cors<S>: Service<Request<B>, Response = S::Response, Error = S::Error>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<<Cors<S> as Service<Request<B>>>::Future, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        ready!(self.pages.poll_ready(cx))?;
        self.others.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if request.headers().contains_key(ORIGIN) {
            Either::Left(self.pages.call(request))
        } else {
            Either::Right(self.others.call(request))
        }
    }
}
