//! In-memory erasure and retention.

use std::collections::BTreeSet;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    CallKey, EffectState, Erased, Erasure, Maintenance, Purged, Retention, Scope, StoreFuture,
    ThreadId, Timestamp, Workspace,
};

impl Erasure<'_> {
    /// Returns whether the erasure covers a row of this workspace, thread and user.
    fn means(&self, workspace: &Workspace, thread: Option<&str>, principal: &str) -> bool {
        match self {
            Self::Thread(id) => id.workspace() == workspace && thread == Some(id.conversation()),
            Self::Principal {
                workspace: own,
                principal: user,
            } => *own == workspace && *user == principal,
        }
    }
}

impl Tables {
    pub(super) fn erase_contents(&mut self, of: Erasure<'_>) -> Erased {
        let mut erased = Erased::default();
        for claim in self.ledger.claims.values_mut() {
            let intent = &claim.row.intent;
            let workspace = intent.identity.workspace();
            if of.means(workspace, intent.thread.as_deref(), &intent.principal)
                && claim.row.result.take().is_some()
            {
                erased.effects += 1;
            }
        }
        let approvals = self.approvals.rows.values();
        let approvals: Vec<String> = approvals
            .map(|row| &row.request)
            .filter(|request| {
                let workspace = request.identity.workspace();
                of.means(workspace, request.thread.as_deref(), &request.principal)
            })
            .map(|request| request.id.clone())
            .collect();
        let approvals = approvals.iter().filter(|id| self.approvals.blank(id));
        erased.approvals = count(approvals.count());
        let owner = of.variables();
        erased.variables = owner.map_or(0, |owner| self.variables.remove_all(&owner));
        erased.requests = self.requests.erase(of);
        self.plans.erase(of);
        self.runs.erase(of);
        match of {
            Erasure::Thread(thread) => {
                erased.messages = self.threads.erase(thread);
                self.variables.remove_requests(thread);
                self.children.erase(thread);
                self.work.remove(thread);
                self.thread_events.erase(thread);
                self.budgets.erase(thread);
                self.rooms.remove(thread);
                self.schedule.erase(thread);
                erased.memories = self.memories.erase_thread(thread);
            }
            Erasure::Principal {
                workspace,
                principal,
            } => {
                self.work.erase_user(workspace, principal);
                self.documents.erase_user(workspace, principal);
                self.rooms.erase_user(workspace, principal);
                self.schedule.erase_user(workspace, principal);
                erased.memories = self.memories.erase_user(workspace, principal);
                erased.audit = self.audit.keep(|row| {
                    row.identity.workspace() != workspace
                        || row.principal.as_deref() != Some(principal)
                        || row.is_of_operator()
                });
                let spills = self.spills.rows.values();
                let spills: Vec<String> = spills
                    .filter(|spill| spill.workspace == *workspace && spill.principal == principal)
                    .map(|spill| spill.handle.clone())
                    .collect();
                for handle in &spills {
                    self.spills.remove(handle);
                }
                erased.spills = count(spills.len());
            }
        }
        erased
    }

    fn purge(&mut self, retention: &Retention, now: Timestamp, most: u32) -> Purged {
        let mut purged = Purged {
            spills: self.purge_spills(now, most),
            requests: self.requests.expire(now, most),
            limits: self.limits.purge(now, most),
            events: self.events.purge(now, most),
            memories: self.memories.purge(now, most),
            ..Purged::default()
        };
        if let Some(since) = Retention::since(retention.threads, now) {
            purged.threads = self.purge_threads(since, most);
        }
        if let Some(since) = Retention::since(retention.runs, now) {
            purged.runs = self.runs.retain(Scope::All, since, Some(most));
            purged.task_runs = self.schedule.retain_runs(since, most);
        }
        if let Some(since) = Retention::since(retention.budgets, now) {
            purged.budgets = self.budgets.purge(since, most);
        }
        if let Some(since) = Retention::since(retention.approvals, now) {
            purged.approvals = self.purge_approvals(since, most);
        }
        if let Some(since) = Retention::since(retention.effects, now) {
            purged.effects = self.purge_effects(since, most);
        }
        if let Some(since) = Retention::since(retention.audit, now) {
            let left = std::cell::Cell::new(most);
            purged.audit = self.audit.keep(|row| {
                let goes = row.started < since && left.get() > 0;
                left.set(left.get() - u32::from(goes));
                !goes
            });
        }
        if let Some(since) = Retention::since(retention.switches, now) {
            purged.switches = self.switches.retire(Scope::All, since, most);
        }
        purged.more = purged.reached(most);
        purged
    }

