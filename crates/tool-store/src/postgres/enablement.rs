//! Enablement rows and skills in PostgreSQL.

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
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::text::storable;
use super::{Fault, PostgresStore, catalogue, narrow, narrow_to_scope, step, stored};

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

/// The name of the generation that counts changes of enablement.
pub(super) const GENERATION: &str = "enablement";

/// The statement that locks the generation, so that changes of enablement run one after the other: a process that reads a number can also read every
/// change up to this number. Readers of rows do not wait.
const LOCK: &str = "SELECT number FROM tool_store.generation WHERE name = 'enablement' FOR UPDATE";

/// The query for the rows of one instance.
pub(super) const ROWS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.enablement WHERE workspace = $1 AND instance = $2 ORDER BY tool"
);

/// The query for the rows of one tool.
pub(super) const OF_TOOL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.enablement WHERE tool = $1 ORDER BY workspace, instance"
);

/// The query for the skills of an instance whose pinned version requires a tool, by its name or an alias.
const REQUIRED_BY: &str = "SELECT DISTINCT p.skill FROM tool_store.skill_pin p \
     JOIN tool_store.skill_tool t ON t.workspace = p.workspace AND t.skill = p.skill AND t.version = p.version \
     WHERE p.workspace = $1 AND p.instance = $2 \
     AND (t.tool = $3 OR t.tool IN (SELECT alias FROM tool_store.catalogue_alias WHERE tool = $3)) ORDER BY p.skill";

/// The query for the skills of all instances whose pinned version requires a tool, by its name or an alias. Each skill is returned with its instance.
const REQUIRING: &str = "SELECT DISTINCT p.workspace, p.instance, p.skill FROM tool_store.skill_tool t \
     JOIN tool_store.skill_pin p ON p.workspace = t.workspace AND p.skill = t.skill AND p.version = t.version \
     WHERE t.tool IN (SELECT $1 UNION SELECT alias FROM tool_store.catalogue_alias WHERE tool = $1) ORDER BY p.skill";

/// The query for the pinned skills of an instance.
const SKILLS: &str = concat!(
    "SELECT ",
    skill_columns!(),
    ", p.set_by, p.at FROM tool_store.skill_pin p JOIN tool_store.skill_version v \
     ON v.workspace = p.workspace AND v.skill = p.skill AND v.version = p.version \
     WHERE p.workspace = $1 AND p.instance = $2 ORDER BY p.skill"
);

/// The query for the instances of a workspace after a name.
pub(super) const INSTANCES: &str = "SELECT workspace, slug AS instance FROM tool_store.instance \
     WHERE workspace = $1 AND ($2::text IS NULL OR slug > $2) ORDER BY slug LIMIT $3";

/// The query for the instances that changed after a version: at most one more than [`ChangedInstances`] can list.
pub(super) const CHANGED: &str =
    "SELECT workspace, slug AS instance FROM tool_store.instance WHERE version > $1 LIMIT $2";

/// The query for the current version, and for the version before which all cached rows are invalid.
const VERSION: &str =
    "SELECT name, number, reset FROM tool_store.generation WHERE name = 'enablement'";

fn read_all(rows: &[PgRow]) -> Result<Vec<EnablementRow>, Fault> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &EnablementFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.enablement WHERE TRUE"
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
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
    query
}

/// Returns the workspaces and the names of instances, as arrays.
fn names<'i>(instances: impl IntoIterator<Item = &'i InstanceId>) -> (Vec<String>, Vec<String>) {
    let names = instances.into_iter();
    names
        .map(|instance| (instance.workspace().to_string(), instance.slug().to_owned()))
        .unzip()
}

