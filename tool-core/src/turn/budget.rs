//! Budgets that several runs share: a reservation before each request, and its settlement with the usage of
//! the request.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::drive::{Model, ModelRequest};
use super::message::ModelMessage;
use super::{TurnError, thread};
use crate::context::{FromContext, ToolContext};
use crate::effect::Effect;
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::store::{
    BudgetAmount, BudgetId, BudgetLimits, BudgetRow, BudgetSettlement, BudgetStore, NewReservation,
    Reserved, StoreError, Usage, shield,
};

/// Default number of tokens for [`Budget::output_tokens`].
const OUTPUT: u64 = 4_096;

/// A budget of tokens and cost that several runs share, as a host value of the context.
///
/// All runs of one workspace with this value share the budget of this name, also in different processes. This includes the runs of an agent, of the
/// agents to which it passes the conversation, of its prompts and of its sub-agents, because their contexts inherit the host values of the context
/// that started them. Use one name for each tree of runs, such as the conversation, or one name for many conversations, such as the user and the day.
///
/// Before each request to a model, one transaction reserves the [estimate](Model::estimate) of the request: its input, and the limit on its output.
/// If the budget has less left, no request is sent, and the run ends with [`Outcome::SharedBudget`](super::Outcome::SharedBudget). After the
/// response, the usage that the provider reported replaces the reservation, including the usage of failed attempts. For a response without usage, the
/// reservation is kept. If the estimate was too low and the budget is exceeded, the overrun is recorded ([`BudgetRow::overrun`]), and no run that
/// shares the budget sends another request.
///
/// If a process dies, the reservation of its step remains. When the step is repeated, it uses the same reservation.
///
/// ```
/// use tool_core::ToolContext;
/// use tool_core::store::{BudgetId, BudgetStore, MemoryStore, Workspace};
/// use tool_core::turn::{Budget, Outcome, Turns};
/// # use tool_core::turn::{Model, ModelMessage, ModelRequest};
/// # use tool_core::{ToolError, toolset};
/// # use futures::future::{BoxFuture, FutureExt};
/// # struct Parrot;
/// # impl Model for Parrot {
/// #     fn next<'a>(&'a mut self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
/// #         async { Ok(ModelMessage::text("Hello.")) }.boxed()
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut model = Parrot;
/// let store = MemoryStore::default();
/// let turns = Turns::new(store.clone());
/// let budget = Budget::new(store.clone(), "main").most_tokens(5_000);
/// let cx = ToolContext::builder().workspace("acme").conversation("main").with(budget).build();
///
/// turns.say("Hello", &cx).await?;
/// let outcome = turns.drive(&mut model, |_| toolset![], &cx).await?;
/// assert!(matches!(outcome, Outcome::Answered(_)));
/// // The model reported no usage, so the reservation was kept: another request would exceed the budget.
/// turns.say("Hello again", &cx).await?;
/// let outcome = turns.drive(&mut model, |_| toolset![], &cx).await?;
/// assert!(matches!(outcome, Outcome::SharedBudget(_)));
/// let row = store.budget(&BudgetId::new(&Workspace::new("acme"), "main")?).await?.unwrap();
/// assert_eq!(row.unmeasured, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("quota", "spending limit", "cost control"))]
#[must_use = "add it to a context"]
pub struct Budget {
    store: Arc<dyn BudgetStore>,
    name: Arc<str>,
    limits: BudgetLimits,
    output: u64,
}

impl Budget {
    /// Creates a budget with a name. Set at least one limit, because a run fails if its budget has no limit.
    pub fn new(store: impl BudgetStore, name: impl Into<String>) -> Self {
        Self::shared(Arc::new(store), name)
    }

    /// Creates a budget in a store that other code may share.
    pub fn shared(store: Arc<dyn BudgetStore>, name: impl Into<String>) -> Self {
        Self {
            store: shield::budgets(store),
            name: name.into().into(),
            limits: BudgetLimits::default(),
            output: OUTPUT,
        }
    }

