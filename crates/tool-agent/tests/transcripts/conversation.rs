//! The first part of a transcript file: the agents of a conversation, the replies of their models, and the actions of a user and a host.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// A conversation, as its file declares it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conversation {
    pub(crate) title: String,
    /// The ids of the capabilities that the conversation demonstrates.
    pub(crate) proves: Vec<String>,
    /// Whether calls may run in any order.
    #[serde(default)]
    pub(crate) relaxed: bool,
    /// The variables and secrets of the context of each run.
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) secrets: BTreeMap<String, String>,
    /// The stored variables of the thread: the name, the type and the value.
    #[serde(default)]
    pub(crate) stored: Vec<[String; 3]>,
    /// The files of the thread.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    #[serde(rename = "agent")]
    pub(crate) agents: Vec<AgentText>,
    #[serde(rename = "step")]
    pub(crate) steps: Vec<Step>,
}

/// An agent, as the file declares it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentText {
    pub(crate) name: String,
    /// Whether the agent is only the partner of another agent.
    #[serde(default)]
    pub(crate) is_partner: bool,
    #[serde(default)]
    pub(crate) autonomous: bool,
    pub(crate) expose: Option<String>,
    pub(crate) arguments: Option<String>,
    pub(crate) instructions: Option<String>,
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    #[serde(default)]
    pub(crate) variables: Vec<Need>,
    #[serde(default)]
    pub(crate) allow: Vec<String>,
    #[serde(default)]
    pub(crate) deny: Vec<String>,
    #[serde(default)]
    pub(crate) prompts: Vec<PromptText>,
    #[serde(default)]
    pub(crate) handoffs: Vec<HandoffText>,
    #[serde(default)]
    pub(crate) subagents: Vec<SubagentText>,
    pub(crate) spawn: Option<SpawnText>,
    pub(crate) session: Option<SessionText>,
    /// The replies of the model, in the order of its requests.
    #[serde(default)]
    pub(crate) replies: Vec<ReplyText>,
}

/// A variable that an agent needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Need {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) secret: bool,
    #[serde(default)]
    pub(crate) scoped: bool,
    #[serde(default)]
    pub(crate) optional: bool,
    pub(crate) description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptText {
    pub(crate) agent: String,
    pub(crate) text: Option<bool>,
    pub(crate) calls: Option<bool>,
    pub(crate) errors: Option<bool>,
    pub(crate) message: Option<String>,
    pub(crate) attachments: Option<String>,
    pub(crate) optional: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandoffText {
    pub(crate) agent: String,
    pub(crate) optional: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubagentText {
    pub(crate) agent: String,
    pub(crate) blocking: Option<bool>,
    pub(crate) message: Option<String>,
    pub(crate) attachments: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) optional: Option<String>,
    pub(crate) immediate: Option<ImmediateText>,
    pub(crate) resumable: Option<ResumableText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImmediateText {
    /// The first message of one instance; `None` if one instance starts for each group of variables.
    pub(crate) once: Option<String>,
    pub(crate) name_env: Option<String>,
    pub(crate) description_env: Option<String>,
    #[serde(default)]
    pub(crate) scoped_env: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumableText {
    #[serde(default)]
    pub(crate) side_b: bool,
    pub(crate) most: Option<u32>,
    #[serde(default)]
    pub(crate) explicit: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpawnText {
    #[serde(default)]
    pub(crate) disabled: bool,
    pub(crate) targets: Option<Vec<String>>,
    pub(crate) depth: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionText {
    pub(crate) stop: Option<String>,
    pub(crate) fail: Option<String>,
    pub(crate) turns: Option<u32>,
    pub(crate) partner: Option<String>,
}

/// A reply of a model: a text, calls, or both; or an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplyText {
    #[serde(default)]
    pub(crate) text: String,
    /// The name and the arguments of each call.
    #[serde(default)]
    pub(crate) calls: Vec<[String; 2]>,
    pub(crate) error: Option<String>,
}

/// An action of a user or a host.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// A user writes to the first agent.
    User(String),
    /// A user writes, and the test does not wait for sub-agents in the background.
    UserOnly(String),
    /// A user writes, and the run is cancelled while its tool `slow` runs.
    UserCancelled(String),
    /// The host drives the conversation.
    Drive,
    /// A person approves the calls of these tools.
    Approve(Vec<String>),
    /// A person denies the calls of these tools.
    Deny(Vec<String>),
    /// A user answers the requests for variables.
    Answer(BTreeMap<String, String>),
    /// The host starts the sub-agents whose variables were supplied.
    StartDeferred,
    /// The variables of the next runs.
    Variables(BTreeMap<String, String>),
    /// A different process continues the conversation.
    Restart,
    /// All files of the thread are removed.
    RemoveFiles,
    /// The host terminates the sub-agent with this number.
    Terminate(usize),
    /// The test waits until this many calls of `slow` have begun.
    Held(usize),
    /// The test lets calls of `slow` end, and waits for the sub-agents in the background.
    Release(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(text) => write!(f, "the user writes: {text}"),
            Self::UserOnly(text) => write!(f, "the user writes, and nothing is waited for: {text}"),
            Self::UserCancelled(text) => write!(f, "the user writes, and cancels the run: {text}"),
            Self::Drive => f.write_str("the host continues the conversation"),
            Self::Approve(tools) => write!(f, "a person approves {}", tools.join(", ")),
            Self::Deny(tools) => write!(f, "a person denies {}", tools.join(", ")),
            // `Debug` does not print the values, because they may be secrets.
            Self::Answer(values) => {
                let names: Vec<&str> = values.keys().map(String::as_str).collect();
                write!(f, "the user supplies {}", names.join(", "))
            }
            Self::StartDeferred => {
                f.write_str("the host starts the sub-agents whose variables were supplied")
            }
            Self::Variables(variables) => write!(f, "the variables are now {variables:?}"),
            Self::Restart => f.write_str("another process serves the conversation"),
            Self::RemoveFiles => f.write_str("all files of the thread are removed"),
            Self::Terminate(number) => write!(f, "the host terminates sub_{number}"),
            Self::Held(calls) => write!(f, "{calls} calls of `slow` have begun"),
            Self::Release(calls) => write!(f, "{calls} calls of `slow` end"),
        }
    }
}
