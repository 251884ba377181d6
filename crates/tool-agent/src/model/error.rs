//! Errors of requests to a model.

use std::fmt;
use std::time::Duration;

use tool_core::store::Usage;
use tool_core::{ErrorKind, ToolError};

/// Why a request to a model failed.
///
/// [`HttpModel::error`](super::HttpModel::error) returns the error of the last step, after all retries and all models of the chain, for example if
/// [`drive`](tool_core::turn::Turns::drive) ended with [`TurnError::Model`](tool_core::turn::TurnError::Model).
/// [`ModelEvent::Failed`](super::ModelEvent::Failed) contains the error of one attempt.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", Text(self))]
#[non_exhaustive]
pub struct ModelError {
    /// The class of the failure.
    pub kind: ModelErrorKind,
    /// The name of the model.
    pub model: String,
    /// The status of the error response, if there was one.
    pub status: Option<u16>,
    /// The provider's name for the error, such as `overloaded_error` or `insufficient_quota`.
    pub code: Option<String>,
    /// A description of the failure: the provider's message, or a text of this crate.
    pub message: String,
    /// The minimum wait before the next request, if the provider requested one or an exhausted
    /// [shared limit](super::HttpModelBuilder::shared_limits) requires one. [`soonest`](Self::soonest) returns the shortest wait of the whole chain.
    pub retry_after: Option<Duration>,
    /// The wait after which the run can continue: the shortest wait of the chain that exceeds the [budget](super::Retry::budget) or the deadline. It
    /// is `None` if a retry would fail again, for example because the request is invalid. If it is set, the error of the agent loop is of the kind
    /// `Pending`, which suspends the run ([`TurnError::resumes_after`](tool_core::turn::TurnError::resumes_after)).
    pub resumes_after: Option<Duration>,
    /// The number of attempts at this model. An attempt counts even if its request could not be sent, for example because the credentials failed, and
    /// counts once if its request was sent again with a renewed token. The number is 0 if a requested wait, a shared limit or a shared budget
    /// prevented the last attempt, or if the request could not be written.
    pub attempts: u32,
    /// The tokens that the failed attempts of all models used in this step, as far as the providers reported them. In
    /// [`ModelEvent::Failed`](super::ModelEvent::Failed), this is the usage of one attempt.
    pub usage: Option<Usage>,
    /// The models of the chain that failed before this one, or were skipped because of a wait.
    pub earlier: Vec<FailedModel>,
}

/// A model of the chain that failed, or was skipped because of a wait, before the next one was tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FailedModel {
    /// The name of the model.
    pub model: String,
    /// The class of the failure.
    pub kind: ModelErrorKind,
    /// The status of the error response, if there was one.
    pub status: Option<u16>,
    /// The provider's name for the error.
    pub code: Option<String>,
    /// A description of the failure: the provider's message, or a text of this crate.
    pub message: String,
    /// The minimum wait before the next request, if the provider requested one or an exhausted shared limit requires one.
    pub retry_after: Option<Duration>,
    /// The number of attempts at this model, as in [`ModelError::attempts`].
    pub attempts: u32,
}

