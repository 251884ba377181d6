//! In-memory store of enablement rows and skills.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::{MemoryStore, Tables, limited};
use crate::store::{
    CatalogueDiff, CatalogueEntry, ChangedInstances, EnablementFacts, EnablementFilter,
    EnablementRow, EnablementStore, InstanceId, RemovedTool, RenamedTool, RowChange, SYNC, Scope,
    SkillChange, SkillPin, SkillVersion, StoreError, StoreFuture, SyncReport, Timestamp, Workspace,
    check_operator,
};

#[derive(Default)]
pub(super) struct Enablement {
    /// Each instance with the version of its last change.
    instances: BTreeMap<InstanceId, u64>,
    rows: BTreeMap<(InstanceId, String), EnablementRow>,
    versions: BTreeMap<(Workspace, String, String), SkillVersion>,
    pins: BTreeMap<(InstanceId, String), Pin>,
    version: u64,
    /// The version of the last removal of an instance. For earlier versions, `changed_since` sets `is_all`.
    reset: u64,
    #[cfg(feature = "host")]
    pub(super) noted: Vec<super::event::Noted>,
}

struct Pin {
    version: String,
    by: String,
    at: Timestamp,
}

impl Enablement {
    #[cfg(feature = "host")]
    fn note(&mut self, instance: &InstanceId) {
        let workspace = instance.workspace().clone();
        self.noted
            .push((Some(workspace), vec![instance.slug().to_owned()]));
    }

    fn touch(&mut self, instances: impl IntoIterator<Item = InstanceId>) {
        self.version += 1;
        for instance in instances {
            #[cfg(feature = "host")]
            self.note(&instance);
            self.instances.insert(instance, self.version);
        }
    }

    fn skill(&self, instance: &InstanceId, name: &str, version: &str) -> Option<&SkillVersion> {
        let key = (
            instance.workspace().clone(),
            name.to_owned(),
            version.to_owned(),
        );
        self.versions.get(&key)
    }

    fn pins<'a>(&'a self, instance: &'a InstanceId) -> impl Iterator<Item = (&'a str, &'a Pin)> {
        let from = (instance.clone(), String::new());
        let own = self.pins.range(from..);
        own.take_while(move |((own, _), _)| own == instance)
            .map(|((_, name), pin)| (name.as_str(), pin))
    }

    /// Removes the versions of a skill that no instance of the workspace has pinned.
    fn drop_unpinned(&mut self, workspace: &Workspace, skill: &str) {
        let pins = &self.pins;
        self.versions.retain(|(own, name, version), _| {
            own != workspace
                || name != skill
                || pins.iter().any(|((instance, pinned), pin)| {
                    instance.workspace() == own && pinned == name && pin.version == *version
                })
        });
    }
}

impl Tables {
    fn facts(&self, instance: &InstanceId, tool: &str) -> EnablementFacts {
        let (catalogue, own) = (&self.catalogue, &self.enablement);
        let entry = catalogue.all.get(tool);
        let requires = |(name, pin): &(&str, &Pin)| {
            let skill = own.skill(instance, name, &pin.version);
            let mut tools = skill.into_iter().flat_map(|skill| &skill.required_tools);
            tools.any(|required| catalogue.resolve(required) == tool)
        };
        let skills = own.pins(instance).filter(requires);
        EnablementFacts {
            is_listed: entry.is_some(),
            is_global: entry.is_some_and(|entry| entry.is_global),
            skills: skills.map(|(name, _)| name.to_owned()).collect(),
            row: own.rows.get(&(instance.clone(), tool.to_owned())).cloned(),
            ..EnablementFacts::new(tool)
        }
    }

    /// Applies a change to a row, and returns false if the row is unchanged.
    fn write_row(&mut self, instance: &InstanceId, tool: &str, change: RowChange) -> bool {
        let key = (instance.clone(), tool.to_owned());
        match change {
            RowChange::Keep => return false,
            RowChange::Put(row) => self.enablement.rows.insert(key, row),
            RowChange::Remove => self.enablement.rows.remove(&key),
        };
        true
    }

    fn settle(&mut self, instance: &InstanceId, tool: &str, by: &str, at: Timestamp) -> bool {
        let change = self.facts(instance, tool).settle(instance, by, at);
        self.write_row(instance, tool, change)
    }

    pub(super) fn add_instance(&mut self, instance: &InstanceId, at: Timestamp) -> bool {
        if self.enablement.instances.contains_key(instance) {
            return false;
        }
        self.enablement.touch([instance.clone()]);
        let entries = self.catalogue.all.values();
        let globals: Vec<String> = entries
            .filter(|entry| entry.is_global)
            .map(|entry| entry.name.clone())
            .collect();
        for tool in globals {
            self.settle(instance, &tool, SYNC, at);
        }
        true
    }

