//! Enablement rows and skills in SQLite.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{
    CatalogueDiff, CatalogueEntry, ChangedInstances, EnablementFacts, EnablementFilter,
    EnablementRow, EnablementSource, EnablementStore, InstanceId, RemovedTool, RenamedTool,
    RowChange, SYNC, Scope, SkillChange, SkillPin, SkillVersion, StoreError, StoreFuture,
    SyncReport, Timestamp, Workspace, check_operator,
};
use serde::Serialize;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};

use super::columns::Columns;
use super::{Fault, SqliteStore, catalogue, narrow, narrow_to_scope, step};

macro_rules! columns {
    () => {
        "workspace, instance, tool, source, is_manual, set_by, at"
    };
}

macro_rules! skill_columns {
    () => {
        "v.skill, v.version, v.description, v.tools, v.env, v.files"
    };
}

/// The rows of one instance.
pub(super) const ROWS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM enablement WHERE workspace = ? AND instance = ? ORDER BY tool"
);

/// The rows of one tool.
pub(super) const OF_TOOL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM enablement WHERE tool = ? ORDER BY workspace, instance"
);

/// The skills of an instance whose pinned version requires a tool, by its name or an alias.
pub(super) const REQUIRED_BY: &str = "SELECT DISTINCT p.skill FROM skill_pin p \
     JOIN skill_tool t ON t.workspace = p.workspace AND t.skill = p.skill AND t.version = p.version \
     WHERE p.workspace = ? AND p.instance = ? AND (t.tool = ? OR t.tool IN (SELECT alias FROM catalogue_alias WHERE tool = ?)) \
     ORDER BY p.skill";

/// The instances that have a row of a tool, or a pinned skill that requires it.
pub(super) const CONCERNED: &str = "SELECT workspace, instance FROM enablement WHERE tool = ? \
     UNION SELECT p.workspace, p.instance FROM skill_tool t \
     JOIN skill_pin p ON p.workspace = t.workspace AND p.skill = t.skill AND p.version = t.version \
     WHERE t.tool IN (SELECT ? UNION SELECT alias FROM catalogue_alias WHERE tool = ?)";

/// The instances that have changed after a version, at most one more than an answer can list.
pub(super) const CHANGED: &str =
    "SELECT workspace, slug AS instance FROM instance WHERE version > ? LIMIT ?";

/// Writes a list or a map as JSON. Texts and maps of texts have no other form, so that this does not fail.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn read_instance(columns: Columns<'_>) -> Result<InstanceId, StoreError> {
    let workspace = Workspace::new(columns.get::<&str>("workspace")?);
    Ok(InstanceId::new(workspace, columns.get::<&str>("instance")?))
}

fn read(row: &SqliteRow) -> Result<EnablementRow, StoreError> {
    let columns = Columns::new(row, "enablement", "tool");
    Ok(EnablementRow {
        instance: read_instance(columns)?,
        tool: columns.get("tool")?,
        source: columns.word("source", EnablementSource::from_word)?,
        is_manual: columns.get("is_manual")?,
        by: columns.get("set_by")?,
        at: columns.time("at")?,
    })
}

fn read_all(rows: &[SqliteRow]) -> Result<Vec<EnablementRow>, Fault> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

fn read_skill(row: &SqliteRow) -> Result<SkillVersion, StoreError> {
    let columns = Columns::new(row, "skill_version", "skill");
    Ok(SkillVersion {
        name: columns.get("skill")?,
        version: columns.get("version")?,
        description: columns.get("description")?,
        required_tools: columns.json("tools")?,
        env: columns.json("env")?,
        files: columns.json("files")?,
    })
}

/// The query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &EnablementFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM enablement WHERE TRUE"
    ));
    narrow_to_scope(&mut query, scope);
    narrow(&mut query, "instance", filter.instance.as_deref());
    narrow(&mut query, "tool", filter.tool.as_deref());
    if let Some((instance, tool)) = &filter.after {
        query.push(" AND (workspace, instance, tool) > (");
        query.push_bind(instance.workspace().as_str().to_owned());
        query.push(", ").push_bind(instance.slug().to_owned());
        query.push(", ").push_bind(tool.clone()).push(")");
    }
    query.push(" ORDER BY workspace, instance, tool");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(limit);
    }
    query
}

