//! Enablement rows of instances, and the skills that enable tools.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Catalogue, CatalogueEntry, Scope, StoreError, StoreFuture, SyncReport, Timestamp, Workspace,
    words,
};

/// The prefix of the names of tools that call an agent. These tools need no entry in the catalogue, so a sync keeps their rows.
const AGENT: &str = "agent:";

/// An instance: the part of a workspace that has its own enablement rows, such as an assistant.
///
/// ```
/// use tool_store::{InstanceId, Workspace};
///
/// let acme = Workspace::new("acme");
/// let support = InstanceId::new(&acme, "support");
/// assert_eq!(support.slug(), "support");
/// assert_ne!(support, InstanceId::of_workspace(&acme));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceId {
    workspace: Workspace,
    slug: Arc<str>,
}

impl InstanceId {
    /// Creates the id of an instance from its workspace and its name in this workspace.
    pub fn new(workspace: impl Into<Workspace>, slug: impl Into<Arc<str>>) -> Self {
        let (workspace, slug) = (workspace.into(), slug.into());
        Self { workspace, slug }
    }

    /// Returns the instance with an empty name, for a workspace that is not divided into instances.
    pub fn of_workspace(workspace: impl Into<Workspace>) -> Self {
        Self::new(workspace, "")
    }

    /// Returns the workspace of the instance.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the name of the instance in its workspace.
    pub fn slug(&self) -> &str {
        &self.slug
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of workspace `{}`", self.slug, self.workspace)
    }
}

/// The reason why a row enables its tool. A later variant outranks an earlier variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnablementSource {
    /// A person has enabled the tool.
    Manual,
    /// The pinned version of a skill requires the tool.
    Skill,
    /// The catalogue enables the tool for every instance.
    Global,
}

words!(EnablementSource {
    Manual = "manual",
    Skill = "skill",
    Global = "global",
});

/// A row that enables a tool for an instance. An instance has at most one row for each tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EnablementRow {
    /// The instance for which the tool is enabled.
    pub instance: InstanceId,
    /// The name of the tool, or `agent:<slug>` for the tool that calls an agent.
    pub tool: String,
    /// The highest source that enables the tool.
    pub source: EnablementSource,
    /// Whether a person has enabled the tool. If so, the row is kept when a higher source is removed.
    pub is_manual: bool,
    /// The user who created the row or later enabled the tool by hand; `sync` if no user did either.
    pub by: String,
    /// When the row was created, or when a person later enabled the tool.
    pub at: Timestamp,
}

impl EnablementRow {
    /// Creates a row of a source.
    pub fn new(
        instance: InstanceId,
        tool: impl Into<String>,
        source: EnablementSource,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            instance,
            tool: tool.into(),
            source,
            is_manual: source == EnablementSource::Manual,
            by: by.into(),
            at,
        }
    }
}

/// A filter for enablement rows: a row must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnablementFilter {
    /// Rows of instances with this name.
    pub instance: Option<String>,
    /// Rows of this tool.
    pub tool: Option<String>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the instance and the tool of the last row of the previous page.
    pub after: Option<(InstanceId, String)>,
}

impl EnablementFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &EnablementRow) -> bool {
        let is =
            |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|text| text == own);
        let after = self.after.as_ref();
        is(&self.instance, row.instance.slug())
            && is(&self.tool, &row.tool)
            && after.is_none_or(|(instance, tool)| (&row.instance, &row.tool) > (instance, tool))
    }
}

/// One version of a skill: a folder of Markdown files, and the fields of its front matter. A version never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillVersion {
    /// The name of the skill.
    pub name: String,
    /// The version from the front matter.
    pub version: String,
    /// The purpose of the skill, for the model.
    pub description: String,
    /// The names of the tools that the skill needs.
    pub required_tools: Vec<String>,
    /// The environment variables that the skill needs.
    pub env: Vec<String>,
    /// The texts of the files by their path in the folder, with `/` between the parts of the path. `SKILL.md` is stored without its front matter.
    pub files: BTreeMap<String, String>,
}

impl SkillVersion {
    /// Creates a version of a skill without tools and files.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Checks a version before it is pinned: it must have a name and a version. If a version with this number is stored, it must be equal. Fails
    /// with `Conflict` otherwise.
    pub fn check(&self, stored: Option<&Self>) -> Result<(), StoreError> {
        let why = if self.name.is_empty() || self.version.is_empty() {
            "a skill needs a name and a version, write both into its front matter".to_owned()
        } else if stored.is_some_and(|stored| stored != self) {
            format!(
                "version {} of the skill `{}` is stored with different contents, give the changed skill a new version",
                self.version, self.name
            )
        } else {
            return Ok(());
        };
        Err(StoreError::Conflict(why))
    }
}

