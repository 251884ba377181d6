//! What browsers want to see before a page of another origin may use the server.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::future::Either;
use http::header::{HeaderName, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request};
use tower_http::cors::{AllowHeaders, AllowOrigin, Cors, CorsLayer};
use tower_layer::Layer;
use tower_service::Service;

use super::guard::Guard;

/// How long a browser may keep the answer to a preflight request; browsers keep it for two hours at most.
const KEPT: Duration = Duration::from_hours(2);

/// Lets the pages in that the guard trusts. A preflight request has no token and is answered here.
pub(super) fn layer(guard: &Guard) -> Pages {
    let guard = guard.clone();
    let trusted = move |origin: &HeaderValue, _: &http::request::Parts| {
        origin.to_str().is_ok_and(|origin| guard.trusts(origin))
    };
    let headers = CorsLayer::new()
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
        .max_age(KEPT);
    Pages(headers)
}

/// The headers of CORS for requests of pages. Other clients send no `Origin`, and their responses are made without them.
#[derive(Clone)]
pub(super) struct Pages(CorsLayer);

impl<S: Clone> Layer<S> for Pages {
    type Service = ForPages<S>;

    fn layer(&self, inner: S) -> ForPages<S> {
        ForPages {
            pages: self.0.layer(inner.clone()),
            others: inner,
        }
    }
}

#[derive(Clone)]
pub(super) struct ForPages<S> {
    pages: Cors<S>,
    others: S,
}

impl<S, B> Service<Request<B>> for ForPages<S>
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
