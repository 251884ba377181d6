//! One call of a model message within a run.

use std::pin::pin;
use std::sync::Arc;

use futures::stream::StreamExt as _;

use super::held::{Halt, Held};
use super::message::{StoredCall, leaves_approvals};
use super::{StoredMessage, TurnError, Turns, notify};
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::{Behind, Deferred, Filing, Gated, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::run;
use crate::run::ask::{self, AskOnly};
use crate::store::{EffectRow, Message, RunFence, StoreError};
use crate::tool::ToolDef;
use crate::toolset::Toolset;

/// How the message of a result is stored.
#[derive(Default)]
pub(super) struct Filed {
    filing: Option<Arc<Filing>>,
    /// The write of the call's end, if it was deferred.
    pub(super) deferred: Option<Deferred>,
}

impl Filed {
    /// Returns the message, if it was stored with the end of the call.
    pub(super) fn stored(&self) -> Option<Message> {
        self.filing.as_deref()?.stored().cloned()
    }
}

/// The options of one call of a message.
#[derive(Clone)]
pub(super) struct Making {
    pub(super) halt: Option<Halt>,
    /// Whether the call only requests its approval, because an earlier call of the message waits.
    pub(super) only_asks: bool,
    /// Whether an earlier run may have made the call.
    pub(super) continues: bool,
    /// Whether another call follows, so that the end of this call, if it is read-only, is written with the rows of the next call.
    pub(super) defers: bool,
    pub(super) behind: Option<Behind>,
    /// The condition for storing the result with the end of the call, if the runs are in the same database.
    pub(super) fence: Option<RunFence>,
}

/// The outcome of one call of a message.
pub(super) enum Ended {
    Result(Box<CallResult>, Filed),
    Unsettled(Box<EffectRow>),
    /// A store of the gate failed, so the call stays open.
    Undecided(StoreError),
    /// The host accepts no more calls, so the call stays open.
    NotTaken,
    /// An earlier call of the message waits, so this call stays open.
    HeldBack,
    /// The deadline of the turn passed during a call that a later run continues, so the call stays open.
    TimeOver,
}

/// Returns whether an earlier run of a call may have requested approvals of nested calls. These approvals may still be open, regardless of the
/// present result.
pub(super) fn may_have_asked(tools: &Toolset, call: &StoredCall<'_>, continues: bool) -> bool {
    // Other calls do not run again after they have waited for a nested call.
    let runs_again =
        |tool: &ToolDef| tool.only_calls() || tool.hints().idempotent && !tool.hints().read_only;
    continues && tools.get(&call.call.name).is_none_or(runs_again)
}

/// Withdraws the open approvals of a call whose result is stored next, and of its nested calls.
pub(super) async fn withdraw_approvals(
    tools: &Toolset,
    call: &StoredCall<'_>,
    result: &CallResult,
    cx: &ToolContext,
    continues: bool,
) -> Result<(), StoreError> {
    let gate = tools.gate();
    let Some((gate, approvals)) = gate.and_then(|gate| Some((gate, gate.approvals()?))) else {
        return Ok(());
    };
    if !leaves_approvals(result) && !may_have_asked(tools, call, continues) {
        return Ok(());
    }
    let withdrawn = ask::withdraw_all(gate, approvals, &call.id(), cx, result).await;
    withdrawn.map_err(|error| StoreError::Unavailable(error.operator_text().into()))
}

/// Returns whether a result may be stored. The refusal of a call must not be stored if another run of the message has begun the call since the ledger
/// was read.
///
/// A run that continues a message cannot detect which earlier run is still active, so the ledger closes the key of the call: no earlier run can begin
/// the call after the refusal is stored. The first run of a message only checks whether another run has taken over.
pub(super) async fn is_final(
    tools: &Toolset,
    call: &StoredCall<'_>,
    result: &CallResult,
    cx: &ToolContext,
    held: &Held,
    continues: bool,
) -> Result<bool, TurnError> {
    let Some(gate) = tools.gate().filter(|_| result.unbegun().is_some()) else {
        return Ok(true);
    };
    if !continues {
        return Ok(held.check(cx, tools).await? != Some(Halt::Lost));
    }
    let (tool, cx) = (tools.get(&call.call.name), call.context(cx));
    let closed = async {
        let gated = Gated::open(&cx, &call.call, None)?;
        run::close_refused(gate, &gated, tool, &call.call, &cx, result).await
    };
    let failed = |error: ToolError| StoreError::Unavailable(error.operator_text().into());
    closed.await.map_err(failed)?;
    Ok(true)
}

/// Returns whether a call may have begun in an earlier run without leaving a row: a call that only reads, a call that [continues](ToolDef::continues)
/// its earlier run, or any call of a host without a ledger.
fn leaves_no_row(tools: &Toolset, tool: Option<&ToolDef>) -> bool {
    let has_ledger = tools.gate().is_some_and(|gate| gate.ledger().is_some());
    !has_ledger || tool.is_some_and(|tool| tool.continues() || tool.may_always_run_again())
}

/// Returns the outcome of a call that stays open, because a drain of the host or the deadline of the turn caused its result. The result is then not
/// stored. Returns `None` for other calls.
fn stays_open(
    tools: &Toolset,
    call: &ToolCall,
    result: &CallResult,
    cx: &ToolContext,
) -> Option<Ended> {
    let kind = result.error()?.kind();
    let tool = tools.get(&call.name);
    if tools.gate().is_some_and(Gate::is_draining) {
        // A read-only call can run again.
        let reads = tool.is_some_and(|tool| tool.hints().read_only);
        let open = match kind {
            ErrorKind::Unavailable => true,
            ErrorKind::Cancelled => reads && !cx.is_cancelled(),
            _ => false,
        };
        if open {
            return Some(Ended::NotTaken);
        }
    }
    let is_over = cx.remaining().is_some_and(|left| left.is_zero());
    let is_cut = matches!(kind, ErrorKind::TimedOut | ErrorKind::Cancelled);
    (is_over && is_cut && tool.is_some_and(ToolDef::continues)).then_some(Ended::TimeOver)
}

impl Turns {
    pub(super) async fn one(
        &self,
        tools: &Toolset,
        stored: &StoredMessage,
        call: &StoredCall<'_>,
        cx: &ToolContext,
        making: Making,
    ) -> Ended {
        let Making {
            halt,
            only_asks,
            continues,
            defers,
            behind,
            fence,
        } = making;
        let may_have_asked = may_have_asked(tools, call, continues);
        let mut own = call.context(cx);
        if let Some(agent) = tools.caller().filter(|agent| cx.agent() != Some(agent)) {
            own = own.of_agent(agent);
        }
        let is_client = tools.get(&call.call.name).is_some_and(ToolDef::is_client);
        if is_client {
            own = own.handing_over_client_calls();
        }
        // The end of a client call is stored without a result, because the client returns the result later.
        let filing = self.journal.as_ref();
        let filing = filing.filter(|_| tools.gate().is_some() && !is_client);
        let mut deferred = None;
        let filing = filing.map(|journal| {
            let filing = call.filing(journal.clone(), may_have_asked).behind(behind);
            let mut filing = filing.fenced(fence);
            if defers {
                let (deferring, receiver) = filing.deferred();
                (filing, deferred) = (deferring, Some(receiver));
            }
            Arc::new(filing)
        });
        if let Some(filing) = &filing {
            own = own.with_filing(Arc::clone(filing));
        }
        let cx = &own;
        let (written, call, message) = (call.written, &*call.call, stored.message());
        let refused = |kind, text| {
            let error = ToolError::of(kind, text);
            let mut result = CallResult::refused(call.clone(), error);
            result.stopped = true;
            Ended::Result(Box::new(result), Filed::default())
        };
        if message.truncated {
            return refused(
                ErrorKind::InvalidArguments,
                "the message was cut off before its end, so its calls were not run; say it again in fewer words",
            );
        }
        if message.provider_tools.contains(&written.name) {
            return refused(
                ErrorKind::UnknownTool,
                "the provider runs this tool itself, so it cannot be called here",
            );
        }
        let halted = halt.and_then(Halt::refuses_calls);
        let result = if let Some([unbegun, uncertain, why]) = halted {
            let tool = tools.get(&call.name);
            let may_have_begun = continues && leaves_no_row(tools, tool);
            let text = if may_have_begun { uncertain } else { unbegun };
            let error = ToolError::of(ErrorKind::Cancelled, text);
            run::refuse(tools.gate(), tool, call, cx, error, why).await
        } else if only_asks {
            // Without a gate, no person can be asked.
            if tools.gate().is_none() {
                return Ended::HeldBack;
            }
            let cx = cx.with_service(AskOnly);
            let result = self.call(tools, call, &cx).await;
            let held_back = result.error().is_some_and(|error| {
                error.kind() == ErrorKind::Pending && error.missing_variables().is_empty()
            });
            if held_back && result.tickets().is_empty() {
                return Ended::HeldBack;
            }
            result
        } else {
            self.call(tools, call, cx).await
        };
        if halted.is_none()
            && let Some(open) = stays_open(tools, call, &result, cx)
        {
            return open;
        }
        if result.undecided
            && let Some(error) = result.error()
        {
            let error = StoreError::Unavailable(error.operator_text().into());
            return Ended::Undecided(error);
        }
        if let Some(row) = result.unsettled().cloned().map(Box::new) {
            return Ended::Unsettled(row);
        }
        let deferred = deferred.and_then(|mut deferred| deferred.try_recv().ok().flatten());
        Ended::Result(Box::new(result), Filed { filing, deferred })
    }

    async fn call(&self, tools: &Toolset, call: &ToolCall, cx: &ToolContext) -> CallResult {
        let Some(progress) = &self.progress else {
            return tools.call(call.clone(), cx).await;
        };
        let mut events = pin!(tools.stream(call.clone(), cx));
        while let Some(event) = events.next().await {
            match event {
                ToolEvent::Started => {}
                ToolEvent::Progress(step) => {
                    notify("the progress listener", || progress(call, &step));
                }
                ToolEvent::Done(result) => return result,
            }
        }
        // This is not reached, because every stream of events ends with a result.
        let error = ToolError::of(ErrorKind::Cancelled, "the call ended without a result");
        CallResult::refused(call.clone(), error)
    }
}
