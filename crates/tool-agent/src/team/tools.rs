//! The tools of a team for one agent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tool_core::turn::Turns;
use tool_core::{AgentTool, DynamicTool, Effect};

use super::error::TeamError;
use super::local::check;
use super::run::listed;
use super::runner::{AgentRunner, TeamMember};
use super::{ask, consult, research, specialist};

/// Default time that one agent may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// The category of the tools except `ask_<agent>`: turns that another agent started do not have them, see
/// [`Runtime::SubAgent`](tool_core::Runtime::SubAgent).
pub(super) const CATEGORY: &str = "agent";

/// The effect of the tools, to which `consult_specialist` adds `READ`: the calls of an agent are not known in advance, and its conversation is
/// stored.
pub(super) const EFFECT: Effect = Effect::WRITE.union(Effect::EXTERNAL);

/// The agents that one agent can ask, and the tools with which it asks them.
///
/// Each method returns a tool for [`RegistryBuilder::dynamic`](tool_core::RegistryBuilder::dynamic), whose settings, such as
/// [`DynamicTool::timeout`], can be changed. [The module](super) describes the common properties of the tools.
#[derive(Clone)]
pub struct Team {
    pub(super) runner: Arc<dyn AgentRunner>,
    pub(super) members: Vec<TeamMember>,
    pub(super) caller: Option<String>,
    pub(super) timeout: Duration,
    pub(super) conversations: Option<Turns>,
}

/// Configures a team; created by [`Team::builder`].
#[must_use]
pub struct TeamBuilder {
    runner: Arc<dyn AgentRunner>,
    participants: Option<Vec<String>>,
    caller: Option<String>,
    timeout: Duration,
    conversations: Option<Turns>,
}

impl Team {
    /// Configures a team of the agents of a runner.
    pub fn builder(runner: impl AgentRunner) -> TeamBuilder {
        TeamBuilder {
            runner: Arc::new(runner),
            participants: None,
            caller: None,
            timeout: PATIENCE,
            conversations: None,
        }
    }

    /// Returns the participants, without the agent that gets the tools.
    pub fn participants(&self) -> impl Iterator<Item = &TeamMember> {
        let own = self.caller.as_deref();
        let members = self.members.iter();
        members.filter(move |member| Some(&*member.id) != own)
    }

    /// Returns the tool `consult_team`, which gives one task to all participants at once and returns all answers.
    ///
    /// Input: `{task}`, 1 to 8000 characters. Output: `{responses: [{agentId, name, status, text}]}` with a response for each participant, in the
    /// order of the participants. The status is `complete`, `error` or `timeout`. An agent that fails or takes too long does not fail the call. If it
    /// fails, `text` is the [text for the model](tool_core::ToolError::model_text) of its error, and the audit row of the call has the start of the
    /// text for operators in the note `agent.failed`. If it takes too long, `text` states the time limit. The model reads only the names and texts,
    /// without the JSON.
    ///
    /// The call reports progress of the same form as the output, first with the status `pending` for each agent, and again whenever an agent has
    /// answered, has failed or has reached its time limit. A client that reads too slowly misses some reports; each report contains all answers so
    /// far.
    ///
    /// The agent that makes the call is not asked, even if it is a participant. The citations of all answers are added to the call.
    ///
    /// # Errors
    ///
    /// Fails if the only participant is the agent that gets the tool.
    #[track_caller]
    pub fn consult_team(&self) -> Result<DynamicTool, TeamError> {
        self.others()?;
        Ok(consult::tool(self.clone()))
    }

    /// Returns the tool `consult_specialist`, which gives a task and the conversation so far to one participant.
    ///
    /// Input: `{agentId, task}`; the schema lists the ids of the participants, without the agent that gets the tool. Output: `{agentId, text}`. The
    /// agent gets the texts of the user and of the model in this conversation, from the [`Turns`] of [`TeamBuilder::conversations`], or otherwise
    /// from [`ToolContext::get::<History>`](tool_core::History) if the host set it. If they have more than 65,536 bytes, only the latest messages are
    /// passed on.
    ///
    /// A call with an unknown id, or with the id of the agent that makes the call, is refused. The citations of the answer are
    /// added to the call. The default timeout of the tool is the [timeout](TeamBuilder::timeout) of the team.
    ///
    /// # Errors
    ///
    /// Fails if the only participant is the agent that gets the tool.
    #[track_caller]
    pub fn consult_specialist(&self) -> Result<DynamicTool, TeamError> {
        Ok(specialist::tool(self.clone(), &self.others()?))
    }

