//! A call through a host's gate, step by step.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};
use tracing::Instrument as _;
use tracing::instrument::WithSubscriber as _;

use super::Progress;
use super::attempts::{Pause, runs};
use super::steps::{
    Answered, Asks, AtGate, Body, Clearing, Counting, Flight, Found, Landed, Landing, Left, Record,
    Running, Unwritten,
};
use crate::audit::Audit;
use crate::call::{CallResult, ToolCall};
use crate::context::{Gated, ToolContext, TypedOutput};
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::gate::approval::Grant;
use crate::tool::{self, Job};
use crate::toolset::Toolset;

/// Maximum time in which hooks may process the result of a body after the caller has dropped the call.
const HOOKS_AFTER_CALLER: Duration = Duration::from_secs(5);

/// The origin of a call: a model, an approval, or the host.
pub(super) enum Origin {
    /// A model made the call, or a host on its behalf.
    Model,
    /// A person approved the call.
    Approval(Box<Grant>),
    /// A person approved a typed call with edited arguments.
    EditedTyped(Box<Grant>, Typed),
    /// A host made the call with typed arguments.
    Host(MakeJob, Typed),
}

/// Creates the first run of a typed call from its context. Later runs are created from the JSON arguments.
pub(super) type MakeJob = Box<dyn FnOnce(ToolContext) -> Job + Send>;

/// The data of a typed call that an ordinary call does not have.
pub(super) struct Typed {
    pub(super) tool: Option<tool::Origin>,
    pub(super) output: TypedOutput,
}

/// Runs a call or refuses it. A call that a person approved with edited arguments passes all checks again from the start.
pub(super) async fn call(
    gate: &Gate,
    toolset: &Toolset,
    mut call: ToolCall,
    cx: &ToolContext,
    mut progress: Progress,
    mut origin: Origin,
) -> CallResult {
    if let Audit::BestEffort(buffer) = gate.audit()
        && buffer.is_crowded()
    {
        // The future is boxed, so that calls do not reserve memory for this wait, which only a slow sink causes.
        Box::pin(async {
            let (relieved, cancelled) = (pin!(buffer.relieved()), pin!(cx.cancelled()));
            select(relieved, cancelled).await;
        })
        .await;
    }
    let result = loop {
        let cleared = match clear(gate, toolset, call, cx, progress, origin) {
            Ok((Counting::Counted(clearing), body)) => Ok((clearing, body)),
            // The future is boxed, so that a call without shared limits does not reserve memory for it.
            Ok((Counting::Counts(counts), body)) => {
                let counted = Box::pin(counts.count()).await;
                counted.map(|clearing| (clearing, body))
            }
            Err(left) => Err(left),
        };
        break match cleared {
            Ok((Clearing::Cleared(cleared), body)) => match cleared.claim() {
                Ok(claimed) => match runs(toolset, claimed, body, &mut Here).await {
                    Ok((running, ran)) => match running.land(toolset, ran) {
                        Landing::Over(landed) => landed.into_result(),
                        Landing::Writing(landing) => landing.await.into_result(),
                    },
                    Err(left) => Box::pin(left.land(cx)).await.into_result(),
                },
                Err(unwritten) => Box::pin(apart(toolset, unwritten, body, cx)).await,
            },
            // The future is boxed, so that a call that needs no approval does not reserve memory for it.
            Ok((Clearing::Asks(asks), body)) => {
                match Box::pin(asked(toolset, asks, body, cx)).await {
                    Ok(result) => result,
                    Err(edited) => {
                        (call, progress, origin) = *edited;
                        continue;
                    }
                }
            }
            Err(left) => Box::pin(left.land(cx)).await.into_result(),
        };
    };
    cx.wait_for(&result.tickets);
    if cx.scope().is_some() && !result.is_error() {
        let tool = toolset.get(result.name());
        if !tool.is_some_and(|tool| tool.hints().read_only) {
            cx.count_made();
        }
    }
    if let Some(row) = result.unsettled() {
        cx.doubt(row);
    }
    result
}

/// Runs every step that does not wait.
#[inline]
fn clear<'t>(
    gate: &'t Gate,
    toolset: &'t Toolset,
    call: ToolCall,
    cx: &ToolContext,
    progress: Progress,
    origin: Origin,
) -> Result<(Counting<'t>, Body<Job>), Left<Flight>> {
    let (grant, made, typed) = match origin {
        Origin::Model => (None, None, None),
        Origin::Approval(grant) => (Some(grant), None, None),
        Origin::EditedTyped(grant, typed) => (Some(grant), None, Some(typed)),
        Origin::Host(job, typed) => (None, Some(job), Some(typed)),
    };
    let resumed = grant.as_deref().map(Grant::request);
    let mut arrived = AtGate::new(gate, call, cx, progress, resumed)?;
    if let Some(Typed { tool, output }) = typed {
        arrived = arrived.typed(tool, output);
    }
    let (admitted, body) = Found::gated(toolset, arrived, cx)?.admit(cx, made)?;
    Ok((admitted.judge().clear(grant)?, body))
}

/// A call with edited arguments, which passes the gate in place of the original call.
type Edited = (ToolCall, Progress, Origin);

