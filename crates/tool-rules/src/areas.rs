//! The catalogue of rules: all areas, in order.

use crate::rule::{Area, Rule};
use crate::{constraint, derive, dynamic, import, mcp, schema, tool, types, warning};

impl Rule {
    /// The areas of the catalogue.
    pub const AREAS: &'static [Area] = &[
        schema::AREA,
        constraint::AREA,
        types::AREA,
        tool::AREA,
        derive::AREA,
        warning::AREA,
        dynamic::AREA,
        mcp::AREA,
        import::AREA,
    ];

    /// Returns all rules, in the order of the catalogue. A rule with several messages has one entry for each message.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        Self::AREAS.iter().flat_map(|area| area.rules)
    }
}
