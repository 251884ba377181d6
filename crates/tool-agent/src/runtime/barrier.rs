//! A barrier before each request of a run, with which an engine in a different process decides when the next step begins.

use tokio::sync::{Mutex, Semaphore, mpsc};

/// Makes a run wait before each request to the model.
pub(crate) struct Barrier {
    arrivals: mpsc::UnboundedSender<u64>,
    arrived: Mutex<mpsc::UnboundedReceiver<u64>>,
    permits: Semaphore,
}

impl Default for Barrier {
    fn default() -> Self {
        let (arrivals, arrived) = mpsc::unbounded_channel();
        Self {
            arrivals,
            arrived: Mutex::new(arrived),
            permits: Semaphore::new(0),
        }
    }
}

impl Barrier {
    /// Waits until the run may make the next request. `last` is the sequence number of the last message of the model.
    pub(super) async fn wait(&self, last: u64) {
        // Sending cannot fail, because this value owns the receiver. The semaphore is never closed.
        let _ = self.arrivals.send(last);
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }

    /// Waits until the run waits at the barrier, and returns the sequence number of the last message of the model.
    pub(crate) async fn arrival(&self) -> u64 {
        let arrival = self.arrived.lock().await.recv().await;
        arrival.unwrap_or_default()
    }

    /// Allows the run to send one request.
    pub(crate) fn pass(&self) {
        self.permits.add_permits(1);
    }
}
