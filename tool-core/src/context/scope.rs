//! The state of a running call.

use std::any::Any;
#[cfg(feature = "otel")]
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;

#[cfg(feature = "host")]
use super::Gated;
use super::Host;
#[cfg(feature = "otel")]
use super::TraceContext;
use super::progress::Reporter;
use crate::call::ToolCall;
use crate::effect::Effect;
use crate::need::{SecretNeed, VariableNeed};
use crate::output::Citation;

/// The tool of a running call, as far as its context asks about it.
///
/// A definition of a tool names the context, so the context cannot name the definition. The steps of a call implement this trait for the definition and for
/// everything else that only they use, and find their type again through `Any`. It is the unsized end of [`CallScope`], so it needs no allocation.
pub(crate) trait RunningTool: Any + Send + Sync {
    fn name(&self) -> &str;

    fn effect(&self) -> Effect;

    fn secrets(&self) -> &[SecretNeed];

    fn variables(&self) -> &[VariableNeed];

    /// Whether a body that ended with an error may run again later: the tool is declared idempotent, or its only effects are
    /// calls, which have rows of their own.
    #[cfg(feature = "host")]
    fn may_run_again(&self) -> bool;
}

/// The state of one call.
pub(crate) struct CallScope<T: ?Sized = dyn RunningTool> {
    /// The values of the turn.
    pub(crate) host: Arc<Host>,
    pub(crate) call: ToolCall,
    /// The arguments that the tool reads, if they differ from what the model wrote.
    pub(crate) corrected: Option<String>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) progress: Option<Reporter>,
    #[cfg(feature = "host")]
    pub(crate) gated: Option<Box<Gated>>,
    pub(crate) citations: Mutex<Vec<Citation>>,
    /// Expected length of the output in bytes, taken from earlier outputs.
    pub(crate) room: usize,
    /// Whether the run has ended or was dropped, so that background work should stop.
    pub(crate) ended: AtomicBool,
    /// Whether blocking work was left running.
    pub(crate) detached: AtomicBool,
    /// Whether the body has begun for the first time, so that `Started` was sent.
    pub(crate) begun: AtomicBool,
    /// The trace context of the call's own span.
    #[cfg(feature = "otel")]
    pub(crate) trace: OnceLock<TraceContext>,
    /// The tool, with what the steps of the call keep beside it.
    pub(crate) tool: T,
}

impl<T: ?Sized> CallScope<T> {
    /// Returns the arguments as the tool reads them.
    pub(crate) fn arguments(&self) -> &str {
        self.corrected.as_deref().unwrap_or(&self.call.arguments)
    }
}
