//! The stream of one run: its events as chunks, which any number of clients read from the beginning.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::stream::{Stream, unfold};
use serde_json::value::RawValue;
use tokio::sync::watch;
use tool_agent::runtime::{AgentEvent, AgentEventKind, UiView};
use tool_core::Ticket;
use tool_core::turn::{ModelMessage, Outcome, StopReason, ToolMessage};
use tool_wire::Delta;
use tool_wire::ui::{Chunk, DONE, UiError, Writer};

/// The interval of comments in a stream without events, so that proxies keep the connection open.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A comment, which clients ignore.
pub(super) const COMMENT: &str = ": keep-alive\n\n";

/// The text for the user if the model or a store has failed. The reason is in the log.
const FAILED: &str = "the answer could not be completed, try again";

/// The stream of one run. The run writes to it whether or not a client reads.
pub(super) struct Reply {
    state: Mutex<State>,
    /// Wakes the readers after each write.
    written: watch::Sender<()>,
}

struct State {
    view: UiView,
    /// The first chunks of the message.
    start: String,
    /// The chunks that earlier runs have streamed for the same message.
    earlier: String,
    log: Log,
    partial: ModelMessage,
    has_ended: bool,
}

/// The chunks of the run as server-sent events, by their number. Progress that newer progress or the output has replaced is removed, so the length of
/// the log is bounded by the model's output and by the limits on the outputs of tools.
#[derive(Default)]
struct Log {
    events: BTreeMap<u64, String>,
    next: u64,
    /// The number of the event with the last progress of each call.
    progress: HashMap<String, u64>,
}

impl Log {
    fn push(&mut self, chunk: &Chunk) {
        let number = self.next;
        self.next += 1;
        if let Chunk::ToolOutputAvailable {
            tool_call_id,
            preliminary,
            ..
        } = chunk
        {
            let older = if *preliminary {
                self.progress.insert(tool_call_id.clone(), number)
            } else {
                self.progress.remove(tool_call_id)
            };
            if let Some(older) = older {
                self.events.remove(&older);
            }
        }
        self.events.insert(number, chunk.to_string());
    }

    fn push_text(&mut self, text: &str) {
        self.events.insert(self.next, text.to_owned());
        self.next += 1;
    }
}

