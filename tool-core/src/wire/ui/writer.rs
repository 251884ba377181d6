//! From what happens to what is shown.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use super::{Answers, Chunk, FinishReason, UiError};
use crate::toolset::Toolset;
use crate::turn::ModelMessage;
use crate::wire::json::json;
use crate::wire::{Delta, Reply, Stop};

mod results;

/// Makes the chunks of one message of the assistant's: the answer to one request of an interface.
///
/// It knows where each call stands, and refuses what the protocol has no way to show: a second result, progress after the result, the
/// result of a call that was never shown. Tools that the compiler knows become parts `tool-<name>`; tools made at run time, and names
/// that no tool has, become parts `dynamic-tool`.
///
/// The methods take what a host has in its hands: the [`Delta`]s of a streaming answer, its [`ModelMessage`], the [`ToolEvent`](crate::ToolEvent)s of a
/// call, or what [`Turns`](crate::turn::Turns) tell (`progress`, `observe`, their [`Turn`](crate::turn::Turn) or [`Outcome`](crate::turn::Outcome)).
#[derive(Debug)]
pub struct Writer {
    tools: Toolset,
    calls: Vec<Call>,
    /// Ids that the interface has seen.
    shown: HashSet<String>,
    /// The text or the reasoning that is open.
    open: Option<Open>,
    texts: u32,
    reasonings: u32,
    /// What of this step was shown as it came.
    streamed: Streamed,
    shows_reasoning: bool,
    in_step: bool,
    finish: FinishReason,
}

#[derive(Clone, Copy, Debug, Default)]
struct Streamed {
    text: bool,
    reasoning: bool,
}

/// What is being written, with its id.
#[derive(Clone, Debug)]
enum Open {
    Text(String),
    Reasoning(String),
}

/// A call, as far as it was shown.
#[derive(Debug)]
struct Call {
    id: String,
    /// What the interface calls it: an id that has come twice gets another.
    shown: String,
    name: String,
    /// Version 5 of the AI SDK finds the part of such a call only where the chunks of its output say this as well.
    dynamic: bool,
    input: String,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Streaming,
    Available,
    Asked,
    Answered { approved: bool },
    Done,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Streaming => "input-streaming",
            Self::Available => "input-available",
            Self::Asked => "approval-requested",
            Self::Answered { .. } => "approval-responded",
            Self::Done => "over",
        }
    }
}

impl Writer {
    /// Begins a message; the tools say what an interface may know of a call.
    pub fn new(tools: &Toolset) -> Self {
        Self {
            tools: tools.clone(),
            calls: Vec::new(),
            shown: HashSet::new(),
            open: None,
            texts: 0,
            reasonings: 0,
            streamed: Streamed::default(),
            shows_reasoning: true,
            in_step: false,
            finish: FinishReason::Stop,
        }
    }

    /// Leaves out the model's reasoning, which the interface gets as parts of the type `reasoning` by default.
    #[must_use]
    pub fn without_reasoning(mut self) -> Self {
        self.shows_reasoning = false;
        self
    }

    /// Goes on with the message that the answers are about: its open calls get their results in it.
    pub fn resume(tools: &Toolset, answers: &Answers) -> Self {
        let mut writer = Self::new(tools);
        for (id, name, input, approved) in answers.open() {
            writer.shown.insert(id.to_owned());
            let state = match approved {
                None => State::Available,
                Some(approved) => State::Answered { approved },
            };
            let (dynamic, _) = writer.look(name);
            writer.calls.push(Call {
                id: id.to_owned(),
                shown: id.to_owned(),
                name: name.to_owned(),
                dynamic,
                input,
                state,
            });
        }
        writer
    }

    /// The message begins. With the id of the interface's last message it goes on with that.
    #[must_use = "send the chunks"]
    pub fn start(&mut self, message: Option<&str>) -> Vec<Chunk> {
        vec![Chunk::Start {
            message_id: message.map(str::to_owned),
        }]
    }

