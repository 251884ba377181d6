//! Runs that wait for an answer, and what the client carries meanwhile.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tool_core::private::canonical;
use tool_core::store::CallId;
use tool_core::{Answer, Question, ToolContext, ToolError};

use super::Given;
use super::rounds::{Aborted, Run};

/// How long and how many runs wait for their users.
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
    /// At most 1000 runs, each for ten minutes.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many runs at once; a question beyond that fails.
    pub fn most(mut self, runs: usize) -> Self {
        self.most = runs;
        self
    }

    /// Each for so long; then the run is dropped, as a cancelled call is.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn limit(&self) -> Duration {
        self.patience
    }
}

/// A key that seals what clients carry.
#[derive(Clone)]
pub struct StateKey(RequestStateCodec);

impl StateKey {
    /// A key of at least 32 random bytes, the same in every process that may take up another's calls.
    pub fn new(key: impl Into<Vec<u8>>) -> Result<Self, StateKeyError> {
        let codec = RequestStateCodec::try_new(key);
        codec.map(Self).map_err(|_| StateKeyError)
    }
}

/// A random key.
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

/// A key that is too short to seal with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key has fewer than 32 bytes, take 32 random ones")]
pub struct StateKeyError;

/// A question and what was said to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Remembered {
    pub(crate) question: Asked,
    pub(crate) answer: Kept,
}

/// A question as a client carries it.
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

/// An answer as a client carries it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kept {
    Given(Box<RawValue>),
    Declined,
    Dismissed,
}

impl From<&Given> for Kept {
    fn from(answer: &Given) -> Self {
        match answer {
            Answer::Given(text) => Self::Given(text.clone()),
            Answer::Declined => Self::Declined,
            Answer::Dismissed => Self::Dismissed,
        }
    }
}

impl From<Kept> for Given {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Given(text) => Self::Given(text),
            Kept::Declined => Self::Declined,
            Kept::Dismissed => Self::Dismissed,
        }
    }
}

/// What a client carries between two rounds. It is sealed against changes, not against being read.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// A tool has a question.
    Tool(ToolState),
    /// The gate has one.
    Approval {
        /// The ticket's token.
        token: String,
        /// The identity of the call that the client has made.
        call: CallId,
        /// Whether the ticket is of a call that the tool makes.
        is_nested: bool,
        /// What it asks.
        question: Asked,
    },
}

/// A question of a tool.
#[derive(Serialize, Deserialize)]
pub(crate) struct ToolState {
    /// Names the run that waits.
    pub(crate) nonce: String,
    /// The question that waits.
    pub(crate) question: Asked,
    /// What was asked and answered before.
    pub(crate) before: Vec<Remembered>,
}

/// A run that waits.
pub(crate) struct Parked {
    pub(crate) run: Run,
    pub(crate) answer: oneshot::Sender<Result<Given, ToolError>>,
    /// Ends the wait.
    _clock: Aborted,
}

/// Everything that waits.
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

    /// Lets a run wait under a new nonce; gives it back where too many wait.
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
            // Dropped outside of the lock, for what the run does then.
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

    /// The run that waits under a nonce, once.
    pub(crate) fn take(&self, nonce: &str) -> Option<Parked> {
        self.runs().remove(nonce)
    }

    pub(crate) fn seal<T: Serialize>(&self, state: &T, call: &Sealed) -> Result<String, ErrorData> {
        let options = SealOptions::new()
            .associated_data(call.0.as_bytes())
            // The state outlives the run: then the body may run again.
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
                "`requestState` is not one that this server gave for this call, or is too old",
                None,
            )
        })
    }
}

/// What a state is sealed together with: whose call it is, and which.
pub(crate) struct Sealed(String);

impl Sealed {
    pub(crate) fn of(tool: &str, arguments: &str, cx: &ToolContext) -> Self {
        // A client may write the same arguments with other spaces, and keys in another order.
        // Every digit counts: numbers that `f64` rounds to one are two calls.
        let canonical = canonical(arguments).unwrap_or_else(|| arguments.to_owned());
        let whose = serde_json::json!([cx.user(), cx.workspace(), tool]);
        Self(format!("{whose}{canonical}"))
    }
}
