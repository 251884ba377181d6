//! The effect ledger in PostgreSQL.

use crate::sql::columns::Columns;
use crate::sql::records::{effect as read, effects as rows};
use crate::store::{
    AuditRow, Begun, CallKey, EffectClaim, EffectEnd, EffectFilter, EffectLedger, EffectRow,
    EffectState, Ended, Intent, Journal, Resolution, Scope, StoreError, StoreFuture, Timestamp,
};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::text::storable;
use super::{
    Fault, NOW, PostgresStore, audit, lock_number, narrow, narrow_to_scope, page_by_key, step,
};
use crate::digest::sha256;

macro_rules! columns {
    () => {
        "workspace, key, place, earlier, call, thread, agent, tool, contract, principal, arguments_hash, owner, at, lease_until, lapses, state, result, \
         ended, late, resolved_by, attempt, released"
    };
}

/// Returns the query for one running row of a scope whose lease has expired. `now` is the parameter of [`NOW`].
pub(super) fn lapsed(scope: Scope<'_>, now: Option<i64>) -> QueryBuilder<Postgres> {
    let mut query =
        QueryBuilder::new("SELECT 1 FROM tool_store.effect WHERE state = 'running' AND lapses <= ");
    query.push(NOW.0).push_bind(now).push(NOW.1);
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT 1");
    query
}

/// Returns the statement that marks running rows of a scope as ambiguous if their lease has expired. It skips rows that a different transaction has
/// locked.
pub(super) fn sweeping(scope: Scope<'_>, now: i64) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "WITH lapsed AS MATERIALIZED (SELECT workspace AS w, key AS k FROM tool_store.effect WHERE state = 'running' AND lapses <= ",
    );
    query.push_bind(now);
    narrow_to_scope(&mut query, scope);
    query.push(concat!(
        " ORDER BY workspace, key FOR UPDATE SKIP LOCKED) UPDATE tool_store.effect SET state = 'ambiguous' \
         FROM lapsed WHERE workspace = w AND key = k RETURNING ",
        columns!()
    ));
    query
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &EffectFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.effect WHERE NOT released"
    ));
    narrow_to_scope(&mut query, scope);
    if let Some(state) = filter.state {
        // A literal instead of a parameter: a generic plan can use a partial index only for a known value.
        query.push(format_args!(" AND state = '{}'", state.as_str()));
    }
    narrow(&mut query, "tool", filter.tool.as_deref());
    narrow(&mut query, "principal", filter.principal.as_deref());
    narrow(&mut query, "thread", filter.thread.as_deref());
    let (newest_first, after) = (filter.newest_first, filter.after.as_ref());
    page_by_key(&mut query, "at", scope, newest_first, after, filter.limit);
    query
}

/// Reads a claim and the end of its lease by the deciding clock.
fn read_lease(row: &PgRow) -> Result<(EffectClaim, i64), StoreError> {
    let lapses = Columns::new(row, "effect", "key").get("lapses")?;
    Ok((read(row)?, lapses))
}

macro_rules! find {
    () => {
        concat!(
            "SELECT ",
            columns!(),
            // Two look-ups, because a plan for `OR` may read all effects of the workspace.
            " FROM tool_store.effect WHERE workspace = $1 AND key = coalesce( \
             (SELECT own.key FROM tool_store.effect own WHERE own.workspace = $1 AND own.key = $2), \
             (SELECT old.key FROM tool_store.effect old WHERE old.workspace = $1 AND old.earlier = $2 ORDER BY old.at, old.key LIMIT 1))"
        )
    };
}

/// The query for the row of a key, or else for the first row that has the key as its earlier key.
pub(super) const FIND: &str = find!();

/// The query [`FIND`] with a lock on the row.
pub(super) const LOCK: &str = concat!(find!(), " FOR UPDATE");

/// The query for the row of a key, with a lock on the row.
pub(super) const LOCK_OWN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.effect WHERE workspace = $1 AND key = $2 FOR UPDATE"
);

async fn lock(
    db: &mut Change<'_>,
    sql: &'static str,
    key: &CallKey,
) -> Result<Option<(EffectClaim, i64)>, Fault> {
    let row = db
        .query(sql)
        .bind(key.workspace().as_str())
        .bind(key.as_str())
        .fetch_optional(&mut **db)
        .await?;
    Ok(row.as_ref().map(read_lease).transpose()?)
}

/// A claim whose lease is expressed in the caller's clock while a step is applied to it.
struct Leased {
    claim: EffectClaim,
    stored: (Timestamp, i64),
    seen: Timestamp,
}

impl Leased {
    /// Converts the lease of a claim to the caller's clock. `now` is the time of the step by this clock.
    fn new(db: &Change<'_>, (mut claim, lapses): (EffectClaim, i64), now: Timestamp) -> Self {
        let stored = (claim.row.intent.lease_until, lapses);
        let seen = db.clock.seen(lapses, stored.0, now);
        claim.row.intent.lease_until = seen;
        Self {
            claim,
            stored,
            seen,
        }
    }

