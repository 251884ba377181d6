//! The report on the mechanisms that restrict jobs on the current system, and on the access that remains open.

use std::fmt;

use serde::Serialize;

use crate::wire::{Held, InForce};

/// The mechanisms that restrict the jobs of an [`Isolation`](super::Isolation) on the current system, item by item, and the access that remains open.
/// The report comes from a job that does nothing, so it shows the mechanisms that are in force, not the requested mechanisms.
///
/// Its text has a line `item: mechanism` for each item, followed by a line with the access that is open, if there is any.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The items, in a fixed order.
    pub items: Vec<Item>,
}

/// One item of the report, such as a kind of access or a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// The name of the item, such as `files`.
    pub name: &'static str,
    /// The mechanisms that restrict the item, or `none`, in some cases with the reason.
    pub mechanism: String,
    /// The access that is still possible; empty if none is known.
    pub open: String,
}

impl Report {
    /// Finds an item by its name.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.name == name)
    }

    pub(super) fn of(held: &InForce, helper: bool) -> Self {
        let mut items = lives(held, helper);
        items.extend(reach(held));
        items.extend(amounts(held));
        items.extend(rights(held));
        Self { items }
    }
}

fn item(name: &'static str, mechanism: impl Into<String>, open: impl Into<String>) -> Item {
    Item {
        name,
        mechanism: mechanism.into(),
        open: open.into(),
    }
}

/// Returns the mechanisms that are in force, or `none` and the reason why the first one is not.
fn said(all: &[&Held]) -> String {
    let yes: Vec<_> = all.iter().filter_map(|held| held.detail()).collect();
    match (yes.is_empty(), all.first()) {
        (true, Some(Held::No(reason))) => format!("none ({reason})"),
        _ => yes.join(", "),
    }
}

/// Returns an item whose access is open if none of these mechanisms is in force.
fn unless(name: &'static str, all: &[&Held], open: &'static str) -> Item {
    let kept = all.iter().any(|held| held.is_yes());
    item(name, said(all), if kept { "" } else { open })
}

/// Returns the items on the end of a job's processes.
fn lives(held: &InForce, helper: bool) -> Vec<Item> {
    if !helper {
        return vec![
            item(
                "descendants",
                "process group",
                "a process that leaves its group continues to run when the job ends",
            ),
            item(
                "host's death",
                "none",
                "all processes of the job continue to run",
            ),
        ];
    }
    let mut end = vec!["subreaper"];
    end.extend(held.pid_namespace.detail());
    end.extend(held.cgroup_kill.detail());
    let safe = held.pid_namespace.is_yes() || held.signals.is_yes();
    vec![
        item(
            "descendants",
            end.join(", "),
            "a process that is blocked in the kernel, for example in a broken file system, ends only when the kernel call returns",
        ),
        item("host's death", "socket to the supervisor", ""),
        item(
            "supervisor",
            said(&[&held.pid_namespace, &held.signals]),
            if safe {
                ""
            } else {
                "a job of the same user can kill its supervisor; the host then kills the processes in the job's cgroup, if it has one"
            },
        ),
    ]
}

/// Returns the items on access to resources outside of the job, such as files, processes and networks.
fn reach(held: &InForce) -> Vec<Item> {
    vec![
        item("files", said(&keep_files(held)), files(held)),
        item(
            "open files",
            "close-on-exec",
            "a job inherits files that the host, or a library in it, opened without that flag",
        ),
        unless(
            "read-only mounts",
            &[&held.read_only],
            "a job that runs as root changes modes of devices, of `/sys` and of cgroups",
        ),
        unless(
            "other processes",
            &[&held.landlock, &held.proc_mount],
            "a job reads arguments of every process, and environment and memory of its user's processes",
        ),
        unless(
            "signals",
            &[&held.signals, &held.pid_namespace],
            "a job may signal every process of its user",
        ),
        unless(
            "priorities",
            &[&held.pid_namespace],
            "a job changes priority, processors and resource limits of every process of its user, the host's included",
        ),
        unless(
            "shared memory",
            &[&held.ipc_namespace],
            "a job can access segments, semaphores and message queues of System V and POSIX that its user may use",
        ),
        item(
            "keyrings",
            "none",
            "a job can use the kernel's keyrings of the host's session and user, with their tickets and keys",
        ),
        item(
            "egress",
            "none",
            "no address, name or protocol is filtered: a job whose network is open can connect to every address that the host can \
             connect to, private addresses included",
        ),
        item(
            "TCP ports",
            said(&[&held.tcp]),
            "rules filter ports but not addresses; UDP, and with it DNS, ICMP and raw sockets are not filtered",
        ),
        item(
            "network off",
            said(&[&held.network_namespace, &held.tcp]),
            match (held.network_namespace.is_yes(), held.tcp.is_yes()) {
                (true, _) => "",
                (false, true) => "TCP is off; UDP, and with it DNS, is open",
                (false, false) => {
                    "a job can connect to every address that the host can connect to, UDP, and with it DNS, included"
                }
            },
        ),
        unless(
            "abstract sockets",
            &[&held.abstract_sockets],
            "a job can connect to services of the session such as D-Bus and X11",
        ),
        unless(
            "sockets with a path",
            &held.unix_sockets(),
            "a job connects to every socket whose mode allows its user, for example the socket of a container engine",
        ),
        item("environment", "exact list", ""),
    ]
}

