//! The entry of an agent in a runtime: how other agents call it, and which agents it calls.

use std::collections::BTreeSet;
use std::fmt;

use tool_core::schema::StrictSchema;
use tool_core::schema::dialect::schema_text;
use tool_core::{Dialect, Rules, VariableNeed};

use super::spawn::SpawnGate;
use crate::agent::Agent;

/// The kind of an agent: whether it talks to a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentKind {
    /// The agent talks to a person. It can take over a conversation by a [`Handoff`].
    #[default]
    Conversational,
    /// The agent works without a person, in its own thread. It can be a [`Subagent`].
    Autonomous,
}

impl AgentKind {
    /// Returns the name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conversational => "conversational",
            Self::Autonomous => "autonomous",
        }
    }
}

/// An agent in an [`AgentRuntime`](super::AgentRuntime), with the tools that run other agents.
///
/// ```
/// use tool_agent::agent::Agent;
/// use tool_agent::model::{Script, ScriptedModel};
/// use tool_agent::runtime::{AgentEntry, PromptTool, Subagent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Script::text("Done.")]);
/// let support = AgentEntry::new(Agent::builder("support", model.clone()).build()?)
///     .prompt(PromptTool::new("summarize"))
///     .subagent(Subagent::new("researcher"));
/// let summarize = AgentEntry::new(Agent::builder("summarize", model.clone()).build()?).expose("Summarizes a text.");
/// let researcher = AgentEntry::new(Agent::builder("researcher", model).build()?).autonomous().expose("Researches a topic.");
/// # let _ = (support, summarize, researcher);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "add it to an `AgentRuntimeBuilder`"]
pub struct AgentEntry {
    pub(super) agent: Agent,
    pub(super) kind: AgentKind,
    /// The description of the agent as a tool; `None` if the agent is not exposed as a tool.
    pub(super) description: Option<String>,
    /// The JSON Schema of the arguments.
    pub(super) arguments: Option<String>,
    pub(super) variables: Vec<VariableNeed>,
    pub(super) rules: Rules,
    /// Whether `allow` or `deny` was called.
    pub(super) is_restricted: bool,
    pub(super) prompts: Vec<PromptTool>,
    pub(super) handoffs: Vec<Handoff>,
    pub(super) subagents: Vec<Subagent>,
    pub(super) spawn: SpawnGate,
    pub(super) session: Session,
}

impl AgentEntry {
    /// Creates the entry of a conversational agent that is not exposed as a tool and calls no other agents.
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            kind: AgentKind::default(),
            description: None,
            arguments: None,
            variables: Vec::new(),
            rules: Rules::default(),
            is_restricted: false,
            prompts: Vec::new(),
            handoffs: Vec::new(),
            subagents: Vec::new(),
            spawn: SpawnGate::default(),
            session: Session::default(),
        }
    }

    /// Makes the agent [autonomous](AgentKind::Autonomous).
    pub fn autonomous(mut self) -> Self {
        self.kind = AgentKind::Autonomous;
        self
    }

    /// Exposes the agent as a tool of other agents. The description states when a model calls it, and must not be empty.
    pub fn expose(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the type of the arguments with which other agents call this agent. Without it, the argument is a text `message`.
    pub fn arguments<T: StrictSchema>(self) -> Self {
        self.arguments_schema(schema_text(T::SCHEMA, Dialect::JsonSchema))
    }

    /// Sets the JSON Schema of the arguments, as JSON text.
    pub fn arguments_schema(mut self, schema: impl Into<String>) -> Self {
        self.arguments = Some(schema.into());
        self
    }

    /// Declares a variable that the agent needs. The tools of the agent declare their own variables.
    pub fn variable(mut self, need: VariableNeed) -> Self {
        self.variables.push(need);
        self
    }

    /// Adds names to the list of tools that the agent may use: its own tools and the tools of the runtime. An empty list restricts nothing. A prompt
    /// and a sub-agent have the tools that their own list and the lists of all agents above them allow.
    pub fn allow<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.rules = self.rules.allow(names);
        self.is_restricted = true;
        self
    }

    /// Adds names to the list of tools that neither the agent nor its prompts and sub-agents may use. It has priority over [`allow`](Self::allow).
    pub fn deny<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.rules = self.rules.deny(names);
        self.is_restricted = true;
        self
    }

    /// Adds a tool that runs another agent within the call.
    pub fn prompt(mut self, prompt: PromptTool) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds a tool that passes the conversation to another agent.
    pub fn handoff(mut self, handoff: Handoff) -> Self {
        self.handoffs.push(handoff);
        self
    }

    /// Adds a tool that runs another agent in its own thread.
    pub fn subagent(mut self, subagent: Subagent) -> Self {
        self.subagents.push(subagent);
        self
    }

    /// Limits the sub-agents that this agent may start.
    pub fn spawn(mut self, gate: SpawnGate) -> Self {
        self.spawn = gate;
        self
    }

    /// Sets how the sessions of the agent end when it runs as a sub-agent, and who answers the agent.
    pub fn session(mut self, session: Session) -> Self {
        self.session = session;
        self
    }

    /// Returns the name of the agent.
    pub fn name(&self) -> &str {
        self.agent.name()
    }
}

