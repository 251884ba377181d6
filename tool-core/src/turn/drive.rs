//! A model and its tools, until the model has nothing more to call.

use futures::future::BoxFuture;

use super::{ModelMessage, Place, ToolMessage, Turn, TurnError, Turns, read};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::gate::approval::Ticket;
use crate::store::{EffectRow, Message, Role};
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
    /// The thread, oldest first.
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

/// The content of an assistant's message.
#[derive(serde::Serialize, serde::Deserialize)]
struct Said {
    #[serde(flatten)]
    message: ModelMessage,
    step: u32,
}

impl Turns {
    /// Asks the model and runs what it calls, until it calls nothing, a person is needed, or the steps are used up.
    ///
    /// Everything that counts is in the thread, so the same call goes on where an earlier one was left: after an approval, or after a
    /// crash. `cx` names the conversation and the run (as its turn: each message of the model is `{turn}.{step}`). `tools` is asked
    /// before each step, so that rules may change between two of them.
    ///
    /// A failed call is a message like any other: the model reads it and goes on.
    pub async fn drive<M: Model + ?Sized>(
        &self,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        cx: &ToolContext,
    ) -> Result<Outcome, TurnError> {
        let thread = cx
            .conversation()
            .ok_or(TurnError::Unnamed("conversation"))?
            .to_owned();
        let run = cx.turn().ok_or(TurnError::Unnamed("turn"))?.to_owned();
        let mut step = 0;
        // Where an earlier drive of this run has stopped.
        let mut open = None;
        for message in self.threads.read(&thread, None).await? {
            if message.role == Role::Assistant && is_step(&message.turn, &run) {
                let said: Said = read(message.seq, &message.content)?;
                (step, open) = (said.step, Some(said.message));
            }
        }
        loop {
            let turn = format!("{run}.{step}");
            let cx = cx.with_turn(turn.clone());
            if let Some(message) = open.take() {
                if message.calls.is_empty() {
                    return Ok(Outcome::Said(message.text));
                }
                match Box::pin(self.run(&tools(&cx), &message, &cx)).await? {
                    Turn::Waiting(tickets) => return Ok(Outcome::Waiting(tickets)),
                    Turn::Lacking(needs) => return Ok(Outcome::Lacking(needs)),
                    Turn::Unsettled(row) => return Ok(Outcome::Unsettled(row)),
                    Turn::Complete(results) => {
                        if let Some(reply) = results.iter().find_map(ToolMessage::reply) {
                            return self.replied(&thread, &run, step + 1, reply).await;
                        }
                    }
                }
            }
            if step >= self.steps {
                return Ok(Outcome::StepLimit);
            }
            step += 1;
            let cx = cx.with_turn(format!("{run}.{step}"));
            let tools = tools(&cx);
            let messages = self.threads.read(&thread, None).await?;
            let request = Request {
                messages: &messages,
                tools: &tools,
                step,
            };
            let message = model.next(request).await.map_err(TurnError::Model)?;
            self.said(&thread, &run, step, &message).await?;
            open = Some(message);
        }
    }

    /// Stores what the tool has said in the model's place.
    async fn replied(
        &self,
        thread: &str,
        run: &str,
        step: u32,
        text: String,
    ) -> Result<Outcome, TurnError> {
        self.said(thread, run, step, &ModelMessage::text(text.clone()))
            .await?;
        Ok(Outcome::Replied(text))
    }

    async fn said(
        &self,
        thread: &str,
        run: &str,
        step: u32,
        message: &ModelMessage,
    ) -> Result<(), TurnError> {
        let place = Place {
            thread: thread.to_owned(),
            turn: format!("{run}.{step}"),
        };
        let said = Said {
            message: message.clone(),
            step,
        };
        self.threads
            .append(place.message(Role::Assistant, None, &said)?)
            .await?;
        Ok(())
    }
}

/// Whether a turn is a step of a run.
fn is_step(turn: &str, run: &str) -> bool {
    turn.strip_prefix(run)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|step| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()))
}
