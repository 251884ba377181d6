//! Namespaces of processes, what they share, mounts and networks.
//!
//! Only what is started after `unshare` is in a new namespace of processes. A thread of a host of root makes the namespaces and starts the
//! supervisor there. Without privileges a process that makes a namespace of users may have one thread only, so the helper makes them and
//! starts itself once more. The supervisor has number 1: the kernel kills everything else in the namespace when it ends.

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

/// Argument of a supervisor that the host has started itself, in namespaces that the host has made.
pub(super) const OF_HOST: &str = "host";

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
        let flags = flags(asked);
        if flags.is_empty() {
            return Ok(Self::default());
        }
        let held = match unshare(flags) {
            Ok(()) => Held::Yes(String::from("namespace")),
            Err(Errno::PERM) => as_user(flags)?,
            Err(error) => Held::No(format!("the kernel makes none: {error}")),
        };
        Ok(Self::of(flags, held))
    }

    /// Makes what is asked for, for the calling thread of a host and for the processes that it starts, if this host may do so without a namespace of
    /// users. Nothing is changed otherwise.
    pub(super) fn of_thread(asked: &[&str]) -> Option<Self> {
        let flags = flags(asked);
        unshare(flags).ok()?;
        Some(Self::of(flags, Held::Yes(String::from("namespace"))))
    }

    fn of(flags: UnshareFlags, held: Held) -> Self {
        let mut made = Self::default();
        if flags.contains(UnshareFlags::NEWPID) {
            made.pid = held.clone();
            made.ipc = if flags.contains(UnshareFlags::NEWIPC) {
                held.clone()
            } else {
                Held::No(String::from("the kernel has no namespace of it"))
            };
        }
        if flags.contains(UnshareFlags::NEWNET) {
            made.net = held;
        }
        made
    }

    /// What the helper or the host made for this process.
    ///
    /// # Errors
    ///
    /// This process is of no use. Where the host made them, [`Failure::Namespaces`] says that a helper has to do it.
    pub(super) fn inherit(args: &[OsString]) -> Result<Self, Failure> {
        let made = args.first().and_then(|made| made.to_str());
        let mut made: Self = serde_json::from_str(made.unwrap_or_default())
            .map_err(|error| Failure::Helper(format!("what the helper has made: {error}")))?;
        // The mounts of a namespace are this process's own only where it is the first in a namespace of processes: both are made together.
        if !made.is_first() {
            return Err(Failure::Helper(String::from(
                "the supervisor is not the first process of a namespace",
            )));
        }
        let is_of_host = args.get(1).is_some_and(|arg| arg == OF_HOST);
        if !is_of_host {
            // With the helper ends its namespace, also where the helper was killed.
            set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| {
                Failure::Helper(format!("the signal of the helper's death: {error}"))
            })?;
        }
        made.proc_mount = match mount_proc() {
            Ok(()) => Held::Yes(String::from("`/proc` of its own")),
            // Then it sees no process of its own to end, and needs one outside that removes the cgroups after its end.
            Err(error) if is_of_host => return Err(Failure::Namespaces(error.to_string())),
            Err(error) => Held::No(format!("`/proc` cannot be mounted: {error}")),
        };
        Ok(made)
    }

    /// The arguments of the supervisor that is started in them.
    pub(super) fn inside(&self) -> io::Result<[String; 2]> {
        Ok([INSIDE.to_owned(), serde_json::to_string(self)?])
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
    let started = made.inside().and_then(|args| {
        Command::new("/proc/self/exe")
            .args(args)
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

/// What the kernel is asked for.
fn flags<A: AsRef<OsStr>>(asked: &[A]) -> UnshareFlags {
    let asked = |name: &str| asked.iter().any(|asked| asked.as_ref() == name);
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
    flags
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
