//! In-memory store of child threads.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, limited};
use crate::store::{
    ChildChange, ChildFilter, ChildMessage, ChildOpened, ChildRow, ChildSender, ChildStore,
    EndedSession, NewMessage, Receipt, Scope, SessionEnd, StoreError, StoreFuture, ThreadId,
};

#[derive(Default)]
pub(super) struct Children {
    rows: BTreeMap<ThreadId, ChildRow>,
}

impl Children {
    /// Returns a copy of the row of a child thread.
    fn get(&self, thread: &ThreadId) -> Result<ChildRow, StoreError> {
        let row = self.rows.get(thread).cloned();
        row.ok_or_else(|| ChildRow::missing(thread))
    }

    fn put(&mut self, row: ChildRow) {
        self.rows.insert(row.thread.clone(), row);
    }

    pub(super) fn remove(&mut self, thread: &ThreadId) -> bool {
        self.rows.remove(thread).is_some()
    }

    /// Removes the row of a thread and the rows of its children.
    pub(super) fn erase(&mut self, thread: &ThreadId) {
        let is_other = |row: &ChildRow| row.thread != *thread && row.parent != *thread;
        self.rows.retain(|_, row| is_other(row));
    }
}

impl Tables {
    fn open_child(
        &mut self,
        mut row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> Result<ChildOpened, StoreError> {
        row.check(&messages)?;
        if let Some(stored) = self.children.rows.get(&row.thread) {
            return Ok(ChildOpened::Known(Box::new(stored.clone())));
        }
        if let Some(most) = most {
            let siblings = self.children.rows.values();
            let siblings = siblings.filter(|other| other.is_sibling_of(&row));
            let siblings: Vec<ChildRow> = siblings.cloned().collect();
            if siblings.len() >= limited(Some(most)) {
                return Ok(ChildOpened::Full(siblings));
            }
        }
        row.begins = self.threads.append_all(&row.thread, messages)?;
        self.children.put(row.clone());
        Ok(ChildOpened::New(Box::new(row)))
    }

    fn message_child(
        &mut self,
        message: NewMessage,
        sender: &ChildSender,
    ) -> Result<ChildMessage, StoreError> {
        message.check()?;
        let mut row = self.children.get(&message.thread)?;
        let receipt = row.receive(sender, message.at);
        let seq = match receipt {
            Receipt::Begun | Receipt::Queued => Some(self.threads.append(message)?),
            Receipt::Known | Receipt::Dead => None,
        };
        if let Some(seq) = seq {
            if receipt == Receipt::Begun {
                row.begins = seq;
            }
            self.children.put(row.clone());
        }
        Ok(ChildMessage { row, receipt, seq })
    }

    fn end_session(
        &mut self,
        thread: &ThreadId,
        end: EndedSession,
    ) -> Result<SessionEnd, StoreError> {
        let mut row = self.children.get(thread)?;
        row.check_end(&end)?;
        let mut ended = row.end(&end, self.threads.last_of_user(thread));
        if let SessionEnd::Ended(seq) = &mut ended {
            if let Some(message) = end.message {
                *seq = Some(self.threads.append(message)?);
            }
            self.children.put(row);
        }
        Ok(ended)
    }
}

impl ChildStore for MemoryStore {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        self.step(move |tables| tables.open_child(row, most, messages))
    }

    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
        self.step(move |tables| Ok(tables.children.rows.get(thread).cloned()))
    }

    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>> {
        self.step(move |tables| {
            let rows = tables.children.rows.values();
            let rows = rows.filter(|row| scope.covers(row.workspace()) && filter.admits(row));
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage> {
        self.step(move |tables| tables.message_child(message, &sender))
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        self.step(move |tables| {
            let Some(row) = tables.children.rows.get_mut(thread) else {
                return Ok(None);
            };
            Ok(row.change(&change).then(|| row.clone()))
        })
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        self.step(move |tables| tables.end_session(thread, end))
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.children.remove(thread)))
    }
}