    /// Limits the tokens, of input and output.
    pub fn most_tokens(mut self, tokens: u64) -> Self {
        self.limits.tokens = Some(tokens);
        self
    }

    /// Limits the cost, in millionths of the currency of the models' prices. A run whose model has no price then fails with [`TurnError::Unpriced`],
    /// before its first request.
    pub fn most_cost(mut self, micros: u64) -> Self {
        self.limits.cost_micros = Some(micros);
        self
    }

    /// Sets the tokens that are reserved for the output of a model without a limit on its output; the default is 4,096.
    pub fn output_tokens(mut self, tokens: u64) -> Self {
        self.output = tokens;
        self
    }

    /// Sends a request to a model outside of a run, within the budget of the context if it has one. `step` identifies the request in the
    /// conversation, so that a repeated request has the same reservation.
    ///
    /// # Errors
    ///
    /// Fails if the model fails. With a budget, also fails if the budget has less left than the request may use, if it limits the cost and the model
    /// has no price, if the context has no conversation, if the name of the budget is invalid, and if the store fails.
    pub async fn ask<M: Model + ?Sized>(
        model: &mut M,
        request: ModelRequest<'_>,
        step: &str,
    ) -> Result<super::ModelMessage, ToolError> {
        let Ok(budget) = request.cx.get::<Self>() else {
            return model.next(request).await;
        };
        let begun = budget.begin(model, &request, step).await;
        let held = begun.map_err(ToolError::foreign)?;
        let held = held.map_err(|row| spent_up(&row))?;
        let cx = request.cx.derive().with(held.clone()).build();
        let replied = model.next(ModelRequest { cx: &cx, ..request }).await;
        held.settle(model, replied.as_ref().ok()).await;
        replied
    }

    /// Reserves the estimate of a request. If the budget has too little left, returns its row.
    pub(super) async fn begin<M: Model + ?Sized>(
        &self,
        model: &mut M,
        request: &ModelRequest<'_>,
        step: &str,
    ) -> Result<Result<StepBudget, Box<BudgetRow>>, TurnError> {
        let thread = thread(request.cx)?;
        let estimate = model.estimate(request, self.output);
        if self.limits.cost_micros.is_some() && estimate.cost_micros.is_none() {
            return Err(TurnError::Unpriced);
        }
        let estimate = amount(estimate);
        let held = StepBudget {
            budget: self.clone(),
            id: BudgetId::new(thread.workspace(), &*self.name)?,
            step: format!("{}/{step}", thread.conversation()).into(),
            estimate,
            state: Arc::default(),
        };
        Ok(match held.reserve(estimate).await? {
            Reserved::Held(..) => Ok(held),
            Reserved::Refused(row) => Err(row),
        })
    }
}

