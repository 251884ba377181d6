//! Changes of enablement, composed of reads and writes that each database implements.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{
    CatalogueDiff, CatalogueEntry, EnablementFacts, EnablementRow, EnablementSource, InstanceId,
    RemovedTool, RenamedTool, RowChange, SYNC, SkillChange, SkillVersion, StoreError, SyncReport,
    Timestamp, Workspace, check_operator,
};
use serde::Serialize;

use super::Step;

/// Serializes a list or a map of texts as JSON, which cannot fail.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The reads and writes of a transaction. No other transaction changes enablement until it ends.
pub(crate) trait EnablementRows: Send {
    /// The error of a database.
    type Fault: From<StoreError> + Send;

    /// Returns all entries of the catalogue by name.
    fn catalogue(&mut self) -> impl Step<BTreeMap<String, CatalogueEntry>, Self::Fault>;

    /// Inserts entries, or replaces the entries with the same names.
    fn put_entries(&mut self, entries: &[&CatalogueEntry]) -> impl Step<(), Self::Fault>;

    /// Removes an entry, with its aliases and rows.
    fn remove_entry(&mut self, tool: &str) -> impl Step<(), Self::Fault>;

    /// Returns the sorted names of the tools that are enabled for every instance.
    fn global_tools(&mut self) -> impl Step<Vec<String>, Self::Fault>;

    fn clear_aliases(&mut self) -> impl Step<(), Self::Fault>;

    /// Adds an alias, unless a tool already has it.
    fn add_alias(&mut self, alias: &str, tool: &str) -> impl Step<(), Self::Fault>;

    /// Returns the tool that has an alias.
    fn tool_of_alias(&mut self, alias: &str) -> impl Step<Option<String>, Self::Fault>;

    /// Returns the facts that decide whether a tool is enabled for an instance.
    fn facts(
        &mut self,
        instance: &InstanceId,
        tool: &str,
    ) -> impl Step<EnablementFacts, Self::Fault>;

    /// Inserts rows, or replaces the rows of the same instances and tools. `is_listed` is whether the catalogue contains the tools.
    fn put_rows(&mut self, rows: &[EnablementRow], is_listed: bool) -> impl Step<(), Self::Fault>;

    /// Removes the rows of some instances for a tool.
    fn remove_rows(&mut self, instances: &[InstanceId], tool: &str) -> impl Step<(), Self::Fault>;

    /// Returns the rows of a tool, ordered by instance.
    fn rows_of_tool(&mut self, tool: &str) -> impl Step<Vec<EnablementRow>, Self::Fault>;

    fn instances(&mut self) -> impl Step<Vec<InstanceId>, Self::Fault>;

    /// Returns the skills whose pinned version requires a tool, by its name or an alias, each with its instance. The skills of an instance are
    /// sorted.
    fn requirements(&mut self, tool: &str) -> impl Step<Vec<(InstanceId, String)>, Self::Fault>;

    /// Adds an instance without rows. Returns false if it already exists.
    fn insert_instance(
        &mut self,
        instance: &InstanceId,
        at: Timestamp,
    ) -> impl Step<bool, Self::Fault>;

    /// Removes an instance with its rows and pins. Returns false if it does not exist.
    fn delete_instance(&mut self, instance: &InstanceId) -> impl Step<bool, Self::Fault>;

    /// Raises the version, and stores it in the instances that have changed.
    fn touch(&mut self, instances: &BTreeSet<InstanceId>) -> impl Step<(), Self::Fault>;

    /// Invalidates all rows that processes read before the current version.
    fn reset(&mut self) -> impl Step<(), Self::Fault>;

    /// Returns a stored version of a skill.
    fn skill_version(
        &mut self,
        workspace: &Workspace,
        skill: &str,
        version: &str,
    ) -> impl Step<Option<SkillVersion>, Self::Fault>;

    /// Stores a new version of a skill.
    fn insert_skill_version(
        &mut self,
        workspace: &Workspace,
        skill: &SkillVersion,
    ) -> impl Step<(), Self::Fault>;

