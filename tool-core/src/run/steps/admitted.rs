//! [`Admitted`]: the arguments fit, the scope of the call is open, and its body can begin.

#[cfg(feature = "host")]
use super::Flight;
use super::found::FoundParts;
use super::{Body, Found, Held, Left};
use crate::args::Repair;
use crate::context::ToolContext;
use crate::run::Prepared;
#[cfg(feature = "host")]
use crate::run::gated::MakeJob;
use crate::run::prepared::{Opening, admit, begin, check_call, check_secrets, enter};
use crate::tool::Job;
use crate::toolset::Toolset;

/// A call whose arguments its tool takes. Nothing of the tool has run.
pub(in crate::run) struct Admitted<'t, H: Held> {
    toolset: &'t Toolset,
    held: H,
    parts: H::Parts<'t>,
}

impl<'t> Found<'t, Prepared> {
    /// Checks arguments that a model wrote, opens the scope, and decodes.
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
        let (corrected, repairs) = match admit(toolset, def, &arrived.call.arguments, cx) {
            Ok(admitted) => admitted,
            Err(error) => return Err(Left::early(arrived.call, error)),
        };
        let opening = Opening {
            call: arrived.call,
            corrected,
            repairs,
            progress: arrived.progress,
            since: arrived.since,
            #[cfg(feature = "host")]
            gated: None,
        };
        let held = enter(toolset, at, def, cx, opening);
        if let Err(error) = check_secrets(def, cx) {
            return Err(Left::refused(held, (), error));
        }
        match begin(def, held.arguments(), held.cx.clone()) {
            Ok(job) => Ok((
                Admitted {
                    toolset,
                    held,
                    parts,
                },
                Body::new(job),
            )),
            Err(error) => Err(Left::refused(held, (), error)),
        }
    }

    /// Checks typed arguments, whose types hold already: only the guard knows their bounds. Those that cannot be written are not checked.
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
        let opening = Opening {
            call: arrived.call,
            corrected: None,
            repairs: Vec::new(),
            progress: None,
            since: arrived.since,
            #[cfg(feature = "host")]
            gated: None,
        };
        Ok(Admitted {
            toolset,
            held: enter(toolset, at, def, cx, opening),
            parts,
        })
    }
}

#[cfg(feature = "host")]
impl<'t> Found<'t, Flight> {
    /// Checks arguments, opens the scope, and decodes, unless the host has made the body itself.
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
        let (corrected, repairs) = match admit(toolset, def, &arrived.call.arguments, cx) {
            Ok(admitted) => admitted,
            Err(error) => return Err(Left::at_gate(arrived, error, None)),
        };
        let opening = Opening {
            call: arrived.call,
            corrected,
            repairs,
            progress: arrived.progress,
            since: arrived.since,
            gated: Some(arrived.gated),
        };
        let prepared = enter(toolset, at, def, cx, opening);
        let held = Flight::new(arrived.gate, prepared, arrived.started);
        let body = check_secrets(def, &held.prepared().cx).and_then(|()| {
            let cx = held.prepared().cx.clone();
            match made {
                Some(typed) => Ok(typed(cx)),
                None => begin(def, held.prepared().arguments(), cx),
            }
        });
        match body {
            Ok(job) => Ok((
                Admitted {
                    toolset,
                    held,
                    parts,
                },
                Body::new(job),
            )),
            Err(error) => Err(Left::refused(held, super::cleared::Guards::none(), error)),
        }
    }
}

impl<'t, H: Held> Admitted<'t, H> {
    #[inline]
    pub(super) fn take(self) -> (&'t Toolset, H, H::Parts<'t>) {
        (self.toolset, self.held, self.parts)
    }
}
