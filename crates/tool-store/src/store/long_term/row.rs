//! A memory as it is stored, and its state transitions.

use std::time::Duration;

use super::{
    Durability, Importance, MemoryCorrection, MemoryScope, MemorySource, MemoryType, MemoryVector,
};
use crate::store::{StoreError, Timestamp};
use crate::text_search::content_hash;

/// A memory to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// The agents that read the memory.
    pub scope: MemoryScope,
    /// The text of the memory.
    pub content: String,
    /// The type of the memory, such as a fact or a preference.
    pub memory_type: MemoryType,
    /// How long the memory keeps its weight.
    pub durability: Durability,
    /// How important the memory is.
    pub importance: Importance,
    /// The author of the content.
    pub source: MemorySource,
    /// The user for whom the memory is stored; `None` if the host does not identify users. An erasure of the user removes the memory, unless it was
    /// stored again for a different user.
    pub principal: Option<String>,
    /// The conversation in which the memory is stored. An erasure of the thread removes the memory, unless it was stored again in a different thread.
    pub conversation: Option<String>,
    /// The embedding of the content; `None` if the host has no model for embeddings.
    pub vector: Option<MemoryVector>,
    /// When the memory is stored.
    pub at: Timestamp,
}

impl NewMemory {
    /// The maximum length of a content, in bytes.
    pub const MOST_BYTES: usize = 16 * 1024;

    /// Checks the conditions of [`LongTermStore::remember`](crate::store::LongTermStore::remember) that do not depend on stored rows. Fails with
    /// `Conflict` if the content is blank or longer than [`MOST_BYTES`](Self::MOST_BYTES), or if the user or the conversation contains a NUL
    /// character.
    pub fn check(&self) -> Result<(), StoreError> {
        check_content(&self.content)?;
        let names = [&self.principal, &self.conversation];
        if names.into_iter().flatten().any(|name| name.contains('\0')) {
            return Err(StoreError::Conflict(
                "the user or the conversation of a memory contains a NUL character: remove it"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the memory as it is stored for the first time.
    pub fn row(self, id: String) -> MemoryRow {
        MemoryRow {
            id,
            hash: content_hash(&self.content),
            scope: self.scope,
            content: self.content,
            memory_type: self.memory_type,
            durability: self.durability,
            importance: self.importance,
            source: self.source,
            principal: self.principal,
            conversation: self.conversation,
            model: self.vector.map(|vector| vector.model().to_owned()),
            created: self.at,
            updated: self.at,
        }
    }
}

pub(super) fn check_content(content: &str) -> Result<(), StoreError> {
    let conflict = |fault: String| {
        Err(StoreError::Conflict(format!(
            "the content of a memory {fault}"
        )))
    };
    if content.trim().is_empty() {
        return conflict("is blank: write what should be remembered".to_owned());
    }
    if content.len() > NewMemory::MOST_BYTES {
        return conflict(format!(
            "has {} bytes, write at most {}",
            content.len(),
            NewMemory::MOST_BYTES
        ));
    }
    Ok(())
}

/// A memory as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the transition and write the row back, in one
/// transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryRow {
    /// A random id, which is unique in all workspaces.
    pub id: String,
    /// The agents that read the memory.
    pub scope: MemoryScope,
    /// The text of the memory.
    pub content: String,
    /// The hash of the normalized content ([`content_hash`]), which is unique in its scope.
    pub hash: String,
    /// The type of the memory, such as a fact or a preference.
    pub memory_type: MemoryType,
    /// How long the memory keeps its weight.
    pub durability: Durability,
    /// How important the memory is.
    pub importance: Importance,
    /// The author of the content.
    pub source: MemorySource,
    /// The last user for whom the content was stored.
    pub principal: Option<String>,
    /// The last conversation in which the content was stored.
    pub conversation: Option<String>,
    /// The model of the stored embedding; `None` if the memory has none.
    pub model: Option<String>,
    /// When the memory was first stored.
    pub created: Timestamp,
    /// When the memory was last stored or corrected.
    pub updated: Timestamp,
}

impl MemoryRow {
    /// The cosine above which two contents are the same memory.
    pub const SAME: f64 = 0.90;

    /// Returns the factor by which a search multiplies the score of the memory at a time: from 0.8 to 1 for the importance, times the share of the
    /// weight that a memory of this age and this [durability](Durability) keeps. The factor is computed when the memory is read, so it depends only
    /// on the row and on the caller's clock.
    pub fn weight(&self, now: Timestamp) -> f64 {
        let age = now.as_millis().saturating_sub(self.updated.as_millis());
        let age = Duration::from_millis(u64::try_from(age).unwrap_or(0));
        (0.8 + 0.2 * self.importance.value()) * self.durability.left(age)
    }

    /// Returns whether searches no longer find the memory.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.durability == Durability::Ephemeral && self.updated < kept_since(now)
    }

    /// Stores the same content again. The memory keeps the larger of the two importances, durabilities and sources, because the contents are equal.
    pub fn repeat(&mut self, new: &NewMemory) {
        self.importance = self.importance.max(new.importance);
        self.durability = self.durability.max(new.durability);
        self.source = self.source.max(new.source);
        self.refresh(new);
    }

    /// Returns whether a similar content may replace this one. Content from a less trusted source is stored as a separate memory, so that a web page
    /// cannot replace the content of a user.
    pub fn admits(&self, new: &NewMemory) -> bool {
        new.source >= self.source
    }

    /// Replaces the content with a similar content.
    pub fn replace(&mut self, new: &NewMemory) {
        self.content.clone_from(&new.content);
        self.hash = content_hash(&new.content);
        self.importance = self.importance.max(new.importance);
        self.durability = self.durability.max(new.durability);
        self.source = new.source;
        self.refresh(new);
    }

    fn refresh(&mut self, new: &NewMemory) {
        self.memory_type = new.memory_type;
        if let Some(vector) = &new.vector {
            self.model = Some(vector.model().to_owned());
        }
        self.principal.clone_from(&new.principal);
        self.conversation.clone_from(&new.conversation);
        self.updated = self.updated.max(new.at);
    }

    /// Applies the correction of an operator. A new content has no embedding yet.
    pub fn correct(&mut self, correction: &MemoryCorrection) {
        if let Some(content) = &correction.content
            && *content != self.content
        {
            self.content.clone_from(content);
            self.hash = content_hash(content);
            self.model = None;
            self.source = MemorySource::User;
        }
        if let Some(memory_type) = correction.memory_type {
            self.memory_type = memory_type;
        }
        if let Some(durability) = correction.durability {
            self.durability = durability;
        }
        if let Some(importance) = correction.importance {
            self.importance = importance;
        }
        self.updated = self.updated.max(correction.at);
    }

    /// Returns the error for a memory that does not exist.
    pub(crate) fn missing(id: &str) -> StoreError {
        StoreError::Missing(format!("the workspace has no memory `{id}`"))
    }

    /// Returns the error for a content that a different memory of the scope has.
    #[must_use]
    pub fn duplicate(&self) -> StoreError {
        StoreError::Conflict(format!(
            "the scope `{}` has a memory with this content, remove one of the two",
            self.scope
        ))
    }
}

/// Returns the beginning of the retention of ephemeral memories: a memory that was last updated before this time has expired at `now`.
pub(crate) fn kept_since(now: Timestamp) -> Timestamp {
    let kept = i64::try_from(Durability::KEPT.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(kept))
}
