//! The effect ledger: a record of effects that were begun, and of their outcomes.

use serde::{Deserialize, Serialize};

use super::audit::AuditRow;
use super::{CallId, CallKey, Journal, Scope, StoreError, StoreFuture, Timestamp, words};

/// The intent to run a tool with effects, which is stored before the tool runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The identity of the call, which also identifies the effect. Its key is the idempotency key that the tool receives.
    pub identity: CallId,
    /// The key that a version without call identities gave to the same call, if such a version may have stored a row. Both keys must belong to one
    /// workspace.
    pub earlier: Option<CallKey>,
    /// The model's own id of the call.
    pub call: String,
    /// The conversation of the call.
    pub thread: Option<String>,
    /// The agent that makes the call.
    pub agent: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// Hash of the tool's contract.
    pub contract: String,
    /// The user for whom the call is made.
    pub principal: String,
    /// Hash of the canonical arguments.
    pub arguments_hash: String,
    /// Identifies the run of the tool's body that owns the row. Each run of a body has a different text.
    pub owner: String,
    /// When the run begins.
    pub at: Timestamp,
    /// When the lease expires: from then on, other processes may assume that the owner is dead. [`EffectLedger::renew`] extends the lease.
    pub lease_until: Timestamp,
}

impl Intent {
    /// Checks the conditions of [`EffectLedger::begin`] that do not depend on stored rows: fails with `Conflict` if the earlier key belongs to a
    /// different workspace.
    pub fn check(&self) -> Result<(), StoreError> {
        match &self.earlier {
            Some(earlier) if earlier.workspace() != self.identity.workspace() => {
                Err(StoreError::Conflict(format!(
                    "effect `{}` has an earlier key of a different workspace, pass a key of the effect's workspace",
                    self.identity.key()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// The state of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// The effect was begun, and no store operation has found its lease expired.
    Running,
    /// The tool took effect.
    Succeeded,
    /// The tool did not take effect.
    Failed,
    /// The effect was begun, and its outcome is unknown.
    Ambiguous,
}

words!(EffectState {
    Running = "running",
    Succeeded = "succeeded",
    Failed = "failed",
    Ambiguous = "ambiguous",
});

/// An effect as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRow {
    /// The intent, with the current lease.
    pub intent: Intent,
    /// The state of the effect.
    pub state: EffectState,
    /// The result that a replay returns, as JSON.
    pub result: Option<String>,
    /// When the effect ended or was resolved.
    pub ended: Option<Timestamp>,
    /// Whether an end was recorded that came too late. This is the case if
    ///
    /// - the end came after the lease,
    /// - an earlier attempt ended after an operator had released the call and this attempt had begun, or
    /// - the end of the body contradicted an operator's resolution.
    pub late: bool,
    /// The operator who settled the effect, or who allowed the last rerun of the call.
    pub resolved_by: Option<String>,
    /// The number of this attempt: the first is 1, and each rerun that an operator allows adds 1.
    pub attempt: u32,
}

/// The result of [`EffectLedger::begin`] and of [`EffectLedger::close_call`]. The caller runs the body only after `begin`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "each value is matched right after it is returned"
)]
pub enum Begun {
    /// The row is stored. After `begin`, the caller must run the body.
    New,
    /// The row of a later attempt that an operator has allowed is stored. After `begin`, the caller must run the body.
    Again {
        /// The number of the attempt.
        attempt: u32,
        /// The operator who allowed the attempt.
        operator: String,
    },
    /// The effect was begun before, and this is its row. The caller must not run the body.
    Replay(EffectRow),
}

impl Begun {
    /// Returns the audit row to store together with the row of the effect; `None` if no row of the effect is stored.
    pub fn audit_row(&self, row: AuditRow) -> Option<AuditRow> {
        match self {
            Self::New => Some(row),
            Self::Again { attempt, operator } => Some(row.again(*attempt, operator)),
            Self::Replay(_) => None,
        }
    }
}

/// The end of the body of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectEnd {
    /// The new state of the effect: any state except [`EffectState::Running`].
    pub state: EffectState,
    /// The result that a replay returns, as JSON.
    pub result: Option<String>,
    /// When the body ended.
    pub at: Timestamp,
    /// Whether the key is released in the same step: the call has had no effect and only waits, and its next dispatch runs it again. The
    /// state must then be [`EffectState::Failed`].
    #[serde(default)]
    pub released: bool,
}

/// Whether an end came within the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// The end came before the lease expired.
    InTime,
    /// The end came after the lease, or when the row was ambiguous already. The row now has the state of the end, and is marked as late.
    Late,
}

/// An operator's resolution of an ambiguous effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The tool took effect; this is the result to return, as JSON.
    Succeeded(String),
    /// The tool did not take effect; this is the result to return.
    Failed(String),
    /// The call may run once more.
    Rerun,
}

