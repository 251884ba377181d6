//! Turns of a model: the calls of one message, and the agent loop.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt as _, join, join_all};
use futures::stream::{FuturesOrdered, StreamExt};
use serde_json::value::RawValue;

use crate::call::Ticket;
use crate::call::{CallResult, ToolCall};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::need::VariableNeed;
use crate::panics::panic_text;
use crate::store::shield;
use crate::store::{
    EffectRow, Journal, Message, Role, RunCause, RunFence, RunId, RunStore, StoreError, ThreadId,
    ThreadStore,
};
use crate::toolset::Toolset;

mod begun;
mod budget;
mod call;
mod client;
mod drive;
mod estimate;
mod guardrail;
mod held;
mod message;
mod runs;
mod thread;
mod time;
mod user;
mod watch;

pub use begun::{Begun, BegunRun};
pub use budget::{Budget, StepBudget};
use call::{Ended, Filed, Making, is_final, withdraw_approvals};
pub use client::ClientResult;
pub use drive::{Model, ModelRequest, Outcome};
#[doc(hidden)]
pub use drive::{is_last, is_paused};
#[doc(hidden)]
pub use estimate::{message_tokens, tools_tokens};
pub use guardrail::{GuardrailKind, Tripped};
use held::{Halt, Held, Hold, Live};
use message::StoredCall;
pub use message::{ModelMessage, StopReason, StoredMessage, ToolMessage, Written};
pub use runs::DuringRun;
use thread::Thread;
pub(crate) use thread::in_reading_order;
pub use user::{MessageError, UserMessage};
use watch::Watch;

type Observer = dyn Fn(&ToolMessage) + Send + Sync;
/// Callback for the progress of running calls.
type Progress = dyn Fn(&ToolCall, &RawValue) + Send + Sync;

/// Callback for the beginning of a run.
type Beginning = dyn Fn(RunFence) -> BoxFuture<'static, ()> + Send + Sync;

/// The result of a read-only call whose end is not written yet.
struct LateResult<'c> {
    call: &'c StoredCall<'c>,
    result: Box<CallResult>,
    filed: Filed,
}

/// Default limit on the steps of a run.
const STEPS: u32 = 15;

/// Default limit on consecutive continuations of a turn that the provider pauses.
const PAUSES: u32 = 10;

/// Default length of a run's lease.
const LEASE: Duration = Duration::from_secs(30);

/// Runs the calls of model messages and stores their results in the thread. By default, calls run in order, one after the other, and the body of a
/// call begins only after the results of all earlier calls are stored. [`parallel`](Self::parallel) lets adjacent reads run at the same time.
///
/// A crash between two calls loses nothing: the same message runs again, and calls with a stored result are not repeated. The gate's ledger shows
/// which calls with effects were running.
///
/// ```
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::{ModelMessage, Turn, Turns};
/// use tool_core::{ToolCall, ToolContext, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i32,
///     /// The second number.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tool_core::turn::TurnError> {
/// let turns = Turns::new(MemoryStore::default());
/// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
/// turns.say("What is 1 + 2?", &cx).await?;
/// let message = ModelMessage::calls([ToolCall::new("call_0", "add", r#"{"a":1,"b":2}"#)]);
/// let message = turns.record(message, &cx).await?;
/// let Turn::Complete(results) = turns.run(&toolset![add], &message, &cx).await? else { unreachable!() };
/// assert_eq!(results[0].text, "3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("agent loop", "agent", "Runner", "max_steps", "tool loop"))]
pub struct Turns {
    threads: Arc<dyn ThreadStore>,
    runs: Arc<dyn RunStore>,
    /// The transactions of the database that contains the threads.
    journal: Option<Journal>,
    live: Live,
    watch: Watch,
    lease: Duration,
    during_run: DuringRun,
    relaxed: bool,
    parallel: usize,
    steps: u32,
    pauses: u32,
    tokens: Option<u64>,
    cost: Option<u64>,
    time: Option<Duration>,
    observer: Option<Arc<Observer>>,
    progress: Option<Arc<Progress>>,
    beginning: Option<Arc<Beginning>>,
}

