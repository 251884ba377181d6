//! Which effects were begun, and how they ended.

use serde::{Deserialize, Serialize};

use super::audit::AuditRow;
use super::{CallId, CallKey, Journal, Scope, StoreError, StoreFuture, Timestamp, words};

/// That a tool with effects is about to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The identity of the call, and so of the effect; its key is the idempotency key that the tool is given.
    pub identity: CallId,
    /// The key that a version before 0.2 gave to the same call, where there may be a row of such a version. It is of the same workspace.
    pub earlier: Option<CallKey>,
    /// The model's own id of the call.
    pub call: String,
    /// The conversation.
    pub thread: Option<String>,
    /// The agent that asks.
    pub agent: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// Hash of the tool's contract.
    pub contract: String,
    /// The requesting user.
    pub principal: String,
    /// Hash of the canonical arguments.
    pub arguments_hash: String,
    /// Who runs it. One run of the body has one owner: two attempts never share a name.
    pub owner: String,
    /// When it begins.
    pub at: Timestamp,
    /// From then on others may hold the owner for dead; [`EffectLedger::renew`] moves it.
    pub lease_until: Timestamp,
}

impl Intent {
    /// Refuses what [`EffectLedger::begin`] does not take whatever is stored: Conflict where the earlier key is of another workspace.
    pub fn check(&self) -> Result<(), StoreError> {
        match &self.earlier {
            Some(earlier) if earlier.workspace() != self.identity.workspace() => {
                Err(StoreError::Conflict(format!(
                    "effect `{}` has an earlier key of another workspace, give the key of its own workspace",
                    self.identity.key()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Where an effect stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// Begun; its owner is alive as far as the lease says.
    Running,
    /// It took effect.
    Succeeded,
    /// It did not.
    Failed,
    /// Begun, and nobody knows how it ended.
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
    /// What was begun, with the lease as it stands.
    pub intent: Intent,
    /// Where it stands.
    pub state: EffectState,
    /// What is answered to a replay, as JSON.
    pub result: Option<String>,
    /// When the end or the resolution came.
    pub ended: Option<Timestamp>,
    /// Whether the end came after the lease, an earlier run of the call ended after an operator had released it and this one had begun, or
    /// the body ended in another way than an operator had settled.
    pub late: bool,
    /// The operator who resolved a doubt about it.
    pub resolved_by: Option<String>,
    /// Which attempt this is: the first is 1, and each rerun of an operator is the next one.
    pub attempt: u32,
}

/// What came of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "returned once and taken apart at once"
)]
pub enum Begun {
    /// The row is stored: run the body.
    New,
    /// The row of a later attempt is stored, which an operator has allowed: run the body.
    Again {
        /// The number of the attempt.
        attempt: u32,
        /// The operator.
        operator: String,
    },
    /// The effect is there already, in whatever state: do not run the body.
    Replay(EffectRow),
}

impl Begun {
    /// The audit row to store together with the row of the effect; none where no row of the effect is stored.
    pub fn audit_row(&self, row: AuditRow) -> Option<AuditRow> {
        match self {
            Self::New => Some(row),
            Self::Again { attempt, operator } => Some(row.again(*attempt, operator)),
            Self::Replay(_) => None,
        }
    }
}

/// How the body ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectEnd {
    /// Anything but [`EffectState::Running`].
    pub state: EffectState,
    /// What a replay answers, as JSON.
    pub result: Option<String>,
    /// When.
    pub at: Timestamp,
    /// Whether the key is released in the same step: the call has had no effect and only waits, and its next dispatch runs it again. The
    /// state is [`EffectState::Failed`] then.
    #[serde(default)]
    pub released: bool,
}

/// Whether an end came within the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// Before the lease was over.
    InTime,
    /// After it, or when the row was ambiguous already. The row now says what the end says, and that it was late.
    Late,
}

/// What an operator found out about an ambiguous effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It took effect; this is the result to answer, as JSON.
    Succeeded(String),
    /// It did not take effect; this is the result to answer.
    Failed(String),
    /// It may run once more.
    Rerun,
}

impl Resolution {
    /// The resolution as a word, without its result.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded(_) => "succeeded",
            Self::Failed(_) => "failed",
            Self::Rerun => "rerun",
        }
    }
}

