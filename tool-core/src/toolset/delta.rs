//! Changes of a toolset between two turns.

use super::Toolset;
use crate::schema::dialect::Dialect;
use crate::tool::ToolDef;

/// The differences between two toolsets; see [`Toolset::delta`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsetDelta {
    /// Names of tools that were added, sorted.
    pub added: Vec<String>,
    /// Names of tools that were removed, sorted.
    pub removed: Vec<String>,
    /// Names of tools whose definition is different, sorted.
    pub changed: Vec<String>,
}

impl ToolsetDelta {
    /// Returns whether both toolsets offer the same definitions, byte for byte.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Toolset {
    /// Returns the changes since the toolset of an earlier turn, in the definitions for one provider.
    ///
    /// Toolsets list their tools sorted by name, and a definition is always the same text. If nothing has changed, the
    /// request has the same bytes, so a provider's cache stays valid. If something has changed, a host can send the old list with the
    /// added tools at its end, and refuse calls of removed tools.
    ///
    /// ```
    /// use tool_core::prelude::*;
    ///
    /// /// Returns the number of visible objects.
    /// #[tool]
    /// fn look() -> u8 {
    ///     0
    /// }
    ///
    /// /// Jumps over one object.
    /// #[tool]
    /// fn jump() -> u8 {
    ///     0
    /// }
    ///
    /// # fn main() {
    /// let delta = toolset![jump, look].delta(&toolset![look], Dialect::OpenAi);
    /// assert_eq!(delta.added, ["jump"]);
    /// assert!(delta.removed.is_empty() && delta.changed.is_empty());
    /// # }
    /// ```
    pub fn delta(&self, before: &Self, dialect: Dialect) -> ToolsetDelta {
        let offered = |tools: &Self| -> Vec<ToolDef> {
            let offered = tools
                .tools()
                .filter(|def| !def.definition(dialect).is_empty());
            offered.cloned().collect()
        };
        let (now, then) = (offered(self), offered(before));
        let mut delta = ToolsetDelta::default();
        let (mut left, mut right) = (now.iter().peekable(), then.iter().peekable());
        // Both lists are sorted by the name that a model sees.
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return delta,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(now), Some(then)) => now.wire_name().cmp(then.wire_name()),
            };
            match order {
                std::cmp::Ordering::Less => {
                    delta
                        .added
                        .extend(left.next().map(|def| def.wire_name().to_owned()));
                }
                std::cmp::Ordering::Greater => {
                    delta
                        .removed
                        .extend(right.next().map(|def| def.wire_name().to_owned()));
                }
                std::cmp::Ordering::Equal => {
                    if let (Some(now), Some(then)) = (left.next(), right.next())
                        && now.definition(dialect) != then.definition(dialect)
                    {
                        delta.changed.push(now.wire_name().to_owned());
                    }
                }
            }
        }
    }
}
