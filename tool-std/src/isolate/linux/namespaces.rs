//! Namespaces of processes, mounts and networks.
//!
//! Only what is started after `unshare` is in a new namespace of processes, so the helper starts itself once more there. That process
//! has number 1: the kernel kills everything else in the namespace when it ends.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getgid, getpid, getuid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use crate::isolate::modes::INSIDE;
use crate::isolate::wire::Held;

/// What the host asks for, as arguments of the helper.
pub(super) const PID: &str = "pid";
pub(super) const NET: &str = "net";

/// Which namespaces the supervisor is in.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Namespaces {
    pub(super) pid: Held,
    pub(super) net: Held,
    /// A `/proc` that shows the namespace and nothing else.
    pub(super) proc_mount: Held,
}

impl Namespaces {
    /// Makes what is asked for and possible.
    pub(super) fn make(asked: &[OsString]) -> Self {
        let asked = |name: &str| asked.iter().any(|asked| asked == name);
        let mut made = Self::default();
        let mut flags = UnshareFlags::empty();
        if asked(PID) {
            flags |= UnshareFlags::NEWPID | UnshareFlags::NEWNS;
        }
        if asked(NET) {
            flags |= UnshareFlags::NEWNET;
        }
        if flags.is_empty() {
            return made;
        }
        let held = match unshare(flags) {
            Ok(()) => Held::Yes(String::from("namespace")),
            Err(Errno::PERM) => match as_user(flags) {
                Ok(()) => Held::Yes(String::from("namespace below one of users")),
                Err(error) => Held::No(format!("this host may not make namespaces: {error}")),
            },
            Err(error) => Held::No(format!("the kernel makes none: {error}")),
        };
        if asked(PID) {
            made.pid = held.clone();
        }
        if asked(NET) {
            made.net = held;
        }
        made
    }

    /// What the helper made for this process.
    pub(super) fn inherit(args: &[OsString]) -> Option<Self> {
        let mut made: Self = serde_json::from_str(args.first()?.to_str()?).ok()?;
        // With the helper ends its namespace, also where the helper was killed.
        set_parent_process_death_signal(Some(Signal::KILL)).ok()?;
        made.proc_mount = match mount_proc() {
            Ok(()) => Held::Yes(String::from("`/proc` of its own")),
            Err(error) => Held::No(format!("`/proc` cannot be mounted: {error}")),
        };
        Some(made)
    }

    /// Whether this process is the first of its namespace.
    pub(super) fn is_first(&self) -> bool {
        self.pid.is_yes() && getpid().as_raw_nonzero().get() == 1
    }
}

/// Starts the supervisor in the namespaces and waits for its end, with which everything in them has ended.
pub(super) fn start_inside(made: &Namespaces) -> u8 {
    let Ok(made) = serde_json::to_string(made) else {
        return 2;
    };
    let status = Command::new("/proc/self/exe")
        .args([INSIDE, &made])
        .env_clear()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status
        .ok()
        .and_then(|status| u8::try_from(status.code()?).ok())
        .unwrap_or(2)
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe for `FILES`, which is not among the flags here"
    )]
    rustix::thread::unshare(flags)
}

/// Without privileges: a namespace of users first, in which this user is who it was. It needs a process without other threads.
fn as_user(flags: UnshareFlags) -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(flags | UnshareFlags::NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
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
