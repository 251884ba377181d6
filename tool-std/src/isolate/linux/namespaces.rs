//! Namespaces of processes, what they share, mounts and networks.
//!
//! Only what is started after `unshare` is in a new namespace of processes, so the helper starts itself once more there. That process
//! has number 1: the kernel kills everything else in the namespace when it ends.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getgid, getpid, getuid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use super::cgroups::Cgroups;
use super::supervise::refuse;
use crate::isolate::modes::INSIDE;
use crate::isolate::wire::{Failure, Held};

/// What the host asks for, as arguments of the helper.
pub(super) const PID: &str = "pid";
pub(super) const NET: &str = "net";

/// Which namespaces the supervisor is in.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Namespaces {
    pub(super) pid: Held,
    /// Shared memory, semaphores and queues of System V, and the queues of POSIX; with that of processes, where the kernel has it.
    pub(super) ipc: Held,
    pub(super) net: Held,
    /// A `/proc` that shows the namespace and nothing else.
    pub(super) proc_mount: Held,
}

impl Namespaces {
    /// Makes what is asked for and possible.
    ///
    /// # Errors
    ///
    /// Some are made, and nothing can run in them: this process is of no more use.
    pub(super) fn make(asked: &[OsString]) -> Result<Self, String> {
        let asked = |name: &str| asked.iter().any(|asked| asked == name);
        let mut made = Self::default();
        let mut flags = UnshareFlags::empty();
        if asked(PID) {
            flags |= UnshareFlags::NEWPID | UnshareFlags::NEWNS;
            if Path::new("/proc/self/ns/ipc").exists() {
                flags |= UnshareFlags::NEWIPC;
            }
        }
        if asked(NET) {
            flags |= UnshareFlags::NEWNET;
        }
        if flags.is_empty() {
            return Ok(made);
        }
        let held = match unshare(flags) {
            Ok(()) => Held::Yes(String::from("namespace")),
            Err(Errno::PERM) => as_user(flags)?,
            Err(error) => Held::No(format!("the kernel makes none: {error}")),
        };
        if asked(PID) {
            made.pid = held.clone();
            made.ipc = if flags.contains(UnshareFlags::NEWIPC) {
                held.clone()
            } else {
                Held::No(String::from("the kernel has no namespace of it"))
            };
        }
        if asked(NET) {
            made.net = held;
        }
        Ok(made)
    }

    /// What the helper made for this process.
    pub(super) fn inherit(args: &[OsString]) -> Result<Self, String> {
        let made = args.first().and_then(|made| made.to_str());
        let mut made: Self = serde_json::from_str(made.unwrap_or_default())
            .map_err(|error| format!("what the helper has made: {error}"))?;
        // With the helper ends its namespace, also where the helper was killed.
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| format!("the signal of the helper's death: {error}"))?;
        made.proc_mount = match mount_proc() {
            Ok(()) => Held::Yes(String::from("`/proc` of its own")),
            Err(error) => Held::No(format!("`/proc` cannot be mounted: {error}")),
        };
        Ok(made)
    }

    /// Whether this process is the first of its namespace.
    pub(super) fn is_first(&self) -> bool {
        self.pid.is_yes() && getpid().as_raw_nonzero().get() == 1
    }
}

/// Starts the supervisor in the namespaces and waits for its end, with which everything in them has ended; then the job's cgroups go.
pub(super) fn start_inside(made: &Namespaces, cgroups: &OsStr) -> u8 {
    // Found now: the supervisor mounts another `/proc`.
    let cgroups = Cgroups::left_behind(cgroups);
    let started = serde_json::to_string(made)
        .map_err(io::Error::from)
        .and_then(|made| {
            Command::new("/proc/self/exe")
                .args([INSIDE, &made])
                .env_clear()
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        });
    match started {
        Ok(mut supervisor) => {
            let status = supervisor.wait();
            cgroups.clear();
            status
                .ok()
                .and_then(|status| u8::try_from(status.code()?).ok())
                .unwrap_or(2)
        }
        Err(error) => refuse(Failure::Helper(format!(
            "the supervisor cannot be started in its namespace: {error}"
        ))),
    }
}

pub(super) fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe for `FILES`, which is not among the flags here"
    )]
    rustix::thread::unshare(flags)
}

/// Without privileges: a namespace of users first, in which this user is who it was. It needs a process without other threads.
///
/// There are kernels that make the namespace and then refuse everything in it, as those of Ubuntu since 23.10. By then no thread
/// can be started here any more: the next process belongs into the new namespace.
fn as_user(flags: UnshareFlags) -> Result<Held, String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    if let Err(error) = unshare(flags | UnshareFlags::NEWUSER) {
        return Ok(Held::No(format!(
            "this host may not make namespaces: {error}"
        )));
    }
    fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("{user} {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("{group} {group} 1")))
        .map_err(|error| {
            format!(
                "this host may make a namespace of users and not be anybody in it: {error}; on Ubuntu an AppArmor profile with `userns,` for the \
                 host's binary lets it"
            )
        })?;
    Ok(Held::Yes(String::from("namespace below one of users")))
}

/// Puts a `/proc` of this namespace over the host's, in this process's mounts alone: numbered directories and nothing else.
fn mount_proc() -> rustix::io::Result<()> {
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    mount(
        "proc",
        "/proc",
        "proc",
        MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
        Some(c"subset=pid"),
    )
}
