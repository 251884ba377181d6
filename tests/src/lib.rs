//! What the tests share.

pub mod lint;
