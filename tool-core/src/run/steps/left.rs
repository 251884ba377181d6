//! [`Left`]: a call that ends before its body.

use super::Held;
use crate::call::ToolCall;
use crate::error::ToolError;
use crate::run::Prepared;

#[cfg(feature = "host")]
use super::claimed::Record;
#[cfg(feature = "host")]
use super::cleared::Guards;
#[cfg(feature = "host")]
use super::{AtGate, Flight, Running};
#[cfg(feature = "host")]
use crate::call::Ticket;
#[cfg(feature = "host")]
use crate::context::Gated;
#[cfg(feature = "host")]
use crate::error::ErrorKind;
#[cfg(feature = "host")]
use crate::gate::Gate;
#[cfg(feature = "host")]
use crate::run::claim::Before;
#[cfg(feature = "host")]
use crate::store::Timestamp;
#[cfg(feature = "host")]
use crate::visibility::Layer;

/// A call that ends before its body. Boxed, because it is rare and large.
pub(in crate::run) struct Left<H: Held>(Box<Stopped<H>>);

/// The point at which a call has stopped.
pub(super) enum Stopped<H: Held> {
    /// The scope was not opened.
    Early(Early),
    /// The scope was open.
    Held(HeldStop<H>),
}

/// A call whose scope was never opened.
pub(in crate::run) struct Early {
    pub(in crate::run) call: ToolCall,
    pub(in crate::run) error: ToolError,
    #[cfg(feature = "host")]
    pub(in crate::run) gate: Option<EarlyGate>,
}

/// The gate at which a call ended early.
#[cfg(feature = "host")]
pub(in crate::run) struct EarlyGate {
    pub(in crate::run) gate: Gate,
    pub(in crate::run) gated: Option<Box<Gated>>,
    /// The layer that hides the tool, if the tool is hidden.
    pub(in crate::run) layer: Option<Layer>,
    pub(in crate::run) started: Timestamp,
}

/// A call that has stopped after its scope was opened.
pub(super) struct HeldStop<H: Held> {
    pub(super) held: H,
    #[cfg_attr(
        not(feature = "host"),
        expect(dead_code, reason = "kept until it is dropped, not read")
    )]
    pub(super) guards: H::Guards,
    pub(super) why: Why,
    /// Proof of the rows that were written before, if any.
    #[cfg(feature = "host")]
    pub(super) record: Option<Record>,
}

/// Why a call ends before its body.
pub(in crate::run) enum Why {
    /// The call may not run.
    Refused(ToolError),
    /// A store failed or did not answer in time, so the call stays open.
    #[cfg(feature = "host")]
    Undecided(ToolError),
    /// The identity belongs to a different call.
    #[cfg(feature = "host")]
    Foreign(ToolError),
    /// The call waits for a person's approval.
    #[cfg(feature = "host")]
    Waits(Box<Ticket>),
    /// The call has begun before.
    #[cfg(feature = "host")]
    Before(Before),
    /// The caller dropped the call after it was recorded.
    #[cfg(feature = "host")]
    Dropped,
}

impl Left<Prepared> {
    /// Creates a call that has stopped before its scope was opened.
    pub(super) fn early(call: ToolCall, error: ToolError) -> Self {
        Self(Box::new(Stopped::Early(Early {
            call,
            error,
            #[cfg(feature = "host")]
            gate: None,
        })))
    }
}

impl<H: Held> Left<H> {
    pub(super) fn refused(held: H, guards: H::Guards, error: ToolError) -> Self {
        Self::why(held, guards, Why::Refused(error))
    }

    pub(super) fn why(held: H, guards: H::Guards, why: Why) -> Self {
        Self(Box::new(Stopped::Held(HeldStop {
            held,
            guards,
            why,
            #[cfg(feature = "host")]
            record: None,
        })))
    }

    pub(super) fn take(self) -> Stopped<H> {
        *self.0
    }
}

#[cfg(feature = "host")]
impl Left<Flight> {
    /// Creates a call without an identity.
    pub(super) fn unidentified(
        gate: &Gate,
        call: ToolCall,
        started: Timestamp,
        error: ToolError,
    ) -> Self {
        Self(Box::new(Stopped::Early(Early {
            call,
            error,
            gate: Some(EarlyGate {
                gate: gate.clone(),
                gated: None,
                layer: None,
                started,
            }),
        })))
    }

    /// Creates a call that has stopped before its scope was opened, for example because the turn does not have its tool.
    pub(super) fn at_gate(arrived: AtGate<'_>, error: ToolError, layer: Option<Layer>) -> Self {
        Self(Box::new(Stopped::Early(Early {
            call: arrived.call,
            error,
            gate: Some(EarlyGate {
                gate: arrived.gate.clone(),
                gated: Some(arrived.gated),
                layer,
                started: arrived.started,
            }),
        })))
    }

    /// Creates a call whose gate could not decide. If a store failed or did not answer in time, the call stays open; any other error
    /// ends it.
    pub(super) fn undecided(held: Flight, guards: Guards, error: ToolError) -> Self {
        let why = match error.kind() {
            ErrorKind::Unavailable | ErrorKind::TimedOut => Why::Undecided(error),
            _ => Why::Refused(error),
        };
        Self::why(held, guards, why)
    }
}

#[cfg(feature = "host")]
impl Running<Flight> {
    /// Ends the call because its caller has dropped it.
    pub(in crate::run) fn dropped(self) -> Left<Flight> {
        self.stopped(Why::Dropped)
    }

    /// Ends the call because its body may not begin, although all required rows were written.
    pub(in crate::run) fn refused(self, error: ToolError) -> Left<Flight> {
        self.stopped(Why::Refused(error))
    }

    fn stopped(self, why: Why) -> Left<Flight> {
        let (held, guards, record) = self.take();
        Left(Box::new(Stopped::Held(HeldStop {
            held,
            guards,
            why,
            record: Some(record),
        })))
    }
}
