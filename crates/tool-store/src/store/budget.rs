//! Budgets that several runs share: reservations before requests, and the usage of the requests.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, Timestamp, Workspace};

/// The id of a budget: a workspace, and a name that the host chooses, such as the name of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BudgetId {
    workspace: Workspace,
    name: String,
}

impl BudgetId {
    /// Creates the id of a budget. Take the workspace from the session, not from the request: the workspace isolates tenants from each other. Fails
    /// with `Conflict` if the name is empty or contains a NUL character.
    pub fn new(workspace: &Workspace, name: impl Into<String>) -> Result<Self, StoreError> {
        let name = name.into();
        if name.is_empty() || name.contains('\0') {
            return Err(StoreError::Conflict(
                "the name of the budget is empty or contains a NUL character: use a name such as the conversation".to_owned(),
            ));
        }
        Ok(Self {
            workspace: workspace.clone(),
            name,
        })
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the name in the workspace.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for BudgetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, workspace) = (&self.name, self.workspace.as_str());
        write!(f, "budget `{name}` of workspace `{workspace}`")
    }
}

/// Tokens and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BudgetAmount {
    /// The tokens of input and output.
    pub tokens: u64,
    /// The cost in millionths of the currency of the host's prices; 0 if the host has no prices.
    pub cost_micros: u64,
}

impl BudgetAmount {
    /// Returns the sum of two amounts. A sum that is too large for a column becomes the largest number that the column can store.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            tokens: stored(self.tokens.saturating_add(more.tokens)),
            cost_micros: stored(self.cost_micros.saturating_add(more.cost_micros)),
        }
    }

    /// Returns the difference of two amounts, or 0 where it is negative.
    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(less.tokens),
            cost_micros: self.cost_micros.saturating_sub(less.cost_micros),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.max(other.tokens),
            cost_micros: self.cost_micros.max(other.cost_micros),
        }
    }
}

/// Limits a number to the numbers that a column can store, so that every store calculates with the same numbers.
fn stored(number: u64) -> u64 {
    number.min(i64::MAX as u64)
}

/// The limits of a budget. At least one of them must be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BudgetLimits {
    /// The maximum number of tokens.
    pub tokens: Option<u64>,
    /// The maximum cost, in millionths of the currency of the host's prices.
    pub cost_micros: Option<u64>,
}

impl BudgetLimits {
    /// Returns whether an amount is within the limits.
    pub fn admit(&self, amount: BudgetAmount) -> bool {
        self.tokens.is_none_or(|most| amount.tokens <= most)
            && self
                .cost_micros
                .is_none_or(|most| amount.cost_micros <= most)
    }
}

/// A reservation before a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReservation {
    /// The budget, which is created by its first reservation.
    pub budget: BudgetId,
    /// Identifies the step that sends the request. A step that is repeated after a crash has the same text, so it has one reservation.
    pub step: String,
    /// The maximum amount that the step may use.
    pub amount: BudgetAmount,
    /// The limits of the budget. They replace the limits of earlier reservations.
    pub limits: BudgetLimits,
    /// When the reservation is made.
    pub at: Timestamp,
}

impl NewReservation {
    /// Checks the conditions of [`BudgetStore::reserve_budget`] that do not depend on stored rows. Fails with `Conflict` if the budget has no limit,
    /// or if the step is empty or contains a NUL character.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.limits == BudgetLimits::default() {
            return Err(StoreError::Conflict(format!(
                "the {} has no limit: set a limit on tokens or on cost",
                self.budget
            )));
        }
        if self.step.is_empty() || self.step.contains('\0') {
            return Err(StoreError::Conflict(format!(
                "the step of a reservation of the {} is empty or contains a NUL character: name the step",
                self.budget
            )));
        }
        Ok(())
    }
}

/// The end of a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetSettlement {
    /// The budget of the reservation.
    pub budget: BudgetId,
    /// The step of the reservation.
    pub step: String,
    /// The usage of the step's requests. For a response without usage, it contains the amount that was reserved for the request.
    pub spent: BudgetAmount,
    /// The number of requests whose response did not report its usage.
    pub unmeasured: u32,
    /// When the reservation ends.
    pub at: Timestamp,
}

/// A budget as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row and the reservation of the step, apply the transition and
/// write them back, in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetRow {
    /// The id of the budget.
    pub id: BudgetId,
    /// The limits of the last reservation.
    pub limits: BudgetLimits,
    /// The sum of the open reservations.
    pub reserved: BudgetAmount,
    /// The usage of the settled steps.
    pub spent: BudgetAmount,
    /// The number of requests whose response did not report its usage. [`spent`](Self::spent) contains the amounts that were reserved for them.
    pub unmeasured: u32,
    /// When the usage of the settled steps first exceeded a limit, for example because a request used more than its estimate; `None` if it has not.
    pub overrun: Option<Timestamp>,
    /// When the budget was created.
    pub created: Timestamp,
    /// When the row was last changed.
    pub updated: Timestamp,
}