    /// The model is asked, again or for the first time. [`news`](Self::news) and [`said`](Self::said) begin a step where there is none.
    #[must_use = "send the chunks"]
    pub fn step(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_step();
        chunks.push(Chunk::StartStep);
        (self.in_step, self.streamed) = (true, Streamed::default());
        chunks
    }

    fn end_step(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_open();
        if std::mem::take(&mut self.in_step) {
            chunks.push(Chunk::FinishStep);
        }
        chunks
    }

    fn begin_step(&mut self) -> Vec<Chunk> {
        if self.in_step {
            Vec::new()
        } else {
            self.step()
        }
    }

    fn end_open(&mut self) -> Vec<Chunk> {
        let ended = self.open.take().map(|open| match open {
            Open::Text(id) => Chunk::TextEnd { id },
            Open::Reasoning(id) => Chunk::ReasoningEnd { id },
        });
        ended.into_iter().collect()
    }

    fn write(&mut self, text: &str) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let id = if let Some(Open::Text(id)) = &self.open {
            id.clone()
        } else {
            chunks.extend(self.end_open());
            self.texts += 1;
            let id = format!("text-{}", self.texts);
            chunks.push(Chunk::TextStart { id: id.clone() });
            id
        };
        self.open = Some(Open::Text(id.clone()));
        chunks.push(Chunk::TextDelta {
            id,
            delta: text.to_owned(),
        });
        chunks
    }

    fn think(&mut self, piece: &str) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        if !self.shows_reasoning {
            return chunks;
        }
        let (id, piece) = if let Some(Open::Reasoning(id)) = &self.open {
            (id.clone(), piece)
        } else {
            // The empty line before a block belongs between two blocks of one part.
            let piece = piece.trim_start();
            if piece.is_empty() {
                return chunks;
            }
            chunks.extend(self.end_open());
            self.reasonings += 1;
            let id = format!("reasoning-{}", self.reasonings);
            chunks.push(Chunk::ReasoningStart { id: id.clone() });
            (id, piece)
        };
        self.open = Some(Open::Reasoning(id.clone()));
        chunks.push(Chunk::ReasoningDelta {
            id,
            delta: piece.to_owned(),
        });
        chunks
    }

    /// Something new in an answer that streams.
    pub fn news(&mut self, delta: &Delta) -> Result<Vec<Chunk>, UiError> {
        let mut chunks = self.begin_step();
        match delta {
            Delta::Reasoning(piece) => {
                self.streamed.reasoning = true;
                chunks.extend(self.think(piece));
            }
            Delta::Text(text) => {
                self.streamed.text = true;
                chunks.extend(self.write(text));
            }
            Delta::Call { id, name } => {
                chunks.extend(self.end_open());
                let shown = self.begin(id, name, State::Streaming);
                let (dynamic, title) = self.look(name);
                chunks.push(Chunk::ToolInputStart {
                    tool_call_id: shown,
                    tool_name: name.clone(),
                    dynamic,
                    title,
                });
            }
            Delta::Arguments { id, text } => {
                let call = self.call(id)?;
                call.is(&[State::Streaming], "more arguments")?;
                chunks.push(Chunk::ToolInputDelta {
                    tool_call_id: call.shown.clone(),
                    input_text_delta: text.clone(),
                });
            }
        }
        Ok(chunks)
    }

    /// A whole answer, streamed before or not.
    pub fn reply(&mut self, reply: &Reply) -> Result<Vec<Chunk>, UiError> {
        self.finish = match reply.stop() {
            Stop::End | Stop::Calls | Stop::Paused => FinishReason::Stop,
            Stop::Length => FinishReason::Length,
            Stop::Filtered => FinishReason::ContentFilter,
            _ => FinishReason::Other,
        };
        self.said(reply.message())
    }

    /// What the model has said: the end of a text that streamed, or all of it with the model's reasoning, and its calls. The calls of
    /// a message that was cut off are shown as failed.
    pub fn said(&mut self, message: &ModelMessage) -> Result<Vec<Chunk>, UiError> {
        let mut chunks = self.begin_step();
        let Streamed { text, reasoning } = self.streamed;
        if !text && !reasoning && !message.reasoning.is_empty() {
            chunks.extend(self.think(&message.reasoning));
        }
        if !text && !message.text.is_empty() {
            chunks.extend(self.write(&message.text));
        }
        chunks.extend(self.end_open());
        // Ids may come twice in a message: each streamed call is taken once.
        let mut taken = Vec::new();
        for call in &message.calls {
            let streaming = |(at, known): &(usize, &Call)| {
                known.id == call.id && known.state == State::Streaming && !taken.contains(at)
            };
            let streamed = self.calls.iter().enumerate().find(streaming);
            let at = if let Some((at, _)) = streamed {
                at
            } else {
                self.begin(&call.id, &call.name, State::Streaming);
                self.calls.len() - 1
            };
            taken.push(at);
            let (dynamic, title) = self.look(&call.name);
            let known = &mut self.calls[at];
            let (tool_call_id, tool_name) = (known.shown.clone(), known.name.clone());
            known.input.clone_from(&call.arguments);
            known.state = State::Available;
            let input = serde_json::from_str::<Box<RawValue>>(&call.arguments);
            let fault = match &input {
                _ if message.truncated => Some("the answer was cut off"),
                Err(_) => Some("the arguments are no JSON"),
                Ok(_) => None,
            };
            let input = input.unwrap_or_else(|_| json(&call.arguments));
            chunks.push(match fault {
                None => Chunk::ToolInputAvailable {
                    tool_call_id,
                    tool_name,
                    input,
                    dynamic,
                    title,
                },
                Some(fault) => Chunk::ToolInputError {
                    tool_call_id,
                    tool_name,
                    input,
                    error_text: fault.to_owned(),
                    dynamic,
                    title,
                },
            });
        }
        Ok(chunks)
    }

    /// It cannot go on. The text is shown to the user.
    #[must_use = "send the chunks"]
    pub fn error(&mut self, text: &str) -> Vec<Chunk> {
        self.finish = FinishReason::Error;
        vec![Chunk::Error {
            error_text: text.to_owned(),
        }]
    }

    /// The message is over; [`DONE`](super::DONE) follows.
    #[must_use = "send the chunks"]
    pub fn finish(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_step();
        chunks.push(Chunk::Finish {
            finish_reason: Some(self.finish),
        });
        chunks
    }

    /// Notes a call, and gives the id that the interface is to know it by.
    fn begin(&mut self, id: &str, name: &str, state: State) -> String {
        let mut shown = id.to_owned();
        let mut count = 1;
        while !self.shown.insert(shown.clone()) {
            count += 1;
            shown = format!("{id}#{count}");
        }
        let (dynamic, _) = self.look(name);
        self.calls.push(Call {
            id: id.to_owned(),
            shown: shown.clone(),
            name: name.to_owned(),
            dynamic,
            input: String::new(),
            state,
        });
        shown
    }

    /// The open call of an id, else the last one.
    fn call(&mut self, id: &str) -> Result<&mut Call, UiError> {
        let open = |call: &Call| call.id == id && call.state != State::Done;
        let at = self.calls.iter().position(open);
        let at = at.or_else(|| self.calls.iter().rposition(|call| call.id == id));
        at.map(|at| &mut self.calls[at])
            .ok_or_else(|| UiError::NoSuchCall {
                call: id.to_owned(),
            })
    }

    /// Whether an interface cannot know a tool by its name, and what people call it.
    fn look(&self, name: &str) -> (bool, Option<String>) {
        match self.tools.get(name) {
            None => (true, None),
            Some(def) => (def.is_dynamic(), def.title().map(Cow::into_owned)),
        }
    }
}

impl Call {
    fn is(&self, states: &[State], step: &'static str) -> Result<(), UiError> {
        if states.contains(&self.state) {
            return Ok(());
        }
        Err(self.not(step))
    }

    fn not(&self, step: &'static str) -> UiError {
        UiError::Order {
            call: self.id.clone(),
            state: self.state.word(),
            step,
        }
    }
}
