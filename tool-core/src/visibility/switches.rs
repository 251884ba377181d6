//! Stored kill switches and disables, cached in each process.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::watch;

use super::enablement::Enablement;
use super::layer::Layer;
use super::polled::{self, Polled, Poller};
use crate::store::shield::shielded;
use crate::store::{StoreError, Switch, SwitchKey, SwitchKind, SwitchStore, Timestamp, Workspace};
use crate::sync::{Edition, Versioned};
use crate::tool::ToolDef;

/// Kill switches, disables and enablement rows in a [`SwitchStore`], for all processes of a host. Clones are cheap.
///
/// [`Rules::switches`](crate::Rules::switches) applies the kill switches and disables to the calls of a turn. Every process on the same store applies
/// them, also after a restart:
///
/// - A call with a row in the effect ledger respects every switch that was stored before that row. If the store cannot be read after
///   the row was written, the call is not run.
/// - Every other call respects every switch that was stored at least one second earlier. If the store has not answered for a second,
///   calls of tools that are not read-only are refused as [`Unavailable`](crate::ErrorKind::Unavailable), for the layer [`Layer::Unread`], and read-only
///   calls use the last known switches.
/// - A running call is cancelled within about a quarter of a second after a kill switch was stored, as soon as the store answers.
///
/// A tool that is switched on again, or enabled, is visible in the next turn.
///
/// ```
/// use tool_core::Switches;
/// use tool_core::store::{MemoryStore, Workspace};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tool_core::store::StoreError> {
/// let switches = Switches::open(MemoryStore::default()).await?;
/// let rules = tool_core::Rules::default().switches(&switches);
///
/// let acme = Workspace::new("acme");
/// switches.kill("send_mail", Some(&acme), "olga", Some("spam")).await?;
/// assert!(switches.is_killed("send_mail", "acme"));
/// assert!(!switches.is_killed("send_mail", "globex"));
///
/// switches.enable("search_docs", "manual", Some(&acme), "olga", None).await?;
/// let rules = rules.enablement(switches.enablement(&acme).await?);
/// # drop(rules);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("kill switch", "feature flag"))]
pub struct Switches(Arc<Inner>);

struct Inner {
    store: Arc<dyn SwitchStore>,
    known: Versioned<Known>,
    /// Notified with every change of `known`.
    changed: watch::Sender<()>,
    poller: Poller,
}

/// Switches that are on, by workspace (`None` for all workspaces) and tool.
type Names = BTreeSet<(Option<Workspace>, String)>;

/// The kill switches and disables of one version of the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    version: u64,
    kills: Names,
    disables: Names,
}

fn holds(names: &Names, tool: &str, workspace: &str) -> bool {
    !names.is_empty() && of(names, workspace).any(|name| name == tool)
}

/// Returns the tools whose switches apply in a workspace.
fn of<'a>(names: &'a Names, workspace: &'a str) -> impl Iterator<Item = &'a str> {
    let own = names.iter().filter(move |(reach, _)| {
        reach
            .as_ref()
            .is_none_or(|reach| reach.as_str() == workspace)
    });
    own.map(|(_, tool)| tool.as_str())
}

impl Known {
    pub(super) fn kills<'a>(&'a self, workspace: &'a str) -> impl Iterator<Item = &'a str> {
        of(&self.kills, workspace)
    }

    pub(super) fn disables<'a>(&'a self, workspace: &'a str) -> impl Iterator<Item = &'a str> {
        of(&self.disables, workspace)
    }
}

impl Switches {
    /// Reads the switches of a store. Fails if the store cannot be read, because a host must not start without its switches.
    pub async fn open(store: impl SwitchStore) -> Result<Self, StoreError> {
        Self::open_shared(Arc::new(store)).await
    }

    /// Reads the switches of a store that is shared with other owners.
    pub async fn open_shared(store: Arc<dyn SwitchStore>) -> Result<Self, StoreError> {
        let switches = Self(Arc::new(Inner {
            store,
            known: Versioned::default(),
            changed: watch::Sender::new(()),
            poller: Poller::default(),
        }));
        switches.refresh().await?;
        polled::poll(&switches.0);
        Ok(switches)
    }

    /// Returns the store, which records the operator of each switch.
    pub fn store(&self) -> &dyn SwitchStore {
        &*self.0.store
    }

    /// Refuses new calls of a tool and cancels its running calls, in one workspace or, with `None`, in all. Returns whether the switch was off
    /// before.
    pub async fn kill(
        &self,
        tool: impl Into<String>,
        workspace: Option<&Workspace>,
        by: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let key = key(SwitchKind::Kill, tool.into(), "", workspace);
        self.set(key, true, by, reason).await
    }

    /// Removes a kill switch that [`kill`](Self::kill) has stored for the same workspace. Returns whether the switch was on before. A switch that was
    /// stored under an alias of the tool must be removed under this alias.
    pub async fn revive(
        &self,
        tool: impl Into<String>,
        workspace: Option<&Workspace>,
        by: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let key = key(SwitchKind::Kill, tool.into(), "", workspace);
        self.set(key, false, by, reason).await
    }

    /// If `on` is true, refuses new calls of a tool and lets running calls finish, in one workspace or, with `None`, in all; if it is false, removes
    /// this switch. Returns whether this changed the switch.
    pub async fn disable(
        &self,
        tool: impl Into<String>,
        workspace: Option<&Workspace>,
        on: bool,
        by: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let key = key(SwitchKind::Disable, tool.into(), "", workspace);
        self.set(key, on, by, reason).await
    }

