//! What really happened, as no host can know it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::plan::Who;

/// The calls of one tool in one message of one model: identity in the world, whatever ids the model wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The workspace.
    pub tenant: String,
    /// The conversation.
    pub conversation: String,
    /// The run that the model wrote the message for, and which of its messages it is. `None` where no message of a model is known.
    pub message: Option<Written>,
    /// The tool.
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

/// A message that a model writes for a run. It is the text of that message, so that the thread itself tells which message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Written {
    /// Index of the run.
    pub run: usize,
    /// Which of the run's messages; the first is 1.
    pub step: u32,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} message {}", self.run, self.step)
    }
}

impl Written {
    /// The message with this text.
    pub fn read(text: &str) -> Option<Self> {
        let (run, step) = text.strip_prefix("run ")?.split_once(" message ")?;
        let (run, step) = (run.parse().ok()?, step.parse().ok()?);
        Some(Self { run, step })
    }
}

/// What the user of a run says first.
pub fn hello(who: &Who, run: usize) -> String {
    let own = sentinel(&who.tenant, &who.conversation);
    format!("hello from {own}, run {run}")
}

/// The run that a user's text begins.
pub fn greeted(text: &str) -> Option<usize> {
    text.rsplit_once(", run ")?.1.parse().ok()
}

/// One run of a body.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Where the call stands.
    pub place: Place,
    /// What tells calls of one message apart; `None` where the body has none.
    pub mark: String,
    /// The arguments, as canonical JSON.
    pub arguments: String,
    /// The key of its call.
    pub key: Option<String>,
    /// For whom it ran.
    pub user: String,
    /// The process that ran it.
    pub process: u64,
    /// It has reached the receiver.
    pub effect: bool,
    /// It has returned `Ok`, and its call knows.
    pub returned: bool,
}

/// From when to when a stored kill switch holds: places in the order of stored changes, and times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct StoredKill {
    /// When it was stored.
    pub from: (u64, u128),
    /// When it was taken back.
    pub until: Option<(u64, u128)>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Its name.
    pub invariant: &'static str,
    /// What was seen.
    pub what: String,
}

/// Everything that is known of a run.
#[derive(Default)]
pub struct Facts {
    /// Runs of bodies.
    pub begins: Vec<Begin>,
    /// Messages of models, by workspace, conversation and sequence number, as they were stored.
    pub messages: BTreeMap<(String, String, u64), Written>,
    /// Places that operators have let run again, and how often.
    pub reruns: BTreeMap<Place, usize>,
    /// Calls of tools that were told that they succeeded.
    pub told: BTreeSet<(Place, String)>,
    /// Tools that somebody has switched off or denied.
    pub switched: BTreeSet<String>,
    /// Tools of calls that a hook has ended before their bodies began, or while they waited for a nested call.
    pub hooked: BTreeSet<String>,
    /// Kill switches that were stored, by tool.
    pub stored_kills: Vec<(String, StoredKill)>,
    /// Places of claims in the order of stored changes, and their times in milliseconds, by workspace and key.
    pub claims: BTreeMap<(String, String), (u64, u128)>,
    /// How many changes were put into that order.
    pub stored_changes: u64,
    /// Runs whose first message is stored.
    pub greeted: BTreeSet<usize>,
    /// Runs whose user has pressed stop.
    pub stopped: BTreeSet<usize>,
    /// Runs whose drive was dropped, stopped, cut by its deadline, or lived in a process that died.
    pub disturbed: BTreeSet<usize>,
    /// Whether a process has died, or a store has failed.
    pub faults: bool,
    /// Until when no store has room on its disk, in milliseconds since the start.
    pub full_until: u128,
    /// A write of the audit hangs: what it was to write is not counted before the process ends.
    pub audit_hangs: bool,
    /// Audit rows that hosts have counted as lost, or that waited to be written when their process ended.
    pub uncounted: u64,
    /// A process has died or was drained.
    pub deaths: bool,
    /// Secrets of all hosts.
    pub secrets: Vec<String>,
    /// What does not hold.
    pub violations: BTreeSet<Violation>,
    /// What happened, in order.
    pub lines: Vec<String>,
}

/// Cheap to clone; all clones are one world.
#[derive(Clone, Default)]
pub struct World(Arc<Mutex<Facts>>);

impl World {
    /// The facts.
    pub fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to the trace.
    pub fn note(&self, line: impl Into<String>) {
        self.facts().lines.push(line.into());
    }

    /// Notes that an invariant does not hold.
    pub fn violated(&self, invariant: &'static str, what: impl Into<String>) {
        let violation = Violation {
            invariant,
            what: what.into(),
        };
        self.facts().violations.insert(violation);
    }

    /// The place of a call: the message of the model is looked up by its sequence number in the thread.
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

    /// Looks at a text that leaves a host for somebody of a conversation: a model, a client, a row.
    pub fn seen(&self, by: &Who, place: &str, text: &str) {
        let own = sentinel(&by.tenant, &by.conversation);
        for (at, _) in text.match_indices("<<of ") {
            let rest = &text[at..];
            let found = rest.find(">>").map_or(rest, |end| &rest[..end + 2]);
            if found != own {
                self.violated(
                    "foreign_text",
                    format!("{place} of {by} holds the text {found}"),
                );
            }
        }
        let secrets = self.facts().secrets.clone();
        for secret in secrets.iter().filter(|secret| text.contains(*secret)) {
            self.violated("secret", format!("{place} of {by} holds `{secret}`"));
        }
    }

    /// A number that is the same for the same run.
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.facts().lines.hash(&mut hasher);
        hasher.finish()
    }
}

/// A text that only one conversation holds.
pub fn sentinel(tenant: &str, conversation: &str) -> String {
    format!("<<of {tenant} {conversation}>>")
}

/// The spellings in which a secret must not leave a host.
pub fn spellings(secret: &str) -> Vec<String> {
    vec![secret.to_owned(), hex(secret)]
}

/// A text in hexadecimal digits.
pub fn hex(text: &str) -> String {
    let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or_default();
    let digits = text.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}