/// Returns the name of the tool that a name or an alias stands for.
async fn resolve(db: &mut SqliteConnection, name: &str) -> Result<String, Fault> {
    let tool: Option<String> =
        sqlx::query_scalar("SELECT tool FROM catalogue_alias WHERE alias = ?")
            .bind(name)
            .fetch_optional(db)
            .await?;
    Ok(tool.unwrap_or_else(|| name.to_owned()))
}

async fn facts(
    db: &mut SqliteConnection,
    instance: &InstanceId,
    tool: &str,
) -> Result<EnablementFacts, Fault> {
    let is_global: Option<bool> =
        sqlx::query_scalar("SELECT is_global FROM catalogue WHERE name = ?")
            .bind(tool)
            .fetch_optional(&mut *db)
            .await?;
    let row = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM enablement WHERE workspace = ? AND instance = ? AND tool = ?"
    ))
    .bind(instance.workspace().as_str())
    .bind(instance.slug())
    .bind(tool)
    .fetch_optional(&mut *db)
    .await?;
    let skills = sqlx::query_scalar(REQUIRED_BY)
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(tool)
        .bind(tool)
        .fetch_all(db)
        .await?;
    Ok(EnablementFacts {
        is_listed: is_global.is_some(),
        is_global: is_global.unwrap_or_default(),
        skills,
        row: row.as_ref().map(read).transpose()?,
        ..EnablementFacts::new(tool)
    })
}

/// Writes a change of a row, and returns whether it was one.
async fn write(
    db: &mut SqliteConnection,
    instance: &InstanceId,
    facts: &EnablementFacts,
    change: RowChange,
) -> Result<bool, Fault> {
    match change {
        RowChange::Keep => Ok(false),
        RowChange::Put(row) => {
            put(db, &row, facts.is_listed).await?;
            Ok(true)
        }
        RowChange::Remove => {
            sqlx::query("DELETE FROM enablement WHERE workspace = ? AND instance = ? AND tool = ?")
                .bind(instance.workspace().as_str())
                .bind(instance.slug())
                .bind(&facts.tool)
                .execute(db)
                .await?;
            Ok(true)
        }
    }
}

