//! Authentication of callers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tool_core::store::{StoreError, Workspace};
use tool_http::{AuthError, TokenVerifier};

use crate::access::{Access, Role};
use crate::problem::{Kind, Problem};

/// An authenticated caller of the admin API.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// The user's name, which audit rows and answers contain.
    pub subject: String,
    /// The workspace in which the caller acts.
    pub workspace: Workspace,
    /// The role of the caller.
    pub role: Role,
    /// Whether the caller is an operator of the host. As far as their role permits, these operators may choose the workspace of each request
    /// (header `Tool-Workspace`), list the workspaces, read and replace the policy, try a policy in shadow mode, list, rotate and retire the keys of
    /// secrets, remove old rows, and set switches for every workspace.
    pub host: bool,
}

impl Caller {
    /// Creates a caller with a role in a workspace. The caller is not an operator of the host.
    pub fn new(subject: impl Into<String>, workspace: impl Into<Workspace>, role: Role) -> Self {
        Self {
            subject: subject.into(),
            workspace: workspace.into(),
            role,
            host: false,
        }
    }

    /// Fails if the caller lacks the access that a request requires.
    pub(crate) fn check(&self, access: Access) -> Result<(), Problem> {
        if !self.role.includes(access.role) {
            return Err(Problem::new(
                Kind::Forbidden,
                format!(
                    "the request requires the role `{}`, and the caller has the role `{}`",
                    access.role, self.role
                ),
            ));
        }
        if access.host && !self.host {
            return Err(Problem::new(
                Kind::Forbidden,
                "the request concerns every workspace, so it requires an operator of the host",
            ));
        }
        Ok(())
    }

    /// Makes the caller an operator of the host.
    #[must_use]
    pub fn of_host(mut self) -> Self {
        self.host = true;
        self
    }
}

/// Authenticates callers by their access token (`Authorization: Bearer …`).
pub trait Authenticator: Send + Sync + 'static {
    /// Returns the caller of a token. Fails with [`AuthError::InvalidToken`] if the token is unknown or invalid. After this error and after
    /// [`AuthError::Rejected`], the server tries its next authenticator; after any other error, the server responds with status 503.
    fn authenticate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Caller, AuthError>>;
}

/// Returns the hash under which a token is stored: `sha256:` and 64 hex digits. Tokens must be random and long, because the hash is fast.
///
/// ```
/// assert!(tool_server::token_hash("a long random text").starts_with("sha256:"));
/// ```
pub fn token_hash(token: &str) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(token.as_bytes())))
}

/// The reason why a list of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The text is not a JSON list of tokens.
    #[error(
        "the list of tokens cannot be read: {0}; write `[{{\"hash\": \"sha256:…\", \"subject\": \"olga\", \"workspace\": \"acme\", \"role\": \"operator\"}}]`"
    )]
    Malformed(#[from] serde_json::Error),
    /// A hash does not have the format of [`token_hash`].
    #[error(
        "`{0}` is not the hash of a token, write `sha256:` and the 64 hex digits of the token's SHA-256"
    )]
    Hash(String),
    /// The subject of a caller is empty or blank.
    #[error("the token `{0}` has no `subject`, write the name of its user")]
    Subject(String),
    /// The same token is listed twice.
    #[error("the token `{0}` is listed twice, give each user a different token")]
    Twice(String),
}

/// Tokens that an operator has listed. Only their hashes are stored.
///
/// ```
/// use tool_server::{Caller, Role, StaticTokens, token_hash};
///
/// let token = "5f1d0c…"; // random, shown to its user once
/// let tokens = StaticTokens::default()
///     .add(token_hash(token), Caller::new("olga", "acme", Role::Operator))?;
/// # let _ = tokens;
/// # Ok::<(), tool_server::TokensError>(())
/// ```
#[derive(Clone, Default)]
pub struct StaticTokens(HashMap<String, Caller>);

/// An entry of the JSON list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    hash: String,
    subject: String,
    #[serde(default)]
    workspace: String,
    role: Role,
    #[serde(default)]
    host: bool,
}