/// The version of a skill that applies to an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillPin {
    /// The pinned version of the skill.
    pub skill: SkillVersion,
    /// The user who pinned the version.
    pub by: String,
    /// When the version was pinned.
    pub at: Timestamp,
}

impl SkillPin {
    /// Creates a pin of a version.
    pub fn new(skill: SkillVersion, by: impl Into<String>, at: Timestamp) -> Self {
        let by = by.into();
        Self { skill, by, at }
    }
}

/// The changes of the tools of an instance after a skill was enabled or disabled. Names are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillChange {
    /// All tools that the skill requires and that are enabled now; empty if the skill was disabled.
    pub tools: Vec<String>,
    /// Tools that were not enabled before.
    pub added: Vec<String>,
    /// Tools that are no longer enabled.
    pub removed: Vec<String>,
    /// Required tools that the catalogue lacks. They are enabled as soon as a sync adds them.
    pub missing: Vec<String>,
}

impl SkillChange {
    /// Records how the change of a skill affects one tool. `is_required` is whether the skill requires the tool now.
    pub fn note(&mut self, facts: &EnablementFacts, change: &RowChange, is_required: bool) {
        let is_on = match change {
            RowChange::Keep => facts.row.is_some(),
            RowChange::Put(_) => true,
            RowChange::Remove => false,
        };
        let tool = || facts.tool.clone();
        if is_on != facts.row.is_some() {
            let names = if is_on {
                &mut self.added
            } else {
                &mut self.removed
            };
            names.push(tool());
        }
        if is_required && is_on {
            self.tools.push(tool());
        } else if is_required {
            self.missing.push(tool());
        }
    }
}

/// The instances that were added, or whose rows or pins have changed, since a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedInstances {
    /// The current version, which increases with each change of rows, pins or instances.
    pub version: u64,
    /// Whether every instance may have changed. If so, `instances` is empty, and the reader has to read the rows of all instances again.
    pub is_all: bool,
    /// The instances that have changed, in no particular order.
    pub instances: Vec<InstanceId>,
}

impl ChangedInstances {
    /// The maximum number of instances in a result. If more have changed, [`is_all`](Self::is_all) is set.
    pub const MOST: usize = 1_000;

    /// Creates the result of [`EnablementStore::changed_since`].
    pub fn new(version: u64, is_all: bool, instances: Vec<InstanceId>) -> Self {
        Self {
            version,
            is_all,
            instances,
        }
    }
}

/// The facts that decide whether a tool is enabled for an instance. A store reads them in the transaction of the change, and writes the
/// [`RowChange`] that a method returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnablementFacts {
    /// The name of the tool.
    pub tool: String,
    /// Whether the catalogue has the tool.
    pub is_listed: bool,
    /// Whether the catalogue enables the tool for every instance.
    pub is_global: bool,
    /// The skills of the instance whose pinned version requires the tool, by its name or an alias; sorted.
    pub skills: Vec<String>,
    /// The stored row; `None` if the tool is not enabled.
    pub row: Option<EnablementRow>,
}

/// The change of a row that a store must write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The stored row is not changed.
    Keep,
    /// The store writes this row, in place of the stored row.
    Put(EnablementRow),
    /// The store removes the row.
    Remove,
}

impl EnablementFacts {
    /// Creates the facts of a tool that the catalogue lacks and that no row enables.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// Returns whether the name belongs to a tool that calls an agent. Such a tool needs no entry in the catalogue.
    pub fn is_agent(tool: &str) -> bool {
        tool.starts_with(AGENT)
    }

    /// Returns whether the tool may have a row.
    fn is_known(&self) -> bool {
        self.is_listed || Self::is_agent(&self.tool)
    }

    /// Returns the highest source that enables the tool.
    fn source(&self, is_manual: bool) -> Option<EnablementSource> {
        if !self.is_known() {
            None
        } else if self.is_global {
            Some(EnablementSource::Global)
        } else if !self.skills.is_empty() {
            Some(EnablementSource::Skill)
        } else {
            is_manual.then_some(EnablementSource::Manual)
        }
    }

    /// Returns the change that makes the row's source match the facts. The change does not count as a change by a person, so `is_manual` is kept.
    pub fn settle(&self, instance: &InstanceId, by: &str, at: Timestamp) -> RowChange {
        let is_manual = self.row.as_ref().is_some_and(|row| row.is_manual);
        match (self.source(is_manual), &self.row) {
            (None, None) => RowChange::Keep,
            (None, Some(_)) => RowChange::Remove,
            (Some(source), Some(row)) if row.source == source => RowChange::Keep,
            (Some(source), Some(row)) => RowChange::Put(EnablementRow {
                source,
                ..row.clone()
            }),
            (Some(source), None) => {
                let (instance, tool) = (instance.clone(), self.tool.as_str());
                RowChange::Put(EnablementRow::new(instance, tool, source, by, at))
            }
        }
    }

