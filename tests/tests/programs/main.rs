//! Tests that use cargo to build, run or reject examples and fixtures.

mod host_example;
mod link;
mod nested;
mod patches;
mod versions;
mod wire_example;
