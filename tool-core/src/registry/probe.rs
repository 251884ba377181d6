//! Features of `serde_json` that some crate of the program may have turned on, and that change what serde reads.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Fault;

pub(super) const TEXT: &str = "some crate of this program turns on `serde_json/arbitrary_precision`: with it serde refuses every number \
     in internally tagged and untagged enums and in flattened structs, so that valid calls would fail; find the crate with \
     `cargo tree -e features -i serde_json` and turn it off";

/// Number in a type that serde reads through a buffer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Buffered {
    Number(#[expect(dead_code, reason = "only whether it can be read counts")] i64),
}

/// Asked once per process: whether numbers survive serde's buffer.
static BREAKS: LazyLock<bool> = LazyLock::new(|| serde_json::from_str::<Buffered>("1").is_err());

pub(super) fn fault() -> Option<Fault> {
    BREAKS.then_some(Fault::ArbitraryPrecision)
}
