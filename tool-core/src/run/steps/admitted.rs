//! [`Admitted`]: a call whose arguments match the schema and whose scope is open, so that its body can begin.

#[cfg(feature = "host")]
use super::Flight;
use super::entrance::{Arrived as _, Entrance, Stopped};
use super::found::FoundParts;
use super::{Body, Found, Held, Left};
use crate::args::Repair;
use crate::context::ToolContext;
use crate::run::Prepared;
#[cfg(feature = "host")]
use crate::run::gated::MakeJob;
use crate::run::prepared::{check_call, check_secrets, enter};
use crate::tool::Job;
use crate::toolset::Toolset;

/// A call whose scope is open. Its arguments match the schema of its tool, or are typed arguments without a JSON text. The tool's body has not run
/// yet.
pub(in crate::run) struct Admitted<'t, H: Held> {
    toolset: &'t Toolset,
    held: H,
    parts: H::Parts<'t>,
}

impl<'t> Found<'t, Prepared> {
    /// Reads arguments that a model wrote, and opens the scope.
    #[inline]
    pub(in crate::run) fn admit(
        self,
        cx: &ToolContext,
    ) -> Result<(Admitted<'t, Prepared>, Body<Job>), Left<Prepared>> {
        let FoundParts {
            toolset,
            at,
            def,
            parts,
            arrived,
        } = self.take();
        let entrance = Entrance::new(toolset, at, def, cx, arrived);
        match entrance.begin() {
            Ok((held, (), job)) => Ok((
                Admitted {
                    toolset,
                    held,
                    parts,
                },
                Body::new(job),
            )),
            Err(Stopped::Outside(arrived, error)) => Err(Left::early(arrived.call, error)),
            Err(Stopped::Inside(held, (), error)) => Err(Left::refused(held, (), error)),
        }
    }

    /// Validates typed arguments, and opens the scope. The arguments have the correct types, but only the argument guard checks their bounds. Arguments without
    /// a JSON text are not validated.
    #[inline]
    pub(in crate::run) fn admit_typed(
        self,
        is_written: bool,
        cx: &ToolContext,
    ) -> Result<Admitted<'t, Prepared>, Left<Prepared>> {
        let FoundParts {
            toolset,
            at,
            def,
            parts,
            arrived,
        } = self.take();
        let checked = if is_written {
            check_call(def, &arrived.call.arguments, Repair::Off, cx).map(drop)
        } else {
            Ok(())
        };
        if let Err(error) = checked.and_then(|()| check_secrets(def, cx)) {
            return Err(Left::early(arrived.call, error));
        }
        let (opening, ()) = arrived.open();
        Ok(Admitted {
            toolset,
            held: enter(toolset, at, def, cx, opening),
            parts,
        })
    }
}

#[cfg(feature = "host")]
impl<'t> Found<'t, Flight> {
    /// Reads arguments and opens the scope; `made` is a body that the host has created from typed arguments.
    #[inline]
    pub(in crate::run) fn admit(
        self,
        cx: &ToolContext,
        made: Option<MakeJob>,
    ) -> Result<(Admitted<'t, Flight>, Body<Job>), Left<Flight>> {
        let FoundParts {
            toolset,
            at,
            def,
            parts,
            arrived,
        } = self.take();
        let entrance = Entrance::new(toolset, at, def, cx, arrived);
        let begun = match made {
            None => entrance.begin(),
            Some(typed) => entrance.begin_made(typed),
        };
        match begun {
            Ok((prepared, (gate, started), job)) => Ok((
                Admitted {
                    toolset,
                    held: Flight::new(gate, prepared, started),
                    parts,
                },
                Body::new(job),
            )),
            Err(Stopped::Outside(arrived, error)) => Err(Left::at_gate(arrived, error, None)),
            Err(Stopped::Inside(prepared, (gate, started), error)) => {
                let held = Flight::new(gate, prepared, started);
                Err(Left::refused(held, super::cleared::Guards::none(), error))
            }
        }
    }
}

impl<'t, H: Held> Admitted<'t, H> {
    #[inline]
    pub(super) fn take(self) -> (&'t Toolset, H, H::Parts<'t>) {
        (self.toolset, self.held, self.parts)
    }
}
