//! What a run does, written so that a person can read it and the simulator can repeat it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::run::StoreKind;

/// A whole run: who asks for what, what the models write, what operators do and what goes wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// What the run shows, for readers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub story: String,
    /// The finding that the run shows, and whether it is still open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// Seed of the scheduler, of random bytes and of retries.
    pub schedule: u64,
    /// How hosts are set up.
    pub settings: Settings,
    /// User messages, and what the models answer.
    pub runs: Vec<Run>,
    /// What happens, in order of time.
    pub actions: Vec<Action>,
}

/// What a kept plan is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Name of the finding, such as `A1`.
    pub finding: String,
    /// Whether the fault is still there.
    pub state: State,
    /// The invariant that fires while the fault is open.
    pub invariant: String,
    /// Other invariants that fire because of the same finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The store that the fault needs.
    #[serde(default, skip_serializing_if = "StoreKind::is_memory")]
    pub store: StoreKind,
    /// The seed that the plan came from; none where a person wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Whether a finding has been fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The plan has to make the invariant fire.
    Open,
    /// The plan must not make any invariant fire.
    Fixed,
}

/// How every host is set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct Settings {
    /// Hosts on the one store.
    pub hosts: usize,
    /// How the audit is kept.
    pub audit: AuditMode,
    /// How often a read-only or idempotent tool is tried.
    pub attempts: u32,
    /// Neighbouring read-only calls that run at once.
    pub parallel: usize,
    /// Whether hosts obey the switches that are stored for all of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub switches: bool,
    /// Whether the stores of a host are parts of one database, so that the end of a call is one transaction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_database: bool,
    /// Whether the audit and the approvals are in databases of their own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Whether each host has another name for the agent, as after a renaming.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub agents: bool,
    /// Whether the first request of a run stores the user's message with the begin of the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub respond: bool,
    /// How many calls of a tool a host lets through in a minute, for each user; none for no limit.
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

/// How the audit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditMode {
    /// A row before the body.
    Required,
    /// Rows in the background.
    BestEffort,
}

/// A user of a workspace in a conversation. Written `tenant/user/conversation`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Who {
    /// The workspace.
    pub tenant: String,
    /// The user.
    pub user: String,
    /// The conversation.
    pub conversation: String,
}

impl FromStr for Who {
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

impl TryFrom<String> for Who {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Who> for String {
    fn from(who: Who) -> Self {
        who.to_string()
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.tenant, self.user, self.conversation)
    }
}

/// A message of a user, and what the model writes until it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Who asks.
    pub who: Who,
    /// The model's messages; after the last one it says that it is done.
    pub script: Vec<Message>,
}

/// The calls of one message of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The calls.
    pub calls: Vec<Call>,
}

/// One call of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The id that the provider gave it.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// JSON text. `{sentinel}` stands for a text that only this conversation holds.
    pub arguments: String,
}

