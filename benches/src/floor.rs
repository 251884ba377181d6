//! The floor: a hand-written call with serde.

use crate::work::{self, Arguments};

/// Parses the JSON arguments, runs the body, and writes the result as JSON.
///
/// # Panics
///
/// Panics if the text is not the tool's arguments.
#[must_use]
pub fn call(arguments: &str) -> String {
    let arguments: Arguments = serde_json::from_str(arguments).expect("arguments");
    let hits = work::search(&arguments.query, arguments.limit, arguments.filter.and_then(|filter| filter.min_stars));
    serde_json::to_string(&hits).expect("hits")
}
