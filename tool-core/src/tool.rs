//! What a tool is: its facts, known at compile time or read at run time, and the way to run it.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::Serialize;

use crate::context::ToolContext;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::output::{ModelOutput, Output, Returned};
use crate::run::{Entry, NotBegun, Pass, Ticket};
use crate::schema::dialect::{Dialect, HasSpec, Lowered, Spec};

mod def;
mod dynamic;
mod exposed;
mod need;
mod output;
mod parts;
mod read;
mod results;

pub use def::ToolDef;
pub(crate) use dynamic::{DynamicDef, wire_of};
pub use dynamic::{DynamicTool, SchemaCheck};
pub(crate) use need::fault_of;
pub use need::{
    SecretKind, SecretNeed, VariableKind, VariableNeed, check_secrets, check_variables,
};
pub use parts::DefinitionParts;
pub(crate) use results::result_faults;

/// A tool, as the struct of its typed arguments. `#[tool]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "a tool is named like its fn: `#[tool] fn search_docs` makes `search_docs`"
)]
pub trait Tool: HasSpec + Sized + Send + 'static {
    /// Name on the wire.
    const NAME: &'static str;
    /// Everything else about it.
    const DEF: ToolDef;
    /// What it may do.
    const EFFECT: Effect;
    /// What it gives.
    type Output: Serialize + Send + 'static;

    #[doc(hidden)]
    const LISTED: crate::private::Listed = crate::private::listed::<Self>();

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

    /// Reads an output that a ledger has stored. `None` where its type has no `Deserialize`.
    #[doc(hidden)]
    fn stored_output(_: &str) -> Option<serde_json::Result<Self::Output>> {
        None
    }
}

/// Starts a run: decodes, then gives a future that does nothing before it is polled.
#[doc(hidden)]
pub type Start = fn(&mut dyn Entry, Ticket) -> Result<Job, NotBegun>;

/// A run that has not begun.
#[doc(hidden)]
pub type Job = BoxFuture<'static, Result<Finished, ToolError>>;

/// What an erased run gives; opaque outside of this crate.
#[doc(hidden)]
pub struct Finished(pub(crate) Output);

/// Where a tool was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Crate.
    pub krate: &'static str,
    /// Module.
    pub module: &'static str,
    /// File.
    pub file: &'static str,
    /// Line.
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

/// Whether a call has to be approved by a person.
#[derive(Clone, Copy, Debug, Default)]
pub enum Approval {
    /// As the tool's effect and the host's policy have it.
    #[default]
    ByEffect,
    /// Never.
    Never,
    /// Always.
    Always,
    /// As the arguments have it; an error asks.
    When(fn(&str, &ToolContext) -> Result<bool, ToolError>),
}

/// The facts of a tool that the compiler knows. `#[tool]` writes it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct StaticDef {
    pub spec: &'static Spec,
    /// The description as a reader sees it.
    pub description: &'static str,
    pub category: &'static str,
    pub tags: &'static [&'static str],
    pub secrets: &'static [SecretNeed],
    pub variables: &'static [VariableNeed],
    pub effect: Effect,
    pub approval: Approval,
    pub timeout: Option<Duration>,
    pub sequential: bool,
    pub harness: bool,
    /// Has no effect but by the calls that it makes.
    pub only_calls: bool,
    pub output_limit: Option<usize>,
    pub origin: Origin,
    /// The definition's text.
    pub text: fn(Dialect) -> Lowered,
    /// JSON Schema of the output, if it has one.
    pub output: fn() -> Option<Cow<'static, str>>,
    pub start: Start,
}
