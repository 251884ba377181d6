//! Workers: any number of processes that drive the conversations of an [`AgentRuntime`] from a queue in the database.
//!
//! An [`AgentQueue`] stores a message and queues its thread, in any process. A [`Worker`] claims queued threads, drives each one, and releases it:
//!
//! | outcome of the drive | the thread |
//! |---|---|
//! | the agent answered, or the run ended without an answer, for example at a limit or by a cancellation | ends |
//! | the run waits for an approval, a variable, a client or an operator | waits until [`AgentQueue::wake`] or the next message |
//! | the provider of the model, or of a sub-agent's model, requested a wait that is too long for the run | is queued again for the end of that wait |
//! | another drive is active, a call runs in a different process, or a sub-agent has not ended | is queued again |
//! | a message interrupted the run, the deadline passed, or the host drains | is queued again |
//! | the model, a store or the context of the thread failed | is queued again, later after each attempt, until [`WorkerBuilder::most_attempts`] |
//! | the run can never succeed, for example because the model has no price | ends with the cause [`Failed`](tool_core::store::WorkCause::Failed) |
//!
//! # Leases
//!
//! A claim has a lease and a token that is new for each claim. The worker extends the lease after each third of its length. If an extension fails,
//! for any reason, the worker drops the drive at once. If its process dies, another worker claims the thread when the lease expires, and continues
//! after the last stored message. A thread whose lease expires more than [`WorkerBuilder::most_recoveries`] times ends with the cause
//! [`CrashLimit`](tool_core::store::WorkCause::CrashLimit). From its second recovery, a thread is driven by a process that drives no other such
//! thread, so that a run that crashes its process does not bring other threads to the limit.
//!
//! A process that was suspended for longer than the lease does not write to the thread. The worker compares the end of its lease with the monotonic
//! clock before each step, and the store refuses each message of a driver whose run was taken over. Use the lease of the worker for the runs too
//! ([`Turns::lease`]), so that another worker does not wait for the lease of the run.
//!
//! The queue, the threads and the runs belong to one database. Sub-agents in the background run in the process of the worker that drives their
//! parent, and the worker keeps its claim until they have ended.
//!
//! # Other engines
//!
//! A host in which another engine decides when each step runs does not call [`Worker::run`]: [`Worker::take`] claims one thread, and
//! [`SteppedThread::step`] makes one step. [`Worker::cancel`] cancels a thread in any state, in both kinds of host.
//!
//! # Example
//!
//! ```
//! use tool_agent::agent::Agent;
//! use tool_agent::model::{Script, ScriptedModel};
//! use tool_agent::runtime::{AgentEntry, AgentRuntime};
//! use tool_agent::worker::{AgentQueue, Worker};
//! use tool_core::store::{MemoryStore, WorkCause, WorkStore};
//! use tool_core::turn::Turns;
//! use tool_core::{Gate, ToolContext};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::default();
//! let turns = Turns::new(store.clone());
//! let queue = AgentQueue::new(store.clone()).agent("chief", "1");
//!
//! // A process that receives messages needs only the queue.
//! let cx = ToolContext::builder().workspace("acme").conversation("main").user("ann").build();
//! queue.submit("chief", "How deep is the Sognefjord?", &cx).await?;
//!
//! // Each worker process has the agents. A host calls `run`, which ends when its token is cancelled.
//! let model = ScriptedModel::new([Script::text("It is 1,308 m deep.")]);
//! let runtime = AgentRuntime::builder(turns.clone(), &Gate::builder().build())
//!     .agent(AgentEntry::new(Agent::builder("chief", model).build()?))
//!     .build()?;
//! let worker = Worker::builder(&runtime, &queue).build()?;
//! worker.run_until_idle().await;
//!
//! let row = store.work(&cx.thread().unwrap()).await?.unwrap();
//! assert_eq!(row.cause, Some(WorkCause::Done));
//! assert_eq!(turns.last(&cx).await?.unwrap().message().text, "It is 1,308 m deep.");
//! # Ok(())
//! # }
//! ```
//!
//! [`AgentRuntime`]: crate::runtime::AgentRuntime
//! [`Turns::lease`]: tool_core::turn::Turns::lease

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::stream::StreamExt as _;
use tool_core::store::{ClaimedWork, StoreError, Timestamp, WorkAgent, WorkClaim, WorkRow};
use tool_core::{CancellationToken, ToolContext, ToolError};
use tool_store::env;

use crate::runtime::AgentRuntime;

mod cancel;
mod claim;
mod error;
mod job;
mod queue;
mod stepped;

use claim::Claim;
pub use error::{CancelError, QueueError, WorkerConfigError};
pub use queue::AgentQueue;
pub use stepped::{SteppedThread, TakenThread, ThreadStep};

type MakeContext =
    dyn Fn(WorkRow) -> BoxFuture<'static, Result<ToolContext, ToolError>> + Send + Sync;

/// The longest pause after a failed attempt, as a multiple of [`WorkerBuilder::retry`].
const LONGEST_PAUSE: u32 = 64;