async fn put(db: &mut SqliteConnection, row: &EnablementRow, is_listed: bool) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO enablement (workspace, instance, tool, entry, source, is_manual, set_by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (workspace, instance, tool) DO UPDATE SET source = excluded.source, is_manual = excluded.is_manual,
         set_by = excluded.set_by, at = excluded.at",
    )
    .bind(row.instance.workspace().as_str())
    .bind(row.instance.slug())
    .bind(&row.tool)
    .bind(is_listed.then_some(&row.tool))
    .bind(row.source.as_str())
    .bind(row.is_manual)
    .bind(&row.by)
    .bind(row.at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

/// Raises the version, for the instances that have changed.
async fn touch(
    db: &mut SqliteConnection,
    instances: impl IntoIterator<Item = &InstanceId>,
) -> Result<i64, Fault> {
    let version: i64 =
        sqlx::query_scalar("UPDATE enablement_version SET version = version + 1 RETURNING version")
            .fetch_one(&mut *db)
            .await?;
    for instance in instances {
        sqlx::query("UPDATE instance SET version = ? WHERE workspace = ? AND slug = ?")
            .bind(version)
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .execute(&mut *db)
            .await?;
    }
    Ok(version)
}

async fn settle(
    db: &mut SqliteConnection,
    instance: &InstanceId,
    tool: &str,
    at: Timestamp,
) -> Result<bool, Fault> {
    let facts = facts(db, instance, tool).await?;
    let change = facts.settle(instance, SYNC, at);
    write(db, instance, &facts, change).await
}

async fn add_instance(
    db: &mut SqliteConnection,
    instance: &InstanceId,
    at: Timestamp,
) -> Result<bool, Fault> {
    let added = sqlx::query(
        "INSERT INTO instance (workspace, slug, version, at) VALUES (?, ?, 0, ?) ON CONFLICT (workspace, slug) DO NOTHING",
    )
    .bind(instance.workspace().as_str())
    .bind(instance.slug())
    .bind(at.as_millis())
    .execute(&mut *db)
    .await?;
    if added.rows_affected() == 0 {
        return Ok(false);
    }
    let globals: Vec<String> =
        sqlx::query_scalar("SELECT name FROM catalogue WHERE is_global = 1 ORDER BY name")
            .fetch_all(&mut *db)
            .await?;
    for tool in globals {
        settle(db, instance, &tool, at).await?;
    }
    touch(db, [instance]).await?;
    Ok(true)
}

pub(super) async fn reconcile(
    db: &mut SqliteConnection,
    entries: Vec<CatalogueEntry>,
) -> Result<SyncReport, Fault> {
    let at = entries.iter().map(|entry| entry.synced_at).max();
    let at = at.unwrap_or_default();
    let before = catalogue::all(db).await?;
    let entries = entries.into_iter();
    let after: BTreeMap<_, _> = entries.map(|entry| (entry.name.clone(), entry)).collect();
    let diff = CatalogueDiff::of(&before, &after);

    for entry in after.values() {
        if before.get(&entry.name) != Some(entry) {
            catalogue::put(db, entry).await?;
        }
    }
    put_aliases(db, &before, &after).await?;

    let mut touched = BTreeSet::new();
    let mut report = SyncReport {
        added: diff.added,
        changed: diff.changed,
        ..SyncReport::default()
    };
    for name in diff.removed {
        let rows = take(db, &name).await?;
        touched.extend(rows.iter().map(|row| row.instance.clone()));
        report.removed.push(RemovedTool::new(name, rows));
    }
    for (from, to) in diff.renamed {
        let rows = take(db, &from).await?;
        for row in &rows {
            let there = facts(db, &row.instance, &to).await?.row;
            let mut moved = there.unwrap_or_else(|| EnablementRow {
                tool: to.clone(),
                ..row.clone()
            });
            moved.is_manual |= row.is_manual;
            put(db, &moved, true).await?;
        }
        touched.extend(rows.iter().map(|row| row.instance.clone()));
        report.renamed.push(RenamedTool::new(from, to, rows));
    }
    for tool in diff.unsettled {
        let is_global = after.get(&tool).is_some_and(|entry| entry.is_global);
        for instance in concerned(db, &tool, is_global).await? {
            if settle(db, &instance, &tool, at).await? {
                touched.insert(instance);
            }
        }
    }
    if !touched.is_empty() {
        touch(db, &touched).await?;
    }
    Ok(report)
}

/// Replaces the aliases of all tools. A name of a tool is not an alias of a different one.
async fn put_aliases(
    db: &mut SqliteConnection,
    before: &BTreeMap<String, CatalogueEntry>,
    after: &BTreeMap<String, CatalogueEntry>,
) -> Result<(), Fault> {
    let has_any = |entries: &BTreeMap<String, CatalogueEntry>| {
        entries.values().any(|entry| !entry.aliases.is_empty())
    };
    if has_any(before) || has_any(after) {
        sqlx::query("DELETE FROM catalogue_alias")
            .execute(&mut *db)
            .await?;
    }
    for entry in after.values() {
        for alias in entry
            .aliases
            .iter()
            .filter(|alias| !after.contains_key(*alias))
        {
            sqlx::query("INSERT INTO catalogue_alias (alias, tool) VALUES (?, ?) ON CONFLICT (alias) DO NOTHING")
                .bind(alias)
                .bind(&entry.name)
                .execute(&mut *db)
                .await?;
        }
    }
    Ok(())
}

/// Removes an entry, with which its rows are removed, and returns these rows.
async fn take(db: &mut SqliteConnection, tool: &str) -> Result<Vec<EnablementRow>, Fault> {
    let rows = sqlx::query(OF_TOOL).bind(tool).fetch_all(&mut *db).await?;
    sqlx::query("DELETE FROM catalogue WHERE name = ?")
        .bind(tool)
        .execute(db)
        .await?;
    read_all(&rows)
}

/// The instances whose row of a tool may have to change.
async fn concerned(
    db: &mut SqliteConnection,
    tool: &str,
    is_global: bool,
) -> Result<Vec<InstanceId>, Fault> {
    let query = if is_global {
        sqlx::query("SELECT workspace, slug AS instance FROM instance")
    } else {
        sqlx::query(CONCERNED).bind(tool).bind(tool).bind(tool)
    };
    let rows = query.fetch_all(db).await?;
    instances(&rows)
}

fn instances(rows: &[SqliteRow]) -> Result<Vec<InstanceId>, Fault> {
    let read = |row| read_instance(Columns::new(row, "instance", "instance"));
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

async fn enable(
    db: &mut SqliteConnection,
    instance: InstanceId,
    tool: String,
    by: String,
    at: Timestamp,
) -> Result<bool, Fault> {
    let tool = resolve(db, &tool).await?;
    add_instance(db, &instance, at).await?;
    let facts = facts(db, &instance, &tool).await?;
    let change = facts.enable(&instance, &by, at)?;
    let changed = write(db, &instance, &facts, change).await?;
    if changed {
        touch(db, [&instance]).await?;
    }
    Ok(changed)
}

async fn disable(
    db: &mut SqliteConnection,
    instance: InstanceId,
    tool: String,
    by: String,
) -> Result<bool, Fault> {
    let tool = resolve(db, &tool).await?;
    let facts = facts(db, &instance, &tool).await?;
    let change = facts.disable(&by)?;
    let changed = write(db, &instance, &facts, change).await?;
    if changed {
        touch(db, [&instance]).await?;
    }
    Ok(changed)
}

async fn find_version(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    skill: &str,
    version: &str,
) -> Result<Option<SkillVersion>, Fault> {
    let row = sqlx::query(concat!(
        "SELECT ",
        skill_columns!(),
        " FROM skill_version v WHERE v.workspace = ? AND v.skill = ? AND v.version = ?"
    ))
    .bind(workspace.as_str())
    .bind(skill)
    .bind(version)
    .fetch_optional(db)
    .await?;
    Ok(row.as_ref().map(read_skill).transpose()?)
}

/// Returns the tools that the pinned version of a skill requires, or `None` if the instance does not have the skill.
async fn pinned_tools(
    db: &mut SqliteConnection,
    instance: &InstanceId,
    skill: &str,
) -> Result<Option<Vec<String>>, Fault> {
    let version: Option<String> = sqlx::query_scalar(
        "SELECT version FROM skill_pin WHERE workspace = ? AND instance = ? AND skill = ?",
    )
    .bind(instance.workspace().as_str())
    .bind(instance.slug())
    .bind(skill)
    .fetch_optional(&mut *db)
    .await?;
    let Some(version) = version else {
        return Ok(None);
    };
    let skill = find_version(db, instance.workspace(), skill, &version).await?;
    Ok(Some(skill.unwrap_or_default().required_tools))
}

async fn put_version(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    skill: &SkillVersion,
) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO skill_version (workspace, skill, version, description, tools, env, files) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(workspace.as_str())
    .bind(&skill.name)
    .bind(&skill.version)
    .bind(&skill.description)
    .bind(json(&skill.required_tools))
    .bind(json(&skill.env))
    .bind(json(&skill.files))
    .execute(&mut *db)
    .await?;
    for tool in BTreeSet::from_iter(&skill.required_tools) {
        sqlx::query("INSERT INTO skill_tool (workspace, skill, version, tool) VALUES (?, ?, ?, ?)")
            .bind(workspace.as_str())
            .bind(&skill.name)
            .bind(&skill.version)
            .bind(tool)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}

/// Removes versions of a skill that no instance has pinned.
async fn drop_unpinned(
    db: &mut SqliteConnection,
    workspace: &Workspace,
    skill: &str,
) -> Result<(), Fault> {
    sqlx::query(
        "DELETE FROM skill_version WHERE workspace = ? AND skill = ? AND NOT EXISTS (SELECT 1 FROM skill_pin p \
         WHERE p.workspace = skill_version.workspace AND p.skill = skill_version.skill AND p.version = skill_version.version)",
    )
    .bind(workspace.as_str())
    .bind(skill)
    .execute(db)
    .await?;
    Ok(())
}

async fn pin(
    db: &mut SqliteConnection,
    instance: InstanceId,
    skill: SkillVersion,
    by: String,
    at: Timestamp,
) -> Result<SkillChange, Fault> {
    check_operator(&by)?;
    let workspace = instance.workspace();
    let stored = find_version(db, workspace, &skill.name, &skill.version).await?;
    skill.check(stored.as_ref())?;
    add_instance(db, &instance, at).await?;
    let before = pinned_tools(db, &instance, &skill.name).await?;
    if stored.is_none() {
        put_version(db, workspace, &skill).await?;
    }
    sqlx::query(
        "INSERT INTO skill_pin (workspace, instance, skill, version, set_by, at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (workspace, instance, skill) DO UPDATE SET version = excluded.version, set_by = excluded.set_by, at = excluded.at",
    )
    .bind(workspace.as_str())
    .bind(instance.slug())
    .bind(&skill.name)
    .bind(&skill.version)
    .bind(&by)
    .bind(at.as_millis())
    .execute(&mut *db)
    .await?;
    drop_unpinned(db, workspace, &skill.name).await?;
    let before = before.unwrap_or_default();
    apply(db, &instance, &before, &skill.required_tools, &by, at).await
}

async fn unpin(
    db: &mut SqliteConnection,
    instance: InstanceId,
    skill: String,
    by: String,
) -> Result<SkillChange, Fault> {
    check_operator(&by)?;
    let Some(before) = pinned_tools(db, &instance, &skill).await? else {
        return Ok(SkillChange::default());
    };
    let at: i64 = sqlx::query_scalar(
        "DELETE FROM skill_pin WHERE workspace = ? AND instance = ? AND skill = ? RETURNING at",
    )
    .bind(instance.workspace().as_str())
    .bind(instance.slug())
    .bind(&skill)
    .fetch_one(&mut *db)
    .await?;
    drop_unpinned(db, instance.workspace(), &skill).await?;
    let at = Timestamp::from_millis(at);
    apply(db, &instance, &before, &[], &by, at).await
}

/// Settles the tools that a skill required before, and those that it requires now.
async fn apply(
    db: &mut SqliteConnection,
    instance: &InstanceId,
    before: &[String],
    after: &[String],
    by: &str,
    at: Timestamp,
) -> Result<SkillChange, Fault> {
    let mut affected = BTreeMap::new();
    for (tools, is_required) in [(before, false), (after, true)] {
        for tool in tools {
            affected.insert(resolve(db, tool).await?, is_required);
        }
    }
    let mut change = SkillChange::default();
    for (tool, is_required) in affected {
        let facts = facts(db, instance, &tool).await?;
        let row = facts.settle(instance, by, at);
        change.note(&facts, &row, is_required);
        write(db, instance, &facts, row).await?;
    }
    touch(db, [instance]).await?;
    Ok(change)
}

async fn remove_instance(db: &mut SqliteConnection, instance: InstanceId) -> Result<bool, Fault> {
    let skills: Vec<String> =
        sqlx::query_scalar("SELECT skill FROM skill_pin WHERE workspace = ? AND instance = ?")
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .fetch_all(&mut *db)
            .await?;
    let removed = sqlx::query("DELETE FROM instance WHERE workspace = ? AND slug = ?")
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .execute(&mut *db)
        .await?;
    if removed.rows_affected() == 0 {
        return Ok(false);
    }
    for skill in skills {
        drop_unpinned(db, instance.workspace(), &skill).await?;
    }
    touch(db, []).await?;
    sqlx::query("UPDATE enablement_version SET reset = version")
        .execute(db)
        .await?;
    Ok(true)
}

impl EnablementStore for SqliteStore {
    fn reconcile(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, SyncReport> {
        step(self.change(|db| Box::pin(reconcile(db, entries))))
    }

    fn add_instance<'a>(
        &'a self,
        instance: &'a InstanceId,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let instance = instance.clone();
        step(self.change(move |db| Box::pin(async move { add_instance(db, &instance, at).await })))
    }

    fn remove_instance<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, bool> {
        let instance = instance.clone();
        step(self.change(move |db| Box::pin(remove_instance(db, instance))))
    }

    fn enable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (instance, tool, by) = (instance.clone(), tool.to_owned(), by.to_owned());
        step(self.change(move |db| Box::pin(enable(db, instance, tool, by, at))))
    }

    fn disable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, bool> {
        let (instance, tool, by) = (instance.clone(), tool.to_owned(), by.to_owned());
        step(self.change(move |db| Box::pin(disable(db, instance, tool, by))))
    }

    fn enable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: SkillVersion,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, SkillChange> {
        let (instance, by) = (instance.clone(), by.to_owned());
        step(self.change(move |db| Box::pin(pin(db, instance, skill, by, at))))
    }

    fn disable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, SkillChange> {
        let (instance, skill, by) = (instance.clone(), skill.to_owned(), by.to_owned());
        step(self.change(move |db| Box::pin(unpin(db, instance, skill, by))))
    }

    fn rows<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<EnablementRow>> {
        step(async move {
            let rows = sqlx::query(ROWS)
                .bind(instance.workspace().as_str())
                .bind(instance.slug());
            read_all(&rows.fetch_all(&self.readers).await?)
        })
    }

    fn skills<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<SkillPin>> {
        step(async move {
            let rows = sqlx::query(concat!(
                "SELECT ",
                skill_columns!(),
                ", p.set_by, p.at FROM skill_pin p JOIN skill_version v \
                 ON v.workspace = p.workspace AND v.skill = p.skill AND v.version = p.version \
                 WHERE p.workspace = ? AND p.instance = ? ORDER BY p.skill"
            ))
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .fetch_all(&self.readers)
            .await?;
            let read = |row| {
                let columns = Columns::new(row, "skill_pin", "skill");
                let by: &str = columns.get("set_by")?;
                Ok(SkillPin::new(read_skill(row)?, by, columns.time("at")?))
            };
            Ok(rows.iter().map(read).collect::<Result<_, StoreError>>()?)
        })
    }

    fn list_rows<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EnablementFilter,
    ) -> StoreFuture<'a, Vec<EnablementRow>> {
        step(async move {
            let mut query = listing(scope, filter);
            read_all(&query.build().fetch_all(&self.readers).await?)
        })
    }

    fn changed_since(&self, version: u64) -> StoreFuture<'_, ChangedInstances> {
        step(async move {
            let row = sqlx::query("SELECT 'all' AS name, version, reset FROM enablement_version")
                .fetch_one(&self.readers)
                .await?;
            let columns = Columns::new(&row, "enablement_version", "name");
            let (now, reset): (u64, u64) = (columns.number("version")?, columns.number("reset")?);
            if now == version {
                return Ok(ChangedInstances::new(now, false, Vec::new()));
            }
            // The instances are read after the version. One that changes between the two is read again next time.
            let most = i64::try_from(ChangedInstances::MOST).unwrap_or(i64::MAX);
            let rows = sqlx::query(CHANGED)
                .bind(i64::try_from(version).unwrap_or(i64::MAX))
                .bind(most + 1)
                .fetch_all(&self.readers)
                .await?;
            let is_all = version < reset || rows.len() > ChangedInstances::MOST;
            let changed = if is_all {
                Vec::new()
            } else {
                instances(&rows)?
            };
            Ok(ChangedInstances::new(now, is_all, changed))
        })
    }
}
