//! Approval tokens, which are authenticated with HMAC-SHA256.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::keys::KeyRing;
use crate::store::{ApprovalRequest, Timestamp};

/// The version prefix of a token. A change of the format needs a new prefix.
const VERSION: &str = "ta2";

/// The claims of a token. All of them are compared with the stored row, so that a swapped row is detected as well.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claims {
    pub(super) approval: String,
    /// Key of the call's identity.
    pub(super) call: String,
    pub(super) principal: String,
    pub(super) tenant: String,
    pub(super) contract: String,
    /// SHA-256 of the canonical arguments.
    pub(super) arguments: String,
    pub(super) policy: String,
    pub(super) nonce: String,
    pub(super) expires: Timestamp,
}

impl Claims {
    pub(super) fn of(request: &ApprovalRequest) -> Self {
        Self {
            approval: request.id.clone(),
            call: request.identity.key().as_str().to_owned(),
            principal: request.principal.clone(),
            tenant: request.identity.workspace().as_str().to_owned(),
            contract: request.contract.clone(),
            arguments: crate::digest::sha256(&[&request.arguments]),
            policy: request.policy.clone(),
            nonce: request.nonce.clone(),
            expires: request.expires,
        }
    }
}

/// Why a token is refused. This is for operators; a client receives only the error that the token is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forged {
    Shape,
    Code,
}

/// Issues `ta2.<key id>.<claims>.<code>`. The last two parts are base64url.
pub(super) fn issue(ring: &KeyRing, request: &ApprovalRequest) -> Option<String> {
    let claims = serde_json::to_vec(&Claims::of(request)).ok()?;
    let (id, code) = ring.sign(&claims)?;
    let (claims, code) = (URL_SAFE_NO_PAD.encode(claims), URL_SAFE_NO_PAD.encode(code));
    Some(format!("{VERSION}.{id}.{claims}.{code}"))
}

/// Verifies a token of this host and returns its claims.
pub(super) fn read(ring: &KeyRing, token: &str) -> Result<Claims, Forged> {
    let mut parts = token.split('.');
    let (Some(VERSION), Some(id), Some(claims), Some(code), None) = (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) else {
        return Err(Forged::Shape);
    };
    let decode = |text| URL_SAFE_NO_PAD.decode(text).map_err(|_| Forged::Shape);
    let (claims, code) = (decode(claims)?, decode(code)?);
    if !ring.verify(id, &claims, &code) {
        return Err(Forged::Code);
    }
    serde_json::from_slice(&claims).map_err(|_| Forged::Shape)
}
