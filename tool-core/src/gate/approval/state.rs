//! Typed states of an approval: a transition that a state does not allow does not compile.

use crate::store::{
    ApprovalAnswer, ApprovalRequest, ApprovalRow, ApprovalStatus, ApprovalStore, StoreError,
    Timestamp, Verdict,
};

/// An approval in the state `S`. A transition consumes it and returns the next state.
#[derive(Debug)]
pub(crate) struct Approval<S> {
    request: ApprovalRequest,
    state: S,
}

/// The request is not answered yet.
#[derive(Debug)]
pub(crate) struct Asked;
/// The request was approved, and the approval was not used yet.
#[derive(Debug)]
pub(crate) struct Granted(ApprovalAnswer);
/// The request was denied.
#[derive(Debug)]
pub(crate) struct Refused(ApprovalAnswer);
/// The approval was used and cannot be used again.
#[derive(Debug)]
pub(crate) struct Spent(ApprovalAnswer);
/// The approval has expired or was withdrawn. The text is the reason.
#[derive(Debug)]
pub(crate) struct Over(pub(super) &'static str);

/// A stored approval in its state.
#[derive(Debug)]
pub(crate) enum Loaded {
    Asked(Approval<Asked>),
    Granted(Approval<Granted>),
    Refused(Approval<Refused>),
    Spent(Approval<Spent>),
    Over(Approval<Over>),
}

impl Loaded {
    /// Reads a row. A row whose status and answer contradict each other is corrupt.
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
                    "approval `{}` is {status:?} with an answer that does not match this status",
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

/// An approval that was given, whether or not it was used. A used approval does not prove that the call has run: the process may have died in between, or an
/// operator may have requested a rerun. Only the ledger records whether the call has run.
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

    /// Returns the approved arguments, with the approver's edits.
    pub(crate) fn arguments(&self) -> &str {
        match self {
            Self::Open(grant) => grant.arguments(),
            Self::Used(spent) => spent.arguments(),
        }
    }
}

fn granted<'a>(request: &'a ApprovalRequest, answer: &'a ApprovalAnswer) -> &'a str {
    match &answer.verdict {
        Verdict::Edit(arguments) => arguments,
        Verdict::Approve | Verdict::Deny => &request.arguments,
    }
}

impl Approval<Granted> {
    /// Returns the approved arguments, with the approver's edits.
    pub(crate) fn arguments(&self) -> &str {
        granted(&self.request, &self.state.0)
    }

    /// Returns whether the approver has edited the arguments.
    pub(crate) fn is_edited(&self) -> bool {
        matches!(self.state.0.verdict, Verdict::Edit(_))
    }

    /// Uses the approval. Of all concurrent attempts in all processes, at most one succeeds; the others get `None`. If the approval was withdrawn or has
    /// expired, no attempt succeeds.
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
    /// Returns the approved arguments, with the approver's edits.
    pub(crate) fn arguments(&self) -> &str {
        granted(&self.request, &self.state.0)
    }

    /// Returns whether the approver has edited the arguments.
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
