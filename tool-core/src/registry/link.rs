//! The link-time slice that `#[tool]` writes to.

use linkme::distributed_slice;

use crate::tool::ToolDef;

/// One element of the slice.
#[doc(hidden)]
pub struct Link(Option<ToolDef>);

impl Link {
    /// Creates the element for a tool.
    #[doc(hidden)]
    pub const fn new(def: ToolDef) -> Self {
        Self(Some(def))
    }
}

/// Every linked tool. The symbol contains the project's name and its breaking version, so that two versions in one program, or
/// another project's slice, do not collide.
#[doc(hidden)]
#[distributed_slice]
pub static TOOL_CORE_0_1_TOOLS: [Link];

pub use TOOL_CORE_0_1_TOOLS as TOOLS;

/// Keeps the slice non-empty: an empty slice has no section, and linkers differ in how they treat a missing section.
#[distributed_slice(TOOL_CORE_0_1_TOOLS)]
#[allow(
    unsafe_code,
    reason = "linkme places it in its own section, which the lint counts as unsafe"
)]
static SENTINEL: Link = Link(None);

/// Returns the linked tools, in no particular order.
pub(super) fn defs() -> impl Iterator<Item = ToolDef> {
    TOOL_CORE_0_1_TOOLS.iter().filter_map(|link| link.0.clone())
}
