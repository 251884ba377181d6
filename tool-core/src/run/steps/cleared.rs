//! [`Cleared`]: a call that policy and tool allow, or that a person has approved.

#[cfg(feature = "host")]
use std::sync::Arc;

use super::judged::Judged;
use super::{Held, Left};
use crate::run::judge::{Allowed, Says};
use crate::run::{Prepared, check_variables};

#[cfg(feature = "host")]
use super::found::{Asking, RecordStores};
#[cfg(feature = "host")]
use super::{Flight, Parts, Why};
#[cfg(feature = "host")]
use crate::error::{ErrorKind, ToolError};
#[cfg(feature = "host")]
use crate::gate::approval::{Approvals, Grant};
#[cfg(feature = "host")]
use crate::gate::host::{Entered, Ledger};
#[cfg(feature = "host")]
use crate::limits::{LimitGuard, SharedLimitGuard, SharedLimits};
#[cfg(feature = "host")]
use crate::run::ask::{self, Approved, Asked};
#[cfg(feature = "host")]
use crate::run::judge::Judgement;
#[cfg(feature = "host")]
use crate::run::{claim, record};
#[cfg(feature = "host")]
use crate::store::AuditSink;

/// A call that may run as soon as its rows are written.
pub(in crate::run) struct Cleared<H: Held> {
    held: H,
    guards: H::Guards,
    duty: H::Duty,
}

/// Why a call may run.
enum Grounds {
    Allowed(Allowed),
    #[cfg(feature = "host")]
    Approved(Approved),
}

/// Proof that no row has to be written before the body runs. Only this file creates it.
pub(in crate::run) struct Nothing(());

impl Judged<'_, Prepared> {
    /// Clears the call or refuses it. Without a gate, no person can be asked.
    #[inline]
    pub(in crate::run) fn clear(self) -> Result<Cleared<Prepared>, Left<Prepared>> {
        let (held, (), judgement) = self.take();
        if judgement.says() == Says::Deny {
            return Err(Left::refused(held, (), judgement.denial()));
        }
        if let Err(error) = check_variables(held.tool(), held.context()) {
            return Err(Left::refused(held, (), error));
        }
        match judgement.allowed() {
            Some(allowed) => Ok(Cleared::new(held, (), Grounds::Allowed(allowed))),
            None => Err(Left::refused(held, (), judgement.unanswered())),
        }
    }
}

impl Cleared<Prepared> {
    #[inline]
    fn new(held: Prepared, guards: (), _: Grounds) -> Self {
        Self {
            held,
            guards,
            duty: Nothing(()),
        }
    }
}

impl<H: Held> Cleared<H> {
    #[inline]
    pub(super) fn take(self) -> (H, H::Guards, H::Duty) {
        (self.held, self.guards, self.duty)
    }
}

/// Guards that count a call behind a gate.
#[cfg(feature = "host")]
pub(in crate::run) struct Guards {
    /// Counts the call as running until its end is recorded; [`Gate::drain`](crate::Gate::drain) waits for it.
    #[expect(dead_code, reason = "kept until it is dropped, not read")]
    running: Option<Entered>,
    /// Counts the call towards the limits until its body has ended.
    limits: Counted,
}

/// The limits that count a call. One enum is smaller than two optional guards, and a call moves its guards several times.
#[cfg(feature = "host")]
enum Counted {
    Nowhere,
    /// The call counts towards the limits of the gate.
    Here(#[expect(dead_code, reason = "kept until it is dropped, not read")] LimitGuard),
    /// The call counts towards the shared limits and, if the gate has limits, towards these too.
    Shared(Box<(SharedLimitGuard, Self)>),
}

#[cfg(feature = "host")]
impl Guards {
    /// Creates the guards of a call that is refused before it is counted.
    #[inline]
    pub(super) fn none() -> Self {
        Self {
            running: None,
            limits: Counted::Nowhere,
        }
    }

    /// Stops counting the call towards the limits, because its body has ended.
    pub(super) fn body_ended(&mut self) {
        self.limits = Counted::Nowhere;
    }

    /// Counts the call towards the shared limits too.
    fn share(&mut self, shared: SharedLimitGuard) {
        let limits = std::mem::replace(&mut self.limits, Counted::Nowhere);
        self.limits = Counted::Shared(Box::new((shared, limits)));
    }

