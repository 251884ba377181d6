//! Claims of a token whose signature is verified.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{AuthError, Principal};

/// The registered claims. Deserializing fails if a claim occurs twice.
#[derive(Deserialize)]
struct Registered {
    iss: Option<String>,
    sub: Option<String>,
    aud: Option<OneOrMany>,
    // Seconds since the epoch, with a fraction or without.
    exp: Option<f64>,
    nbf: Option<f64>,
    scope: Option<OneOrMany>,
    scp: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn into_all(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }

    /// Splits the strings at spaces.
    fn into_words(self) -> Vec<String> {
        let all = self.into_all();
        let words = all.iter().flat_map(|text| text.split(' '));
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// The claims of a token.
pub(super) struct Claims<'a> {
    registered: Registered,
    text: &'a str,
}

impl<'a> Claims<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, AuthError> {
        let registered = serde_json::from_str(text).map_err(|_| malformed())?;
        Ok(Self { registered, text })
    }

    /// Checks the issuer, the expiry and the start of validity.
    pub(super) fn check(&self, issuer: &str, leeway: Duration) -> Result<(), AuthError> {
        if self.registered.iss.as_deref() != Some(issuer) {
            return Err(AuthError::Rejected("the token is from a different issuer"));
        }
        let now = seconds(tool_store::Timestamp::now().as_millis());
        let leeway = leeway.as_secs_f64();
        let Some(expires) = self.registered.exp else {
            return Err(AuthError::Rejected("the token has no `exp`"));
        };
        // RFC 7519, section 4.1.4: a token is not accepted on or after that time.
        if now >= expires + leeway {
            return Err(AuthError::Rejected("the token has expired"));
        }
        if self
            .registered
            .nbf
            .is_some_and(|begins| now + leeway < begins)
        {
            return Err(AuthError::Rejected("the token is not valid yet"));
        }
        Ok(())
    }

    pub(super) fn into_principal(self, workspace: Option<&str>) -> Result<Principal, AuthError> {
        let claims = self.registered;
        let subject = claims.sub.filter(|subject| !subject.is_empty());
        let Some(subject) = subject else {
            return Err(AuthError::Rejected("the token has no `sub`"));
        };
        let scopes = claims.scope.or(claims.scp).map(OneOrMany::into_words);
        let audience = claims.aud.map(OneOrMany::into_all);
        let mut principal = Principal::new(subject)
            .scopes(scopes.unwrap_or_default())
            .audience(audience.unwrap_or_default());
        if let Some(claim) = workspace {
            principal.workspace = Some(text_of(self.text, claim)?);
        }
        Ok(principal)
    }
}

/// Returns the claim that the host has configured for the workspace; its value must be a non-empty string.
fn text_of(claims: &str, name: &str) -> Result<String, AuthError> {
    let missing = AuthError::Rejected("the token does not name a workspace");
    let claims: std::collections::HashMap<String, &RawValue> =
        serde_json::from_str(claims).map_err(|_| missing.clone())?;
    let claim = claims.get(name).ok_or_else(|| missing.clone())?;
    let text: String = serde_json::from_str(claim.get()).map_err(|_| missing.clone())?;
    if text.is_empty() {
        return Err(missing);
    }
    Ok(text)
}

/// Returns the error for claims that cannot be read.
pub(super) fn malformed() -> AuthError {
    AuthError::Rejected("a claim of the token is malformed or occurs twice")
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds since the epoch are far below 2^53"
)]
fn seconds(millis: i64) -> f64 {
    millis as f64 / 1000.0
}
