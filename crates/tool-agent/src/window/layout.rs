//! The parts of a thread that are kept or removed as a whole.

use std::collections::{HashMap, HashSet};

use tool_core::store::{Message, Role};
use tool_core::turn::ModelMessage;

use super::count::{Count, TokenCounter};

/// The messages of a thread as units, and the order in which units may be removed.
///
/// A turn begins with a message of a user, and its rounds follow. A round is a message of the model with the results of its calls; the results may be
/// anywhere in the thread. Rounds are removed in order, and the last round of a turn together with the messages of the user, so that a view begins
/// with a message of a user, as providers require.
pub(super) struct Layout<'a> {
    messages: &'a [Message],
    /// The unit of each message; `None` for a result without its call, which no provider accepts.
    unit_of: Vec<Option<usize>>,
    pub(super) units: Vec<Unit>,
    pub(super) steps: Vec<Step>,
}

/// A message of the host or of a user, or a round.
pub(super) struct Unit {
    pub(super) kind: Kind,
    /// The sequence number of its first message.
    pub(super) seq: u64,
    pub(super) tokens: u64,
    /// The indexes of its messages, in order.
    messages: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    System,
    User,
    Round {
        /// Whether a call has no result yet.
        open: bool,
        /// The input tokens that the provider reported for the request of this message.
        reported: Option<u64>,
    },
}

impl Kind {
    const fn is_round(self) -> bool {
        matches!(self, Self::Round { .. })
    }

    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Round { open: true, .. })
    }
}

/// Units that are removed together.
pub(super) struct Step {
    /// The unit that determines the order of the step and its protection: its round, or the last message of a turn without rounds.
    pub(super) key: usize,
    /// The units that are removed.
    pub(super) removes: Vec<usize>,
    /// The units that a summary of the step contains: its round, and for the first step of a turn also the messages of the user.
    pub(super) summarises: Vec<usize>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(messages: &'a [Message], counter: &dyn TokenCounter) -> Self {
        let mut rounds = HashMap::new();
        let mut open: HashMap<usize, HashSet<u32>> = HashMap::new();
        let mut units: Vec<Unit> = Vec::new();
        let mut unit_of = vec![None; messages.len()];
        for (at, message) in messages.iter().enumerate() {
            let kind = match message.role {
                Role::Tool => continue,
                Role::System => Kind::System,
                Role::User => Kind::User,
                Role::Assistant => {
                    let said = serde_json::from_str::<ModelMessage>(&message.content);
                    let said = said.unwrap_or_default();
                    rounds.insert(message.seq, units.len());
                    let calls = (0..).zip(&said.calls).map(|(position, _)| position);
                    open.insert(units.len(), calls.collect());
                    Kind::Round {
                        open: false,
                        reported: said.usage.map(|usage| usage.input_tokens),
                    }
                }
            };
            unit_of[at] = Some(units.len());
            units.push(Unit {
                kind,
                seq: message.seq,
                tokens: counter.message(message),
                messages: vec![at],
            });
        }
        for (at, message) in messages.iter().enumerate() {
            let Some(call) = message.answers else {
                continue;
            };
            if let Some(unit) = rounds.get(&call.message).copied() {
                unit_of[at] = Some(unit);
                units[unit].tokens += counter.message(message);
                units[unit].messages.push(at);
                if let Some(open) = open.get_mut(&unit) {
                    open.remove(&call.position);
                }
            }
        }
        for (unit, calls) in open {
            if let Kind::Round { open, .. } = &mut units[unit].kind {
                *open = !calls.is_empty();
            }
        }
        let steps = steps(&units);
        Self {
            messages,
            unit_of,
            units,
            steps,
        }
    }

    /// Returns the messages of a unit, in order.
    pub(super) fn messages_of(&self, unit: usize) -> impl Iterator<Item = &'a Message> + '_ {
        let at = self.units[unit].messages.iter();
        at.map(|at| &self.messages[*at])
    }