impl Resolution {
    /// Returns the name of the resolution, without its result.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded(_) => "succeeded",
            Self::Failed(_) => "failed",
            Self::Rerun => "rerun",
        }
    }
}

/// A filter for effects: an effect must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectFilter {
    /// Only effects in this state.
    pub state: Option<EffectState>,
    /// Only effects of this tool.
    pub tool: Option<String>,
    /// Only effects for this user.
    pub principal: Option<String>,
    /// Only effects of this conversation.
    pub thread: Option<String>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// Newest first if set, else oldest first.
    pub newest_first: bool,
    /// The cursor: only rows after it. It is [`EffectRow::place`] of the last row of the previous page.
    pub after: Option<(Timestamp, CallKey)>,
}

impl EffectFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &EffectRow) -> bool {
        let intent = &row.intent;
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
        };
        self.state.is_none_or(|state| state == row.state)
            && is(&self.tool, Some(&intent.tool))
            && is(&self.principal, Some(&intent.principal))
            && is(&self.thread, intent.thread.as_ref())
            && self.after.as_ref().is_none_or(|after| {
                let place = row.place();
                if self.newest_first {
                    place < *after
                } else {
                    place > *after
                }
            })
    }

    /// Selects the page of the filter from all rows, which must be ordered by `at`, then key.
    pub(crate) fn page(&self, mut rows: Vec<EffectRow>) -> Vec<EffectRow> {
        rows.retain(|row| self.admits(row));
        if self.newest_first {
            rows.reverse();
        }
        let limit = self.limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        rows.truncate(limit);
        rows
    }
}