/// Drives queued threads with an [`AgentRuntime`]. Clones share everything.
#[derive(Clone)]
#[doc(alias("queue", "job", "consumer"))]
pub struct Worker(Arc<Inner>);

struct Inner {
    runtime: AgentRuntime,
    queue: AgentQueue,
    agents: Vec<WorkAgent>,
    context: Box<MakeContext>,
    name: String,
    threads: usize,
    lease: Duration,
    poll: Duration,
    retry: Duration,
    grace: Duration,
    most_recoveries: u32,
    most_attempts: u32,
    /// The number of claims so far, which selects the agent whose threads are claimed first.
    first: AtomicUsize,
}

/// Configures a [`Worker`]; created by [`Worker::builder`].
#[must_use]
pub struct WorkerBuilder {
    inner: Inner,
}

impl Worker {
    /// Configures a worker. It claims the threads of the agents of `queue` that `runtime` has.
    pub fn builder(runtime: &AgentRuntime, queue: &AgentQueue) -> WorkerBuilder {
        let (process, serial) = env::serial();
        let agents = queue.agents().iter();
        let agents = agents.filter(|agent| runtime.has(&agent.agent));
        WorkerBuilder {
            inner: Inner {
                runtime: runtime.clone(),
                queue: queue.clone(),
                agents: agents.cloned().collect(),
                context: Box::new(|row| Box::pin(async move { Ok(plain_context(&row)) })),
                name: format!("{:x}-{:x}", process ^ serial, std::process::id()),
                threads: 8,
                lease: Duration::from_secs(30),
                poll: Duration::from_secs(1),
                retry: Duration::from_secs(2),
                grace: Duration::from_secs(10),
                most_recoveries: 3,
                most_attempts: 5,
                first: AtomicUsize::new(0),
            },
        }
    }

    /// Claims and drives threads until `stop` is cancelled.
    ///
    /// After the cancellation, the worker claims no more threads. Drives that have not ended within the [grace period](WorkerBuilder::grace) are
    /// dropped, and their threads are queued again at once. If the returned future is dropped, the worker releases the threads immediately.
    pub async fn run(&self, stop: CancellationToken) {
        self.work(stop, false).await;
    }

    /// Drives the threads that are ready now or become ready during their drives, and returns when no thread is claimed and none is ready. Threads
    /// that are queued for a later time stay queued.
    pub async fn run_until_idle(&self) {
        self.work(CancellationToken::new(), true).await;
    }

