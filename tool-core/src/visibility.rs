//! Visibility of tools: the rules of a turn, and for each hidden tool the layer that hides it.

mod current;
mod enablement;
#[cfg(feature = "host")]
mod instance;
mod layer;
#[cfg(feature = "host")]
mod polled;
mod rules;
mod standing;
#[cfg(feature = "host")]
pub(crate) mod switches;
mod view;

pub use current::Disables;
#[cfg(feature = "host")]
pub(crate) use current::Live;
pub use enablement::{AgentTool, Enablement, Runtime};
#[cfg(feature = "host")]
pub use instance::InstanceRules;
pub(crate) use layer::State;
pub use layer::{Explanation, Layer};
pub use rules::Rules;
#[cfg(feature = "host")]
pub use switches::Switches;
pub(crate) use view::View;
