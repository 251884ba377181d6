//! A verifier of access tokens that are JSON Web Tokens (RFC 7519, RFC 9068).

use std::fmt;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Header, Validation, decode, decode_header};
use serde_json::value::RawValue;

use crate::{AuthError, Principal, TokenVerifier};

mod algorithm;
mod cache;
mod claims;
mod fetch;
mod keys;

pub use algorithm::JwtAlgorithm;
use cache::Cache;
use claims::Claims;
pub use fetch::{FetchedJwks, HttpJwks, JwksError, JwksFetcher};

/// Maximum length of a token in bytes.
const LONGEST_TOKEN: usize = 16 * 1024;
/// Maximum length of a `kid` in bytes.
const LONGEST_KID: usize = 256;
/// Maximum leeway for the difference between the clocks of issuer and server.
const MOST_LEEWAY: Duration = Duration::from_mins(5);

/// The reason why a verifier or its [`HttpJwks`] cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JwtConfigError {
    /// The issuer is empty.
    #[error(
        "the issuer is empty, write the `iss` of its tokens, such as `https://login.example.com`"
    )]
    Issuer,
    /// No algorithm is allowed.
    #[error("no algorithm is allowed, allow at least one algorithm that the issuer uses")]
    Algorithms,
    /// The leeway is longer than five minutes.
    #[error("a leeway of {0:?} is too long, allow at most five minutes")]
    Leeway(Duration),
    /// The URL of the keys cannot be used.
    #[error("`{url}` cannot be used for the issuer's keys: {reason}")]
    Url {
        /// The URL that was configured.
        url: String,
        /// The reason why it cannot be used.
        reason: String,
    },
    /// The HTTP client cannot be built, for example because a root certificate is malformed or the system's certificates cannot be read.
    #[error("the HTTP client for the issuer's keys cannot be built: {0}")]
    Client(String),
}

/// Verifies access tokens that are signed JSON Web Tokens, with the keys that their issuer publishes.
///
/// A token is accepted if
///
/// - it is at most 16 KiB long, and its `kid` (if present) at most 256 bytes;
/// - its `alg` is one of [`algorithms`](JwtVerifierBuilder::algorithms); `none` and HMAC cannot be allowed;
/// - its `typ` (if present) is `JWT` or `at+jwt`, in upper or lower case and with or without `application/` before it;
/// - its signature verifies with the key that its `kid` names. A token without `kid` is accepted only if exactly one key
///   of the issuer supports its `alg`. `jku`, `jwk`, `x5u` and `x5c` of a token are never used, and a token with `crit` is refused;
/// - `iss` is exactly the issuer, and `sub` is a non-empty string;
/// - `exp` is in the future, and `nbf` (if present) is not in the future, both with the leeway;
/// - `aud` (a string or a list) contains the server's own resource, and `scope` contains the scopes that the server requires. If there is no
///   `scope`, they must be in `scp`. `scope` and `scp` are space-separated strings or lists. `tool_mcp::Auth` and `tool_server::VerifiedTokens` check
///   this item.
///
/// `sub` becomes [`Principal::subject`], the scopes [`Principal::scopes`]. For a refused token, the response has the status 401 and the reason in
/// `WWW-Authenticate`; if only a scope is missing, `tool_mcp::Auth` responds with the status 403.
///
/// # Keys
///
/// Keys are fetched when the first token is verified, and cached for the `max-age` of the response: at least 30 seconds, at most 24 hours, and 10
/// minutes without `max-age`. After half of this time, but not before 30 seconds, the next token starts a background fetch. A token that matches no
/// key, or several keys, also starts a fetch and waits for it, but not sooner than 30 seconds after the start of the last fetch. Only one fetch runs
/// at a time, however many requests wait for it. A key that is missing from a later response is accepted until the `max-age` of the last response
/// that contained it has passed.
///
/// After a failed fetch, the cached keys are accepted until they expire. After that, the response to each token with an accepted header has the
/// status 503, and the fetch is repeated at most every 5 seconds.
///
/// # Example
///
/// ```
/// use std::time::Duration;
///
/// use tool_http::{HttpJwks, JwtAlgorithm, JwtVerifier};
///
/// # fn main() -> Result<(), tool_http::JwtConfigError> {
/// let keys = HttpJwks::new("https://login.example.com/.well-known/jwks.json")?;
/// let verifier = JwtVerifier::builder("https://login.example.com", keys)
///     .algorithms([JwtAlgorithm::Rs256])
///     .leeway(Duration::from_secs(30))
///     .build()?;
/// # let _ = verifier;
/// # Ok(())
/// # }
/// ```
pub struct JwtVerifier {
    issuer: String,
    algorithms: Vec<JwtAlgorithm>,
    leeway: Duration,
    workspace: Option<String>,
    keys: Cache,
}

/// Configures and builds a [`JwtVerifier`].
#[must_use]
pub struct JwtVerifierBuilder {
    issuer: String,
    algorithms: Vec<JwtAlgorithm>,
    leeway: Duration,
    workspace: Option<String>,
    keys: Cache,
}

