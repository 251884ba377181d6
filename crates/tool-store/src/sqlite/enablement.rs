//! Enablement rows and skills in SQLite.

use std::collections::{BTreeMap, BTreeSet};

use crate::sql::columns::Columns;
use crate::sql::enablement::{self as procedures, EnablementRows, json};
use crate::sql::records::{
    enablement as read, instances, requirement, skill_pin, skill_version as read_skill,
};
use crate::store::{
    CatalogueEntry, ChangedInstances, EnablementFacts, EnablementFilter, EnablementRow,
    EnablementStore, InstanceId, Scope, SkillChange, SkillPin, SkillVersion, StoreFuture,
    SyncReport, Timestamp, Workspace,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};

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

/// The query for the rows of one instance.
pub(super) const ROWS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM enablement WHERE workspace = ? AND instance = ? ORDER BY tool"
);

/// The query for the rows of one tool.
pub(super) const OF_TOOL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM enablement WHERE tool = ? ORDER BY workspace, instance"
);

/// The query for the skills of an instance whose pinned version requires a tool, by its name or an alias.
pub(super) const REQUIRED_BY: &str = "SELECT DISTINCT p.skill FROM skill_pin p \
     JOIN skill_tool t ON t.workspace = p.workspace AND t.skill = p.skill AND t.version = p.version \
     WHERE p.workspace = ? AND p.instance = ? AND (t.tool = ? OR t.tool IN (SELECT alias FROM catalogue_alias WHERE tool = ?)) \
     ORDER BY p.skill";

/// The query for the skills of all instances whose pinned version requires a tool, by its name or an alias. Each skill is returned with its instance.
pub(super) const REQUIRING: &str = "SELECT DISTINCT p.workspace, p.instance, p.skill FROM skill_tool t \
     JOIN skill_pin p ON p.workspace = t.workspace AND p.skill = t.skill AND p.version = t.version \
     WHERE t.tool IN (SELECT ? UNION SELECT alias FROM catalogue_alias WHERE tool = ?) ORDER BY p.skill";

/// The query for a page of the instances of a workspace, ordered by name. The second parameter is the last name of the previous page.
pub(super) const INSTANCES: &str = "SELECT workspace, slug AS instance FROM instance \
     WHERE workspace = ?1 AND (?2 IS NULL OR slug > ?2) ORDER BY slug LIMIT ?3";

/// The query for the instances that changed after a version: at most one more than [`ChangedInstances`] can list.
pub(super) const CHANGED: &str =
    "SELECT workspace, slug AS instance FROM instance WHERE version > ? LIMIT ?";

fn read_all(rows: &[SqliteRow]) -> Result<Vec<EnablementRow>, Fault> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Returns the query for the rows of a scope that match a filter.
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

impl EnablementRows for SqliteConnection {
    type Fault = Fault;

    async fn catalogue(&mut self) -> Result<BTreeMap<String, CatalogueEntry>, Fault> {
        catalogue::all(self).await
    }

    async fn put_entries(&mut self, entries: &[&CatalogueEntry]) -> Result<(), Fault> {
        for entry in entries {
            catalogue::put(&mut *self, entry).await?;
        }
        Ok(())
    }

    async fn remove_entry(&mut self, tool: &str) -> Result<(), Fault> {
        sqlx::query("DELETE FROM catalogue WHERE name = ?")
            .bind(tool)
            .execute(self)
            .await?;
        Ok(())
    }

    async fn global_tools(&mut self) -> Result<Vec<String>, Fault> {
        let tools =
            sqlx::query_scalar("SELECT name FROM catalogue WHERE is_global = 1 ORDER BY name");
        Ok(tools.fetch_all(self).await?)
    }

    async fn clear_aliases(&mut self) -> Result<(), Fault> {
        sqlx::query("DELETE FROM catalogue_alias")
            .execute(self)
            .await?;
        Ok(())
    }

    async fn add_alias(&mut self, alias: &str, tool: &str) -> Result<(), Fault> {
        sqlx::query(
            "INSERT INTO catalogue_alias (alias, tool) VALUES (?, ?) ON CONFLICT (alias) DO NOTHING",
        )
        .bind(alias)
        .bind(tool)
        .execute(self)
        .await?;
        Ok(())
    }

    async fn tool_of_alias(&mut self, alias: &str) -> Result<Option<String>, Fault> {
        let tool = sqlx::query_scalar("SELECT tool FROM catalogue_alias WHERE alias = ?");
        Ok(tool.bind(alias).fetch_optional(self).await?)
    }

