//! Strictly typed tools for language models.

// The expansion of the macros names `::tool_core`, also in this crate.
#[allow(unused_extern_crates, reason = "only expansions of our macros name it")]
extern crate self as tool_core;

pub mod schema;

mod args;
mod call;
mod context;
mod effect;
mod error;
mod gate;
mod output;
pub mod prelude;
#[doc(hidden)]
pub mod private;
mod registry;
mod run;
mod stream;
pub mod testing;
mod tool;
mod toolset;

pub use args::{Issue, Repair, RepairNote};
pub use call::{CallResult, ToolCall, ToolEvent};
pub use context::{Deadline, FromContext, FromSecret, FromVariable, ToolContext, ToolContextBuilder};
pub use effect::{Declared, Effect};
pub use error::{ErrorKind, ToolError};
pub use gate::{Permit, Rules};
pub use output::{Citation, IntoOutput, ModelOutput, Part, Source, ToModelOutput};
pub use registry::{Registry, RegistryBuilder, RegistryError};
pub use schema::StrictSchema;
pub use secrecy::{ExposeSecret, SecretString};
pub use schema::dialect::{Dialect, Dialects, Hints};
pub use stream::{StreamItem, ToolStream};
pub use tokio_util::sync::CancellationToken;
pub use tool_macros::{StrictSchema, tool};
pub use tool::{Approval, DynamicTool, Origin, SecretKind, SecretNeed, Tool, ToolDef, VariableKind, VariableNeed};
pub use toolset::Toolset;
