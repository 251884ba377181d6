//! The effect ledger of the in-memory store.

use std::collections::{BTreeMap, BTreeSet};

use super::MemoryStore;
use crate::store::{
    AuditRow, Begun, CallKey, EffectClaim, EffectEnd, EffectLedger, EffectRow, EffectState, Ended,
    Intent, Journal, Resolution, Scope, StoreError, StoreFuture, Timestamp,
};

#[derive(Default)]
pub(super) struct Ledger {
    pub(super) claims: BTreeMap<CallKey, EffectClaim>,
    /// The ends of leases and the keys of running rows, in the order in which the leases expire.
    leases: BTreeSet<(Timestamp, CallKey)>,
    /// The keys that versions without call identities gave to calls, each with the time and the key of a row that was begun with it.
    earlier: BTreeSet<(CallKey, Timestamp, CallKey)>,
}

/// Returns the time at which the lease of a running row expires; `None` for other rows.
fn lease(claim: &EffectClaim) -> Option<Timestamp> {
    let intent = &claim.row.intent;
    (claim.row.state == EffectState::Running).then_some(intent.lease_until)
}

impl Ledger {
    /// Applies a step to the claim of an intent's key, or of its earlier key. The step may create a claim.
    fn claim(
        &mut self,
        intent: Intent,
        step: impl FnOnce(
            Option<EffectClaim>,
            Intent,
        ) -> Result<(Begun, Option<EffectClaim>), StoreError>,
    ) -> Result<Begun, StoreError> {
        intent.check()?;
        let earlier = intent.earlier.as_ref();
        let earlier = earlier.filter(|key| self.claims.contains_key(key)).cloned();
        let place = self.find(&intent.identity.key()).or(earlier);
        let is_own = |key: &CallKey| self.claims.get(key).is_some_and(|own| own.is_of(&intent));
        let place = place.filter(is_own);
        let stored = place.as_ref().and_then(|key| self.claims.get(key)).cloned();
        let (begun, claim) = step(stored, intent)?;
        if let Some(claim) = claim {
            if let Some(before) = place {
                self.remove(&before);
            }
            self.insert(claim);
        }
        Ok(begun)
    }

    /// Returns `key` if it has a row, or else the key of the first row that was begun with `key` as its earlier key.
    fn find(&self, key: &CallKey) -> Option<CallKey> {
        if self.claims.contains_key(key) {
            return Some(key.clone());
        }
        let from = (
            key.clone(),
            Timestamp::from_millis(i64::MIN),
            CallKey::new("", ""),
        );
        let (earlier, _, own) = self.earlier.range(from..).next()?;
        (earlier == key).then(|| own.clone())
    }

    fn get(&self, key: &CallKey) -> Option<&EffectRow> {
        self.claims.get(&self.find(key)?)?.known()
    }

    /// Applies a step to the claim of a key.
    pub(super) fn change<R>(
        &mut self,
        key: &CallKey,
        step: impl FnOnce(&mut EffectClaim) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let place = self.find(key);
        let claim = place.as_ref().and_then(|key| self.claims.get_mut(key));
        let (Some(claim), Some(key)) = (claim, place) else {
            return Err(EffectClaim::missing(key));
        };
        let before = lease(claim);
        let done = step(claim);
        let now = lease(claim);
        if before != now {
            self.reindex(key, before, now);
        }
        done
    }

    pub(super) fn end(
        &mut self,
        key: &CallKey,
        owner: &str,
        end: EffectEnd,
    ) -> Result<Ended, StoreError> {
        self.change(key, |claim| claim.end(owner, end))
    }

    /// Fails if [`end`](Self::end) would fail, and changes nothing.
    pub(super) fn check_end(
        &self,
        key: &CallKey,
        owner: &str,
        end: EffectEnd,
    ) -> Result<(), StoreError> {
        let claim = self.find(key).and_then(|key| self.claims.get(&key));
        let mut claim = claim.cloned().ok_or_else(|| EffectClaim::missing(key))?;
        claim.end(owner, end).map(drop)
    }

    fn insert(&mut self, claim: EffectClaim) {
        let intent = &claim.row.intent;
        let (key, at) = (intent.identity.key(), intent.at);
        if let Some(earlier) = &intent.earlier {
            self.earlier.insert((earlier.clone(), at, key.clone()));
        }
        self.reindex(key.clone(), None, lease(&claim));
        self.claims.insert(key, claim);
    }

    pub(super) fn remove(&mut self, key: &CallKey) {
        let Some(claim) = self.claims.remove(key) else {
            return;
        };
        self.reindex(key.clone(), lease(&claim), None);
        let Intent { earlier, at, .. } = claim.row.intent;
        if let Some(earlier) = earlier {
            self.earlier.remove(&(earlier, at, key.clone()));
        }
    }

    /// Updates a key in `leases`: removes the end of its earlier lease, if any, and adds the end of its current lease, if any.
    fn reindex(&mut self, key: CallKey, before: Option<Timestamp>, now: Option<Timestamp>) {
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

    fn sweep(&mut self, scope: Scope<'_>, now: Timestamp) -> Vec<EffectRow> {
        let over = self.leases.iter().take_while(|(end, _)| *end <= now);
        let over: Vec<CallKey> = over
            .filter(|(_, key)| scope.covers(key.workspace()))
            .map(|(_, key)| key.clone())
            .collect();
        let lapsed = |claim: &mut EffectClaim| Ok(claim.lapse(now).then(|| claim.row.clone()));
        let swept = over
            .iter()
            .filter_map(|key| self.change(key, lapsed).ok().flatten());
        in_order(swept.collect())
    }

    fn list(&self, scope: Scope<'_>, state: Option<EffectState>) -> Vec<EffectRow> {
        let rows = self
            .claims
            .values()
            .filter_map(EffectClaim::known)
            .filter(|row| scope.covers(row.intent.identity.workspace()))
            .filter(|row| state.is_none_or(|state| row.state == state));
        in_order(rows.cloned().collect())
    }
}

fn in_order(mut rows: Vec<EffectRow>) -> Vec<EffectRow> {
    rows.sort_by_cached_key(EffectRow::place);
    rows
}

impl EffectLedger for MemoryStore {
    fn is_durable(&self) -> bool {
        false
    }

    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.step(|tables| {
            let begun = tables.ledger.claim(intent, EffectClaim::begin)?;
            if let Some(audit) = audit.and_then(|audit| begun.audit_row(audit)) {
                tables.audit.write(audit);
            }
            Ok(begun)
        })
    }

    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        self.step(|tables| {
            tables.ledger.claim(intent, |stored, intent| {
                EffectClaim::close(stored, intent, result)
            })
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
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

    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        self.step(|tables| tables.ledger.end(key, owner, end))
    }

    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        self.step(|tables| Ok(tables.ledger.get(key).cloned()))
    }

    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
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

    fn force<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        self.step(move |tables| {
            tables.ledger.change(key, |claim| {
                claim.force(resolution, operator, now)?;
                Ok(claim.row.clone())
            })
        })
    }

    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        self.step(move |tables| Ok(tables.ledger.sweep(scope, now)))
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        self.step(move |tables| Ok(tables.ledger.list(scope, state)))
    }
}
