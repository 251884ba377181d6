//! Calls that are parked until the user answers, and the sealed state that the client sends back with the answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tool_core::__private0::canonical;
use tool_core::store::CallId;
use tool_core::{Answer, Question, ToolContext, ToolError};

use super::Given;
use super::rounds::{Aborted, Run};

/// Limits on calls that wait for an answer: the number of parked calls, and the time that each call waits. Calls of legacy-protocol clients wait
/// without being parked, so the number does not limit them.
#[derive(Clone, Debug)]
#[must_use]
pub struct Waiting {
    most: usize,
    patience: Duration,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            most: 1000,
            patience: Duration::from_mins(10),
        }
    }
}

impl Waiting {
    /// Returns the default limits: at most 1000 calls, each for ten minutes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of parked calls. A question beyond this limit fails. Calls of legacy-protocol clients are not parked and not counted.
    pub fn most(mut self, runs: usize) -> Self {
        self.most = runs;
        self
    }

    /// Sets the maximum time that each call waits for its answer. After that, the call is dropped, as if it were cancelled. In the legacy protocol,
    /// the question fails instead.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn limit(&self) -> Duration {
        self.patience
    }
}

/// The key that seals the state that a client receives with a question and sends back with the answer.
#[derive(Clone)]
pub struct StateKey(RequestStateCodec);

impl StateKey {
    /// Creates a key from random bytes. Fails if there are fewer than 32 bytes. Processes that continue each other's calls must use the same key.
    pub fn new(key: impl Into<Vec<u8>>) -> Result<Self, StateKeyError> {
        let codec = RequestStateCodec::try_new(key);
        codec.map(Self).map_err(|_| StateKeyError)
    }
}

/// Generates a random key. Only this process can open a state that is sealed with this key.
impl Default for StateKey {
    fn default() -> Self {
        let random = (0..4).flat_map(|_| uuid::Uuid::new_v4().into_bytes());
        Self(RequestStateCodec::new_unchecked(
            random.collect::<Vec<u8>>(),
        ))
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey")
    }
}

/// The error for a key with fewer than 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key has fewer than 32 bytes, use 32 random bytes")]
pub struct StateKeyError;

/// A question and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AnsweredQuestion {
    pub(crate) question: Asked,
    pub(crate) answer: StoredAnswer,
}

/// A question as it is stored in the sealed state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) message: String,
    pub(crate) schema: String,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self {
            message: question.message,
            schema: question.schema,
        }
    }
}

impl Asked {
    pub(crate) fn question(&self) -> Question {
        Question::new(self.message.as_str(), self.schema.as_str())
    }
}

/// An answer as it is stored in the sealed state.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredAnswer {
    Given(Box<RawValue>),
    Declined,
    Dismissed,
}

impl From<&Given> for StoredAnswer {
    fn from(answer: &Given) -> Self {
        match answer {
            Answer::Given(text) => Self::Given(text.clone()),
            Answer::Declined => Self::Declined,
            Answer::Dismissed => Self::Dismissed,
        }
    }
}

impl From<StoredAnswer> for Given {
    fn from(kept: StoredAnswer) -> Self {
        match kept {
            StoredAnswer::Given(text) => Self::Given(text),
            StoredAnswer::Declined => Self::Declined,
            StoredAnswer::Dismissed => Self::Dismissed,
        }
    }
}

/// The state that a client receives with a question and sends back with the answer. The seal prevents changes, but the client can read the state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// A tool has asked a question.
    Tool(ToolState),
    /// The gate needs an approval.
    Approval {
        /// The token of the ticket.
        token: String,
        /// The identity of the call that the client made.
        call: CallId,
        /// Whether the ticket is for a nested call that the tool makes.
        is_nested: bool,
        /// The question that was shown to the user.
        question: Asked,
    },
}

/// The state of a call whose tool has asked a question.
#[derive(Serialize, Deserialize)]
pub(crate) struct ToolState {
    /// The key of the parked run.
    pub(crate) nonce: String,
    /// The question that waits for an answer.
    pub(crate) question: Asked,
    /// The earlier questions of the call and their answers.
    pub(crate) before: Vec<AnsweredQuestion>,
}

/// A run that waits for an answer.
pub(crate) struct Parked {
    pub(crate) run: Run,
    pub(crate) answer: oneshot::Sender<Result<Given, ToolError>>,
    /// Aborts the timeout task when the run is taken or dropped.
    _clock: Aborted,
}

/// All parked runs of a server.
pub(crate) struct Parking {
    codec: RequestStateCodec,
    waiting: Waiting,
    runs: Arc<Mutex<HashMap<String, Parked>>>,
}

impl Parking {
    pub(crate) fn new(waiting: Waiting, key: StateKey) -> Self {
        Self {
            codec: key.0,
            waiting,
            runs: Arc::default(),
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        self.waiting.limit()
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks a run under a new nonce. Returns the run if too many runs are parked already.
    pub(crate) fn park(
        &self,
        run: Run,
        answer: oneshot::Sender<Result<Given, ToolError>>,
    ) -> Result<String, (Run, oneshot::Sender<Result<Given, ToolError>>)> {
        let nonce = uuid::Uuid::new_v4().to_string();
        let mut all = self.runs();
        if all.len() >= self.waiting.most {
            return Err((run, answer));
        }
        let (runs, key, patience) = (Arc::downgrade(&self.runs), nonce.clone(), self.patience());
        let clock = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            let Some(runs) = runs.upgrade() else { return };
            // The run is dropped after the lock is released, because dropping a run executes its destructors.
            let gone = runs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&key);
            drop(gone);
        });
        let parked = Parked {
            run,
            answer,
            _clock: Aborted(clock),
        };
        all.insert(nonce.clone(), parked);
        Ok(nonce)
    }

    /// Removes and returns the run that is parked under a nonce.
    pub(crate) fn take(&self, nonce: &str) -> Option<Parked> {
        self.runs().remove(nonce)
    }

    pub(crate) fn seal<T: Serialize>(&self, state: &T, call: &Sealed) -> Result<String, ErrorData> {
        let options = SealOptions::new()
            .associated_data(call.0.as_bytes())
            // The state is valid for longer than the run is parked, because a read-only or idempotent tool can be run again from the state alone.
            .ttl(self.patience().saturating_mul(6));
        let sealed = self.codec.seal_json_with(state, &options);
        sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    pub(crate) fn open<T: serde::de::DeserializeOwned>(
        &self,
        sealed: &str,
        call: &Sealed,
    ) -> Result<T, ErrorData> {
        let opened = self.codec.open_json_with(sealed, call.0.as_bytes());
        opened.map_err(|_| {
            ErrorData::invalid_params(
                "`requestState` was not issued by this server for this call, or has expired",
                None,
            )
        })
    }
}

/// The associated data of a sealed state: user, workspace, tool and arguments.
pub(crate) struct Sealed(String);

impl Sealed {
    pub(crate) fn of(tool: &str, arguments: &str, cx: &ToolContext) -> Self {
        // A client may repeat the same arguments with different whitespace or key order. Every digit is significant: two numbers that `f64` rounds to
        // the same value are two different calls.
        let canonical = canonical(arguments).unwrap_or_else(|| arguments.to_owned());
        let whose = serde_json::json!([cx.user(), cx.workspace(), tool]);
        Self(format!("{whose}{canonical}"))
    }
}
