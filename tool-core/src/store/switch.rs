//! Kill switches, disables and enablement rows.

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, Timestamp, Workspace, words};

/// What a switch does to its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchKind {
    /// While it is on, calls of the tool are refused. Running calls go on.
    Disable,
    /// While it is on, the tool is among those that [`Enablement`](crate::Enablement) lets a turn see.
    Enable,
    /// While it is on, calls of the tool are refused, and running calls are cancelled.
    Kill,
}

words!(SwitchKind {
    Disable = "disable",
    Enable = "enable",
    Kill = "kill",
});

/// What identifies a switch. Keys are ordered as lists are: switches of every workspace first, then by workspace, kind, tool and source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SwitchKey {
    /// The workspace where it holds; `None` for every workspace of the host.
    pub workspace: Option<Workspace>,
    /// What it does.
    pub kind: SwitchKind,
    /// The tool's own name.
    pub tool: String,
    /// Where an enablement row comes from: `manual` or `skill`. Empty for the other kinds.
    pub source: String,
}

/// A switch as it was last set: a row stays when the switch is turned off, so that it says who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// What identifies it.
    pub key: SwitchKey,
    /// Whether it is on.
    pub on: bool,
    /// The operator who set it.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}

impl Switch {
    /// Refuses what [`SwitchStore::set`] does not take whatever is stored: Conflict where the tool or the operator has no name, and
    /// where an enablement row has no source or another switch has one.
    pub fn check(&self) -> Result<(), StoreError> {
        let SwitchKey { kind, source, .. } = &self.key;
        let why = if self.key.tool.is_empty() {
            "a switch names no tool, give the tool's own name".to_owned()
        } else if self.by.is_empty() {
            "a switch names no operator, give the name of the user who sets it".to_owned()
        } else if (*kind == SwitchKind::Enable) == source.is_empty() {
            format!(
                "a switch of kind `{kind}` has the source `{source}`, only enablement rows have a source: `manual` or `skill`"
            )
        } else {
            return Ok(());
        };
        Err(StoreError::Conflict(why))
    }
}

/// Which switches are meant: those that agree with every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchFilter {
    /// Switches of this kind.
    pub kind: Option<SwitchKind>,
    /// Switches of this tool.
    pub tool: Option<String>,
    /// Switches that are on, or off.
    pub on: Option<bool>,
    /// At most this many.
    pub limit: Option<u32>,
    /// Those after this key: the key of the last switch of the page before.
    pub after: Option<SwitchKey>,
}

impl SwitchFilter {
    /// Whether a switch is meant; `limit` is the caller's to keep.
    pub fn admits(&self, switch: &Switch) -> bool {
        let key = &switch.key;
        self.kind.is_none_or(|kind| kind == key.kind)
            && self.tool.as_ref().is_none_or(|tool| *tool == key.tool)
            && self.on.is_none_or(|on| on == switch.on)
            && self.after.as_ref().is_none_or(|after| key > after)
    }
}

/// Keeps switches for all processes of a host. [`Switches`](crate::Switches) is what a host asks.
///
/// ```
/// use tool_core::store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let key = SwitchKey {
///     workspace: Some("acme".into()), kind: SwitchKind::Kill, tool: "send_mail".into(), source: String::new(),
/// };
/// let kill = Switch { key, on: true, by: "olga".into(), reason: Some("spam".into()), at: Timestamp::now() };
/// let before = store.version().await?;
/// assert!(store.set(kill.clone()).await?);
/// assert!(store.version().await? > before);
/// assert_eq!(store.in_force().await?, [kill]);
/// # Ok(())
/// # }
/// ```
pub trait SwitchStore: Send + Sync + 'static {
    /// Whether what is stored survives the process and is shared with others that open the same store.
    fn is_durable(&self) -> bool;

    /// Stores a switch in place of the one of its key, and raises the [version](Self::version) in the same transaction. True where that
    /// turned it on or off; a switch that was never set is off. Conflict for what [`Switch::check`] refuses.
    fn set(&self, switch: Switch) -> StoreFuture<'_, bool>;

    /// A number that grows with every [`set`](Self::set). A read sees every change whose `set` ended before the read began, also those
    /// of other processes.
    fn version(&self) -> StoreFuture<'_, u64>;

    /// The kill switches and disables of all workspaces that are on, by key.
    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>>;

    /// The enablement rows of a workspace and those of every workspace, on and off, by key.
    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>>;

    /// The switches of a scope that a filter means, on and off, by key. `Scope::Workspace` leaves out those of every workspace.
    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>>;

    /// Removes at most `most` kill switches and disables of a scope that were turned off before `since`, and returns how many.
    /// Enablement rows stay.
    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64>;
}
