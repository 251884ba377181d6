//! Approval requests in the results of calls.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::store::{ApprovalKind, Timestamp};

/// An approval request that a client may store and show.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Id of the approval.
    pub id: String,
    /// Opaque proof that this host made the request. The host rejects it from a different principal.
    pub token: String,
    /// Whether the request is about a call or a plan.
    pub kind: ApprovalKind,
    /// The tool that would run; empty for a plan.
    pub tool: String,
    /// The model's own id of the call; empty for a plan.
    pub call: String,
    /// The conversation of the request; `None` outside of conversations.
    pub thread: Option<String>,
    /// The model's own id of the outer call, if a tool made this call.
    pub parent: Option<String>,
    /// The arguments of the call, or the plan, as canonical JSON.
    pub arguments: String,
    /// Why an approval is required.
    pub reason: Option<String>,
    /// Whether the approver must not be the requester.
    pub four_eyes: bool,
    /// When the request expires.
    pub expires: Timestamp,
}

/// Omits the token, which is a credential, and the model's ids. Prints only the length of the arguments, because they are not redacted.
impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            token: _,
            kind,
            tool,
            call: _,
            thread,
            parent: _,
            arguments,
            reason,
            four_eyes,
            expires,
        } = self;
        f.debug_struct("Ticket")
            .field("id", id)
            .field("kind", kind)
            .field("tool", tool)
            .field("thread", thread)
            .field("arguments", &format_args!("{} bytes", arguments.len()))
            .field("reason", reason)
            .field("four_eyes", four_eyes)
            .field("expires", expires)
            .finish_non_exhaustive()
    }
}
