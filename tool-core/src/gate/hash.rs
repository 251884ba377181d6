//! Fingerprints and random ids.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use sha2::{Digest, Sha256};

use crate::error::ToolError;
use crate::schema::dialect::Dialect;
use crate::tool::ToolDef;

/// SHA-256 over parts, each with its length before it, as lower-case hex.
pub(crate) fn sha256(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    // Each audit row has several: formatting each byte costs more than the hash.
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// The fingerprint of what a tool promises: name, description, arguments, output, effects. An approval is bound to it.
///
/// Made once for each tool: it reads all of its schemas.
pub(crate) fn contract(def: &ToolDef) -> Arc<str> {
    def.contract_once(|| fingerprint(def))
}

/// The contract of a tool whose facts lie at an address for as long as the process lives.
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

/// 128 random bits as hex.
pub(crate) fn random_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| ToolError::foreign(error).operator("the system gave no random bytes"))?;
    Ok(hex(&bytes))
}
