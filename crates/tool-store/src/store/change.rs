//! Changes by operators, which a store writes together with their audit row.

use super::{
    ApprovalAnswer, ApprovalRow, AuditNote, AuditRow, CallId, CallKey, EffectRow, Resolution,
    RunRow, RunState, RunStop, StoreError, StoreFuture, Switch, Timestamp, Workspace,
};
use super::{EffectClaim, RunId};

/// The row that an operator has read before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected<T> {
    /// The change is made whatever is stored.
    Any,
    /// The change is made only if the stored row is this one; `None` if no row was stored.
    Same(Option<T>),
}

impl<T: PartialEq> Expected<T> {
    /// Fails with [`StoreError::Stale`] if the stored row is a different one.
    pub fn check(&self, stored: Option<&T>) -> Result<(), StoreError> {
        match self {
            Self::Same(read) if read.as_ref() != stored => Err(StoreError::Stale(
                "the row has changed since it was read, read it again".to_owned(),
            )),
            Self::Any | Self::Same(_) => Ok(()),
        }
    }
}

/// A change by an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// [`ApprovalStore::answer`](super::ApprovalStore::answer).
    Answer {
        /// The id of the request.
        id: String,
        /// The answer.
        answer: ApprovalAnswer,
    },
    /// [`ApprovalStore::assign`](super::ApprovalStore::assign).
    Assign {
        /// The id of the request.
        id: String,
        /// The person who is to answer; `None` removes the assignee.
        assignee: Option<String>,
        /// The row that the operator has read.
        expected: Expected<Box<ApprovalRow>>,
    },
    /// [`ApprovalStore::withdraw`](super::ApprovalStore::withdraw), which here fails with `Conflict` for a request that is not open.
    Revoke {
        /// The id of the request.
        id: String,
    },
    /// [`RunStore::stop_run`](super::RunStore::stop_run), which here fails with `Conflict` for a run that has ended.
    StopRun {
        /// The id of the run.
        id: RunId,
        /// How the run is to stop.
        stop: RunStop,
    },
    /// [`EffectLedger::resolve`](super::EffectLedger::resolve).
    Resolve {
        /// The key of the call.
        key: CallKey,
        /// What the operator found out.
        resolution: Resolution,
        /// The operator.
        operator: String,
        /// When the operator settled the effect.
        at: Timestamp,
    },
    /// [`SwitchStore::set`](super::SwitchStore::set).
    SetSwitch {
        /// The switch.
        switch: Switch,
        /// The row that the operator has read.
        expected: Expected<Switch>,
    },
    /// Only the audit row: the change itself is made elsewhere, for example in the policy of the process.
    Note,
}

/// The idempotency key of a request: a repetition of the request changes nothing and gets the first response.
#[derive(Clone, Debug)]
pub struct RequestKey {
    /// The user who sent the request. Keys of different users never meet.
    pub caller: String,
    /// The key that the client chose.
    pub key: String,
    /// Hash of everything that the request contains, so that a key is not used for two different requests.
    pub fingerprint: String,
    /// When the request arrived.
    pub at: Timestamp,
    /// When the key is forgotten.
    pub expires: Timestamp,
    /// Writes the response that is stored for repetitions.
    pub respond: fn(&Changed) -> String,
}

/// A change, its audit row, and the idempotency key of its request.
#[derive(Clone, Debug)]
pub struct ChangeRequest {
    /// The change.
    pub change: Change,
    /// The audit row. Its identity names the workspace of the change.
    pub audit: AuditRow,
    /// The idempotency key, if the client sent one.
    pub key: Option<RequestKey>,
}

/// The rows of a change after it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Changed {
    /// An approval was answered, assigned or revoked.
    Approval(Box<ApprovalRow>),
    /// A run was asked to stop.
    Run(Box<RunRow>),
    /// An effect was settled.
    Effect(Box<EffectRow>),
    /// A switch was set.
    Switch {
        /// The switch as it is stored now.
        switch: Switch,
        /// Whether it was turned on or off.
        flipped: bool,
    },
    /// Only the audit row was written.
    Noted,
}

/// The answer to a [`ChangeRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The change was made.
    Changed(Changed),
    /// The request had been made before, and this response was stored for it. Nothing was changed now.
    Repeated(String),
}

impl ChangeRequest {
    /// The workspace of the change.
    pub fn workspace(&self) -> &Workspace {
        self.audit.identity.workspace()
    }

    /// Checks what [`ChangeStore::apply`] refuses whatever is stored: fails with `Missing` if the change is about a row of a different
    /// workspace than the audit row, and with `Conflict` if [`Switch::check`] fails.
    pub fn check(&self) -> Result<(), StoreError> {
        let own = self.workspace();
        match &self.change {
            Change::StopRun { id, .. } if id.workspace() != own => Err(RunRow::missing(id)),
            Change::Resolve { key, .. } if key.workspace() != own => Err(EffectClaim::missing(key)),
            Change::SetSwitch { switch, .. } => {
                if switch.key.workspace.as_ref().is_some_and(|of| of != own) {
                    return Err(StoreError::Missing(format!(
                        "no switch of tool `{}`",
                        switch.key.tool
                    )));
                }
                switch.check()
            }
            _ => Ok(()),
        }
    }
}

impl RequestKey {
    /// The answer to a repetition, from the fingerprint and the response that are stored under the key. Fails with `Conflict` if the
    /// key was used for a different request.
    pub fn repeated(&self, fingerprint: &str, response: String) -> Result<Applied, StoreError> {
        if fingerprint == self.fingerprint {
            return Ok(Applied::Repeated(response));
        }
        Err(StoreError::Conflict(
            "the idempotency key was used for a different request, send a new key".to_owned(),
        ))
    }
}

