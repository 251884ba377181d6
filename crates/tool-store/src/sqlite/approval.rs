//! The table of approvals in SQLite.

use crate::sql::columns::Columns;
use crate::sql::contents::{Content, Reader, Sealer};
use crate::sql::records::approval as read;
use crate::sql::sealed::place;
use crate::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus,
    ApprovalStore, CallKey, Scope, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Row as _, Sqlite};

use super::sealed::check_sealer;
use super::{Fault, SqliteStore, narrow, narrow_to_scope, page, step};

macro_rules! columns {
    () => {
        "id, kind, workspace, key, place, thread, call, tool, principal, agent, contract, arguments, policy, decision, four_eyes, reason, \
         nonce, created, expires, parent, status, assignee, verdict, edited, approver, answer_reason, answered, sealed, seal_key, edited_sealed, \
         edited_key"
    };
}

/// Returns the query for one open approval of a scope whose deadline has passed.
pub(super) fn expired(scope: Scope<'_>, now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "SELECT 1 FROM approval WHERE status IN ('pending', 'approved') AND expires <= ",
    );
    query.push_bind(now.as_millis());
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT 1");
    query
}

/// Returns the statement that marks open approvals of a scope as expired if their deadline has passed.
pub(super) fn expiry(scope: Scope<'_>, now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "UPDATE approval SET status = 'expired' WHERE status IN ('pending', 'approved') AND expires <= ",
    );
    query.push_bind(now.as_millis());
    narrow_to_scope(&mut query, scope);
    query
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &ApprovalFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM approval WHERE TRUE"));
    narrow_to_scope(&mut query, scope);
    narrow_to(&mut query, filter);
    query
}

/// The query for rows that a version before 0.2 wrote. Only a file that was just migrated has such rows.
pub(super) const WITHOUT_KEY: &str =
    "SELECT id, workspace, turn, call, parent FROM approval WHERE key IS NULL ORDER BY id";

/// Computes and stores the keys of the rows of [`WITHOUT_KEY`].
pub(super) async fn fill_keys(db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let rows = sqlx::query(WITHOUT_KEY).fetch_all(&mut *db).await?;
    for row in &rows {
        let (id, workspace): (&str, &str) = (row.try_get("id")?, row.try_get("workspace")?);
        let turn: Option<&str> = row.try_get("turn")?;
        let path: &str = row.try_get("call")?;
        let parent: Option<&str> = row.try_get("parent")?;
        let call = match parent {
            Some(_) => last_of_path(path),
            None => path,
        };
        sqlx::query("UPDATE approval SET key = ?, call = ?, parent = ? WHERE id = ?")
            .bind(CallKey::earlier(workspace, turn.unwrap_or_default(), path).as_str())
            .bind(call)
            .bind(parent.map(last_of_path))
            .bind(id)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}

/// Returns the model's id of the last call of a path `outer/number:inner`, as versions before 0.2 wrote it. Ids may contain `/` and `:`.
fn last_of_path(path: &str) -> &str {
    let mut ids = path.rmatch_indices('/').filter_map(|(at, _)| {
        let (number, id) = path[at + 1..].split_once(':')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(id)
    });
    ids.next().unwrap_or(path)
}

pub(super) async fn find(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    id: &str,
    reader: &Reader,
) -> Result<Option<ApprovalRow>, StoreError> {
    let row = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM approval WHERE id = ? AND workspace = ?"
    ))
    .bind(id)
    .bind(workspace.as_str())
    .fetch_optional(db)
    .await
    .map_err(Fault::from)?;
    row.map(|row| read(&row, reader)).transpose()
}

