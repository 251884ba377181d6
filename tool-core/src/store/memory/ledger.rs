//! The effect ledger in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::MemoryStore;
use crate::store::{
    AuditRow, Begun, EffectEnd, EffectLedger, EffectRow, EffectState, Ended, Intent, Resolution,
    StoreError, StoreFuture, Timestamp,
};

/// A row, and whether an operator released it for a rerun.
struct Claim {
    row: EffectRow,
    released: bool,
}

#[derive(Default)]
pub(super) struct Ledger {
    claims: BTreeMap<String, Claim>,
    /// Running rows, in the order in which their leases end.
    leases: BTreeSet<(Timestamp, String)>,
}

impl Ledger {
    fn begin(&mut self, intent: Intent) -> Result<Begun, StoreError> {
        let mut attempt = 1;
        let mut resolved_by = None;
        if let Some(claim) = self.claims.get(&intent.key) {
            let row = &claim.row;
            same_effect(&row.intent, &intent)?;
            if !claim.released {
                self.lapse(&intent.key, intent.at);
                return self.known(&intent.key).cloned().map(Begun::Replay);
            }
            attempt = row.attempt + 1;
            resolved_by.clone_from(&row.resolved_by);
        }
        let key = intent.key.clone();
        self.leases.insert((intent.lease_until, key.clone()));
        let row = EffectRow {
            intent,
            state: EffectState::Running,
            result: None,
            ended: None,
            late: false,
            resolved_by,
            attempt,
        };
        let released = false;
        self.claims.insert(key, Claim { row, released });
        Ok(Begun::New)
    }

    /// The row of a key that nobody released.
    fn known(&self, key: &str) -> Result<&EffectRow, StoreError> {
        let claim = self.claims.get(key).filter(|claim| !claim.released);
        claim.map(|claim| &claim.row).ok_or_else(|| unknown(key))
    }

    /// Turns a running row whose lease is over to ambiguous.
    fn lapse(&mut self, key: &str, now: Timestamp) {
        if let Some(Claim { row, .. }) = self.claims.get_mut(key)
            && row.state == EffectState::Running
            && row.intent.lease_until <= now
        {
            row.state = EffectState::Ambiguous;
            self.leases
                .remove(&(row.intent.lease_until, key.to_owned()));
        }
    }

    fn renew(&mut self, key: &str, owner: &str, until: Timestamp) -> bool {
        let Some(Claim { row, .. }) = self.claims.get_mut(key) else {
            return false;
        };
        if row.state != EffectState::Running || row.intent.owner != owner {
            return false;
        }
        let lease = &mut row.intent.lease_until;
        self.leases.remove(&(*lease, key.to_owned()));
        *lease = until.max(*lease);
        self.leases.insert((*lease, key.to_owned()));
        true
    }

    fn end(&mut self, key: &str, owner: &str, end: EffectEnd) -> Result<Ended, StoreError> {
        if end.state == EffectState::Running {
            return Err(no_end());
        }
        let claim = self.claims.get_mut(key).ok_or_else(|| unknown(key))?;
        let row = &mut claim.row;
        if row.intent.owner != owner {
            return Err(other_owner(key));
        }
        let lease = row.intent.lease_until;
        let ended = match row.state {
            EffectState::Running if end.at < lease => Ended::InTime,
            EffectState::Running | EffectState::Ambiguous => Ended::Late,
            state => return Err(ended_already(key, state)),
        };
        self.leases.remove(&(lease, key.to_owned()));
        claim.released = false;
        row.state = end.state;
        row.result = end.result;
        row.ended = Some(end.at);
        row.late = ended == Ended::Late;
        Ok(ended)
    }

    fn resolve(
        &mut self,
        key: &str,
        resolution: Resolution,
        operator: &str,
        now: Timestamp,
    ) -> Result<EffectRow, StoreError> {
        self.known(key)?;
        self.lapse(key, now);
        let claim = self.claims.get_mut(key).ok_or_else(|| unknown(key))?;
        let row = &mut claim.row;
        if row.state != EffectState::Ambiguous {
            return Err(no_doubt(key, row.state));
        }
        row.resolved_by = Some(operator.to_owned());
        match resolution {
            Resolution::Succeeded(result) => {
                (row.state, row.result) = (EffectState::Succeeded, Some(result));
                row.ended = Some(now);
            }
            Resolution::Failed(result) => {
                (row.state, row.result) = (EffectState::Failed, Some(result));
                row.ended = Some(now);
            }
            Resolution::Rerun => claim.released = true,
        }
        Ok(row.clone())
    }

    fn sweep(&mut self, now: Timestamp) -> Vec<EffectRow> {
        let mut swept = Vec::new();
        while let Some((_, key)) = self.leases.first().filter(|(at, _)| *at <= now).cloned() {
            self.lapse(&key, now);
            swept.extend(self.known(&key).ok().cloned());
        }
        in_order(swept)
    }

    fn list(&self, tenant: Option<&str>, state: Option<EffectState>) -> Vec<EffectRow> {
        let rows = self
            .claims
            .values()
            .filter(|claim| !claim.released)
            .map(|claim| &claim.row)
            .filter(|row| tenant.is_none_or(|tenant| row.intent.tenant == tenant))
            .filter(|row| state.is_none_or(|state| row.state == state));
        in_order(rows.cloned().collect())
    }
}

fn in_order(mut rows: Vec<EffectRow>) -> Vec<EffectRow> {
    rows.sort_by(|a, b| (a.intent.at, &a.intent.key).cmp(&(b.intent.at, &b.intent.key)));
    rows
}

/// A key stands for one effect: nobody gets the stored result of another's.
fn same_effect(stored: &Intent, intent: &Intent) -> Result<(), StoreError> {
    let other = [
        ("tool", stored.tool != intent.tool),
        ("arguments", stored.arguments_hash != intent.arguments_hash),
        ("tenant", stored.tenant != intent.tenant),
        ("principal", stored.principal != intent.principal),
    ];
    match other.into_iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((what, _)) => Err(StoreError::Conflict(format!(
            "effect `{}` was begun with another {what}, take another key for another effect",
            intent.key
        ))),
    }
}

fn unknown(key: &str) -> StoreError {
    StoreError::Missing(format!("no effect `{key}`"))
}

fn no_end() -> StoreError {
    StoreError::Conflict("`running` is no end, say how the body ended".to_owned())
}

fn other_owner(key: &str) -> StoreError {
    StoreError::Conflict(format!("effect `{key}` is another owner's"))
}

fn ended_already(key: &str, state: EffectState) -> StoreError {
    StoreError::Conflict(format!("effect `{key}` has {state} already"))
}

fn no_doubt(key: &str, state: EffectState) -> StoreError {
    StoreError::Conflict(format!("effect `{key}` is {state}, not ambiguous"))
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
        self.step(move |tables| Ok(tables.ledger.renew(key, owner, until)))
    }

    fn end<'a>(&'a self, key: &'a str, owner: &'a str, end: EffectEnd) -> StoreFuture<'a, Ended> {
        self.step(|tables| tables.ledger.end(key, owner, end))
    }

    fn get<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<EffectRow>> {
        self.step(|tables| Ok(tables.ledger.known(key).ok().cloned()))
    }

    fn resolve<'a>(
        &'a self,
        key: &'a str,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        self.step(move |tables| tables.ledger.resolve(key, resolution, operator, now))
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
