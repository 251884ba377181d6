//! Changes by operators, which a store writes together with their audit row.

use super::{
    ApprovalAnswer, ApprovalRow, AuditNote, AuditRow, CallId, CallKey, DirectoryChange, EffectRow,
    Erased, ErasedContents, InstanceChange, MemoryRow, PlanRow, RecordChange, Resolution, RunCause,
    RunRow, RunState, RunStop, SkillChange, StoreError, StoreFuture, Switch, TaskRow, Timestamp,
    VaultChange, Workspace, WorkspaceSettings, administration,
};
use super::{EffectClaim, RunId};

/// The condition of a change: the row that the operator has read before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected<T> {
    /// The change does not depend on the stored row.
    Any,
    /// The change is made only if the stored row equals this row; `None` if no row was stored.
    Same(Option<T>),
}

impl<T: PartialEq> Expected<T> {
    /// Fails with [`StoreError::Stale`] if the stored row differs from the expected row.
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
    /// Applies [`ApprovalStore::answer`](super::ApprovalStore::answer).
    Answer {
        /// The id of the request.
        id: String,
        /// The answer of the approver.
        answer: ApprovalAnswer,
    },
    /// Applies [`ApprovalStore::assign`](super::ApprovalStore::assign).
    Assign {
        /// The id of the request.
        id: String,
        /// The person who is asked to answer; `None` removes the assignee. Others may answer, too.
        assignee: Option<String>,
        /// The row that the operator has read.
        expected: Expected<Box<ApprovalRow>>,
    },
    /// Applies [`ApprovalStore::withdraw`](super::ApprovalStore::withdraw), but fails with `Missing` for an unknown request, and with `Conflict` for
    /// a request that is not open.
    Revoke {
        /// The id of the request.
        id: String,
    },
    /// Applies [`RunStore::stop_run`](super::RunStore::stop_run), but fails with `Missing` for an unknown run, and with `Conflict` for a run that has
    /// ended.
    StopRun {
        /// The id of the run.
        id: RunId,
        /// Whether the run is interrupted or cancelled.
        stop: RunStop,
    },
    /// Applies [`EffectLedger::resolve`](super::EffectLedger::resolve).
    Resolve {
        /// The key of the call.
        key: CallKey,
        /// The operator's finding about the effect.
        resolution: Resolution,
        /// The operator who settled the effect.
        operator: String,
        /// When the operator settled the effect.
        at: Timestamp,
    },
    /// Applies [`SwitchStore::set`](super::SwitchStore::set).
    SetSwitch {
        /// The switch in its new state.
        switch: Switch,
        /// The row that the operator has read.
        expected: Expected<Switch>,
    },
    /// Ends a run regardless of its lease, for an operator who knows that its driver is dead. Fails with `Missing` for an unknown run, with
    /// `Conflict` for a run that has ended, and with `Stale` for a run that a different owner has taken over.
    EndRun {
        /// The id of the run.
        id: RunId,
        /// The owner of the run that the operator has read.
        owner: String,
        /// When the operator ends the run.
        at: Timestamp,
    },
    /// Applies [`EffectLedger::force`](super::EffectLedger::force).
    Force {
        /// The key of the call.
        key: CallKey,
        /// The operator's finding about the effect.
        resolution: Resolution,
        /// The operator who settled the effect.
        operator: String,
        /// When the operator settled the effect.
        at: Timestamp,
    },
    /// A change of an instance, of its tools or of its skills.
    Instance(InstanceChange),
    /// A change of secrets, variables or keys.
    Vault(VaultChange),
    /// A change of a workspace or of its members.
    Directory(DirectoryChange),
    /// A change of a memory, a document, a run of a plan, a scheduled task or a room.
    Record(RecordChange),
    /// Applies [`Maintenance::erase_contents`](super::Maintenance::erase_contents). The audit row of the change is written after the erasure, and is
    /// kept.
    Erase(ErasedContents),
    /// Writes only the audit row, because the caller makes the change itself, for example in the policy of the process.
    Note,
}

/// The idempotency key of a request: a repeated request changes nothing and receives the first response. `T` is the output of the change.
#[derive(Clone, Debug)]
pub struct RequestKey<T = Changed> {
    /// The user who sent the request. Each user has a separate set of keys.
    pub caller: String,
    /// The key that the client chose.
    pub key: String,
    /// Hash of everything that the request contains, so that a key is not used for two different requests.
    pub fingerprint: String,
    /// When the request arrived.
    pub at: Timestamp,
    /// When the key expires.
    pub expires: Timestamp,
    /// Creates the response that is stored for repeated requests.
    pub respond: fn(&T) -> String,
}

