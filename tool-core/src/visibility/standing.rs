//! The rules that can still forbid a call after it was allowed.

use std::sync::Arc;

use super::view::View;
use crate::policy::{PolicyVerdict, Request};
use crate::registry::Shelf;
use crate::tool::ToolDef;

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

    /// Whether a call of the tool is still allowed. The policy judges the request only if a policy has changed.
    pub(crate) fn allows<'r>(&self, def: &ToolDef, request: impl FnOnce() -> Request<'r>) -> bool {
        let Self::Live {
            shelf,
            view,
            at,
            edition,
        } = self
        else {
            return true;
        };
        if view.hides(*at, def).is_some() {
            return false;
        }
        if view.edition() == *edition {
            return true;
        }
        let decision = view.judge(shelf, *at, &request());
        decision.is_none_or(|decision| decision.verdict != PolicyVerdict::Deny)
    }
}