    /// Stops counting the call towards the limits, because its body does not begin.
    pub(super) async fn body_is_left_out(&mut self) {
        if let Counted::Shared(both) = std::mem::replace(&mut self.limits, Counted::Nowhere) {
            let (shared, _limits) = *both;
            shared.give_back().await;
        }
    }
}

/// The rows that must be written before a body runs.
#[cfg(feature = "host")]
pub(in crate::run) enum Duty {
    Nothing(Nothing),
    Write(Box<Writing>),
}

/// The stores to which rows are written before a body runs.
#[cfg(feature = "host")]
pub(in crate::run) enum Writing {
    Audit(Arc<dyn AuditSink>),
    Ledger(Ledger),
    /// The ledger writes the audit row too, in one transaction.
    Both(Ledger),
    /// The audit row is written to a different database than the ledger's row.
    Apart(Ledger, Arc<dyn AuditSink>),
}

/// The state of a judged call after every step that does not wait.
#[cfg(feature = "host")]
pub(in crate::run) enum Clearing<'t> {
    Cleared(Cleared<Flight>),
    Asks(Box<Asks<'t>>),
}

/// A judged call, before or after it is counted towards the shared limits.
#[cfg(feature = "host")]
pub(in crate::run) enum Counting<'t> {
    Counted(Clearing<'t>),
    Counts(Box<Counts<'t>>),
}

/// A call that has to be counted towards the shared limits.
#[cfg(feature = "host")]
pub(in crate::run) struct Counts<'t> {
    held: Flight,
    guards: Guards,
    parts: Parts<'t>,
    limits: &'t SharedLimits,
    judgement: Judgement,
    grant: Option<Box<Grant>>,
}

/// A call that needs the approvals: to ask a person, to use its approval, or to withdraw its approval because the call is denied.
#[cfg(feature = "host")]
pub(in crate::run) struct Asks<'t> {
    held: Flight,
    guards: Guards,
    parts: Parts<'t>,
    approvals: &'t Approvals,
    judgement: Judgement,
    grant: Option<Box<Grant>>,
}

/// The answer of a person that lets a call continue.
#[cfg(feature = "host")]
pub(in crate::run) enum Answered {
    Cleared(Cleared<Flight>),
    /// The approver edited the arguments, so the call continues with the edited arguments. This step has not used the approval.
    Edited(Flight, Box<Grant>),
}

#[cfg(feature = "host")]
impl<'t> Judged<'t, Flight> {
    /// Clears or refuses the call. Returns it as [`Asks`] if it needs the approvals, and as [`Counts`] if shared limits cover it. `grant` is the
    /// approval that the call has.
    #[inline]
    pub(in crate::run) fn clear(
        self,
        grant: Option<Box<Grant>>,
    ) -> Result<Counting<'t>, Left<Flight>> {
        let (held, parts, judgement) = self.take();
        // Enter the gate before an approval is used up: a call that is refused here can be dispatched again.
        let Some(running) = parts.gate.enter(held.context()) else {
            let error = ToolError::of(
                ErrorKind::Unavailable,
                "the host is shutting down and accepts no more calls, try again later",
            );
            return Err(Left::refused(held, Guards::none(), error));
        };
        let mut guards = Guards {
            running: Some(running),
            limits: Counted::Nowhere,
        };
        if judgement.says() != Says::Deny {
            let checked = check_variables(held.prepared().tool(), held.context());
            let counted = checked.and_then(|()| {
                let limits = parts.gate.limits();
                limits
                    .map(|limits| limits.enter(held.context(), held.prepared().tool()))
                    .transpose()
            });
            match counted {
                Ok(counted) => guards.limits = counted.map_or(Counted::Nowhere, Counted::Here),
                Err(error) => return Err(Left::refused(held, guards, error)),
            }
            let limits = parts.gate.shared_limits();
            let limits = limits.filter(|limits| limits.covers(held.prepared().tool()));
            if let Some(limits) = limits
                && !ask::only_asks(held.context())
            {
                return Ok(Counting::Counts(Box::new(Counts {
                    held,
                    guards,
                    parts,
                    limits,
                    judgement,
                    grant,
                })));
            }
        }
        let counted = counted(held, guards, parts, judgement, grant)?;
        Ok(Counting::Counted(counted))
    }
}

#[cfg(feature = "host")]
impl<'t> Counts<'t> {
    /// Counts the call, and clears or refuses it.
    pub(in crate::run) async fn count(self) -> Result<Clearing<'t>, Left<Flight>> {
        // Locals are dropped in reverse order: a call that is dropped here counts as running until `held` has begun the write of its row.
        let Self {
            mut guards,
            held,
            parts,
            limits,
            judgement,
            grant,
        } = self;
        let cx = held.context();
        let deadline = cx.deadline();
        let taken = async { Ok(limits.enter(cx, held.prepared().tool()).await) };
        match record::in_time(deadline, taken).await {
            Ok(Ok(shared)) => guards.share(shared),
            Ok(Err(error)) | Err(error) => {
                let error = limits.refusal(error, cx);
                return Err(Left::undecided(held, guards, error));
            }
        }
        counted(held, guards, parts, judgement, grant)
    }
}