impl Reply {
    /// Begins a stream. `start` is the beginning of the message, and `earlier` the part of it that earlier runs have streamed.
    pub(super) fn new(view: UiView, start: &[Chunk], earlier: &[Chunk]) -> Arc<Self> {
        let text = |chunks: &[Chunk]| chunks.iter().map(Chunk::to_string).collect();
        Arc::new(Self {
            state: Mutex::new(State {
                view,
                start: text(start),
                earlier: text(earlier),
                log: Log::default(),
                partial: ModelMessage::default(),
                has_ended: false,
            }),
            written: watch::Sender::new(()),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes chunks. A step that the protocol cannot show is left out, and the error is logged.
    pub(super) fn write(&self, chunks: impl FnOnce(&mut Writer) -> Result<Vec<Chunk>, UiError>) {
        self.show(|view| chunks(view.writer()));
    }

    fn show(&self, chunks: impl FnOnce(&mut UiView) -> Result<Vec<Chunk>, UiError>) {
        let mut state = self.state();
        // Sub-agents in the background have events after the end of the run.
        if state.has_ended {
            return;
        }
        match chunks(&mut state.view) {
            Ok(chunks) => chunks.iter().for_each(|chunk| state.log.push(chunk)),
            Err(error) => tracing::warn!(%error, "a step of a run cannot be shown to the client"),
        }
        drop(state);
        self.written.send_replace(());
    }

    /// Writes the beginning of a step, which is one request to the model.
    pub(super) fn step(&self) {
        self.state().partial = ModelMessage::default();
        self.write(|writer| Ok(writer.step()));
    }

    /// Writes a piece of a reply.
    pub(super) fn delta(&self, delta: &Delta) {
        match delta {
            Delta::Text(text) => self.state().partial.text.push_str(text),
            Delta::Reasoning(text) => self.state().partial.reasoning.push_str(text),
            _ => {}
        }
        self.write(|writer| writer.delta(delta));
    }

    /// Writes a complete reply.
    pub(super) fn message(&self, message: &ModelMessage) {
        self.state().partial = ModelMessage::default();
        self.write(|writer| writer.message(message));
    }

    /// Takes the text of a reply that was interrupted, for the thread; `None` if the reply has no text yet.
    pub(super) fn partial(&self) -> Option<ModelMessage> {
        let partial = std::mem::take(&mut self.state().partial);
        (!partial.text.is_empty()).then_some(ModelMessage {
            truncated: true,
            stop: Some(StopReason::Cut),
            ..partial
        })
    }

    pub(super) fn progress(&self, call: &str, step: &RawValue) {
        self.write(|writer| writer.progress(call, step));
    }

    pub(super) fn result(&self, result: &ToolMessage) {
        self.write(|writer| writer.stored(result));
    }

    /// Writes an event of the agents, except the end of the run, which [`end`](Self::end) writes.
    pub(super) fn event(&self, event: &AgentEvent) {
        if !matches!(event.kind, AgentEventKind::RunEnded { .. }) {
            self.show(|view| view.event(event));
        }
    }

    /// Writes the approval requests of a run that waits.
    pub(super) fn ask(&self, tickets: Vec<Ticket>) {
        self.show(|view| view.ask(tickets));
    }

    /// Ends the stream with the outcome of the run.
    pub(super) fn end(&self, outcome: &Outcome) {
        match outcome {
            Outcome::Cancelled => self.write(|writer| Ok(writer.abort())),
            Outcome::Waiting(tickets) => {
                self.ask(tickets.clone());
                self.write(|writer| Ok(writer.finish()));
            }
            outcome => {
                self.write(|writer| writer.outcome(outcome));
                self.write(|writer| Ok(writer.finish()));
            }
        }
        self.close();
    }

    /// Ends the stream with a generic error for the user.
    pub(super) fn fail(&self) {
        self.write(|writer| {
            let mut chunks = writer.error(FAILED);
            chunks.extend(writer.finish());
            Ok(chunks)
        });
        self.close();
    }

    pub(super) fn close(&self) {
        let mut state = self.state();
        state.log.push_text(DONE);
        state.has_ended = true;
        drop(state);
        self.written.send_replace(());
    }

    /// Returns the stream from its beginning, until the run ends. With `complete`, it also contains the chunks that earlier runs have streamed for
    /// the same message, for a client that has only the user's message.
    pub(super) fn read(
        self: &Arc<Self>,
        complete: bool,
    ) -> impl Stream<Item = Result<String, Infallible>> + Send + 'static {
        let state = self.state();
        let mut text = state.start.clone();
        if complete {
            text.push_str(&state.earlier);
        }
        drop(state);
        let reader = Reader {
            written: self.written.subscribe(),
            reply: Arc::clone(self),
            first: Some(text),
            next: 0,
            is_over: false,
        };
        unfold(reader, |mut reader| async move {
            let text = reader.more().await?;
            Some((Ok(text), reader))
        })
    }
}

/// A client's position in a stream.
struct Reader {
    reply: Arc<Reply>,
    written: watch::Receiver<()>,
    first: Option<String>,
    /// The number of the next event.
    next: u64,
    is_over: bool,
}

impl Reader {
    /// Waits for new events and returns their text, or a comment if none is written for the keep-alive interval. Returns `None` at the end of the
    /// stream.
    async fn more(&mut self) -> Option<String> {
        loop {
            if self.is_over {
                return None;
            }
            self.written.mark_unchanged();
            let mut text = self.first.take().unwrap_or_default();
            {
                let state = self.reply.state();
                for (_, event) in state.log.events.range(self.next..) {
                    text.push_str(event);
                }
                self.next = state.log.next;
                self.is_over = state.has_ended;
            }
            if !text.is_empty() {
                return Some(text);
            }
            match tokio::time::timeout(KEEP_ALIVE, self.written.changed()).await {
                Ok(_) => {}
                Err(_) => return Some(COMMENT.to_owned()),
            }
        }
    }
}
