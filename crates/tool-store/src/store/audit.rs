//! Audit rows of calls and of changes by operators, and the sink that stores the rows.

use serde::{Deserialize, Serialize};

use super::{CallId, CallKey, Journal, Scope, StoreFuture, Timestamp, Workspace};

/// A note in an audit row. Tools and hooks add notes to the row of a call, and the row of a change by an operator has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditNote {
    /// The name of the action.
    pub action: String,
    /// Details of the action, as JSON.
    pub details: String,
}

/// The audit record of one call, or of one change by an operator ([`AuditRow::of_operator`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// The identity of the call or of the change, which contains the workspace. A call has one row. Each later attempt that an operator has allowed
    /// has a separate row, under [`CallId::attempt`].
    pub identity: CallId,
    /// The model's own id of the call; in the row of a change by an operator, the id of the changed call, or empty.
    pub call: String,
    /// The conversation of the call, or of the changed row.
    pub thread: Option<String>,
    /// The user for whom the call was made, or the operator who made the change.
    pub principal: Option<String>,
    /// The user whose rights the tool ran with, if it is not the requesting user.
    pub runtime_user: Option<String>,
    /// The agent that made the call.
    pub agent: Option<String>,
    /// The id of the session in the context of the call.
    pub session: Option<String>,
    /// The tool's name, as the model wrote it; in the row of a change by an operator, the name of the changed tool, or empty.
    pub tool: String,
    /// Hash of the tool's contract.
    pub contract: Option<String>,
    /// The bits of the tool's `tool_core::Effect`.
    pub effect: u8,
    /// The layer that hid the tool, if the tool was hidden.
    pub layer: Option<String>,
    /// Id of the policy's decision.
    pub decision: Option<String>,
    /// Version of the policy that decided.
    pub policy: Option<String>,
    /// The id of the approval with which the call ran, or that the operator changed.
    pub approval: Option<String>,
    /// The user who approved the call.
    pub approver: Option<String>,
    /// `ok`, a name of `tool_core::ErrorKind::as_str`, or `None` while the call runs. It is `ok` in the row of a change by an operator.
    pub outcome: Option<String>,
    /// The text of the error for operators, redacted.
    pub error: Option<String>,
    /// The redacted arguments, as JSON.
    pub arguments: String,
    /// Hash of the arguments as the caller sent them; empty in the row of a change by an operator.
    pub original_hash: String,
    /// Hash of the arguments as the tool read them.
    pub used_hash: Option<String>,
    /// The beginning of the output, redacted.
    pub output: Option<String>,
    /// Length of the complete output, in bytes.
    pub output_bytes: Option<u64>,
    /// The number of the attempt; the first is 1.
    pub attempt: u32,
    /// When the call began, or when the operator made the change.
    pub started: Timestamp,
    /// How long the call took, in microseconds.
    pub duration_us: Option<u64>,
    /// The notes of the tool, of hooks and of the operator.
    pub notes: Vec<AuditNote>,
}

impl AuditRow {
    /// Creates the row of a call that began at `started`. The identity contains the conversation; all other fields have their defaults.
    pub fn new(
        identity: CallId,
        call: impl Into<String>,
        tool: impl Into<String>,
        started: Timestamp,
    ) -> Self {
        Self {
            thread: identity.conversation().map(str::to_owned),
            identity,
            call: call.into(),
            principal: None,
            runtime_user: None,
            agent: None,
            session: None,
            tool: tool.into(),
            contract: None,
            effect: 0,
            layer: None,
            decision: None,
            policy: None,
            approval: None,
            approver: None,
            outcome: None,
            error: None,
            arguments: String::new(),
            original_hash: String::new(),
            used_hash: None,
            output: None,
            output_bytes: None,
            attempt: 1,
            started,
            duration_us: None,
            notes: Vec::new(),
        }
    }

    /// Turns this row into the row of a later attempt that an operator has allowed: sets the identity of the attempt, and adds a note `effect.rerun`
    /// that contains the key of the call, the attempt and the operator.
    #[must_use]
    pub fn again(mut self, attempt: u32, operator: &str) -> Self {
        let key = self.identity.key();
        let details = serde_json::json!({
            "key": key.as_str(),
            "attempt": attempt,
            "operator": operator,
        });
        self.notes.push(AuditNote {
            action: "effect.rerun".to_owned(),
            details: details.to_string(),
        });
        self.identity = self.identity.attempt(attempt);
        self
    }

