//! The table of approvals in PostgreSQL.

use crate::sql::columns::Columns;
use crate::sql::contents::{Content, Reader, Sealer};
use crate::sql::records::approval as read;
use crate::sql::sealed::place;
use crate::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus,
    ApprovalStore, Scope, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::sealed::check_sealer;
use super::text::storable;
use super::{Column, Fault, NOW, PostgresStore, Value, narrow, narrow_to_scope, page, step};

macro_rules! columns {
    () => {
        "id, kind, workspace, key, place, thread, call, tool, principal, agent, contract, arguments, policy, decision, four_eyes, reason, \
         nonce, created, expires, lapses, parent, status, assignee, verdict, edited, approver, answer_reason, answered, sealed, seal_key, \
         edited_sealed, edited_key"
    };
}

/// Returns the query for one open approval of a scope whose deadline has passed. `now` is the parameter of [`NOW`].
pub(super) fn expired(scope: Scope<'_>, now: Option<i64>) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "SELECT 1 FROM tool_store.approval WHERE status IN ('pending', 'approved') AND lapses <= ",
    );
    query.push(NOW.0).push_bind(now).push(NOW.1);
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT 1");
    query
}

/// Returns the statement that marks open approvals of a scope as expired if their deadline has passed. It skips rows that a different transaction has
/// locked.
pub(super) fn expiry(scope: Scope<'_>, now: i64) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "WITH late AS MATERIALIZED (SELECT id FROM tool_store.approval \
         WHERE status IN ('pending', 'approved') AND lapses <= ",
    );
    query.push_bind(now);
    narrow_to_scope(&mut query, scope);
    query.push(
        " ORDER BY id FOR UPDATE SKIP LOCKED) UPDATE tool_store.approval a SET status = 'expired' FROM late WHERE a.id = late.id",
    );
    query
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &ApprovalFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.approval WHERE TRUE"
    ));
    narrow_to_scope(&mut query, scope);
    narrow_to(&mut query, filter);
    query
}

/// Reads an approval and its deadline by the deciding clock.
fn read_deadline(row: &PgRow, reader: &Reader) -> Result<(ApprovalRow, i64), StoreError> {
    let lapses = Columns::new(row, "approval", "id").get("lapses")?;
    Ok((read(row, reader)?, lapses))
}

/// The query for one approval.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.approval WHERE id = $1 AND workspace = $2"
);

/// The query for one approval, with a lock on its row.
pub(super) const LOCK: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.approval WHERE id = $1 AND workspace = $2 FOR UPDATE"
);

/// Stores the changed columns of a row that the transaction has locked.
async fn save(
    db: &mut Change<'_>,
    before: &ApprovalRow,
    row: &ApprovalRow,
    sealer: &Sealer,
) -> Result<(), Fault> {
    if row.answer == before.answer {
        return save_status(db, row).await;
    }
    let (answer, request) = (row.answer.as_ref(), &row.request);
    let (verdict, edited) = answer.map(|answer| answer.verdict.columns()).unzip();
    let place = || place::edited(request.identity.workspace(), &request.id);
    let edited = edited.flatten().map(|edited| sealer.seal(edited, place));
    let edited = edited.transpose()?;
    db.query(
        "UPDATE tool_store.approval SET status = $1, assignee = $2, verdict = $3, edited = $4, approver = $5, answer_reason = $6,
         answered = $7, edited_sealed = $8, edited_key = $9 WHERE id = $10",
    )
    .bind(row.status.as_str())
    .bind(&row.assignee)
    .bind(verdict)
    .bind(edited.as_ref().map(|edited| storable(edited.text)))
    .bind(answer.map(|answer| &answer.approver))
    .bind(answer.and_then(|answer| answer.reason.as_deref()).map(storable))
    .bind(answer.map(|answer| answer.at.as_millis()))
    .bind(edited.as_ref().and_then(Content::sealed))
    .bind(edited.as_ref().and_then(Content::key))
    .bind(&request.id)
    .execute(&mut **db)
    .await?;
    Ok(())
}

/// Saves the status and the assignee. The answer is not written again: it may be sealed with a key that this step does not have.
async fn save_status(db: &mut Change<'_>, row: &ApprovalRow) -> Result<(), Fault> {
    db.query("UPDATE tool_store.approval SET status = $1, assignee = $2 WHERE id = $3")
        .bind(row.status.as_str())
        .bind(&row.assignee)
        .bind(&row.request.id)
        .execute(&mut **db)
        .await?;
    Ok(())
}