impl Changed {
    /// The conversation and the user of the contents that a response about the changed row may repeat. A store keeps both with the response, so
    /// that an erasure of one of them also removes the response.
    pub fn contents_of(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Approval(row) => {
                let request = &row.request;
                (request.thread.as_deref(), Some(&request.principal))
            }
            Self::Run(row) => (
                Some(row.id.thread().conversation()),
                row.principal.as_deref(),
            ),
            Self::Effect(row) => {
                let intent = &row.intent;
                (intent.thread.as_deref(), Some(&intent.principal))
            }
            Self::Switch { .. } | Self::Noted => (None, None),
        }
    }

    /// Adds to the audit row what the changed row says about its call: the tool, the conversation, the call and the approval.
    pub fn complete(&self, audit: &mut AuditRow) {
        match self {
            Self::Approval(row) => {
                let request = &row.request;
                audit.tool.clone_from(&request.tool);
                audit.call.clone_from(&request.call);
                audit.thread.clone_from(&request.thread);
                audit.approval = Some(request.id.clone());
            }
            Self::Run(row) => {
                audit.thread = Some(row.id.thread().conversation().to_owned());
            }
            Self::Effect(row) => {
                audit.tool.clone_from(&row.intent.tool);
                audit.call.clone_from(&row.intent.call);
                audit.thread.clone_from(&row.intent.thread);
            }
            Self::Switch { switch, .. } => audit.tool.clone_from(&switch.key.tool),
            Self::Noted => {}
        }
    }
}

impl AuditRow {
    /// The row of a change that an operator makes: the principal is the operator, and a note names the action and its details (JSON). Fails with
    /// [`StoreError::Unavailable`] if the system gives no random bytes.
    pub fn of_operator(
        workspace: impl Into<Workspace>,
        operator: impl Into<String>,
        action: impl Into<String>,
        details: impl Into<String>,
        at: Timestamp,
    ) -> Result<Self, StoreError> {
        let note = AuditNote {
            action: action.into(),
            details: details.into(),
        };
        Ok(Self {
            principal: Some(operator.into()),
            outcome: Some("ok".to_owned()),
            notes: vec![note],
            ..Self::new(CallId::alone(workspace)?, "", "", at)
        })
    }
}

impl ApprovalRow {
    /// Applies [`Change::Answer`], [`Change::Assign`] and [`Change::Revoke`]. Other changes leave the row unchanged. If an answer comes too
    /// late, the row has expired, and the store must save this although it is an error.
    pub fn change(&mut self, change: Change) -> Result<(), StoreError> {
        match change {
            Change::Answer { answer, .. } => self.answer(answer),
            Change::Assign {
                assignee, expected, ..
            } => {
                if let Expected::Same(read) = expected {
                    Expected::Same(read.map(|row| *row)).check(Some(self))?;
                }
                self.assign(assignee)
            }
            Change::Revoke { .. } if !self.withdraw() => Err(StoreError::Conflict(format!(
                "approval `{}` is {}, only a pending or approved one can be revoked",
                self.request.id, self.status
            ))),
            _ => Ok(()),
        }
    }
}

impl RunRow {
    /// The error for an unknown run.
    #[must_use]
    pub fn missing(id: &RunId) -> StoreError {
        StoreError::Missing(format!("no {id}"))
    }

    /// Applies [`Change::StopRun`]. Returns whether the row changed. Fails with `Conflict` if the run has ended.
    pub fn request_stop(&mut self, stop: RunStop) -> Result<bool, StoreError> {
        if self.state == RunState::Ended {
            return Err(StoreError::Conflict(format!(
                "{} has ended, only a running one can be stopped",
                self.id
            )));
        }
        Ok(self.stop(stop))
    }
}

/// A store that writes the change of an operator together with its audit row.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let (acme, now) = (Workspace::new("acme"), Timestamp::now());
/// let key = SwitchKey {
///     workspace: Some(acme.clone()), kind: SwitchKind::Kill, tool: "send_mail".into(), source: String::new(),
/// };
/// let switch = Switch { key, on: true, by: "olga".into(), reason: Some("spam".into()), at: now };
/// let audit = AuditRow::of_operator(&acme, "olga", "switch.set", r#"{"on":true}"#, now)?;
/// let change = Change::SetSwitch { switch, expected: Expected::Any };
/// store.apply(ChangeRequest { change, audit, key: None }).await?;
///
/// let rows = store.export(Scope::Workspace(&acme), &AuditFilter::default()).await?;
/// assert_eq!((rows[0].tool.as_str(), rows[0].notes[0].action.as_str()), ("send_mail", "switch.set"));
/// # Ok(())
/// # }
/// ```
pub trait ChangeStore: Send + Sync + 'static {
    /// Makes the change and writes the audit row, which [`Changed::complete`] has completed, in one transaction. Then stores the response under
    /// the idempotency key, if there is one.
    ///
    /// A key that is stored and has not expired at [`RequestKey::at`] is answered by [`RequestKey::repeated`], and nothing is changed.
    ///
    /// A refused change writes no audit row and stores no key. Fails like the method that the [`Change`] names, with
    /// [`Stale`](StoreError::Stale) if the stored row is not the [expected](Expected) one, and if [`ChangeRequest::check`] fails.
    fn apply(&self, request: ChangeRequest) -> StoreFuture<'_, Applied>;
}
