//! Progress and change notifications of a server, observed at the transport.
//!
//! rmcp delivers notifications to the client's handler in separate tasks, in no particular order, and the handler belongs to the host. This module
//! therefore observes the messages between transport and service, in the order in which the transport receives them, so that progress is observed
//! before the result that follows it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetMeta as _, JsonRpcMessage, ProgressNotificationParam, ProgressToken,
    RequestMetaObject, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, watch};

/// Maximum number of queued progress steps for a slow reader. Further steps are dropped, which MCP allows.
const WAITING: usize = 64;

/// Marks a call until its request is written; the mark is never sent.
const MARK: &str = "tool-mcp/ear";

/// Observes the notifications of one connection.
#[derive(Clone, Debug)]
pub(crate) struct NotificationObserver(Arc<ObservedState>);

#[derive(Debug)]
struct ObservedState {
    calls: Mutex<Calls>,
    next: AtomicU64,
    /// The number of changes and possible changes of the tool list.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Calls {
    open: HashMap<u64, mpsc::Sender<ProgressNotificationParam>>,
    /// The call that each progress token belongs to. A call whose server asks questions has several tokens.
    tokens: HashMap<ProgressToken, u64>,
}

impl NotificationObserver {
    pub(crate) fn new() -> Self {
        Self(Arc::new(ObservedState {
            calls: Mutex::default(),
            next: AtomicU64::new(0),
            changes: watch::Sender::new(0),
        }))
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        // No code panics while the lock is held.
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to observe the progress of one call.
    pub(crate) fn open(&self) -> ProgressReceiver {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, steps) = mpsc::channel(WAITING);
        self.calls().open.insert(id, sender);
        ProgressReceiver {
            id,
            steps,
            ears: self.clone(),
        }
    }

    /// Returns the number of changes and possible changes of the tool list so far.
    pub(crate) fn changes(&self) -> u64 {
        *self.0.changes.borrow()
    }

    /// Counts a change of the tool list that has happened or may have happened.
    pub(crate) fn doubt(&self) {
        self.0.changes.send_modify(|changes| *changes += 1);
    }

    /// Waits until the tool list has changed more than `seen` times.
    pub(crate) async fn changed_since(&self, seen: u64) {
        // `self` contains the sender, so the channel is open.
        let _ = self.0.changes.subscribe().wait_for(|now| *now > seen).await;
    }

    /// Records the progress token of a marked call, and removes the mark.
    fn sent(&self, message: &mut TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else {
            return;
        };
        let token = request.request.get_meta().get_progress_token();
        let ClientRequest::CallToolRequest(call) = &mut request.request else {
            return;
        };
        let Some(meta) = &mut call.params.meta else {
            return;
        };
        let id = meta.0.0.remove(MARK).and_then(|id| id.as_u64());
        if meta.0.0.is_empty() {
            call.params.meta = None;
        }
        let (Some(id), Some(token)) = (id, token) else {
            return;
        };
        let mut calls = self.calls();
        if calls.open.contains_key(&id) {
            calls.tokens.insert(token, id);
        }
    }

    fn heard(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Notification(notification) = message else {
            return;
        };
        match &notification.notification {
            ServerNotification::ProgressNotification(step) => {
                let calls = self.calls();
                let call = calls.tokens.get(&step.params.progress_token);
                if let Some(sender) = call.and_then(|id| calls.open.get(id)) {
                    let _ = sender.try_send(step.params.clone());
                }
            }
            ServerNotification::ToolListChangedNotification(_) => {
                self.doubt();
            }
            _ => {}
        }
    }
}

/// Receives the progress of one call until it is dropped.
#[derive(Debug)]
pub(crate) struct ProgressReceiver {
    id: u64,
    pub(crate) steps: mpsc::Receiver<ProgressNotificationParam>,
    ears: NotificationObserver,
}

impl ProgressReceiver {
    /// Marks the call whose progress is observed.
    pub(crate) fn mark(&self, meta: &mut RequestMetaObject) {
        meta.0.0.insert(MARK.to_owned(), self.id.into());
    }
}

impl Drop for ProgressReceiver {
    fn drop(&mut self) {
        let mut calls = self.ears.calls();
        calls.open.remove(&self.id);
        calls.tokens.retain(|_, id| *id != self.id);
    }
}

/// A transport whose messages are observed.
pub(crate) struct ObservedTransport<T> {
    pub(crate) inner: T,
    pub(crate) ears: NotificationObserver,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for ObservedTransport<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.ears.sent(&mut item);
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await?;
        self.ears.heard(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
