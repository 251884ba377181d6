//! Sealed secrets in SQLite.

use crate::sql::records::{secret as read, secret_info};
use crate::store::{
    Scope, SecretFilter, SecretInfo, SecretRow, SecretStore, StoreFuture, Timestamp, Workspace,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use super::sealed::check_use;
use super::{Fault, SqliteStore, narrow_to_scope, step};

pub(super) async fn put(db: &mut SqliteConnection, row: SecretRow) -> Result<(), Fault> {
    check_use(db, row.sealed.key()).await?;
    let taken = sqlx::query("SELECT 1 FROM secret WHERE workspace = ? AND id = ? AND name <> ?")
        .bind(row.workspace.as_str())
        .bind(&row.id)
        .bind(&row.name)
        .fetch_optional(&mut *db)
        .await?;
    if taken.is_some() {
        return Err(row.place().taken().into());
    }
    sqlx::query(
        "INSERT INTO secret (workspace, name, id, sealed, seal_key, set_by, at) VALUES (?, ?, ?, ?, ?, ?, ?)
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
    .execute(db)
    .await?;
    Ok(())
}

/// Renames a secret. Returns false if it does not exist.
async fn rename(
    db: &mut SqliteConnection,
    workspace: Workspace,
    from: String,
    to: String,
    by: String,
    at: Timestamp,
) -> Result<bool, Fault> {
    let find = |name: String| {
        sqlx::query(
            "SELECT workspace, name, id, sealed, set_by, at FROM secret WHERE workspace = ? AND name = ?",
        )
        .bind(workspace.to_string())
        .bind(name)
    };
    let Some(row) = find(from.clone()).fetch_optional(&mut *db).await? else {
        return Ok(false);
    };
    let renamed = SecretRow {
        name: to.clone(),
        by,
        at,
        ..read(&row)?
    };
    renamed.check()?;
    if from != to && find(to.clone()).fetch_optional(&mut *db).await?.is_some() {
        return Err(SecretRow::taken(&to).into());
    }
    sqlx::query("UPDATE secret SET name = ?, set_by = ?, at = ? WHERE workspace = ? AND name = ?")
        .bind(&renamed.name)
        .bind(&renamed.by)
        .bind(at.as_millis())
        .bind(workspace.as_str())
        .bind(&from)
        .execute(db)
        .await?;
    Ok(true)
}

impl SecretStore for SqliteStore {
    fn put_secret(&self, row: SecretRow) -> StoreFuture<'_, ()> {
        step(async move {
            row.check()?;
            self.change(|db| Box::pin(put(db, row))).await
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
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT workspace, name, id, sealed, set_by, at FROM secret WHERE workspace = ",
            );
            query.push_bind(workspace.as_str()).push(" AND name IN (");
            let mut list = query.separated(", ");
            for name in names {
                list.push_bind(name);
            }
            query.push(") ORDER BY name");
            let rows = query.build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn list_secrets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SecretFilter,
    ) -> StoreFuture<'a, Vec<SecretInfo>> {
        step(async move {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT workspace, name, set_by, at FROM secret WHERE TRUE",
            );
            narrow_to_scope(&mut query, scope);
            if let Some((workspace, name)) = &filter.after {
                query.push(" AND (workspace, name) > (");
                query.push_bind(workspace.as_str()).push(", ");
                query.push_bind(name).push(")");
            }
            query.push(" ORDER BY workspace, name");
            if let Some(limit) = filter.limit {
                query.push(" LIMIT ").push_bind(limit);
            }
            let rows = query.build().fetch_all(&self.readers).await?;
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
        let (workspace, from) = (workspace.clone(), from.to_owned());
        let (to, by) = (to.to_owned(), by.to_owned());
        step(self.change(move |db| Box::pin(rename(db, workspace, from, to, by, at))))
    }

    fn remove_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        name: &'a str,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let query = sqlx::query("DELETE FROM secret WHERE workspace = ? AND name = ?")
                .bind(workspace.to_string())
                .bind(name.to_owned());
            Ok(self.update(query).await? > 0)
        })
    }
}