    async fn facts(&mut self, instance: &InstanceId, tool: &str) -> Result<EnablementFacts, Fault> {
        let is_global: Option<bool> =
            sqlx::query_scalar("SELECT is_global FROM catalogue WHERE name = ?")
                .bind(tool)
                .fetch_optional(&mut *self)
                .await?;
        let row = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM enablement WHERE workspace = ? AND instance = ? AND tool = ?"
        ))
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(tool)
        .fetch_optional(&mut *self)
        .await?;
        let skills = sqlx::query_scalar(REQUIRED_BY)
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .bind(tool)
            .bind(tool)
            .fetch_all(self)
            .await?;
        Ok(EnablementFacts {
            is_listed: is_global.is_some(),
            is_global: is_global.unwrap_or_default(),
            skills,
            row: row.as_ref().map(read).transpose()?,
            ..EnablementFacts::new(tool)
        })
    }

    async fn put_rows(&mut self, rows: &[EnablementRow], is_listed: bool) -> Result<(), Fault> {
        for row in rows {
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
            .execute(&mut *self)
            .await?;
        }
        Ok(())
    }

    async fn remove_rows(&mut self, instances: &[InstanceId], tool: &str) -> Result<(), Fault> {
        for instance in instances {
            sqlx::query("DELETE FROM enablement WHERE workspace = ? AND instance = ? AND tool = ?")
                .bind(instance.workspace().as_str())
                .bind(instance.slug())
                .bind(tool)
                .execute(&mut *self)
                .await?;
        }
        Ok(())
    }

    async fn rows_of_tool(&mut self, tool: &str) -> Result<Vec<EnablementRow>, Fault> {
        read_all(&sqlx::query(OF_TOOL).bind(tool).fetch_all(self).await?)
    }

    async fn instances(&mut self) -> Result<Vec<InstanceId>, Fault> {
        let rows = sqlx::query("SELECT workspace, slug AS instance FROM instance");
        Ok(instances(&rows.fetch_all(self).await?)?)
    }

    async fn requirements(&mut self, tool: &str) -> Result<Vec<(InstanceId, String)>, Fault> {
        let rows = sqlx::query(REQUIRING).bind(tool).bind(tool);
        let rows = rows.fetch_all(self).await?;
        Ok(rows.iter().map(requirement).collect::<Result<_, _>>()?)
    }

    async fn insert_instance(
        &mut self,
        instance: &InstanceId,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        let added = sqlx::query(
            "INSERT INTO instance (workspace, slug, version, at) VALUES (?, ?, 0, ?) ON CONFLICT (workspace, slug) DO NOTHING",
        )
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(at.as_millis())
        .execute(self)
        .await?;
        Ok(added.rows_affected() > 0)
    }

    async fn delete_instance(&mut self, instance: &InstanceId) -> Result<bool, Fault> {
        let removed = sqlx::query("DELETE FROM instance WHERE workspace = ? AND slug = ?")
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .execute(self)
            .await?;
        Ok(removed.rows_affected() > 0)
    }

    async fn touch(&mut self, instances: &BTreeSet<InstanceId>) -> Result<(), Fault> {
        let version: i64 = sqlx::query_scalar(
            "UPDATE enablement_version SET version = version + 1 RETURNING version",
        )
        .fetch_one(&mut *self)
        .await?;
        for instance in instances {
            sqlx::query("UPDATE instance SET version = ? WHERE workspace = ? AND slug = ?")
                .bind(version)
                .bind(instance.workspace().as_str())
                .bind(instance.slug())
                .execute(&mut *self)
                .await?;
        }
        Ok(())
    }

    async fn reset(&mut self) -> Result<(), Fault> {
        sqlx::query("UPDATE enablement_version SET reset = version")
            .execute(self)
            .await?;
        Ok(())
    }

    async fn skill_version(
        &mut self,
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
        .fetch_optional(self)
        .await?;
        Ok(row.as_ref().map(read_skill).transpose()?)
    }

    async fn insert_skill_version(
        &mut self,
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
        .execute(&mut *self)
        .await?;
        for tool in BTreeSet::from_iter(&skill.required_tools) {
            sqlx::query(
                "INSERT INTO skill_tool (workspace, skill, version, tool) VALUES (?, ?, ?, ?)",
            )
            .bind(workspace.as_str())
            .bind(&skill.name)
            .bind(&skill.version)
            .bind(tool)
            .execute(&mut *self)
            .await?;
        }
        Ok(())
    }

    async fn remove_unpinned(&mut self, workspace: &Workspace, skill: &str) -> Result<(), Fault> {
        sqlx::query(
            "DELETE FROM skill_version WHERE workspace = ? AND skill = ? AND NOT EXISTS (SELECT 1 FROM skill_pin p \
             WHERE p.workspace = skill_version.workspace AND p.skill = skill_version.skill AND p.version = skill_version.version)",
        )
        .bind(workspace.as_str())
        .bind(skill)
        .execute(self)
        .await?;
        Ok(())
    }

    async fn pinned_version(
        &mut self,
        instance: &InstanceId,
        skill: &str,
    ) -> Result<Option<String>, Fault> {
        let version = sqlx::query_scalar(
            "SELECT version FROM skill_pin WHERE workspace = ? AND instance = ? AND skill = ?",
        );
        let version = version.bind(instance.workspace().as_str());
        let version = version.bind(instance.slug()).bind(skill);
        Ok(version.fetch_optional(self).await?)
    }

    async fn pinned_skills(&mut self, instance: &InstanceId) -> Result<Vec<String>, Fault> {
        let skills =
            sqlx::query_scalar("SELECT skill FROM skill_pin WHERE workspace = ? AND instance = ?");
        let skills = skills.bind(instance.workspace().as_str());
        Ok(skills.bind(instance.slug()).fetch_all(self).await?)
    }

    async fn put_pin(
        &mut self,
        instance: &InstanceId,
        skill: &SkillVersion,
        by: &str,
        at: Timestamp,
    ) -> Result<(), Fault> {
        sqlx::query(
            "INSERT INTO skill_pin (workspace, instance, skill, version, set_by, at) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (workspace, instance, skill) DO UPDATE SET version = excluded.version, set_by = excluded.set_by, at = excluded.at",
        )
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(&skill.name)
        .bind(&skill.version)
        .bind(by)
        .bind(at.as_millis())
        .execute(self)
        .await?;
        Ok(())
    }

    async fn remove_pin(&mut self, instance: &InstanceId, skill: &str) -> Result<Timestamp, Fault> {
        let at: i64 = sqlx::query_scalar(
            "DELETE FROM skill_pin WHERE workspace = ? AND instance = ? AND skill = ? RETURNING at",
        )
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(skill)
        .fetch_one(self)
        .await?;
        Ok(Timestamp::from_millis(at))
    }
}