/// Something that happens at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Milliseconds since the start of the run.
    pub at: u64,
    /// What happens.
    #[serde(rename = "do")]
    pub what: What,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A request drives a run on a host; the first one stores the user's message.
    Drive {
        /// Index of the run.
        run: usize,
        /// Index of the host.
        host: usize,
        /// The client goes away after so many polls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dropped_after: Option<u32>,
        /// The deadline, in milliseconds from now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<u64>,
        /// The user has pressed stop before it begins.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    /// The user presses stop: the cancellation of all drives of a run.
    Stop {
        /// Index of the run.
        run: usize,
    },
    /// The client of a run goes away: all requests that drive it are dropped.
    Leave {
        /// Index of the run.
        run: usize,
    },
    /// The user writes into the conversation of a run.
    Write {
        /// Index of the run.
        run: usize,
    },
    /// The client of a run looks at what waits for an answer.
    Inbox {
        /// Index of the run.
        run: usize,
        /// Index of the host.
        host: usize,
    },
    /// An operator answers the oldest approvals that wait in the workspace of a run.
    Answer {
        /// Index of the run.
        run: usize,
        /// Index of the host.
        host: usize,
        /// What the operator says.
        reply: Say,
        /// How often: once, or again when it is too late.
        #[serde(default = "once")]
        times: u32,
    },
    /// An operator takes back the approvals of the workspace of a run that were given and not used.
    Revoke {
        /// Index of the run.
        run: usize,
        /// Index of the host.
        host: usize,
    },
    /// The client of a run presents the token of another run's approval.
    Resume {
        /// Whose token.
        token_of: usize,
        /// Index of the run that presents it.
        by: usize,
        /// Index of the host.
        host: usize,
    },
    /// An operator says what became of ambiguous effects.
    Resolve {
        /// Index of the host.
        host: usize,
        /// Lets them run again, in place of what the receiver knows.
        #[serde(default)]
        rerun: bool,
    },
    /// A kill switch, thrown on one host.
    Kill {
        /// Index of the host.
        host: usize,
        /// The tool.
        tool: String,
    },
    /// A kill switch, stored by one host for all hosts.
    StoreKill {
        /// Index of the host.
        host: usize,
        /// The tool.
        tool: String,
    },
    /// A person switches a tool off on one host.
    Disable {
        /// Index of the host.
        host: usize,
        /// The tool.
        tool: String,
    },
    /// The policy of one host changes: the tool is denied.
    Deny {
        /// Index of the host.
        host: usize,
        /// The tool.
        tool: String,
    },
    /// A tool that was killed, disabled or denied on one host is back there, and its stored kill switch is taken back.
    Enable {
        /// Index of the host.
        host: usize,
        /// The tool.
        tool: String,
    },
    /// The process of a host dies.
    Crash {
        /// Index of the host.
        host: usize,
    },
    /// A host that died starts again.
    Start {
        /// Index of the host.
        host: usize,
    },
    /// A host is asked to end.
    Drain {
        /// Index of the host.
        host: usize,
        /// Milliseconds.
        patience: u64,
    },
    /// The wall clock of a host jumps.
    Clock {
        /// Index of the host.
        host: usize,
        /// Milliseconds, forward or back.
        by: i64,
    },
    /// The next operations of this name on a host's store go wrong.
    Store {
        /// Index of the host.
        host: usize,
        /// The operation, such as `ledger.begin`.
        op: String,
        /// How.
        fault: Fault,
        /// How many of them.
        #[serde(default = "once")]
        times: u32,
    },
    /// The disks of all stores are full: nothing can be written, what is there can be read.
    Full {
        /// For how many milliseconds.
        millis: u64,
    },
    /// The next runs of bodies on a host meet this hook.
    Hook {
        /// Index of the host.
        host: usize,
        /// What it does.
        fault: HookFault,
    },
}

fn once() -> u32 {
    1
}

/// What an operator says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Say {
    /// Yes.
    Approve,
    /// Yes, with another note.
    Edit,
    /// No.
    Deny,
}

/// What goes wrong in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It fails and nothing is written.
    Before,
    /// It writes, and the answer is lost.
    Lost,
    /// It waits before it writes.
    SlowBefore(u64),
    /// It writes, and waits before it answers.
    SlowAfter(u64),
    /// It never answers and writes nothing.
    Hang,
    /// It panics.
    Panic,
}

/// What a tower layer does to one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookFault {
    /// An error in place of what the body gave.
    FailsAfter,
    /// A panic after the body.
    PanicsAfter,
    /// An error, and the body does not run.
    FailsBefore,
    /// A panic, and the body does not run.
    PanicsBefore,
}

impl Plan {
    /// The latest time of an action.
    pub fn length(&self) -> u64 {
        self.actions
            .iter()
            .map(|action| action.at)
            .max()
            .unwrap_or(0)
    }

    /// As the JSON text of a plan file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Call {
    /// The same call with plainer arguments.
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
    /// The runs that it names.
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

    /// The same action on the first host, once, without an early end.
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
