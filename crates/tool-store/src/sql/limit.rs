//! Rows and statements of shared limits.

use std::time::Duration;

use crate::store::limit::{Rate, latest, micros, micros_of};
use crate::store::{
    LimitId, LimitRow, LimitRule, LimitTake, LimitTaken, LimitUnit, StoreError, Timestamp,
};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "shared_limit";

const COLUMNS: &str = "workspace, name, since, used, permits, ends, updated";

fn read(row: &impl SqlRow, id: &LimitId) -> Result<LimitRow, StoreError> {
    let columns = Columns::new(row, TABLE, "name");
    let mut row = LimitRow::new(id.clone(), columns.time("updated")?);
    row.since = columns.number("since")?;
    row.used = columns.number("used")?;
    row.permits = columns.json("permits")?;
    row.ends = columns.time("ends")?;
    Ok(row)
}

/// Returns the value of the column `workspace` of a limit; empty for a limit of the whole host.
fn workspace(id: &LimitId) -> &str {
    id.workspace().map_or("", |workspace| workspace.as_str())
}

/// Narrows a statement that ends in `WHERE ` to the row of a limit.
fn narrow<DB: SqlDatabase>(statement: &mut Statement<DB>, id: &LimitId) {
    statement.push("workspace = ").bind(workspace(id));
    statement.narrow("name", Some(id.name()));
}

/// Returns the query for the row of a limit.
pub(crate) fn one<DB: SqlDatabase>(id: &LimitId) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    narrow(&mut query, id);
    query
}

/// A statement with expressions over the columns of a row.
struct Expressions<DB: SqlDatabase>(Statement<DB>);

impl<DB: SqlDatabase> Expressions<DB> {
    fn sql(&mut self, sql: &str) -> &mut Self {
        self.0.push(sql);
        self
    }

    fn number(&mut self, number: i64) -> &mut Self {
        self.0.bind(Value::Number(Some(number)));
        self
    }

    /// Adds the time at which a rate allows a whole burst again after it has allowed this call, as [`LimitRow::take`] calculates it.
    fn full_at(&mut self, rate: &Rate, at: i64) -> &mut Self {
        self.sql("(CASE WHEN shared_limit.since < ").number(at);
        self.sql(" OR shared_limit.since > ");
        self.number(latest(at, rate.burst)).sql(" THEN ").number(at);
        self.sql(" ELSE shared_limit.since END + ");
        self.number(rate.interval).sql(")")
    }

    /// Adds the condition that a new window of a quota begins, as [`LimitRow::take`] decides it.
    fn is_over(&mut self, window: i64, at: i64) -> &mut Self {
        self.sql("(shared_limit.used = 0 OR shared_limit.since <= ");
        self.number(at - window);
        self.sql(" OR shared_limit.since > ");
        self.number(latest(at, window)).sql(")")
    }

    /// Adds the condition that a permit belongs to a different call and that its lease has not ended.
    fn is_other(&mut self, token: &str, now: Timestamp) -> &mut Self {
        self.sql(DB::PERMIT_END).sql(" > ").number(now.as_millis());
        self.sql(" AND p.key <> ");
        self.0.bind(token);
        self
    }

    /// Adds the number of permits of different calls.
    fn others(&mut self, token: &str, now: Timestamp) -> &mut Self {
        self.sql("(SELECT count(*) FROM ").sql(DB::EACH_PERMIT);
        self.sql(" WHERE ").is_other(token, now).sql(")")
    }

    /// Adds the permits of different calls, and the permit of this call if `until`, the end of its lease, is `Some`.
    fn permits(&mut self, token: &str, until: Option<Timestamp>, now: Timestamp) -> &mut Self {
        self.sql("(SELECT ").sql(DB::PERMITS);
        self.sql(" FROM (SELECT p.key AS key, ").sql(DB::PERMIT_END);
        self.sql(" AS value FROM ").sql(DB::EACH_PERMIT);
        self.sql(" WHERE ").is_other(token, now);
        if let Some(until) = until {
            self.sql(" UNION ALL SELECT ");
            self.0.bind(token);
            self.sql(", ").number(until.as_millis());
        }
        self.sql(") AS q)")
    }

    /// Adds the later of two times: the stored end of the row, and `until`.
    fn later(&mut self, until: Timestamp) -> &mut Self {
        let until = until.as_millis();
        self.sql("CASE WHEN shared_limit.ends > ").number(until);
        self.sql(" THEN shared_limit.ends ELSE ").number(until);
        self.sql(" END")
    }

    /// Begins a statement that changes the row of a limit. Assignments follow.
    fn update() -> Self {
        let schema = DB::SCHEMA;
        Self(Statement::part(format!("UPDATE {schema}{TABLE} SET ")))
    }

    /// Narrows a statement to the row of a limit. It matches no row unless the call has a permit whose lease ends after a time.
    fn holder(&mut self, id: &LimitId, token: &str, after: i64) -> &mut Self {
        self.sql(" WHERE ");
        narrow(&mut self.0, id);
        self.sql(" AND EXISTS (SELECT 1 FROM ").sql(DB::EACH_PERMIT);
        self.sql(" WHERE p.key = ");
        self.0.bind(token);
        self.sql(" AND ").sql(DB::PERMIT_END).sql(" > ");
        self.number(after).sql(")")
    }
}

