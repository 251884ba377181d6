//! Notification of clients when their list of tools changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::service::{Peer, RoleServer, SubscriptionSink};

/// All clients that subscribe to changes of the tool list.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    next: u64,
    all: Vec<(u64, Listener)>,
}

#[derive(Clone)]
enum Listener {
    /// A session of the legacy protocol.
    Session(Peer<RoleServer>),
    /// A `subscriptions/listen` request of the 2026-07-28 protocol.
    Subscription(SubscriptionSink),
}

/// Guard that removes its subscription from the list when it is dropped.
pub(crate) struct Subscribed {
    listeners: Listeners,
    id: u64,
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.listeners.table().all.retain(|(id, _)| *id != self.id);
    }
}

impl Listeners {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn session(&self, peer: Peer<RoleServer>) {
        self.table().add(Listener::Session(peer));
    }

    pub(crate) fn subscription(&self, sink: SubscriptionSink) -> Subscribed {
        Subscribed {
            id: self.table().add(Listener::Subscription(sink)),
            listeners: self.clone(),
        }
    }

    /// Notifies all listeners, and removes closed sessions.
    pub(crate) async fn notify(&self) {
        let all = self.table().open().to_vec();
        // Notify them concurrently, so that a client that does not read does not delay the others.
        futures::future::join_all(all.iter().map(|(_, listener)| listener.notify())).await;
    }
}

impl Table {
    fn open(&mut self) -> &[(u64, Listener)] {
        self.all.retain(|(_, listener)| !listener.is_closed());
        &self.all
    }

    fn add(&mut self, listener: Listener) -> u64 {
        self.open();
        self.next += 1;
        self.all.push((self.next, listener));
        self.next
    }
}

impl Listener {
    /// Returns whether a session has ended. Subscriptions are removed by their guard instead.
    fn is_closed(&self) -> bool {
        matches!(self, Self::Session(peer) if peer.is_transport_closed())
    }

    async fn notify(&self) {
        let told = match self {
            Self::Session(peer) => {
                let told = peer.notify_tool_list_changed().await;
                told.map_err(|error| error.to_string())
            }
            Self::Subscription(sink) => {
                let told = sink.notify_tool_list_changed().await;
                told.map_err(|error| error.to_string())
            }
        };
        if let Err(error) = told {
            tracing::debug!(%error, "a client could not be notified that its tools have changed");
        }
    }
}