    pub(super) fn reconcile(&mut self, entries: Vec<CatalogueEntry>) -> SyncReport {
        let at = entries.iter().map(|entry| entry.synced_at).max();
        let at = at.unwrap_or_default();
        let entries = entries.into_iter();
        let mut after = entries.map(|entry| (entry.name.clone(), entry)).collect();
        let diff = CatalogueDiff::of(&self.catalogue.all, &after);
        let before = std::mem::take(&mut self.catalogue.all).into_iter();
        for (name, entry) in before.filter(|(name, _)| EnablementFacts::is_agent(name)) {
            after.entry(name).or_insert(entry);
        }
        self.catalogue.put(after);

        let mut touched = BTreeSet::new();
        let mut take = |tables: &mut Self, tool: &str| -> Vec<EnablementRow> {
            let rows = &mut tables.enablement.rows;
            let taken = rows.extract_if(.., |(_, own), _| own == tool);
            let taken: Vec<_> = taken.map(|(_, row)| row).collect();
            touched.extend(taken.iter().map(|row| row.instance.clone()));
            taken
        };
        let mut report = SyncReport {
            added: diff.added,
            changed: diff.changed,
            ..SyncReport::default()
        };
        for name in diff.removed {
            let rows = take(self, &name);
            report.removed.push(RemovedTool::new(name, rows));
        }
        for (from, to) in diff.renamed {
            let rows = take(self, &from);
            for row in &rows {
                let key = (row.instance.clone(), to.clone());
                let moved = self.enablement.rows.entry(key);
                let moved = moved.or_insert_with(|| EnablementRow {
                    tool: to.clone(),
                    ..row.clone()
                });
                moved.is_manual |= row.is_manual;
            }
            report.renamed.push(RenamedTool::new(from, to, rows));
        }
        for tool in diff.unsettled {
            let instances: Vec<_> = self.enablement.instances.keys().cloned().collect();
            for instance in instances {
                if self.settle(&instance, &tool, SYNC, at) {
                    touched.insert(instance);
                }
            }
        }
        if !touched.is_empty() {
            self.enablement.touch(touched);
        }
        report
    }

    pub(super) fn enable(
        &mut self,
        instance: &InstanceId,
        tool: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let tool = self.catalogue.resolve(tool).to_owned();
        // This check runs first, so that a refused call does not add the instance.
        self.facts(instance, &tool).enable(instance, by, at)?;
        self.add_instance(instance, at);
        let change = self.facts(instance, &tool).enable(instance, by, at)?;
        let changed = self.write_row(instance, &tool, change);
        if changed {
            self.enablement.touch([instance.clone()]);
        }
        Ok(changed)
    }

    pub(super) fn disable(
        &mut self,
        instance: &InstanceId,
        tool: &str,
        by: &str,
    ) -> Result<bool, StoreError> {
        let tool = self.catalogue.resolve(tool).to_owned();
        let change = self.facts(instance, &tool).disable(by)?;
        let changed = self.write_row(instance, &tool, change);
        if changed {
            self.enablement.touch([instance.clone()]);
        }
        Ok(changed)
    }

    pub(super) fn pin(
        &mut self,
        instance: &InstanceId,
        skill: &SkillVersion,
        by: &str,
        at: Timestamp,
    ) -> Result<SkillChange, StoreError> {
        check_operator(by)?;
        skill.check(self.enablement.skill(instance, &skill.name, &skill.version))?;
        self.add_instance(instance, at);
        let own = &mut self.enablement;
        let pin = Pin {
            version: skill.version.clone(),
            by: by.to_owned(),
            at,
        };
        let before = own.pins.insert((instance.clone(), skill.name.clone()), pin);
        let before = before.and_then(|pin| own.skill(instance, &skill.name, &pin.version));
        let before = before.map_or_else(Vec::new, |skill| skill.required_tools.clone());
        let key = (
            instance.workspace().clone(),
            skill.name.clone(),
            skill.version.clone(),
        );
        own.versions.insert(key, skill.clone());
        own.drop_unpinned(instance.workspace(), &skill.name);
        Ok(self.apply(instance, &before, &skill.required_tools, by, at))
    }

