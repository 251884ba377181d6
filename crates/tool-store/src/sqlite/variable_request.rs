//! Requests for variables in SQLite.

use crate::sql::records::variable_request as read;
use crate::store::{
    Scope, StoreError, StoreFuture, ThreadId, Timestamp, VariableRequest, VariableRequestStore,
    VariableRow, Workspace,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, narrow, narrow_to_scope, step, variable};

macro_rules! select {
    () => {
        "SELECT workspace, id, conversation, agent, level, owner, required, missing, at FROM variable_request WHERE workspace = ? AND "
    };
}

const ONE: &str = concat!(select!(), "id = ?");
const OF_THREAD: &str = concat!(select!(), "conversation = ? ORDER BY id");

fn text(value: &impl serde::Serialize) -> Result<String, Fault> {
    let text = serde_json::to_string(value);
    Ok(text.map_err(|error| StoreError::Corrupt(error.to_string()))?)
}

async fn open(db: &mut SqliteConnection, request: VariableRequest) -> Result<(), Fault> {
    let done = sqlx::query(
        "INSERT INTO variable_request (workspace, id, conversation, agent, level, owner, required, missing, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, id) DO NOTHING",
    )
    .bind(request.workspace().as_str())
    .bind(&request.id)
    .bind(request.thread.conversation())
    .bind(&request.agent)
    .bind(request.target.level().as_str())
    .bind(request.target.owner())
    .bind(text(&request.required)?)
    .bind(text(&request.missing)?)
    .bind(request.at.as_millis())
    .execute(db)
    .await?;
    if done.rows_affected() == 0 {
        return Err(request.exists().into());
    }
    Ok(())
}

pub(super) async fn answer(
    db: &mut SqliteConnection,
    workspace: Workspace,
    id: String,
    rows: Vec<VariableRow>,
) -> Result<Vec<String>, Fault> {
    let row = sqlx::query(ONE)
        .bind(workspace.as_str())
        .bind(&id)
        .fetch_optional(&mut *db)
        .await?;
    let row = row.ok_or_else(|| VariableRequest::gone(&id))?;
    let missing = read(&row)?.answered(&rows)?;
    variable::put(&mut *db, rows).await?;
    let done = if missing.is_empty() {
        sqlx::query("DELETE FROM variable_request WHERE workspace = ? AND id = ?")
    } else {
        let update = "UPDATE variable_request SET missing = ? WHERE workspace = ? AND id = ?";
        sqlx::query(update).bind(text(&missing)?)
    };
    done.bind(workspace.as_str()).bind(&id).execute(db).await?;
    Ok(missing)
}

/// Returns the statement that removes the requests of a thread.
pub(super) fn removal(thread: &ThreadId) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("DELETE FROM variable_request WHERE TRUE");
    narrow(&mut query, "workspace", Some(thread.workspace().as_str()));
    narrow(&mut query, "conversation", Some(thread.conversation()));
    query
}

impl VariableRequestStore for SqliteStore {
    fn open_request(&self, request: VariableRequest) -> StoreFuture<'_, ()> {
        step(async move {
            request.check()?;
            self.change(|db| Box::pin(open(db, request))).await
        })
    }

    fn request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<VariableRequest>> {
        step(async move {
            let row = sqlx::query(ONE).bind(workspace.as_str()).bind(id);
            let row = row.fetch_optional(&self.readers).await?;
            Ok(row.as_ref().map(read).transpose()?)
        })
    }

    fn requests<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Vec<VariableRequest>> {
        step(async move {
            let rows = sqlx::query(OF_THREAD)
                .bind(thread.workspace().as_str())
                .bind(thread.conversation())
                .fetch_all(&self.readers)
                .await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn answer_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        rows: Vec<VariableRow>,
    ) -> StoreFuture<'a, Vec<String>> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        step(self.change(|db| Box::pin(answer(db, workspace, id, rows))))
    }

    fn withdraw_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let query = sqlx::query("DELETE FROM variable_request WHERE workspace = ? AND id = ?")
                .bind(workspace.to_string())
                .bind(id.to_owned());
            Ok(self.update(query).await? > 0)
        })
    }

    fn expire_requests<'a>(
        &'a self,
        scope: Scope<'a>,
        since: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, u64> {
        step(async move {
            let mut query = QueryBuilder::<Sqlite>::new(
                "DELETE FROM variable_request WHERE (workspace, id) IN (SELECT workspace, id FROM variable_request WHERE at < ",
            );
            query.push_bind(since.as_millis());
            narrow_to_scope(&mut query, scope);
            query.push(" LIMIT ").push_bind(most).push(")");
            self.update_built(query).await
        })
    }
}
