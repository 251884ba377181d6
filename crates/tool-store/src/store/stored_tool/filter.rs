//! Filters of lists of tools and of bindings.

use serde::{Deserialize, Serialize};

use super::{AgentBinding, StoredTool, ToolSource, ToolTarget};
use crate::store::function::contains;
use crate::store::{StoreError, Timestamp, words};

/// Whether a list contains active tools, deleted tools, or both.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum IncludeDeleted {
    /// The list contains only active tools.
    #[default]
    #[serde(rename = "false")]
    No,
    /// The list contains active and deleted tools.
    #[serde(rename = "true")]
    Yes,
    /// The list contains only deleted tools.
    #[serde(rename = "only")]
    Only,
}

words!(IncludeDeleted {
    No = "false",
    Yes = "true",
    Only = "only",
});

/// A filter for stored tools: a tool must match every field that is set. Lists are ordered by the time of creation and the id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredToolFilter {
    /// Whether deleted tools are listed.
    pub include_deleted: IncludeDeleted,
    /// Tools of this source. If it is `None`, the list contains the tools of the workspace and of the system.
    pub source: Option<ToolSource>,
    /// Tools that are bound to this agent.
    pub agent: Option<String>,
    /// Tools that run this function.
    pub function: Option<String>,
    /// Tools with this target.
    pub target: Option<ToolTarget>,
    /// Tools whose name contains this text, ignoring the case of ASCII letters.
    pub name: Option<String>,
    /// Only tools that require a confirmation, or only tools that do not.
    pub requires_confirmation: Option<bool>,
    /// The cursor: only tools after it. It is [`StoredTool::place`] of the last tool of the previous page.
    pub after: Option<(Timestamp, String)>,
    /// Only tools before this [place](StoredTool::place). Without `after`, the page contains the last matching tools before this place.
    pub before: Option<(Timestamp, String)>,
    /// The maximum number of tools, from 1 to 100; 100 by default.
    pub limit: Option<u32>,
}

impl StoredToolFilter {
    /// The largest number of tools in a page, which is also the default.
    pub const MOST: u32 = 100;

    /// Returns the number of tools in a page. Fails with `Conflict` if the limit is out of range.
    pub fn page(&self) -> Result<u32, StoreError> {
        match self.limit.unwrap_or(Self::MOST) {
            limit @ 1..=Self::MOST => Ok(limit),
            limit => Err(StoreError::Conflict(format!(
                "the limit {limit} is out of range, give a number from 1 to {}",
                Self::MOST
            ))),
        }
    }

    /// Returns whether the page contains the last matching tools instead of the first matching tools.
    pub fn is_backward(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    /// Returns whether the filter admits a tool of the workspace or of the system. `is_bound` is whether the tool is bound to the agent of the
    /// filter. The caller applies the limit.
    pub fn admits(&self, tool: &StoredTool, is_bound: bool) -> bool {
        let place = (tool.created_at, &tool.id);
        let is_past = |(at, id): &(Timestamp, String)| place > (*at, id);
        let is_short_of = |(at, id): &(Timestamp, String)| place < (*at, id);
        let deleted = match self.include_deleted {
            IncludeDeleted::No => !tool.is_deleted(),
            IncludeDeleted::Yes => true,
            IncludeDeleted::Only => tool.is_deleted(),
        };
        deleted
            && self.source.is_none_or(|source| source == tool.source)
            && (self.agent.is_none() || is_bound)
            && (self.function.is_none() || self.function == tool.function)
            && self.target.is_none_or(|target| target == tool.target)
            && self
                .name
                .as_ref()
                .is_none_or(|part| contains(&tool.name, part))
            && self
                .requires_confirmation
                .is_none_or(|asks| asks == tool.requires_confirmation)
            && self.after.as_ref().is_none_or(is_past)
            && self.before.as_ref().is_none_or(is_short_of)
    }
}

/// A filter for bindings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingFilter {
    /// Bindings of this agent.
    pub agent: Option<String>,
    /// Bindings of this tool.
    pub tool: Option<String>,
    /// The maximum number of bindings.
    pub limit: Option<u32>,
    /// The cursor: only bindings after it. It is the agent and the tool of the last binding of the previous page.
    pub after: Option<(String, String)>,
}

impl BindingFilter {
    /// Returns whether the filter admits a binding. The caller applies `limit`.
    pub fn admits(&self, binding: &AgentBinding) -> bool {
        let place = (&binding.agent, &binding.tool);
        let after = self.after.as_ref();
        self.agent
            .as_ref()
            .is_none_or(|agent| *agent == binding.agent)
            && self.tool.as_ref().is_none_or(|tool| *tool == binding.tool)
            && after.is_none_or(|(agent, tool)| place > (agent, tool))
    }
}
