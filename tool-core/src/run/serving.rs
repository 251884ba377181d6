//! [`Serving`]: what the steps of a call keep in its scope beside the state that its context uses.

use std::any::Any;

use crate::context::{CallScope, RunningTool};
use crate::effect::Effect;
#[cfg(feature = "host")]
use crate::gate::Gate;
use crate::tool::{SecretNeed, ToolDef, VariableNeed};
use crate::visibility::Standing;

/// The tool of a call, the rules that can still forbid the call, and its gate.
pub(super) struct Serving {
    pub(super) def: ToolDef,
    pub(super) standing: Standing,
    /// The gate that received the call. Nested calls pass it, too.
    #[cfg(feature = "host")]
    pub(super) gate: Option<Gate>,
}

impl Serving {
    /// Returns what the steps of a call keep in its scope. Only [`enter`](super::prepared::enter) opens a scope.
    #[inline]
    pub(super) fn of(scope: &CallScope) -> &Self {
        let tool: &dyn Any = &scope.tool;
        match tool.downcast_ref() {
            Some(serving) => serving,
            None => unreachable!("the scope of a call is opened with a `Serving`"),
        }
    }
}

impl RunningTool for Serving {
    fn name(&self) -> &str {
        self.def.name()
    }

    fn effect(&self) -> Effect {
        self.def.effect()
    }

    fn secrets(&self) -> &[SecretNeed] {
        self.def.secrets()
    }

    fn variables(&self) -> &[VariableNeed] {
        self.def.variables()
    }

    #[cfg(feature = "host")]
    fn may_run_again(&self) -> bool {
        self.def.hints().idempotent || self.def.only_calls()
    }
}
