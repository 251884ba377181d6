//! Agents: a model with instructions, tools and limits, under a name.
//!
//! An [`Agent`] configures the loop of [`Turns`]. The thread of the context stores the conversation, so any process that has the agent and the store
//! can continue the conversation. [`guardrails`] check what the agent reads, writes and calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tool_core::schema::StrictSchema;
use tool_core::turn::{Model, Outcome, TurnError, Turns, UserMessage};
use tool_core::{ToolContext, ToolError, Toolset, toolset};

use crate::model::OutputFormat;

mod error;
pub mod guardrails;
mod instructed;
mod output;

pub use error::{AgentConfigError, AgentError};
use guardrails::Guardrails;
pub(crate) use instructed::Instructed;
pub use output::OutputMode;
use output::Wanted;

type NewModel = dyn Fn() -> Box<dyn Model> + Send + Sync;
type Instructions = dyn Fn(&ToolContext) -> Result<String, ToolError> + Send + Sync;
type Tools = dyn Fn(&ToolContext) -> Toolset + Send + Sync;

/// A model with instructions, tools and limits.
///
/// The instructions are sent with every request and are not stored in the thread, so changed instructions also apply to existing threads.
///
/// ```
/// use serde::Deserialize;
/// use tool_agent::agent::Agent;
/// use tool_agent::model::{Script, ScriptedModel};
/// use tool_core::prelude::*;
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::Turns;
///
/// /// Returns the weather in a city.
/// #[tool(read_only)]
/// fn weather(
///     /// The name of the city.
///     city: String,
/// ) -> String {
///     format!("{city}: rain")
/// }
///
/// /// The advice for a day.
/// #[derive(Debug, Deserialize, StrictSchema)]
/// struct Advice {
///     /// Whether to take an umbrella.
///     umbrella: bool,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A host uses an `HttpModel` here.
/// let model = ScriptedModel::new([
///     Script::calls([ToolCall::new("c-1", "weather", r#"{"city":"Bergen"}"#)]),
///     Script::calls([ToolCall::new("c-2", "final_answer", r#"{"umbrella":true}"#)]),
/// ]);
/// let agent = Agent::builder("adviser", model)
///     .instructions("You advise travellers.")
///     .tools(|_| toolset![weather])
///     .build()?;
///
/// let turns = Turns::new(MemoryStore::default());
/// let cx = ToolContext::builder().workspace("acme").agent(agent.name()).conversation("main").build();
/// let advice: Advice = agent.run("Do I need an umbrella in Bergen?", &turns, &cx).await?;
/// assert!(advice.umbrella);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("assistant", "ToolLoopAgent", "structured output"))]
pub struct Agent(Arc<Inner>);

struct Inner {
    name: String,
    model: Box<NewModel>,
    instructions: Option<Box<Instructions>>,
    tools: Option<Box<Tools>>,
    steps: Option<u32>,
    tokens: Option<u64>,
    cost: Option<u64>,
    time: Option<Duration>,
    output_retries: u32,
    output_mode: OutputMode,
    guardrails: Guardrails,
}

/// Configures an agent; created by [`Agent::builder`].
#[must_use]
pub struct AgentBuilder(Inner);

impl Agent {
    /// Configures an agent. Each run uses a clone of the model: a [`ScriptedModel`](crate::model::ScriptedModel) begins with its first message in
    /// each run, and [`HttpModel::error`](crate::model::HttpModel::error) of the original model stays `None`, so observe the errors of an agent's
    /// model with [`HttpModel::observe`](crate::model::HttpModel::observe).
    pub fn builder(
        name: impl Into<String>,
        model: impl Model + Clone + Sync + 'static,
    ) -> AgentBuilder {
        AgentBuilder(Inner {
            name: name.into(),
            model: Box::new(move || Box::new(model.clone())),
            instructions: None,
            tools: None,
            steps: None,
            tokens: None,
            cost: None,
            time: None,
            output_retries: 2,
            output_mode: OutputMode::default(),
            guardrails: Guardrails::none(),
        })
    }

    /// Returns the agent's name, for [`ToolContextBuilder::agent`](tool_core::ToolContextBuilder::agent).
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Stores a message of the user and asks the model until it answers, as [`Turns::respond`] does. If the function of the instructions fails, the
    /// message is not stored.
    pub async fn respond(
        &self,
        message: impl Into<UserMessage>,
        turns: &Turns,
        cx: &ToolContext,
    ) -> Result<Outcome, TurnError> {
        let mut model = self.asked(cx, None)?;
        let turns = self.limited(turns);
        turns
            .respond(message, &mut model, |cx| self.tools(cx), cx)
            .await
    }

    /// Continues the thread, for example after an approval or a crash, as [`Turns::drive`] does.
    pub async fn drive(&self, turns: &Turns, cx: &ToolContext) -> Result<Outcome, TurnError> {
        let mut model = self.asked(cx, None)?;
        let turns = self.limited(turns);
        turns.drive(&mut model, |cx| self.tools(cx), cx).await
    }