    async fn work(&self, stop: CancellationToken, ends_when_idle: bool) {
        let inner = &self.0;
        let hand_back = CancellationToken::new();
        // If this future is dropped, the tasks drop their drives.
        let _guard = hand_back.clone().drop_guard();
        let (ended, mut ends) = mpsc::unbounded();
        // The number of threads that the worker drives now, and the number of suspects among them: threads whose lease has expired at least twice.
        let (mut active, mut suspects) = (0, 0);
        let mut hint = 0;
        while !stop.is_cancelled() {
            let free = inner.threads - active;
            let began = env::monotonic();
            let found = inner.claim(free, suspects == 0).await;
            let is_idle =
                matches!(&found, Ok(found) if found.claimed.is_empty() && found.ended.is_empty());
            let mut is_full = false;
            match found {
                Ok(found) => {
                    for row in &found.ended {
                        tracing::error!(thread = %row.thread, agent = row.agent.agent, recoveries = row.recoveries, "a thread ended, because the processes that drove it died");
                    }
                    is_full = found.claimed.len() + found.ended.len() >= free;
                    for row in found.claimed {
                        let is_suspect = row.is_suspect();
                        if self.start(row, began, &hand_back, ended.clone()) {
                            active += 1;
                            suspects += usize::from(is_suspect);
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "threads could not be claimed"),
            }
            if ends_when_idle && is_idle && active == 0 {
                return;
            }
            if is_full && active < inner.threads {
                continue;
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                end = ends.next() => {
                    active -= 1;
                    suspects -= usize::from(end == Some(true));
                }
                () = inner.queue.queued(), if active < inner.threads => {}
                later = inner.queue.queued_elsewhere(hint), if active < inner.threads => hint = later,
                () = tokio::time::sleep(inner.poll), if active < inner.threads => {}
            }
            // More drives may have ended in the meantime.
            while let Ok(was_suspect) = ends.try_recv() {
                active -= 1;
                suspects -= usize::from(was_suspect);
            }
        }
        let all = async {
            while active > 0 {
                ends.next().await;
                active -= 1;
            }
        };
        let mut all = std::pin::pin!(all);
        if tokio::time::timeout(inner.grace, all.as_mut())
            .await
            .is_err()
        {
            hand_back.cancel();
            // The tasks only release their claims.
            let _ = tokio::time::timeout(inner.lease, all).await;
        }
    }

    /// Starts the drive of a claimed thread in a task. Returns false if no Tokio runtime is active.
    fn start(
        &self,
        row: WorkRow,
        began: std::time::Instant,
        hand_back: &CancellationToken,
        ended: mpsc::UnboundedSender<bool>,
    ) -> bool {
        let inner = Arc::clone(&self.0);
        let claim = Claim::new(inner.queue.store(), &row, began, inner.lease);
        let keeper = Arc::clone(&claim);
        let hand_back = hand_back.clone();
        env::spawn(async move { keeper.keep().await })
            && env::spawn(async move {
                // The end is reported even if the task panics.
                let _ended = Ended(ended, row.is_suspect());
                inner.job(row, claim, &hand_back).await;
            })
    }
}

/// Reports the end of a task, and whether it drove a suspect.
struct Ended(mpsc::UnboundedSender<bool>, bool);

impl Drop for Ended {
    fn drop(&mut self) {
        // The receiver is dropped together with the worker.
        let _ = self.0.unbounded_send(self.1);
    }
}

impl Inner {
    async fn claim(&self, free: usize, takes_suspect: bool) -> Result<ClaimedWork, StoreError> {
        let Ok(limit @ 1..) = u32::try_from(free) else {
            return Ok(ClaimedWork::default());
        };
        let first = self.first.fetch_add(1, Ordering::Relaxed) % self.agents.len().max(1);
        let mut claim = WorkClaim {
            limit,
            suspects: u32::from(takes_suspect),
            ..self.new_claim(&self.name)
        };
        claim.agents.rotate_left(first);
        self.queue.store().claim_work(claim).await
    }

    /// Returns a claim of one thread.
    fn new_claim(&self, worker: &str) -> WorkClaim {
        WorkClaim {
            agents: self.agents.clone(),
            worker: worker.to_owned(),
            lease: self.lease,
            limit: 1,
            suspects: 1,
            most_recoveries: self.most_recoveries,
            at: Timestamp::now(),
        }
    }
}

/// Returns the context of a thread without facts about its caller: the workspace, the conversation and the
/// user.
fn plain_context(row: &WorkRow) -> ToolContext {
    let cx = ToolContext::builder()
        .workspace(row.workspace().as_str())
        .conversation(row.thread.conversation());
    match &row.principal {
        Some(user) => cx.user(user).build(),
        None => cx.build(),
    }
}

impl WorkerBuilder {
    /// Sets the function that builds the context of a thread, for example from the [facts](WorkRow::facts) that [`AgentQueue::facts`] has stored. By
    /// default, the context has the workspace, the conversation and the user of the row. An error counts as a failed attempt.
    pub fn context<F>(mut self, make: impl Fn(WorkRow) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolContext, ToolError>> + Send + 'static,
    {
        self.inner.context = Box::new(move |row| Box::pin(make(row)));
        self
    }

    /// Sets the name of the worker in the rows of its threads, for operators. The default is a random name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.inner.name = name.into();
        self
    }

    /// Sets the number of threads that the worker drives at once; the default is 8, the minimum is 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.inner.threads = threads.max(1);
        self
    }

    /// Sets the length of the lease of a claim; the default is 30 seconds, the minimum is 30 milliseconds. If a process dies, its threads wait until
    /// their leases expire.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.inner.lease = lease.max(Duration::from_millis(30));
        self
    }

    /// Sets the interval at which the worker looks for threads; the default is 1 second. A thread that the worker's [`AgentQueue`], or a clone of it,
    /// queues in the same process is claimed at once, if the worker has a free place, and a `PostgresStore` wakes the workers of other processes by a
    /// notification of the database.
    pub fn poll(mut self, poll: Duration) -> Self {
        self.inner.poll = poll.max(Duration::from_millis(1));
        self
    }

    /// Sets the pause before the second attempt after an error; the default is 2 seconds. The pause doubles with each attempt, up to 64 times this
    /// length.
    pub fn retry(mut self, retry: Duration) -> Self {
        self.inner.retry = retry;
        self
    }

    /// Sets the number of attempts after which a thread ends with the cause [`Failed`](tool_core::store::WorkCause::Failed); the default is 5.
    pub fn most_attempts(mut self, most: u32) -> Self {
        self.inner.most_attempts = most;
        self
    }

    /// Sets how often the lease of a thread may expire; the default is 3. After one more expiry, the thread ends with the cause
    /// [`CrashLimit`](tool_core::store::WorkCause::CrashLimit). Below 2, a thread may also reach the limit because a different thread crashed their
    /// common process.
    pub fn most_recoveries(mut self, most: u32) -> Self {
        self.inner.most_recoveries = most;
        self
    }

    /// Sets the time that drives have to end after the worker was stopped; the default is 10 seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.inner.grace = grace;
        self
    }

    /// Creates the worker.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has none of the agents of the queue.
    pub fn build(self) -> Result<Worker, WorkerConfigError> {
        if self.inner.agents.is_empty() {
            let agents = self.inner.queue.agents().iter();
            let agents: Vec<&str> = agents.map(|agent| agent.agent.as_str()).collect();
            return Err(WorkerConfigError::NoAgents {
                queue: agents.join(", "),
            });
        }
        Ok(Worker(Arc::new(self.inner)))
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("name", &self.0.name)
            .field("agents", &self.0.agents)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerBuilder")
            .field("name", &self.inner.name)
            .field("agents", &self.inner.agents)
            .finish_non_exhaustive()
    }
}
