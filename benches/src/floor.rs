//! The floor: what a hand-written call costs.

use crate::work::{self, Arguments};

/// JSON text in, JSON text out.
///
/// # Panics
///
/// When the text is not the tool's arguments.
#[must_use]
pub fn call(arguments: &str) -> String {
    let arguments: Arguments = serde_json::from_str(arguments).expect("arguments");
    let hits = work::search(&arguments.query, arguments.limit, arguments.filter.and_then(|filter| filter.min_stars));
    serde_json::to_string(&hits).expect("hits")
}
