//! The request that a policy decides on, and its decision.

use std::sync::Arc;

use super::PolicyVerdict;
use crate::context::{CallScope, ToolContext};
use crate::decision::DecisionId;
use crate::tool::ToolDef;

/// A call on which a policy decides.
#[derive(Clone, Copy)]
pub struct PolicyRequest<'a> {
    /// The tool that is called.
    pub tool: &'a ToolDef,
    /// The tenant; empty if there is none.
    pub tenant: &'a str,
    /// The user on whose behalf the tool is called; empty if there is none.
    pub principal: &'a str,
    /// The agent that makes the call.
    pub agent: Option<&'a str>,
    /// The arguments as JSON text, as the tool reads them. They are parsed only if a condition needs them.
    pub arguments: &'a str,
}

impl<'a> PolicyRequest<'a> {
    /// Creates the request for a call with an open scope.
    pub(crate) fn of(tool: &'a ToolDef, scope: &'a CallScope, cx: &'a ToolContext) -> Self {
        Self {
            tool,
            tenant: cx.tenant(),
            principal: cx.principal(),
            agent: cx.agent(),
            arguments: scope.arguments(),
        }
    }
}

/// A policy's decision about a call.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The verdict on the call.
    pub verdict: PolicyVerdict,
    /// Id of this decision in audit rows. [`SharedPolicy::explain`](super::SharedPolicy::explain) accepts this id.
    pub id: DecisionId,
    /// Name of the rule that decided; `None` if the policy's default or a kill switch decided.
    pub rule: Option<Arc<str>>,
    /// The reason that the rule states, if it states one. If a kill switch decided, the reason names the switch.
    pub reason: Option<Arc<str>>,
    /// Whether the approver must not be the requester, because an ask rule that applies to the call requires it.
    pub four_eyes: bool,
    /// Version of the policy that made the decision.
    pub policy: Arc<str>,
}
