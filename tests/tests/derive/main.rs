//! `#[derive(StrictSchema)]` and the schemas of foreign types, compared with what serde and schemars do.

mod deserialize;
mod foreign_types;
mod json_schema;
pub mod lints;
mod readers;
mod serde_attributes;
mod support;
mod trees;
