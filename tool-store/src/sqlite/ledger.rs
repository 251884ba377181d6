//! The effect ledger in SQLite.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};
use tool_core::store::{
    AuditRow, Begun, EffectClaim, EffectEnd, EffectLedger, EffectRow, EffectState, Ended, Intent,
    Resolution, StoreError, StoreFuture, Timestamp,
};

use super::columns::Columns;
use super::{Change, Fault, SqliteStore, audit, narrow, step};

macro_rules! columns {
    () => {
        "key, call, turn, thread, tool, contract, tenant, principal, arguments_hash, owner, at, lease_until, state, result, ended, \
         late, resolved_by, attempt, released"
    };
}

/// Turns running rows whose lease is over to ambiguous.
pub(super) const SWEEP: &str = concat!(
    "UPDATE effect SET state = 'ambiguous' WHERE state = 'running' AND lease_until <= ? RETURNING ",
    columns!()
);

/// The query for the rows of a tenant, in a state.
pub(super) fn listing(tenant: Option<&str>, state: Option<EffectState>) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM effect WHERE released = 0"
    ));
    narrow(&mut query, "tenant", tenant);
    narrow(&mut query, "state", state.map(EffectState::as_str));
    query.push(" ORDER BY at, key");
    query
}

fn read(row: &SqliteRow) -> Result<EffectClaim, StoreError> {
    let columns = Columns::new(row, "effect", "key");
    let row = EffectRow {
        intent: Intent {
            key: columns.get("key")?,
            call: columns.get("call")?,
            turn: columns.get("turn")?,
            thread: columns.maybe("thread")?,
            tool: columns.get("tool")?,
            contract: columns.get("contract")?,
            tenant: columns.get("tenant")?,
            principal: columns.get("principal")?,
            arguments_hash: columns.get("arguments_hash")?,
            owner: columns.get("owner")?,
            at: columns.time("at")?,
            lease_until: columns.time("lease_until")?,
        },
        state: columns.word("state", EffectState::from_word)?,
        result: columns.maybe("result")?,
        ended: columns.maybe_time("ended")?,
        late: columns.get("late")?,
        resolved_by: columns.maybe("resolved_by")?,
        attempt: columns.number("attempt")?,
    };
    let released = columns.get("released")?;
    Ok(EffectClaim { row, released })
}

fn rows(rows: &[SqliteRow]) -> Result<Vec<EffectRow>, StoreError> {
    rows.iter().map(|row| Ok(read(row)?.row)).collect()
}

async fn find(db: &mut SqliteConnection, key: &str) -> Result<Option<EffectClaim>, Fault> {
    let row = sqlx::query(concat!("SELECT ", columns!(), " FROM effect WHERE key = ?"))
        .bind(key)
        .fetch_optional(db)
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Writes a row in place of the one of its key.
async fn save(db: &mut SqliteConnection, claim: &EffectClaim) -> Result<(), Fault> {
    let EffectClaim { row, released } = claim;
    let intent = &row.intent;
    sqlx::query(concat!(
        "REPLACE INTO effect (",
        columns!(),
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ))
    .bind(&intent.key)
    .bind(&intent.call)
    .bind(&intent.turn)
    .bind(&intent.thread)
    .bind(&intent.tool)
    .bind(&intent.contract)
    .bind(&intent.tenant)
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

impl SqliteStore {
    async fn begin_effect(&self, intent: Intent, audit: Option<AuditRow>) -> Result<Begun, Fault> {
        let mut change = self.change().await?;
        let stored = find(&mut change, &intent.key).await?;
        let (begun, claim) = EffectClaim::begin(stored, intent)?;
        if let Some(claim) = claim {
            save(&mut change, &claim).await?;
            if let (Begun::New, Some(audit)) = (&begun, audit) {
                audit::save(&mut change, &audit).await?;
            }
            change.commit().await?;
        }
        Ok(begun)
    }

    /// Lets the claim of a key take a step.
    async fn step_effect<R>(
        &self,
        mut change: Change,
        key: &str,
        step: impl FnOnce(&mut EffectClaim) -> Result<R, StoreError>,
    ) -> Result<(R, EffectRow), Fault> {
        let claim = find(&mut change, key).await?;
        let mut claim = claim.ok_or_else(|| EffectClaim::missing(key))?;
        let done = step(&mut claim)?;
        save(&mut change, &claim).await?;
        change.commit().await?;
        Ok((done, claim.row))
    }
}

impl EffectLedger for SqliteStore {
    fn is_durable(&self) -> bool {
        self.durable
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        step(self.begin_effect(intent, audit))
    }

    fn renew<'a>(
        &'a self,
        key: &'a str,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let renewed = sqlx::query(
                "UPDATE effect SET lease_until = max(lease_until, ?) WHERE key = ? AND owner = ? AND state = 'running'",
            );
            let renewed = renewed.bind(until.as_millis()).bind(key).bind(owner);
            Ok(self.update_first(renewed).await? == 1)
        })
    }

    fn end<'a>(&'a self, key: &'a str, owner: &'a str, end: EffectEnd) -> StoreFuture<'a, Ended> {
        step(async move {
            let change = self.change_first().await?;
            let ended = self.step_effect(change, key, |claim| claim.end(owner, end));
            Ok(ended.await?.0)
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<EffectRow>> {
        step(async move {
            let mut reader = self.readers.acquire().await?;
            let claim = find(&mut reader, key).await?;
            Ok(claim.and_then(EffectClaim::into_known))
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a str,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        step(async move {
            let change = self.change().await?;
            let resolved = self.step_effect(change, key, |claim| {
                claim.resolve(resolution, operator, now)
            });
            Ok(resolved.await?.1)
        })
    }

    fn sweep(&self, now: Timestamp) -> StoreFuture<'_, Vec<EffectRow>> {
        step(async move {
            let mut change = self.change().await?;
            let swept = sqlx::query(SWEEP);
            let swept = swept.bind(now.as_millis()).fetch_all(&mut *change).await?;
            change.commit().await?;
            let mut swept = rows(&swept)?;
            // `RETURNING` keeps no order.
            swept.sort_by(|a, b| a.place().cmp(&b.place()));
            Ok(swept)
        })
    }

    fn list<'a>(
        &'a self,
        tenant: Option<&'a str>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        step(async move {
            let mut query = listing(tenant, state);
            Ok(rows(&query.build().fetch_all(&self.readers).await?)?)
        })
    }
}
