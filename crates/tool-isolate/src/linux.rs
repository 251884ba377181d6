//! The helper on Linux.
//!
//! ```text
//! host ─a thread unshares, starts───────────▶ supervisor, 1 in its namespace ─restricted thread─starts─▶ job     (root)
//! host ─starts─▶ helper ─unshares, starts───▶ supervisor, 1 in its namespace ─restricted thread─starts─▶ job     (others)
//!      ◀─────────────── socket: the job and its pipes in, events out ────▶
//! ```
//!
//! Without a PID namespace, the helper itself is the supervisor. If a kernel creates a namespace but grants no rights in it, the helper notices
//! this only inside of the namespace and cannot undo it. It reports this, and the host starts a second helper without namespaces. If the socket
//! closes, the host has died, or requests the end of the job.

mod cgroup_paths;
mod cgroups;
pub(super) mod host;
mod mounts;
mod namespaces;
pub(super) mod remote;
mod restrict;
mod root;
mod sockets;
mod start;
mod supervise;

use std::ffi::OsString;

use namespaces::Namespaces;

use super::wire::Failure;

/// Runs the helper, which creates namespaces and starts the supervisor in them, or is the supervisor itself. Its arguments are the name of the job's
/// cgroups and the requested namespaces.
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

/// Runs the supervisor in namespaces that the helper or the host has created.
pub(super) fn inside(made: &[OsString]) -> u8 {
    match Namespaces::inherit(made) {
        Ok(made) => supervise::supervise(made),
        Err(failure) => supervise::refuse(failure),
    }
}
