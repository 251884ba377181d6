//! Types of another crate, with faults that only their user's `#[tool]` can tell.

use std::collections::HashMap;

use tool_core::prelude::*;

/// A generic page.
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
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: HashMap<String, String>,
}

/// A tree, which some providers can say.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Tree {
    /// Its name.
    pub name: String,
    /// What is below.
    pub children: Vec<Tree>,
}
