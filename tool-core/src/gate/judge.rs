//! What policy and the tool itself say about a call.

use std::sync::Arc;

use super::policy::{DecisionId, PolicyVerdict};
use crate::run::Prepared;
use crate::tool::ToolDef;
use crate::toolset::Toolset;

/// What is to be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Allow,
    Deny,
    Ask,
}

/// A judgement, and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) says: Says,
    /// Id of the policy's decision.
    pub(crate) id: Option<DecisionId>,
    /// Version of the policy; empty where there is none.
    pub(crate) policy: Arc<str>,
    pub(crate) reason: Option<Arc<str>>,
    pub(crate) four_eyes: bool,
}

/// Judges a call: the policy first, then the tool's own `approval`. A predicate that fails or panics asks.
pub(crate) fn judge(toolset: &Toolset, prepared: &Prepared) -> Judged {
    let decision = super::decision(toolset, prepared);
    let permitted = decision
        .as_ref()
        .is_some_and(|decision| decision.rule.is_some());
    let mut judged = match decision {
        None => Judged {
            says: Says::Allow,
            id: None,
            policy: Arc::default(),
            reason: None,
            four_eyes: false,
        },
        Some(decision) => Judged {
            says: match decision.verdict {
                PolicyVerdict::Allow => Says::Allow,
                PolicyVerdict::Deny => Says::Deny,
                PolicyVerdict::Ask => Says::Ask,
            },
            id: Some(decision.id),
            policy: decision.policy,
            reason: decision.reason,
            four_eyes: decision.four_eyes,
        },
    };
    // A rule that has allowed the call by name has spoken about its effect, too.
    let by_effect = |def: &ToolDef| def.hints().destructive && !permitted;
    if judged.says == Says::Allow && super::wants_approval(prepared, by_effect) {
        judged.says = Says::Ask;
    }
    judged
}
