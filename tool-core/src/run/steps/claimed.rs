//! [`Claimed`]: everything that has to be written down before the body is written.

use super::cleared::Nothing;
use super::{Cleared, Held};
use crate::run::Prepared;

#[cfg(feature = "host")]
use super::cleared::{Duty, Guards, Writing};
#[cfg(feature = "host")]
use super::{Flight, Left, Why};
#[cfg(feature = "host")]
use crate::run::claim::{self, Begun, Claim};
#[cfg(feature = "host")]
use crate::run::record::{self, Audited};

/// A call that may run now, and nowhere else.
pub(in crate::run) struct Claimed<H: Held> {
    held: H,
    guards: H::Guards,
    record: Record,
}

/// Evidence of what is written down about a call.
pub(in crate::run) enum Record {
    /// Nothing had to be.
    Nothing(Nothing),
    /// The ledger's row, with the audit's row where that is required.
    #[cfg(feature = "host")]
    Row(Box<Claim>),
    /// The audit's row.
    #[cfg(feature = "host")]
    Audited(Audited),
}

impl Cleared<Prepared> {
    /// A host without a gate writes nothing down.
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

/// A cleared call that has to be written down.
#[cfg(feature = "host")]
pub(in crate::run) struct Unwritten {
    held: Flight,
    guards: Guards,
    writing: Box<Writing>,
}

#[cfg(feature = "host")]
impl Cleared<Flight> {
    /// The claim of a call about which nothing is to be written down; otherwise what is to be written.
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
    /// The call, for the result of one whose task is lost.
    pub(in crate::run) fn flight(&self) -> &Flight {
        &self.held
    }

    /// Writes the rows. The caller must poll this to its end: a row whose claim is lost cannot be ended.
    pub(in crate::run) async fn claim(self: Box<Self>) -> Result<Claimed<Flight>, Left<Flight>> {
        let Self {
            held,
            guards,
            writing,
        } = *self;
        let (ledger, audit) = match *writing {
            Writing::Audit(sink) => {
                let written = match held.open_row() {
                    Some(row) => record::required(&sink, row, held.context().deadline()).await,
                    None => Err(record::unwritten("the call has no identity".to_owned())),
                };
                return match written {
                    Ok(audited) => Ok(Claimed {
                        held,
                        guards,
                        record: Record::Audited(audited),
                    }),
                    Err(error) => Err(Left::why(held, guards, Why::Refused(error))),
                };
            }
            Writing::Ledger(ledger) => (ledger, None),
            Writing::Both(ledger) => (ledger, held.open_row()),
        };
        let why = match claim::claim(held.gate(), &ledger, held.prepared(), audit).await {
            Ok(Begun::New(claim)) => {
                return Ok(Claimed {
                    held,
                    guards,
                    record: Record::Row(Box::new(claim)),
                });
            }
            Ok(Begun::Before(before)) => Why::Before(before),
            Ok(Begun::Foreign(error)) => Why::Foreign(error),
            Err(error) => return Err(Left::undecided(held, guards, error)),
        };
        Err(Left::why(held, guards, why))
    }
}

impl<H: Held> Claimed<H> {
    /// The state of a call whose run has failed and may be made again. Only [`Running::again`](super::Running::again) has the parts.
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