    /// Stores a message of the user, and returns the final output of the run as a `T`. If the function of the instructions fails, the message is not
    /// stored. If the run fails after the message was stored, the message remains. [`AgentError`] lists the causes.
    ///
    /// With [`OutputMode::Tool`], the model gets the additional tool `final_answer`, whose arguments are a `T`, and the first valid call of
    /// `final_answer` ends the run. Calls of other tools in the same message run too. If the model answers with a text, or calls `final_answer` with
    /// invalid arguments, it is asked again, at most [`output_retries`](AgentBuilder::output_retries) times. After a text, a reminder to call
    /// `final_answer` is stored in the thread as a message of the user. An answer that reached the limit on tokens is not requested again, because it
    /// would reach the same limit.
    ///
    /// With [`OutputMode::Native`], the text of the model is the output, and the provider enforces its schema. If a message has calls beside a text,
    /// the calls run and the run continues. After an invalid text, a message of the user that states the problem is stored, and the model is asked
    /// again, at most [`output_retries`](AgentBuilder::output_retries) times.
    ///
    /// If the run stops before its output, for example because a call waits for an approval, the error is [`AgentError::Stopped`]. Approve the call,
    /// and continue with [`resume`](Self::resume).
    pub async fn run<T: StrictSchema + DeserializeOwned>(
        &self,
        message: impl Into<UserMessage>,
        turns: &Turns,
        cx: &ToolContext,
    ) -> Result<T, AgentError> {
        // If the function of the instructions fails, the message is not stored.
        let model = self.asked(cx, Some(self.wanted()))?;
        turns.say(message, cx).await?;
        self.output(model, turns, cx).await
    }

    /// Continues a run of [`run`](Self::run) that stopped or failed, and returns its final output. The output retries are counted from 0. The output
    /// of a run that has ended is returned again, without a request.
    pub async fn resume<T: StrictSchema + DeserializeOwned>(
        &self,
        turns: &Turns,
        cx: &ToolContext,
    ) -> Result<T, AgentError> {
        let model = self.asked(cx, Some(self.wanted()))?;
        self.output(model, turns, cx).await
    }

    fn wanted(&self) -> Wanted {
        Wanted::new(self.0.output_retries, self.0.output_mode)
    }

    /// Drives the thread to the output.
    async fn output<T: StrictSchema + DeserializeOwned>(
        &self,
        mut model: Instructed,
        turns: &Turns,
        cx: &ToolContext,
    ) -> Result<T, AgentError> {
        let format = OutputFormat::new::<T>()?;
        let turns = self.limited(turns);
        let is_native = self.0.output_mode == OutputMode::Native;
        if is_native {
            model.set_format(&format);
        } else if self.tools(cx).get(output::NAME).is_some() {
            return Err(AgentError::NameTaken);
        }
        loop {
            let tools = |cx: &ToolContext| {
                let own = self.tools(cx);
                if is_native {
                    own
                } else {
                    output::with_tool(&format, own)
                }
            };
            let outcome = turns.drive(&mut model, tools, cx).await;
            if let Some(problem) = model.refused_output() {
                return Err(AgentError::NoOutput(problem));
            }
            match outcome? {
                Outcome::Replied(text) => return output::read(&text),
                Outcome::Length(_) => return Err(AgentError::Truncated),
                Outcome::Guardrail(tripped) => return Err(AgentError::Guardrail(tripped)),
                Outcome::Answered(text) if is_native => {
                    let problem = match format.check(&text).await {
                        Ok(text) => return output::read(&text),
                        Err(problem) => problem,
                    };
                    if let Some(problem) = model.refuse(&problem) {
                        return Err(AgentError::NoOutput(problem));
                    }
                    turns.say(output::correction(&problem), cx).await?;
                }
                Outcome::Answered(text) => {
                    // If the run has ended already, this is the text that the tool for the output has stored.
                    if !model.was_asked()
                        && let Ok(output) = output::read(&text)
                    {
                        return Ok(output);
                    }
                    if let Some(problem) = model.refuse_text(&text) {
                        return Err(AgentError::NoOutput(problem));
                    }
                    turns.say(output::REMINDER, cx).await?;
                }
                other => return Err(AgentError::Stopped(Box::new(other))),
            }
        }
    }

    /// Returns a clone of the model.
    pub(crate) fn model(&self) -> Box<dyn Model> {
        (self.0.model)()
    }

    /// Returns a clone of the model with the instructions and the guardrails, for a run without a typed output.
    pub(crate) fn instructed(&self, cx: &ToolContext) -> Result<Instructed, TurnError> {
        self.asked(cx, None)
    }