/// Returns the statement that takes a unit of a limit: it inserts the row, or changes it if the limit is not exhausted. It returns no row if the
/// limit is exhausted. The database applies the rules of [`LimitRow::take`] while it holds the lock of the row, so no other statement is necessary.
pub(crate) fn taking<DB: SqlDatabase>(take: &LimitTake, now: Timestamp) -> Statement<DB> {
    let mut first = LimitRow::new(take.id.clone(), now);
    first.take(take, now);
    let permits = serde_json::to_string(&first.permits).unwrap_or_default();
    let values: [(_, Value); 7] = [
        ("workspace", workspace(&take.id).into()),
        ("name", take.id.name().into()),
        ("since", Value::Number(Some(first.since))),
        ("used", first.used.into()),
        ("permits", permits.into()),
        ("ends", first.ends.into()),
        ("updated", now.into()),
    ];
    let mut sql = Expressions(Statement::insert(TABLE, values));
    sql.sql(" ON CONFLICT (workspace, name) DO UPDATE SET updated = excluded.updated, ");
    let at = micros_of(now);
    match take.rule {
        LimitRule::Rate { calls, period } => {
            let rate = Rate::new(calls, period);
            sql.sql("since = ").full_at(&rate, at);
            sql.sql(", ends = (").full_at(&rate, at);
            sql.sql(" + 999) / 1000 WHERE ").full_at(&rate, at);
            sql.sql(" <= ").number(at.saturating_add(rate.burst));
        }
        LimitRule::Quota { calls, window } => {
            let window = micros(window);
            sql.sql("since = CASE WHEN ").is_over(window, at);
            sql.sql(" THEN ").number(at);
            sql.sql(" ELSE shared_limit.since END, used = CASE WHEN ");
            sql.is_over(window, at);
            sql.sql(" THEN 1 ELSE shared_limit.used + 1 END, ends = CASE WHEN ");
            sql.is_over(window, at);
            sql.sql(" THEN excluded.ends ELSE shared_limit.ends END WHERE ");
            sql.is_over(window, at).sql(" OR shared_limit.used < ");
            sql.number(calls.into());
        }
        LimitRule::AtOnce { permits, lease } => {
            let until = now.plus(lease);
            sql.sql("permits = ").permits(&take.token, Some(until), now);
            sql.sql(", ends = ").later(until);
            sql.sql(" WHERE ").others(&take.token, now);
            sql.sql(" < ").number(permits.into());
        }
    }
    sql.sql(" RETURNING ").sql(COLUMNS);
    sql.0
}

/// Implements [`LimitStore::take_limit`](crate::store::LimitStore::take_limit), after [`LimitTake::check`].
pub(crate) async fn take<C: SqlChange>(
    db: &mut C,
    take: &LimitTake,
) -> Result<LimitTaken, C::Fault> {
    let now = db.deciding(take.at);
    let rows = db.read(|| taking(take, now)).await?;
    if let Some(row) = rows.first() {
        return Ok(LimitTaken::Taken(match take.rule {
            LimitRule::Rate { .. } => LimitUnit::Rate,
            LimitRule::Quota { .. } => LimitUnit::Call {
                window: read(row, &take.id)?.since,
            },
            LimitRule::AtOnce { .. } => LimitUnit::Permit {
                token: take.token.clone(),
            },
        }));
    }
    let row = limit(db, &take.id).await?;
    let row = row.unwrap_or_else(|| LimitRow::new(take.id.clone(), now));
    Ok(LimitTaken::Refused(row.wait(&take.rule, now)))
}

/// Implements [`LimitStore::extend_permit`](crate::store::LimitStore::extend_permit).
pub(crate) async fn extend<C: SqlChange>(
    db: &mut C,
    id: &LimitId,
    token: &str,
    lease: Duration,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let now = db.deciding(at);
    let until = now.plus(lease);
    let mut sql = Expressions::update();
    sql.sql("permits = ").permits(token, Some(until), now);
    sql.sql(", ends = ").later(until);
    sql.sql(", updated = ").number(now.as_millis());
    sql.holder(id, token, now.as_millis());
    Ok(db.write(sql.0).await? > 0)
}

/// Implements [`LimitStore::return_limit`](crate::store::LimitStore::return_limit).
pub(crate) async fn give_back<C: SqlChange>(
    db: &mut C,
    id: &LimitId,
    unit: &LimitUnit,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let now = db.deciding(at);
    let mut sql = Expressions::update();
    match unit {
        LimitUnit::Rate => return Ok(false),
        LimitUnit::Call { window } => {
            sql.sql("used = used - 1, updated = ")
                .number(now.as_millis());
            sql.sql(" WHERE ");
            narrow(&mut sql.0, id);
            sql.sql(" AND used > 0 AND since = ").number(*window);
        }
        LimitUnit::Permit { token } => {
            // A permit is returned even if its lease has ended by the clock of the database, so the condition compares the end of the lease with the
            // earliest time.
            sql.sql("permits = ").permits(token, None, now);
            sql.sql(", updated = ").number(now.as_millis());
            sql.holder(id, token, i64::MIN);
        }
    }
    Ok(db.write(sql.0).await? > 0)
}

/// Implements [`LimitStore::limit`](crate::store::LimitStore::limit).
pub(crate) async fn limit<R: SqlReader>(
    db: &mut R,
    id: &LimitId,
) -> Result<Option<LimitRow>, R::Fault> {
    let rows = db.read(|| one(id)).await?;
    Ok(rows.first().map(|row| read(row, id)).transpose()?)
}
