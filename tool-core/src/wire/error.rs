//! What can be wrong between a provider and this host.

use super::Provider;
use crate::schema::rules::Fault;

/// Why a provider's answer could not be read, or an answer to it not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The body, or the data of an event, is no JSON.
    #[error("{provider} sent what is no JSON: {why}")]
    Json {
        /// Whose.
        provider: Provider,
        /// What the parser says.
        why: String,
    },
    /// A value is not what the provider's API says.
    #[error("{provider} sent another shape at `{pointer}`: expected {expected}, found {found}")]
    Shape {
        /// Whose.
        provider: Provider,
        /// Where, as a JSON pointer into the body or the event.
        pointer: String,
        /// What belongs there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The provider says that the request failed.
    #[error("{provider} reports `{kind}`: {message}")]
    Reported {
        /// Who.
        provider: Provider,
        /// The provider's word for it.
        kind: String,
        /// The provider's sentence.
        message: String,
    },
    /// The bytes of a stream are not what can be read here.
    #[error("the stream of {provider} cannot be read: {why}")]
    Stream {
        /// Whose.
        provider: Provider,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A call has no result; providers refuse a history with such a hole.
    #[error("call `{call}` has no result: give one for every call of the message")]
    Unanswered {
        /// Its id.
        call: String,
    },
    /// A result answers no call of the message.
    #[error("the result of `{call}` answers no call of the message")]
    Unasked {
        /// The id in the result.
        call: String,
    },
    /// A stored message is none that a turn has written.
    #[error("message {seq} of the thread cannot be written for {provider}: {why}")]
    Thread {
        /// For whom.
        provider: Provider,
        /// Its place.
        seq: u64,
        /// What is wrong.
        why: String,
    },
}

/// Why tools cannot go into one request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// More than the provider takes. Nothing is left out or loosened by itself: choose fewer tools, or say which are sent without
    /// `strict` ([`Provider::offer_lenient`]).
    #[error("{provider} would refuse these tools: {}", list(.faults))]
    Budget {
        /// Who.
        provider: Provider,
        /// Each limit that is exceeded.
        faults: Vec<Fault>,
    },
    /// A tool that is to be sent without `strict` is not offered.
    #[error("`{0}` is to be sent without `strict`, but no such tool is offered")]
    NoSuchTool(String),
}

fn list(faults: &[Fault]) -> String {
    let one = |fault: &Fault| format!("[{}] {}: {}", fault.rule, fault.path, fault.text);
    let faults: Vec<String> = faults.iter().map(one).collect();
    faults.join("; ")
}
