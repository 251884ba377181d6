//! Tests of long-term memories and of notes.

use crate::*;

use super::records::{acme, at, thread};
use super::{Opener, tests};

mod administration;
mod notes;
mod races;
mod remember;
mod search;
mod vectors;

pub use administration::*;
pub use notes::*;
pub use races::*;
pub use remember::*;
pub use search::*;
pub use vectors::*;

/// The traits of a store whose memories are erased and purged.
#[doc(hidden)]
pub trait Memories: LongTermStore + Maintenance {}
impl<T: LongTermStore + Maintenance> Memories for T {}

fn shared() -> MemoryScope {
    MemoryScope::shared(&acme())
}

fn agent(name: &str) -> MemoryScope {
    MemoryScope::agent(&acme(), name).unwrap()
}

/// Returns a fact of a scope, stored at 100.
fn fact(scope: &MemoryScope, content: &str) -> NewMemory {
    NewMemory {
        scope: scope.clone(),
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Standard,
        importance: Importance::new(0.5).unwrap(),
        source: MemorySource::Model,
        principal: Some("ann".to_owned()),
        conversation: Some("main".to_owned()),
        vector: None,
        at: at(100),
    }
}

fn vector(values: [f32; 3]) -> MemoryVector {
    MemoryVector::new("model", values.to_vec()).unwrap()
}

fn with_vector(scope: &MemoryScope, content: &str, values: [f32; 3]) -> NewMemory {
    NewMemory {
        vector: Some(vector(values)),
        ..fact(scope, content)
    }
}

fn query(text: &str) -> MemoryQuery {
    MemoryQuery {
        text: text.to_owned(),
        types: Vec::new(),
        limit: 10,
        now: at(200),
    }
}

async fn add(store: &impl LongTermStore, new: NewMemory) -> MemoryRow {
    let remembered = store.remember(new).await.unwrap();
    assert_eq!(remembered.event, MemoryEvent::Add);
    remembered.memory
}

fn contents(hits: &[MemoryHit]) -> Vec<&str> {
    hits.iter().map(|hit| &*hit.memory.content).collect()
}

async fn found(store: &impl LongTermStore, reader: &MemoryScope, text: &str) -> Vec<String> {
    let hits = store.search_memories(reader, &query(text)).await.unwrap();
    let contents = contents(&hits).into_iter();
    contents.map(str::to_owned).collect()
}

async fn near(store: &impl LongTermStore, reader: &MemoryScope, values: [f32; 3]) -> Vec<String> {
    let (vector, query) = (vector(values), query(""));
    let hits = store.nearest_memories(reader, &vector, &query).await;
    let hits = hits.unwrap();
    contents(&hits).into_iter().map(str::to_owned).collect()
}

async fn all(store: &impl LongTermStore) -> Vec<MemoryRow> {
    let filter = MemoryFilter::default();
    store.list_memories(Scope::All, &filter).await.unwrap()
}

fn note(conversation: &str, author: &str, text: &str) -> NewNote {
    NewNote {
        thread: thread(conversation),
        author: author.to_owned(),
        text: text.to_owned(),
        at: at(100),
    }
}
