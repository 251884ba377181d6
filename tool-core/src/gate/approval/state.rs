//! The life of an approval, each state a type: what a state does not allow cannot be written.

use crate::store::{
    Answer, ApprovalRequest, ApprovalRow, ApprovalStatus, ApprovalStore, StoreError, Timestamp,
    Verdict,
};

/// An approval in a state. Only the states that follow can be reached from it, and each step takes it away.
#[derive(Debug)]
pub(crate) struct Approval<S> {
    request: ApprovalRequest,
    state: S,
}

/// Nobody has answered.
#[derive(Debug)]
pub(crate) struct Asked;
/// Somebody has said yes; it has not been used.
#[derive(Debug)]
pub(crate) struct Granted(Answer);
/// Somebody has said no.
#[derive(Debug)]
pub(crate) struct Refused(Answer);
/// It was used, and cannot be again.
#[derive(Debug)]
pub(crate) struct Spent(Answer);
/// Time or a change has ended it.
#[derive(Debug)]
pub(crate) struct Over(pub(super) &'static str);

/// What the store holds, as a state.
#[derive(Debug)]
pub(crate) enum Loaded {
    Asked(Approval<Asked>),
    Granted(Approval<Granted>),
    Refused(Approval<Refused>),
    Spent(Approval<Spent>),
    Over(Approval<Over>),
}

impl Loaded {
    /// Reads a row. One whose status and answer contradict each other is corrupt.
    pub(crate) fn read(row: ApprovalRow, now: Timestamp) -> Result<Self, StoreError> {
        let ApprovalRow {
            request,
            status,
            answer,
            assignee: _,
        } = row;
        let late = request.expires <= now;
        Ok(match (status, answer) {
            (ApprovalStatus::Expired, _) => Self::Over(Approval {
                request,
                state: Over("it has expired"),
            }),
            (ApprovalStatus::Withdrawn, _) => Self::Over(Approval {
                request,
                state: Over("it was withdrawn"),
            }),
            (ApprovalStatus::Pending, None) if late => Self::Over(Approval {
                request,
                state: Over("it has expired"),
            }),
            (ApprovalStatus::Approved, Some(answer)) if late && answer.verdict != Verdict::Deny => {
                Self::Over(Approval {
                    request,
                    state: Over("it has expired"),
                })
            }
            (ApprovalStatus::Pending, None) => Self::Asked(Approval {
                request,
                state: Asked,
            }),
            (ApprovalStatus::Approved, Some(answer)) if answer.verdict != Verdict::Deny => {
                Self::Granted(Approval {
                    request,
                    state: Granted(answer),
                })
            }
            (ApprovalStatus::Denied, Some(answer)) if answer.verdict == Verdict::Deny => {
                Self::Refused(Approval {
                    request,
                    state: Refused(answer),
                })
            }
            (ApprovalStatus::Spent, Some(answer)) => Self::Spent(Approval {
                request,
                state: Spent(answer),
            }),
            (status, _) => {
                return Err(StoreError::Corrupt(format!(
                    "approval `{}` is {status:?} with an answer that does not belong to that",
                    request.id
                )));
            }
        })
    }
}

impl<S> Approval<S> {
    pub(crate) fn request(&self) -> &ApprovalRequest {
        &self.request
    }
}

/// A yes, whether or not a call has begun on it. That it is used up alone does not say that the call has run: the process may have
/// died in between, or an operator may have told the call to run again. The ledger knows.
#[derive(Debug)]
pub(crate) enum Grant {
    Open(Approval<Granted>),
    Used(Approval<Spent>),
}

impl Grant {
    pub(crate) fn request(&self) -> &ApprovalRequest {
        match self {
            Self::Open(grant) => grant.request(),
            Self::Used(spent) => spent.request(),
        }
    }

    /// What was granted: the arguments as the approver left them.
    pub(crate) fn arguments(&self) -> &str {
        match self {
            Self::Open(grant) => grant.arguments(),
            Self::Used(spent) => spent.arguments(),
        }
    }
}

fn granted<'a>(request: &'a ApprovalRequest, answer: &'a Answer) -> &'a str {
    match &answer.verdict {
        Verdict::Edit(arguments) => arguments,
        Verdict::Approve | Verdict::Deny => &request.arguments,
    }
}

impl Approval<Granted> {
    /// What was granted: the arguments as the approver left them.
    pub(crate) fn arguments(&self) -> &str {
        granted(&self.request, &self.state.0)
    }

    /// Whether the approver has changed the arguments.
    pub(crate) fn is_edited(&self) -> bool {
        matches!(self.state.0.verdict, Verdict::Edit(_))
    }

    /// Uses it. Of all that try, in all processes, one succeeds; `None` for the others.
    pub(crate) async fn spend(
        self,
        store: &dyn ApprovalStore,
        now: Timestamp,
    ) -> Result<Option<Approval<Spent>>, StoreError> {
        let Self { request, state } = self;
        let own = store
            .spend(
                request.identity.workspace(),
                &request.id,
                &request.nonce,
                now,
            )
            .await?;
        Ok(own.then_some(Approval {
            request,
            state: Spent(state.0),
        }))
    }
}

impl Approval<Refused> {
    pub(crate) fn reason(&self) -> Option<&str> {
        self.state.0.reason.as_deref()
    }
}

impl Approval<Spent> {
    /// What was granted: the arguments as the approver left them.
    pub(crate) fn arguments(&self) -> &str {
        granted(&self.request, &self.state.0)
    }

    /// Whether the approver has changed the arguments.
    pub(crate) fn is_edited(&self) -> bool {
        matches!(self.state.0.verdict, Verdict::Edit(_))
    }

    pub(crate) fn approver(&self) -> &str {
        &self.state.0.approver
    }
}

impl Approval<Over> {
    pub(crate) fn why(&self) -> &'static str {
        self.state.0
    }
}
