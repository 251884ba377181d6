//! impls
