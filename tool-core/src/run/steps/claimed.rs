//! [`Claimed`]: a call whose required rows are written, so that its body may run.

#[cfg(feature = "host")]
use std::sync::Arc;

use super::cleared::Nothing;
use super::{Cleared, Held};
use crate::run::Prepared;

#[cfg(feature = "host")]
use super::cleared::{Duty, Guards, Writing};
#[cfg(feature = "host")]
use super::{Flight, Left, Why};
#[cfg(feature = "host")]
use crate::error::{ErrorKind, ToolError};
#[cfg(feature = "host")]
use crate::run::claim::{self, Begun, Claim, Known, Trail};
#[cfg(feature = "host")]
use crate::run::record::{self, Audited};
#[cfg(feature = "host")]
use crate::store::{AuditRow, AuditSink};

/// A call that may run now, in this run only.
pub(in crate::run) struct Claimed<H: Held> {
    held: H,
    guards: H::Guards,
    record: Record,
}

/// Proof of the rows that are written for a call.
pub(in crate::run) enum Record {
    /// No row was required.
    Nothing(Nothing),
    /// The ledger's row, and the audit row if one is required.
    #[cfg(feature = "host")]
    Row(Box<Claim>),
    /// The audit row, for a call without a ledger row.
    #[cfg(feature = "host")]
    Audited(Audited),
}

impl Cleared<Prepared> {
    /// Claims a call of a host without a gate. Such a host writes no rows.
    #[inline]
    pub(in crate::run) fn claim(self) -> Claimed<Prepared> {
        let (held, guards, nothing) = self.take();
        Claimed {
            held,
            guards,
            record: Record::Nothing(nothing),
        }
    }
}

/// A cleared call whose rows are not written yet.
#[cfg(feature = "host")]
pub(in crate::run) struct Unwritten {
    held: Flight,
    guards: Guards,
    writing: Box<Writing>,
}

#[cfg(feature = "host")]
impl Cleared<Flight> {
    /// Claims a call that needs no rows. A call that needs rows is returned as [`Unwritten`].
    #[inline]
    pub(in crate::run) fn claim(self) -> Result<Claimed<Flight>, Box<Unwritten>> {
        let (held, guards, duty) = self.take();
        match duty {
            Duty::Nothing(nothing) => Ok(Claimed {
                held,
                guards,
                record: Record::Nothing(nothing),
            }),
            Duty::Write(writing) => Err(Box::new(Unwritten {
                held,
                guards,
                writing,
            })),
        }
    }
}

#[cfg(feature = "host")]
impl Unwritten {
    /// Returns the call, to build its result if the task is lost.
    pub(in crate::run) fn flight(&self) -> &Flight {
        &self.held
    }

