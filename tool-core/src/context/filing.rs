//! Where a turn wants the result of a call stored.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use futures::channel::oneshot;
use futures::future::{BoxFuture, Shared};

use super::ToolContext;
use crate::call::CallResult;
use crate::env;
use crate::store::{CallId, Journal, Message, NewMessage};

/// A turn's offer to have the result of one call stored with the end of the call, in one transaction.
pub(crate) struct Filing {
    call: CallId,
    journal: Journal,
    message: MakeMessage,
    stored: OnceLock<Message>,
    /// Where the turn takes the end of a read, to write it while the next call is written down.
    defer: Mutex<Option<oneshot::Sender<Deferred>>>,
    behind: Option<Behind>,
}

/// Ready when the results of the calls before are stored; an error where they cannot be.
pub(crate) type Behind = Shared<oneshot::Receiver<()>>;

/// The end of a read, which its turn writes. Dropped unwritten, it is written in the background.
pub(crate) struct Deferred(Option<BoxFuture<'static, ()>>);

impl Future for Deferred {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(write) = &mut self.0 else {
            return Poll::Ready(());
        };
        let done = write.as_mut().poll(cx);
        if done.is_ready() {
            self.0 = None;
        }
        done
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        if let Some(write) = self.0.take() {
            env::spawn(write);
        }
    }
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
            defer: Mutex::new(None),
            behind: None,
        }
    }

    /// Leaves the end of a read to the turn, which receives it with the result.
    pub(crate) fn deferred(mut self) -> (Self, oneshot::Receiver<Deferred>) {
        let (sender, receiver) = oneshot::channel();
        self.defer = Mutex::new(Some(sender));
        (self, receiver)
    }

    /// Keeps the body from beginning before the results of the calls before are stored.
    pub(crate) fn behind(mut self, behind: Option<Behind>) -> Self {
        self.behind = behind;
        self
    }

    /// Whether the turn takes the end of a read.
    pub(crate) fn defers(&self) -> bool {
        let defer = self.defer.lock().unwrap_or_else(PoisonError::into_inner);
        defer.is_some()
    }

    /// Hands the end of a read to the turn. Where the turn is gone, it is written in the background.
    pub(crate) fn defer(&self, write: BoxFuture<'static, ()>) {
        let write = Deferred(Some(write));
        let defer = self
            .defer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(turn) = defer {
            // Given back where the turn is gone.
            drop(turn.send(write));
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
    pub(crate) fn with_filing(&self, filing: Arc<Filing>) -> Self {
        self.with_host(|host| host.filing = Some(filing))
    }

    /// What the body of this call has to wait for.
    pub(crate) fn behind(&self) -> Option<Behind> {
        let filing = self.host().filing.as_ref()?;
        let is_own = self.identity() == Some(&filing.call);
        is_own.then(|| filing.behind.clone())?
    }

    /// The filing of a call that writes to a journal. Calls that a tool makes share the context of its call, and have none.
    pub(crate) fn filing(&self, call: &CallId, journal: &Journal) -> Option<&Arc<Filing>> {
        let filing = self.host().filing.as_ref()?;
        (filing.call == *call && filing.journal == *journal).then_some(filing)
    }
}