impl fmt::Debug for AgentEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEntry")
            .field("agent", &self.name())
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// A tool that runs another agent within the call: the messages of that agent belong to the call, and the agent uses the variables and the files of
/// the calling thread.
///
/// The tool has the name of the agent. By default, the result contains the text of the agent and the calls that the agent made.
#[derive(Clone, Debug)]
#[must_use = "add it to an `AgentEntry`"]
pub struct PromptTool {
    pub(super) agent: String,
    pub(super) text: bool,
    pub(super) calls: bool,
    pub(super) errors: bool,
    pub(super) properties: Properties,
    pub(super) flag: Option<String>,
}

impl PromptTool {
    /// Creates a tool that runs the agent with this name.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            text: true,
            calls: true,
            errors: true,
            properties: Properties::default(),
            flag: None,
        }
    }

    /// Sets whether the result contains the text of the agent; defaults to `true`.
    pub fn include_text_response(mut self, include: bool) -> Self {
        self.text = include;
        self
    }

    /// Sets whether the result contains the calls of the agent and their results; defaults to `true`.
    pub fn include_tool_calls(mut self, include: bool) -> Self {
        self.calls = include;
        self
    }

    /// Sets whether the result contains the texts of errors; defaults to `true`. Otherwise, a failure has a general text.
    pub fn include_errors(mut self, include: bool) -> Self {
        self.errors = include;
        self
    }

    /// Sets the property of the arguments whose value is the first message of the user: a string unchanged, any other value as JSON. Without it, the
    /// message is the argument `message` if the agent has no type of arguments, and otherwise all arguments as JSON. If the value is missing, null or
    /// empty, the message is all arguments as JSON.
    pub fn init_user_message(mut self, property: impl Into<String>) -> Self {
        self.properties.message = Some(property.into());
        self
    }

    /// Sets the property of the arguments with the path of a file of the thread, or a list of paths.
    pub fn init_attachments(mut self, property: impl Into<String>) -> Self {
        self.properties.attachments = Some(property.into());
        self
    }

    /// Offers the tool only while the variable `flag` has the value `true`, `1` or `yes`. Letter case and surrounding white space are ignored.
    pub fn optional(mut self, flag: impl Into<String>) -> Self {
        self.flag = Some(flag.into());
        self
    }
}

/// The properties of the arguments with a special meaning.
#[derive(Clone, Debug, Default)]
pub(super) struct Properties {
    pub(super) message: Option<String>,
    pub(super) attachments: Option<String>,
    pub(super) name: Option<String>,
}

/// A tool that passes the conversation to another conversational agent, which continues it in the same thread.
///
/// The tool has the name `transfer_to_` and the name of the agent. If the model makes several handoffs in one message, the first one counts.
#[derive(Clone, Debug)]
#[must_use = "add it to an `AgentEntry`"]
pub struct Handoff {
    pub(super) agent: String,
    pub(super) flag: Option<String>,
}

