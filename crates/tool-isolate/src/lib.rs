//! Sandboxed child processes, on which the packs `process` and `git` and the crate `tool-code` are built.
//!
//! A job is not started by the host itself but by a *helper*: the host's own binary, run once more. The helper tracks all descendants of the
//! job and kills all of them, daemons included, when the job ends, when its deadline passes, when the host asks for it and when the host dies. Before
//! the job's first instruction, the helper removes access to what the job does not need: files, TCP ports, privileges, environment. It uses the
//! mechanisms that the kernel supports; [`Isolation::report`] lists the mechanisms of the current system.
//!
//! The host's `main` begins with one line, before any runtime or thread is started:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     tool_isolate::helper();
//!     // … the host
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! A host puts an [`Isolation`] into the context; tools start their jobs with it:
//!
//! ```no_run
//! use tool_isolate::{Isolation, Job, Keep};
//!
//! # async fn demo() -> Result<(), tool_isolate::IsolateError> {
//! let isolation = Isolation::new();
//! let job = Job::new("git").args(["status", "--short"]).env("PATH", "/usr/bin:/bin").cwd("/srv/ws").reads("/srv/ws");
//! let ran = isolation.run(job, Keep::default()).await?;
//! assert!(ran.ended.success());
//! println!("{}", String::from_utf8_lossy(&ran.stdout.head));
//! # Ok(())
//! # }
//! ```
//!
//! Without the helper (because `main` lacks its line, or the system is not Linux), jobs are refused, unless the host explicitly accepts
//! [`Isolation::GroupOnly`].
//!
//! # Mechanisms
//!
//! | mechanism | needs | purpose |
//! |---|---|---|
//! | subreaper, socket to the host | Linux | no descendant of the job outlives the job, its deadline or the host |
//! | exact environment, no terminal | Linux | only the given variables are set; only files that the host opens without close-on-exec are inherited |
//! | `setrlimit`, no-new-privs | Linux | memory, files, processor time of each process; no setuid program |
//! | Landlock | Linux 6.2 (5.13 without truncation), TCP 6.7, signals 6.12, sockets with a path ABI 9 | files, TCP ports, signals, tracing, sockets |
//! | process, IPC and network namespaces | root, or user namespaces | all processes end at once; no access to other processes, their memory or a network |
//! | separate `/proc` | root | only the job's own processes are visible |
//! | read-only mounts | root | modes and times of files, devices, `/sys` and cgroups cannot be changed outside of the writable paths |
//! | separate root | root | only the system's and the granted files are visible: other files and Unix sockets cannot be found |
//! | seccomp, if [`Mechanism::UnixSockets`] is required and needs it | Linux | no Unix sockets except pairs of streams or sequential packets |
//! | no capabilities | root | root in the job does not have the privileges of root |
//! | `cgroup.kill`, pids and memory cgroups | cgroups that the host may create | the process tree ends at once and is limited as a whole |
//!
//! Every available mechanism is used, and [`Isolation::report`] lists the missing ones. [`Isolation::require`] refuses jobs without a mechanism, and
//! [`Isolation::without`] turns a mechanism off. A host that relies on Landlock should require it: on a kernel without Landlock, jobs may otherwise
//! have access to every file of the host's user, after one warning in the log. Two consequences to expect: in a network namespace not even
//! `127.0.0.1` is reachable, and jobs of a host that is not root usually have no `/proc`.
//!
//! # Cost
//!
//! For a host that is root, a job with every mechanism needs 8 to 10 times the processor time of a bare `posix_spawn` of `/bin/true`. Without
//! mechanisms the factor is 4 to 5, because the helper is one more process. With [`Isolation::GroupOnly`] the factor is 1. The program `jobs`
//! in the folder `benches` measures this. A host that is root creates the namespaces in a thread and starts one process in them. A host without
//! privileges starts two processes, because only a process with a single thread can enter a new user namespace. Some kernels create namespaces in
//! which such a host has no rights, for example Ubuntu's without an `AppArmor` profile; then each job starts a second helper. Turning off
//! [`Mechanism::PidNamespace`] and [`Mechanism::NetworkNamespace`] avoids these additional processes.
//!
//! With its dependencies, a build has
//! 13 crates in addition to those of `tool-core` without features: landlock, rustix, seccompiler, and the dependencies of tokio's processes and
//! sockets.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!("tool-isolate needs a Unix system");

mod ended;
mod environment;
mod error;
mod group;
mod isolation;
mod job;
#[cfg(target_os = "linux")]
mod linux;
mod mechanism;
mod modes;
mod report;
mod run;
mod running;
mod time;
mod wire;

pub use ended::{Cause, Ended, Exit};
pub use environment::{PASSED, environment};
pub use error::IsolateError;
pub use isolation::{Helper, Isolation};
pub use job::{Job, Limits, Network};
pub use mechanism::Mechanism;
pub use modes::{Mode, helper};
pub use report::{Item, Report};
pub use run::{JobOutcome, Keep, Kept};
pub use running::{Running, Stream};

/// Used by the code that macros generate; not a public API.
#[doc(hidden)]
pub mod private {
    pub use crate::modes::TOOL_ISOLATE_0_1_MODES;
    pub use linkme;
}
