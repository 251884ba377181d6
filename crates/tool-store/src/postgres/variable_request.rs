//! Requests for variables in PostgreSQL.

use crate::sql::records::variable_request as read;
use crate::store::{
    Scope, StoreFuture, ThreadId, Timestamp, VariableRequest, VariableRequestStore, VariableRow,
    Workspace,
};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::{Fault, PostgresStore, narrow, narrow_to_scope, step, variable};
use crate::sql::enablement::json;

macro_rules! select {
    () => {
        "SELECT workspace, id, conversation, agent, level, owner, required, missing, at FROM tool_store.variable_request WHERE workspace = $1 AND "
    };
}

const ONE: &str = concat!(select!(), "id = $2");
/// The query for one request, with a lock on the row.
const LOCK: &str = concat!(select!(), "id = $2 FOR UPDATE");
const OF_THREAD: &str = concat!(select!(), "conversation = $2 ORDER BY id");

async fn open(db: &mut Change<'_>, request: &VariableRequest) -> Result<(), Fault> {
    let done = db.query(
        "INSERT INTO tool_store.variable_request (workspace, id, conversation, agent, level, owner, required, missing, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (workspace, id) DO NOTHING",
    )
    .bind(request.workspace().as_str())
    .bind(&request.id)
    .bind(request.thread.conversation())
    .bind(&request.agent)
    .bind(request.target.level().as_str())
    .bind(request.target.owner())
    .bind(json(&request.required))
    .bind(json(&request.missing))
    .bind(request.at.as_millis())
    .execute(&mut **db)
    .await?;
    if done.rows_affected() == 0 {
        return Err(request.exists().into());
    }
    Ok(())
}

pub(super) async fn answer(
    db: &mut Change<'_>,
    workspace: &Workspace,
    id: &str,
    rows: &[VariableRow],
) -> Result<Vec<String>, Fault> {
    let row = db.query(LOCK).bind(workspace.as_str()).bind(id);
    let row = row.fetch_optional(&mut **db).await?;
    let row = row.ok_or_else(|| VariableRequest::gone(id))?;
    let missing = read(&row)?.answered(rows)?;
    variable::put(db, rows).await?;
    let done = if missing.is_empty() {
        db.query("DELETE FROM tool_store.variable_request WHERE workspace = $1 AND id = $2")
            .bind(workspace.as_str())
            .bind(id)
    } else {
        db.query(
            "UPDATE tool_store.variable_request SET missing = $3 WHERE workspace = $1 AND id = $2",
        )
        .bind(workspace.as_str())
        .bind(id)
        .bind(json(&missing))
    };
    done.execute(&mut **db).await?;
    Ok(missing)
}

/// Returns the statement that removes the requests of a thread.
pub(super) fn removal(thread: &ThreadId) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new("DELETE FROM tool_store.variable_request WHERE TRUE");
    narrow(&mut query, "workspace", Some(thread.workspace().as_str()));
    narrow(&mut query, "conversation", Some(thread.conversation()));
    query
}

/// Returns the statement that removes requests of a scope that were opened before a time.
pub(super) fn expiry(scope: Scope<'_>, since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "DELETE FROM tool_store.variable_request WHERE ctid = ANY(ARRAY(SELECT ctid FROM tool_store.variable_request WHERE at < ",
    );
    query.push_bind(since.as_millis());
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT ").push_bind(i64::from(most));
    query.push(" FOR UPDATE SKIP LOCKED))");
    query
}

impl VariableRequestStore for PostgresStore {
    fn open_request(&self, request: VariableRequest) -> StoreFuture<'_, ()> {
        step(async move {
            request.check()?;
            change!(self, Vec::new(), db => open(db, &request).await)
        })
    }

    fn request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<VariableRequest>> {
        step(async move {
            let row = fetch!(
                self,
                fetch_optional,
                sqlx::query(ONE).bind(workspace.as_str()).bind(id)
            );
            Ok(row.as_ref().map(read).transpose()?)
        })
    }

    fn requests<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Vec<VariableRequest>> {
        step(async move {
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(OF_THREAD)
                    .bind(thread.workspace().as_str())
                    .bind(thread.conversation())
            );
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn answer_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        rows: Vec<VariableRow>,
    ) -> StoreFuture<'a, Vec<String>> {
        step(async move { change!(self, Vec::new(), db => answer(db, workspace, id, &rows).await) })
    }

    fn withdraw_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let withdrawal = || {
                let mut query =
                    QueryBuilder::new("DELETE FROM tool_store.variable_request WHERE TRUE");
                narrow(&mut query, "workspace", Some(workspace.as_str()));
                narrow(&mut query, "id", Some(id));
                query
            };
            Ok(self.remove_rows(withdrawal).await? > 0)
        })
    }

    fn expire_requests<'a>(
        &'a self,
        scope: Scope<'a>,
        since: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, u64> {
        step(self.remove_rows(move || expiry(scope, since, most)))
    }
}
