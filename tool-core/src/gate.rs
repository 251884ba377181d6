//! Tool visibility, policies, approvals and the host's gate.

#[cfg(feature = "host")]
pub(crate) mod approval;
mod current;
mod enablement;
#[cfg(feature = "host")]
pub(crate) mod host;
mod layer;
mod lists;
pub mod policy;
#[cfg(feature = "host")]
pub(crate) mod random;
mod rules;
mod standing;
#[cfg(feature = "host")]
mod sweeper;
#[cfg(feature = "host")]
pub(crate) mod switches;
mod visibility;

pub use current::Disables;
pub use enablement::{AgentTool, Enablement, Runtime};
#[cfg(feature = "host")]
pub use host::{Gate, GateBuilder, Retry};
pub(crate) use layer::State;
pub use layer::{Explanation, Layer};
pub use lists::{Access, Lists, Step};
pub use rules::Rules;
pub(crate) use standing::Standing;
#[cfg(feature = "host")]
pub use sweeper::Sweeper;
#[cfg(feature = "host")]
pub use switches::Switches;
pub(crate) use visibility::View;
