//! The macros of tool-core.
