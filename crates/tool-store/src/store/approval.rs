//! Approval requests, and the answers to them.

use serde::{Deserialize, Serialize};

use super::{CallId, Scope, StoreFuture, Timestamp, Workspace, words};

/// The kind of subject of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// A single call of a tool.
    Call,
    /// A plan. Its answer is stored, and no tool runs.
    Plan,
}

words!(ApprovalKind { Call = "call", Plan = "plan", });

/// The subject of an approval, and the data that the approval is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The id of the request, unique in the store.
    pub id: String,
    /// Whether the subject is a call or a plan.
    pub kind: ApprovalKind,
    /// The identity of the call; a plan has its own identity. The identity contains the requester's workspace.
    pub identity: CallId,
    /// The conversation that the request belongs to.
    pub thread: Option<String>,
    /// The model's own id of the call; empty for a plan.
    pub call: String,
    /// The name of the tool; empty for a plan.
    pub tool: String,
    /// The user whose call or plan needs the approval.
    pub principal: String,
    /// The agent that acts for the requester.
    pub agent: Option<String>,
    /// Hash of the tool's contract when the request was made; empty for a plan.
    pub contract: String,
    /// The arguments of the call, or the plan, as canonical JSON.
    pub arguments: String,
    /// Version of the policy that required the approval; empty for a plan.
    pub policy: String,
    /// Id of the policy's decision; empty for a plan.
    pub decision: String,
    /// Whether the approver must not be the requester.
    pub four_eyes: bool,
    /// Why the approval is requested.
    pub reason: Option<String>,
    /// A random text that the approval's token must contain.
    pub nonce: String,
    /// When the approval was requested.
    pub created: Timestamp,
    /// When the request expires: from then on, it can be neither answered nor spent.
    pub expires: Timestamp,
    /// The model's own id of the outer call, if this call is nested.
    pub parent: Option<String>,
}

/// The decision of the approver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The approver approves the request as it is.
    Approve,
    /// The approver approves the request with these arguments instead, as canonical JSON.
    Edit(String),
    /// The approver denies the request.
    Deny,
}

/// An approver's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAnswer {
    /// Whether the approver approves, edits or denies.
    pub verdict: Verdict,
    /// The user who gave this answer.
    pub approver: String,
    /// The approver's reason for the verdict.
    pub reason: Option<String>,
    /// When the approver answered.
    pub at: Timestamp,
}

/// The status of a request.
///
/// ```text
/// Pending ─▶ Approved ─▶ Spent
///    │           ├─────▶ Expired
///    │           └─────▶ Withdrawn
///    └─▶ Denied · Expired · Withdrawn
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// The request is not answered yet.
    Pending,
    /// The request was approved, unchanged or edited, and the approval is not used yet.
    Approved,
    /// The approver denied the request.
    Denied,
    /// The request expired before it was answered or used.
    Expired,
    /// The approval was used.
    Spent,
    /// The request was withdrawn before it was used.
    Withdrawn,
}

words!(ApprovalStatus {
    Pending = "pending",
    Approved = "approved",
    Denied = "denied",
    Expired = "expired",
    Spent = "spent",
    Withdrawn = "withdrawn",
});

/// A request as it is stored, with its status and answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRow {
    /// The request, which never changes.
    pub request: ApprovalRequest,
    /// The status of the request.
    pub status: ApprovalStatus,
    /// The person who is asked to answer the request. The store does not refuse answers of others.
    pub assignee: Option<String>,
    /// The answer; `None` if the request is not answered.
    pub answer: Option<ApprovalAnswer>,
}

/// A filter for requests: a request must match every criterion that is set. `limit`, `newest_first` and `after` select a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalFilter {
    /// Requests by this user.
    pub principal: Option<String>,
    /// Requests assigned to this person.
    pub assignee: Option<String>,
    /// Requests for this tool.
    pub tool: Option<String>,
    /// The requests of the call with this [key](CallId::key).
    pub key: Option<String>,
    /// Requests of this conversation.
    pub thread: Option<String>,
    /// Requests with this status.
    pub status: Option<ApprovalStatus>,
    /// Only calls, or only plans.
    pub kind: Option<ApprovalKind>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// Newest first if set, else oldest first.
    pub newest_first: bool,
    /// The cursor: only rows after it. It contains `created` and `id` of the last row of the previous page.
    pub after: Option<(Timestamp, String)>,
}

