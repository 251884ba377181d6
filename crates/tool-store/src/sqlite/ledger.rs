//! The effect ledger in SQLite.

use crate::sql::records::{effect as read, effects as rows};
use crate::store::{
    AuditRow, Begun, CallKey, EffectClaim, EffectEnd, EffectFilter, EffectLedger, EffectRow,
    EffectState, Ended, Intent, Journal, Resolution, Scope, StoreError, StoreFuture, Timestamp,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, audit, narrow, narrow_to_scope, page, step};

macro_rules! columns {
    () => {
        "workspace, key, place, earlier, call, thread, agent, tool, contract, principal, arguments_hash, owner, at, lease_until, state, result, \
         ended, late, resolved_by, attempt, released"
    };
}

/// Returns the query for one running row of a scope whose lease has expired.
pub(super) fn lapsed(scope: Scope<'_>, now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut query =
        QueryBuilder::new("SELECT 1 FROM effect WHERE state = 'running' AND lease_until <= ");
    query.push_bind(now.as_millis());
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT 1");
    query
}

/// Returns the statement that marks running rows of a scope as ambiguous if their lease has expired.
pub(super) fn sweeping(scope: Scope<'_>, now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "UPDATE effect SET state = 'ambiguous' WHERE state = 'running' AND lease_until <= ",
    );
    query.push_bind(now.as_millis());
    narrow_to_scope(&mut query, scope);
    query.push(concat!(" RETURNING ", columns!()));
    query
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &EffectFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM effect WHERE released = 0"
    ));
    narrow_to_scope(&mut query, scope);
    if let Some(state) = filter.state {
        // A literal instead of a parameter: SQLite uses a partial index only for a value that is known when it plans the query.
        query.push(format_args!(" AND state = '{}'", state.as_str()));
    }
    narrow(&mut query, "tool", filter.tool.as_deref());
    narrow(&mut query, "principal", filter.principal.as_deref());
    narrow(&mut query, "thread", filter.thread.as_deref());
    let after = filter.after.as_ref();
    let after = after.map(|(at, key)| (*at, ["", key.workspace().as_str(), key.as_str()]));
    let order = ["at", "workspace", "key"];
    page(&mut query, order, filter.newest_first, after, filter.limit);
    query
}

/// The query for the row of a key, or else for the first row that has the key as its earlier key. With one condition for both keys, SQLite would read
/// every row of the workspace.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM (SELECT 0 AS choice, * FROM effect WHERE workspace = ?1 AND key = ?2 \
     UNION ALL SELECT 1 AS choice, * FROM effect WHERE workspace = ?1 AND earlier = ?2) ORDER BY choice, at, key LIMIT 1"
);

/// The query for the row of a key.
pub(super) const FIND_OWN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM effect WHERE workspace = ?1 AND key = ?2"
);

