//! From a call to its result: look up, admit, decide, run under guard.

use std::borrow::Cow;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::stream::Stream;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::args::{self, RepairNote};
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::{CallScope, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::{self, Permit};
use crate::output::Output;
use crate::tool::{Finished, Job, Tool, ToolDef};
use crate::toolset::Toolset;

mod blocking;
mod drive;
mod guard;

#[cfg(feature = "host")]
pub use blocking::BlockingPool;
pub use blocking::blocking;
pub(crate) use drive::finish;

/// The right to start a run. Only this crate makes one, so that nobody else calls a [`Start`](crate::tool::Start).
#[doc(hidden)]
pub struct Ticket(());

/// Shown to a tool's `run`. Only this crate makes one.
#[doc(hidden)]
pub struct Pass(());

/// serde refused what the schema admits: a `Deserialize` of the user's own is stricter than its type's schema.
#[doc(hidden)]
#[derive(Debug)]
pub struct DecodeError(serde_json::Error);

impl DecodeError {
    pub(crate) fn new(error: serde_json::Error) -> Self {
        Self(error)
    }

    fn into_tool_error(self) -> ToolError {
        ToolError::of(
            ErrorKind::InvalidArguments,
            format!("the arguments do not fit: {}", self.0),
        )
    }
}

/// Starts a run of `T`: decodes now, runs when polled.
#[doc(hidden)]
pub fn start<T: Tool + DeserializeOwned>(
    text: &str,
    cx: ToolContext,
    _: Ticket,
) -> Result<Job, DecodeError> {
    let input: T = args::decode(text).map_err(DecodeError::new)?;
    Ok(Box::pin(async move {
        let returned = input.run(cx.clone(), Pass(())).await?;
        finish(returned, T::model_view, &cx).await
    }))
}

/// A call whose tool was found and whose arguments were admitted; nothing of the tool has run.
pub(crate) struct Prepared {
    cx: ToolContext,
    scope: Arc<CallScope>,
    repairs: Vec<RepairNote>,
    /// What the tool reads, where it is not what the model wrote.
    corrected: Option<String>,
    since: Instant,
    /// The tool's position on its shelf.
    at: usize,
}

impl Prepared {
    /// The arguments as the tool reads them.
    pub(crate) fn arguments(&self) -> &str {
        self.corrected
            .as_deref()
            .unwrap_or(&self.scope.call.arguments)
    }

    pub(crate) fn tool(&self) -> &ToolDef {
        &self.scope.def
    }

    /// Where the tool stands in its toolset.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn call(&self) -> &ToolCall {
        &self.scope.call
    }

    pub(crate) fn context(&self) -> &ToolContext {
        &self.cx
    }

    /// The end of the call.
    fn result(self, outcome: Result<Output, ToolError>) -> CallResult {
        let Self {
            cx,
            mut scope,
            repairs,
            corrected: _,
            since,
            at: _,
        } = self;
        drop(cx);
        // Usually nobody else holds the call any more, then its texts move.
        let (id, name, citations) = match Arc::get_mut(&mut scope) {
            Some(scope) => (
                std::mem::take(&mut scope.call.id),
                std::mem::take(&mut scope.call.name),
                std::mem::take(
                    scope
                        .citations
                        .get_mut()
                        .unwrap_or_else(PoisonError::into_inner),
                ),
            ),
            None => (
                scope.call.id.clone(),
                scope.call.name.clone(),
                std::mem::take(
                    &mut *scope
                        .citations
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner),
                ),
            ),
        };
        CallResult {
            id,
            name,
            outcome,
            citations,
            repairs,
            duration: since.elapsed(),
        }
    }
}

type Progress = Option<UnboundedSender<Box<RawValue>>>;

/// Name, visibility, arguments.
#[expect(
    clippy::result_large_err,
    reason = "a result is moved once, a box would cost it an allocation"
)]
fn prepare(
    toolset: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
    progress: Progress,
) -> Result<(Prepared, Job), CallResult> {
    let since = Instant::now();
    let Some((at, def)) = toolset.find(&call.name) else {
        let error = toolset.unknown(&call.name);
        return Err(CallResult::refused(call, error));
    };
    let (corrected, repairs) =
        match args::admit(def.input(), &call.arguments, toolset.repair_mode()) {
            Ok(admitted) => (
                // Empty text is read as `{}`, which is neither the call's text nor a repair.
                match admitted.text {
                    Cow::Borrowed(text) if text.len() == call.arguments.len() => None,
                    text => Some(text.into_owned()),
                },
                admitted.repairs,
            ),
            Err(issues) => {
                return Err(CallResult::refused(
                    call,
                    ToolError::invalid_arguments(issues),
                ));
            }
        };
    let mut prepared = enter(toolset, at, def, call, cx, progress, since);
    (prepared.repairs, prepared.corrected) = (repairs, corrected);
    match begin(def, prepared.arguments(), prepared.cx.clone()) {
        Ok(job) => Ok((prepared, job)),
        Err(error) => Err(prepared.result(Err(error))),
    }
}

/// Decodes; nothing runs yet.
fn begin(def: &ToolDef, text: &str, cx: ToolContext) -> Result<Job, ToolError> {
    // A `Deserialize` of the user's own may panic.
    catch_unwind(AssertUnwindSafe(|| def.start(text, cx, Ticket(()))))
        .map_err(|payload| guard::panicked(&*payload))?
        .map_err(DecodeError::into_tool_error)
}

