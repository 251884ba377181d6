//! A thread during a run: read once, then updated with each appended message.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::drive::is_paused;
use super::message::Recorded;
use super::{ModelMessage, StoredMessage, ToolMessage, TurnError};
use crate::store::{
    Batch, CallPlace, EndedRun, Journal, Message, NewMessage, Role, RunFence, RunState, RunStore,
    StoreError, ThreadId, ThreadStore, Timestamp,
};

/// The end of the run whose last message is appended, for a database that stores both.
pub(super) struct Last {
    pub(super) journal: Journal,
    pub(super) run: EndedRun,
}

/// The fence of the driver that appends messages. If a different driver has taken over the thread, no message is appended.
pub(super) enum Fence {
    /// The threads and the runs are in the same database, which checks the run in the transaction of the
    /// message.
    Batch(Journal, RunFence),
    /// The runs are in a different database and are read before the message is stored.
    Read(Arc<dyn RunStore>, RunFence),
}

impl Fence {
    async fn check(&self) -> Result<(), StoreError> {
        let Self::Read(runs, fence) = self else {
            return Ok(());
        };
        let row = runs.get_run(&fence.id).await?;
        let row = row.filter(|row| row.state == RunState::Running);
        fence.check(row.as_ref().map(|row| (row.id.number(), &*row.owner)))
    }
}

/// The messages of a thread, and methods to append to them.
pub(super) struct Thread<'s> {
    store: &'s Arc<dyn ThreadStore>,
    id: ThreadId,
    /// The messages in the order in which the model reads them.
    messages: Vec<Message>,
    /// The last known sequence number.
    last: u64,
    fence: Option<Fence>,
}

impl<'s> Thread<'s> {
    /// Creates a thread that is not read yet: [`catch_up`](Self::catch_up) reads it.
    pub(super) fn unread(store: &'s Arc<dyn ThreadStore>, id: ThreadId) -> Self {
        Self {
            store,
            id,
            messages: Vec::new(),
            last: 0,
            fence: None,
        }
    }

