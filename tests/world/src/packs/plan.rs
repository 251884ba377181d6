//! The plan of a run, as a readable JSON file that the simulator can repeat.

use serde::{Deserialize, Serialize};

use crate::plan::{Expect, Fault, User};

/// The actions of a run, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// A description of the run for readers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub story: String,
    /// The finding that the run reproduces, and whether it is still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// The seed of the order of the tasks, of random bytes and of latencies.
    pub schedule: u64,
    /// The number of hosts that share the store.
    pub hosts: usize,
    /// The actions, ordered by time.
    pub actions: Vec<Action>,
}

impl Plan {
    /// Returns the JSON text of a plan file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns whether a clock jumps or an operation of a store has a fault, so that a process can lose a claim while it lives.
    pub(super) fn has_faults(&self) -> bool {
        let mut actions = self.actions.iter();
        actions.any(|action| match &action.what {
            What::Clock { .. } => true,
            What::Store { op, .. } => op != "model",
            _ => false,
        })
    }
}

/// An action on a host at a point in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The time in milliseconds since the start of the run.
    pub at: u64,
    /// The index of the host.
    pub host: usize,
    /// The kind of the action.
    #[serde(rename = "do")]
    pub what: What,
}

/// The kind of an action. The conversation of a user has the name of the agent that works in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// An agent remembers a text about a topic.
    Remember {
        /// The user and the agent.
        who: User,
        /// The topic.
        topic: u32,
        /// Whether all agents of the workspace read the memory.
        shared: bool,
        /// Whether the text has other spaces and letters, so that it is an equal text with a different spelling.
        respelled: bool,
    },
    /// An agent searches its memories.
    Search {
        /// The user and the agent.
        who: User,
        /// The topic.
        topic: u32,
    },
    /// An operator removes the memories of an agent, or the shared memories.
    Forget {
        /// The user and the agent.
        who: User,
        /// Whether the shared memories are removed.
        shared: bool,
    },
    /// An operator erases a user.
    Erase {
        /// The user.
        who: User,
    },
    /// An agent creates a plan.
    Create {
        /// The user and the agent.
        who: User,
    },
    /// An agent replaces its plan.
    Replace {
        /// The user and the agent.
        who: User,
    },
    /// An executor works on a ready task of a plan.
    Work {
        /// The user and the agent.
        who: User,
        /// The index of the ready task, modulo the number of ready tasks.
        node: usize,
        /// Whether the executor submits with the number of its attempt. Otherwise the agent submits with its tool.
        fenced: bool,
    },
    /// An agent reads its plan.
    Read {
        /// The user and the agent.
        who: User,
    },
    /// An agent resumes its plan.
    Resume {
        /// The user and the agent.
        who: User,
    },
    /// An agent schedules a task.
    Schedule {
        /// The user and the agent.
        who: User,
        /// The seconds between two runs; without it, the task runs once, after 40 seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every: Option<u64>,
        /// Whether all runs share one conversation.
        keep_history: bool,
    },
    /// An agent renames the newest task of its user.
    Rename {
        /// The user and the agent.
        who: User,
    },
    /// An agent runs the newest task of its user.
    RunNow {
        /// The user and the agent.
        who: User,
    },
    /// A person deletes the newest task of a user.
    Delete {
        /// The user and the agent.
        who: User,
    },
    /// The process of the host dies.
    Crash,
    /// The process that drives the next attempt of a scheduled task dies, on any host.
    CrashInRun {
        /// The milliseconds from the start of the attempt to the death.
        after: u64,
    },
    /// The host starts again, if its process died.
    Start,
    /// The wall clock of the host jumps.
    Clock {
        /// The jump in milliseconds, forward or back.
        by: i64,
    },
    /// The next operation with this name on the host's store has a fault.
    Store {
        /// The operation, such as `memory.remember`, or `model` for the next request of the model.
        op: String,
        /// The fault of the operation.
        fault: Fault,
    },
}

impl What {
    /// Returns the user of the action.
    pub(super) fn who(&self) -> Option<&User> {
        match self {
            Self::Remember { who, .. }
            | Self::Search { who, .. }
            | Self::Forget { who, .. }
            | Self::Erase { who }
            | Self::Create { who }
            | Self::Replace { who }
            | Self::Work { who, .. }
            | Self::Read { who }
            | Self::Resume { who }
            | Self::Schedule { who, .. }
            | Self::Rename { who }
            | Self::RunNow { who }
            | Self::Delete { who } => Some(who),
            Self::Crash
            | Self::CrashInRun { .. }
            | Self::Start
            | Self::Clock { .. }
            | Self::Store { .. } => None,
        }
    }
}
