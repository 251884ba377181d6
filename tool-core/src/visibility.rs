//! Visibility of tools: the rules of a turn, and the layer that hides each other tool.

mod current;
mod enablement;
mod layer;
mod rules;
mod standing;
#[cfg(feature = "host")]
pub(crate) mod switches;
mod view;

pub use current::Disables;
pub use enablement::{AgentTool, Enablement, Runtime};
pub(crate) use layer::State;
pub use layer::{Explanation, Layer};
pub use rules::Rules;
#[cfg(feature = "host")]
pub use switches::Switches;
pub(crate) use view::View;
