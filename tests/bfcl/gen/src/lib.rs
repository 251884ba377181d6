//! Generator of the source of typed tools from the function definitions of the Berkeley Function Calling Leaderboard.
//!
//! [`sample`] reads the lines, [`shape`] decides whether a definition can be typed and otherwise names the rules that forbid it, [`plan`] names the
//! tools, and [`render`] writes the source. The build script of `bfcl` calls them.

pub mod plan;
pub mod render;
pub mod sample;
pub mod shape;

pub use tool_import::{json, names};

/// The sample, with one call per line.
pub const SAMPLE: &str = include_str!("../data/bfcl-sample.jsonl");