/// The class of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The rate limit of the account or the model was reached (429), an earlier requested wait has not ended, or a
    /// [shared limit](super::HttpModelBuilder::shared_limits) of the host is exhausted.
    RateLimited,
    /// The quota or the credit of the account is exhausted (402, or a name such as `insufficient_quota`), so waiting a short time does not help.
    QuotaExhausted,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// The provider failed (other 5xx, 408 and 409), or it reported an unknown error inside a reply.
    Server,
    /// The connection could not be made, or it broke before the first event of the reply or during a reply that is not streamed.
    Connection,
    /// The stream broke or ended before the reply was complete.
    BrokenStream,
    /// A phase of the request exceeded its limit in [`Timeouts`](super::Timeouts).
    Timeout(TimeoutPhase),
    /// The conversation is longer than the model's context window.
    ContextWindow,
    /// A filter of the provider refused the request. If a filter withholds a reply, the run ends with
    /// [`Outcome::Filtered`](tool_core::turn::Outcome::Filtered) and without an error.
    Filtered,
    /// The provider refused the credentials (401, or a name such as `invalid_api_key`), the request could not be sent or signed with them, or the
    /// source of credentials failed or did not answer in 30 s.
    Authentication,
    /// The account may not use the model (403).
    Permission,
    /// The model or the path does not exist (404).
    NotFound,
    /// The provider refused the request as invalid (other 4xx), or redirected it (3xx); redirects are not followed.
    InvalidRequest,
    /// The reply is not in the provider's format, or is longer than 64 MiB.
    InvalidReply,
    /// The request could not be written: a message or a tool cannot be sent to this provider.
    Unwritable,
    /// The request is not in the recording that is replayed, or the recording could not be written.
    NotRecorded,
    /// The request was not sent again, because the [budget](tool_core::turn::Budget) that the run shares has less left than the request may use. The
    /// run ends with [`Outcome::SharedBudget`](tool_core::turn::Outcome::SharedBudget).
    OverBudget,
    /// The request was not sent again, because the store of the [budget](tool_core::turn::Budget) that the run shares failed.
    BudgetUnavailable,
    /// The request was not sent, because the store of the [shared limits](super::HttpModelBuilder::shared_limits) failed.
    LimitsUnavailable,
}

/// The phase of a request whose timeout expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// Before the connection was made.
    Connect,
    /// Before the first event of the reply, or before the end of a reply that is not streamed.
    FirstEvent,
    /// After the first event of the reply. The message of the error states the timeout that expired.
    Idle,
}

impl ModelErrorKind {
    /// Returns a name for logs and stores, such as `rate_limited`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Connection => "connection",
            Self::BrokenStream => "broken_stream",
            Self::Timeout(TimeoutPhase::Connect) => "connect_timeout",
            Self::Timeout(TimeoutPhase::FirstEvent) => "first_event_timeout",
            Self::Timeout(TimeoutPhase::Idle) => "idle_timeout",
            Self::ContextWindow => "context_window",
            Self::Filtered => "filtered",
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidReply => "invalid_reply",
            Self::Unwritable => "unwritable",
            Self::NotRecorded => "not_recorded",
            Self::OverBudget => "over_budget",
            Self::BudgetUnavailable => "budget_unavailable",
            Self::LimitsUnavailable => "limits_unavailable",
        }
    }

    /// Returns whether errors of this class are retried. If the provider reports an error, and the response has the header `x-should-retry`, the
    /// header takes precedence, except for [`QuotaExhausted`](Self::QuotaExhausted). A reply that is too long is not retried.
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Server
                | Self::Connection
                | Self::BrokenStream
                | Self::Timeout(_)
                | Self::InvalidReply
        )
    }

    /// Returns whether the provider may have counted tokens for the failed request, although it reported none.
    pub(super) const fn may_use_tokens(self) -> bool {
        matches!(
            self,
            Self::BrokenStream
                | Self::Timeout(TimeoutPhase::FirstEvent | TimeoutPhase::Idle)
                | Self::InvalidReply
        )
    }

    /// Returns whether the request is sent to the next model of a chain after an error of this class. For example, a request that is invalid, too
    /// long or filtered is not sent to the next model, because that could hide the fault or evade the filter.
    pub const fn allows_fallback(self) -> bool {
        self.is_transient()
            || matches!(
                self,
                Self::QuotaExhausted | Self::Authentication | Self::Permission | Self::NotFound
            )
    }
}