/// A ledger of effects. It prevents an effect from happening twice unless an operator allows a rerun, and from being reported as successful when it
/// did not happen.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let now = Timestamp::now();
/// let text = |text: &str| text.to_owned();
/// let identity = CallId::in_thread(&ThreadId::new("acme", "main")?, 4, 0);
/// let intent = Intent {
///     identity: identity.clone(), earlier: None, call: text("call_0"), thread: Some(text("main")), agent: None,
///     tool: text("send_mail"), contract: text("9f2c"), principal: text("ann"), arguments_hash: text("77aa"), owner: text("run-1"),
///     at: now, lease_until: now.plus(Duration::from_secs(30)),
/// };
/// assert_eq!(store.begin(intent.clone(), None).await?, Begun::New);
///
/// // The owner dies. After its lease, the same call does not run again, and its outcome is unknown.
/// let again = Intent { owner: text("run-2"), at: now.plus(Duration::from_secs(60)), ..intent };
/// let Begun::Replay(row) = store.begin(again.clone(), None).await? else { unreachable!() };
/// assert_eq!(row.state, EffectState::Ambiguous);
///
/// store.resolve(&identity.key(), Resolution::Rerun, "olga", again.at).await?;
/// assert!(matches!(store.begin(again, None).await?, Begun::Again { attempt: 2, .. }));
/// # Ok(())
/// # }
/// ```
#[doc(alias("idempotency", "exactly once", "durable execution"))]
pub trait EffectLedger: Send + Sync + 'static {
    /// Returns whether stored rows survive the process and are shared with other processes that open the same store.
    fn is_durable(&self) -> bool;

    /// Returns the transactions of the database that this store belongs to; `None` if each of its changes is a separate transaction.
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Claims the key of an intent's identity. [`Begun::New`] and [`Begun::Again`] store the intent and the audit row of
    /// [`Begun::audit_row`] in one transaction. If a row exists already, the method returns this row and does not write the audit row. A
    /// running row whose lease has expired at `intent.at` becomes ambiguous first.
    ///
    /// If no row has the key, the row of `intent.earlier` is used instead, and the row of a released key is replaced with the new row.
    ///
    /// Every method that takes a key finds the row with that key, or else the row that was begun with it as `intent.earlier` (of several,
    /// the first by `at`, then key). So a call is not begun under both of its keys.
    ///
    /// Fails with `Conflict`, and stores nothing, if the key belongs to a different call id, tool, arguments, principal or agent, or if
    /// [`Intent::check`] fails. A different principal or agent of the same conversation may begin a call whose key is released.
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun>;

    /// Claims the key of a call that must not run: the row that [`begin`](Self::begin) would store as running is stored as
    /// [`Failed`](EffectState::Failed) with `result`, in one write. So a crash cannot leave the outcome of this call unknown, although it never ran.
    /// If a row exists already, the method returns this row like `begin`.
    ///
    /// The default implementation begins the call and then ends it, in two writes.
    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        Box::pin(async move {
            let (key, owner) = (intent.identity.key(), intent.owner.clone());
            let end = EffectEnd {
                state: EffectState::Failed,
                result,
                at: intent.at,
                released: false,
            };
            let begun = match self.begin(intent, None).await? {
                // An earlier attempt of this call has stored the row, and its response was lost.
                Begun::Replay(row)
                    if row.state == EffectState::Running && row.intent.owner == owner =>
                {
                    Begun::New
                }
                replay @ Begun::Replay(_) => return Ok(replay),
                begun => begun,
            };
            self.end(&key, &owner, end).await?;
            Ok(begun)
        })
    }

    /// Extends the lease of a running row to `until`, and never shortens it. Returns false if the key is unknown, or if the row is not running or
    /// belongs to a different owner.
    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Records how the body ended. A late end settles an ambiguous row, even if the row was released for a rerun that has
    /// not begun.
    ///
    /// The end of an earlier attempt, if an operator has released the call and the next attempt has begun, fails with `Conflict` and marks the row as
    /// [`late`](EffectRow::late): both attempts may have taken effect. The same applies to an end that contradicts the resolution of an operator who
    /// settled the effect while the body ran.
    ///
    /// An end that is [`released`](EffectEnd::released) releases the key like [`Resolution::Rerun`], in the same write, so that a crash cannot leave
    /// the outcome of a waiting call unknown. The next [`begin`](Self::begin) has the same attempt number, and returns [`Begun::New`] if this
    /// number is 1.
    ///
    /// Fails with `Missing` for an unknown key. Fails with `Conflict` if the row belongs to a different owner, if the row has succeeded or failed
    /// already, if the end's state is `Running`, or if a released end's state is not `Failed`.
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended>;

    /// Returns the row of a key; `None` if the key is unknown or released.
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>>;

    /// Settles an ambiguous row as an operator has decided, and returns the row. A running row whose lease has expired at `now` counts as ambiguous.
    ///
    /// [`Resolution::Rerun`] releases the key: [`get`](Self::get) and [`list`](Self::list) no longer return the row, and the next
    /// [`begin`](Self::begin) is [`Begun::Again`], with the next attempt's number and the operator's name.
    ///
    /// Fails with `Missing` for an unknown or released key, and with `Conflict` if the row is not ambiguous.
    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow>;

    /// Settles a row like [`resolve`](Self::resolve), even if it is running and its lease has not expired. The operator must have checked that the
    /// owner is dead.
    ///
    /// The default implementation resolves the row at the end of its lease, and stores that time as the row's end.
    fn force<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        Box::pin(async move {
            let row = self.get(key).await?;
            let at = row.map_or(now, |row| now.max(row.intent.lease_until));
            self.resolve(key, resolution, operator, at).await
        })
    }

    /// Marks every running row of a scope whose lease has expired at `now` as ambiguous, and returns those rows, ordered by `at`, then key.
    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>>;

    /// Returns the rows of a scope that are in `state`, or in any state if it is `None`, ordered by `at`, then key.
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>>;

    /// Returns a page of the rows of a scope that the filter admits, ordered by `at`, then key, or in reverse order for
    /// [`newest_first`](EffectFilter::newest_first). The default implementation reads the whole [`list`](Self::list) for each page.
    fn page<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EffectFilter,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        Box::pin(async move { Ok(filter.page(self.list(scope, filter.state).await?)) })
    }
}