impl ApprovalFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &ApprovalRow) -> bool {
        let request = &row.request;
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
        };
        is(&self.principal, Some(&request.principal))
            && is(&self.assignee, row.assignee.as_ref())
            && is(&self.tool, Some(&request.tool))
            && is(&self.thread, request.thread.as_ref())
            && self
                .key
                .as_deref()
                .is_none_or(|key| request.identity.key().as_str() == key)
            && self.status.is_none_or(|status| status == row.status)
            && self.kind.is_none_or(|kind| kind == request.kind)
            && self.after.as_ref().is_none_or(|(created, id)| {
                let place = (request.created, request.id.as_str());
                if self.newest_first {
                    place < (*created, id.as_str())
                } else {
                    place > (*created, id.as_str())
                }
            })
    }
}

/// A store of approval requests.
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
/// let main = ThreadId::new("acme", "main")?;
/// store.open(ApprovalRequest {
///     id: text("a1"), kind: ApprovalKind::Call, identity: CallId::in_thread(&main, 4, 0), thread: Some(text("main")), call: text("call_0"),
///     tool: text("send_mail"), principal: text("ann"), agent: None, contract: text("9f2c"), arguments: text(r#"{"to":"bob"}"#),
///     policy: text("v1"), decision: text("d1"), four_eyes: true, reason: None, nonce: text("n1"),
///     created: now, expires: now.plus(Duration::from_secs(3600)), parent: None,
/// }).await?;
///
/// let yes = |approver: &str| ApprovalAnswer { verdict: Verdict::Approve, approver: approver.to_owned(), reason: None, at: now };
/// let acme = main.workspace();
/// assert!(matches!(store.answer(acme, "a1", yes("ann")).await, Err(StoreError::Conflict(_)))); // her own request
/// assert_eq!(store.answer(acme, "a1", yes("eve")).await?.status, ApprovalStatus::Approved);
/// assert!(!store.spend(&"globex".into(), "a1", "n1", now).await?); // a different workspace cannot spend it
/// assert!(store.spend(acme, "a1", "n1", now).await?);
/// assert!(!store.spend(acme, "a1", "n1", now).await?); // once only
/// # Ok(())
/// # }
/// ```
pub trait ApprovalStore: Send + Sync + 'static {
    /// Returns whether stored requests survive the process and are shared with other processes that open the same store.
    fn is_durable(&self) -> bool;

    /// Stores a pending request. Fails with `Conflict` if the id exists.
    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()>;

    /// Returns the row of an id in a workspace, if it exists. No method finds a row of a different workspace by its id.
    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>>;

    /// Stores the answer to a pending request, and returns the row: approved for [`Verdict::Approve`] and [`Verdict::Edit`], denied
    /// for [`Verdict::Deny`].
    ///
    /// Fails with `Missing` for an unknown id. Fails with `Conflict` if the request is not pending (the message contains its status), if `answer.at`
    /// is not before the request's expiry (the request becomes [`Expired`](ApprovalStatus::Expired)), if the approver has no name, or if the request
    /// requires four eyes and the approver is the requester.
    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow>;

    /// Spends an approval. Returns true exactly once, across all tasks and processes: if the request is approved, the nonce matches, and `now` is
    /// before its expiry. Otherwise it returns false and changes nothing.
    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Withdraws a pending or approved request. Returns false if the workspace has no such request with this id.
    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool>;

    /// Sets or clears the person who is asked to answer a pending request, and returns the row. Fails with `Missing` for an unknown id, and with
    /// `Conflict` if the request is not pending.
    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow>;

    /// Returns the rows of a scope that the filter admits, ordered by `created`, then `id`, or in reverse order for
    /// [`newest_first`](ApprovalFilter::newest_first).
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>>;

    /// Denies every pending request of a workspace that the filter admits, in one transaction, and returns the number of requests
    /// that were denied.
    ///
    /// Each denial follows the rules of [`answer`](Self::answer): a request that has expired is marked as expired instead, and a request that
    /// requires four eyes stays pending if the approver is its requester. Fails with `Conflict` if the verdict is not [`Verdict::Deny`], or if the
    /// approver has no name.
    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64>;

    /// Marks every pending or approved request of a scope that has expired at `now` as expired, and returns their number.
    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64>;
}
