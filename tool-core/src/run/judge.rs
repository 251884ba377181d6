//! The verdict of the policy and of the tool's own `approval` on a call, and the last check of the rules before its body.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Prepared;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::policy::{DecisionId, PolicyVerdict};
use crate::tool::{Approval, ToolDef};
use crate::toolset::Toolset;

/// The verdict on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Allow,
    Deny,
    Ask,
}

/// The verdict on a call and the decision behind it.
#[derive(Debug)]
pub(crate) struct Judgement {
    says: Says,
    /// Id of the policy's decision.
    id: Option<DecisionId>,
    /// Version of the policy; `None` without a policy.
    policy: Option<Arc<str>>,
    reason: Option<Arc<str>>,
    #[cfg(feature = "host")]
    four_eyes: bool,
}

/// Evidence that the policy and the tool let a call run without an approval. Only [`Judgement::allowed`] creates it.
#[derive(Debug)]
pub(crate) struct Allowed(());

impl Judgement {
    pub(crate) fn says(&self) -> Says {
        self.says
    }

    #[cfg(feature = "host")]
    pub(crate) fn id(&self) -> Option<DecisionId> {
        self.id
    }

    /// Returns the version of the policy; empty without a policy.
    pub(crate) fn version(&self) -> &str {
        self.policy.as_deref().unwrap_or_default()
    }

    #[cfg(feature = "host")]
    pub(crate) fn shared_version(&self) -> Option<Arc<str>> {
        self.policy.clone()
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    #[cfg(feature = "host")]
    pub(crate) fn four_eyes(&self) -> bool {
        self.four_eyes
    }

    /// Returns evidence that the call needs no approval; `None` if it was not allowed.
    pub(crate) fn allowed(&self) -> Option<Allowed> {
        (self.says == Says::Allow).then_some(Allowed(()))
    }

    /// Returns the error for a denied call.
    pub(crate) fn denial(&self) -> ToolError {
        let text = match self.reason() {
            Some(reason) => format!("the call is not allowed: {reason}"),
            None => "the call is not allowed here".to_owned(),
        };
        self.signed(ToolError::of(ErrorKind::Denied, text))
    }

    /// Returns the error for a call that needs an approval on a host without approvals.
    pub(crate) fn unanswered(&self) -> ToolError {
        let text = "the call must be approved by a person first";
        let text = match self.reason() {
            Some(reason) => format!("{text}: {reason}"),
            None => text.to_owned(),
        };
        self.signed(ToolError::of(ErrorKind::Pending, text))
    }

    /// Adds the id of the decision and the version of the policy to the operator's text.
    fn signed(&self, error: ToolError) -> ToolError {
        match self.id {
            Some(id) => error.operator(format!("decision {id} of policy {}", self.version())),
            None => error,
        }
    }
}

/// Decides on a call: first by the policy, then by the tool's own `approval`. A predicate that fails or panics counts as a request for approval.
///
/// If `by_effect` is true, a destructive tool with [`Approval::ByEffect`] needs an approval. It is false without a gate, because only a gate can ask
/// a person.
#[inline]
pub(crate) fn judge(toolset: &Toolset, prepared: &Prepared, by_effect: bool) -> Judgement {
    let decision = toolset.judge(prepared.position(), || prepared.request());
    let mut permitted = false;
    let mut judgement = match decision {
        None => Judgement {
            says: Says::Allow,
            id: None,
            policy: None,
            reason: None,
            #[cfg(feature = "host")]
            four_eyes: false,
        },
        Some(decision) => {
            permitted = decision.rule.is_some();
            Judgement {
                says: match decision.verdict {
                    PolicyVerdict::Allow => Says::Allow,
                    PolicyVerdict::Deny => Says::Deny,
                    PolicyVerdict::Ask => Says::Ask,
                },
                id: Some(decision.id),
                policy: Some(decision.policy),
                reason: decision.reason,
                #[cfg(feature = "host")]
                four_eyes: decision.four_eyes,
            }
        }
    };
    // An allow rule that matched has taken the tool's effect into account.
    let by_effect = |def: &ToolDef| by_effect && def.hints().destructive && !permitted;
    if judgement.says == Says::Allow && wants_approval(prepared, by_effect) {
        judgement.says = Says::Ask;
    }
    judgement
}

/// Returns whether the tool itself requires an approval. `by_effect` decides for [`Approval::ByEffect`]. A predicate that fails or panics counts as a
/// request for approval.
fn wants_approval(prepared: &Prepared, by_effect: impl FnOnce(&ToolDef) -> bool) -> bool {
    match prepared.tool().approval() {
        Approval::Never => false,
        Approval::Always => true,
        Approval::ByEffect => by_effect(prepared.tool()),
        Approval::When(asks) => {
            let asked = catch_unwind(AssertUnwindSafe(|| {
                asks(prepared.arguments(), prepared.context())
            }));
            !matches!(asked, Ok(Ok(false)))
        }
    }
}

/// Refuses a call that is no longer allowed. Callers run this right before a body begins, after every step that waits.
#[inline]
pub(super) fn still_allowed(cx: &ToolContext) -> Result<(), ToolError> {
    let standing = cx
        .scope()
        .and_then(|scope| Some((scope.standing.as_ref()?, scope)));
    match standing {
        Some((standing, scope)) if !standing.allows(scope, cx) => Err(ToolError::of(
            ErrorKind::Denied,
            "the call is no longer allowed, so it was not run",
        )
        .operator("the tool was switched off or denied after the call was allowed")),
        _ => Ok(()),
    }
}
