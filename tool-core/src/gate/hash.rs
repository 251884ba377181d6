//! Fingerprints and random ids.

use std::fmt::Write as _;

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
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The fingerprint of what a tool promises: name, description, arguments, output, effects. An approval is bound to it.
pub(crate) fn contract(def: &ToolDef) -> String {
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
}

/// 128 random bits as hex.
pub(crate) fn random_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| ToolError::foreign(error).operator("the system gave no random bytes"))?;
    Ok(hex(&bytes))
}
