//! Kill switches, disables and enablement rows.

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, Timestamp, Workspace, words};

/// The effect of a switch on its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchKind {
    /// While the switch is on, calls of the tool are refused. Running calls continue.
    Disable,
    /// While the switch is on, `tool_core::Enablement` shows the tool to turns.
    Enable,
    /// While the switch is on, calls of the tool are refused, and running calls are cancelled.
    Kill,
}

words!(SwitchKind {
    Disable = "disable",
    Enable = "enable",
    Kill = "kill",
});

/// The identity of a switch. Keys sort in the order of lists: switches for every workspace first, then by workspace, kind, tool and source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SwitchKey {
    /// The workspace that the switch applies to; `None` for every workspace of the host.
    pub workspace: Option<Workspace>,
    /// The effect of the switch.
    pub kind: SwitchKind,
    /// The tool's own name.
    pub tool: String,
    /// The source of an enablement row: `manual` or `skill`. Empty for the other kinds.
    pub source: String,
}

/// A switch as it was last set. The row is not removed when the switch is turned off, so that it records the operator who turned it off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// The key of the switch.
    pub key: SwitchKey,
    /// Whether the switch is on.
    pub on: bool,
    /// The operator who set the switch.
    pub by: String,
    /// Why the operator set the switch.
    pub reason: Option<String>,
    /// When the operator set the switch.
    pub at: Timestamp,
}

impl Switch {
    /// Checks the conditions of [`SwitchStore::set`] that do not depend on stored rows: fails with `Conflict` if the tool or the operator is empty,
    /// if an enablement row has no source, or if a switch of a different kind has a source.
    pub fn check(&self) -> Result<(), StoreError> {
        let SwitchKey { kind, source, .. } = &self.key;
        let why = if self.key.tool.is_empty() {
            "the switch has no tool, give the tool's own name".to_owned()
        } else if self.by.is_empty() {
            "the switch has no operator, give the name of the user who sets it".to_owned()
        } else if (*kind == SwitchKind::Enable) == source.is_empty() {
            format!(
                "a switch of kind `{kind}` has the source `{source}`: set `manual` or `skill` for kind `enable`, and leave the source of other kinds empty"
            )
        } else {
            return Ok(());
        };
        Err(StoreError::Conflict(why))
    }
}

/// A filter for switches: a switch must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchFilter {
    /// Switches of this kind.
    pub kind: Option<SwitchKind>,
    /// Switches of this tool.
    pub tool: Option<String>,
    /// Only switches that are on, or only switches that are off.
    pub on: Option<bool>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only switches after it. It is the key of the last switch of the previous page.
    pub after: Option<SwitchKey>,
}

impl SwitchFilter {
    /// Returns whether the filter admits a switch. The caller applies `limit`.
    pub fn admits(&self, switch: &Switch) -> bool {
        let key = &switch.key;
        self.kind.is_none_or(|kind| kind == key.kind)
            && self.tool.as_ref().is_none_or(|tool| *tool == key.tool)
            && self.on.is_none_or(|on| on == switch.on)
            && self.after.as_ref().is_none_or(|after| key > after)
    }
}

/// A store of switches for all processes of a host. A host reads it through `tool_core::Switches`.
///
/// ```
/// use tool_store::*;
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
    /// Returns whether stored switches survive the process and are shared with other processes that open the same store.
    fn is_durable(&self) -> bool;

    /// Stores a switch in place of the switch with the same key, and increases the [version](Self::version) in the same transaction. Returns true if
    /// the call turned the switch on or off; a switch that was never set is off. Fails with `Conflict` if [`Switch::check`] fails.
    fn set(&self, switch: Switch) -> StoreFuture<'_, bool>;

    /// Returns a number that increases with every [`set`](Self::set). The result reflects every `set` that ended before this call began, including
    /// calls of other processes.
    fn version(&self) -> StoreFuture<'_, u64>;

    /// Completes when the store detects that its [version](Self::version) is later than `version`, for example by a notification of the database. The
    /// caller must also poll, because a notification may be lost. The default implementation never completes.
    fn changed(&self, version: u64) -> StoreFuture<'_, ()> {
        let _ = version;
        Box::pin(std::future::pending())
    }

    /// Returns the kill switches and disables of all workspaces that are on, ordered by key.
    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>>;

    /// Returns the enablement rows of a workspace and the enablement rows for every workspace, on and off, ordered by key.
    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>>;

    /// Returns the switches of a scope that the filter admits, on and off, ordered by key. `Scope::Workspace` leaves out the switches for every
    /// workspace.
    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>>;

    /// Removes at most `most` kill switches and disables of a scope that were turned off before `since`, and returns their number.
    /// Enablement rows are not removed.
    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64>;
}
