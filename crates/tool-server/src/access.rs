//! Roles of callers, and the role that each route requires.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The role of a caller in its workspace.
///
/// | role | may |
/// |---|---|
/// | `viewer` | read |
/// | `approver` | read, and answer, assign and revoke approvals |
/// | `operator` | everything that an approver may do; cancel runs and plans, settle effects, set switches, add and remove instances, enable and disable their tools and skills, stored tools and scheduled tasks, write and remove variables, answer requests for variables, correct memories |
/// | `author` | read; create, change and delete functions and stored tools, bind stored tools to agents and unbind them |
/// | `admin` | everything |
///
/// ```
/// use tool_server::Role;
///
/// assert!(Role::Operator.includes(Role::Approver));
/// assert!(!Role::Author.includes(Role::Approver)); // authors do not approve calls of their own tools
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Reads the resources of the workspace.
    Viewer,
    /// Answers, assigns and revokes approvals.
    Approver,
    /// Cancels runs and plans, settles effects, sets switches, adds and removes instances, enables and disables their tools and skills, stored tools and
    /// scheduled tasks, writes and removes variables, answers requests for variables, and corrects memories.
    Operator,
    /// Creates, changes and deletes functions and stored tools, and binds stored tools to agents and unbinds them.
    Author,
    /// Uses every route; routes of the host also require [`Caller::host`](crate::Caller::host).
    Admin,
}

impl Role {
    /// All roles, in the order of the table above.
    pub const ALL: [Self; 5] = [
        Self::Viewer,
        Self::Approver,
        Self::Operator,
        Self::Author,
        Self::Admin,
    ];

    /// Returns the name of the role, such as `viewer`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Approver => "approver",
            Self::Operator => "operator",
            Self::Author => "author",
            Self::Admin => "admin",
        }
    }

    /// Returns the role with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Returns whether a caller with this role may use a route that requires `needed`.
    pub fn includes(self, needed: Self) -> bool {
        self == needed
            || match self {
                Self::Admin => true,
                Self::Operator => matches!(needed, Self::Viewer | Self::Approver),
                Self::Approver | Self::Author => needed == Self::Viewer,
                Self::Viewer => false,
            }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The role that a route requires, and whether the route requires an operator of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) role: Role,
    /// Whether the resource belongs to the host and not to a workspace.
    pub(crate) host: bool,
}

impl Access {
    pub(crate) const fn role(role: Role) -> Self {
        Self { role, host: false }
    }

    /// Access to a resource of the host.
    pub(crate) const fn host(role: Role) -> Self {
        Self { role, host: true }
    }
}
