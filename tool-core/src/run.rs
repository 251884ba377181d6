//! From a call to its result: look up, admit, decide, run under guard.

use std::borrow::Cow;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::args::{self, RepairNote};
use crate::bounded;
use crate::call::{CallResult, ToolCall, ToolEvent};
#[cfg(feature = "host")]
use crate::context::Gated;
use crate::context::{CallScope, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::{self, Permit};
use crate::output::Output;
#[cfg(feature = "host")]
use crate::store::ApprovalRequest;
use crate::tool::{Finished, Job, SecretKind, Tool, ToolDef};
use crate::toolset::Toolset;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::stream::Stream;
use serde::de::DeserializeOwned;

mod blocking;
#[cfg(feature = "host")]
mod claim;
mod drive;
#[cfg(feature = "host")]
mod gated;
mod guard;
#[cfg(feature = "host")]
pub(crate) mod hooks;
#[cfg(feature = "otel")]
mod otel;
#[cfg(feature = "host")]
pub(crate) mod stored;
mod telemetry;

#[cfg(feature = "host")]
pub use blocking::BlockingPool;
pub use blocking::blocking;
pub(crate) use drive::finish;
use telemetry::CallSpan;

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
    span: CallSpan,
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

    /// The same call, for a permit of its own.
    #[cfg(feature = "host")]
    fn again(&self) -> Self {
        Self {
            cx: self.cx.clone(),
            scope: Arc::clone(&self.scope),
            repairs: Vec::new(),
            corrected: self.corrected.clone(),
            since: self.since,
            at: self.at,
            span: self.span.clone(),
        }
    }

    /// Tells whoever listens that the call is over, and gives how long it took.
    fn ended(&self, error: Option<&ToolError>) -> Duration {
        let took = self.since.elapsed();
        telemetry::ended(
            &self.span,
            &self.scope.def,
            &self.scope.call.id,
            error,
            took,
        );
        took
    }

    /// The end of the call.
    fn result(self, outcome: Result<Output, ToolError>) -> CallResult {
        let duration = self.ended(outcome.as_ref().err());
        let Self {
            cx,
            mut scope,
            repairs,
            corrected: _,
            since: _,
            at: _,
            span: _,
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
            duration,
            #[cfg(feature = "host")]
            tickets: Vec::new(),
            replayed: false,
        }
    }
}

type Progress = Option<UnboundedSender<ToolEvent>>;

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
        return Err(refused(call, error));
    };
    let (corrected, repairs) = match admit(toolset, def, &call.arguments) {
        Ok(admitted) => admitted,
        Err(error) => return Err(refused(call, error)),
    };
    let mut prepared = enter(
        toolset,
        at,
        def,
        call,
        cx,
        progress,
        since,
        #[cfg(feature = "host")]
        None,
    );
    if let Err(error) = check_secrets(def, cx) {
        return Err(prepared.result(Err(error)));
    }
    (prepared.repairs, prepared.corrected) = (repairs, corrected);
    match begin(def, prepared.arguments(), prepared.cx.clone()) {
        Ok(job) => Ok((prepared, job)),
        Err(error) => {
            let error = redacted(error, &prepared.cx);
            Err(prepared.result(Err(error)))
        }
    }
}

/// A call that never reached a tool.
fn refused(call: ToolCall, error: ToolError) -> CallResult {
    telemetry::refused(&call, &error);
    CallResult::refused(call, error)
}

/// A secret that cannot be masked is not given out, be it a variable.
fn check_secrets(def: &ToolDef, cx: &ToolContext) -> Result<(), ToolError> {
    let short = def
        .secrets()
        .iter()
        .find(|need| need.kind == SecretKind::Text && cx.is_short_secret(&need.key));
    if let Some(need) = short {
        return Err(ToolError::unavailable(format_args!(
            "a secret `{}` that has at least 6 bytes",
            need.key
        )));
    }
    match cx.open_variable(def) {
        None => Ok(()),
        Some((name, why)) => Err(ToolError::of(
            ErrorKind::Unavailable,
            "the tool is not available here: the host has not set it up",
        )
        .operator(format!("the variable `{name}` {why}"))),
    }
}

/// A tool whose required variables have no values waits for them.
pub(crate) fn check_variables(def: &ToolDef, cx: &ToolContext) -> Result<(), ToolError> {
    if def.variables().is_empty() {
        return Ok(());
    }
    let missing = cx.missing_variables(def);
    if missing.is_empty() {
        return Ok(());
    }
    Err(ToolError::variables_required(missing))
}