/// The state of the calls of a message after a run.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Every call has its result, in the order of the calls. Continue with a request to the model.
    Complete(Vec<ToolMessage>),
    /// Some calls wait for a person. Without [`Turns::relaxed_order`], the calls after the first call without a result run later. Run the message
    /// again when all tickets are answered.
    Waiting(Vec<Ticket>),
    /// The client has to run these calls, with the arguments that are given here. Calls after the first of them run later, unless
    /// [`Turns::relaxed_order`] lets them run at once. Continue with [`Turns::supply`].
    Client(Vec<ToolCall>),
    /// Some calls need variables that have no value. Calls after the first of them run later, unless [`Turns::relaxed_order`] lets them run at once.
    /// Supply the variables and run the message again.
    Lacking(Vec<VariableNeed>),
    /// An earlier run began a call or one of its nested calls, and the outcome is unknown. If the call's row is `running`, another run may still make
    /// it; if it is `ambiguous`, an operator has to settle it ([`Gate::resolve`](crate::Gate::resolve), with the key in the row). This call and later
    /// calls were not run. Run the message again when the row is settled.
    Unsettled(Box<EffectRow>),
    /// The deadline of the context passed. Calls without a stored result are open: run the message again.
    Deadline,
    /// The host is shutting down. Calls without a stored result are open: run the message again in another process.
    Draining,
    /// This run of the thread is active in another drive, or it was taken over or ended while this drive ran. No call was begun after this was
    /// detected. Run the message again when the run has ended.
    Busy(RunId),
}

/// The reason why a turn could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The context has no conversation.
    #[error(
        "the context has no conversation, so messages cannot be stored: name it with `ToolContext::builder().conversation(…)`"
    )]
    Unnamed,
    /// Another message of the model was stored in the thread in the meantime, so [`Turns::record`] did not store the new message. Record it again if
    /// it is still wanted. [`Turns::drive`] returns [`Outcome::Busy`] instead.
    #[error(
        "thread {0} has a newer message of the model, so this one was not stored: read the thread again before you record it"
    )]
    Busy(ThreadId),
    /// Providers would refuse the message of the user or of the host, so it was not stored.
    #[error("the message was not stored: {0}")]
    Message(#[from] MessageError),
    /// The message, or the run of [`BegunRun::context`], belongs to a different thread than the context.
    #[error(
        "the message or the run belongs to thread {message}, and the context to a different one: build the context with that workspace and conversation"
    )]
    Elsewhere {
        /// The thread of the message or of the run.
        message: ThreadId,
    },
    /// A store failed, for example the store of the thread or of the runs, or a store that the gate uses before a call runs. Stored results remain. A
    /// call without a stored result stays open, because it may have had an effect. Run the message again.
    #[error("a store failed; run the message again: {0}")]
    Store(#[from] StoreError),
    /// The model failed. Secrets of the context are redacted, because a client's error often quotes the request.
    #[error("the model failed: {}", .0.operator_text())]
    Model(ToolError),
    /// A call waits for a time and not for a person: its tool returned an error of the kind [`Pending`](ErrorKind::Pending) with a
    /// [wait](ToolError::wait), for example because a sub-agent's model has reached its rate limit, or a [shared limit](crate::limits::SharedLimits)
    /// is exhausted. The call is open. Drive the thread again after
    /// [`resumes_after`](Self::resumes_after).
    #[error("a call waits: {why}")]
    Suspended {
        /// The time to wait.
        wait: Duration,
        /// The operator's text of the error.
        why: String,
    },
    /// The provider paused the turn more consecutive times than [`Turns::most_pauses`] allows. The paused messages are in the thread. Further drives
    /// fail in the same way, without a request, until the limit is raised or the user writes a message.
    #[error(
        "the provider paused the turn again after {most} continuations in a row, so it was not continued: raise `Turns::most_pauses`, or send a new message"
    )]
    PauseLimit {
        /// The limit on continuations.
        most: u32,
    },
    /// The run has a limit on its cost ([`Turns::most_cost`]), and the model reported tokens without a cost, so the run sends no further request. The
    /// messages are in the thread. If a shared [`Budget`] limits the cost and the model has no price, the drive fails before its first request. Set
    /// the price of the model, or remove the limit.
    #[error(
        "the run has a limit on its cost, and the cost of a response is not known: set the price of the model, such as with `HttpModelBuilder::price`, or remove `most_cost`"
    )]
    Unpriced,
    /// The client sent a result for a call that is not a call of a client tool in the last message of the model.
    #[error(
        "the last message of the model has no call `{0}` of a client tool: send results only for the calls in `Turn::Client`"
    )]
    NotForClient(String),
    /// A stored message is not in this crate's format.
    #[error("message {seq} of the thread cannot be read: {why}")]
    Unreadable {
        /// Sequence number of the message.
        seq: u64,
        /// A description of the fault.
        why: String,
    },
}

