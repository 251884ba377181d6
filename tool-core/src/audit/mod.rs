//! One row for each call, whatever the tool does.

use std::fmt;
use std::sync::Arc;

use crate::store::{AuditRow, AuditSink, StoreError};

mod buffer;
mod form;
mod row;

pub use buffer::AuditBuffer;
pub(crate) use buffer::Entry;
pub(crate) use form::blind;
pub(crate) use row::{End, Late, Verdicts, arrived};

/// How a host keeps its audit.
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
    /// Not at all.
    #[default]
    Off,
    /// Rows are buffered and written soon after the call. Calls wait for a sink that is slower than they are. While it fails, they do not wait:
    /// at least the newest 500 rows are kept, and the loss is counted and warned of.
    BestEffort(AuditBuffer),
    /// A row is committed before the body runs; if that fails, the call is refused. Where the tool has effects and the ledger is a part
    /// of the same database ([`AuditSink::journal`]), one transaction writes the row and the ledger's intent. Otherwise the row is
    /// written first, and the intent after it.
    Required(Arc<dyn AuditSink>),
}

impl Audit {
    /// Buffers rows for a sink. Flush at the end of the program: [`AuditBuffer::flush`], or `Gate::drain`.
    pub fn best_effort(sink: impl AuditSink) -> Self {
        Self::BestEffort(AuditBuffer::new(Arc::new(sink)))
    }

    /// Commits every row before the call runs.
    pub fn required(sink: impl AuditSink) -> Self {
        Self::Required(Arc::new(sink))
    }

    /// The buffer, where rows are buffered.
    pub fn buffer(&self) -> Option<&AuditBuffer> {
        match self {
            Self::BestEffort(buffer) => Some(buffer),
            Self::Off | Self::Required(_) => None,
        }
    }

    /// Writes what an operator has done. Fails where the audit is required and its sink does.
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
