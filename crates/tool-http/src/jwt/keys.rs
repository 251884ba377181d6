//! The keys of a JSON Web Key Set (RFC 7517) that can verify tokens.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{JwksError, JwtAlgorithm};

/// Maximum number of keys in a set.
pub(super) const MOST_KEYS: usize = 100;
/// Allowed lengths of an RSA modulus in bits. A shorter modulus can be factored; a longer modulus makes each verification expensive.
const MODULUS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A public key and the algorithms whose signatures it may verify.
pub(super) struct Key {
    pub(super) kid: Option<String>,
    algorithms: Vec<JwtAlgorithm>,
    decoding: DecodingKey,
}

impl Key {
    /// Returns whether the key may verify signatures of this algorithm.
    pub(super) fn fits(&self, algorithm: JwtAlgorithm) -> bool {
        self.algorithms.contains(&algorithm)
    }

    pub(super) fn decoding(&self) -> &DecodingKey {
        &self.decoding
    }
}

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

/// A published key. Members that are not listed here are ignored.
#[derive(Deserialize)]
struct Published {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    /// The private part, which must not be published.
    d: Option<serde::de::IgnoredAny>,
}

/// Reads a key set. Skips malformed and insecure keys, and keys of other types, uses and algorithms.
pub(super) fn read(body: &[u8]) -> Result<Vec<Key>, JwksError> {
    let set: Set<'_> = serde_json::from_slice(body).map_err(|error| {
        JwksError::new(format!("the response is not a JSON Web Key Set: {error}"))
    })?;
    if set.keys.len() > MOST_KEYS {
        return Err(JwksError::new(format!(
            "the key set has more than {MOST_KEYS} keys"
        )));
    }
    let keys: Vec<Key> = set
        .keys
        .into_iter()
        .filter_map(|text| key(text.get()))
        .collect();
    for (at, key) in keys.iter().enumerate() {
        let twice = |other: &Key| other.kid == key.kid && other.algorithms == key.algorithms;
        if key.kid.is_some() && keys[..at].iter().any(twice) {
            tracing::warn!(kid = ?key.kid, "two keys of the token issuer have the same `kid`, so neither verifies tokens");
        }
    }
    Ok(keys)
}

fn key(text: &str) -> Option<Key> {
    let published = match serde_json::from_str::<Published>(text) {
        Ok(published) => published,
        Err(error) => {
            tracing::warn!(%error, "a key of the token issuer is malformed, and is not used");
            return None;
        }
    };
    let kid = published.kid.clone();
    match usable(&published) {
        Ok(key) => Some(key),
        Err(reason) => {
            tracing::debug!(?kid, reason, "a key of the token issuer is not used");
            None
        }
    }
}

/// Returns the key, or the reason why it is not used.
fn usable(published: &Published) -> Result<Key, &'static str> {
    if published
        .usage
        .as_deref()
        .is_some_and(|usage| usage != "sig")
    {
        return Err("its `use` is not `sig`");
    }
    let verifies = |operations: &Vec<String>| operations.iter().any(|name| name == "verify");
    if !published.key_ops.as_ref().is_none_or(verifies) {
        return Err("its `key_ops` lack `verify`");
    }
    if published.d.is_some() {
        return Err("its private part is published");
    }
    let (possible, decoding) = match (published.kty.as_str(), published.crv.as_deref()) {
        ("RSA", _) => (JwtAlgorithm::RSA, rsa(published)?),
        ("EC", Some("P-256")) => (&[JwtAlgorithm::Es256][..], ec(published)?),
        ("EC", Some("P-384")) => (&[JwtAlgorithm::Es384][..], ec(published)?),
        ("OKP", Some("Ed25519")) => (&[JwtAlgorithm::EdDsa][..], ed(published)?),
        _ => return Err("its `kty` or `crv` is not supported"),
    };
    let named = |algorithm: &JwtAlgorithm| {
        let name = published.alg.as_deref();
        name.is_none_or(|name| algorithm.is_named(name))
    };
    let algorithms: Vec<_> = possible.iter().copied().filter(named).collect();
    if algorithms.is_empty() {
        return Err("its `alg` does not fit its type");
    }
    Ok(Key {
        kid: published.kid.clone(),
        algorithms,
        decoding,
    })
}

fn rsa(published: &Published) -> Result<DecodingKey, &'static str> {
    let n = bytes(published.n.as_deref())?;
    let e = bytes(published.e.as_deref())?;
    let n = without_zeros(&n);
    let bits = n.len() * 8 - n.first().map_or(0, |first| first.leading_zeros() as usize);
    if !MODULUS.contains(&bits) {
        return Err("its modulus is shorter than 2048 bits or longer than 8192");
    }
    Ok(DecodingKey::from_rsa_raw_components(n, without_zeros(&e)))
}

fn ec(published: &Published) -> Result<DecodingKey, &'static str> {
    let (Some(x), Some(y)) = (&published.x, &published.y) else {
        return Err("it lacks `x` or `y`");
    };
    DecodingKey::from_ec_components(x, y).map_err(|_| "its `x` or `y` is malformed")
}

fn ed(published: &Published) -> Result<DecodingKey, &'static str> {
    let Some(x) = &published.x else {
        return Err("it lacks `x`");
    };
    DecodingKey::from_ed_components(x).map_err(|_| "its `x` is malformed")
}

fn bytes(text: Option<&str>) -> Result<Vec<u8>, &'static str> {
    let text = text.ok_or("it lacks `n` or `e`")?;
    BASE64
        .decode(text)
        .map_err(|_| "its `n` or `e` is malformed")
}

/// Removes leading zeros, which some issuers write although RFC 7518 forbids them.
fn without_zeros(mut number: &[u8]) -> &[u8] {
    while let [0, rest @ ..] = number {
        number = rest;
    }
    number
}
