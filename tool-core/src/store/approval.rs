//! Requests for somebody's word, and the answers.

use serde::{Deserialize, Serialize};

use super::{CallId, Scope, StoreFuture, Timestamp, Workspace, words};

/// What is to be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// One call of a tool.
    Call,
    /// A plan, whose answer is stored without running anything.
    Plan,
}

words!(ApprovalKind { Call = "call", Plan = "plan", });

/// What somebody is asked to approve, and everything that the approval is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Names the request; unique in the store.
    pub id: String,
    /// A call or a plan.
    pub kind: ApprovalKind,
    /// The identity of the call; a plan has one of its own. It names the requester's workspace.
    pub identity: CallId,
    /// The conversation that the request belongs to.
    pub thread: Option<String>,
    /// The model's own id of the call.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// The requesting user.
    pub principal: String,
    /// The agent that acts for the requester.
    pub agent: Option<String>,
    /// Hash of the tool's contract when the request was made.
    pub contract: String,
    /// The arguments, as canonical JSON.
    pub arguments: String,
    /// Version of the policy that asked.
    pub policy: String,
    /// Id of the policy's decision.
    pub decision: String,
    /// Whether the approver has to be somebody other than the requester.
    pub four_eyes: bool,
    /// Why it is asked.
    pub reason: Option<String>,
    /// Random text that only the holder of the approval's token knows.
    pub nonce: String,
    /// When it was asked.
    pub created: Timestamp,
    /// From then on it can be neither answered nor spent.
    pub expires: Timestamp,
    /// The model's own id of the outer call, for a call that a tool makes.
    pub parent: Option<String>,
}

/// What the approver said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As asked.
    Approve,
    /// With these arguments instead, as canonical JSON.
    Edit(String),
    /// No.
    Deny,
}

/// An approver's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Yes, yes with other arguments, or no.
    pub verdict: Verdict,
    /// Who says it.
    pub approver: String,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// Where a request stands.
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
    /// Nobody has answered.
    Pending,
    /// Approved, as asked or edited, and not used yet.
    Approved,
    /// Denied.
    Denied,
    /// Its time passed before it was answered or used.
    Expired,
    /// Approved and used.
    Spent,
    /// Taken back before it was used.
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

/// A request as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRow {
    /// What was asked; never changes.
    pub request: ApprovalRequest,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// Who is to answer.
    pub assignee: Option<String>,
    /// What was answered.
    pub answer: Option<Answer>,
}

/// Which requests are meant: those that agree with every field that is set.
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
    /// Requests that stand here.
    pub status: Option<ApprovalStatus>,
    /// Calls, or plans.
    pub kind: Option<ApprovalKind>,
    /// At most this many.
    pub limit: Option<u32>,
    /// Newest first; oldest first where it is not set.
    pub newest_first: bool,
    /// Those after this place in the order: `created` and `id` of the last row of the page before.
    pub after: Option<(Timestamp, String)>,
}

impl ApprovalFilter {
    /// Whether a row is meant; `limit` is the caller's to keep.
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

/// Keeps what waits for somebody's word.
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
/// let main = ThreadId::new("acme", "main")?;
/// store.open(ApprovalRequest {
///     id: text("a1"), kind: ApprovalKind::Call, identity: CallId::in_thread(&main, 4, 0), thread: Some(text("main")), call: text("call_0"),
///     tool: text("send_mail"), principal: text("ann"), agent: None, contract: text("9f2c"), arguments: text(r#"{"to":"bob"}"#),
///     policy: text("v1"), decision: text("d1"), four_eyes: true, reason: None, nonce: text("n1"),
///     created: now, expires: now.plus(Duration::from_secs(3600)), parent: None,
/// }).await?;
///
/// let yes = |approver: &str| Answer { verdict: Verdict::Approve, approver: approver.to_owned(), reason: None, at: now };
/// let acme = main.workspace();
/// assert!(matches!(store.answer(acme, "a1", yes("ann")).await, Err(StoreError::Conflict(_)))); // her own request
/// assert_eq!(store.answer(acme, "a1", yes("eve")).await?.status, ApprovalStatus::Approved);
/// assert!(!store.spend(&"globex".into(), "a1", "n1", now).await?); // in no other workspace
/// assert!(store.spend(acme, "a1", "n1", now).await?);
/// assert!(!store.spend(acme, "a1", "n1", now).await?); // once only
/// # Ok(())
/// # }
/// ```
pub trait ApprovalStore: Send + Sync + 'static {
    /// Whether what is stored survives the process and is shared with others that open the same store.
    fn is_durable(&self) -> bool;

    /// Stores a request, pending. Conflict where the id exists.
    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()>;

    /// The row of an id in a workspace, if there is one. No method finds a row of another workspace by its id.
    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>>;

    /// Records the answer to a pending request, and returns the row: approved for [`Verdict::Approve`] and [`Verdict::Edit`], denied
    /// for [`Verdict::Deny`].
    ///
    /// Missing for an unknown id. Conflict where the request is not pending (the message names its status), where `answer.at` is not
    /// before its expiry (it becomes [`Expired`](ApprovalStatus::Expired)), where the approver has no name, and where it wants four eyes
    /// and the approver is the requester.
    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: Answer,
    ) -> StoreFuture<'a, ApprovalRow>;

    /// Uses an approval up. True exactly once, over all tasks and processes: where it is approved, the nonce agrees, and `now` is
    /// before its expiry. False otherwise, and nothing changes.
    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Takes a pending or approved request back. False where there is none.
    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool>;

    /// Says who is to answer a pending request, or that nobody in particular is, and returns the row. Missing for an unknown id,
    /// Conflict where it is not pending.
    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow>;

    /// The rows of a scope that a filter means, by `created`, then `id`, or the other way round for
    /// [`newest_first`](ApprovalFilter::newest_first).
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>>;

    /// Denies every pending request of a workspace that the filter means, in one transaction, and returns how many.
    ///
    /// Each is held to the terms of [`answer`](Self::answer): one whose time has passed becomes expired instead, and one that wants
    /// four eyes stays pending where the approver is its requester. Conflict where the verdict is not [`Verdict::Deny`], and
    /// where the approver has no name.
    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: Answer,
    ) -> StoreFuture<'a, u64>;

    /// Turns every pending or approved request of a scope whose time has passed to expired, and returns how many.
    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64>;
}