/// Which effects are meant: those that agree with every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectFilter {
    /// Effects in this state.
    pub state: Option<EffectState>,
    /// Effects of this tool.
    pub tool: Option<String>,
    /// Effects for this user.
    pub principal: Option<String>,
    /// Effects of this conversation.
    pub thread: Option<String>,
    /// At most this many.
    pub limit: Option<u32>,
    /// Newest first; oldest first where it is not set.
    pub newest_first: bool,
    /// Those after this place in the order: [`EffectRow::place`] of the last row of the page before.
    pub after: Option<(Timestamp, CallKey)>,
}

impl EffectFilter {
    /// Whether a row is meant; `limit` is the caller's to keep.
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

    /// The page of all rows, which are by `at`, then key.
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

/// Keeps what was begun, so that no effect happens twice and none is claimed that did not happen.
///
/// ```
/// use std::time::Duration;
/// use tool_core::store::*;
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
/// // The owner dies. After its lease the same call neither runs again nor claims an outcome.
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
    /// Whether what is stored survives the process and is shared with others that open the same store.
    fn is_durable(&self) -> bool;

    /// The transactions of the database that this store is a part of; `None` where each of its changes is a transaction of its own.
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Claims the key of an intent's identity. [`Begun::New`] and [`Begun::Again`] store the intent and the audit row of
    /// [`Begun::audit_row`] in one transaction; a row that is there already is returned instead, and then the audit row is not written. A
    /// running row whose lease is over at `intent.at` becomes ambiguous first.
    ///
    /// Where there is no row of the key, the row of `intent.earlier` is looked for, and treated as if it had the key. The row of a rerun
    /// replaces it.
    ///
    /// Every method that takes a key finds the row with that key, or else the row that was begun with it as `intent.earlier` (of several,
    /// the first by `at`, then key). So a call is not begun under both of its keys.
    ///
    /// Conflict where the key belongs to a different call id, tool, arguments, principal or agent, and for what [`Intent::check`]
    /// refuses: nothing is stored. A different principal or agent of the same conversation may begin a call whose key is released.
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun>;

    /// Takes the key of a call that must not run any more: what [`begin`](Self::begin) would store as running is stored as
    /// [`Failed`](EffectState::Failed) with `result`, in one write. No crash leaves a call in doubt that never ran. A row that is there already is
    /// returned and stays as it is.
    ///
    /// Without an implementation of its own, a store begins the call and ends it, which are two writes.
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
                // Begun by this call before, whose answer was lost.
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

    /// Moves the lease of a running row to `until`, never back. False where the row is not running or not this owner's.
    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Records how the body ended. An ambiguous row becomes what a late end says, also where it was released for a rerun that nobody
    /// has begun.
    ///
    /// The end of an earlier run, whose call was released and begun again, is a Conflict that marks the row as
    /// [`late`](EffectRow::late): both runs may have taken effect. So is an end that contradicts what an operator has settled while the
    /// body ran.
    ///
    /// An end that is [`released`](EffectEnd::released) releases the key as [`Resolution::Rerun`] does, in the same write, so that no
    /// crash leaves a call in doubt that only waits. The next [`begin`](Self::begin) has the number of the same attempt, and is
    /// [`Begun::New`] where that is the first.
    ///
    /// Missing for an unknown key. Conflict where the owner is another, where the row has succeeded or failed already, and for an end
    /// that says `Running`, or that is released and does not say `Failed`.
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended>;

    /// The row of a key; none where it is unknown or released.
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>>;

    /// Settles an ambiguous row by an operator's word, and returns it. A running row whose lease is over at `now` counts as ambiguous.
    ///
    /// [`Resolution::Rerun`] releases the key: [`get`](Self::get) and [`list`](Self::list) no longer know it, and the next
    /// [`begin`](Self::begin) is [`Begun::Again`], with the next attempt's number and the operator's name.
    ///
    /// Missing for an unknown or released key, Conflict where the row is not ambiguous.
    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow>;

    /// Settles a row as [`resolve`](Self::resolve) does, also one that is running and whose lease is not over. Only for an operator who
    /// knows that its owner is dead.
    ///
    /// Without an implementation of its own, a store resolves the row at the end of its lease, which the row then names as its end.
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

    /// Turns every running row of a scope whose lease is over at `now` to ambiguous, and returns those rows, by `at`, then key.
    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>>;

    /// The rows of a scope, in a state or in all, by `at`, then key.
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>>;

    /// A page of the rows of a scope that a filter means, by `at`, then key, or the other way round for
    /// [`newest_first`](EffectFilter::newest_first). Without an implementation of its own, a store reads its whole
    /// [`list`](Self::list) for each page.
    fn page<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EffectFilter,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        Box::pin(async move { Ok(filter.page(self.list(scope, filter.state).await?)) })
    }
}