    /// Removes versions of a skill that no instance has pinned.
    fn remove_unpinned(&mut self, workspace: &Workspace, skill: &str)
    -> impl Step<(), Self::Fault>;

    /// Returns the pinned version of a skill of an instance.
    fn pinned_version(
        &mut self,
        instance: &InstanceId,
        skill: &str,
    ) -> impl Step<Option<String>, Self::Fault>;

    /// Returns the names of the skills of an instance.
    fn pinned_skills(&mut self, instance: &InstanceId) -> impl Step<Vec<String>, Self::Fault>;

    /// Inserts a pin, or replaces the pin of the same instance and skill.
    fn put_pin(
        &mut self,
        instance: &InstanceId,
        skill: &SkillVersion,
        by: &str,
        at: Timestamp,
    ) -> impl Step<(), Self::Fault>;

    /// Removes a pin that exists, and returns the time at which it was made.
    fn remove_pin(
        &mut self,
        instance: &InstanceId,
        skill: &str,
    ) -> impl Step<Timestamp, Self::Fault>;
}

/// Returns the tool of an alias, or else the name itself.
async fn resolve<R: EnablementRows + ?Sized>(db: &mut R, name: &str) -> Result<String, R::Fault> {
    let tool = db.tool_of_alias(name).await?;
    Ok(tool.unwrap_or_else(|| name.to_owned()))
}

/// Applies a change to the row of an instance and a tool. Returns false for [`RowChange::Keep`].
async fn write<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    facts: &EnablementFacts,
    change: RowChange,
) -> Result<bool, R::Fault> {
    match change {
        RowChange::Keep => return Ok(false),
        RowChange::Put(row) => db.put_rows(&[row], facts.is_listed).await?,
        RowChange::Remove => {
            db.remove_rows(std::slice::from_ref(instance), &facts.tool)
                .await?;
        }
    }
    Ok(true)
}

/// Applies a change to the row of an instance and a tool, and raises the version if the row changed.
async fn write_alone<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    facts: &EnablementFacts,
    change: RowChange,
) -> Result<bool, R::Fault> {
    let changed = write(db, instance, facts, change).await?;
    if changed {
        touch(db, instance).await?;
    }
    Ok(changed)
}

async fn touch<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
) -> Result<(), R::Fault> {
    db.touch(&BTreeSet::from([instance.clone()])).await
}

/// Recomputes the rows of a tool for all instances. The number of calls of `db` does not depend on the number of instances. `every` contains all
/// instances if the tool is global, and is empty otherwise. Returns the instances whose row has changed.
async fn settle<R: EnablementRows + ?Sized>(
    db: &mut R,
    tool: &str,
    every: &[InstanceId],
    at: Timestamp,
) -> Result<Vec<InstanceId>, R::Fault> {
    let new = || EnablementFacts {
        is_listed: true,
        is_global: !every.is_empty(),
        ..EnablementFacts::new(tool)
    };
    let every = every.iter();
    let mut concerned: BTreeMap<_, _> = every.map(|instance| (instance.clone(), new())).collect();
    for row in db.rows_of_tool(tool).await? {
        let facts = concerned.entry(row.instance.clone());
        facts.or_insert_with(new).row = Some(row);
    }
    for (instance, skill) in db.requirements(tool).await? {
        let facts = concerned.entry(instance).or_insert_with(new);
        facts.skills.push(skill);
    }
    let (mut written, mut removed) = (Vec::new(), Vec::new());
    for (instance, facts) in concerned {
        match facts.settle(&instance, SYNC, at) {
            RowChange::Keep => {}
            RowChange::Put(row) => written.push(row),
            RowChange::Remove => removed.push(instance),
        }
    }
    db.remove_rows(&removed, tool).await?;
    db.put_rows(&written, true).await?;
    let written = written.into_iter().map(|row| row.instance);
    Ok(removed.into_iter().chain(written).collect())
}