/// Builds the call with the approved arguments. It passes the gate like any other call, and the original call does not begin.
fn edited(flight: Flight, grant: Box<Grant>) -> Edited {
    let scope = flight.prepared().cx.served();
    let call = ToolCall::new(
        scope.call.id.clone(),
        scope.call.name.clone(),
        grant.arguments(),
    );
    let progress = scope.progress.clone();
    let output = scope.gated.as_deref().and_then(Gated::typed_output);
    let origin = match output.cloned() {
        Some(output) => {
            let tool = flight.prepared().tool().origin();
            Origin::EditedTyped(grant, Typed { tool, output })
        }
        None => Origin::Approval(grant),
    };
    flight.forget();
    (call, progress, origin)
}

/// Asks a person about a call. Returns the result of the call, or the edited call that replaces it.
async fn asked(
    toolset: &Toolset,
    asks: Box<Asks<'_>>,
    body: Body<Job>,
    cx: &ToolContext,
) -> Result<CallResult, Box<Edited>> {
    let landed = match asks.ask().await {
        Ok(Answered::Cleared(cleared)) => match cleared.claim() {
            Ok(claimed) => match runs(toolset, claimed, body, &mut Here).await {
                Ok((running, ran)) => running.land(toolset, ran).ended().await,
                Err(left) => left.land(cx).await,
            },
            Err(unwritten) => return Ok(apart(toolset, unwritten, body, cx).await),
        },
        Ok(Answered::Edited(flight, grant)) => return Err(Box::new(edited(flight, grant))),
        Err(left) => left.land(cx).await,
    };
    Ok(landed.into_result())
}

/// Records, runs and completes a call in its own task. If the caller drops the call, the body ends at its next await, and the writes to the stores
/// are completed.
///
/// The caller polls the task once: if neither the store nor the body waits, no task is spawned. Without a runtime, the caller's
/// task does the work.
async fn apart(
    toolset: &Toolset,
    unwritten: Box<Unwritten>,
    body: Body<Job>,
    cx: &ToolContext,
) -> CallResult {
    let call = unwritten.flight().prepared().call().clone();
    let (sender, receiver) = oneshot::channel();
    let (tools, own) = (toolset.clone(), cx.clone());
    let task = async move {
        let mut caller = Caller(sender);
        let landed = written(&tools, unwritten, body, &own, &mut caller).await;
        // This fails if the caller has dropped the call; the result is stored.
        let _ = caller.0.send(landed.into_result());
    };
    let mut task = Box::pin(task.in_current_span().with_current_subscriber());
    let first = poll_fn(|cx| Poll::Ready(task.as_mut().poll(cx))).await;
    if first.is_pending()
        && let Err(task) = env::spawn_or_return(task)
    {
        task.await;
    }
    let done = receiver.await;
    done.unwrap_or_else(|_| {
        let error = ToolError::of(
            ErrorKind::Interrupted,
            "the host was shut down while the call ran; it may have taken effect",
        );
        CallResult::refused_in(cx, call, error)
    })
}

/// Runs the steps from the claim on.
async fn written(
    toolset: &Toolset,
    unwritten: Box<Unwritten>,
    body: Body<Job>,
    cx: &ToolContext,
    caller: &mut Caller,
) -> Landed {
    let ended = match unwritten.claim().await {
        Ok(claimed) => runs(toolset, claimed, body, caller).await,
        Err(left) => Err(left),
    };
    match ended {
        Ok((running, ran)) => running.land(toolset, ran).ended().await,
        Err(left) => left.land(cx).await,
    }
}

/// Runs a call in the task of its caller: dropping the caller drops the call.
struct Here;

impl Pause for Here {
    async fn attend<F: Future + Send>(
        &mut self,
        _: &Running<Flight>,
        work: Pin<&mut F>,
    ) -> Option<F::Output>
    where
        F::Output: Send,
    {
        Some(work.await)
    }
}

/// The caller of a call that runs in its own task.
struct Caller(oneshot::Sender<CallResult>);

impl Pause for Caller {
    /// Drives the work to its end, or until the caller drops the call; a body that has returned by then gets [`HOOKS_AFTER_CALLER`] for its hooks. If
    /// the call has a ledger row, renews its lease until the caller drops the call.
    async fn attend<F: Future + Send>(
        &mut self,
        running: &Running<Flight>,
        mut work: Pin<&mut F>,
    ) -> Option<F::Output>
    where
        F::Output: Send,
    {
        let gone = poll_fn(|task| self.0.poll_canceled(task));
        let both = async {
            match select(gone, work.as_mut()).await {
                Either::Right((done, _)) => Some(done),
                Either::Left(_) => None,
            }
        };
        let done = match running.record() {
            Record::Row(claim) => Box::pin(claim.hold(both)).await,
            Record::Nothing(_) | Record::Audited(_) => both.await,
        };
        if done.is_some() || !running.held().context().has_returned() {
            return done;
        }
        // The body has had its effect. Its result is stored if the hooks return it within this time.
        tokio::time::timeout(HOOKS_AFTER_CALLER, work).await.ok()
    }
}
