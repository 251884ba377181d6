//! Checks whether an allowed call is still allowed when its body begins.

use std::sync::Arc;

use super::policy::PolicyVerdict;
use super::visibility::View;
use crate::context::{CallScope, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::registry::Shelf;

/// The rules that can still forbid a call after it was allowed: kill switches, disables and deny rules.
pub(crate) enum Standing {
    /// The turn has no rules.
    None,
    /// The turn has rules. Operators can change them while the call is on its way.
    Live {
        shelf: Arc<Shelf>,
        view: Arc<View>,
        at: usize,
        /// The edition of the policies when the call arrived. The call is judged later than that, so an equal number means an equal
        /// judgement.
        edition: u64,
    },
}

impl Standing {
    pub(crate) fn live(shelf: &Arc<Shelf>, view: &Arc<View>, at: usize) -> Self {
        Self::Live {
            shelf: Arc::clone(shelf),
            view: Arc::clone(view),
            at,
            edition: view.edition(),
        }
    }

    fn allow(&self, scope: &CallScope, cx: &ToolContext) -> bool {
        let Self::Live {
            shelf,
            view,
            at,
            edition,
        } = self
        else {
            return true;
        };
        if view.hides(*at, &scope.def).is_some() {
            return false;
        }
        if view.edition() == *edition {
            return true;
        }
        let decision = view.judge(shelf, *at, &super::request(scope, cx));
        decision.is_none_or(|decision| decision.verdict != PolicyVerdict::Deny)
    }
}

/// Refuses a call that is no longer allowed. Callers run this right before a body begins, after every step that waits.
#[inline]
pub(crate) fn still_allowed(cx: &ToolContext) -> Result<(), ToolError> {
    match cx.scope() {
        Some(scope) if !scope.standing.allow(scope, cx) => Err(ToolError::of(
            ErrorKind::Denied,
            "the call is no longer allowed, so it was not run",
        )
        .operator("the tool was switched off or denied after the call was allowed")),
        _ => Ok(()),
    }
}
