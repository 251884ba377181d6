//! Strictly typed tools for language models.

extern crate self as tool_core;

pub mod schema;
