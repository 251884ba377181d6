//! Panic shields for the ledger, the approvals and the audit sink of a gate.
//!
//! Each store is wrapped once, when the host passes it to the gate, the approvals or the audit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Shield, shielded};
use crate::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalRow, ApprovalStore, AuditFilter,
    AuditRow, AuditSink, Begun, CallKey, EffectEnd, EffectFilter, EffectLedger, EffectRow,
    EffectState, Ended, Intent, Journal, Resolution, Scope, StoreFuture, Timestamp, Workspace,
};

pub fn ledger(store: Arc<dyn EffectLedger>) -> Arc<dyn EffectLedger> {
    Arc::new(Shield(store))
}

pub fn approvals(store: Arc<dyn ApprovalStore>) -> Arc<dyn ApprovalStore> {
    Arc::new(Shield(store))
}

pub fn sink(store: Arc<dyn AuditSink>) -> Arc<dyn AuditSink> {
    Arc::new(Shield(store))
}

impl EffectLedger for Shield<dyn EffectLedger> {
    /// A ledger whose `is_durable` panics does not count as durable.
    fn is_durable(&self) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.0.is_durable())).unwrap_or(false)
    }

    fn journal(&self) -> Option<Journal> {
        catch_unwind(AssertUnwindSafe(|| self.0.journal())).unwrap_or_default()
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        shielded(|| self.0.begin(intent, audit))
    }

    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        shielded(|| self.0.close_call(intent, result))
    }

    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        shielded(|| self.0.renew(key, owner, until))
    }

    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        shielded(|| self.0.end(key, owner, end))
    }

    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        shielded(|| self.0.get(key))
    }

    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        shielded(|| self.0.resolve(key, resolution, operator, now))
    }

    fn force<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        shielded(|| self.0.force(key, resolution, operator, now))
    }

    fn page<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EffectFilter,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        shielded(|| self.0.page(scope, filter))
    }

    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        shielded(|| self.0.sweep(scope, now))
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        shielded(|| self.0.list(scope, state))
    }
}

impl ApprovalStore for Shield<dyn ApprovalStore> {
    /// A store whose `is_durable` panics counts as durable, so that its tokens need the host's keys.
    fn is_durable(&self) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.0.is_durable())).unwrap_or(true)
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        shielded(|| self.0.open(request))
    }

    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>> {
        shielded(|| self.0.get(workspace, id))
    }

    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        shielded(|| self.0.answer(workspace, id, answer))
    }

    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        shielded(|| self.0.spend(workspace, id, nonce, now))
    }

    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        shielded(|| self.0.withdraw(workspace, id))
    }

    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        shielded(|| self.0.assign(workspace, id, assignee))
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        shielded(|| self.0.list(scope, filter))
    }

    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64> {
        shielded(|| self.0.deny_all(workspace, filter, answer))
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        shielded(|| self.0.expire(scope, now))
    }
}

impl AuditSink for Shield<dyn AuditSink> {
    fn journal(&self) -> Option<Journal> {
        catch_unwind(AssertUnwindSafe(|| self.0.journal())).unwrap_or_default()
    }

    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        shielded(|| self.0.write(rows))
    }

    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        shielded(|| self.0.export(scope, filter))
    }

    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        shielded(|| self.0.erase(workspace, principal))
    }

    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        shielded(|| self.0.retain(scope, since))
    }
}