    /// Enables the tool by hand. Fails with `Missing` if the catalogue lacks the tool and the tool does not call an agent, and with `Conflict` if
    /// `by` is empty.
    pub fn enable(
        &self,
        instance: &InstanceId,
        by: &str,
        at: Timestamp,
    ) -> Result<RowChange, StoreError> {
        check_operator(by)?;
        let Some(source) = self.source(true) else {
            return Err(StoreError::Missing(format!(
                "the catalogue has no tool `{}`, give the name of a tool in the catalogue, or `agent:` and the name of an agent",
                self.tool
            )));
        };
        if self.row.as_ref().is_some_and(|row| row.is_manual) {
            return Ok(RowChange::Keep);
        }
        let (instance, tool) = (instance.clone(), self.tool.as_str());
        let row = EnablementRow::new(instance, tool, source, by, at);
        Ok(RowChange::Put(EnablementRow {
            is_manual: true,
            ..row
        }))
    }

    /// Removes a row with the source `manual`. Fails with `Conflict` if `by` is empty, or if the row has a different source; in the second case, the
    /// error contains the source.
    pub fn disable(&self, by: &str) -> Result<RowChange, StoreError> {
        check_operator(by)?;
        let tool = &self.tool;
        let why = match &self.row {
            None => return Ok(RowChange::Keep),
            Some(row) => match row.source {
                EnablementSource::Manual => return Ok(RowChange::Remove),
                EnablementSource::Skill => format!(
                    "the tool `{tool}` has the source `skill`: first disable the skills that require it: `{}`",
                    self.skills.join("`, `")
                ),
                EnablementSource::Global => format!(
                    "the tool `{tool}` has the source `global`: the program enables it for every instance, set a disable or a kill switch instead"
                ),
            },
        };
        Err(StoreError::Conflict(why))
    }
}

/// The value of [`EnablementRow::by`] in rows that no user created: rows of a sync, and of global tools in a new instance.
pub(crate) const SYNC: &str = "sync";

