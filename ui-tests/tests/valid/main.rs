//! Programs that must compile without a warning.

mod lints;
mod pass;