/// What the tool reads, where it is not what the model wrote, and what was repaired.
fn admit(
    toolset: &Toolset,
    def: &ToolDef,
    written: &str,
) -> Result<(Option<String>, Vec<RepairNote>), ToolError> {
    let admitted = args::admit(def.input(), written, toolset.repair_mode())
        .map_err(ToolError::invalid_arguments)?;
    let corrected = match admitted.text {
        // Empty text is read as `{}`, which is neither.
        Cow::Borrowed(text) if text.len() == written.len() => None,
        text => Some(text.into_owned()),
    };
    Ok((corrected, admitted.repairs))
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
#[cfg_attr(
    feature = "host",
    expect(clippy::too_many_arguments, reason = "each is a part of the scope")
)]
fn enter(
    toolset: &Toolset,
    at: usize,
    def: &ToolDef,
    call: ToolCall,
    cx: &ToolContext,
    progress: Progress,
    since: Instant,
    #[cfg(feature = "host")] gated: Option<Box<Gated>>,
) -> Prepared {
    let own = def
        .timeout()
        .and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    let deadline = match (own, cx.deadline()) {
        (Some(own), Some(turn)) => Some(own.min(turn)),
        (own, turn) => own.or(turn),
    };
    let span = CallSpan::open(def, &call, cx);
    let scope = Arc::new(CallScope {
        call,
        def: def.clone(),
        deadline,
        progress,
        #[cfg(feature = "host")]
        gated,
        citations: Mutex::default(),
        room: toolset.shelf().room(at),
        ended: AtomicBool::new(false),
        detached: AtomicBool::new(false),
        #[cfg(feature = "otel")]
        trace: std::sync::OnceLock::new(),
    });
    Prepared {
        cx: cx.enter(Arc::clone(&scope)),
        scope,
        repairs: Vec::new(),
        corrected: None,
        since,
        at,
        span,
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
    #[cfg(feature = "otel")]
    otel::announce(&prepared);
    let outcome = {
        let job = pin!(guard::guarded(job, &prepared.cx));
        prepared.span.run(job).await
    };
    drop(ended);
    (prepared, outcome)
}

/// The result of a run, with what a model does not read at once kept for it.
async fn closed(
    toolset: &Toolset,
    prepared: Prepared,
    outcome: Result<Finished, ToolError>,
) -> CallResult {
    let bounded = outcome
        .as_ref()
        .is_ok_and(|Finished(output)| bounded::is_bounded(output));
    if !bounded {
        return close(toolset, prepared, outcome);
    }
    let cx = prepared.cx.clone();
    let mut result = close(toolset, prepared, outcome);
    if let Ok(output) = &mut result.outcome {
        // After secrets are masked. Boxed, so that other calls do not carry the room for it.
        Box::pin(bounded::settle(output, &cx)).await;
    }
    result
}

/// The result of a run, with the checks on its output.
fn close(
    toolset: &Toolset,
    prepared: Prepared,
    outcome: Result<Finished, ToolError>,
) -> CallResult {
    let outcome = match outcome {
        Ok(finished) => {
            toolset
                .shelf()
                .wrote(prepared.at, finished.0.payload.get().len());
            leave(&prepared, finished)
        }
        Err(error) => Err(redacted(error, &prepared.cx)),
    };
    prepared.result(outcome)
}

/// What of a run may leave it: no more bytes than the tool allows, and no secret of the turn.
fn leave(prepared: &Prepared, Finished(output): Finished) -> Result<Output, ToolError> {
    if let Some(promise) = prepared.scope.def.promise() {
        let issues = promise.issues(&output.payload);
        if !issues.is_empty() {
            let why = ToolError::invalid_arguments(issues).model_text();
            return Err(ToolError::new(
                "the tool gave an output that its own schema does not admit",
            )
            .operator(why.replacen(
                "the arguments do not fit the schema",
                "the output does not fit the tool's output schema",
                1,
            )));
        }
    }
    let size = output.payload.get().len();
    match prepared.scope.def.output_limit() {
        Some(limit) if size > limit => Err(ToolError::new(format!(
            "the output has {size} bytes and at most {limit} are allowed, ask for less"
        ))),
        _ => {
            let redactor = prepared.cx.redactor();
            if redactor.is_empty() {
                return Ok(output);
            }
            Ok(Output {
                payload: redactor.payload(output.payload),
                model: output.model.map(|model| redactor.model(model)),
            })
        }
    }
}

/// An error without the turn's secrets.
fn redacted(error: ToolError, cx: &ToolContext) -> ToolError {
    cx.redactor().error(error)
}

/// See [`Toolset::call`].
pub(crate) async fn call(toolset: &Toolset, call: ToolCall, cx: &ToolContext) -> CallResult {
    if toolset.search().is_some() {
        return toolset.call_opened(call, cx).await;
    }
    #[cfg(feature = "host")]
    if let Some(gate) = toolset.gate() {
        return gated::call(gate, toolset, call, cx, None, gated::From::Model).await;
    }
    let (prepared, job) = match prepare(toolset, call, cx, None) {
        Ok(ready) => ready,
        Err(refused) => return refused,
    };
    match gate::decide(toolset, prepared) {
        Ok(permit) => {
            let (prepared, outcome) = execute(permit, job).await;
            closed(toolset, prepared, outcome).await
        }
        Err((prepared, error)) => prepared.result(Err(error)),
    }
}

/// See [`Toolset::resume`].
#[cfg(feature = "host")]
pub(crate) async fn resume(
    toolset: &Toolset,
    token: &str,
    cx: &ToolContext,
    progress: Progress,
) -> CallResult {
    match gate::resume::grant(toolset, token, cx).await {
        Ok((gate, call, grant)) => {
            gated::call(
                gate,
                toolset,
                call,
                cx,
                progress,
                gated::From::Approval(Box::new(grant)),
            )
            .await
        }
        Err(refused) => *refused,
    }
}

/// Whether the ledger has begun a call whose approval was used already. Where it cannot tell, it counts as begun.
#[cfg(feature = "host")]
pub(crate) async fn is_begun(
    gate: &gate::Gate,
    call: &ToolCall,
    cx: &ToolContext,
    request: &ApprovalRequest,
) -> bool {
    let (Some(ledger), Ok(gated)) = (gate.effects(), Gated::open(cx, call, Some(request))) else {
        return true;
    };
    !matches!(ledger.get(gated.key(cx, call)).await, Ok(None))
}

/// The result of a call whose approval was used already.
#[cfg(feature = "host")]
pub(crate) async fn replay(
    gate: &gate::Gate,
    call: ToolCall,
    cx: &ToolContext,
    request: &ApprovalRequest,
) -> CallResult {
    let stored = match Gated::open(cx, &call, Some(request)) {
        Ok(gated) => claim::replayed(gate, gated.key(cx, &call)).await,
        Err(error) => Err(error),
    };
    let mut result = CallResult::refused(call, ToolError::new(""));
    match stored {
        Ok(text) => {
            (result.outcome, result.citations) = stored::read(&text);
            result.replayed = true;
        }
        Err(error) => result.outcome = Err(error),
    }
    result
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
        #[cfg(feature = "host")]
        if let Some(gate) = toolset.gate().cloned() {
            return Ok(events(steps, async move {
                gated::call(&gate, &toolset, call, &cx, Some(sender), gated::From::Model).await
            }));
        }
        let (prepared, job) = prepare(&toolset, call, &cx, Some(sender.clone()))?;
        match gate::decide(&toolset, prepared) {
            Ok(permit) => {
                let _ = sender.unbounded_send(ToolEvent::Started);
                Ok(events(steps, async move {
                    let (prepared, outcome) = execute(permit, job).await;
                    closed(&toolset, prepared, outcome).await
                }))
            }
            Err((prepared, error)) => Err(prepared.result(Err(error))),
        }
    })
}

