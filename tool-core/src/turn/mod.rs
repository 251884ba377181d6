//! The calls of one message of a model, and the loop around them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use futures::stream::{FuturesOrdered, StreamExt};
use serde_json::value::RawValue;

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::gate::approval::Ticket;
use crate::store::{EffectRow, NewMessage, Role, StoreError, ThreadStore, Timestamp};
use crate::tool::VariableNeed;
use crate::toolset::Toolset;

mod call;
mod drive;
mod message;

use call::Ended;
pub use drive::{Model, Outcome, Request};
pub use message::{ModelMessage, ToolMessage, Written};

type Observer = dyn Fn(&ToolMessage) + Send + Sync;
/// Is told of the steps of running calls.
type Progress = dyn Fn(&ToolCall, &RawValue) + Send + Sync;

/// Steps of a run where a host says nothing.
const STEPS: u32 = 15;

/// Runs the calls of model messages, one after the other in their order, and stores each result in the thread before it goes on.
///
/// A crash between two calls loses nothing: the same message is run again, and what has a stored result is not called. For calls with
/// effects that were under way, the gate's ledger knows more.
///
/// ```
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::{ModelMessage, Turn, Turns};
/// use tool_core::{ToolCall, ToolContext, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first.
///     a: i32,
///     /// The second.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tool_core::turn::TurnError> {
/// let turns = Turns::new(MemoryStore::default());
/// let cx = ToolContext::builder().conversation("th-1").turn("t-1").build();
/// let message = ModelMessage::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]);
/// let Turn::Complete(results) = turns.run(&toolset![add], &message, &cx).await? else { unreachable!() };
/// assert_eq!(results[0].text, "3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Turns {
    threads: Arc<dyn ThreadStore>,
    parallel: usize,
    steps: u32,
    observer: Option<Arc<Observer>>,
    progress: Option<Arc<Progress>>,
}

/// Where the calls of a message stand.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Every call has its result; the model goes on. In the order of the calls.
    Complete(Vec<ToolMessage>),
    /// Some calls wait for a person; the others have their results in the thread. Run the message again when all are answered.
    Waiting(Vec<Ticket>),
    /// Some calls need variables that nobody has supplied; the others have their results in the thread. Supply them and run the
    /// message again.
    Lacking(Vec<VariableNeed>),
    /// A call was begun before and its end is not known: it is `running` elsewhere, or `ambiguous` and wants an operator
    /// ([`Gate::resolve`](crate::Gate::resolve), by the key in its row). Neither it nor a call after it was run. Run the message again
    /// when the row is settled.
    Unsettled(Box<EffectRow>),
}