/// Fails with `Conflict` if the name of the operator is empty.
pub(crate) fn check_operator(by: &str) -> Result<(), StoreError> {
    if by.is_empty() {
        return Err(StoreError::Conflict(
            "a change of enablement has no operator, give the name of the user who makes it"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The difference between a catalogue and the entries of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogueDiff {
    /// Names of new entries, except renamed entries.
    pub added: Vec<String>,
    /// Names of entries with changed contents, except renamed entries.
    pub changed: Vec<String>,
    /// Names of entries that are not in the sync and were not renamed.
    pub removed: Vec<String>,
    /// The old and the new name of entries that were renamed.
    pub renamed: Vec<(String, String)>,
    /// Names of entries whose rows must be settled for all instances.
    pub unsettled: Vec<String>,
}

impl CatalogueDiff {
    /// Compares the entries of a catalogue with the entries of a sync, by name. Entries named `agent:…` are not removed.
    pub fn of(
        before: &BTreeMap<String, CatalogueEntry>,
        after: &BTreeMap<String, CatalogueEntry>,
    ) -> Self {
        let mut diff = Self::default();
        let is_gone = |name: &str| !after.contains_key(name) && !EnablementFacts::is_agent(name);
        let mut renamed = BTreeMap::new();
        for entry in after.values() {
            for alias in &entry.aliases {
                if before.contains_key(alias) && is_gone(alias) {
                    renamed.entry(alias.clone()).or_insert(entry.name.clone());
                }
            }
        }
        for entry in after.values() {
            let old = before.get(&entry.name);
            let is_target = renamed.values().any(|to| *to == entry.name);
            if !is_target {
                match old {
                    None => diff.added.push(entry.name.clone()),
                    Some(old) if !old.is_same(entry) => diff.changed.push(entry.name.clone()),
                    Some(_) => {}
                }
            }
            let is_settled = old.is_some_and(|old| {
                old.is_global == entry.is_global && old.aliases == entry.aliases
            });
            if is_target || !is_settled {
                diff.unsettled.push(entry.name.clone());
            }
        }
        let gone = before.keys().filter(|name| is_gone(name));
        diff.removed = gone
            .filter(|name| !renamed.contains_key(*name))
            .cloned()
            .collect();
        diff.renamed = renamed.into_iter().collect();
        diff
    }
}

/// A store of enablement rows and of the catalogue that they refer to. A tool is enabled for an instance if a row contains the tool and the instance.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let tools = ["read_mail", "send_mail"].map(CatalogueEntry::new);
/// assert_eq!(store.reconcile(tools.to_vec()).await?.added, ["read_mail", "send_mail"]);
///
/// let support = InstanceId::new("acme", "support");
/// assert!(store.enable(&support, "read_mail", "olga", Timestamp::now()).await?);
/// let mut mail = SkillVersion::new("mail", "1.0.0");
/// mail.required_tools = vec!["read_mail".to_owned(), "send_mail".to_owned()];
/// let change = store.enable_skill(&support, mail, "olga", Timestamp::now()).await?;
/// assert_eq!(change.added, ["send_mail"]);
///
/// // The skill needs both tools, so neither can be disabled by hand.
/// let refused = store.disable(&support, "send_mail", "olga").await.unwrap_err();
/// assert!(refused.to_string().contains("source `skill`"));
/// store.disable_skill(&support, "mail", "olga").await?;
/// let rows = store.rows(&support).await?;
/// assert_eq!(rows.len(), 1);
/// assert_eq!(rows[0].tool, "read_mail");
/// # Ok(())
/// # }
/// ```
pub trait EnablementStore: Catalogue {
    /// Replaces the catalogue with `entries`, and updates the enablement rows in the same transaction:
    ///
    /// - The rows of a removed tool are removed with it. Entries and rows named `agent:…` are kept, because agents are not tools of a program.
    /// - If an entry has the name of a removed tool as an alias, the tool was renamed: its rows move to the new name.
    /// - A tool that is global now has a row in every instance, and a tool that a pinned skill requires has a row in the instance of the pin.
    /// - The row of a tool whose highest source has changed, for example of a tool that is no longer global, gets the new source, or is removed if no
    ///   source enables the tool.
    fn reconcile(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, SyncReport>;

    /// Adds an instance, with a row for each global tool. Returns false if it exists. [`enable`](Self::enable) and
    /// [`enable_skill`](Self::enable_skill) also add a missing instance.
    fn add_instance<'a>(&'a self, instance: &'a InstanceId, at: Timestamp)
    -> StoreFuture<'a, bool>;

    /// Removes an instance with its rows and pins. Returns false if it does not exist.
    fn remove_instance<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, bool>;

    /// Enables a tool by hand. `tool` may be an alias. Returns false if a person has enabled the tool before. Fails with `Missing` if the catalogue
    /// lacks the tool and its name does not begin with `agent:`, and with `Conflict` if `by` is empty.
    fn enable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Removes a row with the source `manual`. Returns false if the tool is not enabled. Fails with `Conflict` if `by` is empty, or if the row has a
    /// different source; in the second case, the error contains the source.
    fn disable<'a>(
        &'a self,
        instance: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, bool>;

    /// Pins a version of a skill in place of the version that was pinned before, and enables the tools that it requires. The store changes the rows
    /// in one transaction, so a reader sees the tools of either the earlier or the new version. Fails with `Conflict` if `by` is empty,
    /// or if [`SkillVersion::check`] fails, for example because the workspace has stored the version with different contents.
    fn enable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: SkillVersion,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, SkillChange>;

    /// Removes a skill from an instance. A tool stays enabled if a different skill requires it, if a person has enabled it, or if it is
    /// global. A skill that the instance does not have is not an error. Fails with `Conflict` if `by` is empty.
    fn disable_skill<'a>(
        &'a self,
        instance: &'a InstanceId,
        skill: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, SkillChange>;

    /// Returns the rows of an instance, ordered by tool.
    fn rows<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<EnablementRow>>;

    /// Returns the skills of an instance, ordered by name, each with its pinned version.
    fn skills<'a>(&'a self, instance: &'a InstanceId) -> StoreFuture<'a, Vec<SkillPin>>;

    /// Returns the rows of a scope that the filter admits, ordered by workspace, instance and tool.
    fn list_rows<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EnablementFilter,
    ) -> StoreFuture<'a, Vec<EnablementRow>>;

    /// Returns the instances of a workspace, ordered by name: at most `most`, and only instances whose name is after `after`.
    fn list_instances<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<InstanceId>>;

    /// Returns the instances that were added, or whose rows or pins have changed, after a version. If an instance was removed,
    /// [`is_all`](ChangedInstances::is_all) is set. The result includes every change that ended before the call began, including changes by other
    /// processes.
    fn changed_since(&self, version: u64) -> StoreFuture<'_, ChangedInstances>;

    /// Completes when the store detects that [`ChangedInstances::version`] is greater than `version`, for example by a notification of the database.
    /// The caller must also poll, because a notification may be lost. The default implementation never completes.
    fn enablement_changed(&self, version: u64) -> StoreFuture<'_, ()> {
        let _ = version;
        Box::pin(std::future::pending())
    }
}
