//! The client for hosts: it stores messages and answers in the database, and sends the engine only the keys
//! of threads.

use std::fmt;
use std::time::Duration;

use restate_sdk::ingress::{Client, ClientError, RequestExecutor};
use tool_agent::worker::{AgentQueue, QueueError};
use tool_core::store::{Scope, StoreError, ThreadId, Timestamp, WorkFilter, WorkRow, WorkState};
use tool_core::turn::UserMessage;
use tool_core::{CancellationToken, ToolContext};

use crate::key::object_key;
use crate::object::AgentThreadIngressClient;

/// The number of rows that a sweep reads at once.
const PAGE: u32 = 500;

/// Calls the handlers of [`AgentThread`](crate::AgentThread) through the ingress of the server. It needs neither models nor tools. Clones share
/// everything.
pub struct ThreadClient<E> {
    queue: AgentQueue,
    client: Client<E>,
}

impl<E: RequestExecutor> ThreadClient<E> {
    /// Creates a client. `queue` must use the database of the threads.
    pub fn new(queue: &AgentQueue, client: Client<E>) -> Self {
        Self {
            queue: queue.clone(),
            client,
        }
    }

    /// Stores a message of the user in the conversation of the context, and asks the engine to drive the thread. If the engine cannot be reached, the
    /// message is stored nevertheless, and the next [`sweep`](Self::sweep) starts the drive.
    ///
    /// # Errors
    ///
    /// Fails like [`AgentQueue::submit`]. In that case, nothing is stored.
    pub async fn submit(
        &self,
        agent: &str,
        message: impl Into<UserMessage>,
        cx: &ToolContext,
    ) -> Result<WorkRow, QueueError> {
        let row = self.queue.submit(agent, message, cx).await?;
        if let Err(error) = self.notify(&row.thread).await {
            tracing::warn!(%error, thread = %row.thread, "a thread is driven after the next sweep, because the engine cannot be reached");
        }
        Ok(row)
    }

    /// Asks the engine to drive a thread that has work to do.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot be reached or refuses the request.
    pub async fn notify(&self, thread: &ThreadId) -> Result<(), ClientError> {
        self.object(thread).message().send().await.map(drop)
    }

    /// Continues a thread that waits, after an approval was answered, variables were supplied or an effect was settled.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot be reached or refuses the request. In that case, call this again.
    pub async fn answered(&self, thread: &ThreadId) -> Result<(), ClientError> {
        self.object(thread).answer().send().await.map(drop)
    }

    /// Cancels a thread in any state, and waits until it is cancelled. Returns false if the thread was never queued.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot be reached or refuses the request, and if the run has not stopped in time.
    pub async fn cancel(&self, thread: &ThreadId) -> Result<bool, ClientError> {
        self.object(thread).cancel().call().await?.into_body()
    }

    /// Asks the engine to drive every thread that has been ready for longer than `grace`, because its `drive` was killed or its message did not reach
    /// the engine. Threads of agents that the queue does not have are left out. Returns the number of threads that were sent to the engine. A thread
    /// that is already driven is not affected.
    ///
    /// # Errors
    ///
    /// Fails if the database does not answer. Threads that could not be sent are logged, and remain for the next sweep.
    pub async fn sweep(&self, grace: Duration) -> Result<usize, StoreError> {
        let latest = Timestamp::now().as_millis();
        let latest = latest.saturating_sub(i64::try_from(grace.as_millis()).unwrap_or(i64::MAX));
        let mut sent = 0;
        for state in [WorkState::Queued, WorkState::Claimed] {
            let mut filter = WorkFilter {
                state: Some(state),
                limit: Some(PAGE),
                ..WorkFilter::default()
            };
            loop {
                let rows = self.queue.store().list_work(Scope::All, &filter).await?;
                let ready = |row: &&WorkRow| {
                    let is_late = row.ready.is_some_and(|ready| ready.as_millis() <= latest);
                    is_late && self.queue.agents().contains(&row.agent)
                };
                for row in rows.iter().filter(ready) {
                    match self.notify(&row.thread).await {
                        Ok(()) => sent += 1,
                        Err(error) => {
                            tracing::warn!(%error, thread = %row.thread, "a thread could not be sent to the engine");
                        }
                    }
                }
                match rows.last() {
                    Some(last) if rows.len() == PAGE as usize => {
                        filter.after = Some(last.thread.clone());
                    }
                    _ => break,
                }
            }
        }
        Ok(sent)
    }

    /// Calls [`sweep`](Self::sweep) at an interval, until `stop` is cancelled. One process of a host is enough, and several processes may call it.
    pub async fn run_sweeper(&self, every: Duration, grace: Duration, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.sweep(grace).await {
                tracing::warn!(%error, "the threads could not be swept");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(every) => {}
            }
        }
    }

    fn object(&self, thread: &ThreadId) -> AgentThreadIngressClient<E> {
        AgentThreadIngressClient::from_client(self.client.clone(), object_key(thread))
    }
}

impl<E> Clone for ThreadClient<E> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            client: self.client.clone(),
        }
    }
}

impl<E> fmt::Debug for ThreadClient<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadClient")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
