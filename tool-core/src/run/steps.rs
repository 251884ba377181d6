//! The steps of a call as types: `Found → Admitted → Judged → Cleared → Claimed → Permitted → Ran → Landed`.
//!
//! Only the file of a state can construct it, from the previous state, or from a failed run for a retry. The fields are private to the file, so no state
//! can be created, skipped or repeated elsewhere in this crate; `tests/tests/programs/patches.rs` proves that with patches that must not compile. A
//! call that ends early is a [`Left`], which also becomes a [`Landed`].
//!
//! Each state is generic over the type that holds the call: [`Prepared`] if the host has no gate, [`Flight`] if it has one. The parts of
//! the gate are read once, when the tool is found ([`Parts`]).

use super::Prepared;

mod admitted;
mod claimed;
mod cleared;
mod entrance;
#[cfg(feature = "host")]
mod flight;
mod found;
mod judged;
mod landed;
mod left;
mod permitted;
mod ran;

#[cfg(feature = "host")]
pub(super) use claimed::{Claimed, Record, Unwritten};
use cleared::Cleared;
#[cfg(feature = "host")]
pub(super) use cleared::{Answered, Asks, Clearing, Counting};
#[cfg(feature = "host")]
pub(super) use flight::Flight;
pub(super) use found::Found;
#[cfg(feature = "host")]
pub(super) use found::{AtGate, Parts};
#[cfg(feature = "host")]
pub(super) use landed::Landed;
pub(super) use landed::Landing;
pub(super) use left::Left;
#[cfg(feature = "host")]
pub(super) use left::Why;
#[cfg(feature = "host")]
pub(super) use left::{Early, EarlyGate};
pub(super) use permitted::{Body, Running};
pub use permitted::{Permit, Permitted};
pub use ran::Ran;

/// The type that holds a call during its steps.
pub(super) trait Held: Sized {
    /// The call before its tool is found.
    type Arrived<'t>;
    /// The parts of the host that the call needs until it is cleared.
    type Parts<'t>;
    /// The guards that count the call until it has landed.
    type Guards;
    /// The rows that must be written before the body.
    type Duty;
    /// Whether the effect of a tool alone can require an approval.
    const ASKS: bool;

    fn prepared(&self) -> &Prepared;
}

impl Held for Prepared {
    type Arrived<'t> = found::Ungated;
    type Parts<'t> = ();
    type Guards = ();
    type Duty = cleared::Nothing;
    const ASKS: bool = false;

    fn prepared(&self) -> &Prepared {
        self
    }
}

#[cfg(feature = "host")]
impl Held for Flight {
    type Arrived<'t> = found::AtGate<'t>;
    type Parts<'t> = Parts<'t>;
    type Guards = cleared::Guards;
    type Duty = cleared::Duty;
    const ASKS: bool = true;

    fn prepared(&self) -> &Prepared {
        self.prepared()
    }
}