fn keep_files(held: &InForce) -> Vec<&Held> {
    let mut all = vec![&held.landlock];
    if held.hides_files() {
        all.push(&held.own_root);
    }
    all
}

/// Describes the operations on files without a grant that no mechanism prevents; empty if there are none.
fn files(held: &InForce) -> String {
    let open = held.open_files().map(|(open, _)| open);
    let stat = "asking for size, owner and times of any path (`stat`)";
    let change = "changing mode, owner, times and attributes of files that its user owns";
    let (landlock, read_only) = (held.landlock.is_yes(), held.read_only.is_yes());
    let rest = match (held.hides_files(), landlock, read_only) {
        (true, _, true) => None,
        (true, _, false) => Some(format!(
            "no mechanism prevents a job from {change} and that it may read"
        )),
        (false, false, _) => Some(format!("{stat} is possible too")),
        (false, true, true) => Some(format!("Landlock does not prevent a job from {stat}")),
        (false, true, false) => Some(format!(
            "Landlock does not prevent a job from {stat} or {change}"
        )),
    };
    open.into_iter()
        .map(String::from)
        .chain(rest)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns the items on the amounts of resources.
fn amounts(held: &InForce) -> Vec<Item> {
    vec![
        item(
            "memory",
            said(&[&held.memory_cgroup, &held.limits]),
            match (held.memory_cgroup.is_yes(), held.limits.is_yes()) {
                (true, _) => "",
                (false, true) => {
                    "the limit applies to each process and not to the whole job: set a memory limit for the container too"
                }
                (false, false) => {
                    "a job can use all available memory: set a memory limit for the container"
                }
            },
        ),
        unless(
            "processes",
            &[&held.pids_cgroup],
            "a job can start as many processes as its user may; `RLIMIT_NPROC` limits neither root nor a process tree and is not used",
        ),
        item(
            "processor",
            said(&[&held.limits]),
            if held.limits.is_yes() {
                "seconds are limited for each process, if the job sets a limit; the share of processor time is not limited: set a CPU limit for \
                 the container"
            } else {
                "neither the seconds nor the share of processor time are limited: set a CPU limit for the container"
            },
        ),
        item(
            "disk",
            said(&[&held.limits]),
            if held.limits.is_yes() {
                "the size of each file is limited; the number of files is not"
            } else {
                "a job can fill all disk space that its user may use"
            },
        ),
    ]
}

/// Returns the items on the user and the privileges of a job.
fn rights(held: &InForce) -> Vec<Item> {
    vec![
        item(
            "user",
            "none (a job runs as the host's own user)",
            "a job uses its grants as that user; untrusted code needs a container or a virtual machine for each call",
        ),
        unless(
            "capabilities",
            &[&held.capabilities],
            "a job that runs as root may do what root may",
        ),
        item("new privileges", said(&[&held.no_new_privs]), ""),
        item(
            "syscalls",
            "none",
            "every system call is allowed; a kernel bug can let a job escape",
        ),
    ]
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Item {
            name,
            mechanism,
            open,
        } in &self.items
        {
            writeln!(f, "{name}: {mechanism}")?;
            if !open.is_empty() {
                writeln!(f, "    open: {open}")?;
            }
        }
        Ok(())
    }
}
