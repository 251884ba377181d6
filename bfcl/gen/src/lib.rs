//! From the function definitions of the Berkeley Function Calling Leaderboard to the source of typed tools.
//!
//! [`sample`] reads the lines, [`shape`] decides whether a definition can be typed and by which rule it cannot, [`plan`] names the
//! tools, [`render`] writes the source. The output is committed in `bfcl/src/generated`; a test of `bfcl` keeps it up to date.

pub mod plan;
pub mod render;
pub mod sample;
pub mod shape;

pub use tool_cli::import::names;
pub use tool_cli::json;

/// The sample, one call a line.
pub const SAMPLE: &str = include_str!("../../data/bfcl-sample.jsonl");
