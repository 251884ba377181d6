//! A linter.
