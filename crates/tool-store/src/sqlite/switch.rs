//! Kill switches, disables and enablement in SQLite.

use crate::sql::columns::Columns;
use crate::sql::records::switch as read;
use crate::store::{
    Scope, StoreFuture, Switch, SwitchFilter, SwitchKey, SwitchKind, SwitchStore, Timestamp,
    Workspace,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, narrow, step};

macro_rules! columns {
    () => {
        "reach, workspace, kind, tool, source, is_on, set_by, reason, at"
    };
}

macro_rules! order {
    () => {
        " ORDER BY reach, workspace, kind, tool, source"
    };
}

/// The query for the kill switches and disables that are on.
pub(super) const IN_FORCE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM switch WHERE is_on = 1 AND kind <> 'enable'",
    order!()
);

/// The query for the enablement rows that apply to all workspaces, and then for the rows of one workspace.
pub(super) const ENABLEMENT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM switch WHERE reach = 0 AND workspace = '' AND kind = 'enable' UNION ALL SELECT ",
    columns!(),
    " FROM switch WHERE reach = 1 AND workspace = ? AND kind = 'enable'",
    order!()
);

/// Returns the query for the switches of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &SwitchFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM switch WHERE TRUE"));
    narrow_to_own(&mut query, scope);
    narrow(&mut query, "kind", filter.kind.map(SwitchKind::as_str));
    narrow(&mut query, "tool", filter.tool.as_deref());
    if let Some(on) = filter.on {
        query.push(" AND is_on = ").push_bind(on);
    }
    if let Some(after) = &filter.after {
        let (reach, workspace) = place(after);
        query.push(" AND (reach, workspace, kind, tool, source) > (");
        query.push_bind(reach).push(", ");
        query.push_bind(workspace.to_owned()).push(", ");
        query.push_bind(after.kind.as_str()).push(", ");
        query.push_bind(after.tool.clone()).push(", ");
        query.push_bind(after.source.clone()).push(")");
    }
    query.push(order!());
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(limit);
    }
    query
}

/// Returns the statement that removes kill switches and disables of a scope that were turned off before a time.
pub(super) fn retirement(scope: Scope<'_>, since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM switch WHERE (reach, workspace, kind, tool, source) IN \
         (SELECT reach, workspace, kind, tool, source FROM switch WHERE is_on = 0 AND kind <> 'enable' AND at < ",
    );
    query.push_bind(since.as_millis());
    narrow_to_own(&mut query, scope);
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Narrows a query that ends in a condition to the switches of a scope's workspace.
fn narrow_to_own(query: &mut QueryBuilder<Sqlite>, scope: Scope<'_>) {
    if let Some(workspace) = scope.workspace() {
        query.push(" AND reach = 1");
        narrow(query, "workspace", Some(workspace.as_str()));
    }
}

/// Returns the values of a key for the columns `reach` and `workspace`.
fn place(key: &SwitchKey) -> (i64, &str) {
    match &key.workspace {
        None => (0, ""),
        Some(workspace) => (1, workspace.as_str()),
    }
}

fn all(rows: &[SqliteRow]) -> Result<Vec<Switch>, Fault> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Reads the switch of a key.
pub(super) async fn find(
    db: &mut SqliteConnection,
    key: &SwitchKey,
) -> Result<Option<Switch>, Fault> {
    let (reach, workspace) = place(key);
    let row = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM switch WHERE reach = ? AND workspace = ? AND kind = ? AND tool = ? AND source = ?"
    ))
    .bind(reach)
    .bind(workspace)
    .bind(key.kind.as_str())
    .bind(&key.tool)
    .bind(&key.source)
    .fetch_optional(db)
    .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

pub(super) async fn set(db: &mut SqliteConnection, switch: Switch) -> Result<bool, Fault> {
    let (reach, workspace) = place(&switch.key);
    let before: Option<bool> = sqlx::query_scalar(
            "SELECT is_on FROM switch WHERE reach = ? AND workspace = ? AND kind = ? AND tool = ? AND source = ?",
        )
        .bind(reach)
        .bind(workspace)
        .bind(switch.key.kind.as_str())
        .bind(&switch.key.tool)
        .bind(&switch.key.source)
        .fetch_optional(&mut *db)
        .await?;
    sqlx::query(concat!(
        "REPLACE INTO switch (",
        columns!(),
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ))
    .bind(reach)
    .bind(workspace)
    .bind(switch.key.kind.as_str())
    .bind(&switch.key.tool)
    .bind(&switch.key.source)
    .bind(switch.on)
    .bind(&switch.by)
    .bind(&switch.reason)
    .bind(switch.at.as_millis())
    .execute(&mut *db)
    .await?;
    sqlx::query("UPDATE switch_version SET version = version + 1")
        .execute(&mut *db)
        .await?;
    Ok(before.unwrap_or(false) != switch.on)
}

impl SwitchStore for SqliteStore {
    fn is_durable(&self) -> bool {
        self.durable
    }

    fn set(&self, switch: Switch) -> StoreFuture<'_, bool> {
        step(async move {
            switch.check()?;
            self.change(|db| Box::pin(set(db, switch))).await
        })
    }

    fn version(&self) -> StoreFuture<'_, u64> {
        step(async move {
            let row = sqlx::query("SELECT 'all' AS name, version FROM switch_version")
                .fetch_one(&self.readers)
                .await?;
            Ok(Columns::new(&row, "switch_version", "name").number("version")?)
        })
    }

    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>> {
        step(async move { all(&sqlx::query(IN_FORCE).fetch_all(&self.readers).await?) })
    }

    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>> {
        step(async move {
            let rows = sqlx::query(ENABLEMENT).bind(workspace.as_str());
            all(&rows.fetch_all(&self.readers).await?)
        })
    }

    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>> {
        step(async move {
            let mut query = listing(scope, filter);
            all(&query.build().fetch_all(&self.readers).await?)
        })
    }

    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64> {
        step(async move { self.update_built(retirement(scope, since, most)).await })
    }
}