/// A change, its audit row, and the idempotency key of its request.
#[derive(Clone, Debug)]
pub struct ChangeRequest {
    /// The change to make.
    pub change: Change,
    /// The audit row. Its identity contains the workspace of the change.
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
    /// A stop of a run was requested, or a run was ended.
    Run(Box<RunRow>),
    /// An effect was settled.
    Effect(Box<EffectRow>),
    /// A switch was set.
    Switch {
        /// The switch as it is stored now.
        switch: Switch,
        /// Whether the change turned the switch on or off.
        flipped: bool,
    },
    /// A tool was enabled or disabled for an instance.
    Enablement {
        /// The name of the tool in the change.
        tool: String,
        /// Whether a row has changed.
        changed: bool,
    },
    /// A skill was enabled or disabled for an instance.
    Skill(SkillChange),
    /// An instance was added or removed, a secret, a variable or a member was written or removed, a key was retired, or a memory, a document, a
    /// scheduled task or a room was removed.
    Row {
        /// Whether a row has changed.
        changed: bool,
    },
    /// A request for variables was answered.
    Answered {
        /// The names that are still missing. The request is closed if there are none.
        missing: Vec<String>,
    },
    /// The settings of a workspace were written.
    Workspace(Box<WorkspaceSettings>),
    /// A memory was corrected.
    Memory(Box<MemoryRow>),
    /// A run of a plan was ended.
    Plan(Box<PlanRow>),
    /// A scheduled task was changed.
    Task(Box<TaskRow>),
    /// Contents were erased; the value counts the rows.
    Erased(Erased),
    /// Only the audit row was written.
    Noted,
}

/// The result of a [`ChangeRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The change was made.
    Changed(Changed),
    /// The request is a repetition. Nothing was changed, and this is the stored response.
    Repeated(String),
}

impl ChangeRequest {
    /// Returns the workspace of the change.
    pub fn workspace(&self) -> &Workspace {
        self.audit.identity.workspace()
    }

    /// Returns whether the transaction writes contents: edited arguments, the state of a plan, or a response.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn has_contents(&self) -> bool {
        let is_edit = match &self.change {
            Change::Answer { answer, .. } => answer.is_edit(),
            Change::Record(change) => change.has_contents(),
            _ => false,
        };
        is_edit || self.key.is_some()
    }

    /// Checks the request without the stored rows, for [`ChangeStore::apply`]. Fails with `Missing` if the changed row and the audit row belong to
    /// different workspaces, and with `Forbidden` if an editor who removes a member is not an admin. For a switch, a secret, a member or a correction
    /// of a memory, fails in the same cases as [`Switch::check`], [`SecretRow::check`](super::SecretRow::check),
    /// [`Member::check`](super::Member::check) or [`MemoryCorrection::check`](super::MemoryCorrection::check).
    pub fn check(&self) -> Result<(), StoreError> {
        let own = self.workspace();
        match &self.change {
            Change::StopRun { id, .. } | Change::EndRun { id, .. } if id.workspace() != own => {
                Err(RunRow::missing(id))
            }
            Change::Resolve { key, .. } | Change::Force { key, .. } if key.workspace() != own => {
                Err(EffectClaim::missing(key))
            }
            Change::SetSwitch { switch, .. } => {
                if switch.key.workspace.as_ref().is_some_and(|of| of != own) {
                    return Err(StoreError::Missing(format!(
                        "no switch of tool `{}`",
                        switch.key.tool
                    )));
                }
                switch.check()
            }
            change => administration::check(change, own),
        }
    }
}

impl<T> RequestKey<T> {
    /// Returns the response to a repeated request, from the fingerprint and the response that are stored under the key. Fails with `Conflict` if the
    /// key was used for a different request.
    pub fn repeated(&self, fingerprint: &str, response: String) -> Result<String, StoreError> {
        if fingerprint == self.fingerprint {
            return Ok(response);
        }
        Err(StoreError::Conflict(
            "the idempotency key was used for a different request, send a new key".to_owned(),
        ))
    }
}