impl StaticTokens {
    /// Adds the [hash](token_hash) of a token, and its caller.
    pub fn add(mut self, hash: impl Into<String>, caller: Caller) -> Result<Self, TokensError> {
        let hash = hash.into();
        let digits = hash.strip_prefix("sha256:").unwrap_or_default();
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(TokensError::Hash(hash));
        }
        if caller.subject.trim().is_empty() {
            return Err(TokensError::Subject(hash));
        }
        let hash = hash.to_ascii_lowercase();
        if self.0.insert(hash.clone(), caller).is_some() {
            return Err(TokensError::Twice(hash));
        }
        Ok(self)
    }

    /// Reads a JSON list of objects with the keys `hash`, `subject`, `workspace` ([`Workspace::single`] by default), `role` and `host` (false
    /// by default).
    pub fn from_json(text: &str) -> Result<Self, TokensError> {
        let listed: Vec<Listed> = serde_json::from_str(text)?;
        let none = Self::default();
        listed.into_iter().try_fold(none, |all, token| {
            let mut caller = Caller::new(token.subject, token.workspace.as_str(), token.role);
            caller.host = token.host;
            all.add(token.hash, caller)
        })
    }
}

impl Authenticator for StaticTokens {
    /// Hashes the token before the comparison, so that the time of the comparison reveals nothing about a stored hash.
    fn authenticate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Caller, AuthError>> {
        let caller = self.0.get(&token_hash(token)).cloned();
        futures::future::ready(caller.ok_or(AuthError::InvalidToken)).boxed()
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTokens")
            .field("callers", &self.0.values())
            .finish_non_exhaustive()
    }
}

/// Authenticates callers by access tokens of an issuer, such as JSON Web Tokens of an OpenID Connect provider (`tool_http::JwtVerifier`, feature `jwt`).
///
/// - The audience of the token must contain the public URL of this server.
/// - The workspace is the principal's workspace (`JwtVerifierBuilder::workspace_claim`), or [`default_workspace`](Self::default_workspace) if the
///   token names none.
/// - The scope `tools:viewer`, `tools:approver`, `tools:operator`, `tools:author` or `tools:admin` of the token names the role. If the token names
///   several roles, the role that includes all others applies. The token is refused if it names no role, or if no role includes all others.
/// - The scope `tools:host` makes the caller an operator of the host.
#[derive(Clone)]
pub struct VerifiedTokens {
    resource: String,
    verifier: Arc<dyn TokenVerifier>,
    workspace: Option<Workspace>,
}

impl VerifiedTokens {
    /// Creates an authenticator that uses a verifier. `resource` is the public URL of this server.
    pub fn new(resource: impl Into<String>, verifier: impl TokenVerifier) -> Self {
        Self {
            resource: resource.into(),
            verifier: Arc::new(verifier),
            workspace: None,
        }
    }

    /// Sets the workspace of principals that have no workspace.
    #[must_use]
    pub fn default_workspace(mut self, workspace: impl Into<Workspace>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }
}

impl Authenticator for VerifiedTokens {
    fn authenticate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Caller, AuthError>> {
        async move {
            let principal = self.verifier.verify(token).await?;
            let own = self.resource.trim_end_matches('/');
            let mut audience = principal.audience.iter();
            if !audience.any(|one| one.trim_end_matches('/') == own) {
                return Err(AuthError::Rejected("the token is not for this resource"));
            }
            let scopes = principal.scopes.iter();
            let scopes: Vec<&str> = scopes
                .filter_map(|scope| scope.strip_prefix("tools:"))
                .collect();
            let roles: Vec<Role> = scopes
                .iter()
                .filter_map(|word| Role::from_word(word))
                .collect();
            let role = roles
                .iter()
                .find(|role| roles.iter().all(|other| role.includes(*other)));
            let Some(role) = role else {
                return Err(AuthError::Rejected(
                    "the token's scopes do not name one role, such as `tools:viewer`",
                ));
            };
            let workspace = match &principal.workspace {
                Some(workspace) => Workspace::new(workspace.as_str()),
                None => self
                    .workspace
                    .clone()
                    .ok_or(AuthError::Rejected("the token does not name a workspace"))?,
            };
            let mut caller = Caller::new(principal.subject, workspace, *role);
            caller.host = scopes.contains(&"host");
            Ok(caller)
        }
        .boxed()
    }
}

impl fmt::Debug for VerifiedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedTokens")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

/// Creates a random token of 64 hex digits.
pub(crate) fn random_token() -> Result<String, StoreError> {
    let mut bytes = [0; 32];
    tool_core::env::random(&mut bytes).map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    Ok(hex::encode(bytes))
}
