//! [`Judged`]: a call with the decision of policy and tool.

#[cfg(feature = "host")]
use super::Flight;
use super::admitted::Admitted;
use super::{Held, Prepared};
use crate::run::judge::{self, Judgement};

/// A call on which policy and tool have decided.
pub(in crate::run) struct Judged<'t, H: Held> {
    held: H,
    parts: H::Parts<'t>,
    judgement: Judgement,
}

impl<'t> Admitted<'t, Prepared> {
    #[inline]
    pub(in crate::run) fn judge(self) -> Judged<'t, Prepared> {
        let (toolset, held, parts) = self.take();
        let judgement = judge::judge(toolset, &held, Prepared::ASKS);
        Judged {
            held,
            parts,
            judgement,
        }
    }
}

#[cfg(feature = "host")]
impl<'t> Admitted<'t, Flight> {
    #[inline]
    pub(in crate::run) fn judge(self) -> Judged<'t, Flight> {
        let (toolset, mut held, parts) = self.take();
        let judgement = judge::judge(toolset, held.prepared(), Flight::ASKS);
        held.judged(&judgement);
        Judged {
            held,
            parts,
            judgement,
        }
    }
}

impl<'t, H: Held> Judged<'t, H> {
    #[inline]
    pub(super) fn take(self) -> (H, H::Parts<'t>, Judgement) {
        (self.held, self.parts, self.judgement)
    }
}