impl Handoff {
    /// Creates a handoff to the agent with this name.
    pub fn to(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            flag: None,
        }
    }

    /// Offers the tool only while the variable `flag` has the value `true`, `1` or `yes`, as for [`PromptTool::optional`].
    pub fn optional(mut self, flag: impl Into<String>) -> Self {
        self.flag = Some(flag.into());
        self
    }

    /// Returns the name of the tool.
    pub(super) fn tool(&self) -> String {
        format!("transfer_to_{}", self.agent)
    }
}

/// A tool that runs another agent in its own thread.
///
/// By default, the call waits for the answer of the agent, and the thread accepts no messages afterwards.
#[derive(Clone, Debug)]
#[must_use = "add it to an `AgentEntry`"]
pub struct Subagent {
    pub(super) agent: String,
    pub(super) blocking: bool,
    pub(super) properties: Properties,
    pub(super) immediate: Option<Immediate>,
    pub(super) resumable: Option<Resumable>,
    pub(super) flag: Option<String>,
}

impl Subagent {
    /// Creates a tool that runs the agent with this name.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            blocking: true,
            properties: Properties::default(),
            immediate: None,
            resumable: None,
            flag: None,
        }
    }

    /// Sets whether a call waits for the answer; defaults to `true`. Otherwise, it returns a reference at once, and the answer is delivered to the
    /// calling thread as a message when the agent has finished.
    pub fn blocking(mut self, blocking: bool) -> Self {
        self.blocking = blocking;
        self
    }

    /// Sets the property of the arguments whose value is the first message, as for [`PromptTool::init_user_message`].
    pub fn init_user_message(mut self, property: impl Into<String>) -> Self {
        self.properties.message = Some(property.into());
        self
    }

    /// Sets the property of the arguments with the path of a file of the calling thread, or a list of paths. The files are copied into the thread of
    /// the agent.
    pub fn init_attachments(mut self, property: impl Into<String>) -> Self {
        self.properties.attachments = Some(property.into());
        self
    }

    /// Sets the property of the arguments whose value is the display name of the agent's thread. White space is collapsed, and the name is cut to 120
    /// characters.
    pub fn init_agent_name(mut self, property: impl Into<String>) -> Self {
        self.properties.name = Some(property.into());
        self
    }

    /// Starts the agent without a call of the model, before the first request of the calling agent in a conversation or after a handoff.
    pub fn immediate(mut self, immediate: Immediate) -> Self {
        self.immediate = Some(immediate);
        self
    }

    /// Lets the model create instances of the agent with the tool `subagent_create` and send messages to them with `subagent_message`.
    pub fn resumable(mut self, resumable: Resumable) -> Self {
        self.resumable = Some(resumable);
        self
    }

    /// Offers the tool only while the variable `flag` has the value `true`, `1` or `yes`, as for [`PromptTool::optional`].
    pub fn optional(mut self, flag: impl Into<String>) -> Self {
        self.flag = Some(flag.into());
        self
    }
}

/// The recipient of the messages that a parent sends to a sub-agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The agent reads the message as a message of its user.
    #[default]
    A,
    /// The [partner](Session::partner) of the agent reads the message, which is stored as a message of the agent.
    B,
}

/// Whether the outcome of a session is delivered to the parent as a message. If a call waits for the session, the outcome is the result of the call,
/// and no message is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParentCommunication {
    /// The outcome of a session is delivered when the session ends.
    #[default]
    Implicit,
    /// No outcome is delivered. A tool of the sub-agent can send messages with [`ParentThread::notify`](super::ParentThread::notify).
    Explicit,
}

/// Settings of a resumable sub-agent: a sub-agent whose thread accepts more messages after its first session.
#[derive(Clone, Debug, Default)]
#[must_use = "pass it to `Subagent::resumable`"]
pub struct Resumable {
    pub(super) side: Side,
    pub(super) most: Option<u32>,
    pub(super) communication: ParentCommunication,
}

impl Resumable {
    /// Creates the default settings: messages are for [`Side::A`], the number of instances is not limited, and outcomes are delivered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the recipient of the messages of the parent.
    pub fn receives_messages(mut self, side: Side) -> Self {
        self.side = side;
        self
    }

    /// Limits the instances of the agent that a thread may have at the same time. Terminated instances do not count. If the limit is 1 and calls
    /// [wait](Subagent::blocking), `subagent_create` continues the instance that exists.
    pub fn most_instances(mut self, most: u32) -> Self {
        self.most = Some(most);
        self
    }