impl TurnError {
    /// Returns the time after which the thread should be driven again, if the run was suspended: the model, or a call, returned an error of the kind
    /// [`Pending`](ErrorKind::Pending) with a [wait](ToolError::wait). If the thread is driven earlier, the model or the tool usually returns this
    /// error again.
    pub fn resumes_after(&self) -> Option<Duration> {
        match self {
            Self::Model(error) => error.suspends(),
            Self::Suspended { wait, .. } => Some(*wait),
            _ => None,
        }
    }

    /// Returns the cause that is stored in the run's row.
    fn cause(&self) -> RunCause {
        if self.resumes_after().is_some() {
            RunCause::Waiting
        } else {
            RunCause::Failed
        }
    }
}

impl Turns {
    /// Creates a loop that stores messages and runs in this store.
    ///
    /// A host whose own store has only threads uses [`shared`](Self::shared).
    pub fn new<S: ThreadStore + RunStore>(store: S) -> Self {
        let store = Arc::new(store);
        Self::shared(Arc::clone(&store) as Arc<dyn ThreadStore>, store)
    }

    /// Creates a loop that stores messages and runs in two stores, which other code may share.
    ///
    /// A host whose own store has only threads passes a [`MemoryStore`](crate::store::MemoryStore) for the runs, one for the whole process. Leases
    /// are then valid only within the process. If several processes drive one thread, implement [`RunStore`] on a store that they share.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tool_core::store::{MemoryStore, ThreadStore};
    /// use tool_core::turn::Turns;
    ///
    /// fn turns(threads: Arc<dyn ThreadStore>, runs: &MemoryStore) -> Turns {
    ///     Turns::shared(threads, Arc::new(runs.clone()))
    /// }
    /// # let store = MemoryStore::default();
    /// # turns(Arc::new(store.clone()), &store);
    /// ```
    pub fn shared(threads: Arc<dyn ThreadStore>, runs: Arc<dyn RunStore>) -> Self {
        let (threads, runs) = (shield::threads(threads), shield::runs(runs));
        Self {
            journal: threads.journal(),
            threads,
            runs,
            live: Live::default(),
            watch: Watch::default(),
            lease: LEASE,
            during_run: DuringRun::default(),
            relaxed: false,
            parallel: 1,
            steps: STEPS,
            pauses: PAUSES,
            tokens: None,
            cost: None,
            time: None,
            observer: None,
            progress: None,
            beginning: None,
        }
    }

