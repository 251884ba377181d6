//! The rules of a turn that can still forbid a call after it was allowed.

use std::sync::Arc;

use super::view::View;
use crate::context::{CallScope, Standing, StandingRules, ToolContext};
use crate::policy::{PolicyRequest, PolicyVerdict};

impl View {
    /// Returns the rules for a call of the tool at a position.
    pub(crate) fn standing(self: &Arc<Self>, at: usize) -> Standing {
        Standing {
            rules: Arc::<Self>::clone(self),
            at,
            edition: self.edition(),
        }
    }
}

impl StandingRules for View {
    /// Returns whether the rules still allow a call. The policies are evaluated again only if one of them has changed since `edition`.
    fn still_allow(&self, at: usize, edition: u64, scope: &CallScope, cx: &ToolContext) -> bool {
        let tool = self.def(at);
        if self.hides(at, tool).is_some() {
            return false;
        }
        if self.edition() == edition {
            return true;
        }
        let decision = self.judge(at, &PolicyRequest::of(tool, scope, cx));
        decision.is_none_or(|decision| decision.verdict != PolicyVerdict::Deny)
    }
}
