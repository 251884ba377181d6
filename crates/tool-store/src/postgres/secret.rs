//! Sealed secrets in PostgreSQL.

use crate::sql::records::{secret as read, secret_info};
use crate::store::{
    Scope, SecretFilter, SecretInfo, SecretRow, SecretStore, StoreFuture, Timestamp, Workspace,
};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::sealed::check_use;
use super::{Fault, PostgresStore, narrow_to_scope, step};

/// The query for secrets by their names.
const FIND: &str = "SELECT workspace, name, id, sealed, set_by, at FROM tool_store.secret \
     WHERE workspace = $1 AND name = ANY($2) ORDER BY name";

/// The query for one secret, with a lock on the row.
const LOCK: &str = "SELECT workspace, name, id, sealed, set_by, at FROM tool_store.secret \
     WHERE workspace = $1 AND name = $2 FOR UPDATE";

pub(super) async fn put(db: &mut Change<'_>, row: &SecretRow) -> Result<(), Fault> {
    check_use(db, row.sealed.key()).await?;
    let taken = db
        .query("SELECT 1 FROM tool_store.secret WHERE workspace = $1 AND id = $2 AND name <> $3")
        .bind(row.workspace.as_str())
        .bind(&row.id)
        .bind(&row.name)
        .fetch_optional(&mut **db)
        .await?;
    if taken.is_some() {
        return Err(row.place().taken().into());
    }
    db.query(
        "INSERT INTO tool_store.secret (workspace, name, id, sealed, seal_key, set_by, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (workspace, name) DO UPDATE SET id = excluded.id, sealed = excluded.sealed, seal_key = excluded.seal_key,
         set_by = excluded.set_by, at = excluded.at",
    )
    .bind(row.workspace.as_str())
    .bind(&row.name)
    .bind(&row.id)
    .bind(row.sealed.as_bytes())
    .bind(row.sealed.key().as_str())
    .bind(&row.by)
    .bind(row.at.as_millis())
    .execute(&mut **db)
    .await?;
    Ok(())
}

async fn lock(
    db: &mut Change<'_>,
    workspace: &Workspace,
    name: &str,
) -> Result<Option<SecretRow>, Fault> {
    let row = db.query(LOCK).bind(workspace.as_str()).bind(name);
    let row = row.fetch_optional(&mut **db).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Renames a secret. Returns false if it does not exist.
async fn rename(
    db: &mut Change<'_>,
    workspace: &Workspace,
    from: &str,
    to: &str,
    by: &str,
    at: Timestamp,
) -> Result<bool, Fault> {
    let Some(row) = lock(db, workspace, from).await? else {
        return Ok(false);
    };
    let renamed = SecretRow {
        name: to.to_owned(),
        by: by.to_owned(),
        at,
        ..row
    };
    renamed.check()?;
    if from != to && lock(db, workspace, to).await?.is_some() {
        return Err(SecretRow::taken(to).into());
    }
    db.query(
        "UPDATE tool_store.secret SET name = $1, set_by = $2, at = $3 WHERE workspace = $4 AND name = $5",
    )
    .bind(&renamed.name)
    .bind(&renamed.by)
    .bind(at.as_millis())
    .bind(workspace.as_str())
    .bind(from)
    .execute(&mut **db)
    .await?;
    Ok(true)
}

/// Returns the query for the secrets of a scope, without their values.
pub(super) fn listing(scope: Scope<'_>, filter: &SecretFilter) -> QueryBuilder<Postgres> {
    let mut query =
        QueryBuilder::new("SELECT workspace, name, set_by, at FROM tool_store.secret WHERE TRUE");
    narrow_to_scope(&mut query, scope);
    if let Some((workspace, name)) = &filter.after {
        query.push(" AND (workspace, name) > (");
        query.push_bind(workspace.to_string()).push(", ");
        query.push_bind(name.clone()).push(")");
    }
    query.push(" ORDER BY workspace, name");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    query
}

impl SecretStore for PostgresStore {
    fn put_secret(&self, row: SecretRow) -> StoreFuture<'_, ()> {
        step(async move {
            row.check()?;
            change!(self, Vec::new(), db => put(db, &row).await)
        })
    }

    fn secrets<'a>(
        &'a self,
        workspace: &'a Workspace,
        names: &'a [String],
    ) -> StoreFuture<'a, Vec<SecretRow>> {
        step(async move {
            if names.is_empty() {
                return Ok(Vec::new());
            }
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(FIND).bind(workspace.as_str()).bind(names)
            );
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn list_secrets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SecretFilter,
    ) -> StoreFuture<'a, Vec<SecretInfo>> {
        step(async move {
            let rows = fetch!(self, fetch_all, listing(scope, filter).build());
            Ok(rows.iter().map(secret_info).collect::<Result<_, _>>()?)
        })
    }

    fn rename_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        from: &'a str,
        to: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => rename(db, workspace, from, to, by, at).await)
        })
    }

    fn remove_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        name: &'a str,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => {
                let removed = db.query("DELETE FROM tool_store.secret WHERE workspace = $1 AND name = $2");
                let removed = removed.bind(workspace.as_str()).bind(name);
                Ok(removed.execute(&mut **db).await?.rows_affected() > 0)
            })
        })
    }
}
