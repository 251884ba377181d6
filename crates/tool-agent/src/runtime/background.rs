//! Sessions of sub-agents that run in the background of the process.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tool_core::store::ThreadId;
use tool_store::env;

/// The background work of a runtime.
#[derive(Clone)]
pub(super) struct Background {
    /// The threads whose sessions run here, so that no session is started twice in this process.
    threads: Arc<Mutex<HashSet<ThreadId>>>,
    running: Arc<watch::Sender<usize>>,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            threads: Arc::default(),
            running: Arc::new(watch::Sender::new(0)),
        }
    }
}

/// Counts a task until it is dropped.
struct Running {
    background: Background,
    thread: Option<ThreadId>,
}

impl Running {
    fn new(background: &Background, thread: Option<ThreadId>) -> Self {
        background.running.send_modify(|running| *running += 1);
        Self {
            background: background.clone(),
            thread,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = &self.thread {
            let threads = self.background.threads.lock();
            threads
                .unwrap_or_else(PoisonError::into_inner)
                .remove(thread);
        }
        self.background.running.send_modify(|running| *running -= 1);
    }
}

impl Background {
    /// Runs a session of a thread, unless one runs already.
    pub(super) fn session(
        &self,
        thread: ThreadId,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let threads = self.threads.lock();
        if !threads
            .unwrap_or_else(PoisonError::into_inner)
            .insert(thread.clone())
        {
            return;
        }
        self.run(Running::new(self, Some(thread)), work);
    }

    /// Runs other work.
    pub(super) fn work(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.run(Running::new(self, None), work);
    }

    #[expect(clippy::unused_self, reason = "the task belongs to this value")]
    fn run(&self, running: Running, work: impl Future<Output = ()> + Send + 'static) {
        let task = async move {
            work.await;
            drop(running);
        };
        if !env::spawn(task) {
            tracing::warn!(
                "a sub-agent was not started, because no Tokio runtime is active; it starts with the next drive of its parent"
            );
        }
    }

    /// Waits until no work is left.
    pub(super) async fn idle(&self) {
        let mut running = self.running.subscribe();
        // The sender is part of this value, so it is not closed.
        let _ = running.wait_for(|running| *running == 0).await;
    }
}
