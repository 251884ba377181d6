//! The attributes of a memory: its type, its durability, its source and its importance.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::{StoreError, words};

/// The kind of information that a memory contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    /// Something that is true.
    Fact,
    /// What a user likes, dislikes or wants done in a certain way.
    Preference,
    /// What happened in a conversation.
    Interaction,
    /// A summary of a longer text.
    Summary,
    /// What a user asked for.
    UserRequest,
    /// A person, an organization or a thing.
    Entity,
    /// A subject that a user is interested in.
    Interest,
}

words!(MemoryType {
    Fact = "fact",
    Preference = "preference",
    Interaction = "interaction",
    Summary = "summary",
    UserRequest = "user_request",
    Entity = "entity",
    Interest = "interest",
});

/// How long a memory keeps its weight in searches. [`MemoryRow::weight`](crate::MemoryRow::weight) computes the weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// The weight halves every 7 days. After [`KEPT`](Self::KEPT), searches do not find the memory, and a purge removes it.
    Ephemeral,
    /// The weight decreases to one half within 365 days, and then stays the same.
    Standard,
    /// The memory keeps its weight.
    Core,
}

words!(Durability {
    Ephemeral = "ephemeral",
    Standard = "standard",
    Core = "core",
});

impl Durability {
    /// How long an ephemeral memory is kept, counted from its last update: 30 days.
    pub const KEPT: Duration = Duration::from_hours(30 * 24);

    /// Returns the share of its weight that a memory of this age keeps.
    pub(super) fn left(self, age: Duration) -> f64 {
        let halves = |days: u64| -age.as_secs_f64() / Duration::from_hours(days * 24).as_secs_f64();
        match self {
            Self::Core => 1.0,
            Self::Standard => halves(365).exp2().max(0.5),
            Self::Ephemeral => halves(7).exp2(),
        }
    }
}

/// The author of a memory's content. The later variants are trusted more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    /// The output of a tool, such as a web page. Treat it as untrusted text.
    Tool,
    /// A model that called a tool to store the memory.
    Model,
    /// A user or an operator.
    User,
}

words!(MemorySource {
    Tool = "tool",
    Model = "model",
    User = "user",
});

/// How important a memory is: a number from 0 to 1, stored in millionths.
///
/// ```
/// use tool_store::Importance;
///
/// assert_eq!(Importance::new(0.25)?.value(), 0.25);
/// assert!(Importance::new(1.5).is_err() && Importance::new(f64::NAN).is_err());
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Importance(u32);

impl Importance {
    /// The stored value of the largest importance, 1.
    const PARTS: u32 = 1_000_000;

    /// Creates an importance. Fails with `Conflict` if the value is not a number from 0 to 1.
    pub fn new(value: f64) -> Result<Self, StoreError> {
        if !(0.0..=1.0).contains(&value) {
            return Err(StoreError::Conflict(format!(
                "the importance {value} is out of range: use a number from 0 to 1"
            )));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the product is between 0 and 1,000,000"
        )]
        Ok(Self((value * f64::from(Self::PARTS)).round() as u32))
    }

    /// Returns the number from 0 to 1.
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(Self::PARTS)
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn parts(self) -> u32 {
        self.0
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn of_parts(parts: u32) -> Option<Self> {
        (parts <= Self::PARTS).then_some(Self(parts))
    }
}
