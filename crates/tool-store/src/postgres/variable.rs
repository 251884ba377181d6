//! The vault's variables in PostgreSQL.

use crate::sql::records::{variable as read, variable_info};
use crate::store::{
    Sealed, StoreFuture, VariableFilter, VariableInfo, VariableLevel, VariableRow, VariableScope,
    VariableStore, VariableValue, Workspace,
};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::sealed::check_use;
use super::text::storable;
use super::{Fault, PostgresStore, narrow, step};

/// Inserts variables, or replaces the variables of the same owner and name. Refuses an id that a different variable has.
pub(super) async fn put(db: &mut Change<'_>, rows: &[VariableRow]) -> Result<(), Fault> {
    for row in rows {
        row.check()?;
        let (value, sealed) = match &row.value {
            VariableValue::Clear(text) => (Some(text.as_str()), None),
            VariableValue::Sealed(sealed) => (None, Some(sealed)),
        };
        if let Some(sealed) = sealed {
            check_use(db, sealed.key()).await?;
        }
        let taken = db
            .query(
                "SELECT 1 FROM tool_store.variable WHERE workspace = $1 AND id = $2 AND (level <> $3 OR owner <> $4 OR name <> $5)",
            )
            .bind(row.scope.in_workspace().as_str())
            .bind(&row.id)
            .bind(row.scope.level().as_str())
            .bind(row.scope.owner())
            .bind(&row.name)
            .fetch_optional(&mut **db)
            .await?;
        if taken.is_some() {
            return Err(row.place().taken().into());
        }
        db.query(
            "INSERT INTO tool_store.variable (workspace, level, owner, name, id, kind, value, sealed, seal_key, set_by, at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
             ON CONFLICT (workspace, level, owner, name) DO UPDATE SET id = excluded.id, kind = excluded.kind, value = excluded.value,
             sealed = excluded.sealed, seal_key = excluded.seal_key, set_by = excluded.set_by, at = excluded.at",
        )
        .bind(row.scope.in_workspace().as_str())
        .bind(row.scope.level().as_str())
        .bind(row.scope.owner())
        .bind(&row.name)
        .bind(&row.id)
        .bind(row.kind.as_str())
        .bind(value.map(storable))
        .bind(sealed.map(Sealed::as_bytes))
        .bind(sealed.map(|sealed| sealed.key().as_str()))
        .bind(&row.by)
        .bind(row.at.as_millis())
        .execute(&mut **db)
        .await?;
    }
    Ok(())
}

/// Narrows a query that ends in a condition to the variables of an owner.
fn narrow_to_owner(query: &mut QueryBuilder<Postgres>, scope: &VariableScope) {
    narrow(query, "workspace", Some(scope.in_workspace().as_str()));
    narrow(query, "level", Some(scope.level().as_str()));
    narrow(query, "owner", Some(scope.owner()));
}

/// Returns the statement that removes the variables of an owner.
pub(super) fn removal(scope: &VariableScope) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new("DELETE FROM tool_store.variable WHERE TRUE");
    narrow_to_owner(&mut query, scope);
    query
}

/// Returns the query for the variables of some owners.
fn owned(scopes: &[VariableScope]) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "SELECT workspace, level, owner, name, id, kind, value, sealed, set_by, at FROM tool_store.variable WHERE FALSE",
    );
    for scope in scopes {
        query.push(" OR (TRUE");
        narrow_to_owner(&mut query, scope);
        query.push(")");
    }
    query.push(" ORDER BY workspace, level, owner, name");
    query
}

/// Returns the query for the variables of a workspace that match a filter, without sealed values.
pub(super) fn listing(workspace: &Workspace, filter: &VariableFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "SELECT level, owner, name, kind, value, set_by, at FROM tool_store.variable WHERE workspace = ",
    );
    query.push_bind(workspace.to_string());
    narrow(&mut query, "level", filter.level.map(VariableLevel::as_str));
    narrow(&mut query, "owner", filter.owner.as_deref());
    if let Some((level, owner, name)) = &filter.after {
        query.push(" AND (level, owner, name) > (");
        query.push_bind(level.as_str()).push(", ");
        query.push_bind(owner.clone()).push(", ");
        query.push_bind(name.clone()).push(")");
    }
    query.push(" ORDER BY level, owner, name");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    query
}

impl VariableStore for PostgresStore {
    fn put_variables(&self, rows: Vec<VariableRow>) -> StoreFuture<'_, ()> {
        step(async move { change!(self, Vec::new(), db => put(db, &rows).await) })
    }

    fn variables<'a>(&'a self, scopes: &'a [VariableScope]) -> StoreFuture<'a, Vec<VariableRow>> {
        step(async move {
            if scopes.is_empty() {
                return Ok(Vec::new());
            }
            let rows = fetch!(self, fetch_all, owned(scopes).build());
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn list_variables<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a VariableFilter,
    ) -> StoreFuture<'a, Vec<VariableInfo>> {
        step(async move {
            let rows = fetch!(self, fetch_all, listing(workspace, filter).build());
            Ok(rows.iter().map(variable_info).collect::<Result<_, _>>()?)
        })
    }

    fn remove_variable<'a>(
        &'a self,
        scope: &'a VariableScope,
        name: &'a str,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let removal = || {
                let mut query = removal(scope);
                narrow(&mut query, "name", Some(name));
                query
            };
            Ok(self.remove_rows(removal).await? > 0)
        })
    }

    fn remove_variables<'a>(&'a self, scope: &'a VariableScope) -> StoreFuture<'a, u64> {
        step(self.remove_rows(|| removal(scope)))
    }
}
