//! Comparison of the one-pass decoder with the guard and serde.

mod differential;
mod disagreements;
mod stack;
