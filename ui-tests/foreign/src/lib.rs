//! Types of another crate whose faults are found only where a `#[tool]` uses the types.

use std::collections::HashMap;

use tool_core::prelude::*;

/// The record `Page` of this test: a generic page.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next one begins.
    pub next: Option<String>,
}

/// A record with an open part, which some providers can say.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Tagged {
    /// The field `name` of `Tagged`.
    pub name: String,
    /// The field `tags` of `Tagged`.
    pub tags: HashMap<String, String>,
}

/// A tree, which some providers can say.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Tree {
    /// The field `name` of `Tree`.
    pub name: String,
    /// The field `children` of `Tree`.
    pub children: Vec<Tree>,
}
