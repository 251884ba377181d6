//! In-memory store of events.

use std::collections::VecDeque;

use super::{MemoryStore, Tables, count, limited};
use crate::env;
use crate::store::{
    Event, EventPage, EventResource, EventStore, StoreFuture, Timestamp, Workspace, kept_since,
};

/// A change that a table has made: the workspace, or `None` for a change that concerns every workspace, and the key of the row.
pub(super) type Noted = (Option<Workspace>, Vec<String>);

pub(super) struct Events {
    /// The name of the store, which every position contains.
    epoch: String,
    /// The events that were not removed, oldest first.
    all: VecDeque<Change>,
    /// The number of the last event.
    last: u64,
}

struct Change {
    number: u64,
    workspace: Option<Workspace>,
    resource: EventResource,
    key: Vec<String>,
    at: Timestamp,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            epoch: env::token(),
            all: VecDeque::new(),
            last: 0,
        }
    }
}

impl Events {
    fn position(&self, number: u64) -> String {
        format!("{}.{number}", self.epoch)
    }

    /// Returns the number of a position; `None` if the text is not a position of this store, or if a later event was already removed.
    fn number(&self, position: &str) -> Option<u64> {
        let (epoch, number) = position.split_once('.')?;
        let number: u64 = number.parse().ok()?;
        let oldest = self.all.front().map_or(self.last + 1, |event| event.number);
        let next = number.checked_add(1)?;
        (epoch == self.epoch && (oldest..=self.last + 1).contains(&next)).then_some(number)
    }

    fn after(&self, workspace: &Workspace, after: Option<&str>, limit: u32) -> EventPage {
        let mut page = EventPage {
            next: self.position(self.last),
            ..EventPage::default()
        };
        let Some(after) = after else { return page };
        let Some(number) = self.number(after) else {
            page.is_reset = true;
            return page;
        };
        let is_own = |own: &Option<Workspace>| own.as_ref().is_none_or(|own| own == workspace);
        let new = self.all.iter().filter(|event| event.number > number);
        let new = new.filter(|event| is_own(&event.workspace));
        let new = new.take(limited(Some(limit))).map(|event| Event {
            position: self.position(event.number),
            resource: event.resource,
            key: event.key.clone(),
            at: event.at,
        });
        page.events = new.collect();
        if page.events.len() >= limited(Some(limit))
            && let Some(last) = page.events.last()
        {
            page.next.clone_from(&last.position);
        }
        page
    }

    /// Removes at most `most` events that are older than the retention of events.
    pub(super) fn purge(&mut self, now: Timestamp, most: u32) -> u64 {
        let since = kept_since(now);
        let old = self.all.iter().take_while(|event| event.at < since);
        let old = old.take(limited(Some(most))).count();
        self.all.drain(..old);
        count(old)
    }
}

impl Tables {
    /// Converts the changes that the tables have noted to events.
    pub(super) fn collect_events(&mut self) {
        let noted = [
            (EventResource::Approvals, &mut self.approvals.noted),
            (EventResource::Runs, &mut self.runs.noted),
            (EventResource::Switches, &mut self.switches.noted),
            (EventResource::Enablement, &mut self.enablement.noted),
            (
                EventResource::Functions,
                &mut self.stored_tools.functions_noted,
            ),
            (
                EventResource::StoredTools,
                &mut self.stored_tools.tools_noted,
            ),
            (EventResource::Audit, &mut self.audit.noted),
        ];
        for (resource, noted) in noted {
            for (workspace, key) in noted.drain(..) {
                self.events.last += 1;
                self.events.all.push_back(Change {
                    number: self.events.last,
                    workspace,
                    resource,
                    key,
                    at: Timestamp::now(),
                });
            }
        }
    }
}

impl EventStore for MemoryStore {
    fn events<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, EventPage> {
        self.step(move |tables| Ok(tables.events.after(workspace, after, limit)))
    }
}