/// The result of [`BudgetStore::reserve_budget`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// The amount is reserved for the step. It is larger than the requested amount if an earlier reservation of the step was larger.
    Held(BudgetAmount, Box<BudgetRow>),
    /// Less than the amount is left in the budget. Nothing was changed, and an earlier reservation of the step remains.
    Refused(Box<BudgetRow>),
}

impl BudgetRow {
    /// Creates the row of a budget, with nothing reserved.
    pub fn new(id: BudgetId, limits: BudgetLimits, at: Timestamp) -> Self {
        Self {
            id,
            limits,
            reserved: BudgetAmount::default(),
            spent: BudgetAmount::default(),
            unmeasured: 0,
            overrun: None,
            created: at,
            updated: at,
        }
    }

    /// Returns the sum of the open reservations and the usage.
    pub fn taken(&self) -> BudgetAmount {
        self.spent.plus(self.reserved)
    }

    /// Applies [`BudgetStore::reserve_budget`] to the row. `held` is the open reservation of the step. Returns the new reservation; `None` if it is
    /// refused and nothing may be written.
    pub fn reserve(
        &mut self,
        held: Option<BudgetAmount>,
        new: &NewReservation,
    ) -> Option<BudgetAmount> {
        let earlier = held.unwrap_or_default();
        let amount = BudgetAmount::default().plus(new.amount).max(earlier);
        let reserved = self.reserved.minus(earlier).plus(amount);
        if !new.limits.admit(self.spent.plus(reserved)) {
            return None;
        }
        self.limits = new.limits;
        self.reserved = reserved;
        self.updated = new.at;
        Some(amount)
    }

    /// Applies [`BudgetStore::settle_budget`] to the row. `held` is the open reservation of the step, which is removed.
    pub fn settle(&mut self, held: BudgetAmount, end: &BudgetSettlement) {
        self.reserved = self.reserved.minus(held);
        self.spent = self.spent.plus(end.spent);
        self.unmeasured = self.unmeasured.saturating_add(end.unmeasured);
        if !self.limits.admit(self.spent) {
            self.overrun = self.overrun.or(Some(end.at));
        }
        self.updated = end.at;
    }

    /// Returns the workspace of the budget.
    pub fn workspace(&self) -> &Workspace {
        self.id.workspace()
    }
}

/// A page of the list of budgets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetFilter {
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the [`BudgetRow::id`] of the last row of the previous page.
    pub after: Option<BudgetId>,
}

/// A store of budgets that any number of runs and processes share.
///
/// Before a request, one transaction reserves the maximum amount that the request may use. After the request, another transaction replaces the
/// reservation with the usage. So concurrent runs together never reserve more than the budget. If a process dies, its reservation remains, and the
/// repeated step uses it.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, at) = (MemoryStore::default(), Timestamp::now());
/// let budget = BudgetId::new(&Workspace::new("acme"), "main")?;
/// let amount = BudgetAmount { tokens: 700, cost_micros: 0 };
/// let limits = BudgetLimits { tokens: Some(1_000), cost_micros: None };
/// let new = NewReservation { budget: budget.clone(), step: "main/1".into(), amount, limits, at };
/// assert!(matches!(store.reserve_budget(new.clone()).await?, Reserved::Held(..)));
/// // A second step is refused while the first step may still use 700 tokens.
/// let other = NewReservation { step: "child/1".into(), ..new };
/// assert!(matches!(store.reserve_budget(other.clone()).await?, Reserved::Refused(_)));
///
/// let spent = BudgetAmount { tokens: 250, cost_micros: 0 };
/// let end = BudgetSettlement { budget: budget.clone(), step: "main/1".into(), spent, unmeasured: 0, at };
/// store.settle_budget(end).await?;
/// assert!(matches!(store.reserve_budget(other).await?, Reserved::Held(..)));
/// assert_eq!(store.budget(&budget).await?.unwrap().taken().tokens, 950);
/// # Ok(())
/// # }
/// ```
#[doc(alias("quota", "spending limit", "cost control"))]
pub trait BudgetStore: Send + Sync + 'static {
    /// Reserves an amount for a step, by the rules of [`BudgetRow::reserve`]. A step has at most one reservation: a repeated reservation is raised to
    /// the larger amount. Fails with `Conflict` if [`NewReservation::check`] refuses it.
    fn reserve_budget(&self, new: NewReservation) -> StoreFuture<'_, Reserved>;

    /// Replaces the reservation of a step with its usage. Returns the row. Returns `None`, and changes nothing, if the step has no reservation, for
    /// example because it is settled.
    fn settle_budget(&self, end: BudgetSettlement) -> StoreFuture<'_, Option<BudgetRow>>;

    /// Returns the row of a budget; `None` if nothing was reserved from it yet, or since it was removed.
    fn budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, Option<BudgetRow>>;

    /// Lists budgets, ordered by workspace and name.
    fn list_budgets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a BudgetFilter,
    ) -> StoreFuture<'a, Vec<BudgetRow>>;

    /// Removes a budget with its reservations. Returns whether it existed. The next reservation creates it again, with a usage of 0.
    fn remove_budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, bool>;
}