/// Whether admitted arguments can be decoded. For tests: nothing runs.
pub(crate) fn decode(def: &ToolDef, text: &str, cx: ToolContext) -> Result<(), ToolError> {
    begin(def, text, cx).map(drop)
}

/// Opens the call's scope.
fn enter(
    toolset: &Toolset,
    at: usize,
    def: &ToolDef,
    call: ToolCall,
    cx: &ToolContext,
    progress: Progress,
    since: Instant,
) -> Prepared {
    let own = def
        .timeout()
        .and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    let deadline = match (own, cx.deadline()) {
        (Some(own), Some(turn)) => Some(own.min(turn)),
        (own, turn) => own.or(turn),
    };
    let scope = Arc::new(CallScope {
        call,
        def: def.clone(),
        deadline,
        progress,
        citations: Mutex::default(),
        room: toolset.shelf().room(at),
        ended: AtomicBool::new(false),
        detached: AtomicBool::new(false),
    });
    Prepared {
        cx: cx.enter(Arc::clone(&scope)),
        scope,
        repairs: Vec::new(),
        corrected: None,
        since,
        at,
    }
}

/// Runs what the gate permitted, and closes the scope however it ends.
async fn execute<R>(
    permit: Permit,
    job: impl Future<Output = Result<R, ToolError>> + Send,
) -> (Prepared, Result<R, ToolError>) {
    /// Tells blocking code that nobody waits any more, also when the run is dropped.
    struct Ended<'a>(&'a CallScope);
    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.ended.store(true, Ordering::Relaxed);
        }
    }
    let prepared = permit.spend();
    let ended = Ended(&prepared.scope);
    let span = tracing::info_span!(
        "execute_tool",
        otel.name = tracing::field::Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = prepared.scope.def.name(),
        gen_ai.tool.call.id = %prepared.scope.call.id,
        error.type = tracing::field::Empty,
    );
    let outcome = if span.is_disabled() {
        guard::guarded(job, &prepared.cx).await
    } else {
        span.record(
            "otel.name",
            format_args!("execute_tool {}", prepared.scope.def.name()),
        );
        let outcome =
            tracing::Instrument::instrument(guard::guarded(job, &prepared.cx), span.clone()).await;
        if let Err(error) = &outcome {
            span.record("error.type", error.kind().as_str());
        }
        outcome
    };
    drop(ended);
    (prepared, outcome)
}

/// The result of a run, with the checks on its output.
fn close(
    toolset: &Toolset,
    prepared: Prepared,
    outcome: Result<Finished, ToolError>,
) -> CallResult {
    let outcome = outcome.and_then(|Finished(output)| {
        let size = output.payload.get().len();
        toolset.shelf().wrote(prepared.at, size);
        match prepared.scope.def.output_limit() {
            Some(limit) if size > limit => Err(ToolError::new(format!(
                "the output has {size} bytes and at most {limit} are allowed, ask for less"
            ))),
            _ => Ok(output),
        }
    });
    prepared.result(outcome)
}

/// See [`Toolset::call`].
pub(crate) async fn call(toolset: &Toolset, call: ToolCall, cx: &ToolContext) -> CallResult {
    let (prepared, job) = match prepare(toolset, call, cx, None) {
        Ok(ready) => ready,
        Err(refused) => return refused,
    };
    match gate::decide(toolset, prepared) {
        Ok(permit) => {
            let (prepared, outcome) = execute(permit, job).await;
            close(toolset, prepared, outcome)
        }
        Err((prepared, error)) => prepared.result(Err(error)),
    }
}

/// See [`Toolset::stream`].
#[expect(clippy::result_large_err, reason = "as of `prepare`")]
pub(crate) fn stream(
    toolset: Toolset,
    call: ToolCall,
    cx: ToolContext,
) -> impl Stream<Item = ToolEvent> + Send + use<> {
    drive::Events::new(move || {
        let (sender, steps) = unbounded();
        let (prepared, job) = prepare(&toolset, call, &cx, Some(sender))?;
        match gate::decide(&toolset, prepared) {
            Ok(permit) => Ok((
                steps,
                Box::pin(async move {
                    let (prepared, outcome) = execute(permit, job).await;
                    close(&toolset, prepared, outcome)
                }),
            )),
            Err((prepared, error)) => Err(prepared.result(Err(error))),
        }
    })
}

/// See [`Toolset::invoke`].
pub(crate) async fn invoke<T: Tool>(
    toolset: &Toolset,
    input: T,
    cx: &ToolContext,
) -> Result<T::Output, ToolError> {
    let since = Instant::now();
    let Some((at, def)) = toolset.find_typed::<T>() else {
        return Err(toolset.unknown(T::NAME));
    };
    // Types hold already; bounds are known to the guard alone.
    let text = input.to_arguments();
    if let Some(text) = &text {
        args::admit(def.input(), text, args::Repair::Off).map_err(ToolError::invalid_arguments)?;
    }
    let call = ToolCall::new("", T::NAME, text.unwrap_or_default());
    let prepared = enter(toolset, at, def, call, cx, None, since);
    let permit = gate::decide(toolset, prepared).map_err(|(_, error)| error)?;
    let inner = permit.context().clone();
    let job = async move {
        let returned = input.run(inner.clone(), Pass(())).await?;
        drive::settle(returned, &inner).await
    };
    execute(permit, job).await.1
}