    /// Returns a clone of the model with the instructions of this run and the guardrails.
    fn asked(&self, cx: &ToolContext, wanted: Option<Wanted>) -> Result<Instructed, TurnError> {
        let instructions = match &self.0.instructions {
            Some(write) => Some(write(cx).map_err(TurnError::Model)?),
            None => None,
        };
        let guardrails = self.0.guardrails.clone();
        let model = (self.0.model)();
        Ok(Instructed::new(model, instructions, guardrails, wanted))
    }

    /// Returns the tools of a step.
    pub(crate) fn tools(&self, cx: &ToolContext) -> Toolset {
        let tools = self.0.tools.as_ref();
        tools.map_or_else(|| toolset![], |tools| tools(cx))
    }

    pub(crate) fn limited(&self, turns: &Turns) -> Turns {
        let mut turns = turns.clone();
        if let Some(steps) = self.0.steps {
            turns = turns.most_steps(steps);
        }
        if let Some(tokens) = self.0.tokens {
            turns = turns.most_tokens(tokens);
        }
        if let Some(cost) = self.0.cost {
            turns = turns.most_cost(cost);
        }
        if let Some(time) = self.0.time {
            turns = turns.most_time(time);
        }
        turns
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.0.name)
            .field("steps", &self.0.steps)
            .field("tokens", &self.0.tokens)
            .field("cost", &self.0.cost)
            .field("time", &self.0.time)
            .finish_non_exhaustive()
    }
}

impl AgentBuilder {
    /// Sets a fixed text as instructions. An empty text is not sent.
    pub fn instructions(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.instructions_of(move |_| Ok(text.clone()))
    }

    /// Sets a function that writes the instructions at the beginning of each run, for example with the variables of the context. An error ends the
    /// run as [`TurnError::Model`], before a request is sent. [`Agent::respond`] and [`Agent::run`] call the function before they store the message
    /// of the user. An [`AgentRuntime`](crate::runtime::AgentRuntime) calls the function when the message is stored already.
    pub fn instructions_of(
        mut self,
        write: impl Fn(&ToolContext) -> Result<String, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.0.instructions = Some(Box::new(write));
        self
    }

    /// Sets the function that returns the tools of each step. Without it, the agent has no tools.
    pub fn tools(
        mut self,
        tools: impl Fn(&ToolContext) -> Toolset + Send + Sync + 'static,
    ) -> Self {
        self.0.tools = Some(Box::new(tools));
        self
    }

    /// Limits the model messages after a message of the user. Without it, the limit of the [`Turns`] applies (15 by default). [`Agent::run`] begins a
    /// new run after each text that is not a valid output, and each of these runs has the full limit.
    pub fn most_steps(mut self, steps: u32) -> Self {
        self.0.steps = Some(steps);
        self
    }

    /// Limits the input and output tokens of one run, failed attempts included. Without it, the limit of the [`Turns`] applies. As with
    /// [`most_steps`](Self::most_steps), each run that [`Agent::run`] begins has the full limit.
    pub fn most_tokens(mut self, tokens: u64) -> Self {
        self.0.tokens = Some(tokens);
        self
    }

    /// Limits the cost of one run, in millionths of the currency of the model's [price](crate::model::ModelPrice), failed attempts included. Without
    /// it, the limit of the [`Turns`] applies. As with [`most_steps`](Self::most_steps), each run that [`Agent::run`] begins has the full limit. A
    /// model without a price fails the run with [`TurnError::Unpriced`].
    pub fn most_cost(mut self, micros: u64) -> Self {
        self.0.cost = Some(micros);
        self
    }

    /// Limits the time of the runs after a message of the user, without the time in which the conversation waits in the store, as
    /// [`Turns::most_time`] describes. Without it, the limit of the [`Turns`] applies. When [`Agent::run`] asks again for a valid output, it stores a
    /// message of the user, so the time begins again.
    pub fn most_time(mut self, time: Duration) -> Self {
        self.0.time = Some(time);
        self
    }

    /// Sets how often [`Agent::run`] asks again after an invalid output. The default is 2, so the model has 3 attempts.
    pub fn output_retries(mut self, retries: u32) -> Self {
        self.0.output_retries = retries;
        self
    }

    /// Sets how the model returns the output of [`Agent::run`]. The default is the tool `final_answer`.
    pub fn output_mode(mut self, mode: OutputMode) -> Self {
        self.0.output_mode = mode;
        self
    }

    /// Checks the configuration and creates the agent.
    pub fn build(self) -> Result<Agent, AgentConfigError> {
        if self.0.name.trim().is_empty() {
            return Err(AgentConfigError::NoName);
        }
        if self.0.steps == Some(0) {
            return Err(AgentConfigError::NoSteps);
        }
        if self.0.time.is_some_and(|time| time.is_zero()) {
            return Err(AgentConfigError::NoTime);
        }
        Ok(Agent(Arc::new(self.0)))
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}
