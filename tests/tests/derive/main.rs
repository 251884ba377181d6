//! `#[derive(StrictSchema)]` and the schemas of foreign types, compared with serde and schemars.

mod deserialize;
mod foreign_types;
mod json_schema;
pub mod lints;
mod readers;
mod serde_attributes;
mod support;
mod trees;