/// Stores the changed columns of a row. The transaction has checked the key of `sealer`.
pub(super) async fn save(
    db: &mut SqliteConnection,
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
    sqlx::query(
        "UPDATE approval SET status = ?, assignee = ?, verdict = ?, edited = ?, approver = ?, answer_reason = ?, answered = ?,
         edited_sealed = ?, edited_key = ?
         WHERE id = ? AND status IN ('pending', 'approved')",
    )
    .bind(row.status.as_str())
    .bind(&row.assignee)
    .bind(verdict)
    .bind(edited.as_ref().map(|edited| edited.text))
    .bind(answer.map(|answer| &answer.approver))
    .bind(answer.and_then(|answer| answer.reason.as_ref()))
    .bind(answer.map(|answer| answer.at.as_millis()))
    .bind(edited.as_ref().and_then(Content::sealed))
    .bind(edited.as_ref().and_then(Content::key))
    .bind(&request.id)
    .execute(db)
    .await?;
    Ok(())
}

/// Saves the status and the assignee. The answer is not written again: it may be sealed with a key that this step does not have.
async fn save_status(db: &mut SqliteConnection, row: &ApprovalRow) -> Result<(), Fault> {
    sqlx::query(
        "UPDATE approval SET status = ?, assignee = ? WHERE id = ? AND status IN ('pending', 'approved')",
    )
    .bind(row.status.as_str())
    .bind(&row.assignee)
    .bind(&row.request.id)
    .execute(db)
    .await?;
    Ok(())
}

/// Adds the conditions of a filter to a query that ends in a condition.
fn narrow_to(query: &mut QueryBuilder<Sqlite>, filter: &ApprovalFilter) {
    narrow(query, "principal", filter.principal.as_deref());
    narrow(query, "assignee", filter.assignee.as_deref());
    narrow(query, "tool", filter.tool.as_deref());
    narrow(query, "key", filter.key.as_deref());
    narrow(query, "thread", filter.thread.as_deref());
    narrow(query, "status", filter.status.map(ApprovalStatus::as_str));
    narrow(query, "kind", filter.kind.map(ApprovalKind::as_str));
    let after = filter.after.as_ref();
    let after = after.map(|(at, id)| (*at, ["", id.as_str()]));
    let order = ["created", "id"];
    page(query, order, filter.newest_first, after, filter.limit);
}

async fn open(
    db: &mut SqliteConnection,
    request: ApprovalRequest,
    sealer: &Sealer,
) -> Result<(), Fault> {
    check_sealer(db, sealer).await?;
    let workspace = request.identity.workspace();
    let place = || place::arguments(workspace, &request.id);
    let arguments = sealer.seal(&request.arguments, place)?;
    let done = sqlx::query(concat!(
            "INSERT INTO approval (",
            columns!(),
            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, ?, ?, NULL, NULL)
             ON CONFLICT (id) DO NOTHING"
        ))
        .bind(&request.id)
        .bind(request.kind.as_str())
        .bind(workspace.as_str())
        .bind(request.identity.key().as_str())
        .bind(request.identity.to_column())
        .bind(&request.thread)
        .bind(&request.call)
        .bind(&request.tool)
        .bind(&request.principal)
        .bind(&request.agent)
        .bind(&request.contract)
        .bind(arguments.text)
        .bind(&request.policy)
        .bind(&request.decision)
        .bind(request.four_eyes)
        .bind(&request.reason)
        .bind(&request.nonce)
        .bind(request.created.as_millis())
        .bind(request.expires.as_millis())
        .bind(&request.parent)
        .bind(arguments.sealed())
        .bind(arguments.key())
        .execute(db)
        .await?;
    if done.rows_affected() == 0 {
        return Err(request.exists().into());
    }
    Ok(())
}

impl SqliteStore {
    /// Applies a fallible step to a row, and returns the new row.
    async fn settle(
        &self,
        workspace: &Workspace,
        id: &str,
        is_edit: bool,
        step: impl FnOnce(&mut ApprovalRow) -> Result<(), StoreError> + Clone + Send + 'static,
    ) -> Result<ApprovalRow, Fault> {
        let sealer = self.contents.sealer_if(is_edit).await?;
        let reader = self.contents.reader();
        loop {
            let (workspace, id, step) = (workspace.clone(), id.to_owned(), step.clone());
            let (sealer, rows) = (sealer.clone(), reader.clone());
            let settled = self.change(move |db| {
                Box::pin(async move {
                    check_sealer(db, &sealer).await?;
                    let before = find(&mut *db, &workspace, &id, &rows).await?;
                    let before = before.ok_or_else(|| ApprovalRow::missing(&id))?;
                    let mut row = before.clone();
                    let done = step(&mut row);
                    // An answer after the deadline is refused, but changes the row.
                    if row != before {
                        save(db, &before, &row, &sealer).await?;
                    }
                    Ok(done.map(|()| row))
                })
            });
            match settled.await {
                Ok(settled) => return Ok(settled?),
                Err(fault) => reader.fetch_after(fault).await?,
            }
        }
    }

