//! The checks and limits of each request to the admin API or the chat.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap};
use tool_core::store::{StoreError, Workspace};
use tool_http::{AuthError, HostGuard, HostRefusal, bearer};

use crate::access::Access;
use crate::auth::{Authenticator, Caller, StaticTokens, random_token, token_hash};
use crate::openapi::WORKSPACE;
use crate::problem::{Kind, Problem};

/// The authenticators and the allowed hosts and origins of a server, and the limits of a request.
pub(crate) struct Entry {
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(crate) guard: HostGuard,
    pub(crate) max_body: usize,
    pub(crate) timeout: Duration,
}

impl Entry {
    /// Creates an entry that allows only loopback names and loopback origins, and bodies of at most `max_body` bytes.
    pub(crate) fn new(max_body: usize) -> Self {
        Self {
            authenticators: Vec::new(),
            guard: HostGuard::default(),
            max_body,
            timeout: Duration::from_secs(30),
        }
    }

    /// Adds a random token of the caller if no authenticator was added, prints it, and returns it. `server` names the server in the message.
    pub(crate) fn complete(
        &mut self,
        server: &str,
        caller: Caller,
    ) -> Result<Option<Arc<str>>, StoreError> {
        if !self.authenticators.is_empty() {
            return Ok(None);
        }
        let random = random_token()?;
        let tokens = StaticTokens::default().add(token_hash(&random), caller);
        let tokens = tokens.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        self.authenticators.push(Arc::new(tokens));
        eprintln!(
            "{server} has no configured callers. This token is valid until the process ends:\n{random}"
        );
        Ok(Some(random.into()))
    }

    /// Checks the host, the caller, the access and the workspace of a request, and limits the time of the authentication and the handler. `late` is the
    /// error if the time is exceeded.
    pub(crate) async fn enter(
        &self,
        mut request: Request,
        next: Next,
        access: Access,
        late: &'static str,
    ) -> Response {
        if let Err(refused) = self.guard.check(&request) {
            let kind = match refused {
                HostRefusal::NoHost => Kind::BadRequest,
                _ => Kind::Forbidden,
            };
            return Problem::new(kind, refused.to_string()).into_response();
        }
        let route = async {
            let caller = self.authenticate(request.headers()).await?;
            let caller = in_workspace(caller, request.headers())?;
            caller.check(access)?;
            request.extensions_mut().insert(caller);
            Ok(next.run(request).await)
        };
        match tokio::time::timeout(self.timeout, route).await {
            Ok(Ok(response)) => response,
            Ok(Err(problem)) => Problem::into_response(problem),
            Err(_) => Problem::new(Kind::Unavailable, late).into_response(),
        }
    }

    /// Authenticates the caller of a request with the first authenticator that knows the token. Fails if an authenticator before it is unavailable.
    async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let unauthorized = |detail: &str| Problem::new(Kind::Unauthorized, detail);
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let token = match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok().and_then(bearer),
            _ => None,
        };
        let token = token.ok_or_else(|| {
            unauthorized("send one access token in the header `Authorization: Bearer TOKEN`")
        })?;
        let mut reason = None;
        for authenticator in &self.authenticators {
            match authenticator.authenticate(token).await {
                Ok(caller) => return Ok(caller),
                Err(AuthError::InvalidToken) => {}
                Err(AuthError::Rejected(why)) => reason = reason.or(Some(why)),
                // `Unavailable`, and variants that later versions of the non-exhaustive enum add.
                Err(_) => {
                    return Err(Problem::new(
                        Kind::Unavailable,
                        "access tokens cannot be verified now, try again later",
                    ));
                }
            }
        }
        Err(match reason {
            Some(why) => unauthorized(&format!("the access token is invalid: {why}")),
            None => unauthorized("the access token is invalid"),
        })
    }
}

/// Returns the caller in the workspace that the request names.
fn in_workspace(mut caller: Caller, headers: &HeaderMap) -> Result<Caller, Problem> {
    let mut values = headers.get_all(WORKSPACE).iter();
    let workspace = match (values.next(), values.next()) {
        (None, _) => return Ok(caller),
        (Some(value), None) => std::str::from_utf8(value.as_bytes()).ok(),
        _ => None,
    };
    let Some(workspace) = workspace else {
        return Err(Problem::new(
            Kind::BadRequest,
            "the header `Tool-Workspace` is malformed, send the name of one workspace",
        ));
    };
    if workspace != caller.workspace.as_str() {
        if !caller.host {
            return Err(Problem::new(
                Kind::Forbidden,
                "only operators of the host may choose the workspace, remove the header `Tool-Workspace`",
            ));
        }
        caller.workspace = Workspace::new(workspace);
    }
    Ok(caller)
}

/// Returns the caller of a request that has passed [`Entry::enter`].
pub(crate) fn caller(extensions: &Extensions) -> Result<&Caller, Problem> {
    let caller = extensions.get::<Caller>();
    caller.ok_or_else(|| Problem::new(Kind::Unauthorized, "send an access token"))
}
