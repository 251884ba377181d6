//! State transitions of approval requests.

use super::approval::{ApprovalAnswer, ApprovalRequest, ApprovalRow, ApprovalStatus, Verdict};
use super::{StoreError, Timestamp};

/// State transitions of one approval request, without a store. They implement the rules of [`ApprovalStore`](super::ApprovalStore).
///
/// For authors of a store: read the row, apply the step to it, and write the changed row back, in one transaction that no other writer can
/// interrupt. A store that applies a step in a single statement, such as `UPDATE … WHERE status = …`, must follow the same rules.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// let now = Timestamp::now();
/// let text = |text: &str| text.to_owned();
/// let main = ThreadId::new("acme", "main")?;
/// let mut row = ApprovalRow::new(ApprovalRequest {
///     id: text("a1"), kind: ApprovalKind::Call, identity: CallId::in_thread(&main, 4, 0), thread: Some(text("main")), call: text("call_0"),
///     tool: text("send_mail"), principal: text("ann"), agent: None, contract: text("9f2c"), arguments: text(r#"{"to":"bob"}"#),
///     policy: text("v1"), decision: text("d1"), four_eyes: true, reason: None, nonce: text("n1"),
///     created: now, expires: now.plus(Duration::from_secs(3600)), parent: None,
/// });
///
/// let yes = |approver: &str| ApprovalAnswer { verdict: Verdict::Approve, approver: approver.to_owned(), reason: None, at: now };
/// assert!(matches!(row.answer(yes("ann")), Err(StoreError::Conflict(_)))); // her own request
/// row.answer(yes("eve"))?;
/// assert_eq!(row.status, ApprovalStatus::Approved);
/// assert!(row.spend("n1", now) && !row.spend("n1", now)); // once only
/// # Ok::<(), StoreError>(())
/// ```
impl ApprovalRow {
    /// Creates the row of a pending request.
    pub fn new(request: ApprovalRequest) -> Self {
        Self {
            request,
            status: ApprovalStatus::Pending,
            assignee: None,
            answer: None,
        }
    }

    /// Returns the error for an unknown id.
    #[must_use]
    pub fn missing(id: &str) -> StoreError {
        StoreError::Missing(format!("no approval `{id}`"))
    }

    /// Returns the row's position in the order of lists: `created`, then id.
    pub fn place(&self) -> (Timestamp, &str) {
        (self.request.created, &self.request.id)
    }

    /// Applies [`ApprovalStore::answer`](super::ApprovalStore::answer), and [`deny_all`](super::ApprovalStore::deny_all) for each
    /// request that its filter admits.
    ///
    /// Fails with `Conflict` if the request is not pending, if the approver has no name, if the request requires four eyes and the approver is the
    /// requester, or if `answer.at` is not before the request's expiry. In the last case the step sets the status to
    /// [`Expired`](ApprovalStatus::Expired), and the store must save the row although the step fails.
    pub fn answer(&mut self, answer: ApprovalAnswer) -> Result<(), StoreError> {
        self.pending()?;
        if self.expire(answer.at) {
            return self.pending();
        }
        let request = &self.request;
        if answer.is_nameless() {
            return Err(StoreError::Conflict(format!(
                "approval `{}` was answered by an approver without a name, give the name of the user who answers",
                request.id
            )));
        }
        if request.four_eyes && request.principal == answer.approver {
            return Err(StoreError::Conflict(format!(
                "approval `{}` requires four eyes, let a user other than its requester answer",
                request.id
            )));
        }
        self.status = answer.verdict.leads_to();
        self.answer = Some(answer);
        Ok(())
    }

    /// Applies [`ApprovalStore::assign`](super::ApprovalStore::assign). Fails with `Conflict` if the request is not pending.
    pub fn assign(&mut self, assignee: Option<String>) -> Result<(), StoreError> {
        self.pending()?;
        self.assignee = assignee;
        Ok(())
    }

    /// Applies [`ApprovalStore::spend`](super::ApprovalStore::spend). Returns whether this step spent the approval.
    pub fn spend(&mut self, nonce: &str, now: Timestamp) -> bool {
        let spends = self.status == ApprovalStatus::Approved
            && self.request.nonce == nonce
            && now < self.request.expires;
        if spends {
            self.status = ApprovalStatus::Spent;
        }
        spends
    }

