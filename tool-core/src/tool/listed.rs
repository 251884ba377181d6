//! Tools that `toolset![…]` lists.

use tool_schema::__private0::Spec;

use super::{Tool, ToolDef};

/// A tool that `toolset![…]` names.
#[derive(Clone, Copy)]
pub struct Listed {
    pub(crate) spec: &'static Spec,
    pub(crate) def: fn() -> ToolDef,
}

/// Returns the entry of a tool's type. rustc reports a type that is not a tool at the type itself.
pub const fn listed<T: Tool>() -> Listed {
    Listed {
        spec: T::SPEC,
        def: || T::DEF,
    }
}