    /// Reads a thread, or only its messages after a sequence number.
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
            messages: in_reading_order(messages),
            last,
            fence: None,
        })
    }

    /// Sets the fence: messages are appended only while its driver has the run.
    pub(super) fn fenced(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the last message of the model, the number of its step in the run, and whether a user wrote a message that the model had not read.
    pub(super) fn last_of_model(&self) -> Result<Option<(StoredMessage, u32, bool)>, TurnError> {
        let mut messages = self.messages.iter().rev();
        let Some(message) = messages.find(|message| message.role == Role::Assistant) else {
            return Ok(None);
        };
        let Recorded {
            message: said,
            step,
            read,
        } = parse(message.seq, &message.content)?;
        let read = read.unwrap_or(message.seq);
        let unread = self.user_wrote_after(read);
        let stored = StoredMessage {
            thread: self.id.clone(),
            seq: message.seq,
            message: said,
            read,
            turn: message.turn.as_deref().map(Arc::from),
        };
        Ok(Some((stored, step, unread)))
    }

    /// Returns the number of consecutive paused messages of the model at the end of the thread, after the last message of a user.
    pub(super) fn pauses(&self) -> Result<u32, TurnError> {
        let mut pauses = 0;
        for message in self.messages.iter().rev() {
            match message.role {
                Role::System => {}
                Role::Assistant
                    if is_paused(&parse::<Recorded>(message.seq, &message.content)?.message) =>
                {
                    pauses += 1;
                }
                Role::Assistant | Role::User | Role::Tool => break,
            }
        }
        Ok(pauses)
    }

    /// Returns whether a user wrote a message after this sequence number.
    fn user_wrote_after(&self, seq: u64) -> bool {
        let mut messages = self.messages.iter().rev();
        let last = messages.find(|message| message.role == Role::User);
        last.is_some_and(|last| last.seq > seq)
    }

    /// Returns the results of a message's calls, by position.
    pub(super) fn results(&self, seq: u64) -> Result<HashMap<u32, ToolMessage>, TurnError> {
        let mut results = HashMap::new();
        for message in self.messages.iter().rev() {
            if message.seq == seq {
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

    /// Appends a message and returns its sequence number. Also reads the messages that were appended since the thread was read.
    pub(super) async fn append<T: Serialize>(
        &mut self,
        role: Role,
        answers: Option<CallPlace>,
        follows: Option<u64>,
        content: &T,
        last: Option<Last>,
    ) -> Result<u64, TurnError> {
        let content = serde_json::to_string(content)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let message = NewMessage {
            thread: self.id.clone(),
            role,
            answers,
            follows,
            content,
            at: Timestamp::now(),
        };
        let seq = self.write(message.clone(), last).await?;
        if seq == self.last + 1 {
            self.messages.push(message.numbered(seq));
            self.last = seq;
        } else {
            self.catch_up().await?;
        }
        Ok(seq)
    }

    /// Stores a message, with the end of the run if there is one.
    async fn write(&self, message: NewMessage, last: Option<Last>) -> Result<u64, StoreError> {
        if let Some(fence) = &self.fence {
            fence.check().await?;
        }
        let (journal, run) = match (last, &self.fence) {
            (Some(last), _) => (last.journal, Some(last.run)),
            (None, Some(Fence::Batch(journal, _))) => (journal.clone(), None),
            (None, _) => return self.store.append(message).await,
        };
        let batch = Batch {
            message: Some(message),
            run,
            fence: match &self.fence {
                Some(Fence::Batch(_, fence)) => Some(fence.clone()),
                _ => None,
            },
            ..Batch::default()
        };
        let seq = journal.write(batch).await?.message;
        seq.ok_or_else(|| {
            StoreError::Corrupt("the store returned no sequence number for a message".to_owned())
        })
    }

    /// Adds a message that was stored with the end of its call.
    pub(super) async fn note(&mut self, message: Message) -> Result<(), TurnError> {
        if message.seq == self.last + 1 {
            self.last = message.seq;
            self.messages.push(message);
        } else if message.seq > self.last {
            self.catch_up().await?;
        }
        Ok(())
    }

    /// Reads the messages that were appended since the thread was read.
    pub(super) async fn catch_up(&mut self) -> Result<(), TurnError> {
        let newer = self.store.read(&self.id, Some(self.last)).await?;
        let Some(message) = newer.last() else {
            return Ok(());
        };
        self.last = message.seq;
        self.messages.extend(newer);
        self.messages.sort_by_key(|message| message.seq);
        self.messages = in_reading_order(std::mem::take(&mut self.messages));
        Ok(())
    }

    /// Returns the last known sequence number.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Appends a message of the model, which had read the thread up to the sequence number `read`. Fails with [`TurnError::Busy`] if another run has
    /// appended a message of the model in the meantime, or if the fence refuses the message. If `last` is set, the transaction of the message also
    /// ends the run.
    pub(super) async fn append_model(
        &mut self,
        message: ModelMessage,
        step: u32,
        read: u64,
        last: Option<Last>,
    ) -> Result<StoredMessage, TurnError> {
        let mut said = self.messages.iter().rev();
        let said = said.find(|message| message.role == Role::Assistant);
        let follows = Some(said.map_or(0, |said| said.seq));
        let recorded = Recorded {
            message,
            step,
            read: Some(read),
        };
        let appended = self.append(Role::Assistant, None, follows, &recorded, last);
        let appended = appended.await;
        if self.user_wrote_after(read) {
            self.messages = in_reading_order(std::mem::take(&mut self.messages));
        }
        let seq = appended.map_err(|error| match error {
            TurnError::Store(StoreError::Conflict(_)) => TurnError::Busy(self.id.clone()),
            error => error,
        })?;
        Ok(StoredMessage {
            thread: self.id.clone(),
            seq,
            message: recorded.message,
            read,
            turn: None,
        })
    }
}

/// Returns messages in the order in which the model read and wrote them: messages that a user or the host wrote while the model was writing
/// come after the model's message. Takes messages sorted by sequence number.
pub(crate) fn in_reading_order<M: Borrow<Message>>(messages: Vec<M>) -> Vec<M> {
    #[derive(Deserialize)]
    struct OrderedMessage {
        #[serde(default)]
        read: Option<u64>,
    }
    let mut ordered = Vec::with_capacity(messages.len());
    let mut unread: Vec<M> = Vec::new();
    for message in messages {
        let stored: &Message = message.borrow();
        match stored.role {
            Role::System | Role::User => unread.push(message),
            Role::Assistant if !unread.is_empty() => {
                let said = serde_json::from_str::<OrderedMessage>(&stored.content);
                let read = said.ok().and_then(|said| said.read);
                let read = read.unwrap_or(stored.seq);
                let later = unread.partition_point(|user| user.borrow().seq <= read);
                let later = unread.split_off(later);
                ordered.append(&mut unread);
                ordered.push(message);
                unread = later;
            }
            Role::Assistant | Role::Tool => ordered.push(message),
        }
    }
    ordered.append(&mut unread);
    ordered
}

pub(super) fn parse<T: DeserializeOwned>(seq: u64, content: &str) -> Result<T, TurnError> {
    serde_json::from_str(content).map_err(|error| TurnError::Unreadable {
        seq,
        why: error.to_string(),
    })
}