impl EnablementStore for SqliteStore {
    fn reconcile(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, SyncReport> {
        step(self.change(|db| Box::pin(procedures::reconcile(db, entries))))
    }

    fn add_instance<'a>(
        &'a self,
        instance: &'a InstanceId,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let instance = instance.clone();
        step(self.change(move |db| {
            Box::pin(async move { procedures::add_instance(db, &instance, at).await })
        }))
    }

    fn remove_instance<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, bool> {
        let instance = instance.clone();
        step(self.change(move |db| {
            Box::pin(async move { procedures::remove_instance(db, &instance).await })
        }))
    }

    fn enable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (instance, tool, by) = (instance.clone(), tool.to_owned(), by.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { procedures::enable(db, &instance, &tool, &by, at).await })
        }))
    }

    fn disable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, bool> {
        let (instance, tool, by) = (instance.clone(), tool.to_owned(), by.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { procedures::disable(db, &instance, &tool, &by).await })
        }))
    }

    fn enable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: SkillVersion,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, SkillChange> {
        let (instance, by) = (instance.clone(), by.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { procedures::pin(db, &instance, &skill, &by, at).await })
        }))
    }

    fn disable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, SkillChange> {
        let (instance, skill, by) = (instance.clone(), skill.to_owned(), by.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { procedures::unpin(db, &instance, &skill, &by).await })
        }))
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
            Ok(rows.iter().map(skill_pin).collect::<Result<_, _>>()?)
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

    fn list_instances<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<InstanceId>> {
        step(async move {
            let rows = sqlx::query(INSTANCES)
                .bind(workspace.as_str())
                .bind(after)
                .bind(most)
                .fetch_all(&self.readers)
                .await?;
            Ok(instances(&rows)?)
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
            // The instances are read after the version. An instance that changes between the two reads is listed again next time.
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
