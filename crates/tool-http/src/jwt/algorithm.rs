//! Signature algorithms of access tokens.

use jsonwebtoken::Algorithm;

/// A signature algorithm of access tokens. All algorithms use a public key; HMAC is not supported, because its verifier could also create tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JwtAlgorithm {
    /// `RS256`: RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// `RS384`: RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// `RS512`: RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// `PS256`: RSASSA-PSS with SHA-256.
    Ps256,
    /// `PS384`: RSASSA-PSS with SHA-384.
    Ps384,
    /// `PS512`: RSASSA-PSS with SHA-512.
    Ps512,
    /// `ES256`: ECDSA on P-256 with SHA-256.
    Es256,
    /// `ES384`: ECDSA on P-384 with SHA-384.
    Es384,
    /// `EdDSA`: signatures with the curve Ed25519.
    EdDsa,
}

impl JwtAlgorithm {
    /// All algorithms that an RSA key supports.
    pub(super) const RSA: &[Self] = &[
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
    ];

    /// Returns the algorithm in a token's header, or `None` for HMAC and algorithms that this version does not support.
    pub(super) fn of(algorithm: Algorithm) -> Option<Self> {
        Some(match algorithm {
            Algorithm::RS256 => Self::Rs256,
            Algorithm::RS384 => Self::Rs384,
            Algorithm::RS512 => Self::Rs512,
            Algorithm::PS256 => Self::Ps256,
            Algorithm::PS384 => Self::Ps384,
            Algorithm::PS512 => Self::Ps512,
            Algorithm::ES256 => Self::Es256,
            Algorithm::ES384 => Self::Es384,
            Algorithm::EdDSA => Self::EdDsa,
            _ => return None,
        })
    }

    /// Returns whether a key's `alg` names this algorithm.
    pub(super) fn is_named(self, name: &str) -> bool {
        match self {
            Self::Rs256 => name == "RS256",
            Self::Rs384 => name == "RS384",
            Self::Rs512 => name == "RS512",
            Self::Ps256 => name == "PS256",
            Self::Ps384 => name == "PS384",
            Self::Ps512 => name == "PS512",
            Self::Es256 => name == "ES256",
            Self::Es384 => name == "ES384",
            // RFC 9864 adds the second name.
            Self::EdDsa => matches!(name, "EdDSA" | "Ed25519"),
        }
    }
}