/// Clears or refuses a call that is counted towards all limits or denied, or returns it as [`Asks`] if it needs the approvals.
#[cfg(feature = "host")]
#[inline]
fn counted(
    held: Flight,
    guards: Guards,
    parts: Parts<'_>,
    judgement: Judgement,
    grant: Option<Box<Grant>>,
) -> Result<Clearing<'_>, Left<Flight>> {
    if grant.is_none()
        && let Some(allowed) = judgement.allowed()
    {
        if ask::only_asks(held.context()) {
            return Err(Left::refused(held, guards, ask::held_back()));
        }
        let cleared = Cleared::at_gate(held, guards, &parts, Grounds::Allowed(allowed));
        return Ok(Clearing::Cleared(cleared));
    }
    match parts.asking {
        Asking::Approvals(approvals) => Ok(Clearing::Asks(Box::new(Asks {
            held: held.asking(),
            guards,
            parts,
            approvals,
            judgement,
            grant,
        }))),
        Asking::Nobody => {
            let error = if judgement.says() == Says::Deny {
                judgement.denial()
            } else {
                judgement.unanswered().operator(
                        "the gate has no approvals, so the call cannot be approved: use `Gate::builder().approvals(…)`",
                    )
            };
            Err(Left::refused(held, guards, error))
        }
    }
}

#[cfg(feature = "host")]
impl Asks<'_> {
    /// Asks a person, or uses the approval that the call has. A denied call is refused, and its approval is withdrawn.
    pub(in crate::run) async fn ask(self) -> Result<Answered, Left<Flight>> {
        // Locals are dropped in reverse order: a call that is dropped here counts as running until `held` has begun the write of its row.
        let Self {
            guards,
            mut held,
            parts,
            approvals,
            judgement,
            grant,
        } = self;
        if judgement.says() == Says::Deny {
            let withdrawn = match &grant {
                Some(grant) => {
                    let withdrawn = ask::withdraw(approvals, grant);
                    record::in_time(held.context().deadline(), withdrawn).await
                }
                None => Ok(()),
            };
            return Err(match withdrawn {
                Ok(()) => Left::refused(held, guards, judgement.denial()),
                Err(error) => Left::undecided(held, guards, error),
            });
        }
        let deadline = held.context().deadline();
        let asked = ask::pass(parts.gate, approvals, held.prepared(), &judgement, grant);
        let asked = record::in_time(deadline, asked).await;
        let why = match asked {
            Ok(Asked::Approved(approved)) => {
                let grounds = Grounds::Approved(approved);
                let cleared = Cleared::at_gate(held, guards, &parts, grounds);
                return Ok(Answered::Cleared(cleared));
            }
            Ok(Asked::Edited(grant)) => return Ok(Answered::Edited(held, grant)),
            Ok(Asked::Used { id }) => {
                held.approved(id, None);
                match held.context().idempotency_key() {
                    Some(key) => {
                        let replayed = claim::replayed(parts.gate, &key);
                        match record::in_time(deadline, replayed).await {
                            Ok(before) => Why::Before(before),
                            Err(error) => return Err(Left::undecided(held, guards, error)),
                        }
                    }
                    None => Why::Refused(ToolError::new("the call has no identity")),
                }
            }
            Ok(Asked::Before(before)) => Why::Before(before),
            Ok(Asked::Waits(ticket)) => Why::Waits(ticket),
            Err(error) => return Err(Left::undecided(held, guards, error)),
        };
        Err(Left::why(held, guards, why))
    }
}

#[cfg(feature = "host")]
impl Cleared<Flight> {
    #[inline]
    fn at_gate(mut held: Flight, guards: Guards, parts: &Parts<'_>, grounds: Grounds) -> Self {
        let is_approved = match grounds {
            Grounds::Allowed(_) => false,
            Grounds::Approved(approved) => {
                let (id, by) = approved.into_names();
                held.approved(id, Some(by));
                true
            }
        };
        // A call that may run any number of times needs no row in the ledger unless a person has approved a single run.
        let has_row = is_approved || !held.prepared().tool().may_always_run_again();
        let duty = match parts.books {
            RecordStores::Nothing => Duty::Nothing(Nothing(())),
            RecordStores::Ledger(_) if !has_row => Duty::Nothing(Nothing(())),
            RecordStores::Audit(sink) => Duty::Write(Box::new(Writing::Audit(Arc::clone(sink)))),
            RecordStores::Both(_, sink) if !has_row => {
                Duty::Write(Box::new(Writing::Audit(Arc::clone(sink))))
            }
            RecordStores::Ledger(ledger) => Duty::Write(Box::new(Writing::Ledger(ledger.clone()))),
            RecordStores::Both(ledger, sink) => {
                Duty::Write(Box::new(if parts.gate.journal().is_some() {
                    Writing::Both(ledger.clone())
                } else {
                    Writing::Apart(ledger.clone(), Arc::clone(sink))
                }))
            }
        };
        Self { held, guards, duty }
    }
}
