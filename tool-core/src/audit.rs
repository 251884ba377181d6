//! The audit log: how it is written, and the rows of calls and of operators' actions.

use std::fmt;
use std::sync::Arc;

use crate::store::shield;
use crate::store::{AuditRow, AuditSink, StoreError};

mod buffer;
mod form;
mod row;

pub use buffer::AuditBuffer;
pub(crate) use buffer::Entry;
pub(crate) use form::blind;
pub(crate) use row::{End, Late, Verdicts, arrived};

/// How the host writes its audit log.
///
/// ```
/// use tool_core::Audit;
/// use tool_core::store::MemoryStore;
///
/// let audit = Audit::best_effort(MemoryStore::default());
/// assert!(audit.buffer().is_some());
/// ```
#[derive(Clone, Default)]
pub enum Audit {
    /// No rows are written.
    #[default]
    Off,
    /// Rows are buffered and written soon after the call. If the sink is slower than the calls, new calls wait for it. While the sink
    /// fails, calls do not wait: at least the newest 500 rows are kept, and dropped rows are counted and logged as a warning.
    BestEffort(AuditBuffer),
    /// A row is committed before the tool's body runs; if that fails, the call is refused. If the call also needs a row in the effect ledger, one
    /// transaction writes both rows if audit and ledger share a database ([`AuditSink::journal`]); otherwise the audit row is written first.
    Required(Arc<dyn AuditSink>),
}

impl Audit {
    /// Creates an audit that buffers rows for a sink. At the end of the program, call [`AuditBuffer::flush`] or `Gate::drain` to write them.
    pub fn best_effort(sink: impl AuditSink) -> Self {
        Self::BestEffort(AuditBuffer::new(Arc::new(sink)))
    }

    /// Creates an audit that commits the row of a call before the tool's body runs, and refuses the call if the commit fails.
    pub fn required(sink: impl AuditSink) -> Self {
        Self::Required(Arc::new(sink))
    }

    /// Turns panics of the sink into errors. Only the required sink is wrapped here: a buffer wraps its own sink.
    pub(crate) fn shielded(self) -> Self {
        match self {
            Self::Required(sink) => Self::Required(shield::sink(sink)),
            audit @ (Self::Off | Self::BestEffort(_)) => audit,
        }
    }

    /// Returns the buffer of a best-effort audit.
    pub fn buffer(&self) -> Option<&AuditBuffer> {
        match self {
            Self::BestEffort(buffer) => Some(buffer),
            Self::Off | Self::Required(_) => None,
        }
    }

    /// Writes a row about an operator's action. Fails if the audit is required and its sink fails.
    pub(crate) async fn note(&self, row: AuditRow) -> Result<(), StoreError> {
        match self {
            Self::Off => {}
            Self::BestEffort(buffer) => buffer.push(Entry::Row(Box::new(row))),
            Self::Required(sink) => sink.write(vec![row]).await?,
        }
        Ok(())
    }

    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "Off",
            Self::BestEffort(_) => "BestEffort",
            Self::Required(_) => "Required",
        })
    }
}