    /// Adds an enablement row of a source (`manual` or `skill`) for one workspace or, with `None`, for all. These rows are a host's own list of
    /// names; for rows that follow the catalogue and skills, use [`InstanceRules`](crate::InstanceRules). Returns whether this changed the row.
    pub async fn enable(
        &self,
        tool: impl Into<String>,
        source: &str,
        workspace: Option<&Workspace>,
        by: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let key = key(SwitchKind::Enable, tool.into(), source, workspace);
        self.set(key, true, by, reason).await
    }

    /// Withdraws an enablement row of a source. The tool stays enabled while another row names it. Returns whether this changed the row.
    pub async fn withdraw(
        &self,
        tool: impl Into<String>,
        source: &str,
        workspace: Option<&Workspace>,
        by: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let key = key(SwitchKind::Enable, tool.into(), source, workspace);
        self.set(key, false, by, reason).await
    }

    async fn set(
        &self,
        key: SwitchKey,
        on: bool,
        by: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let switch = Switch {
            key,
            on,
            by: by.to_owned(),
            reason: reason.map(str::to_owned),
            at: Timestamp::now(),
        };
        let changed = shielded(|| self.0.store.set(switch)).await?;
        self.refresh().await?;
        Ok(changed)
    }

    /// Returns the enablement rows of a workspace, for [`Rules::enablement`](crate::Rules::enablement).
    pub async fn enablement(&self, workspace: &Workspace) -> Result<Enablement, StoreError> {
        let rows = shielded(|| self.0.store.enablement(workspace)).await?;
        let none = Enablement::default();
        Ok(rows.into_iter().fold(none, |all, row| {
            let SwitchKey { tool, source, .. } = row.key;
            // A withdrawn row enables nothing, but it still counts as a row of this workspace.
            let source = if row.on { source } else { String::new() };
            all.row(tool, &source, row.on)
        }))
    }

    /// Returns whether the kill switch of this name applies in a workspace, according to the last read of this process. A call is also refused by a
    /// switch of an [alias](ToolDef::aliases).
    pub fn is_killed(&self, tool: &str, workspace: &str) -> bool {
        holds(&self.0.known.read().kills, tool, workspace)
    }

    /// Returns whether a tool is disabled by this name in a workspace, according to the last read of this process. A call is also refused by a
    /// disable of an [alias](ToolDef::aliases).
    pub fn is_disabled(&self, tool: &str, workspace: &str) -> bool {
        holds(&self.0.known.read().disables, tool, workspace)
    }

    /// Reads the current switches from the store.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        polled::refresh(&*self.0).await
    }

    /// Reads the store if the last read is too old to decide on a call.
    pub(crate) async fn freshen(&self) {
        polled::freshen(&self.0).await;
    }

    /// Waits until a kill switch applies to a tool in a workspace.
    pub(crate) async fn killed(&self, tool: &str, workspace: &str) {
        let mut changes = self.0.changed.subscribe();
        loop {
            changes.mark_unchanged();
            if self.is_killed(tool, workspace) {
                return;
            }
            if changes.changed().await.is_err() {
                // The sender was dropped, so no switch can change.
                return std::future::pending().await;
            }
        }
    }
}

fn key(kind: SwitchKind, tool: String, source: &str, workspace: Option<&Workspace>) -> SwitchKey {
    SwitchKey {
        workspace: workspace.cloned(),
        kind,
        tool,
        source: source.to_owned(),
    }
}

impl Polled for Inner {
    const WHAT: &'static str = "switches";

    fn poller(&self) -> &Poller {
        &self.poller
    }

    fn read(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let version = shielded(|| self.store.version()).await?;
            if self.poller.is_new() || self.known.read().version != version {
                // The rows are read after the version. A change between the two is read again next time, because the known version is older.
                let rows = shielded(|| self.store.in_force()).await?;
                self.put(version, rows);
            }
            Ok(())
        })
    }

    fn changed(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        let (store, version) = (Arc::clone(&self.store), self.known.read().version);
        Box::pin(async move { shielded(|| store.changed(version)).await })
    }
}

impl Inner {
    fn put(&self, version: u64, rows: Vec<Switch>) {
        let mut known = Known {
            version,
            ..Known::default()
        };
        for Switch { key, .. } in rows {
            let names = match key.kind {
                SwitchKind::Kill => &mut known.kills,
                SwitchKind::Disable => &mut known.disables,
                SwitchKind::Enable => continue,
            };
            names.insert((key.workspace, key.tool));
        }
        self.known.write().put(known);
        self.changed.send_replace(());
    }
}

impl fmt::Debug for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.known.read();
        f.debug_struct("Switches")
            .field("kills", &known.kills)
            .field("disables", &known.disables)
            .finish_non_exhaustive()
    }
}

/// The switches at the time when the rules were loaded.
#[derive(Clone, Debug)]
pub(crate) struct SwitchesView {
    pub(crate) shared: Switches,
    pub(super) known: Arc<Edition<Known>>,
}

impl SwitchesView {
    pub(super) fn new(shared: &Switches) -> Self {
        Self {
            shared: shared.clone(),
            known: shared.0.known.read(),
        }
    }

    /// Returns the layer that hides a tool now, if the switches have changed since the rules were loaded or the last read is too old.
    pub(super) fn hides(&self, def: &ToolDef, workspace: &str) -> Option<Layer> {
        let inner = &self.shared.0;
        if !inner.known.is_latest(&self.known) {
            let known = inner.known.read();
            let holds = |names| def.names().any(|name| holds(names, name, workspace));
            if holds(&known.disables) {
                return Some(Layer::Disabled);
            }
            if holds(&known.kills) {
                return Some(Layer::Killed);
            }
        }
        if def.hints().read_only {
            return None;
        }
        inner.poller.is_stale().then_some(Layer::Unread)
    }
}
