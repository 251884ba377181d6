//! What is written down about the end of a call: in one transaction where the stores are parts of one database, else one by one.

use std::sync::Arc;

use tokio::time::Instant;

use super::claim::Ending;
use super::record;
use super::steps::Flight;
use crate::audit::Late;
use crate::context::Filing;
use crate::gate::Gate;
use crate::store::{AuditSink, Batch, Journal, NewMessage};

/// The end of a call, for the stores that have to know of it.
pub(super) struct Closing {
    pub(super) gate: Gate,
    /// The end in the ledger.
    pub(super) ending: Option<Ending>,
    /// The row of a required audit.
    pub(super) audit: Option<(Arc<dyn AuditSink>, Late)>,
    /// The result in the thread. The turn stores it itself where it is not written here.
    pub(super) filed: Option<(Arc<Filing>, NewMessage)>,
}

impl Closing {
    /// The filing of a read whose turn writes its end, while the next call is written down. A crash before that repeats the read; an effect
    /// would be in doubt.
    pub(super) fn deferred(&self, flight: &Flight) -> Option<Arc<Filing>> {
        let (filing, _) = self.filed.as_ref()?;
        let reads = flight.prepared().tool().hints().read_only;
        let defers = reads && self.ending.is_none() && self.audit.is_some() && filing.defers();
        defers.then(|| Arc::clone(filing))
    }

    /// Writes everything. A journal takes the ledger, the audit and the thread.
    ///
    /// The stores are waited for until the deadline of the call, and then written in the background. The end of a row in the ledger is
    /// never given up there: without it the row becomes ambiguous.
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
            ..Batch::default()
        };
        let done = match journal.write(batch).await {
            Ok(done) => done,
            Err(error) => {
                tracing::debug!(%error, "the end of a call is written one by one, because it could not be written at once");
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

    /// Both are begun, so that one store that hangs does not keep the other from its write.
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
