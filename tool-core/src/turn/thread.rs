//! A thread while a run goes on: read once, then kept in step with what is appended.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::Recorded;
use super::{ModelMessage, StoredMessage, ToolMessage, TurnError};
use crate::store::{
    CallPlace, Message, NewMessage, Role, StoreError, ThreadId, ThreadStore, Timestamp,
};

/// The messages of a thread, and the way to append to them.
pub(super) struct Thread<'s> {
    store: &'s Arc<dyn ThreadStore>,
    id: ThreadId,
    messages: Vec<Message>,
    /// The last sequence number that is known.
    last: u64,
}

impl<'s> Thread<'s> {
    /// Reads a thread; of a long one only the messages after a sequence number.
    pub(super) async fn read(
        store: &'s Arc<dyn ThreadStore>,
        id: ThreadId,
        after: Option<u64>,
    ) -> Result<Self, TurnError> {
        let messages = store.read(&id, after).await?;
        let last = messages
            .last()
            .map_or(after.unwrap_or(0), |message| message.seq);
        Ok(Self {
            store,
            id,
            messages,
            last,
        })
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The last message of the model, and the step of its run that it was.
    pub(super) fn last_of_model(&self) -> Result<Option<(StoredMessage, u32)>, TurnError> {
        let mut messages = self.messages.iter().rev();
        let Some(message) = messages.find(|message| message.role == Role::Assistant) else {
            return Ok(None);
        };
        let Recorded {
            message: said,
            step,
        } = parse(message.seq, &message.content)?;
        let stored = StoredMessage {
            thread: self.id.clone(),
            seq: message.seq,
            message: said,
            turn: message.turn.as_deref().map(Arc::from),
        };
        Ok(Some((stored, step)))
    }

    /// Whether a user has written after a message.
    pub(super) fn user_wrote_after(&self, seq: u64) -> bool {
        let mut later = self.messages.iter().rev();
        later
            .by_ref()
            .take_while(|message| message.seq > seq)
            .any(|message| message.role == Role::User)
    }

    /// The results of a message's calls, by their position.
    pub(super) fn results(&self, seq: u64) -> Result<HashMap<u32, ToolMessage>, TurnError> {
        let mut results = HashMap::new();
        for message in self.messages.iter().rev() {
            if message.seq <= seq {
                break;
            }
            if let Some(call) = message.answers
                && call.message == seq
            {
                results.insert(call.position, parse(message.seq, &message.content)?);
            }
        }
        Ok(results)
    }

    /// Appends a message, and what others have appended since the thread was read. Returns its sequence number.
    pub(super) async fn append<T: Serialize>(
        &mut self,
        role: Role,
        answers: Option<CallPlace>,
        content: &T,
    ) -> Result<u64, TurnError> {
        let content = serde_json::to_string(content)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let message = NewMessage {
            thread: self.id.clone(),
            role,
            answers,
            content,
            at: Timestamp::now(),
        };
        let seq = self.store.append(message.clone()).await?;
        if seq == self.last + 1 {
            self.messages.push(message.numbered(seq));
            self.last = seq;
        } else {
            self.catch_up().await?;
        }
        Ok(seq)
    }

    /// Reads what others have appended.
    pub(super) async fn catch_up(&mut self) -> Result<(), TurnError> {
        let newer = self.store.read(&self.id, Some(self.last)).await?;
        if let Some(message) = newer.last() {
            self.last = message.seq;
        }
        self.messages.extend(newer);
        Ok(())
    }

    /// Appends a message of the model.
    pub(super) async fn append_model(
        &mut self,
        message: ModelMessage,
        step: u32,
    ) -> Result<StoredMessage, TurnError> {
        let recorded = Recorded { message, step };
        let seq = self.append(Role::Assistant, None, &recorded).await?;
        Ok(StoredMessage {
            thread: self.id.clone(),
            seq,
            message: recorded.message,
            turn: None,
        })
    }
}

pub(super) fn parse<T: DeserializeOwned>(seq: u64, content: &str) -> Result<T, TurnError> {
    serde_json::from_str(content).map_err(|error| TurnError::Unreadable {
        seq,
        why: error.to_string(),
    })
}
