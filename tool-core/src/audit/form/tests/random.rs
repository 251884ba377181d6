//! The random schemas and arguments of the tests of `tool-schema`, compiled for the tests of this crate.
#![allow(dead_code, reason = "the tests of `tool-schema` use the rest")]

#[path = "../../../../../crates/tool-schema/src/args/tests/build.rs"]
mod build;
#[path = "../../../../../crates/tool-schema/src/args/tests/oracle.rs"]
mod oracle;
#[path = "../../../../../crates/tool-schema/src/args/tests/scene.rs"]
mod scene;
#[path = "../../../../../crates/tool-schema/src/args/tests/writer.rs"]
mod writer;

pub(super) use scene::{damage, scene};