impl fmt::Display for ModelErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RateLimited => "the rate limit was reached",
            Self::QuotaExhausted => "the quota of the account is exhausted",
            Self::Overloaded => "the provider is overloaded",
            Self::Server => "the provider failed",
            Self::Connection => "the connection could not be made or broke",
            Self::BrokenStream => "the stream ended before the reply was complete",
            Self::Timeout(TimeoutPhase::Connect) => "no connection was made in time",
            Self::Timeout(TimeoutPhase::FirstEvent) => "the reply did not begin in time",
            Self::Timeout(TimeoutPhase::Idle) => "no event of the reply arrived in time",
            Self::ContextWindow => "the conversation is longer than the model's context window",
            Self::Filtered => "a filter of the provider refused the request",
            Self::Authentication => "the credentials were refused or could not be read",
            Self::Permission => "the account may not use the model",
            Self::NotFound => "the model or the path does not exist",
            Self::InvalidRequest => "the provider refused the request",
            Self::InvalidReply => "the reply is not in the provider's format",
            Self::Unwritable => "the request cannot be written for this provider",
            Self::NotRecorded => "the recording cannot be used for this request",
            Self::OverBudget => "the shared budget has less left than a request may use",
            Self::BudgetUnavailable => "the store of the shared budget failed",
            Self::LimitsUnavailable => "the store of the shared limits failed",
        })
    }
}

impl ModelError {
    /// Creates an error. It is boxed to keep the `Result`s that contain it small.
    pub(super) fn new(kind: ModelErrorKind, model: &str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            kind,
            model: model.to_owned(),
            status: None,
            code: None,
            message: message.into(),
            retry_after: None,
            resumes_after: None,
            attempts: 0,
            usage: None,
            earlier: Vec::new(),
        })
    }

    /// Returns the shortest wait before another request ([`retry_after`](Self::retry_after)) of all models of the chain.
    pub fn soonest(&self) -> Option<Duration> {
        let earlier = self.earlier.iter().filter_map(|model| model.retry_after);
        earlier.chain(self.retry_after).min()
    }

    /// Converts the error for the agent loop. The operator's text contains the complete error.
    pub(super) fn to_tool_error(&self) -> ToolError {
        let kind = match self.kind {
            _ if self.resumes_after.is_some() => ErrorKind::Pending,
            ModelErrorKind::RateLimited => ErrorKind::RateLimited,
            ModelErrorKind::Timeout(_) => ErrorKind::TimedOut,
            _ => ErrorKind::Unavailable,
        };
        let error = ToolError::of(kind, "the request to the model failed");
        // The wait is a part of the text of `ToolError`.
        let text = Self {
            retry_after: None,
            ..self.clone()
        };
        let error = error.operator(text.to_string());
        match self.resumes_after.or(self.soonest()) {
            Some(wait) => error.retry_after(wait),
            None => error,
        }
    }
}

impl From<ModelError> for FailedModel {
    fn from(error: ModelError) -> Self {
        Self {
            model: error.model,
            kind: error.kind,
            status: error.status,
            code: error.code,
            message: error.message,
            retry_after: error.retry_after,
            attempts: error.attempts,
        }
    }
}

/// Writes an error and the failures of the earlier models of its chain in one line.
struct Text<'a>(&'a ModelError);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.0;
        write!(f, "{}: {}", error.model, error.kind)?;
        match (error.status, &error.code) {
            (Some(status), Some(code)) => write!(f, " ({status}, {code})")?,
            (Some(status), None) => write!(f, " ({status})")?,
            (None, Some(code)) => write!(f, " ({code})")?,
            (None, None) => {}
        }
        if !error.message.is_empty() {
            write!(f, ": {}", error.message)?;
        }
        if error.attempts > 1 {
            write!(f, "; {} attempts", error.attempts)?;
        }
        if let Some(wait) = error.retry_after {
            write!(f, "; retry after {:.1} s", wait.as_secs_f64())?;
        }
        for earlier in &error.earlier {
            write!(f, "; before it, {}: {}", earlier.model, earlier.kind)?;
            if !earlier.message.is_empty() {
                write!(f, ": {}", earlier.message)?;
            }
        }
        Ok(())
    }
}
