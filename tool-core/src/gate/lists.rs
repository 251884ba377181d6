//! Allow and deny lists by name.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Which tools somebody may use, by exact name. An empty allow list restricts nothing; a denied name stays denied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lists {
    /// Only these, where there is one.
    #[serde(default)]
    pub allow: BTreeSet<String>,
    /// Never these.
    #[serde(default)]
    pub deny: BTreeSet<String>,
}

impl Lists {
    /// Whether nothing is restricted.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        !self.allow.is_empty() && !self.allow.contains(name)
    }
}

/// Which step of the lists decided about a name, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The lists that hold for everybody; without any, everything may be used.
    Global,
    /// The agent's allow list.
    Allow,
    /// The agent's deny list, and those of the agents above it.
    Deny,
    /// The allow lists of the agents above it.
    Spawn,
}

/// What the lists say about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether the tool may be used.
    pub allowed: bool,
    /// The step that decided.
    pub step: Step,
}
