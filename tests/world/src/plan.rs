//! The plan of a run, as a readable JSON file that the simulator can repeat.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::run::StoreKind;

/// A plan with the users' messages, the models' answers, the actions of users and operators, and the faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// A description of the run for readers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub story: String,
    /// The finding that the run reproduces, and whether it is still open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// The seed of the scheduler, of random bytes and of retries.
    pub schedule: u64,
    /// The configuration of the hosts.
    pub settings: Settings,
    /// The users' messages, and the models' answers.
    pub runs: Vec<Run>,
    /// The actions, ordered by time.
    pub actions: Vec<Action>,
}

/// The purpose of a kept plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The name of the finding, such as `A1`.
    pub finding: String,
    /// Whether the finding is open or fixed.
    pub state: State,
    /// The invariant that fires while the finding is open.
    pub invariant: String,
    /// Other invariants that fire because of the same finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The store with which the finding can be reproduced.
    #[serde(default, skip_serializing_if = "StoreKind::is_memory")]
    pub store: StoreKind,
    /// The seed that generated the plan. `None` if a person wrote the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Whether a finding has been fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The plan must make the invariant fire.
    Open,
    /// The plan must not make any invariant fire.
    Fixed,
}

/// The configuration of every host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent setting"
)]
pub struct Settings {
    /// The number of hosts that share the store.
    pub hosts: usize,
    /// The mode in which audit rows are written.
    pub audit: AuditMode,
    /// The maximum number of attempts of a read-only or idempotent call.
    pub attempts: u32,
    /// The number of adjacent read-only calls that may run in parallel.
    pub parallel: usize,
    /// Whether hosts apply the switches that are stored for all hosts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub switches: bool,
    /// Whether the stores of a host are in one database, so that the end of a call is one transaction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_database: bool,
    /// Whether the audit and the approvals have separate databases.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Whether each host uses a different name for the agent, as if the agent had been renamed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub agents: bool,
    /// Whether the first request of a run stores the user's message together with the start of the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub respond: bool,
    /// The number of calls of a tool that a host allows each user per minute. `None` means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hosts: 1,
            audit: AuditMode::Required,
            attempts: 1,
            parallel: 1,
            switches: false,
            one_database: false,
            apart: false,
            agents: false,
            respond: false,
            limit: None,
        }
    }
}

/// The mode in which audit rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditMode {
    /// A row is written before the body runs.
    Required,
    /// Rows are written in the background.
    BestEffort,
}

/// A user of a workspace in a conversation, written as `tenant/user/conversation`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct User {
    /// The workspace of the user.
    pub tenant: String,
    /// The name of the user.
    pub user: String,
    /// The conversation in the workspace.
    pub conversation: String,
}

impl FromStr for User {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split('/').map(str::to_owned);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(tenant), Some(user), Some(conversation), None) => Ok(Self {
                tenant,
                user,
                conversation,
            }),
            _ => Err(format!(
                "`{text}` does not name a user, write `tenant/user/conversation`"
            )),
        }
    }
}

impl TryFrom<String> for User {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<User> for String {
    fn from(who: User) -> Self {
        who.to_string()
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.tenant, self.user, self.conversation)
    }
}

/// A message of a user, and the messages that the model writes in reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The user who sends the message.
    pub who: User,
    /// The model's messages. After the last message, the model answers with the text `done`.
    pub script: Vec<Message>,
}

/// A message of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The calls of the message.
    pub calls: Vec<Call>,
}

/// One call of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The id from the provider.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments as JSON text. `{sentinel}` is replaced with a text that only this conversation contains.
    pub arguments: String,
}

/// An action at a point in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The time in milliseconds since the start of the run.
    pub at: u64,
    /// The kind of the action.
    #[serde(rename = "do")]
    pub what: What,
}

