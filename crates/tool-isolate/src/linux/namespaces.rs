//! The namespaces of a job: processes, IPC, mounts and networks.
//!
//! Only processes that are started after `unshare` are in the new PID namespace. If the host is root, one of its threads creates the namespaces and
//! starts the supervisor in them. Without privileges, a process that creates a user namespace must have a single thread, so the helper creates the
//! namespaces and starts itself again. The supervisor is process 1: when it exits, the kernel kills all other processes of the namespace.

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
use crate::wire::INSIDE;
use crate::wire::{Failure, Held};

/// Argument of the helper that requests a PID namespace.
pub(super) const PID: &str = "pid";
pub(super) const NET: &str = "net";

/// Argument for a supervisor that the host has started itself, in namespaces that the host has created.
pub(super) const OF_HOST: &str = "host";

/// The namespaces of the supervisor.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Namespaces {
    pub(super) pid: Held,
    /// System V shared memory, semaphores and queues, and POSIX queues. The namespace is created with the PID namespace, if the kernel supports it.
    pub(super) ipc: Held,
    pub(super) net: Held,
    /// Whether `/proc` shows only the processes of the namespace.
    pub(super) proc_mount: Held,
}

impl Namespaces {
    /// Creates the requested namespaces, as far as possible.
    ///
    /// # Errors
    ///
    /// Fails if some namespaces were created but no process can run in them. Then this process cannot continue.
    pub(super) fn make(asked: &[OsString]) -> Result<Self, String> {
        let flags = flags(asked);
        if flags.is_empty() {
            return Ok(Self::default());
        }
        let held = match unshare(flags) {
            Ok(()) => Held::Yes(String::from("namespace")),
            Err(Errno::PERM) => as_user(flags)?,
            Err(error) => Held::No(format!("the kernel refuses to create namespaces: {error}")),
        };
        Ok(Self::of(flags, held))
    }

    /// Creates the requested namespaces for the calling thread of a host and the processes that it starts, if the host has the rights without a user
    /// namespace. Otherwise, changes nothing.
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
                Held::No(String::from("the kernel has no IPC namespaces"))
            };
        }
        if flags.contains(UnshareFlags::NEWNET) {
            made.net = held;
        }
        made
    }

    /// Reads the namespaces that the helper or the host has created for this process.
    ///
    /// # Errors
    ///
    /// After an error, this process cannot continue. [`Failure::Namespaces`] means that the host created the namespaces and that a helper has to
    /// create them instead.
    pub(super) fn inherit(args: &[OsString]) -> Result<Self, Failure> {
        let made = args.first().and_then(|made| made.to_str());
        let mut made: Self = serde_json::from_str(made.unwrap_or_default()).map_err(|error| {
            Failure::Helper(format!(
                "the namespaces from the helper are malformed: {error}"
            ))
        })?;
        // Only the first process of a PID namespace has separate mounts, because both namespaces are created together.
        if !made.is_first() {
            return Err(Failure::Helper(String::from(
                "the supervisor is not the first process of a namespace",
            )));
        }
        let is_of_host = args.get(1).is_some_and(|arg| arg == OF_HOST);
        if !is_of_host {
            // The namespace ends when the helper ends, even if the helper is killed.
            set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| {
                Failure::Helper(format!(
                    "the signal for the death of the helper cannot be set: {error}"
                ))
            })?;
        }
        made.proc_mount = match mount_proc() {
            Ok(()) => Held::Yes(String::from("a separate `/proc`")),
            // Without its own `/proc`, the supervisor cannot find the processes to kill, and a process outside has to remove the cgroups after the
            // supervisor's end.
            Err(error) if is_of_host => return Err(Failure::Namespaces(error.to_string())),
            Err(error) => Held::No(format!("`/proc` cannot be mounted: {error}")),
        };
        Ok(made)
    }

    /// Returns the arguments of the supervisor that is started in these namespaces.
    pub(super) fn inside(&self) -> io::Result<[String; 2]> {
        Ok([INSIDE.to_owned(), serde_json::to_string(self)?])
    }

    /// Returns whether this process is the first of its PID namespace.
    pub(super) fn is_first(&self) -> bool {
        self.pid.is_yes() && getpid().as_raw_nonzero().get() == 1
    }
}

/// Starts the supervisor in the namespaces and waits for its exit, which ends all processes in them; then removes the job's cgroups.
pub(super) fn start_inside(made: &Namespaces, cgroups: &OsStr) -> u8 {
    // The cgroups are determined now, because the supervisor mounts a different `/proc`.
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

/// Returns the flags of `unshare` for the requested namespaces.
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

/// Creates the namespaces inside a new user namespace, in which this user keeps its id, because the process has no privileges. The process must not
/// have other threads.
///
/// Some kernels create the namespace and then grant no rights in it, for example Ubuntu's since 23.10. After that, no thread can be started in this
/// process, because its next child would belong to the new namespace.
fn as_user(flags: UnshareFlags) -> Result<Held, String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    if let Err(error) = unshare(flags | UnshareFlags::NEWUSER) {
        return Ok(Held::No(format!(
            "the host is not permitted to create namespaces: {error}"
        )));
    }
    fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("{user} {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("{group} {group} 1")))
        .map_err(|error| {
            format!(
                "the host can create a user namespace but cannot map its user in it: {error}; on Ubuntu an AppArmor profile with `userns,` for the \
                 host's binary allows it"
            )
        })?;
    Ok(Held::Yes(String::from("namespace in a user namespace")))
}

/// Mounts a `/proc` of this namespace over the host's, for this process's mounts only. It contains only the directories of processes.
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
