//! Which tools a turn may use.

use std::collections::HashSet;

/// Rules about tools by name. Without any, every tool may be used; a denied name stays denied whatever else is said.
///
/// ```
/// use tool_core::Rules;
///
/// let rules = Rules::default().allow(["search_docs", "read_file"]).deny(["read_file"]);
/// assert!(rules.shows("search_docs"));
/// assert!(!rules.shows("read_file"));
/// assert!(!rules.shows("delete_file"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: Option<HashSet<String>>,
    deny: HashSet<String>,
}

impl Rules {
    /// Only these, and those of further calls.
    #[must_use]
    pub fn allow<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.allow
            .get_or_insert_default()
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// Never these.
    #[must_use]
    pub fn deny<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.deny.extend(names.into_iter().map(Into::into));
        self
    }

    /// Whether a tool of this name may be used.
    pub fn shows(&self, name: &str) -> bool {
        !self.deny.contains(name) && self.allow.as_ref().is_none_or(|allow| allow.contains(name))
    }
}
