//! Approvals in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::{MemoryStore, count, limited};
use crate::store::{
    Answer, ApprovalFilter, ApprovalRequest, ApprovalRow, ApprovalStatus, ApprovalStore,
    StoreError, StoreFuture, Timestamp, Verdict,
};

#[derive(Default)]
pub(super) struct Approvals {
    rows: BTreeMap<String, ApprovalRow>,
    /// Every row in the order of lists.
    by_created: BTreeSet<(Timestamp, String)>,
    /// Pending and approved rows, in the order in which they expire.
    by_expiry: BTreeSet<(Timestamp, String)>,
}

impl Approvals {
    fn open(&mut self, request: ApprovalRequest) -> Result<(), StoreError> {
        if self.rows.contains_key(&request.id) {
            return Err(exists(&request.id));
        }
        let id = request.id.clone();
        self.by_created.insert((request.created, id.clone()));
        self.by_expiry.insert((request.expires, id.clone()));
        self.rows.insert(
            id,
            ApprovalRow {
                request,
                status: ApprovalStatus::Pending,
                assignee: None,
                answer: None,
            },
        );
        Ok(())
    }

    fn pending(&mut self, id: &str) -> Result<&mut ApprovalRow, StoreError> {
        let row = self.rows.get_mut(id).ok_or_else(|| unknown(id))?;
        match row.status {
            ApprovalStatus::Pending => Ok(row),
            status => Err(settled(id, status)),
        }
    }

    fn answer(&mut self, id: &str, answer: Answer) -> Result<ApprovalRow, StoreError> {
        let row = self.pending(id)?;
        let request = &row.request;
        if request.expires <= answer.at {
            self.settle(id, ApprovalStatus::Expired);
            return Err(settled(id, ApprovalStatus::Expired));
        }
        if request.four_eyes && request.principal == answer.approver {
            return Err(own_request(id));
        }
        let status = match answer.verdict {
            Verdict::Approve | Verdict::Edit(_) => ApprovalStatus::Approved,
            Verdict::Deny => ApprovalStatus::Denied,
        };
        row.answer = Some(answer);
        self.settle(id, status);
        self.rows.get(id).cloned().ok_or_else(|| unknown(id))
    }

    /// Moves a row to a status, and out of the index of those that can expire where it no longer can.
    fn settle(&mut self, id: &str, status: ApprovalStatus) {
        if let Some(row) = self.rows.get_mut(id) {
            row.status = status;
            if status != ApprovalStatus::Approved {
                self.by_expiry.remove(&(row.request.expires, id.to_owned()));
            }
        }
    }

    fn spend(&mut self, id: &str, nonce: &str, now: Timestamp) -> bool {
        let spendable = self.rows.get(id).is_some_and(|row| {
            row.status == ApprovalStatus::Approved
                && row.request.nonce == nonce
                && now < row.request.expires
        });
        if spendable {
            self.settle(id, ApprovalStatus::Spent);
        }
        spendable
    }

    fn withdraw(&mut self, id: &str) -> bool {
        let open = self.rows.get(id).is_some_and(|row| {
            matches!(
                row.status,
                ApprovalStatus::Pending | ApprovalStatus::Approved
            )
        });
        if open {
            self.settle(id, ApprovalStatus::Withdrawn);
        }
        open
    }

    fn list<'a>(&'a self, filter: &'a ApprovalFilter) -> impl Iterator<Item = &'a ApprovalRow> {
        let from = match &filter.after {
            Some(place) => Bound::Excluded(place.clone()),
            None => Bound::Unbounded,
        };
        self.by_created
            .range((from, Bound::Unbounded))
            .filter_map(|(_, id)| self.rows.get(id))
            .filter(|row| filter.admits(row))
            .take(limited(filter.limit))
    }

    fn deny_all(&mut self, filter: &ApprovalFilter, answer: &Answer) -> Result<u64, StoreError> {
        if answer.verdict != Verdict::Deny {
            return Err(only_denials());
        }
        let pending = ApprovalFilter {
            status: filter.status.or(Some(ApprovalStatus::Pending)),
            ..filter.clone()
        };
        let ids: Vec<String> = self
            .list(&pending)
            .map(|row| row.request.id.clone())
            .collect();
        let denied = ids
            .iter()
            .filter(|id| self.answer(id, answer.clone()).is_ok())
            .count();
        Ok(count(denied))
    }

    fn expire(&mut self, now: Timestamp) -> u64 {
        let mut expired = 0;
        while let Some((_, id)) = self.by_expiry.first().filter(|(at, _)| *at <= now).cloned() {
            self.settle(&id, ApprovalStatus::Expired);
            expired += 1;
        }
        expired
    }
}

fn exists(id: &str) -> StoreError {
    StoreError::Conflict(format!(
        "approval `{id}` exists, take another id for another request"
    ))
}

fn unknown(id: &str) -> StoreError {
    StoreError::Missing(format!("no approval `{id}`"))
}

fn settled(id: &str, status: ApprovalStatus) -> StoreError {
    StoreError::Conflict(format!("approval `{id}` is {status}, not pending"))
}

fn own_request(id: &str) -> StoreError {
    StoreError::Conflict(format!(
        "approval `{id}` wants four eyes, let somebody other than its requester answer"
    ))
}

fn only_denials() -> StoreError {
    StoreError::Conflict("`deny_all` only denies, answer approvals one by one".to_owned())
}

impl ApprovalStore for MemoryStore {
    fn is_durable(&self) -> bool {
        false
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        self.step(|tables| tables.approvals.open(request))
    }

    fn get<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<ApprovalRow>> {
        self.step(|tables| Ok(tables.approvals.rows.get(id).cloned()))
    }

    fn answer<'a>(&'a self, id: &'a str, answer: Answer) -> StoreFuture<'a, ApprovalRow> {
        self.step(|tables| tables.approvals.answer(id, answer))
    }

    fn spend<'a>(&'a self, id: &'a str, nonce: &'a str, now: Timestamp) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.approvals.spend(id, nonce, now)))
    }

    fn withdraw<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        self.step(|tables| Ok(tables.approvals.withdraw(id)))
    }

    fn assign<'a>(&'a self, id: &'a str, assignee: Option<String>) -> StoreFuture<'a, ApprovalRow> {
        self.step(|tables| {
            let row = tables.approvals.pending(id)?;
            row.assignee = assignee;
            Ok(row.clone())
        })
    }

    fn list<'a>(&'a self, filter: &'a ApprovalFilter) -> StoreFuture<'a, Vec<ApprovalRow>> {
        self.step(|tables| Ok(tables.approvals.list(filter).cloned().collect()))
    }

    fn deny_all<'a>(&'a self, filter: &'a ApprovalFilter, answer: Answer) -> StoreFuture<'a, u64> {
        self.step(move |tables| tables.approvals.deny_all(filter, &answer))
    }

    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.step(move |tables| Ok(tables.approvals.expire(now)))
    }
}