    /// Returns the tool `research_topic`, which gives a topic to a participant that does research, for example with the tools of the web. The agent
    /// that gets the tool does not need these tools itself.
    ///
    /// Input: `{topic, depth}`, where `depth` is `quick` or `deep`. Output: `{summary, citations}`. The citations come from the tools that the
    /// researcher called, and are also added to the call. The default timeout of the tool is 5 minutes.
    ///
    /// # Errors
    ///
    /// Fails if `researcher` is not the id of a participant, or if it is the agent that gets the tool.
    #[track_caller]
    pub fn research_topic(&self, researcher: &str) -> Result<DynamicTool, TeamError> {
        let researcher = self.other(researcher)?.id.clone();
        Ok(research::tool(self.clone(), researcher))
    }

    /// Returns the tool `ask_<agent>` for [`Rules::agent_tool`](tool_core::Rules::agent_tool), which gives a prompt to one participant and returns
    /// its answer as text. The tool is described at [`AgentTool::tool`]: its timeout is 60 seconds.
    ///
    /// # Errors
    ///
    /// Fails if `agent` is not the id of a participant, if it is the agent that gets the tool, or if the name of the tool would be invalid, for
    /// example too long.
    #[track_caller]
    pub fn ask(&self, agent: &str) -> Result<AgentTool, TeamError> {
        Ok(AgentTool::new(agent, self.ask_tool(agent)?)?)
    }

    /// Returns the tool of [`ask`](Self::ask), for a different timeout or other settings: pass the changed tool to [`AgentTool::new`].
    ///
    /// # Errors
    ///
    /// Fails if `agent` is not the id of a participant, or if it is the agent that gets the tool.
    #[track_caller]
    pub fn ask_tool(&self, agent: &str) -> Result<DynamicTool, TeamError> {
        let member = self.other(agent)?;
        Ok(ask::tool(Arc::clone(&self.runner), member))
    }

    /// Returns the participants without the agent that gets the tools. Fails if none remains.
    fn others(&self) -> Result<Vec<&TeamMember>, TeamError> {
        let others: Vec<_> = self.participants().collect();
        if others.is_empty() {
            let id = self.caller.clone().unwrap_or_default();
            return Err(TeamError::OnlyCaller { id });
        }
        Ok(others)
    }

    fn other(&self, id: &str) -> Result<&TeamMember, TeamError> {
        let others = self.others()?;
        find(others.iter().copied(), id)
    }
}

/// Returns the agent with an id.
fn find<'a>(
    mut members: impl Iterator<Item = &'a TeamMember> + Clone,
    id: &str,
) -> Result<&'a TeamMember, TeamError> {
    let ids = members.clone().map(|member| member.id.as_str());
    let unknown = || TeamError::Unknown {
        id: id.to_owned(),
        known: listed(ids),
    };
    members.find(|member| member.id == id).ok_or_else(unknown)
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.members.iter().map(|member| &member.id).collect();
        f.debug_struct("Team")
            .field("participants", &ids)
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

impl TeamBuilder {
    /// Sets the ids of the agents that can be asked, in this order. The default is all agents of the runner.
    pub fn participants<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.participants = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the id of the agent that gets the tools, which cannot ask itself. Without it, a call is refused if the agent of its context
    /// ([`ToolContext::agent`](tool_core::ToolContext::agent)) would ask itself, and the tools still list that agent.
    pub fn caller(mut self, id: impl Into<String>) -> Self {
        self.caller = Some(id.into());
        self
    }

    /// Sets the time that an agent may take in `consult_team`, and the timeout of `consult_specialist`. The default is 90 seconds. If the call of
    /// `consult_team` has less time left, its agents have half a second less than the call, so that the call returns the answers that it has by then.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the [`Turns`] that store the conversations of the agent that asks, from which `consult_specialist` reads the history.
    pub fn conversations(mut self, turns: &Turns) -> Self {
        self.conversations = Some(turns.clone());
        self
    }

    /// Builds the team.
    ///
    /// # Errors
    ///
    /// Fails if there are no participants, if an id is empty, unknown or used twice, or if the timeout is 0.
    pub fn build(self) -> Result<Team, TeamError> {
        let all = self.runner.agents();
        check(all.iter())?;
        let members = match self.participants {
            None => all,
            Some(ids) => {
                if ids.iter().any(|id| id.trim().is_empty()) {
                    return Err(TeamError::EmptyId);
                }
                let chosen = ids.iter().map(|id| find(all.iter(), id).cloned());
                chosen.collect::<Result<_, _>>()?
            }
        };
        check(members.iter())?;
        if self.caller.as_ref().is_some_and(|id| id.trim().is_empty()) {
            return Err(TeamError::EmptyId);
        }
        if self.timeout.is_zero() {
            return Err(TeamError::NoTime);
        }
        Ok(Team {
            runner: self.runner,
            members,
            caller: self.caller,
            timeout: self.timeout,
            conversations: self.conversations,
        })
    }
}

impl fmt::Debug for TeamBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamBuilder")
            .field("participants", &self.participants)
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}