impl JwtVerifier {
    /// Creates a builder for a verifier of one issuer, from the exact `iss` of the issuer's tokens and the source of its keys.
    pub fn builder(issuer: impl Into<String>, keys: impl JwksFetcher) -> JwtVerifierBuilder {
        JwtVerifierBuilder {
            issuer: issuer.into(),
            algorithms: vec![JwtAlgorithm::Rs256, JwtAlgorithm::Es256],
            leeway: Duration::from_mins(1),
            workspace: None,
            keys: Cache::new(keys),
        }
    }

    async fn principal(&self, token: &str) -> Result<Principal, AuthError> {
        if token.len() > LONGEST_TOKEN {
            return Err(AuthError::Rejected("the token is longer than 16 KiB"));
        }
        let header = decode_header(token)
            .map_err(|_| AuthError::Rejected("the token is not a signed JWT"))?;
        let algorithm = self.check_header(&header)?;
        let key = self.keys.find(header.kid.as_deref(), algorithm).await?;
        let mut validation = Validation::new(header.alg);
        // `Claims` checks the claims instead: the library reads the process's clock, not the host's, and is more lenient.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        let decoded = decode::<Box<RawValue>>(token, key.decoding(), &validation).map_err(
            |error| match error.kind() {
                // The signature is verified before the claims are read, so only the claims are malformed.
                ErrorKind::Json(_) | ErrorKind::Utf8(_) => claims::malformed(),
                _ => AuthError::Rejected("the token's signature is wrong"),
            },
        )?;
        let claims = Claims::read(decoded.claims.get())?;
        claims.check(&self.issuer, self.leeway)?;
        claims.into_principal(self.workspace.as_deref())
    }

    /// Checks the token's header, before the signature is verified.
    fn check_header(&self, header: &Header) -> Result<JwtAlgorithm, AuthError> {
        let algorithm = JwtAlgorithm::of(header.alg).filter(|alg| self.algorithms.contains(alg));
        let Some(algorithm) = algorithm else {
            return Err(AuthError::Rejected("the token's `alg` is not accepted"));
        };
        // RFC 7515, section 4.1.11: tokens with critical extensions must be refused, because no extension is supported.
        if header.crit.is_some() {
            return Err(AuthError::Rejected("the token's `crit` is not supported"));
        }
        if !header.typ.as_deref().is_none_or(is_access_token) {
            return Err(AuthError::Rejected(
                "the token's `typ` is not that of an access token",
            ));
        }
        if header
            .kid
            .as_ref()
            .is_some_and(|kid| kid.len() > LONGEST_KID)
        {
            return Err(AuthError::Rejected("the token's `kid` is too long"));
        }
        Ok(algorithm)
    }
}

/// Returns whether an access token may have this `typ`; logout tokens and proofs of possession have a different `typ` (RFC 8725, section 3.11).
fn is_access_token(typ: &str) -> bool {
    let lower = typ.to_ascii_lowercase();
    let name = lower.strip_prefix("application/").unwrap_or(&lower);
    matches!(name, "jwt" | "at+jwt")
}

impl TokenVerifier for JwtVerifier {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>> {
        async move {
            let verified = self.principal(token).await;
            if let Err(error) = &verified {
                tracing::debug!(%error, "an access token was refused");
            }
            verified
        }
        .boxed()
    }
}

impl JwtVerifierBuilder {
    /// Sets the allowed signature algorithms; RS256 and ES256 by default.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = JwtAlgorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Sets the maximum difference between the clocks of issuer and server: one minute by default, at most five minutes.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Sets the claim that contains the principal's workspace ([`Principal::workspace`]) as a string. A token is refused if this claim is
    /// missing, empty or not a string.
    pub fn workspace_claim(mut self, name: impl Into<String>) -> Self {
        self.workspace = Some(name.into());
        self
    }

    /// Builds the verifier. Fails if the issuer is empty, no algorithm is allowed, or the leeway is longer than five minutes.
    pub fn build(self) -> Result<JwtVerifier, JwtConfigError> {
        if self.issuer.is_empty() {
            return Err(JwtConfigError::Issuer);
        }
        if self.algorithms.is_empty() {
            return Err(JwtConfigError::Algorithms);
        }
        if self.leeway > MOST_LEEWAY {
            return Err(JwtConfigError::Leeway(self.leeway));
        }
        Ok(JwtVerifier {
            issuer: self.issuer,
            algorithms: self.algorithms,
            leeway: self.leeway,
            workspace: self.workspace,
            keys: self.keys,
        })
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("issuer", &self.issuer)
            .field("algorithms", &self.algorithms)
            .field("leeway", &self.leeway)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for JwtVerifierBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifierBuilder")
            .field("issuer", &self.issuer)
            .field("algorithms", &self.algorithms)
            .field("leeway", &self.leeway)
            .finish_non_exhaustive()
    }
}