    /// Sets whether the outcomes of sessions are delivered to the parent.
    pub fn parent_communication(mut self, communication: ParentCommunication) -> Self {
        self.communication = communication;
        self
    }
}

/// Settings of a sub-agent that starts without a call of the model: its first message, or the variables from which its instances are created.
#[derive(Clone, Debug)]
#[must_use = "pass it to `Subagent::immediate`"]
pub struct Immediate {
    pub(super) per_instance: bool,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) scoped: BTreeSet<String>,
    pub(super) message: String,
}

impl Immediate {
    /// Starts one instance with this first message when the calling agent becomes active in a conversation, unless an instance is live.
    pub fn once(message: impl Into<String>) -> Self {
        Self {
            per_instance: false,
            name: None,
            description: None,
            scoped: BTreeSet::new(),
            message: message.into(),
        }
    }

    /// Starts one instance for each group of stored variables of the thread: `NAME`, `NAME__2`, `NAME__3` and so on, for the names that
    /// [`name_env`](Self::name_env), [`description_env`](Self::description_env) and [`scoped_env`](Self::scoped_env) set. A group needs a value for
    /// each of these names. The values are moved from the thread to the instance.
    pub fn per_instance() -> Self {
        Self {
            per_instance: true,
            ..Self::once("")
        }
    }

    /// Sets the variable whose value a model may read to name the instance.
    pub fn name_env(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the variable whose value a model may read to write the first message of the instance.
    pub fn description_env(mut self, name: impl Into<String>) -> Self {
        self.description = Some(name.into());
        self
    }

    /// Adds variables whose values only the tools of the instance read. The values are in no message, and no model reads them.
    pub fn scoped_env<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.scoped.extend(names.into_iter().map(Into::into));
        self
    }

    /// Returns whether the value of a variable is hidden from models.
    pub(super) fn hides(&self, name: &str) -> bool {
        let is_hint = [&self.name, &self.description]
            .into_iter()
            .flatten()
            .any(|hint| hint == name);
        self.scoped.contains(name) && !is_hint
    }

    /// Returns the names of the variables of an instance.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let hints = [&self.name, &self.description];
        let hints = hints.into_iter().flatten().map(String::as_str);
        hints
            .chain(self.scoped.iter().map(String::as_str))
            .collect()
    }
}

/// Settings for the sessions of a sub-agent: how they end, and who answers the agent. Without a [partner](Self::partner), a session ends with the
/// first text of the agent, unless a tool ends it earlier.
#[derive(Clone, Default)]
#[must_use = "pass it to `AgentEntry::session`"]
pub struct Session {
    pub(super) stop: Option<String>,
    pub(super) fail: Option<String>,
    pub(super) turns: Option<u32>,
    pub(super) partner: Option<Agent>,
}

impl Session {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tool whose successful call ends the session. The text of the tool for the model is the result of the session. If the tool returns an
    /// [`AgentResult`](super::AgentResult), that value is the result, with its files.
    pub fn stop_tool(mut self, tool: impl Into<String>) -> Self {
        self.stop = Some(tool.into());
        self
    }

    /// Sets the tool whose successful call ends the session as failed. The text of the tool for the model is the error. If the tool returns an
    /// [`AgentResult`](super::AgentResult) that is an error, that value is the result.
    pub fn fail_tool(mut self, tool: impl Into<String>) -> Self {
        self.fail = Some(tool.into());
        self
    }

    /// Limits the texts of the agent in one session. Use it with a [partner](Self::partner).
    pub fn most_turns(mut self, turns: u32) -> Self {
        self.turns = Some(turns);
        self
    }

    /// Adds a second agent that answers the texts of the agent in place of a user, without tools. It reads the conversation with the roles exchanged.
    /// Such a session ends by a tool or by [`most_turns`](Self::most_turns), so at least one of them must be set.
    pub fn partner(mut self, partner: Agent) -> Self {
        self.partner = Some(partner);
        self
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("stop", &self.stop)
            .field("fail", &self.fail)
            .field("turns", &self.turns)
            .field("partner", &self.partner.as_ref().map(Agent::name))
            .finish()
    }
}