    /// Applies [`ApprovalStore::withdraw`](super::ApprovalStore::withdraw). Returns whether the request was open.
    pub fn withdraw(&mut self) -> bool {
        let withdraws = self.status.is_open();
        if withdraws {
            self.status = ApprovalStatus::Withdrawn;
        }
        withdraws
    }

    /// Applies [`Maintenance::erase_contents`](super::Maintenance::erase_contents): arguments and edits become `null`, reasons are removed, and
    /// an open request is withdrawn. Returns whether the row has changed.
    pub fn blank(&mut self) -> bool {
        let before = self.clone();
        self.withdraw();
        ApprovalRequest::BLANK.clone_into(&mut self.request.arguments);
        self.request.reason = None;
        if let Some(answer) = &mut self.answer {
            answer.reason = None;
            if let Verdict::Edit(arguments) = &mut answer.verdict {
                ApprovalRequest::BLANK.clone_into(arguments);
            }
        }
        *self != before
    }

    /// Applies [`ApprovalStore::expire`](super::ApprovalStore::expire). Returns whether the step marked an open request as expired.
    pub fn expire(&mut self, now: Timestamp) -> bool {
        let expires = self.status.is_open() && self.request.expires <= now;
        if expires {
            self.status = ApprovalStatus::Expired;
        }
        expires
    }

    fn pending(&self) -> Result<(), StoreError> {
        match self.status {
            ApprovalStatus::Pending => Ok(()),
            status => Err(StoreError::Conflict(format!(
                "approval `{}` is {status}, not pending",
                self.request.id
            ))),
        }
    }
}

impl ApprovalRequest {
    /// The arguments of a request whose contents were erased.
    pub const BLANK: &'static str = "null";

    /// Returns the error for a request whose id exists already.
    #[must_use]
    pub fn exists(&self) -> StoreError {
        StoreError::Conflict(format!(
            "approval `{}` exists, use a different id for a different request",
            self.id
        ))
    }
}

impl ApprovalStatus {
    /// Returns whether the request may still expire or be withdrawn: it is pending, or approved and not used yet.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved)
    }
}

impl ApprovalAnswer {
    fn is_nameless(&self) -> bool {
        self.approver.trim().is_empty()
    }

    /// Returns whether the answer contains edited arguments.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn is_edit(&self) -> bool {
        matches!(self.verdict, Verdict::Edit(_))
    }

    /// Checks an answer for [`ApprovalStore::deny_all`](super::ApprovalStore::deny_all). Fails with `Conflict` if its verdict is not a denial, or
    /// if the approver has no name.
    pub fn only_denies(&self) -> Result<(), StoreError> {
        match self.verdict {
            Verdict::Deny if self.is_nameless() => Err(StoreError::Conflict(
                "approvals were denied by an approver without a name, give the name of the user who denies them"
                    .to_owned(),
            )),
            Verdict::Deny => Ok(()),
            Verdict::Approve | Verdict::Edit(_) => Err(StoreError::Conflict(
                "`deny_all` only denies, answer approvals one by one".to_owned(),
            )),
        }
    }
}

impl Verdict {
    /// Returns the status of a pending request after this verdict.
    pub const fn leads_to(&self) -> ApprovalStatus {
        match self {
            Self::Approve | Self::Edit(_) => ApprovalStatus::Approved,
            Self::Deny => ApprovalStatus::Denied,
        }
    }

    /// Returns the columns of a verdict: its name, and the arguments of an edit.
    pub const fn columns(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Approve => ("approve", None),
            Self::Edit(arguments) => ("edit", Some(arguments.as_str())),
            Self::Deny => ("deny", None),
        }
    }

    /// Reads a verdict from [`columns`](Self::columns); `None` if the word is unknown, if an edit has no arguments, or if a different verdict has
    /// arguments.
    pub fn from_columns(word: &str, edited: Option<String>) -> Option<Self> {
        match (word, edited) {
            ("approve", None) => Some(Self::Approve),
            ("edit", Some(arguments)) => Some(Self::Edit(arguments)),
            ("deny", None) => Some(Self::Deny),
            _ => None,
        }
    }
}
