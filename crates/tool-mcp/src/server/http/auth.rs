//! OAuth 2 protected resource: access tokens are verified by the host's [`TokenVerifier`].

use std::fmt::{self, Write as _};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use serde_json::json;
use tool_http::{AuthError, Principal, TokenVerifier, bearer};

use super::answer::Refusal;

/// The path of the protected resource metadata (RFC 9728).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Authorization of the HTTP endpoint: its resource address, the issuers and scopes of its tokens, and the verifier.
///
/// ```
/// use futures::FutureExt as _;
/// use futures::future::BoxFuture;
/// use tool_mcp::{Auth, AuthError, HttpOptions, Principal, TokenVerifier};
///
/// struct Known;
///
/// impl TokenVerifier for Known {
///     fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>> {
///         async move {
///             match token {
///                 "alice's" => Ok(Principal::new("alice").audience(["https://mcp.example.com/mcp"])),
///                 _ => Err(AuthError::InvalidToken),
///             }
///         }
///         .boxed()
///     }
/// }
///
/// let auth = Auth::new("https://mcp.example.com/mcp", Known)
///     .issuer("https://login.example.com")
///     .scope("tools:call");
/// let options = HttpOptions::new().host("mcp.example.com").auth(auth);
/// # let _ = options;
/// ```
#[derive(Clone)]
#[must_use]
pub struct Auth {
    resource: String,
    issuers: Vec<String>,
    scopes: Vec<String>,
    verifier: Arc<dyn TokenVerifier>,
}

impl Auth {
    /// Creates the authorization of a resource. `resource` is the address that clients use for the endpoint.
    pub fn new(resource: impl Into<String>, verifier: impl TokenVerifier) -> Self {
        Self {
            resource: resource.into(),
            issuers: Vec::new(),
            scopes: Vec::new(),
            verifier: Arc::new(verifier),
        }
    }

    /// Adds an authorization server that issues tokens for this resource.
    pub fn issuer(mut self, address: impl Into<String>) -> Self {
        self.issuers.push(address.into());
        self
    }

    /// Adds a scope that every token must have.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Returns the routes of the resource metadata: the well-known path, and the well-known path followed by the endpoint's path.
    pub(super) fn routes(&self, path: &str) -> Router {
        let metadata = json!({
            "resource": self.resource,
            "authorization_servers": self.issuers,
            "scopes_supported": self.scopes,
            "bearer_methods_supported": ["header"],
        })
        .to_string();
        let answer = move || {
            let metadata = metadata.clone();
            async move { ([(CONTENT_TYPE, "application/json")], metadata) }
        };
        Router::new().route(WELL_KNOWN, get(answer.clone())).route(
            &format!("{WELL_KNOWN}{}", path.trim_end_matches('/')),
            get(answer),
        )
    }

    /// Returns the principal of a request, or the refusal to send.
    pub(super) async fn principal(&self, headers: &HeaderMap) -> Result<Principal, Refusal> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let token = match (values.next(), values.next()) {
            (None, _) => {
                return Err(self.challenge(
                    StatusCode::UNAUTHORIZED,
                    None,
                    None,
                    "an access token is needed",
                ));
            }
            (Some(value), None) => value.to_str().ok().and_then(bearer),
            _ => None,
        };
        let Some(token) = token else {
            return Err(self.challenge(
                StatusCode::BAD_REQUEST,
                Some("invalid_request"),
                None,
                "the header `Authorization` does not contain exactly one bearer token",
            ));
        };
        let invalid = |reason: Option<&str>| {
            self.challenge(
                StatusCode::UNAUTHORIZED,
                Some("invalid_token"),
                reason,
                "the access token is invalid",
            )
        };
        let principal = match self.verifier.verify(token).await {
            Ok(principal) => principal,
            Err(AuthError::InvalidToken) => return Err(invalid(None)),
            Err(AuthError::Rejected(reason)) => return Err(invalid(Some(reason))),
            // `Unavailable`, or a variant that a later version adds.
            Err(_) => {
                let refusal = Refusal::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "access tokens cannot be verified now, try again later",
                );
                return Err(refusal.with_header(RETRY_AFTER, HeaderValue::from_static("5")));
            }
        };
        // A token that was issued for a different server must not be accepted.
        let for_us = |audience: &String| {
            audience.trim_end_matches('/') == self.resource.trim_end_matches('/')
        };
        if !principal.audience.iter().any(for_us) {
            return Err(invalid(Some("the token is not for this resource")));
        }
        if !self
            .scopes
            .iter()
            .all(|scope| principal.scopes.contains(scope))
        {
            return Err(self.challenge(
                StatusCode::FORBIDDEN,
                Some("insufficient_scope"),
                None,
                "the access token lacks a scope",
            ));
        }
        Ok(principal)
    }

    /// Returns a refusal with the `WWW-Authenticate` challenge, from which a client learns how to get a token (RFC 6750, RFC 9728).
    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&str>,
        reason: Option<&str>,
        text: &'static str,
    ) -> Refusal {
        let mut challenge = String::from("Bearer ");
        if let Some(error) = error {
            let _ = write!(challenge, "error=\"{error}\", ");
        }
        if let Some(reason) = reason {
            let _ = write!(challenge, "error_description=\"{}\", ", quotable(reason));
        }
        if !self.scopes.is_empty() {
            let _ = write!(challenge, "scope=\"{}\", ", self.scopes.join(" "));
        }
        let address = self.metadata_address();
        let _ = write!(challenge, "resource_metadata=\"{address}\"");
        let refusal = match reason {
            Some(reason) => Refusal::new(status, format!("{text}: {reason}")),
            None => Refusal::new(status, text),
        };
        match HeaderValue::from_str(&challenge) {
            Ok(challenge) => refusal.with_header(WWW_AUTHENTICATE, challenge),
            Err(_) => refusal,
        }
    }

    /// Returns the address of the metadata: `https://host/.well-known/oauth-protected-resource/path`, or only the well-known path if the resource is
    /// not an absolute address.
    fn metadata_address(&self) -> String {
        let parsed = self.resource.parse::<Uri>().ok();
        let parts = parsed
            .as_ref()
            .and_then(|uri| Some((uri.scheme_str()?, uri.authority()?, uri.path())));
        match parts {
            Some((scheme, authority, path)) => {
                format!(
                    "{scheme}://{authority}{WELL_KNOWN}{}",
                    path.trim_end_matches('/')
                )
            }
            None => WELL_KNOWN.to_owned(),
        }
    }
}

/// Removes the characters that RFC 6750 (section 3) forbids in a description.
fn quotable(text: &str) -> String {
    let allowed = |c: &char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
    text.chars().filter(allowed).collect()
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("resource", &self.resource)
            .field("issuers", &self.issuers)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