    fn purge_spills(&mut self, now: Timestamp, most: u32) -> u64 {
        let over = self.spills.rows.values();
        let over = over.filter(|spill| spill.expires <= now);
        let over = over.take(limited(Some(most)));
        let over: Vec<String> = over.map(|spill| spill.handle.clone()).collect();
        for handle in &over {
            self.spills.remove(handle);
        }
        count(over.len())
    }

    fn purge_threads(&mut self, since: Timestamp, most: u32) -> u64 {
        let over = self.threads.0.iter().filter(|(_, thread)| {
            let last = thread.messages.last();
            last.is_some_and(|last| last.at < since)
        });
        let over = over.take(limited(Some(most)));
        let over: Vec<ThreadId> = over.map(|(id, _)| id.clone()).collect();
        for id in &over {
            self.threads.erase(id);
            self.children.remove(id);
            self.work.remove(id);
            self.thread_events.erase(id);
            self.plans.erase(Erasure::Thread(id));
            self.rooms.remove(id);
            self.memories.remove_notes(id);
        }
        count(over.len())
    }

    fn purge_approvals(&mut self, since: Timestamp, most: u32) -> u64 {
        let over = self.approvals.rows.values();
        let over = over.filter(|row| !row.status.is_open() && row.request.created < since);
        let over = over.take(limited(Some(most)));
        let over: Vec<String> = over.map(|row| row.request.id.clone()).collect();
        for id in &over {
            self.approvals.remove(id);
        }
        count(over.len())
    }

    fn purge_effects(&mut self, since: Timestamp, most: u32) -> u64 {
        let named: BTreeSet<CallKey> = self
            .approvals
            .rows
            .values()
            .map(|row| row.request.identity.key())
            .collect();
        let over = self.ledger.claims.values().filter(|claim| {
            let (row, intent) = (&claim.row, &claim.row.intent);
            let is_settled = matches!(row.state, EffectState::Succeeded | EffectState::Failed);
            let in_approval = named.contains(&intent.identity.key())
                || intent
                    .earlier
                    .as_ref()
                    .is_some_and(|key| named.contains(key));
            let in_thread = intent.thread.as_deref().is_some_and(|thread| {
                let id = ThreadId::new(intent.identity.workspace(), thread);
                let messages = id.ok().and_then(|id| self.threads.0.get(&id));
                messages.is_some_and(|thread| !thread.messages.is_empty())
            });
            let is_old = row.ended.is_some_and(|ended| ended < since);
            is_settled && is_old && !in_approval && !in_thread
        });
        let over = over.take(limited(Some(most)));
        let over: Vec<CallKey> = over.map(|claim| claim.row.intent.identity.key()).collect();
        for key in &over {
            self.ledger.remove(key);
        }
        count(over.len())
    }
}

impl Maintenance for MemoryStore {
    fn erase_contents<'a>(&'a self, of: Erasure<'a>) -> StoreFuture<'a, Erased> {
        self.step(move |tables| Ok(tables.erase_contents(of)))
    }

    fn purge<'a>(
        &'a self,
        retention: &'a Retention,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Purged> {
        self.step(move |tables| Ok(tables.purge(retention, now, most)))
    }
}
