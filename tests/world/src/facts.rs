//! The facts of a run that the simulator records. Hosts have no access to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::plan::User;

/// The place of the calls of one tool in one message of a model. It identifies these calls independently of the ids that the model wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The workspace of the conversation.
    pub tenant: String,
    /// The conversation in the workspace.
    pub conversation: String,
    /// The run and the number of the model's message in the run. `None` if the message is unknown.
    pub message: Option<Written>,
    /// The name of the tool.
    pub tool: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}/{} ", self.tool, self.tenant, self.conversation)?;
        match self.message {
            Some(message) => message.fmt(f),
            None => f.write_str("outside of a message"),
        }
    }
}

/// The identity of a message that a model writes for a run. The text of the message is this identity, so it can be parsed from the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Written {
    /// The index of the run.
    pub run: usize,
    /// The number of the message within the run, from 1.
    pub step: u32,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} message {}", self.run, self.step)
    }
}

impl Written {
    /// Parses the text of a message.
    pub fn read(text: &str) -> Option<Self> {
        let (run, step) = text.strip_prefix("run ")?.split_once(" message ")?;
        let (run, step) = (run.parse().ok()?, step.parse().ok()?);
        Some(Self { run, step })
    }
}

/// Returns the first message of the user of a run.
pub fn hello(who: &User, run: usize) -> String {
    let own = sentinel(&who.tenant, &who.conversation);
    format!("hello from {own}, run {run}")
}

/// Returns the run whose first message is this text of a user.
pub fn greeted(text: &str) -> Option<usize> {
    text.rsplit_once(", run ")?.1.parse().ok()
}

/// One run of a body.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The place of the call.
    pub place: Place,
    /// The mark that distinguishes calls of one message.
    pub mark: String,
    /// The arguments, as canonical JSON.
    pub arguments: String,
    /// The key of the call.
    pub key: Option<String>,
    /// The user on whose behalf the body ran.
    pub user: String,
    /// The process that ran the body.
    pub process: u64,
    /// Whether the effect has reached the receiver.
    pub effect: bool,
    /// Whether the body has returned, and its call has read the result.
    pub returned: bool,
}

/// The period in which a stored kill switch applies. Each end has a position in the order of stored changes and a time in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct StoredKill {
    /// The position and the time at which the switch was stored.
    pub from: (u64, u128),
    /// The position and the time at which the switch was removed.
    pub until: Option<(u64, u128)>,
}

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The name of the invariant.
    pub invariant: &'static str,
    /// The observation that violates the invariant.
    pub what: String,
}

/// All data that the simulator records about a run.
#[derive(Default)]
pub struct Facts {
    /// The runs of bodies.
    pub begins: Vec<Begin>,
    /// The stored messages of models, by workspace, conversation and sequence number.
    pub messages: BTreeMap<(String, String, u64), Written>,
    /// The places whose calls operators ran again, with the number of repetitions.
    pub reruns: BTreeMap<Place, usize>,
    /// The nested calls whose success was returned to the calling tool.
    pub told: BTreeSet<(Place, String)>,
    /// The tools that were killed, disabled or denied.
    pub switched: BTreeSet<String>,
    /// The tools of calls that a hook ended before the body began, or while the body waited for a nested call.
    pub hooked: BTreeSet<String>,
    /// The stored kill switches, by tool.
    pub stored_kills: Vec<(String, StoredKill)>,
    /// The claims, by workspace and key. Each has the position in the order of stored changes and the time in milliseconds.
    pub claims: BTreeMap<(String, String), (u64, u128)>,
    /// The number of stored changes.
    pub stored_changes: u64,
    /// The runs whose first message is stored.
    pub greeted: BTreeSet<usize>,
    /// The runs whose user has pressed stop.
    pub stopped: BTreeSet<usize>,
    /// The runs with a drive that was dropped or stopped, had a deadline, or was in a process that died or was drained.
    pub disturbed: BTreeSet<usize>,
    /// Whether the plan has filled the disks, or has armed a fault of a store that is not a delay.
    pub faults: bool,
    /// The time until which all disks are full, in milliseconds since the start.
    pub full_until: u128,
    /// Whether a write of the audit hangs. The rows of this write are not counted as lost.
    pub audit_hangs: bool,
    /// The number of audit rows that hosts counted as lost, or that were not written yet when their process ended.
    pub uncounted: u64,
    /// Whether a process died or was drained, or a drive did not end.
    pub deaths: bool,
    /// The secrets of all hosts.
    pub secrets: Vec<String>,
    /// The violations of invariants.
    pub violations: BTreeSet<Violation>,
    /// The trace of all events, in order.
    pub lines: Vec<String>,
}

/// The shared facts of a run. Clones are cheap and refer to the same facts.
#[derive(Clone, Default)]
pub struct World(Arc<Mutex<Facts>>);

impl World {
    /// Locks and returns the facts.
    pub fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to the trace.
    pub fn note(&self, line: impl Into<String>) {
        self.facts().lines.push(line.into());
    }

    /// Records a violation of an invariant.
    pub fn violated(&self, invariant: &'static str, what: impl Into<String>) {
        let violation = Violation {
            invariant,
            what: what.into(),
        };
        self.facts().violations.insert(violation);
    }

    /// Returns the place of a call. The sequence number in the thread identifies the message of the model.
    pub fn place(
        &self,
        tenant: &str,
        conversation: &str,
        message: Option<u64>,
        tool: &str,
    ) -> Place {
        let (tenant, conversation) = (tenant.to_owned(), conversation.to_owned());
        let message = message.and_then(|seq| {
            let at = (tenant.clone(), conversation.clone(), seq);
            self.facts().messages.get(&at).copied()
        });
        Place {
            tenant,
            conversation,
            message,
            tool: tool.to_owned(),
        }
    }

    /// Checks that a text which a host sends to a model or a client, or writes to a row, contains no secret and no text of a different conversation.
    pub fn seen(&self, by: &User, place: &str, text: &str) {
        let own = sentinel(&by.tenant, &by.conversation);
        for (at, _) in text.match_indices("<<of ") {
            let rest = &text[at..];
            let found = rest.find(">>").map_or(rest, |end| &rest[..end + 2]);
            if found != own {
                self.violated(
                    "foreign_text",
                    format!("{place} of {by} contains the text {found}"),
                );
            }
        }
        let secrets = self.facts().secrets.clone();
        for secret in secrets.iter().filter(|secret| text.contains(*secret)) {
            self.violated("secret", format!("{place} of {by} contains `{secret}`"));
        }
    }

    /// Returns a hash of the trace. Equal runs have the same hash.
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.facts().lines.hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns a text that only one conversation contains.
pub fn sentinel(tenant: &str, conversation: &str) -> String {
    format!("<<of {tenant} {conversation}>>")
}

/// Returns the spellings of a secret that must not leave a host.
pub fn spellings(secret: &str) -> Vec<String> {
    vec![secret.to_owned(), hex(secret)]
}

/// Converts a text to hexadecimal digits.
pub fn hex(text: &str) -> String {
    let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or_default();
    let digits = text.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}