/// Why a turn could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The context names no conversation or no turn.
    #[error(
        "the context names no {0}, so results cannot be stored: `ToolContext::builder().{0}(…)`"
    )]
    Unnamed(&'static str),
    /// The store failed. What is stored stays; run the message again.
    #[error("the thread could not be read or written: {0}")]
    Store(#[from] StoreError),
    /// The host takes no more calls. What is stored stays, the other calls are open: run the message again in the next process.
    #[error("the host is shutting down, run the message again in another process")]
    Draining,
    /// The model failed.
    #[error("the model failed: {}", .0.operator_text())]
    Model(ToolError),
    /// A stored message is none that this crate has written.
    #[error("message {seq} of the thread cannot be read: {why}")]
    Unreadable {
        /// Its place.
        seq: u64,
        /// What is wrong.
        why: String,
    },
}

impl Turns {
    /// Keeps results in this store.
    pub fn new(threads: impl ThreadStore) -> Self {
        Self::shared(Arc::new(threads))
    }

    /// Keeps results in a store that others hold as well.
    pub fn shared(threads: Arc<dyn ThreadStore>) -> Self {
        Self {
            threads,
            parallel: 1,
            steps: STEPS,
            observer: None,
            progress: None,
        }
    }

    /// Runs up to so many neighbouring calls at once, where their tools only read and none says `sequential`. Results keep the
    /// model's order.
    #[must_use]
    pub fn parallel(mut self, most: usize) -> Self {
        self.parallel = most.max(1);
        self
    }

    /// Model messages that one run may take; 15 where nothing is said.
    #[must_use]
    pub fn most_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// Is told of every result, success or failure, when it is stored.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ToolMessage) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Is told of the progress of running calls, as JSON text: it is for the client, no model reads it and nothing stores it.
    #[must_use]
    pub fn progress(
        mut self,
        progress: impl Fn(&ToolCall, &RawValue) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Runs what has no stored result yet of the calls of a message. `cx` names conversation and turn; every message of a model is a
    /// turn of its own.
    pub async fn run(
        &self,
        tools: &Toolset,
        message: &ModelMessage,
        cx: &ToolContext,
    ) -> Result<Turn, TurnError> {
        let thread = cx
            .conversation()
            .ok_or(TurnError::Unnamed("conversation"))?
            .to_owned();
        let turn = cx.turn().ok_or(TurnError::Unnamed("turn"))?.to_owned();
        let mut stored = self.stored(&thread, &turn).await?;
        let place = Place { thread, turn };
        let (mut tickets, mut lacking) = (Vec::new(), Vec::<VariableNeed>::new());
        let keys = call_keys(&message.calls);
        let mut at = 0;
        while at < message.calls.len() {
            if stored.contains_key(&keys[at]) {
                at += 1;
                continue;
            }
            let group = self.group(tools, message, &keys, &stored, at);
            let results: Vec<Ended> = if group == 1 {
                vec![self.one(tools, message, &message.calls[at], cx).await]
            } else {
                let calls = message.calls[at..at + group].iter();
                let run = calls.map(|call| self.one(tools, message, call, cx));
                run.collect::<FuturesOrdered<_>>().collect().await
            };
            let (mut unsettled, mut draining) = (None, false);
            for (key, ended) in keys[at..].iter().zip(results) {
                let result = match ended {
                    Ended::Result(result) => result,
                    Ended::NotTaken => {
                        draining = true;
                        continue;
                    }
                    Ended::Unsettled(row) => {
                        unsettled = Some(row);
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
                let stored_message = self.store(&place, key, ToolMessage::of(&result)).await?;
                stored.insert(key.clone(), stored_message);
            }
            if draining {
                return Err(TurnError::Draining);
            }
            if let Some(row) = unsettled {
                return Ok(Turn::Unsettled(row));
            }
            at += group;
        }
        if !lacking.is_empty() {
            return Ok(Turn::Lacking(lacking));
        }
        if !tickets.is_empty() {
            return Ok(Turn::Waiting(tickets));
        }
        Ok(Turn::Complete(
            keys.iter().filter_map(|key| stored.remove(key)).collect(),
        ))
    }

    /// How many calls from a position on may run at once.
    fn group(
        &self,
        tools: &Toolset,
        message: &ModelMessage,
        keys: &[String],
        stored: &HashMap<String, ToolMessage>,
        at: usize,
    ) -> usize {
        let apart = |call: &ToolCall| {
            tools
                .get(&call.name)
                .is_some_and(|def| def.hints().read_only && !def.is_sequential())
        };
        let calls = message.calls[at..].iter().zip(&keys[at..]);
        let run = calls
            .take(self.parallel)
            .take_while(|(call, key)| apart(call) && !stored.contains_key(*key));
        run.count().max(1)
    }

    /// Results that are there already.
    async fn stored(
        &self,
        thread: &str,
        turn: &str,
    ) -> Result<HashMap<String, ToolMessage>, TurnError> {
        let mut stored = HashMap::new();
        for message in self.threads.read(thread, None).await? {
            if message.turn == turn
                && message.role == Role::Tool
                && let Some(call) = message.call
            {
                stored.insert(call, read(message.seq, &message.content)?);
            }
        }
        Ok(stored)
    }

    /// Stores a result. Where another process was faster, its result holds.
    async fn store(
        &self,
        place: &Place,
        key: &str,
        message: ToolMessage,
    ) -> Result<ToolMessage, TurnError> {
        let new = place.message(Role::Tool, Some(key.to_owned()), &message)?;
        let message = match self.threads.append(new).await {
            Ok(_) => message,
            Err(StoreError::Conflict(why)) => {
                let theirs = self.stored(&place.thread, &place.turn).await?.remove(key);
                theirs.ok_or(StoreError::Conflict(why))?
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(observer) = &self.observer {
            observer(&message);
        }
        Ok(message)
    }
}

/// Where messages go.
struct Place {
    thread: String,
    turn: String,
}

impl Place {
    fn message<T: serde::Serialize>(
        &self,
        role: Role,
        call: Option<String>,
        content: &T,
    ) -> Result<NewMessage, TurnError> {
        let content = serde_json::to_string(content)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        Ok(NewMessage {
            thread: self.thread.clone(),
            turn: self.turn.clone(),
            role,
            call,
            content,
            at: Timestamp::now(),
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(seq: u64, content: &str) -> Result<T, TurnError> {
    serde_json::from_str(content).map_err(|error| TurnError::Unreadable {
        seq,
        why: error.to_string(),
    })
}

/// A name for each call within its turn: its id, and its place where another call before it has the same id.
pub(crate) fn call_keys(calls: &[ToolCall]) -> Vec<String> {
    let mut seen = HashSet::new();
    let key = |(at, call): (usize, &ToolCall)| {
        let key = call.id.clone();
        if seen.insert(key.clone()) {
            key
        } else {
            format!("{key}#{at}")
        }
    };
    calls.iter().enumerate().map(key).collect()
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns")
            .field("parallel", &self.parallel)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}
