//! Errors in the configuration of a team.

use tool_core::RegistryError;

/// The configuration of a team, or of a tool for it, is invalid.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// The team has no agents.
    #[error(
        "the team has no agents: add one with `LocalTeam::builder(…).member(…)`, or name one in `TeamBuilder::participants`"
    )]
    NoParticipants,
    /// The only agent of the team is the agent that calls the tool.
    #[error(
        "`{id}` is the only agent of the team and cannot ask itself: add a second agent, or give the tool to a different agent"
    )]
    OnlyCaller {
        /// The id of the agent.
        id: String,
    },
    /// Two agents have the same id.
    #[error("two agents of the team have the id `{id}`: give each agent its own id")]
    Duplicate {
        /// The id that is used twice.
        id: String,
    },
    /// The id of an agent is empty or has only blanks.
    #[error("the id of an agent is empty: write an id such as `tax-law`")]
    EmptyId,
    /// No agent with this id can be asked: the team has none, or it is the agent that gets the tool.
    #[error("the team has no agent `{id}`: write one of {known}")]
    Unknown {
        /// The id that is unknown.
        id: String,
        /// The ids of the agents that can be asked, each in back quotes.
        known: String,
    },
    /// The time limit of an agent is 0.
    #[error(
        "the time limit of an agent is 0: set `timeout` to the time that an agent may take, such as 90 seconds"
    )]
    NoTime,
    /// The limit on the steps of a sub-agent is 0, or higher than the maximum.
    #[error("a sub-agent cannot have {steps} steps: set `most_steps` to a number from 1 to {most}")]
    Steps {
        /// The number that was set.
        steps: u32,
        /// The maximum number of steps.
        most: u32,
    },
    /// The tool is invalid, for example because its name is too long.
    #[error(transparent)]
    Tool(#[from] RegistryError),
}
