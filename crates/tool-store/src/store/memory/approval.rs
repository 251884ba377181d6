//! In-memory store of approvals.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::event::Noted;
use super::{MemoryStore, count, limited};
use crate::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalRow, ApprovalStatus, ApprovalStore,
    Scope, StoreError, StoreFuture, Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Approvals {
    pub(super) rows: BTreeMap<String, ApprovalRow>,
    /// The creation times and the ids of all rows, in the order of lists.
    by_created: BTreeSet<(Timestamp, String)>,
    /// The expiry times and the ids of the open rows, in the order in which the rows expire.
    by_expiry: BTreeSet<(Timestamp, String)>,
    pub(super) noted: Vec<Noted>,
}

impl Approvals {
    fn open(&mut self, request: ApprovalRequest) -> Result<(), StoreError> {
        if self.rows.contains_key(&request.id) {
            return Err(request.exists());
        }
        let id = request.id.clone();
        self.by_created.insert((request.created, id.clone()));
        self.by_expiry.insert((request.expires, id.clone()));
        let workspace = request.identity.workspace().clone();
        self.noted.push((Some(workspace), vec![id.clone()]));
        self.rows.insert(id, ApprovalRow::new(request));
        Ok(())
    }

    pub(super) fn remove(&mut self, id: &str) {
        if let Some(ApprovalRow { request, .. }) = self.rows.remove(id) {
            self.by_created.remove(&(request.created, id.to_owned()));
            self.by_expiry.remove(&(request.expires, id.to_owned()));
        }
    }

    /// Blanks the contents of a row, and withdraws it if it was open. Returns whether the row has changed.
    pub(super) fn blank(&mut self, id: &str) -> bool {
        let Some(row) = self.rows.get_mut(id) else {
            return false;
        };
        let expires = row.request.expires;
        let blanked = row.blank();
        if blanked {
            let workspace = row.request.identity.workspace().clone();
            self.noted.push((Some(workspace), vec![id.to_owned()]));
        }
        self.by_expiry.remove(&(expires, id.to_owned()));
        blanked
    }

    /// Applies a step to a row of a workspace; `None` if the row does not exist.
    fn change<R>(
        &mut self,
        workspace: &Workspace,
        id: &str,
        step: impl FnOnce(&mut ApprovalRow) -> R,
    ) -> Option<R> {
        let row = self.rows.get_mut(id)?;
        if row.request.identity.workspace() != workspace {
            return None;
        }
        let was_open = row.status.is_open();
        let before = (row.status, row.assignee.clone());
        let done = step(row);
        if before != (row.status, row.assignee.clone()) {
            self.noted
                .push((Some(workspace.clone()), vec![id.to_owned()]));
        }
        if was_open && !row.status.is_open() {
            self.by_expiry.remove(&(row.request.expires, id.to_owned()));
        }
        Some(done)
    }

    /// Applies a step that can fail to a row, and returns the changed row.
    pub(super) fn settle(
        &mut self,
        workspace: &Workspace,
        id: &str,
        step: impl FnOnce(&mut ApprovalRow) -> Result<(), StoreError>,
    ) -> Result<ApprovalRow, StoreError> {
        self.change(workspace, id, |row| step(row).map(|()| row.clone()))
            .unwrap_or_else(|| Err(ApprovalRow::missing(id)))
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> impl Iterator<Item = &'a ApprovalRow> {
        let after = match &filter.after {
            Some(place) => Bound::Excluded(place.clone()),
            None => Bound::Unbounded,
        };
        let (forward, backward) = if filter.newest_first {
            let places = self.by_created.range((Bound::Unbounded, after));
            (None, Some(places.rev()))
        } else {
            let places = self.by_created.range((after, Bound::Unbounded));
            (Some(places), None)
        };
        let places = forward.into_iter().flatten();
        places
            .chain(backward.into_iter().flatten())
            .filter_map(|(_, id)| self.rows.get(id))
            .filter(move |row| scope.covers(row.request.identity.workspace()))
            .filter(|row| filter.admits(row))
            .take(limited(filter.limit))
    }

    fn deny_all(
        &mut self,
        workspace: &Workspace,
        filter: &ApprovalFilter,
        answer: &ApprovalAnswer,
    ) -> Result<u64, StoreError> {
        answer.only_denies()?;
        let pending = ApprovalFilter {
            status: filter.status.or(Some(ApprovalStatus::Pending)),
            ..filter.clone()
        };
        let ids: Vec<String> = self
            .list(Scope::Workspace(workspace), &pending)
            .map(|row| row.request.id.clone())
            .collect();
        let denied = ids
            .iter()
            .filter(|id| {
                let answered = self.change(workspace, id, |row| row.answer(answer.clone()));
                answered.is_some_and(|answered| answered.is_ok())
            })
            .count();
        Ok(count(denied))
    }

    fn expire(&mut self, scope: Scope<'_>, now: Timestamp) -> u64 {
        let over = self.by_expiry.iter().take_while(|(end, _)| *end <= now);
        let over = over.filter_map(|(_, id)| Some((self.rows.get(id)?, id)));
        let over: Vec<(Workspace, String)> = over
            .map(|(row, id)| (row.request.identity.workspace().clone(), id.clone()))
            .filter(|(workspace, _)| scope.covers(workspace))
            .collect();
        let expired = over.iter().filter(|(workspace, id)| {
            self.change(workspace, id, |row| row.expire(now)) == Some(true)
        });
        count(expired.count())
    }
}

impl ApprovalStore for MemoryStore {
    fn is_durable(&self) -> bool {
        false
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        self.step(|tables| tables.approvals.open(request))
    }

    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>> {
        self.step(move |tables| {
            let row = tables.approvals.rows.get(id);
            Ok(row
                .filter(|row| row.request.identity.workspace() == workspace)
                .cloned())
        })
    }

    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        self.step(move |tables| {
            tables
                .approvals
                .settle(workspace, id, |row| row.answer(answer))
        })
    }

    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let spent = tables
                .approvals
                .change(workspace, id, |row| row.spend(nonce, now));
            Ok(spent.unwrap_or(false))
        })
    }

    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let withdrawn = tables
                .approvals
                .change(workspace, id, ApprovalRow::withdraw);
            Ok(withdrawn.unwrap_or(false))
        })
    }

    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        self.step(move |tables| {
            tables
                .approvals
                .settle(workspace, id, |row| row.assign(assignee))
        })
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        self.step(move |tables| Ok(tables.approvals.list(scope, filter).cloned().collect()))
    }

    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64> {
        self.step(move |tables| tables.approvals.deny_all(workspace, filter, &answer))
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.approvals.expire(scope, now)))
    }
}
