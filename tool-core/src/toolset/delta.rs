//! What has changed between two turns.

use super::Toolset;
use crate::schema::dialect::Dialect;
use crate::tool::ToolDef;

/// What a toolset has and another had not: see [`Toolset::delta`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsetDelta {
    /// Tools that were not there, in order.
    pub added: Vec<String>,
    /// Tools that are gone, in order.
    pub removed: Vec<String>,
    /// Tools that are offered in other words or with another schema, in order.
    pub changed: Vec<String>,
}

impl ToolsetDelta {
    /// Whether both offer the same, byte for byte.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Toolset {
    /// What has changed since the toolset of an earlier turn, as one provider sees it.
    ///
    /// Toolsets list their tools in one order, by name, and a definition is always the same text: where nothing has changed, the
    /// request that goes out is the same bytes, and what a provider has cached of it holds. Where something has, a host can send the
    /// old list with what was added behind it, and let a call of what is gone be refused.
    ///
    /// ```
    /// use tool_core::prelude::*;
    ///
    /// /// Looks.
    /// #[tool]
    /// fn look() -> u8 {
    ///     0
    /// }
    ///
    /// /// Jumps.
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
        // Both are sorted by the name that a model sees.
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
