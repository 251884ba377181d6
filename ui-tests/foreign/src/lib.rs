//! Types of another crate. Their faults are reported only where a `#[tool]` uses the types.

use std::collections::HashMap;

use tool_core::prelude::*;

/// A page of any items.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// The items on the page.
    pub items: Vec<T>,
    /// The start of the next page.
    pub next: Option<String>,
}

/// A record with additional keys, which only some providers support.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Tagged {
    /// The field `name` of `Tagged`.
    pub name: String,
    /// The field `tags` of `Tagged`.
    pub tags: HashMap<String, String>,
}

/// A recursive type, which only some providers support.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Tree {
    /// The field `name` of `Tree`.
    pub name: String,
    /// The field `children` of `Tree`.
    pub children: Vec<Tree>,
}