/// Adds the conditions of a filter to a query that ends in a condition.
fn narrow_to(query: &mut QueryBuilder<Postgres>, filter: &ApprovalFilter) {
    narrow(query, "principal", filter.principal.as_deref());
    narrow(query, "assignee", filter.assignee.as_deref());
    narrow(query, "tool", filter.tool.as_deref());
    narrow(query, "key", filter.key.as_deref());
    narrow(query, "thread", filter.thread.as_deref());
    narrow(query, "status", filter.status.map(ApprovalStatus::as_str));
    narrow(query, "kind", filter.kind.map(ApprovalKind::as_str));
    let columns = [Column::new("created", None), Column::new("id", None)];
    let after = filter.after.as_ref();
    let after = after.map(|(at, id)| [Value::Number(at.as_millis()), Value::Text(id)]);
    let after = after.as_ref().map(<[_; 2]>::as_slice);
    page(query, &columns, filter.newest_first, after, filter.limit);
}

async fn open(
    db: &mut Change<'_>,
    request: &ApprovalRequest,
    lapses: i64,
    sealer: &Sealer,
) -> Result<(), Fault> {
    check_sealer(db, sealer).await?;
    let workspace = request.identity.workspace();
    let place = || place::arguments(workspace, &request.id);
    let arguments = sealer.seal(&request.arguments, place)?;
    let done = db.query(concat!(
        "INSERT INTO tool_store.approval (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, $22, $23, NULL, NULL)
         ON CONFLICT (id) DO NOTHING"
    ))
    .bind(&request.id)
    .bind(request.kind.as_str())
    .bind(workspace.as_str())
    .bind(request.identity.key().as_str())
    .bind(request.identity.to_column())
    .bind(&request.thread)
    .bind(storable(&request.call))
    .bind(&request.tool)
    .bind(&request.principal)
    .bind(&request.agent)
    .bind(&request.contract)
    .bind(storable(arguments.text))
    .bind(&request.policy)
    .bind(&request.decision)
    .bind(request.four_eyes)
    .bind(request.reason.as_deref().map(storable))
    .bind(&request.nonce)
    .bind(request.created.as_millis())
    .bind(request.expires.as_millis())
    .bind(lapses)
    .bind(&request.parent)
    .bind(arguments.sealed())
    .bind(arguments.key())
    .execute(&mut **db)
    .await?;
    if done.rows_affected() == 0 {
        return Err(request.exists().into());
    }
    Ok(())
}

/// Returns the statement that denies the pending requests that match a filter, except requests that this approver must not answer, and marks requests
/// whose deadline has passed as expired. It is one statement, so that the filter's limit counts expired requests, too.
fn denial(
    workspace: &Workspace,
    filter: &ApprovalFilter,
    answer: &ApprovalAnswer,
    now: i64,
) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "WITH asked AS MATERIALIZED (SELECT id FROM tool_store.approval WHERE status = 'pending'",
    );
    narrow_to_scope(&mut query, Scope::Workspace(workspace));
    narrow_to(&mut query, filter);
    query.push(" FOR UPDATE), judged AS (SELECT a.id, a.lapses <= ");
    query.push_bind(now);
    query.push(
        " AS late FROM tool_store.approval a JOIN asked ON asked.id = a.id) \
         UPDATE tool_store.approval a SET status = CASE WHEN late THEN 'expired' ELSE 'denied' END, \
         verdict = CASE WHEN late THEN NULL ELSE 'deny' END, approver = CASE WHEN late THEN NULL ELSE ",
    );
    query.push_bind(answer.approver.clone());
    query.push(" END, answer_reason = CASE WHEN late THEN NULL ELSE ");
    query.push_bind(
        answer
            .reason
            .as_deref()
            .map(|reason| storable(reason).into_owned()),
    );
    query.push(" END, answered = CASE WHEN late THEN NULL ELSE ");
    query.push_bind(answer.at.as_millis());
    query.push(" END FROM judged WHERE a.id = judged.id AND a.status = 'pending' AND (late OR NOT a.four_eyes OR a.principal <> ");
    query.push_bind(answer.approver.clone());
    query.push(") RETURNING a.id, a.status");
    query
}

/// Applies a fallible step to a row, and returns the new row. `now` is the time of the step by the caller's clock, or `None` for a step that does not
/// depend on the time. A refusal is part of the output, because an answer after the deadline is refused, but changes the row.
pub(super) async fn change_row(
    db: &mut Change<'_>,
    (workspace, id): (&Workspace, &str),
    now: Option<Timestamp>,
    (sealer, reader): (&Sealer, &Reader),
    step: impl FnOnce(&mut ApprovalRow) -> Result<(), StoreError>,
) -> Result<Result<ApprovalRow, StoreError>, Fault> {
    check_sealer(db, sealer).await?;
    let found = db.query(LOCK).bind(id).bind(workspace.as_str());
    let found = found.fetch_optional(&mut **db).await?;
    let found = found.ok_or_else(|| ApprovalRow::missing(id))?;
    let (before, lapses) = read_deadline(&found, reader)?;
    let mut row = before.clone();
    if let Some(now) = now {
        row.request.expires = db.clock.seen(lapses, before.request.expires, now);
    }
    let done = step(&mut row);
    row.request.expires = before.request.expires;
    if row != before {
        save(db, &before, &row, sealer).await?;
    }
    Ok(done.map(|()| row))
}

