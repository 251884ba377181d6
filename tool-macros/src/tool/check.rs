//! Checks of a tool that need only its syntax.

pub(crate) mod generator;
pub(crate) mod known;
pub(crate) mod names;
pub(crate) mod output;
pub(crate) mod params;