impl Changed {
    /// Returns the conversation and the user whose contents a response about the changed row may contain. A store saves both with the response, so
    /// that erasing the conversation or the user also removes the response.
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
            Self::Memory(row) => (row.conversation.as_deref(), row.principal.as_deref()),
            Self::Plan(row) => (
                Some(row.id.thread().conversation()),
                row.principal.as_deref(),
            ),
            Self::Task(row) => (None, row.principal.as_deref()),
            Self::Switch { .. }
            | Self::Enablement { .. }
            | Self::Skill(_)
            | Self::Row { .. }
            | Self::Answered { .. }
            | Self::Workspace(_)
            | Self::Erased(_)
            | Self::Noted => (None, None),
        }
    }

    /// Copies facts of the changed row to the audit row. Of an approval, these are its tool, its call, its conversation and its id; of an effect, its
    /// tool, its call and its conversation; of a run or a plan, its conversation; of a switch or an enablement row, its tool. Other rows add nothing.
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
            Self::Plan(row) => {
                audit.thread = Some(row.id.thread().conversation().to_owned());
            }
            Self::Effect(row) => {
                audit.tool.clone_from(&row.intent.tool);
                audit.call.clone_from(&row.intent.call);
                audit.thread.clone_from(&row.intent.thread);
            }
            Self::Switch { switch, .. } => audit.tool.clone_from(&switch.key.tool),
            Self::Enablement { tool, .. } => audit.tool.clone_from(tool),
            Self::Skill(_)
            | Self::Row { .. }
            | Self::Answered { .. }
            | Self::Workspace(_)
            | Self::Memory(_)
            | Self::Task(_)
            | Self::Erased(_)
            | Self::Noted => {}
        }
    }
}

impl AuditRow {
    /// Creates the row of a change that an operator makes: the principal is the operator, and a note contains the action and its details (JSON).
    /// Fails with [`StoreError::Unavailable`] if the operating system fails to return random bytes.
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

    /// Returns whether the row records a change by an operator, like the rows of [`of_operator`](Self::of_operator): it has notes, but neither
    /// the hash of arguments nor the contract of a tool, which the rows of calls have. The row of a change to a call has the id of that call. The
    /// erasure of a user keeps these rows, so that an operator cannot erase the record of the operator's changes.
    pub fn is_of_operator(&self) -> bool {
        self.original_hash.is_empty() && self.contract.is_none() && !self.notes.is_empty()
    }
}

impl ApprovalRow {
    /// Applies [`Change::Answer`], [`Change::Assign`] and [`Change::Revoke`]. Other changes leave the row unchanged. An answer after the expiry marks
    /// the row as expired, and the store must save the row although the method fails.
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
                "approval `{}` is {}, only pending and approved requests can be revoked",
                self.request.id, self.status
            ))),
            _ => Ok(()),
        }
    }
}

impl RunRow {
    /// Returns the error for an unknown run.
    #[must_use]
    pub fn missing(id: &RunId) -> StoreError {
        StoreError::Missing(format!("no {id}"))
    }

    /// Applies [`Change::StopRun`]. Returns whether the row changed. Fails with `Conflict` if the run has ended.
    pub fn request_stop(&mut self, stop: RunStop) -> Result<bool, StoreError> {
        if self.state == RunState::Ended {
            return Err(StoreError::Conflict(format!(
                "{} has ended, only running runs can be stopped",
                self.id
            )));
        }
        Ok(self.stop(stop))
    }

    /// Applies [`Change::StopRun`] and [`Change::EndRun`]. Returns whether the row has changed. Other changes leave the row unchanged.
    pub fn change(&mut self, change: Change) -> Result<bool, StoreError> {
        match change {
            Change::StopRun { stop, .. } => self.request_stop(stop),
            Change::EndRun { owner, at, .. } => self.force_end(&owner, at).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Ends the run as cancelled. Fails with `Conflict` if the run has ended, and with `Stale` if a different owner has taken it over.
    fn force_end(&mut self, owner: &str, at: Timestamp) -> Result<(), StoreError> {
        if self.state == RunState::Ended {
            return Err(StoreError::Conflict(format!(
                "{} has ended, only running runs can be ended",
                self.id
            )));
        }
        if self.owner != owner {
            return Err(StoreError::Stale(format!(
                "{} has a new owner, read it again",
                self.id
            )));
        }
        self.state = RunState::Ended;
        self.cause = Some(RunCause::Cancelled);
        self.ended = Some(at);
        Ok(())
    }
}

/// A store that writes a change by an operator together with its audit row.
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
    /// Makes the change, completes the audit row with [`Changed::complete`] and writes it, in one transaction. The transaction also stores the
    /// response under the idempotency key, if the request has a key.
    ///
    /// If the key is stored and has not expired at [`RequestKey::at`], the method changes nothing and returns the response of
    /// [`RequestKey::repeated`].
    ///
    /// A refused change writes no audit row and stores no key. Fails in the same cases as the method that the [`Change`] applies, with
    /// [`Stale`](StoreError::Stale) if the stored row is not the [expected](Expected) row, and if [`ChangeRequest::check`] fails.
    fn apply(&self, request: ChangeRequest) -> StoreFuture<'_, Applied>;
}