impl EnablementRows for Change<'_> {
    type Fault = Fault;

    async fn catalogue(&mut self) -> Result<BTreeMap<String, CatalogueEntry>, Fault> {
        catalogue::all(self).await
    }

    async fn put_entries(&mut self, entries: &[&CatalogueEntry]) -> Result<(), Fault> {
        catalogue::put(self, entries).await
    }

    async fn remove_entry(&mut self, tool: &str) -> Result<(), Fault> {
        self.query("DELETE FROM tool_store.catalogue WHERE name = $1")
            .bind(tool)
            .execute(&mut **self)
            .await?;
        Ok(())
    }

    async fn global_tools(&mut self) -> Result<Vec<String>, Fault> {
        let tools =
            self.scalar("SELECT name FROM tool_store.catalogue WHERE is_global ORDER BY name");
        Ok(tools.fetch_all(&mut **self).await?)
    }

    async fn clear_aliases(&mut self) -> Result<(), Fault> {
        self.query("DELETE FROM tool_store.catalogue_alias")
            .execute(&mut **self)
            .await?;
        Ok(())
    }

    async fn add_alias(&mut self, alias: &str, tool: &str) -> Result<(), Fault> {
        self.query(
            "INSERT INTO tool_store.catalogue_alias (alias, tool) VALUES ($1, $2) ON CONFLICT (alias) DO NOTHING",
        )
        .bind(alias)
        .bind(tool)
        .execute(&mut **self)
        .await?;
        Ok(())
    }

    async fn tool_of_alias(&mut self, alias: &str) -> Result<Option<String>, Fault> {
        let tool = self.scalar("SELECT tool FROM tool_store.catalogue_alias WHERE alias = $1");
        Ok(tool.bind(alias).fetch_optional(&mut **self).await?)
    }

    async fn facts(&mut self, instance: &InstanceId, tool: &str) -> Result<EnablementFacts, Fault> {
        let is_global: Option<bool> = self
            .scalar("SELECT is_global FROM tool_store.catalogue WHERE name = $1")
            .bind(tool)
            .fetch_optional(&mut **self)
            .await?;
        let row = self
            .query(concat!(
                "SELECT ",
                columns!(),
                " FROM tool_store.enablement WHERE workspace = $1 AND instance = $2 AND tool = $3"
            ))
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .bind(tool)
            .fetch_optional(&mut **self)
            .await?;
        let skills = self
            .scalar(REQUIRED_BY)
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .bind(tool)
            .fetch_all(&mut **self)
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
        if rows.is_empty() {
            return Ok(());
        }
        let (workspaces, slugs) = names(rows.iter().map(|row| &row.instance));
        let texts = |of: fn(&EnablementRow) -> &str| -> Vec<String> {
            rows.iter().map(|row| of(row).to_owned()).collect()
        };
        let is_manual: Vec<bool> = rows.iter().map(|row| row.is_manual).collect();
        let at: Vec<i64> = rows.iter().map(|row| row.at.as_millis()).collect();
        self.query(
            "INSERT INTO tool_store.enablement (workspace, instance, tool, entry, source, is_manual, set_by, at)
             SELECT workspace, instance, tool, CASE WHEN $8 THEN tool END, source, is_manual, set_by, at
             FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[])
             AS r (workspace, instance, tool, source, is_manual, set_by, at)
             ON CONFLICT (workspace, instance, tool) DO UPDATE SET source = excluded.source, is_manual = excluded.is_manual,
             set_by = excluded.set_by, at = excluded.at",
        )
        .bind(workspaces)
        .bind(slugs)
        .bind(texts(|row| &row.tool))
        .bind(texts(|row| row.source.as_str()))
        .bind(is_manual)
        .bind(texts(|row| &row.by))
        .bind(at)
        .bind(is_listed)
        .execute(&mut **self)
        .await?;
        Ok(())
    }

    async fn remove_rows(&mut self, instances: &[InstanceId], tool: &str) -> Result<(), Fault> {
        if instances.is_empty() {
            return Ok(());
        }
        let (workspaces, slugs) = names(instances);
        self.query(
            "DELETE FROM tool_store.enablement e USING unnest($1::text[], $2::text[]) AS r (workspace, instance) \
             WHERE e.workspace = r.workspace AND e.instance = r.instance AND e.tool = $3",
        )
        .bind(workspaces)
        .bind(slugs)
        .bind(tool)
        .execute(&mut **self)
        .await?;
        Ok(())
    }

    async fn rows_of_tool(&mut self, tool: &str) -> Result<Vec<EnablementRow>, Fault> {
        read_all(
            &self
                .query(OF_TOOL)
                .bind(tool)
                .fetch_all(&mut **self)
                .await?,
        )
    }

    async fn instances(&mut self) -> Result<Vec<InstanceId>, Fault> {
        let rows = self.query("SELECT workspace, slug AS instance FROM tool_store.instance");
        Ok(instances(&rows.fetch_all(&mut **self).await?)?)
    }

    async fn requirements(&mut self, tool: &str) -> Result<Vec<(InstanceId, String)>, Fault> {
        let rows = self.query(REQUIRING).bind(tool);
        let rows = rows.fetch_all(&mut **self).await?;
        Ok(rows.iter().map(requirement).collect::<Result<_, _>>()?)
    }

    async fn insert_instance(
        &mut self,
        instance: &InstanceId,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        let added = self.query(
            "INSERT INTO tool_store.instance (workspace, slug, version, at) VALUES ($1, $2, 0, $3) ON CONFLICT (workspace, slug) DO NOTHING",
        )
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(at.as_millis())
        .execute(&mut **self)
        .await?;
        Ok(added.rows_affected() > 0)
    }

    async fn delete_instance(&mut self, instance: &InstanceId) -> Result<bool, Fault> {
        let removed = self
            .query("DELETE FROM tool_store.instance WHERE workspace = $1 AND slug = $2")
            .bind(instance.workspace().as_str())
            .bind(instance.slug())
            .execute(&mut **self)
            .await?;
        Ok(removed.rows_affected() > 0)
    }

    async fn touch(&mut self, instances: &BTreeSet<InstanceId>) -> Result<(), Fault> {
        let (workspaces, slugs) = names(instances);
        self.query(
            "WITH raised AS (UPDATE tool_store.generation SET number = number + 1 WHERE name = 'enablement' RETURNING number) \
             UPDATE tool_store.instance i SET version = number FROM raised, unnest($1::text[], $2::text[]) AS changed (workspace, slug) \
             WHERE i.workspace = changed.workspace AND i.slug = changed.slug",
        )
        .bind(workspaces)
        .bind(slugs)
        .execute(&mut **self)
        .await?;
        Ok(())
    }

    async fn reset(&mut self) -> Result<(), Fault> {
        self.query("UPDATE tool_store.generation SET reset = number WHERE name = 'enablement'")
            .execute(&mut **self)
            .await?;
        Ok(())
    }

    async fn skill_version(
        &mut self,
        workspace: &Workspace,
        skill: &str,
        version: &str,
    ) -> Result<Option<SkillVersion>, Fault> {
        let row = self.query(concat!(
            "SELECT ",
            skill_columns!(),
            " FROM tool_store.skill_version v WHERE v.workspace = $1 AND v.skill = $2 AND v.version = $3"
        ))
        .bind(workspace.as_str())
        .bind(skill)
        .bind(version)
        .fetch_optional(&mut **self)
        .await?;
        Ok(row.as_ref().map(read_skill).transpose()?)
    }

    async fn insert_skill_version(
        &mut self,
        workspace: &Workspace,
        skill: &SkillVersion,
    ) -> Result<(), Fault> {
        self.query(
            "INSERT INTO tool_store.skill_version (workspace, skill, version, description, tools, env, files) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(workspace.as_str())
        .bind(&skill.name)
        .bind(&skill.version)
        .bind(storable(&skill.description))
        .bind(json(&skill.required_tools))
        .bind(json(&skill.env))
        .bind(json(&skill.files))
        .execute(&mut **self)
        .await?;
        for tool in BTreeSet::from_iter(&skill.required_tools) {
            self.query(
                "INSERT INTO tool_store.skill_tool (workspace, skill, version, tool) VALUES ($1, $2, $3, $4)",
            )
            .bind(workspace.as_str())
            .bind(&skill.name)
            .bind(&skill.version)
            .bind(tool)
            .execute(&mut **self)
            .await?;
        }
        Ok(())
    }

    async fn remove_unpinned(&mut self, workspace: &Workspace, skill: &str) -> Result<(), Fault> {
        self.query(
            "DELETE FROM tool_store.skill_version v WHERE workspace = $1 AND skill = $2 AND NOT EXISTS (SELECT 1 FROM tool_store.skill_pin p \
             WHERE p.workspace = v.workspace AND p.skill = v.skill AND p.version = v.version)",
        )
        .bind(workspace.as_str())
        .bind(skill)
        .execute(&mut **self)
        .await?;
        Ok(())
    }

    async fn pinned_version(
        &mut self,
        instance: &InstanceId,
        skill: &str,
    ) -> Result<Option<String>, Fault> {
        let version = self.scalar(
            "SELECT version FROM tool_store.skill_pin WHERE workspace = $1 AND instance = $2 AND skill = $3",
        );
        let version = version.bind(instance.workspace().as_str());
        let version = version.bind(instance.slug()).bind(skill);
        Ok(version.fetch_optional(&mut **self).await?)
    }

    async fn pinned_skills(&mut self, instance: &InstanceId) -> Result<Vec<String>, Fault> {
        let skills = self.scalar(
            "SELECT skill FROM tool_store.skill_pin WHERE workspace = $1 AND instance = $2",
        );
        let skills = skills.bind(instance.workspace().as_str());
        Ok(skills.bind(instance.slug()).fetch_all(&mut **self).await?)
    }

    async fn put_pin(
        &mut self,
        instance: &InstanceId,
        skill: &SkillVersion,
        by: &str,
        at: Timestamp,
    ) -> Result<(), Fault> {
        self.query(
            "INSERT INTO tool_store.skill_pin (workspace, instance, skill, version, set_by, at) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (workspace, instance, skill) DO UPDATE SET version = excluded.version, set_by = excluded.set_by, at = excluded.at",
        )
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(&skill.name)
        .bind(&skill.version)
        .bind(by)
        .bind(at.as_millis())
        .execute(&mut **self)
        .await?;
        Ok(())
    }

    async fn remove_pin(&mut self, instance: &InstanceId, skill: &str) -> Result<Timestamp, Fault> {
        let at: i64 = self.scalar(
            "DELETE FROM tool_store.skill_pin WHERE workspace = $1 AND instance = $2 AND skill = $3 RETURNING at",
        )
        .bind(instance.workspace().as_str())
        .bind(instance.slug())
        .bind(skill)
        .fetch_one(&mut **self)
        .await?;
        Ok(Timestamp::from_millis(at))
    }
}

