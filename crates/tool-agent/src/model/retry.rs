//! Settings for the retries and timeouts of requests to a model.

use std::time::Duration;

use tool_core::env;

/// The rules for sending a failed request again.
///
/// Requests are repeated after 408, 409, 429, 5xx, broken connections and streams, timeouts, and replies that violate the provider's format, unless
/// the provider says that the failure is final (an exhausted quota, `x-should-retry: false`). With `x-should-retry: true`, other failures are retried
/// too, except exhausted quotas. The wait before attempt *n* (the first retry is attempt 2) is random, between half and the whole of the shorter of
/// `first_wait` × 2ⁿ⁻² and `longest_wait`. By default, it is 0.25 s to 0.5 s before attempt 2, and 0.5 s to 1 s before attempt 3. If the provider
/// asks for a wait (`retry-after-ms`, `Retry-After`, Gemini's `retryDelay`), its wait replaces the computed one, even if it is shorter. Up to a
/// quarter of it is added at random, so that many clients do not return at the same moment. If the provider's wait exceeds the `budget` or
/// the deadline of the context, the next model of the chain is tried at once; without one, the run is suspended, and
/// [`ModelError::resumes_after`](super::ModelError::resumes_after) is the wait. A [`Worker`](crate::worker::Worker) then queues the run for that
/// time, and other hosts drive the thread again.
///
/// ```
/// use std::time::Duration;
/// use tool_agent::model::Retry;
///
/// let mut retry = Retry::default();
/// assert_eq!(retry.attempts, 3);
/// retry.budget = Duration::from_secs(10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// The number of attempts at one model, including the first; 0 counts as 1. A request that is sent again with a renewed token
    /// ([`Credentials::refused`](super::Credentials::refused)) belongs to the same attempt.
    pub attempts: u32,
    /// The longest wait before the second attempt, unless the provider asks for a wait.
    pub first_wait: Duration,
    /// The longest wait before any attempt, unless the provider asks for a wait.
    pub longest_wait: Duration,
    /// Maximum sum of all waits of one step, over all models of the chain.
    pub budget: Duration,
    /// The handling of an attempt that fails after a part of its reply was passed on.
    pub restart: Restart,
}

impl Default for Retry {
    /// Returns the default: 3 attempts, at most 0.5 s before the second, at most 8 s before any attempt, and at most 60 s of waiting in a step.
    fn default() -> Self {
        Self {
            attempts: 3,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(8),
            budget: Duration::from_mins(1),
            restart: Restart::default(),
        }
    }
}

/// The handling of an attempt that fails after a part of its reply was passed on.
///
/// With each choice, a failed attempt stores nothing and runs no call. An interface that cannot remove text, such as the AI SDK before version 7,
/// needs [`Hold`](Self::Hold) or [`Refuse`](Self::Refuse).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Restart {
    /// The request is repeated after [`ModelEvent::StepRestarted`](super::ModelEvent::StepRestarted), which withdraws what was passed on.
    #[default]
    Withdraw,
    /// The pieces of an attempt are passed on when its reply is complete, so that nothing has to be withdrawn. The user sees no text while the model
    /// writes, and if the run is stopped, the incomplete text is not stored.
    Hold,
    /// An attempt that fails after a piece of its reply was passed on ends the step: the request is not sent again, neither to this model nor to the
    /// next model of the chain. An attempt that fails before its first piece is repeated.
    Refuse,
}

/// The maximum time of each phase of a request.
///
/// Only events of the reply count: bytes, comments and pings that keep a connection open do not, so the timeout also expires if a provider sends only
/// pings. [`Duration::MAX`] disables a timeout. The complete reply has no timeout; use the deadline of the context. In a chain, each model has its
/// own timeouts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The maximum time to connect.
    pub connect: Duration,
    /// The maximum time from sending the request until the first event of the reply, and from the head of the response until the first piece: a text,
    /// reasoning or a call. If a server sends one JSON body in place of a stream, the complete body must be received in this time. Models that do not
    /// stream their reasoning need minutes.
    pub first_event: Duration,
    /// The maximum time between two events of the reply. Before the first piece, the later of this limit and `first_event` applies.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// Returns the default: 10 s to connect, 300 s until the first event, and 120 s between two events.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_event: Duration::from_mins(5),
            idle: Duration::from_mins(2),
        }
    }
}

/// Maximum length of a computed wait. A wait that the provider requests is limited by the budget and the
/// deadline only.
const LONGEST: Duration = Duration::from_hours(24);

impl Retry {
    /// Returns the wait before the attempt with this number; the first retry is attempt 2. `asked` is the wait that the provider asked for.
    pub(super) fn wait(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doublings = attempt.saturating_sub(2).min(16);
        let full = self.first_wait.saturating_mul(1 << doublings);
        let full = full.min(self.longest_wait).min(LONGEST);
        let own = full.mul_f64(0.5 + 0.5 * random());
        // The jitter is added to the wait of the provider, so that many clients do not return at the same moment.
        asked.map_or(own, |asked| asked.saturating_add(own.min(asked / 4)))
    }
}

/// Returns a random number from 0 to 1.
fn random() -> f64 {
    let mut bytes = [0; 4];
    // The jitter is optional: without random bytes, all clients wait equally long.
    match env::random(&mut bytes) {
        Ok(()) => f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_are_never_shorter_than_asked() {
        let retry = Retry::default();
        for _ in 0..50 {
            for (attempt, most) in [(2, 500), (3, 1000), (4, 2000), (6, 8000), (40, 8000)] {
                let (wait, most) = (retry.wait(attempt, None), Duration::from_millis(most));
                assert!(wait >= most / 2 && wait <= most, "{attempt}: {wait:?}");
            }
            let asked = Duration::from_millis(45_838);
            let wait = retry.wait(2, Some(asked));
            assert!(
                wait >= asked && wait <= asked + retry.first_wait,
                "{wait:?}"
            );
            let none = retry.wait(2, Some(Duration::ZERO));
            assert_eq!(none, Duration::ZERO);
        }
    }
}
