//! Allow and deny lists by name.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::tool::ToolDef;

/// Allow list and deny list of exact tool names. A list can also name a tool by an alias. An empty allow list allows every name; the deny list has
/// priority over the allow list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLists {
    /// If this is not empty, only these tools may be used.
    #[serde(default)]
    pub allow: BTreeSet<String>,
    /// Tools that may never be used.
    #[serde(default)]
    pub deny: BTreeSet<String>,
}

impl ToolLists {
    /// Returns whether both lists are empty, so that nothing is restricted.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        !self.allow.is_empty() && !self.allow.contains(name)
    }

    /// Returns whether the allow list omits the tool and all its aliases.
    pub(crate) fn leaves_out_tool(&self, def: &ToolDef) -> bool {
        !self.allow.is_empty() && !def.names().any(|name| self.allow.contains(name))
    }

    /// Returns whether the deny list contains the tool or one of its aliases.
    pub(crate) fn denies_tool(&self, def: &ToolDef) -> bool {
        def.names().any(|name| self.deny.contains(name))
    }
}

/// The step of the list check that decided about a name. The steps run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The lists for all agents. This is also the step of an allowed tool if the agent has no allow list and no parent agent.
    Global,
    /// The agent's allow list.
    Allow,
    /// The agent's deny list, and the deny lists of its parent agents.
    Deny,
    /// The lists that apply to the parent agent.
    Spawn,
}

/// The result of checking a name against the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether the tool may be used.
    pub allowed: bool,
    /// The step that decided the result.
    pub step: Step,
}