async fn find(
    db: &mut SqliteConnection,
    sql: &'static str,
    key: &CallKey,
) -> Result<Option<EffectClaim>, Fault> {
    let row = sqlx::query(sql)
        .bind(key.workspace().as_str())
        .bind(key.as_str())
        .fetch_optional(db)
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Inserts a row, or replaces the row with the same key.
async fn save(db: &mut SqliteConnection, claim: &EffectClaim) -> Result<(), Fault> {
    let EffectClaim { row, released } = claim;
    let intent = &row.intent;
    let place = intent.identity.to_column();
    sqlx::query(concat!(
        "REPLACE INTO effect (",
        columns!(),
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ))
    .bind(intent.identity.workspace().as_str())
    .bind(intent.identity.key().as_str())
    .bind(place)
    .bind(intent.earlier.as_ref().map(CallKey::as_str))
    .bind(&intent.call)
    .bind(&intent.thread)
    .bind(&intent.agent)
    .bind(&intent.tool)
    .bind(&intent.contract)
    .bind(&intent.principal)
    .bind(&intent.arguments_hash)
    .bind(&intent.owner)
    .bind(intent.at.as_millis())
    .bind(intent.lease_until.as_millis())
    .bind(row.state.as_str())
    .bind(&row.result)
    .bind(row.ended.map(Timestamp::as_millis))
    .bind(row.late)
    .bind(&row.resolved_by)
    .bind(row.attempt)
    .bind(released)
    .execute(db)
    .await?;
    Ok(())
}

/// Ends the effect of a key. If the end is refused, the row stays unchanged.
pub(super) async fn end(
    db: &mut SqliteConnection,
    key: &CallKey,
    owner: &str,
    end: EffectEnd,
) -> Result<Ended, Fault> {
    let claim = find(db, FIND, key).await?;
    let mut claim = claim.ok_or_else(|| EffectClaim::missing(key))?;
    let ended = claim.end(owner, end)?;
    save(db, &claim).await?;
    Ok(ended)
}

impl SqliteStore {
    async fn begin_effect(&self, intent: Intent, audit: Option<AuditRow>) -> Result<Begun, Fault> {
        intent.check()?;
        self.change(|db| {
            Box::pin(async move {
                let begun = claim(db, intent, EffectClaim::begin).await?;
                if let Some(audit) = audit.and_then(|audit| begun.audit_row(audit)) {
                    audit::save(db, &audit).await?;
                }
                Ok(begun)
            })
        })
        .await
    }

    async fn close_effect(&self, intent: Intent, result: Option<String>) -> Result<Begun, Fault> {
        intent.check()?;
        self.change(|db| {
            Box::pin(claim(db, intent, |stored, intent| {
                EffectClaim::close(stored, intent, result)
            }))
        })
        .await
    }
}

/// Applies `step` to the claim of an intent's key, or else of the intent's earlier key.
async fn claim(
    db: &mut SqliteConnection,
    intent: Intent,
    step: impl FnOnce(Option<EffectClaim>, Intent) -> Result<(Begun, Option<EffectClaim>), StoreError>,
) -> Result<Begun, Fault> {
    let mut stored = find(&mut *db, FIND, &intent.identity.key()).await?;
    if let (None, Some(earlier)) = (&stored, &intent.earlier) {
        stored = find(&mut *db, FIND_OWN, earlier).await?;
    }
    let stored = stored.filter(|claim| claim.is_of(&intent));
    let before = stored.as_ref().map(|claim| claim.row.intent.identity.key());
    let (begun, claim) = step(stored, intent)?;
    if let Some(claim) = claim {
        let key = claim.row.intent.identity.key();
        if let Some(before) = before.filter(|before| *before != key) {
            sqlx::query("DELETE FROM effect WHERE workspace = ? AND key = ?")
                .bind(before.workspace().as_str())
                .bind(before.as_str())
                .execute(&mut *db)
                .await?;
        }
        save(db, &claim).await?;
    }
    Ok(begun)
}

/// Applies `step` to the claim of a key. A refusal is part of the output, because a refused step may change the row.
pub(super) async fn step_claim<R>(
    db: &mut SqliteConnection,
    key: &CallKey,
    step: impl FnOnce(&mut EffectClaim) -> Result<R, StoreError>,
) -> Result<Result<(R, EffectRow), StoreError>, Fault> {
    let claim = find(&mut *db, FIND, key).await?;
    let before = claim.ok_or_else(|| EffectClaim::missing(key))?;
    let mut claim = before.clone();
    let done = step(&mut claim);
    // The late end of a run that was presumed dead is refused, but the row records it.
    if done.is_ok() || claim != before {
        save(db, &claim).await?;
    }
    Ok(done.map(|done| (done, claim.row)))
}

impl EffectLedger for SqliteStore {
    fn is_durable(&self) -> bool {
        self.durable
    }

    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        step(self.begin_effect(intent, audit))
    }

    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        step(self.close_effect(intent, result))
    }

    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let (key, owner) = (key.clone(), owner.to_owned());
            let renewed = self.change_first(move |db| {
                Box::pin(async move {
                    step_claim(db, &key, |claim| Ok(claim.renew(&owner, until))).await
                })
            });
            match renewed.await {
                Ok(renewed) => Ok(renewed?.0),
                Err(Fault(StoreError::Missing(_))) => Ok(false),
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
            let (key, owner) = (key.clone(), owner.to_owned());
            let ended = self.change_first(move |db| {
                Box::pin(async move { step_claim(db, &key, |claim| claim.end(&owner, end)).await })
            });
            Ok(ended.await??.0)
        })
    }

    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        step(async move {
            let mut reader = self.readers.acquire().await?;
            let claim = find(&mut reader, FIND, key).await?;
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
            let (key, operator) = (key.clone(), operator.to_owned());
            let resolved = self.change(move |db| {
                Box::pin(async move {
                    step_claim(db, &key, |claim| claim.resolve(resolution, &operator, now)).await
                })
            });
            Ok(resolved.await??.1)
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
            let (key, operator) = (key.clone(), operator.to_owned());
            let forced = self.change(move |db| {
                Box::pin(async move {
                    step_claim(db, &key, |claim| claim.force(resolution, &operator, now)).await
                })
            });
            Ok(forced.await??.1)
        })
    }

    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        step(async move {
            // Most sweeps find no expired lease, and must not block other writers.
            if self.has_none(lapsed(scope, now)).await? {
                return Ok(Vec::new());
            }
            let mut sweeping = sweeping(scope, now);
            let swept = self
                .change(|db| Box::pin(async move { Ok(sweeping.build().fetch_all(db).await?) }));
            let swept = swept.await?;
            let mut swept = rows(&swept)?;
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
            let mut query = listing(scope, &filter);
            Ok(rows(&query.build().fetch_all(&self.readers).await?)?)
        })
    }

    fn page<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EffectFilter,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        step(async move {
            let mut query = listing(scope, filter);
            Ok(rows(&query.build().fetch_all(&self.readers).await?)?)
        })
    }
}
