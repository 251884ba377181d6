//! Preparing a call: checks of arguments, secrets and variables, and the scope that opens before the body.

#[cfg(feature = "host")]
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::telemetry::{self, CallSpan};
use super::{Progress, guard};
use crate::args::{Admitted, Repair, RepairNote};
use crate::call::{CallResult, ToolCall};
#[cfg(feature = "host")]
use crate::context::Gated;
use crate::context::{CallScope, ToolContext, misfit};
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::output::{Citation, Output};
use crate::policy::PolicyRequest;
use crate::redact::{Clean, Redactor};
use crate::tool::{Entry, Job, NotBegun, SecretKind, ToolDef, misread};
use crate::toolset::Toolset;

/// A call whose tool was found and whose scope was opened.
pub(crate) struct Prepared {
    pub(super) cx: ToolContext,
    pub(super) repairs: Vec<RepairNote>,
    pub(super) since: Instant,
    /// The tool's position in its toolset.
    pub(super) at: usize,
    pub(super) span: CallSpan,
    pub(super) def: ToolDef,
}

impl Prepared {
    /// Returns the arguments as the tool reads them.
    pub(crate) fn arguments(&self) -> &str {
        self.cx.served().arguments()
    }

    pub(crate) fn tool(&self) -> &ToolDef {
        &self.def
    }

    /// Returns the tool's position in its toolset.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    #[cfg(feature = "host")]
    pub(crate) fn call(&self) -> &ToolCall {
        &self.cx.served().call
    }

    pub(crate) fn context(&self) -> &ToolContext {
        &self.cx
    }

    /// Returns the request with which a policy decides on the call.
    pub(crate) fn request(&self) -> PolicyRequest<'_> {
        PolicyRequest::of(&self.def, self.cx.served(), &self.cx)
    }

    /// Reports the end of the call to `tracing`, and returns how long the call took.
    pub(super) fn ended(&self, error: Option<&ToolError>) -> Duration {
        let took = env::elapsed(self.since);
        telemetry::ended(&self.span, &self.def, error, took, &self.cx);
        took
    }

    /// Builds the result of the call, and redacts its citations and repairs. The outcome is redacted already.
    pub(super) fn close(self, outcome: Clean<Result<Output, ToolError>>) -> CallResult {
        let duration = self.ended(outcome.get().as_ref().err());
        let redactor = self.cx.redactor();
        let conversation = self.cx.shared_conversation();
        let Self {
            mut cx,
            repairs,
            since: _,
            at: _,
            span: _,
            def: _,
        } = self;
        // Usually this is the last holder of the call, so its strings can be moved.
        let labels = match cx.served_mut() {
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
            None => labels(cx.served()),
        };
        closed(&redactor, conversation, labels, repairs, outcome, duration)
    }

    /// Builds the result of a call that is recorded afterwards, so that its scope is still needed.
    #[cfg(feature = "host")]
    pub(super) fn close_kept(&mut self, outcome: Clean<Result<Output, ToolError>>) -> CallResult {
        let duration = self.ended(outcome.get().as_ref().err());
        let labels = labels(self.cx.served());
        let repairs = std::mem::take(&mut self.repairs);
        let redactor = self.cx.redactor();
        let conversation = self.cx.shared_conversation();
        closed(&redactor, conversation, labels, repairs, outcome, duration)
    }
}

/// Copies the id and the name of a call, and takes its citations.
fn labels(scope: &CallScope) -> (String, String, Vec<Citation>) {
    let mut citations = scope
        .citations
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    (
        scope.call.id.clone(),
        scope.call.name.clone(),
        std::mem::take(&mut *citations),
    )
}

#[inline]
fn closed(
    redactor: &Redactor,
    conversation: Option<Arc<str>>,
    (id, name, citations): (String, String, Vec<Citation>),
    repairs: Vec<RepairNote>,
    outcome: Clean<Result<Output, ToolError>>,
    duration: Duration,
) -> CallResult {
    CallResult {
        secret_label: redactor.finds(&id) || redactor.finds(&name),
        id,
        name,
        outcome,
        citations: redactor.clean(citations),
        repairs: redactor.clean(repairs),
        duration,
        conversation,
        #[cfg(feature = "host")]
        tickets: Vec::new(),
        #[cfg(feature = "host")]
        looked_up: None,
        #[cfg(feature = "host")]
        undecided: false,
        #[cfg(feature = "host")]
        stopped: false,
        replayed: false,
    }
}

