//! Schemas that come at run time.
mod doc;
mod fault;
mod judge;
mod words;

use serde_json::Value;

pub use fault::{Fault, Target, Targets, Verdicts};

use doc::Doc;

/// Says who would take a schema text as it is.
pub fn judge(schema: &Value) -> Verdicts {
    judge::judge(&Doc::from(schema))
}
