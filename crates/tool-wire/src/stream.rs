//! Complete and streamed replies of a provider.

use super::json::Node;
use tool_core::store::Usage;

use super::reply::Reading;
use super::sse::Sse;
use super::{Delta, ModelReply, Provider, WireError, anthropic, bedrock, chat, gemini, responses};

impl Provider {
    /// Reads a complete reply: the body of the HTTP response.
    ///
    /// Arguments remain the text that the model wrote, so that duplicate keys and long numbers reach the tool's own check.
    pub fn reply(self, body: &str) -> Result<ModelReply, WireError> {
        match self {
            Self::Chat => chat::reply(body),
            Self::Responses => responses::reply(body),
            Self::Anthropic => anthropic::reply(body),
            Self::Gemini => gemini::reply(body),
            Self::Bedrock => bedrock::reply(body),
        }
    }

    /// Creates the reader of a streamed reply.
    pub fn stream(self) -> ReplyStream {
        ReplyStream::new(self)
    }
}

/// Reads a streamed reply; created by [`Provider::stream`].
///
/// ```
/// use tool_wire::{Delta, Provider};
///
/// let mut stream = Provider::Chat.stream();
/// let mut deltas = Vec::new();
/// // The network may cut the pieces at any byte.
/// for bytes in [
///     r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","fun"#,
///     "ction\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n",
///     r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
///     "\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
/// ] {
///     deltas.extend(stream.feed(bytes.as_bytes())?);
/// }
/// assert_eq!(deltas.len(), 3);
/// assert_eq!(deltas[2], Delta::Arguments { id: "call_1".to_owned(), text: "1}".to_owned() });
/// assert_eq!(stream.finish()?.calls()[0].arguments, r#"{"a":1}"#);
/// # Ok::<(), tool_wire::WireError>(())
/// ```
pub struct ReplyStream {
    provider: Provider,
    sse: Sse,
    reading: Box<dyn Reading>,
    events: u64,
    /// The data of the event that could not be read, or that reported an error.
    failed: Option<String>,
}

impl ReplyStream {
    pub(super) fn new(provider: Provider) -> Self {
        let reading: Box<dyn Reading> = match provider {
            Provider::Chat => Box::new(chat::Streamed::default()),
            Provider::Responses => Box::new(responses::Streamed::default()),
            Provider::Anthropic => Box::new(anthropic::Streamed::default()),
            Provider::Gemini => Box::new(gemini::Streamed::default()),
            Provider::Bedrock => Box::new(bedrock::Streamed::default()),
        };
        Self {
            provider,
            sse: Sse::default(),
            reading,
            events: 0,
            failed: None,
        }
    }

    /// Returns the tokens that the stream has reported so far, for a reply that is not read to its end; `None` if it has reported none.
    pub fn usage(&self) -> Option<Usage> {
        self.reading.usage()
    }

    /// Returns whether the final event of the provider's format was read: `[DONE]` (Chat), `response.completed` or `response.incomplete` (Responses),
    /// `message_stop` (Anthropic), a response with a `finishReason` (Gemini), or `messageStop` and `metadata` (Bedrock). Only usage may follow.
    ///
    /// [`finish`](Self::finish) is less strict: it accepts a stream that states its stop reason and ends before the final event, because some
    /// compatible servers do not send the final event of Chat or Anthropic.
    pub fn is_complete(&self) -> bool {
        self.reading.is_complete()
    }

    /// Returns the data of the event that caused the error of [`feed`](Self::feed) or [`event`](Self::event). The error of a provider may contain more
    /// than [`WireError::Reported`] has, such as the time to wait before the next request.
    pub fn failed_event(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Returns the number of events that were read. Pings, which only keep the connection open, do not count, so a host can detect a provider
    /// that has stopped writing.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Accepts bytes of the body, in pieces of any size, and returns the new pieces of the reply.
    ///
    /// Bedrock does not stream server-sent events: `HttpModel` of `tool-agent` or an SDK decodes the frames, and passes each event to [`event`](Self::event).
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, WireError> {
        let provider = self.provider;
        let wrong = |why: &str| WireError::Stream {
            provider,
            why: why.to_owned(),
        };
        if provider == Provider::Bedrock {
            return Err(wrong(
                "its frames are binary, let an SDK decode them and pass each event as JSON to `ReplyStream::event`",
            ));
        }
        let mut deltas = Vec::new();
        let mut sse = std::mem::take(&mut self.sse);
        let fed = sse.feed(
            bytes,
            |data| self.read(data, &mut deltas),
            || wrong("a line is not UTF-8"),
        );
        self.sse = sse;
        fed.map(|()| deltas)
    }

    /// Accepts one event, for hosts that read the stream themselves: the data of a server-sent event, or for Bedrock an event as JSON with its name,
    /// `{"contentBlockDelta":{…}}`. Returns the new pieces of the reply.
    pub fn event(&mut self, data: &str) -> Result<Vec<Delta>, WireError> {
        let mut deltas = Vec::new();
        self.read(data, &mut deltas).map(|()| deltas)
    }

    fn read(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), WireError> {
        self.events += u64::from(!is_ping(self.provider, data));
        let read = self.reading.event(data, deltas);
        if read.is_err() {
            self.failed = Some(data.to_owned());
        }
        read
    }

    /// Ends the stream and returns the reply. If the stream ended before the reply was complete, the reply is cut off:
    /// [`StopReason::Cut`](super::StopReason::Cut). If the body is an error in JSON and not a stream, or if the last event is an error, returns this
    /// error. Also fails if the last event has an unexpected shape, or if two calls have the same id.
    pub fn finish(mut self) -> Result<ModelReply, WireError> {
        if let Some(data) = self.sse.rest() {
            // An event without its closing empty line may be incomplete.
            match self.reading.event(&data, &mut Vec::new()) {
                Ok(()) | Err(WireError::Json { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        error_body(self.provider, self.sse.foreign())?;
        self.reading.finish()
    }
}

/// Returns an error if the lines of a body outside of its events are the JSON of an error, alone or in an array.
fn error_body(provider: Provider, body: &str) -> Result<(), WireError> {
    let Ok(body) = Node::read(provider, body) else {
        return Ok(());
    };
    for element in body.array().unwrap_or_else(|_| vec![body]) {
        if let Ok(object) = element.object() {
            chat::reported(provider, &object)?;
        }
    }
    Ok(())
}

/// Returns whether an event only keeps the connection open. These events are a few bytes long.
fn is_ping(provider: Provider, data: &str) -> bool {
    matches!(provider, Provider::Anthropic | Provider::Responses)
        && data.len() < 100
        && [r#""ping""#, r#""keepalive""#]
            .iter()
            .any(|kind| data.contains(kind))
}

impl std::fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyStream")
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}