    /// Restores the stored lease of a row, unless the step changed it. Returns the end of the lease by the deciding clock.
    fn restore(&self, db: &Change<'_>, row: &mut EffectRow, now: Timestamp) -> i64 {
        let until = &mut row.intent.lease_until;
        if *until != self.seen {
            return db.clock.lapses(*until, now);
        }
        *until = self.stored.0;
        self.stored.1
    }
}

/// Inserts a row, or replaces the row with the same key.
async fn save(db: &mut Change<'_>, claim: &EffectClaim, lapses: i64) -> Result<(), Fault> {
    let EffectClaim { row, released } = claim;
    let intent = &row.intent;
    let place = intent.identity.to_column();
    db.query(concat!(
        "INSERT INTO tool_store.effect (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) \
         ON CONFLICT (workspace, key) DO UPDATE SET place = excluded.place, earlier = excluded.earlier, call = excluded.call, \
         thread = excluded.thread, agent = excluded.agent, tool = excluded.tool, contract = excluded.contract, \
         principal = excluded.principal, arguments_hash = excluded.arguments_hash, owner = excluded.owner, at = excluded.at, \
         lease_until = excluded.lease_until, lapses = excluded.lapses, state = excluded.state, result = excluded.result, \
         ended = excluded.ended, late = excluded.late, resolved_by = excluded.resolved_by, attempt = excluded.attempt, \
         released = excluded.released"
    ))
    .bind(intent.identity.workspace().as_str())
    .bind(intent.identity.key().as_str())
    .bind(place)
    .bind(intent.earlier.as_ref().map(CallKey::as_str))
    .bind(storable(&intent.call))
    .bind(&intent.thread)
    .bind(&intent.agent)
    .bind(&intent.tool)
    .bind(&intent.contract)
    .bind(&intent.principal)
    .bind(&intent.arguments_hash)
    .bind(&intent.owner)
    .bind(intent.at.as_millis())
    .bind(intent.lease_until.as_millis())
    .bind(lapses)
    .bind(row.state.as_str())
    .bind(row.result.as_deref().map(storable))
    .bind(row.ended.map(Timestamp::as_millis))
    .bind(row.late)
    .bind(&row.resolved_by)
    .bind(i64::from(row.attempt))
    .bind(released)
    .execute(&mut **db)
    .await?;
    Ok(())
}

/// Ends the effect of a key. If the end is refused, the row stays unchanged.
pub(super) async fn end(
    db: &mut Change<'_>,
    key: &CallKey,
    owner: &str,
    end: &EffectEnd,
) -> Result<Ended, Fault> {
    let found = lock(db, LOCK, key).await?;
    let found = found.ok_or_else(|| EffectClaim::missing(key))?;
    let mut leased = Leased::new(db, found, end.at);
    let ended = leased.claim.end(owner, end.clone())?;
    let mut claim = leased.claim.clone();
    let lapses = leased.restore(db, &mut claim.row, end.at);
    save(db, &claim, lapses).await?;
    Ok(ended)
}

/// Returns the advisory locks of an intent. Two calls that may find the same row by one of their keys begin one after the other.
fn locks(intent: &Intent) -> Vec<i64> {
    let own = intent.identity.key();
    let keys = [Some(&own), intent.earlier.as_ref()].into_iter().flatten();
    keys.map(|key| lock_number(&sha256(&["effect", key.workspace().as_str(), key.as_str()])))
        .collect()
}

/// The result of an intent, and the claim to store.
type Claimed = Result<(Begun, Option<EffectClaim>), StoreError>;

/// Applies `step` to the claim of an intent's key, or else of the intent's earlier key.
async fn claim(
    db: &mut Change<'_>,
    intent: &Intent,
    step: impl FnOnce(Option<EffectClaim>, Intent) -> Claimed,
) -> Result<Begun, Fault> {
    let now = intent.at;
    let mut stored = lock(db, LOCK, &intent.identity.key()).await?;
    if let (None, Some(earlier)) = (&stored, &intent.earlier) {
        stored = lock(db, LOCK_OWN, earlier).await?;
    }
    let stored = stored.filter(|(claim, _)| claim.is_of(intent));
    let before = stored
        .as_ref()
        .map(|(claim, _)| claim.row.intent.identity.key());
    let leased = stored.map(|stored| Leased::new(db, stored, now));
    let seen = leased.as_ref().map(|leased| leased.claim.clone());
    let (mut begun, claim) = step(seen, intent.clone())?;
    let is_new = !matches!(begun, Begun::Replay(_));
    if let (Begun::Replay(row), Some(leased)) = (&mut begun, &leased) {
        leased.restore(db, row, now);
    }
    if let Some(mut claim) = claim {
        let lapses = match &leased {
            Some(leased) if !is_new => leased.restore(db, &mut claim.row, now),
            _ => db.clock.lapses(intent.lease_until, now),
        };
        let key = claim.row.intent.identity.key();
        if let Some(before) = before.filter(|before| *before != key) {
            db.query("DELETE FROM tool_store.effect WHERE workspace = $1 AND key = $2")
                .bind(before.workspace().as_str())
                .bind(before.as_str())
                .execute(&mut **db)
                .await?;
        }
        save(db, &claim, lapses).await?;
    }
    Ok(begun)
}

