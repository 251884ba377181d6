//! The helper, on Linux.
//!
//! ```text
//! host ─a thread unshares, starts───────────▶ supervisor, 1 in its namespace ─restricted thread─starts─▶ job     (root)
//! host ─starts─▶ helper ─unshares, starts───▶ supervisor, 1 in its namespace ─restricted thread─starts─▶ job     (others)
//!      ◀─────────────── socket: the job and its pipes in, events out ────▶
//! ```
//!
//! Where no namespace can be made, the helper is the supervisor. Where one is half made, which is found out in it and cannot be undone, the
//! helper says so, and the host starts another that makes none. Where the socket ends, the host is gone or wants an end.

mod cgroups;
pub(super) mod host;
mod mounts;
mod namespaces;
mod places;
pub(super) mod remote;
mod restrict;
mod root;
mod sockets;
mod start;
mod supervise;

use std::ffi::OsString;

use namespaces::Namespaces;

use super::wire::Failure;

/// The helper: makes namespaces and starts the supervisor in them, or is the supervisor. Its arguments are the name of the job's cgroups
/// and the namespaces that are asked for.
pub(super) fn helper(asked: &[OsString]) -> u8 {
    let Some((cgroups, asked)) = asked.split_first() else {
        return 2;
    };
    match Namespaces::make(asked) {
        Ok(made) if made.pid.is_yes() => namespaces::start_inside(&made, cgroups),
        Ok(made) => supervise::supervise(made),
        Err(reason) => supervise::refuse(Failure::Namespaces(reason)),
    }
}

/// The supervisor in namespaces that the helper has made.
pub(super) fn inside(made: &[OsString]) -> u8 {
    match Namespaces::inherit(made) {
        Ok(made) => supervise::supervise(made),
        Err(failure) => supervise::refuse(failure),
    }
}
