//! The effect ledger in SQLite.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};
use tool_core::store::{
    AuditRow, Begun, EffectEnd, EffectLedger, EffectRow, EffectState, Ended, Intent, Resolution,
    StoreError, StoreFuture, Timestamp,
};

use super::columns::Columns;
use super::{Fault, SqliteStore, audit, narrow, step};

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

/// A row, and whether an operator released it for a rerun.
struct Claim {
    row: EffectRow,
    released: bool,
}

fn read(row: &SqliteRow) -> Result<Claim, StoreError> {
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
    Ok(Claim { row, released })
}

fn rows(rows: &[SqliteRow]) -> Result<Vec<EffectRow>, StoreError> {
    rows.iter().map(|row| Ok(read(row)?.row)).collect()
}

async fn find(db: &mut SqliteConnection, key: &str) -> Result<Option<Claim>, Fault> {
    let row = sqlx::query(concat!("SELECT ", columns!(), " FROM effect WHERE key = ?"))
        .bind(key)
        .fetch_optional(db)
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Writes a row in place of the one of its key.
async fn save(db: &mut SqliteConnection, claim: &Claim) -> Result<(), Fault> {
    let Claim { row, released } = claim;
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

/// Turns a running row whose lease is over to ambiguous.
fn lapse(row: &mut EffectRow, now: Timestamp) -> bool {
    let lapsed = row.state == EffectState::Running && row.intent.lease_until <= now;
    if lapsed {
        row.state = EffectState::Ambiguous;
    }
    lapsed
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

fn conflict(text: String) -> StoreError {
    StoreError::Conflict(text)
}

impl SqliteStore {
    async fn begin_effect(&self, intent: Intent, audit: Option<AuditRow>) -> Result<Begun, Fault> {
        let mut change = self.change().await?;
        let mut attempt = 1;
        let mut resolved_by = None;
        if let Some(mut claim) = find(&mut change, &intent.key).await? {
            same_effect(&claim.row.intent, &intent)?;
            if !claim.released {
                if lapse(&mut claim.row, intent.at) {
                    save(&mut change, &claim).await?;
                    change.commit().await?;
                }
                return Ok(Begun::Replay(claim.row));
            }
            attempt = claim.row.attempt + 1;
            resolved_by = claim.row.resolved_by;
        }
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
        save(&mut change, &Claim { row, released }).await?;
        if let Some(audit) = audit {
            audit::save(&mut change, &audit).await?;
        }
        change.commit().await?;
        Ok(Begun::New)
    }

    async fn end_effect(&self, key: &str, owner: &str, end: EffectEnd) -> Result<Ended, Fault> {
        if end.state == EffectState::Running {
            let text = "`running` is no end, say how the body ended";
            return Err(conflict(text.to_owned()).into());
        }
        let mut change = self.change().await?;
        let claim = find(&mut change, key).await?;
        let mut claim = claim.ok_or_else(|| unknown(key))?;
        let row = &mut claim.row;
        if row.intent.owner != owner {
            return Err(conflict(format!("effect `{key}` is another owner's")).into());
        }
        let ended = match row.state {
            EffectState::Running if end.at < row.intent.lease_until => Ended::InTime,
            EffectState::Running | EffectState::Ambiguous => Ended::Late,
            state => return Err(conflict(format!("effect `{key}` has {state} already")).into()),
        };
        row.state = end.state;
        row.result = end.result;
        row.ended = Some(end.at);
        row.late = ended == Ended::Late;
        claim.released = false;
        save(&mut change, &claim).await?;
        change.commit().await?;
        Ok(ended)
    }

    async fn resolve_effect(
        &self,
        key: &str,
        resolution: Resolution,
        operator: &str,
        now: Timestamp,
    ) -> Result<EffectRow, Fault> {
        let mut change = self.change().await?;
        let claim = find(&mut change, key).await?;
        let claim = claim.filter(|claim| !claim.released);
        let mut claim = claim.ok_or_else(|| unknown(key))?;
        let row = &mut claim.row;
        lapse(row, now);
        if row.state != EffectState::Ambiguous {
            let state = row.state;
            return Err(conflict(format!("effect `{key}` is {state}, not ambiguous")).into());
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
        save(&mut change, &claim).await?;
        change.commit().await?;
        Ok(claim.row)
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
            Ok(self.update(renewed).await? == 1)
        })
    }

    fn end<'a>(&'a self, key: &'a str, owner: &'a str, end: EffectEnd) -> StoreFuture<'a, Ended> {
        step(self.end_effect(key, owner, end))
    }

    fn get<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<EffectRow>> {
        step(async move {
            let mut reader = self.readers.acquire().await?;
            let claim = find(&mut reader, key).await?;
            Ok(claim.filter(|claim| !claim.released).map(|claim| claim.row))
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a str,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        step(self.resolve_effect(key, resolution, operator, now))
    }

    fn sweep(&self, now: Timestamp) -> StoreFuture<'_, Vec<EffectRow>> {
        step(async move {
            let mut change = self.change().await?;
            let swept = sqlx::query(SWEEP);
            let swept = swept.bind(now.as_millis()).fetch_all(&mut *change).await?;
            change.commit().await?;
            let mut swept = rows(&swept)?;
            // `RETURNING` keeps no order.
            swept.sort_by(|a, b| (a.intent.at, &a.intent.key).cmp(&(b.intent.at, &b.intent.key)));
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
