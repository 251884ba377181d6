//! Test of tool-core on real input: the function definitions of the Berkeley Function Calling Leaderboard as typed tools.
//!
//! `generated` holds one tool for each definition that can be typed (`cargo run -p bfcl-gen` writes it). [`compare`] sends every gold
//! call and five spoiled variants of each through the dispatcher and compares each verdict with that of the `jsonschema` crate
//! on the original schema, closed. `cargo run -p bfcl` prints the report.

pub mod arrived;
pub mod compare;
#[rustfmt::skip] // as the generator writes it
pub mod generated;
pub mod oracle;
pub mod report;
pub mod spoil;
