//! The one-pass decoder against the guard with serde.

mod differential;
mod disagreements;
mod stack;