    /// Writes the rows. The caller must poll this to its end: a row whose claim is lost cannot be ended.
    pub(in crate::run) async fn claim(self: Box<Self>) -> Result<Claimed<Flight>, Left<Flight>> {
        let Self {
            mut held,
            guards,
            writing,
        } = *self;
        let mut sink_apart = None;
        let (ledger, trail) = match *writing {
            Writing::Audit(sink) => {
                return match audited(&held, &sink).await {
                    Ok(audited) => Ok(Claimed {
                        held,
                        guards,
                        record: Record::Audited(audited),
                    }),
                    Err(error) => Err(Left::why(held, guards, Why::Refused(error))),
                };
            }
            Writing::Ledger(ledger) => (ledger, Trail::Nothing),
            Writing::Both(ledger) => {
                let row = held.open_row();
                (
                    ledger,
                    row.map_or(Trail::Nothing, |row| Trail::Together(Box::new(row))),
                )
            }
            Writing::Apart(ledger, sink) => {
                let known = claim::known(held.gate(), &ledger, held.prepared());
                match record::in_time(held.context().deadline(), known).await {
                    Ok(None) => {}
                    Ok(Some(known)) => return Err(Left::why(held, guards, known.into())),
                    Err(error) => return Err(Left::undecided(held, guards, error)),
                }
                // The audit row is written before the claim, so that a sink that fails leaves no running row in the ledger.
                match audited(&held, &sink).await {
                    Ok(audited) => {
                        sink_apart = Some(sink);
                        (ledger, Trail::Apart(audited))
                    }
                    Err(error) if held.verdicts().approval.is_none() => {
                        return Err(Left::why(held, guards, Why::Refused(error)));
                    }
                    // The approval is used up and can still begin the call, so no result may report that the call was not run.
                    Err(error) => {
                        let error = record::unwritten(error.operator_text());
                        return Err(Left::undecided(held, guards, error));
                    }
                }
            }
        };
        let closed = |error: &ToolError| held.closed_row(error);
        match claim::claim(held.gate(), &ledger, held.prepared(), trail, closed).await {
            Ok(Begun::New(claim)) => Ok(Claimed {
                held,
                guards,
                record: Record::Row(Box::new(claim)),
            }),
            Ok(Begun::Again(claim, attempt, operator)) => {
                let error = ToolError::of(
                    ErrorKind::Interrupted,
                    "an operator has allowed the call to run again",
                );
                let before = held.closed_row(&error);
                held.runs_as(attempt, operator);
                // The number of the attempt is known only after the claim, so the other database has no row of this attempt yet.
                if let Some(sink) = sink_apart
                    && let Err(error) = audited_again(&held, &sink, before).await
                {
                    claim.give_back().await;
                    let error = record::unwritten(error.operator_text());
                    return Err(Left::undecided(held, guards, error));
                }
                Ok(Claimed {
                    held,
                    guards,
                    record: Record::Row(Box::new(claim)),
                })
            }
            Ok(Begun::Known(known)) => {
                // A concurrent run has begun the call in the meantime, or the key belongs to a different call. Therefore, the audit row that was
                // opened is closed.
                if let Some(sink) = sink_apart {
                    close_again(&held, sink).await;
                }
                Err(Left::why(held, guards, known.into()))
            }
            Err(error) => Err(Left::undecided(held, guards, error)),
        }
    }
}

/// Ends the row of a required audit that was opened for a call that does not begin. The run that did begin may write its own row later.
#[cfg(feature = "host")]
async fn close_again(held: &Flight, sink: Arc<dyn AuditSink>) {
    let error = ToolError::of(ErrorKind::Interrupted, "the call was started elsewhere");
    let Some(row) = held.closed_row(&error) else {
        return;
    };
    let write = async move {
        if let Err(error) = sink.write(vec![row]).await {
            tracing::error!(%error, "the row of a call that did not begin could not be closed in the audit");
        }
    };
    let deadline = held.context().deadline();
    record::within(held.gate(), write, deadline, Some(record::PATIENCE)).await;
}

/// Writes the row of a required audit.
#[cfg(feature = "host")]
async fn audited(held: &Flight, sink: &Arc<dyn AuditSink>) -> Result<Audited, ToolError> {
    match held.open_row() {
        Some(row) => record::required(sink, row, held.context().deadline()).await,
        None => Err(record::unwritten("the call has no identity".to_owned())),
    }
}

/// Writes the row of a later attempt, and closes the open row of the earlier attempt if the earlier attempt has no outcome.
#[cfg(feature = "host")]
async fn audited_again(
    held: &Flight,
    sink: &Arc<dyn AuditSink>,
    before: Option<AuditRow>,
) -> Result<Audited, ToolError> {
    let rows = before.into_iter().chain(held.open_row()).collect();
    record::required_all(sink, rows, held.context().deadline()).await
}

#[cfg(feature = "host")]
impl From<Known> for Why {
    fn from(known: Known) -> Self {
        match known {
            Known::Before(before) => Self::Before(before),
            Known::Foreign(error) => Self::Foreign(error),
        }
    }
}

impl<H: Held> Claimed<H> {
    /// Restores the state of a call whose run has failed and may be repeated. Only [`Running::again`](super::Running::again) can call this, because
    /// only its file creates a `Failed`.
    #[cfg(feature = "host")]
    #[inline]
    pub(super) fn back(failed: super::ran::Failed<H>) -> Self {
        let (held, guards, record) = failed.into_parts();
        Self {
            held,
            guards,
            record,
        }
    }

    #[inline]
    pub(super) fn take(self) -> (H, H::Guards, Record) {
        (self.held, self.guards, self.record)
    }
}
