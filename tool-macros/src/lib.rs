//! The macros of tool-core. Use them through that crate.

mod constraint;
mod docs;
mod errors;
mod json;
mod paths;
mod spans;
mod texts;
mod words;
