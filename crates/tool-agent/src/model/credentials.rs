//! Credentials for requests to a provider.

use std::env::{self, VarError};
use std::fmt;

use futures::future::{BoxFuture, FutureExt as _, ready};
use tool_core::{SecretString, ToolError};

/// A source of access tokens for an [`Endpoint`](super::Endpoint).
///
/// The token is read before each attempt, so a source whose tokens expire should cache the token and fetch a new one shortly before the old one
/// expires.
///
/// ```
/// use futures::FutureExt as _;
/// use futures::future::BoxFuture;
/// use tool_agent::model::{Credentials, Endpoint};
/// use tool_core::{SecretString, ToolError};
///
/// /// Tokens of a service account; a host fetches them from its cloud.
/// struct ServiceAccount;
///
/// impl Credentials for ServiceAccount {
///     fn token(&self) -> BoxFuture<'_, Result<SecretString, ToolError>> {
///         async { Ok(SecretString::from("ya29.…")) }.boxed()
///     }
/// }
///
/// let endpoint = Endpoint::vertex("my-project", "europe-west1", ServiceAccount);
/// ```
#[doc(alias("authentication", "API key", "OAuth"))]
pub trait Credentials: Send + Sync + 'static {
    /// Returns the token of the next request, within 30 s. If this fails or takes longer, the request fails with
    /// [`ModelErrorKind::Authentication`](super::ModelErrorKind::Authentication) and is not retried at this endpoint; the next model of the chain is
    /// tried. The message contains the operator's text of the error.
    fn token(&self) -> BoxFuture<'_, Result<SecretString, ToolError>>;

    /// Called when the provider answers 401 to this token, and when Bedrock answers 403 because the token has expired or is unknown. Returns, within
    /// 30 s, whether [`token`](Self::token) now returns a different token. If so, the request is sent again once. Several requests may report the
    /// same token, so renew it only if `token` still returns it. The default returns `false`.
    fn refused<'a>(&'a self, token: &'a SecretString) -> BoxFuture<'a, bool> {
        let _ = token;
        ready(false).boxed()
    }
}

/// An API key as [`Credentials`]: every request contains the same key.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// Creates credentials from the text of a key.
    pub fn new(key: impl Into<SecretString>) -> Self {
        Self(key.into())
    }

    /// Reads the key from an environment variable, without the white space around it. Fails if the variable is not set, empty or not UTF-8.
    pub fn from_env(variable: &str) -> Result<Self, MissingKey> {
        from_env(variable).map(Self::new)
    }
}

impl Credentials for ApiKey {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, ToolError>> {
        ready(Ok(self.0.clone())).boxed()
    }
}

/// Prints `ApiKey(…)` without the key.
impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Returns the value of an environment variable, without the white space around it.
pub(super) fn from_env(variable: &str) -> Result<String, MissingKey> {
    let missing = |why| MissingKey {
        variable: variable.to_owned(),
        why,
    };
    match env::var(variable) {
        Ok(key) if key.trim().is_empty() => Err(missing("is empty")),
        Ok(key) => Ok(key.trim().to_owned()),
        Err(VarError::NotPresent) => Err(missing("is not set")),
        Err(VarError::NotUnicode(_)) => Err(missing("is not UTF-8")),
    }
}

/// The environment variable has no usable key: it is not set, empty or not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{variable}` {why}: set it to the key that the provider issued")]
pub struct MissingKey {
    /// The name of the variable.
    pub variable: String,
    why: &'static str,
}
