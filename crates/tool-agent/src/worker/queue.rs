//! The queue, for processes that receive messages and answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tool_core::ToolContext;
use tool_core::store::{
    NewMessage, NewWork, Role, ThreadId, Timestamp, WorkAgent, WorkRow, WorkStore, shield,
};
use tool_core::turn::UserMessage;

use super::error::QueueError;

type Facts = dyn Fn(&ToolContext) -> Value + Send + Sync;

/// Queues threads for [`Worker`](super::Worker)s. It needs neither models nor tools, so a process that only receives messages can use it. Clones
/// share their state.
#[derive(Clone)]
pub struct AgentQueue {
    store: Arc<dyn WorkStore>,
    agents: Vec<WorkAgent>,
    facts: Option<Arc<Facts>>,
    /// Wakes a worker of this process when a thread is queued.
    queued: Arc<Notify>,
}

impl AgentQueue {
    /// Creates a queue on a store, which must be the database of the threads: a message and the row of its thread are written in one transaction.
    pub fn new(store: impl WorkStore) -> Self {
        Self::shared(Arc::new(store))
    }

    /// Creates a queue on a store that other code may share.
    pub fn shared(store: Arc<dyn WorkStore>) -> Self {
        Self {
            store: shield::work(store),
            agents: Vec::new(),
            facts: None,
            queued: Arc::default(),
        }
    }

    /// Adds an agent with the version of its definition, such as a number or a short hash of its instructions. A thread that is queued with a version
    /// is claimed only by workers that have the same version, so hosts of two versions can run at the same time.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>, definition: impl Into<String>) -> Self {
        self.agents.push(WorkAgent::new(agent, definition));
        self
    }

    /// Sets the function that returns the facts of a caller that are stored with a thread. A worker builds the context of the thread from these facts
    /// ([`WorkerBuilder::context`](super::WorkerBuilder::context)). They are stored in clear text. By default, only the user is stored.
    #[must_use]
    pub fn facts(mut self, facts: impl Fn(&ToolContext) -> Value + Send + Sync + 'static) -> Self {
        self.facts = Some(Arc::new(facts));
        self
    }

    /// Returns the store of the queue, for lists and for operators.
    pub fn store(&self) -> &Arc<dyn WorkStore> {
        &self.store
    }

    /// Returns the agents of the queue.
    pub fn agents(&self) -> &[WorkAgent] {
        &self.agents
    }

    /// Waits until this queue or a clone of it has queued a thread in this process.
    pub(super) async fn queued(&self) {
        self.queued.notified().await;
    }

    /// Waits until a different process may have queued a thread after a hint, and returns the next hint. An error of the store counts as no hint.
    pub(super) async fn queued_elsewhere(&self, hint: u64) -> u64 {
        match self.store.work_hint(hint).await {
            Ok(later) => later,
            Err(_) => std::future::pending().await,
        }
    }

    /// Stores a message of the user in the conversation of the context and queues the conversation, in one transaction.
    ///
    /// `agent` is the agent of a new conversation, as in [`AgentRuntime::respond`](crate::runtime::AgentRuntime::respond). An active run reads the
    /// message with its next request; it is not interrupted.
    ///
    /// # Errors
    ///
    /// Fails if the queue has no such agent, if the context has no conversation, if the message is invalid, and if the store fails.
    pub async fn submit(
        &self,
        agent: &str,
        message: impl Into<UserMessage>,
        cx: &ToolContext,
    ) -> Result<WorkRow, QueueError> {
        let message = message.into();
        message.check()?;
        let message = NewMessage {
            thread: cx.thread().ok_or(QueueError::Unnamed)?,
            role: Role::User,
            answers: None,
            follows: None,
            content: serde_json::to_string(&message)?,
            at: Timestamp::now(),
        };
        self.put(agent, cx, Duration::ZERO, Some(message)).await
    }

    /// Queues the conversation of the context without a message, for example after a message that was stored in another way.
    ///
    /// # Errors
    ///
    /// Fails like [`submit`](Self::submit).
    pub async fn enqueue(&self, agent: &str, cx: &ToolContext) -> Result<WorkRow, QueueError> {
        self.put(agent, cx, Duration::ZERO, None).await
    }

    /// Queues the conversation of the context for a later time. A message or an answer before that time queues it at once.
    ///
    /// # Errors
    ///
    /// Fails like [`submit`](Self::submit).
    pub async fn enqueue_at(
        &self,
        agent: &str,
        time: Timestamp,
        cx: &ToolContext,
    ) -> Result<WorkRow, QueueError> {
        self.put(agent, cx, until(time), None).await
    }

    /// Queues a conversation that waits or has ended, for example after a person has answered an approval or supplied variables. Returns false if the
    /// conversation was never queued.
    ///
    /// # Errors
    ///
    /// Fails if the store fails.
    pub async fn wake(&self, thread: &ThreadId) -> Result<bool, QueueError> {
        let woken = self
            .store
            .wake_work(thread, Duration::ZERO, Timestamp::now());
        let woken = woken.await?.is_some();
        self.queued.notify_one();
        Ok(woken)
    }

    /// Queues a conversation for a later time, like [`wake`](Self::wake). Use it as a timer.
    ///
    /// # Errors
    ///
    /// Fails if the store fails.
    pub async fn wake_at(&self, thread: &ThreadId, time: Timestamp) -> Result<bool, QueueError> {
        let woken = self.store.wake_work(thread, until(time), Timestamp::now());
        Ok(woken.await?.is_some())
    }

    async fn put(
        &self,
        agent: &str,
        cx: &ToolContext,
        delay: Duration,
        message: Option<NewMessage>,
    ) -> Result<WorkRow, QueueError> {
        let mut known = self.agents.iter();
        let known = known.find(|known| known.agent == agent);
        let facts = self.facts.as_ref().map(|facts| facts(cx));
        let work = NewWork {
            thread: cx.thread().ok_or(QueueError::Unnamed)?,
            agent: known
                .ok_or_else(|| QueueError::UnknownAgent(agent.to_owned()))?
                .clone(),
            principal: cx.user().map(str::to_owned),
            facts: facts.map(|facts| facts.to_string()),
            delay,
            at: Timestamp::now(),
        };
        let (row, _) = self.store.queue_work(work, message).await?;
        self.queued.notify_one();
        Ok(row)
    }
}

/// Returns the time from now until a time.
fn until(time: Timestamp) -> Duration {
    let left = time
        .as_millis()
        .saturating_sub(Timestamp::now().as_millis());
    Duration::from_millis(u64::try_from(left).unwrap_or_default())
}

impl fmt::Debug for AgentQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentQueue")
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}
