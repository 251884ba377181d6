//! What may run. Only this module makes permits, and only a permit runs.

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::run::Prepared;
use crate::tool::ToolDef;

mod near;
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
    Ok(Permit { prepared })
}