    /// Sets the length of a run's lease; the default is 30 seconds, and the minimum is 30 milliseconds. A driver renews the lease three times in this
    /// time. If the lease ends without a renewal, another drive of the thread can take over.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(30));
        self
    }

    /// Limits the tokens, of input and output, that one run may use. The run ends with [`Outcome::Budget`] before the next request. A
    /// model that reports no [`usage`](ModelMessage::usage) is not limited.
    #[must_use]
    pub fn most_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the cost of one run, in millionths of the currency of the model's prices ([`Usage::cost_micros`](crate::store::Usage::cost_micros)).
    /// The run ends with [`Outcome::Budget`] before the next request. Responses without usage are not limited. If a response has a usage and no cost,
    /// because the host set no price, the run fails with [`TurnError::Unpriced`] before the next request.
    ///
    /// ```
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::Turns;
    ///
    /// // A run may cost 0.25 dollars.
    /// let turns = Turns::new(MemoryStore::default()).most_cost(250_000);
    /// # let _ = turns;
    /// ```
    #[must_use]
    pub fn most_cost(mut self, micros: u64) -> Self {
        self.cost = Some(micros);
        self
    }

    /// Runs up to `most` adjacent calls in parallel, if their tools only read and none is `sequential`. Results keep the model's
    /// order.
    #[must_use]
    pub fn parallel(mut self, most: usize) -> Self {
        self.parallel = most.max(1);
        self
    }

    /// Limits the time that the runs of a conversation take after a message of the user. At the end of the time, the run ends with
    /// [`Outcome::TimeLimit`]: a request in flight is dropped, and calls end as they do at the
    /// [deadline](crate::context::ToolContextBuilder::deadline) of a context.
    ///
    /// The time of a run begins with its row in the store and ends with its end. The times of all runs since the last message of the user are added,
    /// so neither a restart of the process nor a change of the machine resets the time. The time until another process takes over the run of a dead
    /// process also counts. The time in which no run is active does not count: when the conversation waits in the store for an approval, for a
    /// variable, for the client, or for a wait that a provider or a [shared limit](crate::limits::SharedLimits) requires. A message of the user that
    /// arrives during a run resets the time only for the next drive.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::Turns;
    ///
    /// let turns = Turns::new(MemoryStore::default()).most_time(Duration::from_mins(10));
    /// # let _ = turns;
    /// ```
    #[must_use]
    pub fn most_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Runs calls of a message even if an earlier call of the message waits for a person, for a variable or for the client.
    ///
    /// By default, calls run in the order of the message. After a call that waits, the other calls only request their approvals, so that a person can
    /// answer all requests at once, and none of these calls runs.
    #[must_use]
    pub fn relaxed_order(mut self) -> Self {
        self.relaxed = true;
        self
    }

    /// Limits the model messages after a message of the user; the default is 15. The messages before and after a wait, such as for an approval, count
    /// together.
    #[must_use]
    pub fn most_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// Limits the number of consecutive continuations of a turn that the provider pauses ([`StopReason::Paused`]); the default is 10. If the provider
    /// pauses the turn once more, [`drive`](Self::drive) fails with [`TurnError::PauseLimit`]. A continuation belongs to the step of the paused
    /// message, so it does not count towards [`most_steps`](Self::most_steps), but its tokens count towards [`most_tokens`](Self::most_tokens).
    #[must_use]
    pub fn most_pauses(mut self, pauses: u32) -> Self {
        self.pauses = pauses;
        self
    }

    /// Adds a callback for every result, success or failure, when it is stored. Callbacks are called in the order in which they were added.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ToolMessage) + Send + Sync + 'static) -> Self {
        let other = self.observer.take();
        self.observer = Some(Arc::new(move |message: &ToolMessage| {
            if let Some(other) = &other {
                notify("the observer of a turn", || other(message));
            }
            observer(message);
        }));
        self
    }

    /// Adds a callback for the progress of running calls, as JSON. Progress is only for the client: it is neither sent to a model nor stored.
    #[must_use]
    pub fn progress(
        mut self,
        progress: impl Fn(&ToolCall, &RawValue) + Send + Sync + 'static,
    ) -> Self {
        let other = self.progress.take();
        self.progress = Some(Arc::new(move |call: &ToolCall, step: &RawValue| {
            if let Some(other) = &other {
                notify("the callback for progress", || other(call, step));
            }
            progress(call, step);
        }));
        self
    }

    /// Adds a callback for each run that [`drive`](Self::drive), [`respond`](Self::respond) or [`BegunRun::drive`] begins or takes over after a
    /// crash. The run makes its first step when the callback's future has completed. [`run`](Self::run) and [`supply`](Self::supply) do not call it.
    ///
    /// The callback gets the run fence of the driver. A host that stores rows about the run passes the fence to the store, so that a driver whose run
    /// was taken over writes no rows: see [`ThreadEventStore`](crate::store::ThreadEventStore).
    #[must_use]
    pub fn on_begin(
        mut self,
        beginning: impl Fn(RunFence) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        let other = self.beginning.take();
        self.beginning = Some(Arc::new(move |fence: RunFence| {
            let other = other.as_ref().map(|other| other(fence.clone()));
            let own = beginning(fence);
            async move {
                if let Some(other) = other {
                    other.await;
                }
                own.await;
            }
            .boxed()
        }));
        self
    }

    /// Stores a message of a model in the conversation of a context. Hosts with their own loop call this; [`drive`](Self::drive) stores the
    /// messages itself.
    pub async fn record(
        &self,
        message: ModelMessage,
        cx: &ToolContext,
    ) -> Result<StoredMessage, TurnError> {
        let mut thread = self.read(cx).await?;
        let step = match thread.last_of_model()? {
            Some((_, step, false)) => step + 1,
            _ => 1,
        };
        let read = thread.last();
        thread.append_model(message, step, read, None).await
    }

    /// Returns the last message of the model in the conversation of a context. After a crash, this message has to be [run](Self::run) again. Returns
    /// `None` if the model has not written a message.
    pub async fn last(&self, cx: &ToolContext) -> Result<Option<StoredMessage>, TurnError> {
        let last = self.read(cx).await?.last_of_model()?;
        Ok(last.map(|(message, ..)| message))
    }

    async fn read(&self, cx: &ToolContext) -> Result<Thread<'_>, TurnError> {
        Thread::read(&self.threads, thread(cx)?, None).await
    }

    /// Runs the calls of a stored message that have no stored result yet. `cx` has to name the message's conversation.
    ///
    /// This creates a run with a row and a lease, as [`drive`](Self::drive) does, and returns [`Turn::Busy`] while another run of the thread is
    /// active.
    pub async fn run(
        &self,
        tools: &Toolset,
        message: &StoredMessage,
        cx: &ToolContext,
    ) -> Result<Turn, TurnError> {
        self.run_with(tools, message, cx, &[]).await
    }

    /// Implements [`run`](Self::run), with the results of the client.
    async fn run_with(
        &self,
        tools: &Toolset,
        message: &StoredMessage,
        cx: &ToolContext,
        supplied: &[ClientResult],
    ) -> Result<Turn, TurnError> {
        let id = message.thread.clone();
        if thread(cx)? != id {
            return Err(TurnError::Elsewhere { message: id });
        }
        let held = match self.hold(id.clone(), cx).await? {
            Hold::Mine(held) => held,
            Hold::Busy(id) => return Ok(Turn::Busy(id)),
        };
        let cx = &held.context(cx);
        let run = async {
            let thread = Thread::read(&self.threads, id, Some(message.seq)).await?;
            let mut thread = thread.fenced(self.fence(&held));
            self.run_in(&mut thread, tools, message, cx, (&held, true), supplied)
                .await
        };
        let turn = match held.during(Box::pin(run)).await {
            // The thread refused a result, because a different driver has taken over the run.
            Err(TurnError::Busy(_)) => Ok(Turn::Busy(held.id().clone())),
            turn => turn,
        };
        let halt = held.halt(cx, tools);
        match turn.as_ref().map(|turn| turn.cause(halt)) {
            Ok(Some(cause)) => held.end(cause).await,
            Ok(None) => held.forget(),
            Err(error) => held.end(error.cause()).await,
        }
        turn
    }

    /// Implements [`run`](Self::run) for a thread that was read and a run whose lease this process has. `continues` is true if an earlier run may
    /// have made calls of the message. `supplied` are the results of the client.
    #[expect(
        clippy::too_many_lines,
        reason = "one loop decides the outcome of each call"
    )]
    async fn run_in(
        &self,
        thread: &mut Thread<'_>,
        tools: &Toolset,
        stored: &StoredMessage,
        cx: &ToolContext,
        (held, continues): (&Held, bool),
        supplied: &[ClientResult],
    ) -> Result<Turn, TurnError> {
        let mut results = thread.results(stored.seq)?;
        let calls = stored.calls(continues.then_some(tools));
        let (mut tickets, mut lacking) = (Vec::new(), Vec::<VariableNeed>::new());
        let mut for_client = Vec::new();
        // The ends of these read-only calls are written while the next call is recorded.
        let mut late: Vec<LateResult<'_>> = Vec::new();
        let mut at = 0;
        while at < calls.len() {
            if results.contains_key(&calls[at].position) {
                at += 1;
                continue;
            }
            let halt = held.check(cx, tools).await;
            if !matches!(halt, Ok(None)) {
                // If no call follows, the ends of earlier reads are written here.
                self.store_late(thread, stored, &mut late, &mut results)
                    .await?;
            }
            let halt = halt?;
            match halt {
                Some(Halt::Lost) => return Ok(Turn::Busy(held.id().clone())),
                Some(Halt::Deadline) => return Ok(Turn::Deadline),
                Some(Halt::Draining) => return Ok(Turn::Draining),
                Some(Halt::Cancelled | Halt::Interrupted) | None => {}
            }
            let waits = !tickets.is_empty() || !lacking.is_empty() || !for_client.is_empty();
            let only_asks = waits && !self.relaxed;
            let group = self.group(tools, &calls[at..], &results);
            let open = |call: &StoredCall<'_>| !results.contains_key(&call.position);
            let (are_stored, behind) = oneshot::channel();
            let making = Making {
                halt,
                only_asks,
                continues,
                defers: calls[at + group..].iter().any(open),
                behind: (!late.is_empty()).then(|| behind.shared()),
                fence: self.one_database().map(|_| held.fence()),
            };
            let run = async {
                if let [call] = &calls[at..at + group] {
                    vec![self.one(tools, stored, call, cx, making).await]
                } else {
                    let calls = calls[at..at + group].iter();
                    let run = calls.map(|call| self.one(tools, stored, call, cx, making.clone()));
                    run.collect::<FuturesOrdered<_>>().collect().await
                }
            };
            let ended: Vec<Ended> = if late.is_empty() {
                run.await
            } else {
                // This future is polled first, so that the ends of earlier calls are written in one batch with the rows that precede the next body,
                // and never after that body has begun.
                let store = async {
                    let stored = self.store_late(thread, stored, &mut late, &mut results);
                    let stored = stored.await;
                    if stored.is_ok() {
                        // `send` fails if no call has reached its body, because the receiver was dropped.
                        let _ = are_stored.send(());
                    }
                    stored
                };
                let (stored, ended) = join(store, run).await;
                stored?;
                ended
            };
            let (mut unsettled, mut undecided, mut suspended) = (None, None, None);
            let (mut draining, mut is_over) = (false, false);
            for (call, ended) in calls[at..].iter().zip(ended) {
                let (mut result, filed) = match ended {
                    Ended::Result(result, filed) => (result, filed),
                    Ended::HeldBack => continue,
                    Ended::NotTaken => {
                        draining = true;
                        continue;
                    }
                    Ended::TimeOver => {
                        is_over = true;
                        continue;
                    }
                    Ended::Unsettled(row) => {
                        unsettled = Some(row);
                        continue;
                    }
                    Ended::Undecided(error) => {
                        undecided = Some(error);
                        continue;
                    }
                };
                if let Some(error) = result.error()
                    && !error.missing_variables().is_empty()
                {
                    let known =
                        |need: &VariableNeed| lacking.iter().any(|other| other.name == need.name);
                    let new: Vec<_> = error
                        .missing_variables()
                        .iter()
                        .filter(|need| !known(need))
                        .cloned()
                        .collect();
                    lacking.extend(new);
                    continue;
                }
                if result
                    .error()
                    .is_some_and(|error| error.kind() == ErrorKind::Pending)
                    && !result.tickets().is_empty()
                {
                    tickets.extend_from_slice(result.tickets());
                    continue;
                }
                if let Some(error) = result.error()
                    && let Some(wait) = error.suspends()
                {
                    suspended = Some((wait, error.operator_text()));
                    continue;
                }
                client::check_arguments(tools, &mut result, cx);
                if let Some(passed_on) = client::passed_on(tools, &result) {
                    let Some(own) = supplied.iter().find(|own| own.call == call.call.id) else {
                        for_client.push(ToolCall::new(&*call.call.id, &*call.call.name, passed_on));
                        continue;
                    };
                    own.complete(tools, &mut result, cx);
                }
                withdraw_approvals(tools, call, &result, cx, continues).await?;
                let is_final = is_final(tools, call, &result, cx, held, continues).await;
                if !matches!(is_final, Ok(true)) {
                    self.store_late(thread, stored, &mut late, &mut results)
                        .await?;
                    is_final?;
                    return Ok(Turn::Busy(held.id().clone()));
                }
                if filed.deferred.is_some() {
                    late.push(LateResult {
                        call,
                        result,
                        filed,
                    });
                    continue;
                }
                let message = self.store(thread, stored, call, &result, filed.stored());
                results.insert(call.position, message.await?);
            }
            let stops = unsettled.is_some() || undecided.is_some() || suspended.is_some();
            if draining || is_over || stops {
                self.store_late(thread, stored, &mut late, &mut results)
                    .await?;
            }
            if draining {
                return Ok(Turn::Draining);
            }
            if is_over {
                return Ok(Turn::Deadline);
            }
            if let Some(row) = unsettled {
                return Ok(Turn::Unsettled(row));
            }
            if let Some(error) = undecided {
                return Err(TurnError::Store(error));
            }
            if let Some((wait, why)) = suspended {
                return Err(TurnError::Suspended { wait, why });
            }
            at += group;
        }
        self.store_late(thread, stored, &mut late, &mut results)
            .await?;
        if !lacking.is_empty() {
            return Ok(Turn::Lacking(lacking));
        }
        if !tickets.is_empty() {
            return Ok(Turn::Waiting(tickets));
        }
        if !for_client.is_empty() {
            return Ok(Turn::Client(for_client));
        }
        Ok(Turn::Complete(
            calls
                .iter()
                .filter_map(|call| results.remove(&call.position))
                .collect(),
        ))
    }

    /// Returns how many of these calls, counted from the first, may run in parallel.
    fn group(
        &self,
        tools: &Toolset,
        calls: &[StoredCall<'_>],
        results: &HashMap<u32, ToolMessage>,
    ) -> usize {
        let only_reads = |call: &ToolCall| {
            tools
                .get(&call.name)
                .is_some_and(|def| def.hints().read_only && !def.is_sequential())
        };
        let run = calls
            .iter()
            .take(self.parallel)
            .take_while(|call| only_reads(&call.call) && !results.contains_key(&call.position));
        run.count().max(1)
    }

    /// Writes the deferred ends of read-only calls in one batch, and stores the results in order.
    async fn store_late(
        &self,
        thread: &mut Thread<'_>,
        stored: &StoredMessage,
        late: &mut Vec<LateResult<'_>>,
        results: &mut HashMap<u32, ToolMessage>,
    ) -> Result<(), TurnError> {
        join_all(
            late.iter_mut()
                .filter_map(|late| late.filed.deferred.as_mut()),
        )
        .await;
        for LateResult {
            call,
            result,
            filed,
        } in late.drain(..)
        {
            let message = self.store(thread, stored, call, &result, filed.stored());
            results.insert(call.position, message.await?);
        }
        Ok(())
    }

    /// Stores a result. If another driver stored a result first, returns that result.
    async fn store(
        &self,
        thread: &mut Thread<'_>,
        stored: &StoredMessage,
        call: &StoredCall<'_>,
        result: &CallResult,
        filed: Option<Message>,
    ) -> Result<ToolMessage, TurnError> {
        let message = ToolMessage::of(call.written, result);
        let place = Some(call.place());
        let done = match filed {
            Some(filed) => thread.note(filed).await,
            None => thread
                .append(Role::Tool, place, None, &message, None)
                .await
                .map(drop),
        };
        let message = match done {
            Ok(()) => message,
            Err(TurnError::Store(StoreError::Conflict(_))) => {
                thread.catch_up().await?;
                let theirs = thread.results(stored.seq)?.remove(&call.position);
                // If no other driver has stored the result, the thread was taken over, and the new driver stores it.
                theirs.ok_or_else(|| TurnError::Busy(stored.thread.clone()))?
            }
            Err(error) => return Err(error),
        };
        if let Some(observer) = &self.observer {
            notify("the observer of a turn", || observer(&message));
        }
        Ok(message)
    }
}

impl Turn {
    /// Returns the cause that is stored in the run's row; `None` if the run belongs to another drive.
    fn cause(&self, halt: Option<Halt>) -> Option<RunCause> {
        Some(match self {
            Self::Complete(_) => match halt {
                Some(Halt::Cancelled) => RunCause::Cancelled,
                Some(Halt::Interrupted) => RunCause::Interrupted,
                _ => RunCause::Complete,
            },
            Self::Waiting(_) | Self::Client(_) => RunCause::Waiting,
            Self::Lacking(_) => RunCause::Lacking,
            Self::Unsettled(_) => RunCause::Unsettled,
            Self::Deadline => RunCause::Deadline,
            Self::Draining => RunCause::Draining,
            Self::Busy(_) => return None,
        })
    }
}

/// Calls a callback of the host. A panic of the callback is logged, because the turn must continue.
fn notify(callback: &str, call: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
        tracing::error!(why = panic_text(&*payload), "{callback} panicked");
    }
}

/// Returns the thread of the context's conversation.
fn thread(cx: &ToolContext) -> Result<ThreadId, TurnError> {
    cx.thread().ok_or(TurnError::Unnamed)
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns")
            .field("parallel", &self.parallel)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}
