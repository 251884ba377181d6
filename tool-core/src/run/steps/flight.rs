//! [`Flight`]: a call behind a gate, from the opening of its scope to its end.

use std::sync::Arc;

use crate::audit::{Audit, End, Entry, Late, Verdicts};
use crate::context::ToolContext;
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::run::judge::Judgement;
use crate::run::{Prepared, record, telemetry};
use crate::store::{AuditRow, AuditSink, CallId, Timestamp};

/// A call behind a gate. If it is dropped before it has ended, it is reported as cancelled.
///
/// The fields are boxed, because each step moves the call.
pub(in crate::run) struct Flight(Box<Fields>);

struct Fields {
    gate: Gate,
    prepared: Prepared,
    verdicts: Verdicts,
    started: Timestamp,
    has_landed: bool,
    /// Whether the call requests or uses an approval, so that it may run later with an approval token.
    asks: bool,
}

/// Returns the error of a call whose caller dropped it.
pub(super) fn dropped() -> ToolError {
    ToolError::of(ErrorKind::Cancelled, "the call was dropped before its end")
}

impl Flight {
    #[inline]
    pub(super) fn new(gate: &Gate, prepared: Prepared, started: Timestamp) -> Self {
        Self(Box::new(Fields {
            gate: gate.clone(),
            prepared,
            verdicts: Verdicts::default(),
            started,
            has_landed: false,
            asks: false,
        }))
    }

    pub(in crate::run) fn gate(&self) -> &Gate {
        &self.0.gate
    }

    pub(in crate::run) fn prepared(&self) -> &Prepared {
        &self.0.prepared
    }

    pub(in crate::run) fn context(&self) -> &ToolContext {
        &self.0.prepared.cx
    }

    pub(super) fn prepared_mut(&mut self) -> &mut Prepared {
        &mut self.0.prepared
    }

    pub(super) fn verdicts(&self) -> &Verdicts {
        &self.0.verdicts
    }

    pub(super) fn judged(&mut self, judgement: &Judgement) {
        self.0.verdicts.decision = judgement.id();
        self.0.verdicts.policy = judgement.shared_version();
    }

    pub(super) fn approved(&mut self, id: String, approver: Option<String>) {
        self.0.verdicts.approval = Some(id);
        self.0.verdicts.approver = approver;
    }

    /// Records that the call requests or uses an approval.
    pub(super) fn asking(mut self) -> Self {
        self.0.asks = true;
        self
    }

    /// Returns whether a call without a row in the ledger may be dispatched again while its result is not stored.
    pub(super) fn may_come_again(&self) -> bool {
        let identity = self.0.prepared.cx.identity();
        self.0.asks || identity.is_some_and(|identity| identity.conversation().is_some())
    }

    /// Marks this run as a later attempt of the call, which an operator has allowed.
    pub(super) fn runs_as(&mut self, attempt: u32, operator: String) {
        self.0.verdicts.rerun = Some((attempt, operator));
    }

    pub(super) fn counts_run(&mut self) {
        self.0.verdicts.attempt += 1;
    }

    /// Returns the audit row that is written before the body.
    pub(super) fn open_row(&self) -> Option<AuditRow> {
        let identity = self.0.prepared.cx.identity()?.clone();
        Some(self.late(identity, self.0.verdicts.clone(), None).row())
    }

    /// Returns the audit row of a call that ended with an error before its body and can be dispatched again.
    pub(super) fn closed_row(&self, error: &ToolError) -> Option<AuditRow> {
        let identity = self.0.prepared.cx.identity()?.clone();
        let end = End::failed(error, env::elapsed(self.0.prepared.since)).open();
        Some(
            self.late(identity, self.0.verdicts.clone(), Some(end))
                .row(),
        )
    }

    fn late(&self, identity: CallId, verdicts: Verdicts, end: Option<End>) -> Late {
        Late {
            cx: self.0.prepared.cx.clone(),
            def: self.0.prepared.tool().clone(),
            identity,
            verdicts,
            started: self.0.started,
            end,
        }
    }

    /// Ends the call without reporting it.
    #[inline]
    pub(in crate::run) fn forget(mut self) {
        self.0.has_landed = true;
    }

    /// Adds the audit row of the end to the buffer, or returns it if the audit is required. A call without an identity has no row.
    pub(super) fn close(
        &mut self,
        identity: Option<CallId>,
        end: End,
    ) -> Option<(Arc<dyn AuditSink>, Late)> {
        self.0.has_landed = true;
        let verdicts = std::mem::take(&mut self.0.verdicts);
        let late = |identity| self.late(identity, verdicts, Some(end));
        match self.0.gate.audit() {
            Audit::Off => None,
            Audit::BestEffort(buffer) => {
                buffer.push(Entry::Late(Box::new(late(identity?))));
                None
            }
            Audit::Required(sink) => Some((Arc::clone(sink), late(identity?))),
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.0.has_landed {
            return;
        }
        let error = dropped();
        telemetry::decided(&self.0.prepared.span, &self.0.verdicts);
        self.0.prepared.ended(Some(&error));
        let Some(identity) = self.0.prepared.cx.identity().cloned() else {
            return;
        };
        let verdicts = std::mem::take(&mut self.0.verdicts);
        let mut end = End::failed(&error, env::elapsed(self.0.prepared.since));
        if self.may_come_again() {
            end = end.open();
        }
        match self.0.gate.audit() {
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
                // A drain that begins now waits for this row too.
                let counted = self.0.gate.begin_write();
                let gate = self.0.gate.clone();
                env::spawn(async move {
                    record::ended(&gate, &sink, late).await;
                    drop(counted);
                });
            }
        }
    }
}
