//! The prelude: the items that a crate of tools needs. Import them with `use tool_core::prelude::*;`.

pub use crate::args::Repair;
pub use crate::schema::dialect::Dialect;
#[cfg(feature = "stream")]
pub use crate::tool_stream;
pub use crate::{
    CallResult, Citation, FromContext, ModelOutput, Registry, SecretString, StrictSchema,
    ToModelOutput, Tool, ToolCall, ToolContext, ToolError, ToolEvent, ToolStream, Toolset, tool,
    toolset,
};
pub use serde::{Deserialize, Serialize};
