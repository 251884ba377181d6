//! The effect ledger in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::MemoryStore;
use crate::store::{
    AuditRow, Begun, EffectClaim, EffectEnd, EffectLedger, EffectRow, EffectState, Ended, Intent,
    Resolution, StoreError, StoreFuture, Timestamp,
};

#[derive(Default)]
pub(super) struct Ledger {
    claims: BTreeMap<String, EffectClaim>,
    /// Running rows, in the order in which their leases end.
    leases: BTreeSet<(Timestamp, String)>,
}

/// When the lease of a running row ends.
fn lease(claim: &EffectClaim) -> Option<Timestamp> {
    let intent = &claim.row.intent;
    (claim.row.state == EffectState::Running).then_some(intent.lease_until)
}

impl Ledger {
    fn begin(&mut self, intent: Intent) -> Result<Begun, StoreError> {
        let stored = self.claims.get(&intent.key).cloned();
        let (begun, claim) = EffectClaim::begin(stored, intent)?;
        if let Some(claim) = claim {
            let (key, now) = (claim.row.intent.key.clone(), lease(&claim));
            let before = self.claims.insert(key.clone(), claim);
            self.reindex(key, before.as_ref().and_then(lease), now);
        }
        Ok(begun)
    }

    /// Lets the claim of a key take a step.
    fn change<R>(
        &mut self,
        key: &str,
        step: impl FnOnce(&mut EffectClaim) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let claim = self.claims.get_mut(key);
        let claim = claim.ok_or_else(|| EffectClaim::missing(key))?;
        let before = lease(claim);
        let done = step(claim);
        let now = lease(claim);
        if before != now {
            self.reindex(key.to_owned(), before, now);
        }
        done
    }

    /// Moves a key from the end of one lease to that of another.
    fn reindex(&mut self, key: String, before: Option<Timestamp>, now: Option<Timestamp>) {
        let mut place = (Timestamp::default(), key);
        if let Some(before) = before {
            place.0 = before;
            self.leases.remove(&place);
        }
        if let Some(now) = now {
            place.0 = now;
            self.leases.insert(place);
        }
    }

    fn sweep(&mut self, now: Timestamp) -> Vec<EffectRow> {
        let mut swept = Vec::new();
        let lapsed = |claim: &mut EffectClaim| Ok(claim.lapse(now).then(|| claim.row.clone()));
        while let Some((_, key)) = self.leases.first().cloned()
            && let Ok(Some(row)) = self.change(&key, lapsed)
        {
            swept.push(row);
        }
        in_order(swept)
    }

    fn list(&self, tenant: Option<&str>, state: Option<EffectState>) -> Vec<EffectRow> {
        let rows = self
            .claims
            .values()
            .filter_map(EffectClaim::known)
            .filter(|row| tenant.is_none_or(|tenant| row.intent.tenant == tenant))
            .filter(|row| state.is_none_or(|state| row.state == state));
        in_order(rows.cloned().collect())
    }
}

fn in_order(mut rows: Vec<EffectRow>) -> Vec<EffectRow> {
    rows.sort_by(|a, b| a.place().cmp(&b.place()));
    rows
}

impl EffectLedger for MemoryStore {
    fn is_durable(&self) -> bool {
        false
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.step(|tables| {
            let begun = tables.ledger.begin(intent)?;
            if let (Begun::New, Some(audit)) = (&begun, audit) {
                tables.audit.write(audit);
            }
            Ok(begun)
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a str,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let renewed = tables
                .ledger
                .change(key, |claim| Ok(claim.renew(owner, until)));
            Ok(renewed.unwrap_or(false))
        })
    }

    fn end<'a>(&'a self, key: &'a str, owner: &'a str, end: EffectEnd) -> StoreFuture<'a, Ended> {
        self.step(|tables| tables.ledger.change(key, |claim| claim.end(owner, end)))
    }

    fn get<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<EffectRow>> {
        self.step(|tables| {
            let claim = tables.ledger.claims.get(key);
            Ok(claim.and_then(EffectClaim::known).cloned())
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a str,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        self.step(move |tables| {
            tables.ledger.change(key, |claim| {
                claim.resolve(resolution, operator, now)?;
                Ok(claim.row.clone())
            })
        })
    }

    fn sweep(&self, now: Timestamp) -> StoreFuture<'_, Vec<EffectRow>> {
        self.step(move |tables| Ok(tables.ledger.sweep(now)))
    }

    fn list<'a>(
        &'a self,
        tenant: Option<&'a str>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        self.step(move |tables| Ok(tables.ledger.list(tenant, state)))
    }
}