/// Locks the generation of enablement until the transaction ends.
pub(super) async fn lock(db: &mut Change<'_>) -> Result<(), Fault> {
    db.query(LOCK).execute(&mut **db).await?;
    Ok(())
}

impl PostgresStore {
    /// Notifies other processes if a transaction changed enablement.
    async fn note_enablement<T>(
        &self,
        done: Result<T, Fault>,
        is_change: impl FnOnce(&T) -> bool,
    ) -> Result<T, Fault> {
        let done = done?;
        if is_change(&done) {
            self.notify(GENERATION).await;
        }
        Ok(done)
    }

    /// Replaces the catalogue, and updates the enablement rows to match it.
    pub(super) async fn replace_catalogue(
        &self,
        entries: &[CatalogueEntry],
    ) -> Result<SyncReport, Fault> {
        let report = change!(self, Vec::new(), db => {
            lock(db).await?;
            procedures::reconcile(db, entries.to_vec()).await
        });
        self.note_enablement(report, |report| *report != SyncReport::default())
            .await
    }
}

impl EnablementStore for PostgresStore {
    fn reconcile(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, SyncReport> {
        step(async move { self.replace_catalogue(&entries).await })
    }

    fn add_instance<'a>(
        &'a self,
        instance: &'a InstanceId,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let added = change!(self, Vec::new(), db => {
                lock(db).await?;
                procedures::add_instance(db, instance, at).await
            });
            self.note_enablement(added, |added| *added).await
        })
    }

    fn remove_instance<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, bool> {
        step(async move {
            let removed = change!(self, Vec::new(), db => {
                lock(db).await?;
                procedures::remove_instance(db, instance).await
            });
            self.note_enablement(removed, |removed| *removed).await
        })
    }

    fn enable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let enabled = change!(self, Vec::new(), db => {
                lock(db).await?;
                procedures::enable(db, instance, tool, by, at).await
            });
            self.note_enablement(enabled, |enabled| *enabled).await
        })
    }

    fn disable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            let disabled = change!(self, Vec::new(), db => {
                lock(db).await?;
                procedures::disable(db, instance, tool, by).await
            });
            self.note_enablement(disabled, |disabled| *disabled).await
        })
    }

    fn enable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: SkillVersion,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, SkillChange> {
        step(async move {
            let pinned = change!(self, Vec::new(), db => {
                lock(db).await?;
                procedures::pin(db, instance, &skill, by, at).await
            });
            self.note_enablement(pinned, |_| true).await
        })
    }

    fn disable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, SkillChange> {
        step(async move {
            let unpinned = change!(self, Vec::new(), db => {
                lock(db).await?;
                procedures::unpin(db, instance, skill, by).await
            });
            self.note_enablement(unpinned, |_| true).await
        })
    }

    fn rows<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<EnablementRow>> {
        step(async move {
            read_all(&fetch!(
                self,
                fetch_all,
                sqlx::query(ROWS)
                    .bind(instance.workspace().as_str())
                    .bind(instance.slug())
            ))
        })
    }

    fn skills<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<SkillPin>> {
        step(async move {
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(SKILLS)
                    .bind(instance.workspace().as_str())
                    .bind(instance.slug())
            );
            Ok(rows.iter().map(skill_pin).collect::<Result<_, _>>()?)
        })
    }

    fn list_rows<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EnablementFilter,
    ) -> StoreFuture<'a, Vec<EnablementRow>> {
        step(async move { read_all(&fetch!(self, fetch_all, listing(scope, filter).build())) })
    }

    fn list_instances<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<InstanceId>> {
        step(async move {
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(INSTANCES)
                    .bind(workspace.as_str())
                    .bind(after)
                    .bind(i64::from(most))
            );
            Ok(instances(&rows)?)
        })
    }

    fn changed_since(&self, version: u64) -> StoreFuture<'_, ChangedInstances> {
        step(async move {
            let row = fetch!(self, fetch_one, sqlx::query(VERSION));
            let columns = Columns::new(&row, "generation", "name");
            let (now, reset): (u64, u64) = (columns.number("number")?, columns.number("reset")?);
            if now == version {
                return Ok(ChangedInstances::new(now, false, Vec::new()));
            }
            // The instances are read after the version. An instance that changes between the two reads is listed again next time.
            let most = i64::try_from(ChangedInstances::MOST).unwrap_or(i64::MAX);
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(CHANGED).bind(stored(version)).bind(most + 1)
            );
            let is_all = version < reset || rows.len() > ChangedInstances::MOST;
            let changed = if is_all {
                Vec::new()
            } else {
                instances(&rows)?
            };
            Ok(ChangedInstances::new(now, is_all, changed))
        })
    }

    fn enablement_changed(&self, version: u64) -> StoreFuture<'_, ()> {
        step(async move {
            self.0.listening.changed(GENERATION, version).await;
            Ok(())
        })
    }
}