    async fn deny_requests(
        &self,
        workspace: &Workspace,
        filter: &ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> Result<u64, Fault> {
        answer.only_denies()?;
        let at = answer.at.as_millis();
        // This is one statement, so that the filter's limit counts expired requests, too.
        let mut denial = QueryBuilder::new(
            "UPDATE approval SET (status, verdict, approver, answer_reason, answered) = \
             (SELECT 'expired', NULL, NULL, NULL, NULL WHERE expires <= ",
        );
        denial.push_bind(at);
        denial.push(" UNION ALL SELECT 'denied', 'deny', ");
        denial.push_bind(answer.approver.clone()).push(", ");
        denial.push_bind(answer.reason).push(", ");
        denial.push_bind(at).push(" WHERE expires > ");
        denial.push_bind(at);
        denial.push(") WHERE id IN (SELECT id FROM approval WHERE status = 'pending'");
        narrow_to_scope(&mut denial, Scope::Workspace(workspace));
        narrow_to(&mut denial, filter);
        denial.push(") AND (expires <= ").push_bind(at);
        denial.push(" OR NOT four_eyes OR principal <> ");
        denial.push_bind(answer.approver).push(") RETURNING status");

        let rows = self
            .change(|db| Box::pin(async move { Ok(denial.build().fetch_all(db).await?) }))
            .await?;
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

impl ApprovalStore for SqliteStore {
    fn is_durable(&self) -> bool {
        self.durable
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        step(async move {
            let sealer = self.contents.sealer().await?;
            self.change(|db| Box::pin(async move { open(db, request, &sealer).await }))
                .await
        })
    }

    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>> {
        step(async move {
            let reader = self.contents.reader();
            loop {
                let mut connection = self.readers.acquire().await?;
                let found = find(&mut connection, workspace, id, &reader).await;
                // A database in memory has one connection, which the vault may need.
                drop(connection);
                match found {
                    Ok(row) => return Ok(row),
                    Err(error) => reader.fetch_after(error).await?,
                }
            }
        })
    }

    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        let is_edit = answer.is_edit();
        step(self.settle(workspace, id, is_edit, move |row| row.answer(answer)))
    }

    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let spent = sqlx::query(
                "UPDATE approval SET status = 'spent'
                 WHERE id = ? AND workspace = ? AND status = 'approved' AND nonce = ? AND expires > ?",
            );
            let spent = spent.bind(id).bind(workspace.as_str()).bind(nonce);
            let spent = spent.bind(now.as_millis());
            Ok(self.update(spent).await? == 1)
        })
    }

    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        step(async move {
            let withdrawn = sqlx::query(
                "UPDATE approval SET status = 'withdrawn'
                 WHERE id = ? AND workspace = ? AND status IN ('pending', 'approved')",
            );
            let withdrawn = withdrawn.bind(id).bind(workspace.as_str());
            Ok(self.update(withdrawn).await? == 1)
        })
    }

    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        step(self.settle(workspace, id, false, move |row| row.assign(assignee)))
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        step(async move {
            let rows = listing(scope, filter)
                .build()
                .fetch_all(&self.readers)
                .await?;
            let read = |reader: &Reader| rows.iter().map(|row| read(row, reader)).collect();
            Ok(self.contents.read(read).await?)
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
            // Most calls find no expired approval, and must not block other writers.
            if self.has_none(expired(scope, now)).await? {
                return Ok(0);
            }
            self.update_built(expiry(scope, now)).await
        })
    }
}