/// Refuses secrets that are too short to redact, secret variables included.
#[inline]
pub(super) fn check_secrets(def: &ToolDef, cx: &ToolContext) -> Result<(), ToolError> {
    let short = def
        .secrets()
        .iter()
        .find(|need| need.kind == SecretKind::Text && cx.is_short_secret(&need.key));
    if let Some(need) = short {
        return Err(ToolError::unavailable(&need.key).operator(format!(
            "the secret `{}` has fewer than 6 bytes and cannot be redacted",
            need.key
        )));
    }
    match cx.open_variable(def.variables()) {
        None => Ok(()),
        Some((name, why)) => Err(ToolError::of(
            ErrorKind::Unavailable,
            "the tool is not available here: the host has not set it up",
        )
        .operator(format!("the variable `{name}` {why}"))),
    }
}

/// Refuses a call while its tool has required variables without values.
pub(crate) fn check_variables(def: &ToolDef, cx: &ToolContext) -> Result<(), ToolError> {
    if def.variables().is_empty() {
        return Ok(());
    }
    let missing = cx.missing_variables(def.variables());
    if missing.is_empty() {
        return Ok(());
    }
    Err(ToolError::variables_required(missing))
}

/// Checks the arguments of a call against the schema of its tool.
pub(super) fn check_call<'t>(
    def: &ToolDef,
    written: &'t str,
    repair: Repair,
    cx: &ToolContext,
) -> Result<Admitted<'t>, ToolError> {
    def.admit(written, repair).map_err(|issues| {
        misfit(written, cx, issues, |masked| {
            def.admit(masked, repair).err()
        })
    })
}

/// Begins a call whose arguments match the schema and whose scope is open.
pub(super) fn begin(def: &ToolDef, text: &str, cx: ToolContext) -> Result<Job, ToolError> {
    let mut again = Again { text, cx: Some(cx) };
    // A custom `Deserialize` impl may panic.
    catch_unwind(AssertUnwindSafe(|| def.start(&mut again)))
        .map_err(|payload| guard::panicked(&*payload))?
        .map_err(NotBegun::into_tool_error)
}

/// Deserializes arguments that match the schema, without running the tool.
pub(crate) fn decode(def: &ToolDef, text: &str, cx: ToolContext) -> Result<(), ToolError> {
    begin(def, text, cx).map(drop)
}

/// The entry of a call whose scope is already open.
struct Again<'t> {
    text: &'t str,
    cx: Option<ToolContext>,
}

impl Entry for Again<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn enter(&mut self, _: bool) -> Result<ToolContext, ToolError> {
        self.cx.take().ok_or_else(|| misread(None))
    }
}

/// The parts of a call's scope other than its tool and its context.
pub(super) struct Opening {
    pub(super) call: ToolCall,
    pub(super) corrected: Option<String>,
    pub(super) repairs: Vec<RepairNote>,
    pub(super) progress: Progress,
    pub(super) since: Instant,
    #[cfg(feature = "host")]
    pub(super) gated: Option<Box<Gated>>,
    #[cfg(feature = "host")]
    pub(super) gate: Option<Arc<dyn Any + Send + Sync>>,
}

/// Opens the scope and the span of a call.
#[inline]
pub(super) fn enter(
    toolset: &Toolset,
    at: usize,
    def: &ToolDef,
    cx: &ToolContext,
    opening: Opening,
) -> Prepared {
    let own = def
        .timeout()
        .and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    let deadline = match (own, cx.deadline()) {
        (Some(own), Some(turn)) => Some(own.min(turn)),
        (own, turn) => own.or(turn),
    };
    let acting = def
        .acts_as()
        .map(|user| cx.acting_as(&user.user, user.is_default));
    let cx = acting.as_ref().unwrap_or(cx);
    let span = CallSpan::open(def, &opening.call, cx);
    let cx = cx.enter(|host| CallScope {
        host,
        call: opening.call,
        corrected: opening.corrected,
        standing: toolset.standing(at),
        tool: def.running(),
        deadline,
        progress: opening.progress,
        #[cfg(feature = "host")]
        gated: opening.gated,
        #[cfg(feature = "host")]
        gate: opening.gate,
        citations: Mutex::default(),
        room: toolset.shelf().room(at),
        ended: AtomicBool::new(false),
        detached: AtomicBool::new(false),
        begun: AtomicBool::new(false),
        #[cfg(feature = "otel")]
        trace: std::sync::OnceLock::new(),
    });
    Prepared {
        cx,
        repairs: opening.repairs,
        since: opening.since,
        at,
        span,
        def: def.clone(),
    }
}