impl PostgresStore {
    /// Applies a fallible step to a row, and returns the new row. `now` is the time of [`change_row`].
    async fn settle(
        &self,
        workspace: &Workspace,
        id: &str,
        (now, is_edit): (Option<Timestamp>, bool),
        step: impl Fn(&mut ApprovalRow) -> Result<(), StoreError> + Sync,
    ) -> Result<ApprovalRow, Fault> {
        let sealer = self.contents().sealer_if(is_edit).await?;
        let reader = self.contents().reader();
        loop {
            match self
                .settle_with(workspace, id, now, (&sealer, &reader), &step)
                .await
            {
                Ok(settled) => return Ok(settled?),
                Err(fault) => reader.fetch_after(fault).await?,
            }
        }
    }

    async fn settle_with(
        &self,
        workspace: &Workspace,
        id: &str,
        now: Option<Timestamp>,
        keys: (&Sealer, &Reader),
        step: impl Fn(&mut ApprovalRow) -> Result<(), StoreError> + Sync,
    ) -> Result<Result<ApprovalRow, StoreError>, Fault> {
        change!(self, Vec::new(), db => change_row(db, (workspace, id), now, keys, &step).await)
    }

    async fn deny_requests(
        &self,
        workspace: &Workspace,
        filter: &ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> Result<u64, Fault> {
        answer.only_denies()?;
        let rows: Result<Vec<PgRow>, Fault> = change!(self, Vec::new(), db => {
            let mut denial = denial(workspace, filter, &answer, db.clock.now(answer.at));
            Ok(denial.build().persistent(db.is_named()).fetch_all(&mut **db).await?)
        });
        let rows = rows?;
        let mut denied = 0;
        for row in &rows {
            let columns = Columns::new(row, "approval", "id");
            if columns.word("status", ApprovalStatus::from_word)? == ApprovalStatus::Denied {
                denied += 1;
            }
        }
        Ok(denied)
    }
}

impl ApprovalStore for PostgresStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        step(async move {
            let sealer = self.contents().sealer().await?;
            change!(self, Vec::new(), db => {
                let lapses = db.clock.lapses(request.expires, request.created);
                open(db, &request, lapses, &sealer).await
            })
        })
    }

    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>> {
        step(async move {
            let row = fetch!(
                self,
                fetch_optional,
                sqlx::query(FIND).bind(id).bind(workspace.as_str())
            );
            let read = |reader: &Reader| row.as_ref().map(|row| read(row, reader)).transpose();
            Ok(self.contents().read(read).await?)
        })
    }

    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        let when = (Some(answer.at), answer.is_edit());
        step(self.settle(workspace, id, when, move |row| row.answer(answer.clone())))
    }

    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => {
                let spent = db.query(
                    "UPDATE tool_store.approval SET status = 'spent'
                     WHERE id = $1 AND workspace = $2 AND status = 'approved' AND nonce = $3 AND lapses > $4",
                );
                let spent = spent.bind(id).bind(workspace.as_str()).bind(nonce);
                let spent = spent.bind(db.clock.now(now)).execute(&mut **db).await?;
                Ok(spent.rows_affected() == 1)
            })
        })
    }

    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => {
                let withdrawn = db.query(
                    "UPDATE tool_store.approval SET status = 'withdrawn'
                     WHERE id = $1 AND workspace = $2 AND status IN ('pending', 'approved')",
                );
                let withdrawn = withdrawn.bind(id).bind(workspace.as_str());
                Ok(withdrawn.execute(&mut **db).await?.rows_affected() == 1)
            })
        })
    }

    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        step(self.settle(workspace, id, (None, false), move |row| {
            row.assign(assignee.clone())
        }))
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        step(async move {
            let rows = fetch!(self, fetch_all, listing(scope, filter).build());
            let read = |reader: &Reader| rows.iter().map(|row| read(row, reader)).collect();
            Ok(self.contents().read(read).await?)
        })
    }

    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64> {
        step(self.deny_requests(workspace, filter, answer))
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        step(async move {
            // Most calls find no expired approval, and need no transaction.
            let given = self.given_now(now);
            if fetch!(self, fetch_optional, expired(scope, given).build()).is_none() {
                return Ok(0);
            }
            change!(self, Vec::new(), db => {
                let mut expiry = expiry(scope, db.clock.now(now));
                Ok(expiry.build().persistent(db.is_named()).execute(&mut **db).await?.rows_affected())
            })
        })
    }
}