    /// Outcomes of a call that is still open and may be dispatched again: it waits for an approval, it did not begin, the end of an earlier run
    /// is unknown, or it was a read whose result was not stored.
    pub const OPEN: &'static [&'static str] = &["pending", "unavailable", "interrupted"];

    /// Returns whether the outcome is final: it is set and is not one of [`OPEN`](Self::OPEN). A store never replaces such a row.
    pub fn is_final(&self) -> bool {
        self.outcome
            .as_deref()
            .is_some_and(|outcome| !Self::OPEN.contains(&outcome))
    }

    /// Returns whether the call has failed: its outcome is final and not `ok`.
    pub fn is_failed(&self) -> bool {
        self.is_final() && self.outcome.as_deref() != Some("ok")
    }

    /// Returns the row's position in the order of exports: `started`, then key.
    pub fn place(&self) -> (Timestamp, super::CallKey) {
        (self.started, self.identity.key())
    }
}

/// A filter for audit rows: a row must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFilter {
    /// Only calls for this user, and changes by this operator.
    pub principal: Option<String>,
    /// Only calls and changes of this tool.
    pub tool: Option<String>,
    /// Only calls to which the model gave this id, and changes of these calls, such as an answer to an approval request.
    pub call: Option<String>,
    /// Only calls and changes of this conversation.
    pub thread: Option<String>,
    /// Only rows with this outcome: `ok`, or a name of `tool_core::ErrorKind::as_str`.
    pub outcome: Option<String>,
    /// Only calls that have failed: their outcome is final and not `ok`.
    #[serde(default)]
    pub failed: bool,
    /// Only calls with this decision of the policy.
    pub decision: Option<String>,
    /// Only calls that began, and changes that were made, at this time or later.
    pub since: Option<Timestamp>,
    /// Only calls that began, and changes that were made, before this time.
    pub until: Option<Timestamp>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// Newest first if set, else oldest first.
    pub newest_first: bool,
    /// The cursor: only rows after it. It is [`AuditRow::place`] of the last row of the previous page.
    pub after: Option<(Timestamp, CallKey)>,
}

impl AuditFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &AuditRow) -> bool {
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
        };
        is(&self.principal, row.principal.as_ref())
            && is(&self.tool, Some(&row.tool))
            && is(&self.call, Some(&row.call))
            && is(&self.thread, row.thread.as_ref())
            && is(&self.outcome, row.outcome.as_ref())
            && (!self.failed || row.is_failed())
            && is(&self.decision, row.decision.as_ref())
            && self.since.is_none_or(|since| row.started >= since)
            && self.until.is_none_or(|until| row.started < until)
            && self.after.as_ref().is_none_or(|after| {
                let place = row.place();
                if self.newest_first {
                    place < *after
                } else {
                    place > *after
                }
            })
    }
}

/// A store of audit rows: one row for each call, for each later attempt of a call, and for each change by an operator.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let acme = Workspace::new("acme");
/// let identity = CallId::in_thread(&ThreadId::new(&acme, "main")?, 4, 0);
/// let running = AuditRow::new(identity, "call_0", "send_mail", Timestamp::now());
/// let ended = AuditRow { outcome: Some("ok".into()), duration_us: Some(310), ..running.clone() };
/// store.write(vec![running.clone()]).await?;
/// store.write(vec![ended.clone()]).await?;
/// store.write(vec![running]).await?; // dropped, because the outcome of the stored row is final
/// assert_eq!(store.export(Scope::Workspace(&acme), &AuditFilter::default()).await?, [ended]); // a call has one row
/// # Ok(())
/// # }
/// ```
pub trait AuditSink: Send + Sync + 'static {
    /// Returns the transactions of the database that this store belongs to; `None` if each of its changes is a separate transaction.
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Stores all rows or none. A call has one row: a new row replaces the row of the same identity. If the outcome of the stored row is
    /// [final](AuditRow::is_final), the store drops the new row instead.
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()>;

    /// Returns the rows of a scope that the filter admits, ordered by `started`, then key, or in reverse order for
    /// [`newest_first`](AuditFilter::newest_first).
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>>;

    /// Removes every row of one user in one workspace, except the rows of changes that the user made as an operator ([`AuditRow::is_of_operator`]),
    /// and returns the number of removed rows.
    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64>;

    /// Removes every row of a scope whose call began, or whose change was made, before `since`. Returns the number of removed rows.
    ///
    /// The stores on SQLite and PostgreSQL remove the rows in transactions of at most about 20 ms, so that calls can run in between. After an error,
    /// some rows may have been removed. On PostgreSQL, rows that a different transaction has locked remain until the next call.
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64>;
}