fn events(
    steps: UnboundedReceiver<ToolEvent>,
    run: impl Future<Output = CallResult> + Send + 'static,
) -> drive::Running {
    (steps, Box::pin(run))
}

/// See [`Toolset::resume_stream`].
#[cfg(feature = "host")]
pub(crate) fn resume_stream(
    toolset: Toolset,
    token: String,
    cx: ToolContext,
) -> impl Stream<Item = ToolEvent> + Send + use<> {
    #[expect(clippy::result_large_err, reason = "as of `prepare`")]
    let begin = move || {
        let (sender, steps) = unbounded();
        Ok(events(steps, async move {
            resume(&toolset, &token, &cx, Some(sender)).await
        }))
    };
    drive::Events::new(begin)
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
    #[cfg(feature = "host")]
    if let Some(gate) = toolset.gate() {
        return gated::invoke(gate, toolset, input, text, cx).await;
    }
    if let Some(text) = &text {
        args::admit(def.input(), text, args::Repair::Off).map_err(ToolError::invalid_arguments)?;
    }
    check_secrets(def, cx)?;
    let call = ToolCall::new("", T::NAME, text.unwrap_or_default());
    let prepared = enter(
        toolset,
        at,
        def,
        call,
        cx,
        None,
        since,
        #[cfg(feature = "host")]
        None,
    );
    let permit = gate::decide(toolset, prepared).map_err(|(prepared, error)| {
        prepared.ended(Some(&error));
        error
    })?;
    let inner = permit.context().clone();
    let job = async move {
        let returned = input.run(inner.clone(), Pass(())).await?;
        drive::settle(returned, &inner).await
    };
    let (prepared, outcome) = execute(permit, job).await;
    prepared.ended(outcome.as_ref().err());
    outcome.map_err(|error| redacted(error, &prepared.cx))
}
