//! Writing the end of a call: ledger, audit and thread in one transaction if the stores share a database, else ledger and audit separately.

use std::sync::Arc;

use tokio::time::Instant;

use super::claim::Ending;
use super::record;
use super::steps::Flight;
use crate::audit::Late;
use crate::context::Filing;
use crate::gate::Gate;
use crate::store::{AuditSink, Batch, Journal, NewMessage};

/// The end of a call, for each store that records it.
pub(super) struct Closing {
    pub(super) gate: Gate,
    /// The end of the row in the effect ledger.
    pub(super) ending: Option<Ending>,
    /// The row of a required audit, and the sink that it is written to.
    pub(super) audit: Option<(Arc<dyn AuditSink>, Late)>,
    /// The result as a message of the thread. If it is not written here, the turn stores it.
    pub(super) filed: Option<(Arc<Filing>, NewMessage)>,
}

impl Closing {
    /// Returns the filing of a read-only call, if its turn writes the call's end later, while the next call is recorded. A crash before that write repeats
    /// the read. The end of an effect is never deferred, because the effect would become ambiguous.
    pub(super) fn deferred(&self, flight: &Flight) -> Option<Arc<Filing>> {
        let (filing, _) = self.filed.as_ref()?;
        let reads = flight.prepared().tool().hints().read_only;
        let defers = reads && self.ending.is_none() && self.audit.is_some() && filing.defers();
        defers.then(|| Arc::clone(filing))
    }

    /// Writes ledger, audit and thread in one transaction if the gate has a journal and at least two of the three are to be written. Without a
    /// journal, or if the transaction fails, writes ledger and audit separately, and the turn writes the thread.
    ///
    /// Waits for the stores as [`record::within`] does; then the writes continue in the background. In the background, the write to the ledger has no
    /// time limit, because a ledger row without an end becomes ambiguous.
    pub(super) async fn write(self, deadline: Option<Instant>) {
        let gate = self.gate.clone();
        let patience = self.ending.is_none().then_some(record::PATIENCE);
        record::within(&gate, self.all(), deadline, patience).await;
    }

    async fn all(self) {
        let journal = self.gate.journal().cloned();
        let parts = [
            self.ending.is_some(),
            self.audit.is_some(),
            self.filed.is_some(),
        ];
        match journal {
            Some(journal) if parts.into_iter().filter(|part| *part).count() > 1 => {
                self.together(journal).await;
            }
            _ => self.one_by_one().await,
        }
    }

    async fn together(self, journal: Journal) {
        let batch = Batch {
            effect: self.ending.as_ref().map(Ending::effect),
            audit: self.audit.as_ref().map(|(_, late)| late.row()),
            message: self.filed.as_ref().map(|(_, message)| message.clone()),
            fence: self.filed.as_ref().and_then(|(filing, _)| filing.fence()),
            ..Batch::default()
        };
        let done = match journal.write(batch).await {
            Ok(done) => done,
            Err(error) => {
                tracing::debug!(%error, "the records of a call's end are written one by one, because their batch failed");
                return self.one_by_one().await;
            }
        };
        if let (Some((filing, message)), Some(seq)) = (self.filed, done.message) {
            filing.note(message, seq);
        }
        if let Some(ending) = self.ending {
            ending.ended(done.effect);
        }
    }

    /// Starts both writes at the same time, so that a store that hangs does not block the other one.
    async fn one_by_one(self) {
        let Self {
            gate,
            ending,
            audit,
            filed: _,
        } = self;
        let ending = async {
            if let Some(ending) = ending {
                ending.write().await;
            }
        };
        let audit = async {
            if let Some((sink, late)) = audit {
                record::ended(&gate, &sink, late).await;
            }
        };
        futures::future::join(ending, audit).await;
    }
}
