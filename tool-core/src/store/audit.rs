//! One row for each call.

use serde::{Deserialize, Serialize};

use super::{StoreFuture, Timestamp};

/// Something that a tool or a hook wants remembered about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditNote {
    /// What was done.
    pub action: String,
    /// More about it, as JSON.
    pub details: String,
}

/// What is remembered of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// Names the row: unique to the call among all calls of the host.
    pub id: String,
    /// The call's id within its turn.
    pub call: String,
    /// The turn.
    pub turn: Option<String>,
    /// The thread.
    pub thread: Option<String>,
    /// The workspace.
    pub tenant: Option<String>,
    /// The requesting user.
    pub principal: Option<String>,
    /// The user whose rights the tool ran with, where that is another.
    pub runtime_user: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The tool's name, as the model wrote it.
    pub tool: String,
    /// Hash of the tool's contract.
    pub contract: Option<String>,
    /// The bits of the tool's [`Effect`](crate::Effect).
    pub effect: u8,
    /// The layer that hid the tool, where one did.
    pub layer: Option<String>,
    /// Id of the policy's decision.
    pub decision: Option<String>,
    /// Version of the policy.
    pub policy: Option<String>,
    /// The approval that let the call run.
    pub approval: Option<String>,
    /// Who gave that approval.
    pub approver: Option<String>,
    /// `ok`, a word of [`ErrorKind::as_str`](crate::ErrorKind::as_str), or none while the call runs.
    pub outcome: Option<String>,
    /// The operator's text of the error, redacted.
    pub error: Option<String>,
    /// The arguments in the form that may be stored, as JSON.
    pub arguments: String,
    /// Hash of the arguments as they arrived.
    pub original_hash: String,
    /// Hash of the arguments as the tool read them.
    pub used_hash: Option<String>,
    /// The beginning of the output, redacted.
    pub output: Option<String>,
    /// Length of the whole output.
    pub output_bytes: Option<u64>,
    /// Which attempt this was; the first is 1.
    pub attempt: u32,
    /// When the call arrived.
    pub started: Timestamp,
    /// How long it took, in microseconds.
    pub duration_us: Option<u64>,
    /// What the tool and hooks noted.
    pub notes: Vec<AuditNote>,
}

/// Which rows are meant: those that agree with every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFilter {
    /// Calls of this workspace.
    pub tenant: Option<String>,
    /// Calls for this user.
    pub principal: Option<String>,
    /// Calls of this tool.
    pub tool: Option<String>,
    /// Calls of this id.
    pub call: Option<String>,
    /// Calls that arrived then or later.
    pub since: Option<Timestamp>,
    /// Calls that arrived before.
    pub until: Option<Timestamp>,
    /// At most this many.
    pub limit: Option<u32>,
}

impl AuditFilter {
    /// Whether a row is meant; `limit` is the caller's to keep.
    pub fn admits(&self, row: &AuditRow) -> bool {
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
        };
        is(&self.tenant, row.tenant.as_ref())
            && is(&self.principal, row.principal.as_ref())
            && is(&self.tool, Some(&row.tool))
            && is(&self.call, Some(&row.call))
            && self.since.is_none_or(|since| row.started >= since)
            && self.until.is_none_or(|until| row.started < until)
    }
}

/// Keeps one row for each call.
///
/// ```
/// use tool_core::store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let running = AuditRow { id: "t1/c1".into(), call: "c1".into(), tool: "send_mail".into(), ..AuditRow::default() };
/// let ended = AuditRow { outcome: Some("ok".into()), duration_us: Some(310), ..running.clone() };
/// store.write(vec![running]).await?;
/// store.write(vec![ended.clone()]).await?;
/// assert_eq!(store.export(&AuditFilter::default()).await?, [ended]); // a call has one row
/// # Ok(())
/// # }
/// ```
pub trait AuditSink: Send + Sync + 'static {
    /// Stores rows, all or none. A row whose id is there replaces it, so a call has one row; of two with one id the last stays.
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()>;

    /// The rows that a filter means, by `started`, then `id`.
    fn export<'a>(&'a self, filter: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>>;

    /// Removes every row of one user in one workspace, and returns how many.
    fn erase<'a>(&'a self, tenant: &'a str, principal: &'a str) -> StoreFuture<'a, u64>;

    /// Removes every row of a call that arrived before `since`, and returns how many.
    fn retain(&self, since: Timestamp) -> StoreFuture<'_, u64>;
}