/// The kind of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A request drives a run on a host. The first request of a run stores the user's message.
    Drive {
        /// The index of the run.
        run: usize,
        /// The index of the host.
        host: usize,
        /// The client disconnects after this many polls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dropped_after: Option<u32>,
        /// The deadline, in milliseconds from now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<u64>,
        /// The user has pressed stop before the drive begins.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    /// The user presses stop, which cancels the newest drive of a run.
    Stop {
        /// The index of the run.
        run: usize,
    },
    /// The client of a run disconnects, so all requests that drive it are dropped.
    Leave {
        /// The index of the run.
        run: usize,
    },
    /// The user writes a message into the conversation of a run.
    Write {
        /// The index of the run.
        run: usize,
    },
    /// The client of a run reads the pending approvals.
    Inbox {
        /// The index of the run.
        run: usize,
        /// The index of the host.
        host: usize,
    },
    /// An operator answers the pending approvals in the workspace of a run.
    Answer {
        /// The index of the run.
        run: usize,
        /// The index of the host.
        host: usize,
        /// The operator's answer.
        reply: PlannedReply,
        /// The number of answers to each approval. Answers after the first answer are too late.
        #[serde(default = "once")]
        times: u32,
    },
    /// An operator revokes the granted and unused approvals of a run's workspace.
    Revoke {
        /// The index of the run.
        run: usize,
        /// The index of the host.
        host: usize,
    },
    /// The user of the run `by` presents the approval tokens of the conversation of the run `token_of`.
    Resume {
        /// The index of the run whose tokens are presented.
        token_of: usize,
        /// The index of the run whose user presents the tokens.
        by: usize,
        /// The index of the host.
        host: usize,
    },
    /// An operator settles ambiguous effects.
    Resolve {
        /// The index of the host.
        host: usize,
        /// Runs the effects again, instead of using the state of the receiver.
        #[serde(default)]
        rerun: bool,
    },
    /// A kill switch is set on one host.
    Kill {
        /// The index of the host.
        host: usize,
        /// The name of the tool.
        tool: String,
    },
    /// One host stores a kill switch for all hosts.
    StoreKill {
        /// The index of the host.
        host: usize,
        /// The name of the tool.
        tool: String,
    },
    /// A person disables a tool on one host.
    Disable {
        /// The index of the host.
        host: usize,
        /// The name of the tool.
        tool: String,
    },
    /// The policy of one host changes to deny this tool and no other tool.
    Deny {
        /// The index of the host.
        host: usize,
        /// The name of the tool.
        tool: String,
    },
    /// A tool that was killed, disabled or denied is enabled again on one host, and its stored kill switch is removed. The host denies no tool any
    /// more.
    Enable {
        /// The index of the host.
        host: usize,
        /// The name of the tool.
        tool: String,
    },
    /// The process of a host dies.
    Crash {
        /// The index of the host.
        host: usize,
    },
    /// A host that died starts again.
    Start {
        /// The index of the host.
        host: usize,
    },
    /// A host is drained before it ends.
    Drain {
        /// The index of the host.
        host: usize,
        /// The time that the drain waits for running calls, in milliseconds.
        patience: u64,
    },
    /// The wall clock of a host jumps.
    Clock {
        /// The index of the host.
        host: usize,
        /// The jump in milliseconds, forward or back.
        by: i64,
    },
    /// The next operations with this name on a host's store have a fault.
    Store {
        /// The index of the host.
        host: usize,
        /// The operation, such as `ledger.begin`.
        op: String,
        /// The fault of each operation.
        fault: Fault,
        /// The number of operations that have the fault.
        #[serde(default = "once")]
        times: u32,
    },
    /// The disks of all stores are full: writes fail, reads work.
    Full {
        /// The duration in milliseconds.
        millis: u64,
    },
    /// The hook around the next run of a body on a host causes a fault.
    Hook {
        /// The index of the host.
        host: usize,
        /// The fault that the hook causes.
        fault: HookFault,
    },
}

fn once() -> u32 {
    1
}

/// An operator's answer to an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedReply {
    /// The operator approves the call.
    Approve,
    /// The operator approves the call with a changed note.
    Edit,
    /// The operator denies the call.
    Deny,
}

/// A fault of a store's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The operation fails and writes nothing.
    Before,
    /// The operation writes, but its answer is lost.
    Lost,
    /// The operation waits this many milliseconds before it writes.
    SlowBefore(u64),
    /// The operation writes, and waits this many milliseconds before it answers.
    SlowAfter(u64),
    /// The operation never answers and writes nothing.
    Hang,
    /// The operation panics.
    Panic,
}

/// The fault that a tower layer causes in one run of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookFault {
    /// The layer returns an error in place of the body's result.
    FailsAfter,
    /// The layer panics after the body.
    PanicsAfter,
    /// The layer returns an error, and the body does not run.
    FailsBefore,
    /// The layer panics, and the body does not run.
    PanicsBefore,
}

impl Plan {
    /// Returns the time of the last action.
    pub fn length(&self) -> u64 {
        self.actions
            .iter()
            .map(|action| action.at)
            .max()
            .unwrap_or(0)
    }

    /// Returns the JSON text of a plan file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Call {
    /// Simplifies the call's arguments, for shrinking.
    pub(crate) fn simplify(&mut self) {
        for (from, to) in [("{sentinel}", ""), ("m1", "m0")] {
            if self.arguments.contains(from) {
                self.arguments = self.arguments.replace(from, to);
                return;
            }
        }
    }
}

impl What {
    /// Returns references to the indices of the runs to which the action refers.
    pub(crate) fn runs_mut(&mut self) -> Vec<&mut usize> {
        match self {
            Self::Drive { run, .. }
            | Self::Stop { run }
            | Self::Leave { run }
            | Self::Write { run }
            | Self::Inbox { run, .. }
            | Self::Answer { run, .. }
            | Self::Revoke { run, .. } => vec![run],
            Self::Resume { token_of, by, .. } => vec![token_of, by],
            _ => Vec::new(),
        }
    }

    /// Simplifies the action for shrinking: moves it to the first host, repeats it only once, or halves its duration. A drive loses its deadline
    /// or its disconnect only when it is already on the first host.
    pub(crate) fn simplify(&mut self) {
        match self {
            Self::Drive {
                host,
                dropped_after,
                deadline,
                ..
            } => {
                if *host > 0 {
                    *host = 0;
                } else if deadline.is_some() {
                    *deadline = None;
                } else {
                    *dropped_after = None;
                }
            }
            Self::Answer { host, times, .. } | Self::Store { host, times, .. } => {
                (*host, *times) = (0, 1);
            }
            Self::Inbox { host, .. }
            | Self::Revoke { host, .. }
            | Self::Resume { host, .. }
            | Self::Resolve { host, .. }
            | Self::Kill { host, .. }
            | Self::StoreKill { host, .. }
            | Self::Disable { host, .. }
            | Self::Deny { host, .. }
            | Self::Enable { host, .. }
            | Self::Crash { host }
            | Self::Start { host }
            | Self::Drain { host, .. }
            | Self::Clock { host, .. }
            | Self::Hook { host, .. } => *host = 0,
            Self::Full { millis } => *millis /= 2,
            Self::Stop { .. } | Self::Leave { .. } | Self::Write { .. } => {}
        }
    }
}