/// Applies `step` to the claim of a key. `now` is the time of the step by the caller's clock. A refusal is part of the output, because a refused
/// step may change the row.
pub(super) async fn step_claim<R>(
    db: &mut Change<'_>,
    key: &CallKey,
    now: Timestamp,
    step: impl FnOnce(&mut EffectClaim) -> Result<R, StoreError>,
) -> Result<Result<(R, EffectRow), StoreError>, Fault> {
    let found = lock(db, LOCK, key).await?;
    let found = found.ok_or_else(|| EffectClaim::missing(key))?;
    let before = found.0.clone();
    let mut leased = Leased::new(db, found, now);
    let done = step(&mut leased.claim);
    let mut claim = leased.claim.clone();
    let lapses = leased.restore(db, &mut claim.row, now);
    // The late end of a run that was presumed dead is refused, but the row records it.
    if done.is_ok() || claim != before {
        save(db, &claim, lapses).await?;
    }
    Ok(done.map(|done| (done, claim.row)))
}

impl EffectLedger for PostgresStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        step(async move {
            intent.check()?;
            change!(self, locks(&intent), db => {
                let begun = claim(db, &intent, EffectClaim::begin).await?;
                if let Some(audit) = audit.clone().and_then(|audit| begun.audit_row(audit)) {
                    audit::save(db, &audit).await?;
                }
                Ok(begun)
            })
        })
    }

    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        step(async move {
            intent.check()?;
            change!(self, locks(&intent), db => {
                let closed = claim(db, &intent, |stored, intent| {
                    EffectClaim::close(stored, intent, result.clone())
                });
                closed.await
            })
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let renewed: Result<_, Fault> = change!(self, Vec::new(), db => {
                let now = Timestamp::now();
                step_claim(db, key, now, |claim| Ok(claim.renew(owner, until))).await
            });
            match renewed {
                Ok(renewed) => Ok(renewed?.0),
                Err(Fault::Refused(StoreError::Missing(_))) => Ok(false),
                Err(fault) => Err(fault),
            }
        })
    }

    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        step(async move {
            let ended: Result<_, Fault> = change!(self, Vec::new(), db => {
                step_claim(db, key, end.at, |claim| claim.end(owner, end.clone())).await
            });
            Ok(ended??.0)
        })
    }

    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        step(async move {
            let row = fetch!(
                self,
                fetch_optional,
                sqlx::query(FIND)
                    .bind(key.workspace().as_str())
                    .bind(key.as_str())
            );
            let claim = row.as_ref().map(read).transpose()?;
            Ok(claim.and_then(EffectClaim::into_known))
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        step(async move {
            let resolved: Result<_, Fault> = change!(self, Vec::new(), db => {
                step_claim(db, key, now, |claim| {
                    claim.resolve(resolution.clone(), operator, now)
                })
                .await
            });
            Ok(resolved??.1)
        })
    }

    fn force<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        step(async move {
            let forced: Result<_, Fault> = change!(self, Vec::new(), db => {
                step_claim(db, key, now, |claim| {
                    claim.force(resolution.clone(), operator, now)
                })
                .await
            });
            Ok(forced??.1)
        })
    }

    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        step(async move {
            // Most sweeps find no expired lease, and need no transaction.
            let given = self.given_now(now);
            if fetch!(self, fetch_optional, lapsed(scope, given).build()).is_none() {
                return Ok(Vec::new());
            }
            let swept: Result<Vec<PgRow>, Fault> = change!(self, Vec::new(), db => {
                let mut sweeping = sweeping(scope, db.clock.now(now));
                Ok(sweeping.build().persistent(db.is_named()).fetch_all(&mut **db).await?)
            });
            let mut swept = rows(&swept?)?;
            // `RETURNING` guarantees no order.
            swept.sort_by_cached_key(EffectRow::place);
            Ok(swept)
        })
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        let filter = EffectFilter {
            state,
            ..EffectFilter::default()
        };
        step(async move {
            let found = fetch!(self, fetch_all, listing(scope, &filter).build());
            Ok(rows(&found)?)
        })
    }

    fn page<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EffectFilter,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        step(async move {
            let found = fetch!(self, fetch_all, listing(scope, filter).build());
            Ok(rows(&found)?)
        })
    }
}
