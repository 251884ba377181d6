//! Signer of test tokens, independent of the library that verifies them.

use std::sync::LazyLock;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};

/// A key that all tests share, because generating an RSA key is slow.
pub(crate) static RSA: LazyLock<Signer> = LazyLock::new(|| Signer::rsa("rsa-1"));
pub(crate) static OTHER_RSA: LazyLock<Signer> = LazyLock::new(|| Signer::rsa("rsa-2"));

/// Signs tokens with a private key.
pub(crate) struct Signer {
    pub(crate) kid: String,
    key: Key,
}

enum Key {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Signer {
    fn new(kid: &str, key: Key) -> Self {
        Self {
            kid: kid.to_owned(),
            key,
        }
    }

    pub(crate) fn rsa(kid: &str) -> Self {
        let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        Self::new(kid, Key::Rsa(Box::new(key)))
    }

    pub(crate) fn p256(kid: &str) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        Self::new(kid, Key::P256(key.unwrap()))
    }

    pub(crate) fn p384(kid: &str) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING);
        Self::new(kid, Key::P384(key.unwrap()))
    }

    pub(crate) fn ed(kid: &str) -> Self {
        Self::new(kid, Key::Ed(Ed25519KeyPair::generate().unwrap()))
    }

    /// Returns the algorithm that [`token`](Self::token) signs with.
    pub(crate) fn algorithm(&self) -> &'static str {
        match &self.key {
            Key::Rsa(_) => "RS256",
            Key::P256(_) => "ES256",
            Key::P384(_) => "ES384",
            Key::Ed(_) => "EdDSA",
        }
    }

    pub(crate) fn header(&self) -> Value {
        json!({ "alg": self.algorithm(), "typ": "at+jwt", "kid": self.kid })
    }

    /// Signs these claims with the default header.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.with_header(&self.header(), claims)
    }

    pub(crate) fn with_header(&self, header: &Value, claims: &Value) -> String {
        self.of_texts(&header.to_string(), &claims.to_string())
    }

    /// Signs these texts with the key's algorithm, or with `PS256` if the header names it.
    pub(crate) fn of_texts(&self, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", BASE64.encode(header), BASE64.encode(claims));
        let signature = self.sign(message.as_bytes(), header.contains("PS256"));
        format!("{message}.{}", BASE64.encode(signature))
    }

    fn sign(&self, message: &[u8], pss: bool) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                let signed = if pss {
                    key.sign(&RSA_PSS_SHA256, &random, message, &mut signature)
                } else {
                    key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                };
                signed.unwrap();
                signature
            }
            Key::P256(key) | Key::P384(key) => {
                key.sign(&random, message).unwrap().as_ref().to_vec()
            }
            Key::Ed(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    /// Returns the public key in the form that an issuer publishes.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.key {
            Key::Rsa(key) => {
                let parts = RsaPublicKeyComponents::<Vec<u8>>::from(key.public_key());
                json!({ "kty": "RSA", "n": BASE64.encode(parts.n), "e": BASE64.encode(parts.e) })
            }
            Key::P256(key) => point("P-256", key),
            Key::P384(key) => point("P-384", key),
            Key::Ed(key) => {
                let x = BASE64.encode(key.public_key());
                json!({ "kty": "OKP", "crv": "Ed25519", "x": x })
            }
        };
        jwk["kid"] = json!(self.kid);
        jwk["use"] = json!("sig");
        jwk["alg"] = json!(self.algorithm());
        jwk
    }

    /// Returns the public key in the format of the library: DER for RSA, and the bytes of the point for ECDSA and Ed25519.
    pub(crate) fn public(&self) -> Vec<u8> {
        match &self.key {
            Key::Rsa(key) => key.public_key().as_ref().to_vec(),
            Key::P256(key) | Key::P384(key) => key.public_key().as_ref().to_vec(),
            Key::Ed(key) => key.public_key().as_ref().to_vec(),
        }
    }
}

fn point(curve: &str, key: &EcdsaKeyPair) -> Value {
    let point = &key.public_key().as_ref()[1..];
    let (x, y) = point.split_at(point.len() / 2);
    json!({ "kty": "EC", "crv": curve, "x": BASE64.encode(x), "y": BASE64.encode(y) })
}

/// Returns a token that is signed with a shared secret.
pub(crate) fn hmac_token(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let message = format!(
        "{}.{}",
        BASE64.encode(header.to_string()),
        BASE64.encode(claims.to_string())
    );
    let algorithm = match header["alg"].as_str() {
        Some("HS384") => aws_lc_rs::hmac::HMAC_SHA384,
        Some("HS512") => aws_lc_rs::hmac::HMAC_SHA512,
        _ => aws_lc_rs::hmac::HMAC_SHA256,
    };
    let key = aws_lc_rs::hmac::Key::new(algorithm, secret);
    let signature = aws_lc_rs::hmac::sign(&key, message.as_bytes());
    format!("{message}.{}", BASE64.encode(signature))
}

/// Returns a token with this text instead of its signature.
pub(crate) fn unsigned(header: &str, claims: &Value, signature: &str) -> String {
    let (header, claims) = (BASE64.encode(header), BASE64.encode(claims.to_string()));
    format!("{header}.{claims}.{signature}")
}
