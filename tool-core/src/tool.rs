//! Definition of a tool: its facts, known at compile time or read at run time, and how to run it.

use std::fmt;
use std::future::Future;

use futures::future::BoxFuture;
use serde::Serialize;
use tool_schema::__private0::HasSpec;

use crate::context::ToolContext;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::output::{ModelOutput, Output, Returned};

#[cfg(feature = "host")]
mod contract;
mod declared;
mod def;
mod dynamic;
mod exposed;
mod finish;
mod listed;
mod output;
mod parts;
mod read;
mod results;
mod start;
#[cfg(feature = "seal")]
mod stored;

pub(crate) use crate::need::fault_of;
pub use crate::need::{
    SecretKind, SecretNeed, VariableKind, VariableNeed, check_secrets, check_variables,
};
pub use def::{StaticDef, ToolDef};
#[cfg(feature = "host")]
pub(crate) use dynamic::ActsAs;
#[cfg(feature = "host")]
pub use dynamic::ClientCheck;
pub(crate) use dynamic::{DynamicDef, wire_of};
pub use dynamic::{DynamicTool, SchemaCheck};
pub(crate) use finish::{finish, settle};
#[doc(hidden)]
pub use listed::{Listed, listed};
pub(crate) use output::OutputCheck;
pub use parts::DefinitionParts;
pub(crate) use results::result_faults;
#[doc(hidden)]
pub use start::{DecodeError, Entry, NotBegun, Pass, Ticket, start};
pub(crate) use start::{misread, run};
#[cfg(feature = "seal")]
pub use stored::{SecretSetBy, SecretStatus};

/// A tool, as the struct of its typed arguments. `#[tool]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "a tool has the name of its fn: `#[tool] fn search_docs` makes `search_docs`"
)]
pub trait Tool: HasSpec + Sized + Send + 'static {
    /// The own name of the tool, which the model sees unless a toolset renames the tool.
    const NAME: &'static str;
    /// The definition with all other facts.
    const DEF: ToolDef;
    /// The effect of the tool.
    const EFFECT: Effect;
    /// The type of the output.
    type Output: Serialize + Send + 'static;

    #[doc(hidden)]
    const LISTED: Listed = listed::<Self>();

    #[doc(hidden)]
    fn run(
        self,
        cx: ToolContext,
        pass: Pass,
    ) -> impl Future<Output = Result<Returned<Self::Output>, ToolError>> + Send + 'static;

    #[doc(hidden)]
    fn model_view(_: &Self::Output) -> Option<ModelOutput> {
        None
    }

    #[doc(hidden)]
    fn to_arguments(&self) -> Option<String> {
        None
    }

    /// Deserializes an output that a ledger has stored. Returns `None` if its type has no `Deserialize`.
    #[doc(hidden)]
    fn stored_output(_: &str) -> Option<serde_json::Result<Self::Output>> {
        None
    }
}

/// Starts a run: decodes the arguments, then returns a future that does nothing before it is polled.
#[doc(hidden)]
pub type Start = fn(&mut dyn Entry, Ticket) -> Result<Job, NotBegun>;

/// A run that has not begun.
#[doc(hidden)]
pub type Job = BoxFuture<'static, Result<Finished, ToolError>>;

/// The output of a type-erased run; opaque outside of this crate.
#[doc(hidden)]
pub struct Finished(pub(crate) Output);

/// The place in the source where a tool was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Name of the crate.
    pub krate: &'static str,
    /// Path of the module.
    pub module: &'static str,
    /// Path of the file.
    pub file: &'static str,
    /// Number of the line.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` of crate `{}` ({}:{})",
            self.module, self.krate, self.file, self.line
        )
    }
}

/// When a tool requires a person to approve a call. The policy of the host can require more approvals.
#[derive(Clone, Copy, Debug, Default)]
pub enum Approval {
    /// Decided by the tool's effect and the host's policy (default).
    #[default]
    ByEffect,
    /// The tool requires no approval.
    Never,
    /// The tool requires an approval of every call.
    Always,
    /// A predicate on the arguments and the context decides; if it fails or panics, the call has to be approved.
    When(fn(&str, &ToolContext) -> Result<bool, ToolError>),
}