    /// Returns the first message that may be removed.
    pub(super) fn first(&self) -> Option<&'a Message> {
        let unit = *self.steps.first()?.removes.first()?;
        self.messages_of(unit).next()
    }

    /// Returns the number of steps up to the unit with this sequence number; 0 if the thread does not contain it.
    pub(super) fn steps_through(&self, seq: u64) -> usize {
        let unit = self
            .units
            .iter()
            .position(|unit| unit.seq == seq && unit.kind != Kind::System);
        unit.map_or(0, |unit| {
            self.steps.partition_point(|step| step.key <= unit)
        })
    }

    /// Returns the index of the first unit that must stay in a request with the first `end` units. A step may be removed if its key is before this
    /// unit.
    pub(super) fn boundary(&self, end: usize, keep_rounds: usize) -> usize {
        let units = &self.units[..end];
        let mut last = units.iter().rev().map(|unit| unit.kind);
        let last = last.find(|kind| *kind != Kind::System);
        // The model has not read the results of the last round.
        let unread = usize::from(last.is_some_and(Kind::is_round));
        let keep = keep_rounds.max(unread);
        let is_round = |at: &usize| units[*at].kind.is_round();
        let first_kept = match keep {
            0 => end,
            keep => (0..end).rev().filter(is_round).nth(keep - 1).unwrap_or(0),
        };
        // The messages of the user that no message of the model follows.
        let question = units.iter().rposition(|unit| unit.kind.is_round());
        let question = question.map_or(0, |round| round + 1);
        let is_user = |at: &usize| units[*at].kind == Kind::User;
        let question = (question..end).find(is_user).unwrap_or(end);
        first_kept.min(question)
    }

    /// Returns how many steps one summary can cover. A summary has no gaps, so it ends before the first open call.
    pub(super) fn closed_steps(&self) -> usize {
        let open = self.units.iter().position(|unit| unit.kind.is_open());
        let open = open.unwrap_or(self.units.len());
        self.steps.partition_point(|step| step.key < open)
    }

    /// Removes the units of a step from a count.
    pub(super) fn subtract(&self, count: &mut Count, step: usize) {
        for unit in &self.steps[step].removes {
            count.remove(*unit, self.units[*unit].tokens);
        }
    }

    /// Returns the messages that remain after the first `removed` steps, without results that have no call.
    pub(super) fn view(&self, removed: usize) -> Vec<Message> {
        let mut keeps = vec![true; self.units.len()];
        for step in &self.steps[..removed] {
            for unit in &step.removes {
                keeps[*unit] = false;
            }
        }
        let of = self.unit_of.iter().zip(self.messages);
        of.filter(|(unit, _)| unit.is_some_and(|unit| keeps[unit]))
            .map(|(_, message)| message.clone())
            .collect()
    }
}

fn steps(units: &[Unit]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < units.len() {
        // A turn: the messages of the user, then the rounds until the next message of the user.
        let mut users = Vec::new();
        let mut rounds = Vec::new();
        while let Some(unit) = units.get(at) {
            match unit.kind {
                Kind::System => {}
                Kind::User if rounds.is_empty() => users.push(at),
                Kind::User => break,
                Kind::Round { .. } => rounds.push(at),
            }
            at += 1;
        }
        let is_open = rounds.iter().any(|round| units[*round].kind.is_open());
        let last = rounds.last().copied();
        let mut before = users.clone();
        for round in rounds {
            if units[round].kind.is_open() {
                continue;
            }
            let mut removes = vec![round];
            if Some(round) == last && !is_open {
                removes.splice(0..0, users.iter().copied());
            }
            let mut summarises = std::mem::take(&mut before);
            summarises.push(round);
            steps.push(Step {
                key: round,
                removes,
                summarises,
            });
        }
        if last.is_none()
            && let Some(key) = users.last().copied()
        {
            steps.push(Step {
                key,
                removes: users.clone(),
                summarises: users,
            });
        }
    }
    steps
}
