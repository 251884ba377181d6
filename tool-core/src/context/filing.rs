//! Storing the result of a call in the thread together with the end of the call.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use futures::channel::oneshot;
use futures::future::{BoxFuture, Shared};

use super::ToolContext;
use crate::call::CallResult;
use crate::env;
use crate::store::{CallId, Journal, Message, NewMessage, RunFence};

/// A turn's request to store the result of one call with the end of the call, in one transaction.
pub(crate) struct Filing {
    call: CallId,
    journal: Journal,
    message: MakeMessage,
    stored: OnceLock<Message>,
    /// Sends the end of a read-only call to the turn, which writes it while the next call is recorded.
    defer: Mutex<Option<oneshot::Sender<Deferred>>>,
    behind: Option<Behind>,
    fence: Option<RunFence>,
}

/// A future that is ready when the results of the preceding calls are stored. It returns an error if they cannot be stored.
pub(crate) type Behind = Shared<oneshot::Receiver<()>>;

/// The pending write of a read-only call's end. The turn polls it. If it is dropped before it has ended, it continues in the background.
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

/// Builds the message of a result; `None` for a result that is not stored in the thread.
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
            fence: None,
        }
    }

    /// Sets the condition for storing the result with the end of the call.
    pub(crate) fn fenced(mut self, fence: Option<RunFence>) -> Self {
        self.fence = fence;
        self
    }

    /// Returns the condition for storing the result.
    pub(crate) fn fence(&self) -> Option<RunFence> {
        self.fence.clone()
    }

    /// Makes the call pass the write of its end to the turn. The returned receiver gets the write.
    pub(crate) fn deferred(mut self) -> (Self, oneshot::Receiver<Deferred>) {
        let (sender, receiver) = oneshot::channel();
        self.defer = Mutex::new(Some(sender));
        (self, receiver)
    }

    /// Delays the body until the results of the preceding calls are stored.
    pub(crate) fn behind(mut self, behind: Option<Behind>) -> Self {
        self.behind = behind;
        self
    }

    /// Returns whether the turn takes over the write of a read-only call's end.
    pub(crate) fn defers(&self) -> bool {
        let defer = self.defer.lock().unwrap_or_else(PoisonError::into_inner);
        defer.is_some()
    }

    /// Passes the write of a read-only call's end to the turn. If the turn has ended or does not take over the write, it runs in the background.
    pub(crate) fn defer(&self, write: BoxFuture<'static, ()>) {
        let write = Deferred(Some(write));
        let defer = self
            .defer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(turn) = defer {
            // If the turn has ended, `send` returns the write, and dropping it runs it in the background.
            drop(turn.send(write));
        }
    }

    /// Builds the message of a result.
    pub(crate) fn message(&self, result: &CallResult) -> Option<NewMessage> {
        (self.message)(result)
    }

    /// Records that the message is stored, with its sequence number.
    pub(crate) fn note(&self, message: NewMessage, seq: u64) {
        // The end of a call is stored only once, so the cell is empty.
        let _ = self.stored.set(message.numbered(seq));
    }

    /// Returns the message, if it was stored with the end of the call.
    pub(crate) fn stored(&self) -> Option<&Message> {
        self.stored.get()
    }
}

impl ToolContext {
    /// Returns the same context, for a call whose result the turn stores.
    pub(crate) fn with_filing(&self, filing: Arc<Filing>) -> Self {
        self.with_host(|host| host.filing = Some(filing))
    }

    /// Returns the future that the body of this call has to wait for.
    pub(crate) fn behind(&self) -> Option<Behind> {
        let filing = self.host().filing.as_ref()?;
        let is_own = self.identity() == Some(&filing.call);
        is_own.then(|| filing.behind.clone())?
    }

    /// Returns the filing of `call`, if it stores the result in `journal`. A nested call shares the context of its outer call, but has no filing.
    pub(crate) fn filing(&self, call: &CallId, journal: &Journal) -> Option<&Arc<Filing>> {
        let filing = self.host().filing.as_ref()?;
        (filing.call == *call && filing.journal == *journal).then_some(filing)
    }
}