    pub(super) fn unpin(
        &mut self,
        instance: &InstanceId,
        skill: &str,
        by: &str,
    ) -> Result<SkillChange, StoreError> {
        check_operator(by)?;
        let own = &mut self.enablement;
        let Some(pin) = own.pins.remove(&(instance.clone(), skill.to_owned())) else {
            return Ok(SkillChange::default());
        };
        let before = own.skill(instance, skill, &pin.version);
        let before = before.map_or_else(Vec::new, |skill| skill.required_tools.clone());
        own.drop_unpinned(instance.workspace(), skill);
        Ok(self.apply(instance, &before, &[], by, pin.at))
    }

    /// Updates the rows of all tools that a skill required before or requires now.
    fn apply(
        &mut self,
        instance: &InstanceId,
        before: &[String],
        after: &[String],
        by: &str,
        at: Timestamp,
    ) -> SkillChange {
        let resolve = |tool: &String| self.catalogue.resolve(tool).to_owned();
        let required: BTreeSet<String> = after.iter().map(resolve).collect();
        let affected: BTreeSet<String> = before.iter().chain(after).map(resolve).collect();
        let mut change = SkillChange::default();
        for tool in affected {
            let facts = self.facts(instance, &tool);
            let row = facts.settle(instance, by, at);
            change.note(&facts, &row, required.contains(&tool));
            self.write_row(instance, &tool, row);
        }
        self.enablement.touch([instance.clone()]);
        change
    }

    pub(super) fn remove_instance(&mut self, instance: &InstanceId) -> bool {
        let own = &mut self.enablement;
        if own.instances.remove(instance).is_none() {
            return false;
        }
        own.rows.retain(|(other, _), _| other != instance);
        let skills: Vec<String> = own
            .pins(instance)
            .map(|(name, _)| name.to_owned())
            .collect();
        own.pins.retain(|(other, _), _| other != instance);
        for skill in skills {
            own.drop_unpinned(instance.workspace(), &skill);
        }
        own.touch([]);
        #[cfg(feature = "host")]
        own.note(instance);
        own.reset = own.version;
        true
    }
}

impl EnablementStore for MemoryStore {
    fn reconcile(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, SyncReport> {
        self.step(|tables| Ok(tables.reconcile(entries)))
    }

    fn add_instance<'a>(
        &'a self,
        instance: &'a InstanceId,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.add_instance(instance, at)))
    }

    fn remove_instance<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.remove_instance(instance)))
    }

    fn enable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| tables.enable(instance, tool, by, at))
    }

    fn disable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| tables.disable(instance, tool, by))
    }

    fn enable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: SkillVersion,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, SkillChange> {
        self.step(move |tables| tables.pin(instance, &skill, by, at))
    }

    fn disable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, SkillChange> {
        self.step(move |tables| tables.unpin(instance, skill, by))
    }

    fn rows<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<EnablementRow>> {
        self.step(move |tables| {
            let from = (instance.clone(), String::new());
            let rows = tables.enablement.rows.range(from..);
            let rows = rows.take_while(|((own, _), _)| own == instance);
            Ok(rows.map(|(_, row)| row.clone()).collect())
        })
    }

    fn skills<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<SkillPin>> {
        self.step(move |tables| {
            let own = &tables.enablement;
            let pins = own.pins(instance).filter_map(|(name, pin)| {
                let skill = own.skill(instance, name, &pin.version)?;
                Some(SkillPin::new(skill.clone(), pin.by.as_str(), pin.at))
            });
            Ok(pins.collect())
        })
    }

    fn list_rows<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EnablementFilter,
    ) -> StoreFuture<'a, Vec<EnablementRow>> {
        self.step(move |tables| {
            let from = filter.after.clone();
            let from = from.map_or(Bound::Unbounded, Bound::Excluded);
            let rows = tables.enablement.rows.range((from, Bound::Unbounded));
            let rows = rows
                .map(|(_, row)| row)
                .filter(|row| scope.covers(row.instance.workspace()) && filter.admits(row));
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn list_instances<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<InstanceId>> {
        self.step(move |tables| {
            let own = tables.enablement.instances.keys();
            let own = own.filter(|instance| {
                instance.workspace() == workspace
                    && after.is_none_or(|after| instance.slug() > after)
            });
            Ok(own.take(limited(Some(most))).cloned().collect())
        })
    }

    fn changed_since(&self, version: u64) -> StoreFuture<'_, ChangedInstances> {
        self.step(move |tables| {
            let own = &tables.enablement;
            let changed = own.instances.iter().filter(|(_, at)| **at > version);
            let changed: Vec<_> = changed.map(|(instance, _)| instance.clone()).collect();
            let is_all = version < own.reset || changed.len() > ChangedInstances::MOST;
            let changed = if is_all { Vec::new() } else { changed };
            Ok(ChangedInstances::new(own.version, is_all, changed))
        })
    }
}
