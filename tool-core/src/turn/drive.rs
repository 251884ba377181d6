//! A model and its tools, until the model has nothing more to call.

use futures::future::BoxFuture;

use super::{ModelMessage, ToolMessage, Turn, TurnError, Turns};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::gate::approval::Ticket;
use crate::store::{EffectRow, Message};
use crate::tool::VariableNeed;
use crate::toolset::Toolset;

/// Something that answers a thread: a provider's model, or a script.
pub trait Model: Send {
    /// The next message. An error ends the run; what is stored stays.
    fn next<'a>(
        &'a mut self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>>;
}

/// What a model is asked with.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The thread, in the order in which the model reads it: what a user wrote while the model was writing comes after the model's
    /// message.
    pub messages: &'a [Message],
    /// What it may call.
    pub tools: &'a Toolset,
    /// Which step of the run this is; the first is 1.
    pub step: u32,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The model has said its last word.
    Said(String),
    /// A tool has answered the user itself; this is what it said, and the model's own words are not wanted.
    Replied(String),
    /// Calls wait for a person. Drive the thread again when all are answered.
    Waiting(Vec<Ticket>),
    /// Calls need variables that nobody has supplied. Supply them and drive the thread again.
    Lacking(Vec<VariableNeed>),
    /// A call was begun before and its end is not known, as in [`Turn::Unsettled`]. Drive the thread again when its row is settled.
    Unsettled(Box<EffectRow>),
    /// The run has taken as many steps as it may.
    StepLimit,
}

impl Turns {
    /// Asks the model and runs what it calls, until it calls nothing, a person is needed, or the steps are used up.
    ///
    /// `cx` names the workspace and the conversation. Everything that counts is in the thread, so the same call goes on where an earlier
    /// one was left: after an approval, or after a crash. `tools` is asked before each step, so that rules may change between two of
    /// them.
    ///
    /// A run answers the last message of a user: where the model has answered it, `drive` returns that answer again, and asks the model
    /// only where there is a message that the model has not read. A failed call is a message like any other: the model reads it and goes
    /// on.
    ///
    /// Of two runs in one thread only one goes on: [`TurnError::Busy`] for the other, none of whose calls was run.
    pub async fn drive<M: Model + ?Sized>(
        &self,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        cx: &ToolContext,
    ) -> Result<Outcome, TurnError> {
        let mut thread = self.read(cx).await?;
        // Where an earlier drive has stopped.
        let (mut open, mut step) = match thread.last_of_model()? {
            Some((last, _, unread)) if last.message.calls.is_empty() => {
                if !unread {
                    return Ok(Outcome::Said(last.message.text));
                }
                (None, 0)
            }
            // A new message of the user begins a new run, which has all its steps.
            Some((last, _, true)) => (Some(last), 0),
            Some((last, step, false)) => (Some(last), step),
            None => (None, 0),
        };
        loop {
            if let Some(message) = open.take() {
                if message.message.calls.is_empty() {
                    return Ok(Outcome::Said(message.message.text));
                }
                let tools = tools(cx);
                let run = self.run_in(&mut thread, &tools, &message, cx);
                match Box::pin(run).await? {
                    Turn::Waiting(tickets) => return Ok(Outcome::Waiting(tickets)),
                    Turn::Lacking(needs) => return Ok(Outcome::Lacking(needs)),
                    Turn::Unsettled(row) => return Ok(Outcome::Unsettled(row)),
                    Turn::Complete(results) => {
                        if let Some(reply) = results.iter().find_map(ToolMessage::reply) {
                            // What the tool has said is stored in the model's place.
                            let said = ModelMessage::text(reply.clone());
                            let read = message.seq;
                            thread.append_model(said, step + 1, read).await?;
                            return Ok(Outcome::Replied(reply));
                        }
                    }
                }
            }
            if step >= self.steps {
                return Ok(Outcome::StepLimit);
            }
            step += 1;
            let tools = tools(cx);
            let request = Request {
                messages: thread.messages(),
                tools: &tools,
                step,
            };
            let read = thread.last();
            let message = model.next(request).await.map_err(TurnError::Model)?;
            open = Some(thread.append_model(message, step, read).await?);
        }
    }
}
