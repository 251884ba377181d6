//! What the tests share.

pub mod admits;
pub mod lint;
pub mod spelling;
