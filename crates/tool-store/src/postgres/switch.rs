//! Kill switches, disables and enablement in PostgreSQL.

use crate::sql::columns::Columns;
use crate::sql::records::switch as read;
use crate::store::{
    Expected, Scope, StoreFuture, Switch, SwitchFilter, SwitchKey, SwitchKind, SwitchStore,
    Timestamp, Workspace,
};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::text::storable;
use super::{Fault, PostgresStore, narrow, step};

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

/// The name of the generation that counts changes of switches.
pub(super) const GENERATION: &str = "switches";

/// The query for the kill switches and disables that are on.
pub(super) const IN_FORCE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.switch WHERE is_on AND kind <> 'enable'",
    order!()
);

/// The query for the enablement rows that apply to all workspaces, and then for the rows of one workspace.
pub(super) const ENABLEMENT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.switch WHERE reach = 0 AND workspace = '' AND kind = 'enable' UNION ALL SELECT ",
    columns!(),
    " FROM tool_store.switch WHERE reach = 1 AND workspace = $1 AND kind = 'enable'",
    order!()
);

/// Returns the query for the switches of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &SwitchFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.switch WHERE TRUE"
    ));
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
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    query
}

/// Returns the statement that removes kill switches and disables of a scope that were turned off before a time.
pub(super) fn retirement(scope: Scope<'_>, since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "DELETE FROM tool_store.switch WHERE ctid = ANY(ARRAY(SELECT ctid FROM tool_store.switch WHERE NOT is_on AND kind <> 'enable' AND at < ",
    );
    query.push_bind(since.as_millis());
    narrow_to_own(&mut query, scope);
    query.push(" LIMIT ").push_bind(i64::from(most));
    query.push(" FOR UPDATE SKIP LOCKED))");
    query
}

/// Narrows a query that ends in a condition to the switches of a scope's workspace.
fn narrow_to_own(query: &mut QueryBuilder<Postgres>, scope: Scope<'_>) {
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

fn all(rows: &[PgRow]) -> Result<Vec<Switch>, Fault> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Raises the generation. The lock of its row makes changes of switches run one after the other: a process that reads a number can also read every
/// change up to this number.
async fn raise_generation(db: &mut Change<'_>) -> Result<(), Fault> {
    db.query("UPDATE tool_store.generation SET number = number + 1 WHERE name = 'switches'")
        .execute(&mut **db)
        .await?;
    Ok(())
}

/// Reads the switch of a key.
async fn find(db: &mut Change<'_>, key: &SwitchKey) -> Result<Option<Switch>, Fault> {
    let (reach, workspace) = place(key);
    let row = db.query(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.switch WHERE reach = $1 AND workspace = $2 AND kind = $3 AND tool = $4 AND source = $5"
    ))
    .bind(reach)
    .bind(workspace)
    .bind(key.kind.as_str())
    .bind(&key.tool)
    .bind(&key.source)
    .fetch_optional(&mut **db)
    .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Stores a switch if the stored switch matches `expected`. Returns whether the switch was turned on or off.
pub(super) async fn set(
    db: &mut Change<'_>,
    switch: &Switch,
    expected: &Expected<Switch>,
) -> Result<bool, Fault> {
    raise_generation(db).await?;
    let stored = find(db, &switch.key).await?;
    expected.check(stored.as_ref())?;
    let (reach, workspace) = place(&switch.key);
    db.query(concat!(
        "INSERT INTO tool_store.switch (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (reach, workspace, kind, tool, source) \
         DO UPDATE SET is_on = excluded.is_on, set_by = excluded.set_by, reason = excluded.reason, at = excluded.at"
    ))
    .bind(reach)
    .bind(workspace)
    .bind(switch.key.kind.as_str())
    .bind(&switch.key.tool)
    .bind(&switch.key.source)
    .bind(switch.on)
    .bind(&switch.by)
    .bind(switch.reason.as_deref().map(storable))
    .bind(switch.at.as_millis())
    .execute(&mut **db)
    .await?;
    Ok(stored.is_some_and(|stored| stored.on) != switch.on)
}

impl SwitchStore for PostgresStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn set(&self, switch: Switch) -> StoreFuture<'_, bool> {
        step(async move {
            switch.check()?;
            let changed: Result<bool, Fault> =
                change!(self, Vec::new(), db => set(db, &switch, &Expected::Any).await);
            let changed = changed?;
            self.notify(GENERATION).await;
            Ok(changed)
        })
    }

    fn version(&self) -> StoreFuture<'_, u64> {
        step(async move {
            let row = fetch!(
                self,
                fetch_one,
                sqlx::query(
                    "SELECT name, number FROM tool_store.generation WHERE name = 'switches'"
                )
            );
            Ok(Columns::new(&row, "generation", "name").number("number")?)
        })
    }

    fn changed(&self, version: u64) -> StoreFuture<'_, ()> {
        step(async move {
            self.0.listening.changed(GENERATION, version).await;
            Ok(())
        })
    }

    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>> {
        step(async move { all(&fetch!(self, fetch_all, sqlx::query(IN_FORCE))) })
    }

    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>> {
        step(async move {
            all(&fetch!(
                self,
                fetch_all,
                sqlx::query(ENABLEMENT).bind(workspace.as_str())
            ))
        })
    }

    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>> {
        step(async move { all(&fetch!(self, fetch_all, listing(scope, filter).build())) })
    }

    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => {
                let mut retirement = retirement(scope, since, most);
                Ok(retirement.build().persistent(db.is_named()).execute(&mut **db).await?.rows_affected())
            })
        })
    }
}
