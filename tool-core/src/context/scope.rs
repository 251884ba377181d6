//! The state of a running call.

#[cfg(feature = "host")]
use std::any::Any;
use std::ops::Deref;
#[cfg(feature = "otel")]
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;

#[cfg(feature = "host")]
use super::Gated;
#[cfg(feature = "otel")]
use super::TraceContext;
use super::progress::Reporter;
use super::{Host, ToolContext};
use crate::call::ToolCall;
use crate::effect::Effect;
use crate::need::{SecretNeed, VariableNeed};
use crate::output::Citation;

/// The facts of a tool that the context of its running call needs. The definition of a tool depends on the context, so the context cannot depend on the
/// definition.
pub(crate) trait ToolFacts: Send + Sync {
    fn name(&self) -> &str;

    /// Returns whether this is the name or an alias of the tool.
    #[cfg(feature = "host")]
    fn is_named(&self, name: &str) -> bool;

    fn effect(&self) -> Effect;

    fn secrets(&self) -> &[SecretNeed];

    fn variables(&self) -> &[VariableNeed];

    /// Returns whether a body that ended with an error may run again later: the tool is read-only or declared idempotent, or its only effects are
    /// calls, which have their own rows.
    #[cfg(feature = "host")]
    fn may_run_again(&self) -> bool;
}

/// The tool of a running call. It shares the definition of the tool, so it needs no allocation.
pub(crate) enum RunningTool {
    Static(&'static dyn ToolFacts),
    Shared(Arc<dyn ToolFacts>),
}

impl Deref for RunningTool {
    type Target = dyn ToolFacts;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Static(facts) => *facts,
            Self::Shared(facts) => &**facts,
        }
    }
}

/// The rules of a turn that can still forbid a call after it was allowed.
pub(crate) trait StandingRules: Send + Sync {
    /// Returns whether a call is still allowed. `at` is the position of its tool in the turn, and `edition` the edition of the policies
    /// before they decided on the call.
    fn still_allow(&self, at: usize, edition: u64, scope: &CallScope, cx: &ToolContext) -> bool;
}

/// The rules that can still forbid a call: kill switches, disables and deny rules. Operators can change them while the gate processes the call.
pub(crate) struct Standing {
    pub(crate) rules: Arc<dyn StandingRules>,
    pub(crate) at: usize,
    /// The edition of the policies before they decided on the call. If the edition has not changed, their decision is still valid.
    pub(crate) edition: u64,
}

impl Standing {
    /// Returns whether the call is still allowed.
    pub(crate) fn allows(&self, scope: &CallScope, cx: &ToolContext) -> bool {
        self.rules.still_allow(self.at, self.edition, scope, cx)
    }
}

/// The state of one call.
pub(crate) struct CallScope {
    /// The values of the turn.
    pub(crate) host: Arc<Host>,
    pub(crate) call: ToolCall,
    /// The arguments that the tool reads, if they differ from the arguments that the model wrote.
    pub(crate) corrected: Option<String>,
    /// The rules that can still forbid the call; `None` if the turn has no rules.
    pub(crate) standing: Option<Standing>,
    pub(crate) tool: RunningTool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) progress: Option<Reporter>,
    #[cfg(feature = "host")]
    pub(crate) gated: Option<Box<Gated>>,
    /// The gate that received the call. It also checks nested calls. Its type is erased, because the type of the gate depends on the context.
    #[cfg(feature = "host")]
    pub(crate) gate: Option<Arc<dyn Any + Send + Sync>>,
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
}

impl CallScope {
    /// Returns the arguments as the tool reads them.
    pub(crate) fn arguments(&self) -> &str {
        self.corrected.as_deref().unwrap_or(&self.call.arguments)
    }
}