/// Implements [`EnablementStore::add_instance`](crate::store::EnablementStore::add_instance).
pub(crate) async fn add_instance<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    at: Timestamp,
) -> Result<bool, R::Fault> {
    if !db.insert_instance(instance, at).await? {
        return Ok(false);
    }
    let rows: Vec<EnablementRow> = db
        .global_tools()
        .await?
        .into_iter()
        .map(|tool| EnablementRow::new(instance.clone(), tool, EnablementSource::Global, SYNC, at))
        .collect();
    db.put_rows(&rows, true).await?;
    touch(db, instance).await?;
    Ok(true)
}

/// Implements [`EnablementStore::remove_instance`](crate::store::EnablementStore::remove_instance).
pub(crate) async fn remove_instance<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
) -> Result<bool, R::Fault> {
    let skills = db.pinned_skills(instance).await?;
    if !db.delete_instance(instance).await? {
        return Ok(false);
    }
    for skill in skills {
        db.remove_unpinned(instance.workspace(), &skill).await?;
    }
    db.touch(&BTreeSet::new()).await?;
    db.reset().await?;
    Ok(true)
}

/// Implements [`EnablementStore::reconcile`](crate::store::EnablementStore::reconcile).
pub(crate) async fn reconcile<R: EnablementRows + ?Sized>(
    db: &mut R,
    entries: Vec<CatalogueEntry>,
) -> Result<SyncReport, R::Fault> {
    let at = entries.iter().map(|entry| entry.synced_at).max();
    let at = at.unwrap_or_default();
    let before = db.catalogue().await?;
    let entries = entries.into_iter();
    let after: BTreeMap<_, _> = entries.map(|entry| (entry.name.clone(), entry)).collect();
    let diff = CatalogueDiff::of(&before, &after);

    let entries = after.values();
    let changed = entries.filter(|entry| before.get(&entry.name) != Some(*entry));
    db.put_entries(&changed.collect::<Vec<_>>()).await?;
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
        let there = db.rows_of_tool(&to).await?.into_iter();
        let mut there: BTreeMap<_, _> = there.map(|row| (row.instance.clone(), row)).collect();
        let moved = rows.iter().map(|row| {
            let mut moved = there
                .remove(&row.instance)
                .unwrap_or_else(|| EnablementRow {
                    tool: to.clone(),
                    ..row.clone()
                });
            moved.is_manual |= row.is_manual;
            moved
        });
        db.put_rows(&moved.collect::<Vec<_>>(), true).await?;
        touched.extend(rows.iter().map(|row| row.instance.clone()));
        report.renamed.push(RenamedTool::new(from, to, rows));
    }
    // Without instances, for example at the first start, no rows exist.
    let instances = db.instances().await?;
    if !instances.is_empty() {
        for tool in &diff.unsettled {
            let is_global = after.get(tool).is_some_and(|entry| entry.is_global);
            let every = if is_global { &*instances } else { &[] };
            touched.extend(settle(db, tool, every, at).await?);
        }
    }
    if !touched.is_empty() {
        db.touch(&touched).await?;
    }
    Ok(report)
}

/// Replaces the aliases of all tools. The name of a tool cannot be an alias of a different tool.
async fn put_aliases<R: EnablementRows + ?Sized>(
    db: &mut R,
    before: &BTreeMap<String, CatalogueEntry>,
    after: &BTreeMap<String, CatalogueEntry>,
) -> Result<(), R::Fault> {
    let has_any = |entries: &BTreeMap<String, CatalogueEntry>| {
        entries.values().any(|entry| !entry.aliases.is_empty())
    };
    if has_any(before) || has_any(after) {
        db.clear_aliases().await?;
    }
    for entry in after.values() {
        for alias in &entry.aliases {
            if !after.contains_key(alias) {
                db.add_alias(alias, &entry.name).await?;
            }
        }
    }
    Ok(())
}

