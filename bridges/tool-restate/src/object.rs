//! The virtual object of a thread.

#![allow(
    missing_docs,
    reason = "the macro of the SDK generates clients without documentation"
)]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::endpoint::{HandlerOptions, ServiceOptions};
use restate_sdk::prelude::*;
use restate_sdk::service::ServiceDefinition;
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::store::ThreadId;

use crate::key::thread_of;
use crate::step::{Done, Driver, failed};

/// The default of [`AgentThread::longest_step`].
const LONGEST_STEP: Duration = Duration::from_mins(15);

/// The default number of attempts of an invocation. An attempt fails, for example, while no process of the deployment answers.
const ATTEMPTS: u64 = 20;

/// The time for which the engine keeps the journal of an ended invocation.
const RETENTION: Duration = Duration::from_hours(1);

/// A thread as a virtual object; the [crate documentation](crate) describes the handlers.
pub struct AgentThread {
    worker: Worker,
    queue: AgentQueue,
    longest_step: Duration,
    attempts: u64,
}

impl AgentThread {
    /// Creates the object. `worker` has the runtime, the lease, and the limits on attempts and recoveries; it does not have to run. `queue` is its
    /// queue.
    pub fn new(worker: &Worker, queue: &AgentQueue) -> Self {
        Self {
            worker: worker.clone(),
            queue: queue.clone(),
            longest_step: LONGEST_STEP,
            attempts: ATTEMPTS,
        }
    }

    /// Sets a time within which every step ends: a request to the model and the calls of its message; the default is 15 minutes. After this time, the
    /// engine asks the attempt to end. After twice this time, the engine aborts the attempt, and a running call with an effect becomes ambiguous.
    #[must_use]
    pub fn longest_step(mut self, longest: Duration) -> Self {
        self.longest_step = longest;
        self
    }

    /// Sets the number of attempts of an invocation; the default is 20. The pauses between them double, from 100 milliseconds to 10 seconds.
    #[must_use]
    pub fn attempts(mut self, attempts: u64) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Returns the service to bind to an endpoint, with its timeouts and retry policies.
    pub fn definition(self) -> ServiceDefinition {
        let options = ServiceOptions::new()
            .inactivity_timeout(self.longest_step)
            .abort_timeout(self.longest_step)
            .journal_retention(RETENTION)
            .enable_lazy_state(true)
            .retry_policy_initial_interval(Duration::from_millis(100))
            .retry_policy_exponentiation_factor(2.0)
            .retry_policy_max_interval(Duration::from_secs(10))
            .retry_policy_max_attempts(self.attempts)
            .retry_policy_kill_on_max_attempts()
            // A tool could call `drive` through the ingress and would then wait for its own thread.
            .handler("drive", HandlerOptions::new().ingress_private(true));
        self.into_service_definition().options(options)
    }

    async fn driven(&self, ctx: &ObjectContext<'_>) -> Result<(), TerminalError> {
        let thread = thread(ctx.key())?;
        let driver = Driver::new(&self.worker, thread, ctx.invocation_id());
        let driver = Arc::new(driver);
        let mut last = 0;
        loop {
            let own = Arc::clone(&driver);
            let step = ctx.run(move || async move { own.step(last).await.map_err(failed) });
            match step.name("step").retry_policy(policy()).await?.into_inner() {
                Done::Step(seq) => last = seq,
                Done::End => return Ok(()),
                Done::Later(millis) => {
                    // The next invocation may run on a newer deployment, and the engine can run other invocations of the thread in between.
                    let next = ctx.object_client::<AgentThreadClient<'_>>(ctx.key());
                    next.drive()
                        .send_after(Duration::from_millis(millis))
                        .await?;
                    return Ok(());
                }
            }
        }
    }

    async fn cancelled(&self, ctx: &SharedObjectContext<'_>) -> Result<bool, TerminalError> {
        let (worker, thread) = (self.worker.clone(), thread(ctx.key())?);
        let cancel = ctx.run(move || async move { worker.cancel(&thread).await.map_err(failed) });
        let cancelled = cancel.name("cancel").retry_policy(policy()).await?;
        // Answers a message that arrived while the run stopped.
        sent(ctx).await?;
        Ok(cancelled)
    }

    async fn answered(&self, ctx: &SharedObjectContext<'_>) -> Result<bool, TerminalError> {
        let (queue, thread) = (self.queue.clone(), thread(ctx.key())?);
        let wake = ctx.run(move || async move { queue.wake(&thread).await.map_err(failed) });
        let woken = wake.name("wake").retry_policy(policy()).await?;
        sent(ctx).await?;
        Ok(woken)
    }
}

#[restate_sdk::object(name = "AgentThread")]
impl AgentThread {
    /// Drives the thread until its run ends or waits.
    #[handler]
    async fn drive(&self, ctx: ObjectContext<'_>) -> HandlerResult<()> {
        self.driven(&ctx).await.map_err(HandlerError::from)
    }

    /// Drives the thread, after a message was stored.
    #[handler]
    async fn message(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<()> {
        thread(ctx.key())?;
        sent(&ctx).await.map_err(HandlerError::from)
    }

    /// Drives the thread, after the answer that it waits for was stored. Returns false if the thread was never queued.
    #[handler]
    async fn answer(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<bool> {
        self.answered(&ctx).await.map_err(HandlerError::from)
    }

    /// Cancels the thread. Returns false if the thread was never queued.
    #[handler]
    async fn cancel(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<bool> {
        self.cancelled(&ctx).await.map_err(HandlerError::from)
    }
}

fn thread(key: &str) -> Result<ThreadId, TerminalError> {
    thread_of(key).map_err(|error| TerminalError::new_with_code(400, error.to_string()))
}

/// Sends `drive` to this thread. An invocation of a thread without work returns at once.
async fn sent(ctx: &SharedObjectContext<'_>) -> Result<(), TerminalError> {
    let object = ctx.object_client::<AgentThreadClient<'_>>(ctx.key());
    object.drive().send().await.map(drop)
}

/// Returns the retry policy of a closure, for a database that does not answer.
fn policy() -> RunRetryPolicy {
    RunRetryPolicy::new()
        .initial_delay(Duration::from_millis(100))
        .exponentiation_factor(2.0)
        .max_delay(Duration::from_secs(5))
        .max_attempts(10)
}

impl fmt::Debug for AgentThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentThread")
            .field("worker", &self.worker)
            .field("longest_step", &self.longest_step)
            .finish_non_exhaustive()
    }
}
