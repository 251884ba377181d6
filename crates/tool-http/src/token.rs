//! Verification of access tokens.

use futures::future::BoxFuture;

use crate::Principal;

/// Verifies access tokens, for example by their signature or by introspection at the issuer.
pub trait TokenVerifier: Send + Sync + 'static {
    /// Returns the principal of a token, with its scopes and audience. Fails if the token is invalid, for example malformed, expired or
    /// from an untrusted issuer, or if it cannot be verified now. The caller checks the audience afterwards, from [`Principal::audience`].
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>>;
}

/// The reason why an access token is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The token is invalid, for example malformed, expired, revoked, or from an untrusted issuer.
    #[error("the access token is invalid")]
    InvalidToken,
    /// The token is invalid as for [`InvalidToken`](Self::InvalidToken), with a reason for the client, which becomes the `error_description` of the
    /// challenge.
    #[error("the access token is invalid: {0}")]
    Rejected(&'static str),
    /// The token cannot be verified now, for example because the issuer's keys cannot be fetched.
    #[error("the access token cannot be verified now")]
    Unavailable,
}

/// Returns the token in the value of an `Authorization` header (`Bearer …`), or `None` for any other value.
pub fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' '))
        .then_some(token)
}
