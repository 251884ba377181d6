//! What may run. Only this module makes permits, and only a permit runs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::run::{self, Prepared};
use crate::tool::{Approval, ToolDef};
use crate::toolset::Toolset;
use policy::{Decision, PolicyVerdict, Request};

#[cfg(feature = "host")]
pub(crate) mod approval;
#[cfg(feature = "host")]
pub(crate) mod ask;
#[cfg(feature = "host")]
pub(crate) mod canonical;
mod enablement;
#[cfg(feature = "host")]
pub(crate) mod hash;
mod hex;
#[cfg(feature = "host")]
pub(crate) mod host;
#[cfg(feature = "host")]
mod judge;
mod layer;
mod lists;
mod live;
mod near;
pub mod policy;
#[cfg(feature = "host")]
pub(crate) mod resume;
mod rules;
#[cfg(feature = "host")]
mod sweeper;
#[cfg(feature = "host")]
pub(crate) mod switches;
mod visibility;

pub use enablement::{AgentTool, Enablement, Runtime};
#[cfg(feature = "host")]
pub use host::{Gate, GateBuilder, Retry};
#[cfg(feature = "host")]
pub(crate) use judge::{Judged, Says, judge};
pub(crate) use layer::State;
pub use layer::{Explanation, Layer};
pub use lists::{Access, Lists, Step};
pub use live::Disables;
pub(crate) use near::unknown;
pub use rules::Rules;
#[cfg(feature = "host")]
pub use sweeper::Sweeper;
#[cfg(feature = "host")]
pub use switches::Switches;
pub(crate) use visibility::View;

/// The right to run one call, once. It can be neither cloned nor made outside of the gate.
pub struct Permit {
    prepared: Prepared,
}

impl Permit {
    /// The tool that runs.
    pub fn tool(&self) -> &ToolDef {
        self.prepared.tool()
    }

    /// The call, as the model wrote it.
    pub fn call(&self) -> &ToolCall {
        self.prepared.call()
    }

    /// The context that the tool sees.
    pub fn context(&self) -> &ToolContext {
        self.prepared.context()
    }

    /// The arguments as the tool reads them: JSON text.
    pub fn arguments(&self) -> &str {
        self.prepared.arguments()
    }

    /// Spends the permit.
    pub(crate) fn spend(self) -> Prepared {
        self.prepared
    }
}

/// Permits a call that a [`Gate`] has judged.
#[cfg(feature = "host")]
pub(crate) fn permit(prepared: Prepared) -> Permit {
    Permit { prepared }
}

/// What the policy says about a call; `None` where there is none.
fn decision(toolset: &Toolset, prepared: &Prepared) -> Option<Decision> {
    let cx = prepared.context();
    let request = Request {
        tool: prepared.tool(),
        tenant: cx.tenant(),
        principal: cx.principal(),
        agent: cx.agent(),
        arguments: prepared.arguments(),
    };
    toolset.judge(prepared.position(), &request)
}

/// Decides, where the host has no gate, about a call whose name was seen and whose arguments were admitted: policy, then approval.
pub(crate) fn decide(
    toolset: &Toolset,
    prepared: Prepared,
) -> Result<Permit, (Prepared, ToolError)> {
    if let Some(decision) = decision(toolset, &prepared)
        && let Some(error) = refusal(&decision)
    {
        return Err((prepared, error));
    }
    if let Err(error) = run::check_variables(prepared.tool(), prepared.context()) {
        return Err((prepared, error));
    }
    // Only a host's gate asks because of the effect alone.
    if wants_approval(&prepared, |_| false) {
        let error = ToolError::of(
            ErrorKind::Pending,
            "the call has to be approved by a person first",
        );
        return Err((prepared, error));
    }
    Ok(Permit { prepared })
}

/// The error of a call that the policy does not let run.
fn refusal(decision: &Decision) -> Option<ToolError> {
    let (kind, what) = match decision.verdict {
        PolicyVerdict::Allow => return None,
        PolicyVerdict::Deny => (ErrorKind::Denied, "the call was refused"),
        PolicyVerdict::Ask => (
            ErrorKind::Pending,
            "the call has to be approved by a person first",
        ),
    };
    let text = match &decision.reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    Some(ToolError::of(kind, text).operator(format!("decision {}", decision.id)))
}

/// Whether the tool itself wants a person; `by_effect` answers for one that leaves it to its effect. A predicate that fails or panics
/// asks.
fn wants_approval(prepared: &Prepared, by_effect: impl FnOnce(&ToolDef) -> bool) -> bool {
    match prepared.tool().approval() {
        Approval::Never => false,
        Approval::Always => true,
        Approval::ByEffect => by_effect(prepared.tool()),
        Approval::When(asks) => {
            let asked = catch_unwind(AssertUnwindSafe(|| {
                asks(prepared.arguments(), prepared.context())
            }));
            !matches!(asked, Ok(Ok(false)))
        }
    }
}
