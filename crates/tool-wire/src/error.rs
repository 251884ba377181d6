//! Errors of the provider formats: replies that cannot be read, and tools that cannot be offered.

use tool_core::schema::rules::Fault;

use super::Provider;

/// Why a provider's reply could not be read, or why a message for the provider could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The body, or the data of an event, is not JSON.
    #[error("{provider} sent invalid JSON: {why}")]
    Json {
        /// The provider that sent the text.
        provider: Provider,
        /// The message of the JSON parser.
        why: String,
    },
    /// A value does not have the expected shape, for example because the request asked for several choices.
    #[error(
        "{provider} sent an unexpected shape at `{pointer}`: expected {expected}, found {found}"
    )]
    Shape {
        /// The provider that sent the value.
        provider: Provider,
        /// The position of the value, as a JSON pointer into the body or the event.
        pointer: String,
        /// The value that was expected.
        expected: String,
        /// The value that was found.
        found: String,
    },
    /// The provider reports that the request failed.
    #[error("{provider} reports `{kind}`: {message}")]
    Reported {
        /// The provider that reports the error.
        provider: Provider,
        /// The provider's name for the kind of error.
        kind: String,
        /// The provider's second name or number of the error, if it sends one that differs from `kind`: `OpenAI` sends `type` and `code`, Gemini
        /// sends `status` and the HTTP status.
        code: Option<String>,
        /// The provider's message about the error.
        message: String,
    },
    /// Two calls of one response have the same id, so a result with this id would be ambiguous. The response is invalid: none of its calls is run.
    /// The request can be sent again.
    #[error(
        "{provider} sent two calls with the id `{id}` in one response, so none of its calls is run: send the request again"
    )]
    RepeatedId {
        /// The provider that sent the calls.
        provider: Provider,
        /// The id that two calls share.
        id: String,
    },
    /// The bytes of a stream cannot be read.
    #[error("the stream of {provider} cannot be read: {why}")]
    Stream {
        /// The provider that sent the stream.
        provider: Provider,
        /// A description of the fault, with the fix if there is one.
        why: String,
    },
    /// A call has no result. Providers refuse a history with such a call.
    #[error("call `{call}` has no result: pass a result for every call of the message")]
    MissingResult {
        /// The id of the call.
        call: String,
    },
    /// No call of the message has the id of a result, or a different result for the same call was passed.
    #[error(
        "a result has the id `{call}`, but no call of the message has this id, or a different result already has it: pass one result for each call"
    )]
    UnknownCall {
        /// The id in the result.
        call: String,
    },
    /// A stored message does not have the form that a turn writes.
    #[error("message {seq} of the thread cannot be written for {provider}: {why}")]
    Thread {
        /// The provider for which the thread is written.
        provider: Provider,
        /// The number of the message in the thread.
        seq: u64,
        /// A description of the fault in the message.
        why: String,
    },
}

/// Why tools cannot be sent in one request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// The tools exceed the provider's limits. No tool is left out automatically, and tools are made non-strict only if the host allows it:
    /// choose fewer tools, or name the tools that are sent without `strict` ([`Provider::offer_lenient`]).
    #[error("{provider} would refuse these tools: {}", list(.faults))]
    Budget {
        /// The provider that would refuse the tools.
        provider: Provider,
        /// Each limit that is exceeded.
        faults: Vec<Fault>,
    },
    /// A tool that is to be sent without `strict` is not offered.
    #[error(
        "`{0}` is to be sent without `strict`, but no such tool is offered: remove it, or correct the name"
    )]
    NoSuchTool(String),
}

fn list(faults: &[Fault]) -> String {
    let one = |fault: &Fault| format!("[{}] {}: {}", fault.rule, fault.path, fault.text);
    let faults: Vec<String> = faults.iter().map(one).collect();
    faults.join("; ")
}