impl FromContext for Budget {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the shared budget"))
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("name", &self.name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The reservation of a step, as a host value of the context of its request. Before a model sends a failed request again, it calls
/// [`again`](Self::again).
#[derive(Clone)]
pub struct StepBudget {
    budget: Budget,
    id: BudgetId,
    step: Arc<str>,
    estimate: BudgetAmount,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The row of the budget, if an attempt was refused.
    refused: Option<Box<BudgetRow>>,
    /// Whether the message of the model was returned without a request.
    is_unsent: bool,
}

impl StepBudget {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the model returns a message without a request, so the step used no tokens.
    pub fn unsent(&self) {
        self.state().is_unsent = true;
    }

    /// Reserves the estimate of another attempt, in addition to the usage of the step's earlier attempts. `spent` is the usage that these attempts
    /// reported, and `unmeasured` is the number of attempts that may have used tokens and reported none.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Denied`] if the budget has too little left; the run then ends with
    /// [`Outcome::SharedBudget`](super::Outcome::SharedBudget). Fails with [`ErrorKind::Unavailable`] if the store fails.
    pub async fn again(&self, spent: Option<Usage>, unmeasured: u32) -> Result<(), ToolError> {
        let spent = self.spent(spent.unwrap_or_default(), unmeasured);
        match self.reserve(spent.plus(self.estimate)).await {
            Ok(Reserved::Held(..)) => Ok(()),
            Ok(Reserved::Refused(row)) => {
                let error = spent_up(&row);
                self.state().refused = Some(row);
                Err(error)
            }
            Err(error) => Err(ToolError::unavailable("the store of the shared budget")
                .operator(error.to_string())),
        }
    }

    /// Removes and returns the row of the budget, if an attempt was refused.
    pub(super) fn refused(&self) -> Option<Box<BudgetRow>> {
        self.state().refused.take()
    }

    /// Returns the usage of the attempts. An attempt without usage counts with its estimate.
    fn spent(&self, usage: Usage, unmeasured: u32) -> BudgetAmount {
        let mut spent = amount(usage);
        for _ in 0..unmeasured {
            spent = spent.plus(self.estimate);
        }
        spent
    }

    async fn reserve(&self, amount: BudgetAmount) -> Result<Reserved, StoreError> {
        let new = NewReservation {
            budget: self.id.clone(),
            step: (*self.step).to_owned(),
            amount,
            limits: self.budget.limits,
            at: env::now(),
        };
        match self.budget.store.reserve_budget(new.clone()).await {
            // The store may have reserved the amount although its response was lost. The step is the same, so the amount is not reserved twice.
            Err(StoreError::Unavailable(_)) => self.budget.store.reserve_budget(new).await,
            reserved => reserved,
        }
    }

    /// Replaces the reservation with the usage of the step. `response` is the message of the model, or the part of it that arrived. The usage of
    /// failed attempts comes from the model.
    pub(super) async fn settle<M: Model + ?Sized>(
        &self,
        model: &mut M,
        response: Option<&ModelMessage>,
    ) -> Option<Usage> {
        let unsettled = model.unsettled_usage();
        let mut unmeasured = model.unmeasured_requests();
        let is_silent = response.is_some_and(|message| message.usage.is_none());
        let is_silent = is_silent && !self.state().is_unsent;
        unmeasured = unmeasured.saturating_add(u32::from(is_silent));
        let mut usage = response
            .and_then(|message| message.usage)
            .unwrap_or_default();
        usage += unsettled.unwrap_or_default();
        let end = BudgetSettlement {
            budget: self.id.clone(),
            step: (*self.step).to_owned(),
            spent: self.spent(usage, unmeasured),
            unmeasured,
            at: env::now(),
        };
        let settled = match self.budget.store.settle_budget(end.clone()).await {
            Err(StoreError::Unavailable(_)) => self.budget.store.settle_budget(end).await,
            settled => settled,
        };
        match settled {
            Ok(Some(row)) if row.overrun == Some(row.updated) => {
                tracing::warn!(budget = %row.id, spent = ?row.spent, limits = ?row.limits, "a shared budget is overrun");
            }
            Ok(_) => {}
            // The reservation remains, so less of the budget is available than necessary.
            Err(error) => {
                tracing::warn!(%error, budget = %self.id, "the reservation of a request could not be settled");
            }
        }
        unsettled
    }
}

impl FromContext for StepBudget {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the reservation of the request"))
    }
}

impl fmt::Debug for StepBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepBudget")
            .field("id", &self.id)
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}

fn amount(usage: Usage) -> BudgetAmount {
    BudgetAmount {
        tokens: usage.total_tokens(),
        cost_micros: usage.cost_micros.unwrap_or_default(),
    }
}

fn spent_up(row: &BudgetRow) -> ToolError {
    ToolError::of(
        ErrorKind::Denied,
        "the shared budget has less left than a request may use",
    )
    .operator(format!(
        "{}: {} of {:?} tokens and a cost of {} of {:?} are used or reserved",
        row.id,
        row.taken().tokens,
        row.limits.tokens,
        row.taken().cost_micros,
        row.limits.cost_micros
    ))
}
