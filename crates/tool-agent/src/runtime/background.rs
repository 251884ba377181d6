//! Sessions of sub-agents that run in the background of the process.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::watch;
use tool_core::store::ThreadId;
use tool_store::env;

/// Marks a context whose run a worker drives. If the run has to wait for a time, the worker queues the
/// conversation for the end of that time.
#[derive(Clone, Debug)]
pub(crate) struct Queued;

tool_core::host_value!(Queued, tool_core::Effect::NONE);

/// The background work of a runtime.
#[derive(Clone)]
pub(super) struct Background {
    /// The threads whose sessions run in this process, so that no session is started twice.
    threads: Arc<Mutex<HashSet<ThreadId>>>,
    /// The time at which the sessions of a thread may continue, if the provider of a model requested a wait.
    rests: Arc<Mutex<HashMap<ThreadId, Instant>>>,
    running: Arc<watch::Sender<usize>>,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            threads: Arc::default(),
            rests: Arc::default(),
            running: Arc::new(watch::Sender::new(0)),
        }
    }
}

/// Counts background work until this value is dropped. The drop also ends the claim of the thread, if there is one.
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
    /// Runs the sessions of a thread, unless a task already does. `session` runs one session, and returns whether to call `session` again.
    pub(super) fn session(
        &self,
        thread: ThreadId,
        session: impl Fn() -> BoxFuture<'static, bool> + Send + Sync + 'static,
    ) {
        if !self.claim(&thread) {
            return;
        }
        let (background, running) = (self.clone(), Running::new(self, Some(thread.clone())));
        self.run(Running::new(self, None), async move {
            let mut running = Some(running);
            loop {
                let goes_on = session().await;
                drop(running.take());
                // While this task had the claim, a different task may have tried to begin a session and found the thread claimed. This task runs that
                // session, unless the thread was claimed again in the meantime.
                if !goes_on || !background.claim(&thread) {
                    return;
                }
                running = Some(Running::new(&background, Some(thread.clone())));
            }
        });
    }

    fn claim(&self, thread: &ThreadId) -> bool {
        let threads = self.threads.lock();
        threads
            .unwrap_or_else(PoisonError::into_inner)
            .insert(thread.clone())
    }

    /// Records the time before which the sessions of a thread do not continue.
    pub(super) fn rest_for(&self, thread: &ThreadId, wait: Duration) {
        let now = env::monotonic();
        let mut rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        rests.retain(|_, until| *until > now);
        if let Some(until) = now.checked_add(wait) {
            rests.insert(thread.clone(), until);
        }
    }

    /// Returns the time for which the sessions of a thread still have to wait.
    pub(super) fn rest(&self, thread: &ThreadId) -> Option<Duration> {
        let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        let left = rests
            .get(thread)?
            .saturating_duration_since(env::monotonic());
        (!left.is_zero()).then_some(left)
    }

    /// Runs background work that is not a session.
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
                "background work was not started, because no Tokio runtime is active; the next drive of the conversation starts it"
            );
        }
    }

    /// Waits until no session of these threads runs. Returns whether one of them ran.
    pub(super) async fn without(&self, threads: &[ThreadId]) -> bool {
        let runs = || {
            let running = self.threads.lock();
            let running = running.unwrap_or_else(PoisonError::into_inner);
            threads.iter().any(|thread| running.contains(thread))
        };
        let ran = runs();
        let mut running = self.running.subscribe();
        // `wait_for` fails only if the sender is dropped, and this value owns the sender.
        let _ = running.wait_for(|_| !runs()).await;
        ran
    }

    /// Waits until no work is left.
    pub(super) async fn idle(&self) {
        let mut running = self.running.subscribe();
        // `wait_for` fails only if the sender is dropped, and this value owns the sender.
        let _ = running.wait_for(|running| *running == 0).await;
    }
}
