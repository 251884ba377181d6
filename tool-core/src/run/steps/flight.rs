//! [`Flight`]: a call behind a gate, from the opening of its scope to its landing.

use std::sync::Arc;

use crate::audit::{Audit, End, Entry, Late, Verdicts};
use crate::context::ToolContext;
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::gate::{Gate, Judgement};
use crate::run::{Prepared, record, telemetry};
use crate::store::{AuditRow, CallId, Timestamp};

/// A call behind a gate. Dropped before it has landed, it is reported as cancelled.
pub(in crate::run) struct Flight {
    gate: Gate,
    prepared: Prepared,
    verdicts: Verdicts,
    started: Timestamp,
    has_landed: bool,
}

/// The error of a call whose caller went away.
pub(super) fn dropped() -> ToolError {
    ToolError::of(ErrorKind::Cancelled, "the call was dropped before its end")
}

impl Flight {
    #[inline]
    pub(super) fn new(gate: &Gate, prepared: Prepared, started: Timestamp) -> Self {
        Self {
            gate: gate.clone(),
            prepared,
            verdicts: Verdicts::default(),
            started,
            has_landed: false,
        }
    }

    pub(in crate::run) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(in crate::run) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The context of the call.
    pub(in crate::run) fn context(&self) -> &ToolContext {
        &self.prepared.cx
    }

    pub(super) fn prepared_mut(&mut self) -> &mut Prepared {
        &mut self.prepared
    }

    pub(super) fn verdicts(&self) -> &Verdicts {
        &self.verdicts
    }

    pub(super) fn judged(&mut self, judgement: &Judgement) {
        self.verdicts.decision = judgement.id();
        self.verdicts.policy = judgement.shared_version();
    }

    pub(super) fn approved(&mut self, id: String, approver: Option<String>) {
        self.verdicts.approval = Some(id);
        self.verdicts.approver = approver;
    }

    /// Counts a run of the body.
    pub(super) fn counts_run(&mut self) {
        self.verdicts.attempt += 1;
    }

    /// The audit's row before the body.
    pub(super) fn open_row(&self) -> Option<AuditRow> {
        let identity = self.prepared.cx.identity()?.clone();
        Some(self.late(identity, self.verdicts.clone(), None).row())
    }

    fn late(&self, identity: CallId, verdicts: Verdicts, end: Option<End>) -> Late {
        Late {
            cx: self.prepared.cx.clone(),
            scope: Arc::clone(&self.prepared.scope),
            identity,
            verdicts,
            started: self.started,
            end,
        }
    }

    /// The call is over, and there is nothing to report of it.
    #[inline]
    pub(in crate::run) fn forget(mut self) {
        self.has_landed = true;
    }

    /// Writes the audit's row of the end. A call without an identity has none.
    pub(super) async fn report(mut self, identity: Option<CallId>, end: End) {
        self.has_landed = true;
        let Some(identity) = identity else { return };
        let verdicts = std::mem::take(&mut self.verdicts);
        let late = || self.late(identity, verdicts, Some(end));
        match self.gate.audit() {
            Audit::Off => {}
            Audit::BestEffort(buffer) => buffer.push(Entry::Late(Box::new(late()))),
            Audit::Required(sink) => Box::pin(record::ended(sink, late())).await,
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.has_landed {
            return;
        }
        let error = dropped();
        telemetry::decided(&self.prepared.span, &self.verdicts);
        self.prepared.ended(Some(&error));
        let Some(identity) = self.prepared.cx.identity().cloned() else {
            return;
        };
        let verdicts = std::mem::take(&mut self.verdicts);
        let end = End::failed(&error, env::elapsed(self.prepared.since));
        match self.gate.audit() {
            Audit::Off => {}
            Audit::BestEffort(buffer) => {
                buffer.push(Entry::Late(Box::new(self.late(
                    identity,
                    verdicts,
                    Some(end),
                ))));
            }
            Audit::Required(sink) => {
                let (sink, late) = (Arc::clone(sink), self.late(identity, verdicts, Some(end)));
                env::spawn(async move { record::ended(&sink, late).await });
            }
        }
    }
}
