//! SHA-256 fingerprints and random ids.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use sha2::{Digest, Sha256};

use super::hex::write_hex;
use crate::error::ToolError;
use crate::schema::dialect::Dialect;
use crate::tool::ToolDef;

/// SHA-256 over the parts, each prefixed with its length, as lower-case hex.
pub(crate) fn sha256(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = vec![0; bytes.len() * 2];
    write_hex(bytes, &mut digits);
    String::from_utf8(digits).unwrap_or_default()
}

/// Fingerprint of a tool's contract: name, description, arguments, output and effects. An approval is bound to it.
///
/// It is computed once for each tool, because it reads all of the tool's schemas.
pub(crate) fn contract(def: &ToolDef) -> Arc<str> {
    def.contract_once(|| fingerprint(def))
}

/// Caches the contract of a tool whose `static` facts are at the address `place`.
pub(crate) fn known(place: usize, make: impl FnOnce() -> Arc<str>) -> Arc<str> {
    static KNOWN: LazyLock<RwLock<HashMap<usize, Arc<str>>>> = LazyLock::new(RwLock::default);
    let known = KNOWN
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&place)
        .cloned();
    known.unwrap_or_else(|| {
        let contract = make();
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(place, Arc::clone(&contract));
        contract
    })
}

fn fingerprint(def: &ToolDef) -> Arc<str> {
    let hints = def.hints();
    let flags = format!(
        "{} {} {} {} {}",
        def.effect(),
        hints.read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world
    );
    let output = def.output_schema().unwrap_or_default();
    sha256(&[
        def.name(),
        def.description(),
        def.schema(Dialect::JsonSchema),
        def.schema(Dialect::Mcp),
        &output,
        &flags,
    ])
    .into()
}

/// Returns 128 random bits as hex. Fails if the system has no random bytes.
pub(crate) fn random_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    crate::env::random(&mut bytes)
        .map_err(|error| ToolError::foreign(error).operator("the system gave no random bytes"))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::{hex, sha256};

    #[test]
    fn every_byte_has_its_digits() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        for (digits, byte) in hex(&bytes).as_bytes().chunks(2).zip(bytes) {
            assert_eq!(digits, format!("{byte:02x}").as_bytes());
        }
    }

    // SHA-256 of the empty input, from the examples of FIPS 180-4.
    #[test]
    fn a_hash_is_lower_case_hex() {
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(&[]), nothing);
        assert_ne!(sha256(&["ab", "c"]), sha256(&["a", "bc"]));
    }
}