/// Removes an entry with its rows, and returns the rows.
async fn take<R: EnablementRows + ?Sized>(
    db: &mut R,
    tool: &str,
) -> Result<Vec<EnablementRow>, R::Fault> {
    let rows = db.rows_of_tool(tool).await?;
    db.remove_entry(tool).await?;
    Ok(rows)
}

/// Implements [`EnablementStore::enable`](crate::store::EnablementStore::enable).
pub(crate) async fn enable<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    tool: &str,
    by: &str,
    at: Timestamp,
) -> Result<bool, R::Fault> {
    let tool = resolve(db, tool).await?;
    add_instance(db, instance, at).await?;
    let facts = db.facts(instance, &tool).await?;
    let change = facts.enable(instance, by, at)?;
    write_alone(db, instance, &facts, change).await
}

/// Implements [`EnablementStore::disable`](crate::store::EnablementStore::disable).
pub(crate) async fn disable<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    tool: &str,
    by: &str,
) -> Result<bool, R::Fault> {
    let tool = resolve(db, tool).await?;
    let facts = db.facts(instance, &tool).await?;
    let change = facts.disable(by)?;
    write_alone(db, instance, &facts, change).await
}

/// Returns the tools that the pinned version of a skill requires, or `None` if the instance does not have the skill.
async fn pinned_tools<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    skill: &str,
) -> Result<Option<Vec<String>>, R::Fault> {
    let Some(version) = db.pinned_version(instance, skill).await? else {
        return Ok(None);
    };
    let skill = db.skill_version(instance.workspace(), skill, &version);
    Ok(Some(skill.await?.unwrap_or_default().required_tools))
}

/// Implements [`EnablementStore::enable_skill`](crate::store::EnablementStore::enable_skill).
pub(crate) async fn pin<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    skill: &SkillVersion,
    by: &str,
    at: Timestamp,
) -> Result<SkillChange, R::Fault> {
    check_operator(by)?;
    let workspace = instance.workspace();
    let stored = db.skill_version(workspace, &skill.name, &skill.version);
    let stored = stored.await?;
    skill.check(stored.as_ref())?;
    add_instance(db, instance, at).await?;
    let before = pinned_tools(db, instance, &skill.name).await?;
    if stored.is_none() {
        db.insert_skill_version(workspace, skill).await?;
    }
    db.put_pin(instance, skill, by, at).await?;
    db.remove_unpinned(workspace, &skill.name).await?;
    let before = before.unwrap_or_default();
    apply(db, instance, &before, &skill.required_tools, by, at).await
}

/// Implements [`EnablementStore::disable_skill`](crate::store::EnablementStore::disable_skill).
pub(crate) async fn unpin<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    skill: &str,
    by: &str,
) -> Result<SkillChange, R::Fault> {
    check_operator(by)?;
    let Some(before) = pinned_tools(db, instance, skill).await? else {
        return Ok(SkillChange::default());
    };
    let at = db.remove_pin(instance, skill).await?;
    db.remove_unpinned(instance.workspace(), skill).await?;
    apply(db, instance, &before, &[], by, at).await
}

/// Recomputes the rows of the tools that a skill required before, and of the tools that it requires now.
async fn apply<R: EnablementRows + ?Sized>(
    db: &mut R,
    instance: &InstanceId,
    before: &[String],
    after: &[String],
    by: &str,
    at: Timestamp,
) -> Result<SkillChange, R::Fault> {
    let mut affected = BTreeMap::new();
    for (tools, is_required) in [(before, false), (after, true)] {
        for tool in tools {
            affected.insert(resolve(db, tool).await?, is_required);
        }
    }
    let mut change = SkillChange::default();
    for (tool, is_required) in affected {
        let facts = db.facts(instance, &tool).await?;
        let row = facts.settle(instance, by, at);
        change.note(&facts, &row, is_required);
        write(db, instance, &facts, row).await?;
    }
    touch(db, instance).await?;
    Ok(change)
}
