//! The mechanisms that restrict a job.

use serde::{Deserialize, Serialize};

/// A mechanism of the kernel that restricts jobs. Every available mechanism is used; a host can turn a mechanism off or require it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Mechanism {
    /// Restricts files by Landlock, and TCP ports, signals, tracing and Unix sockets as far as the kernel's Landlock supports it. A host that
    /// requires it requires the restriction of files; [`Isolation::report`](crate::Isolation::report) lists the other restrictions.
    Landlock,
    /// A PID namespace, whose processes all end at once, and an IPC namespace for their shared memory and message queues.
    PidNamespace,
    /// Mounts that are read-only outside of the paths that a job may write, including the mounts of devices, `/sys`, `/proc` and cgroups. Available
    /// only to hosts that run as root, because an unprivileged helper loses the rights of its user namespace when it starts the supervisor.
    ReadOnlyMounts,
    /// A root that contains only the paths that a job was granted. Available to the same hosts as [`ReadOnlyMounts`](Self::ReadOnlyMounts).
    OwnRoot,
    /// No access to Unix sockets with a path that a job was not granted, such as the socket of a container engine or of D-Bus. A separate root
    /// ensures this if the job cannot reach the roots of other processes, because of Landlock or a separate `/proc`; so does Landlock alone from ABI
    /// version 9 on. If neither is in force and a host [requires](crate::Isolation::require) this mechanism, seccomp denies the job all Unix sockets
    /// except pairs of streams or sequential packets, and also `io_uring` and programs for a different architecture than the host's.
    UnixSockets,
    /// A network namespace for jobs with [`Network::Off`](super::Network::Off).
    NetworkNamespace,
    /// A cgroup (version 2) whose processes are killed at once.
    CgroupKill,
    /// A cgroup that limits the number of processes in the tree.
    PidsCgroup,
    /// A cgroup that limits the memory of the tree.
    MemoryCgroup,
    /// Removes all capabilities, if the host has any.
    Capabilities,
}

impl Mechanism {
    /// Every mechanism, for example to turn off all but one.
    pub const ALL: &'static [Self] = &[
        Self::Landlock,
        Self::PidNamespace,
        Self::ReadOnlyMounts,
        Self::OwnRoot,
        Self::UnixSockets,
        Self::NetworkNamespace,
        Self::CgroupKill,
        Self::PidsCgroup,
        Self::MemoryCgroup,
        Self::Capabilities,
    ];
}
