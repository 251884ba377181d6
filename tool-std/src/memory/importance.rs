//! The default importance of memories.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tool_core::ToolError;

use super::{Durability, ImportanceScorer, MemoryType};

/// Computes the importance from the type and the durability of a memory, and from digits and words of the content that suggest importance, such as
/// `must` and `deadline`. It needs no model, and returns the same number for the same memory.
///
/// ```
/// use tool_std::memory::{Durability, Heuristic, MemoryType};
///
/// let importance = |content| Heuristic::score(content, MemoryType::Fact, Durability::Standard);
/// assert!(importance("Ada is allergic to nuts") > importance("Ada has seen a film"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Heuristic;

/// Words that suggest that a memory is important.
const MARKED: [&str; 14] = [
    "allergic",
    "allergy",
    "always",
    "birthday",
    "critical",
    "deadline",
    "emergency",
    "important",
    "must",
    "never",
    "prefers",
    "required",
    "rule",
    "urgent",
];

impl Heuristic {
    /// Returns the importance: 0.25 to 0.6 for the type, 0.2 more for core and 0.2 less for ephemeral memories, 0.2 more for a marked word and 0.05 more for a
    /// digit, but at most 1.
    pub fn score(content: &str, memory_type: MemoryType, durability: Durability) -> f64 {
        let base: f64 = match memory_type {
            MemoryType::Preference => 0.6,
            MemoryType::UserRequest => 0.55,
            MemoryType::Fact | MemoryType::Entity => 0.5,
            MemoryType::Interest => 0.45,
            MemoryType::Summary => 0.4,
            MemoryType::Interaction => 0.25,
        };
        let kept = match durability {
            Durability::Core => 0.2,
            Durability::Standard => 0.0,
            Durability::Ephemeral => -0.2,
        };
        let content = content.to_lowercase();
        let mut words = content.split(|letter: char| !letter.is_alphanumeric());
        let marked = if words.any(|word| MARKED.contains(&word)) {
            0.2
        } else {
            0.0
        };
        let digit = if content.contains(|letter: char| letter.is_numeric()) {
            0.05
        } else {
            0.0
        };
        (base + kept + marked + digit).clamp(0.0, 1.0)
    }
}

impl ImportanceScorer for Heuristic {
    fn importance<'a>(
        &'a self,
        content: &'a str,
        memory_type: MemoryType,
        durability: Durability,
    ) -> BoxFuture<'a, Result<f64, ToolError>> {
        let score = Self::score(content, memory_type, durability);
        async move { Ok(score) }.boxed()
    }
}
