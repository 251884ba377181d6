//! What may run. Only this module makes permits, and only a permit runs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::run::Prepared;
use crate::tool::{Approval, ToolDef};

mod near;
pub mod policy;
mod rules;

pub(crate) use near::unknown;
pub use rules::Rules;

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

    /// Spends the permit.
    pub(crate) fn spend(self) -> Prepared {
        self.prepared
    }
}

/// Decides about a call whose name was seen and whose arguments were admitted.
pub(crate) fn decide(prepared: Prepared) -> Result<Permit, (Prepared, ToolError)> {
    if needs_approval(&prepared) {
        let error = ToolError::of(
            ErrorKind::Pending,
            "the call has to be approved by a person first",
        );
        return Err((prepared, error));
    }
    Ok(Permit { prepared })
}

/// Whether a person has to approve the call. A predicate that fails or panics asks.
fn needs_approval(prepared: &Prepared) -> bool {
    match prepared.tool().approval() {
        Approval::ByEffect | Approval::Never => false,
        Approval::Always => true,
        Approval::When(asks) => {
            let asked = catch_unwind(AssertUnwindSafe(|| {
                asks(prepared.arguments(), prepared.context())
            }));
            !matches!(asked, Ok(Ok(false)))
        }
    }
}
