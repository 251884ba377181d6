//! Where a turn wants the result of a call stored.

use std::sync::{Arc, OnceLock};

use super::ToolContext;
use crate::call::CallResult;
use crate::store::{CallId, Journal, Message, NewMessage};

/// A turn's offer to have the result of one call stored with the end of the call, in one transaction.
pub(crate) struct Filing {
    call: CallId,
    journal: Journal,
    message: MakeMessage,
    stored: OnceLock<Message>,
}

/// Makes the message of a result; `None` for a result that the thread does not keep.
type MakeMessage = Box<dyn Fn(&CallResult) -> Option<NewMessage> + Send + Sync>;

impl Filing {
    pub(crate) fn new(
        call: CallId,
        journal: Journal,
        message: impl Fn(&CallResult) -> Option<NewMessage> + Send + Sync + 'static,
    ) -> Self {
        Self {
            call,
            journal,
            message: Box::new(message),
            stored: OnceLock::new(),
        }
    }

    /// The message of a result.
    pub(crate) fn message(&self, result: &CallResult) -> Option<NewMessage> {
        (self.message)(result)
    }

    /// Notes that the message is stored, under a sequence number.
    pub(crate) fn note(&self, message: NewMessage, seq: u64) {
        // A call lands once.
        let _ = self.stored.set(message.numbered(seq));
    }

    /// The message, where it was stored with the end of the call.
    pub(crate) fn stored(&self) -> Option<&Message> {
        self.stored.get()
    }
}

impl ToolContext {
    /// The same caller, for a call whose result a turn wants stored.
    pub(crate) fn with_filing(mut self, filing: Arc<Filing>) -> Self {
        Arc::make_mut(&mut self.host).filing = Some(filing);
        self
    }

    /// The filing of a call that writes to a journal. Calls that a tool makes share the context of its call, and have none.
    pub(crate) fn filing(&self, call: &CallId, journal: &Journal) -> Option<&Arc<Filing>> {
        let filing = self.host.filing.as_ref()?;
        (filing.call == *call && filing.journal == *journal).then_some(filing)
    }
}
