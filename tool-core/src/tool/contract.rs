//! Fingerprints of the contracts of tools.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use super::ToolDef;
use crate::digest::sha256;
use crate::schema::dialect::Dialect;

/// Returns the cached contract of the tool whose `static` facts are at the address `place`. On the first call, computes it with `make`.
pub(super) fn known(place: usize, make: impl FnOnce() -> Arc<str>) -> Arc<str> {
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

/// Returns the fingerprint of a tool's contract: name, description, arguments, output, effects and hints. An approval is bound to the fingerprint.
/// `name` is the tool's own name, or an alias for the contract before a rename. Aliases are not part of the contract.
///
/// Callers cache the fingerprint under the tool's own name, because the computation reads schemas of the tool.
pub(super) fn fingerprint(def: &ToolDef, name: &str) -> Arc<str> {
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
        name,
        def.description(),
        def.schema(Dialect::JsonSchema),
        def.schema(Dialect::Mcp),
        &output,
        &flags,
    ])
    .into()
}
