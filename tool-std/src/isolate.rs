//! Programs that run apart from the host: the ground of the packs `process`, `git` and of the crate `tool-code`.
//!
//! A job does not start from the host itself but from a *helper*: the host's own binary, run once more. The helper keeps hold of
//! everything that descends from the job and ends all of it, to the last daemon, when the job ends, when its deadline passes, when the
//! host asks for it and when the host dies. It takes away what the job does not need before the job's first instruction: files, TCP
//! ports, privileges, environment. What the kernel offers of this is used, and [`Isolation::report`] says what that is here.
//!
//! The host's `main` begins with one line, before any runtime or thread is started:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     tool_std::helper();
//!     // … the host
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! A host puts an [`Isolation`] into the context; tools start their jobs on it:
//!
//! ```no_run
//! use tool_std::isolate::{Isolation, Job, Keep};
//!
//! # async fn demo() -> Result<(), tool_std::isolate::IsolateError> {
//! let isolation = Isolation::new();
//! let job = Job::new("git").args(["status", "--short"]).env("PATH", "/usr/bin:/bin").cwd("/srv/ws").reads("/srv/ws");
//! let ran = isolation.run(job, Keep::default()).await?;
//! assert!(ran.ended.success());
//! println!("{}", String::from_utf8_lossy(&ran.stdout.head));
//! # Ok(())
//! # }
//! ```
//!
//! Without the helper (its line is missing in `main`, or the system is not Linux) jobs are refused, unless the host accepts
//! [`Isolation::GroupOnly`] by name.
//!
//! # What holds a job
//!
//! | mechanism | needs | what for |
//! |---|---|---|
//! | subreaper, socket to the host | Linux | nothing that descends from the job outlives it, its deadline or the host |
//! | exact environment, no terminal | Linux | what is not given is not there; only files that the host opens without close-on-exec pass |
//! | `setrlimit`, no-new-privs | Linux | memory, files, processor time of each process; no setuid program |
//! | Landlock | Linux 6.2 (5.13, but for emptying files), TCP since 6.7, signals since 6.12 | files, TCP ports, signals, tracing, abstract sockets |
//! | namespaces of processes, of what they share and of networks | root, or namespaces of users | all of it ends at once; no signal, priority or shared memory of others; no network at all |
//! | `/proc` of its own | root | no process but its own to see |
//! | read-only mounts | root, or namespaces of users | modes and times stay outside of what it may write: of files, devices, `/sys` and cgroups |
//! | a root of its own | root, or namespaces of users | what it was not granted is not there: no file to ask for, no Unix socket to connect to |
//! | seccomp, where [`Mechanism::UnixSockets`] is required and its sockets are not kept otherwise | Linux | no Unix socket at all |
//! | no capabilities | root | root's job is no root |
//! | `cgroup.kill`, pids and memory cgroups | cgroups that the host may make | the tree ends at once and is limited as a whole |
//!
//! What is there is used, what is not is said by [`Isolation::report`]; [`Isolation::require`] refuses jobs without, and
//! [`Isolation::without`] turns off by name. A host that counts on Landlock requires it: without, its jobs run with every file open where
//! the kernel has none, and the log is warned once. Two more things can be known beforehand: in a network namespace not even `127.0.0.1`
//! answers, and a host that is not root gives its jobs no `/proc`.
//!
//! # What it costs
//!
//! A job with everything that a host of root has needs 8 to 10 times the processor time of a bare `posix_spawn` of `/bin/true`, of which the helper
//! itself, which is one more process, makes up 6 to 9; with [`Isolation::GroupOnly`] it is one. The program `jobs` of the folder `benches` measures
//! this. A host of root makes the namespaces in a thread and starts one process in them. A host without privileges starts two, because a namespace
//! of users needs a process with one thread; and where a kernel makes namespaces that such a host cannot live in, as Ubuntu's do unless an `AppArmor`
//! profile lets it, each job starts a second helper. Turning [`Mechanism::PidNamespace`] and [`Mechanism::NetworkNamespace`] off saves both.
//!
//! 12 crates beside those of `tool-core` without features: landlock, rustix, and tokio's processes and sockets.

mod environment;
mod error;
mod group;
mod isolation;
mod job;
#[cfg(target_os = "linux")]
mod linux;
mod modes;
mod report;
mod run;
mod running;
mod wire;

pub use environment::{PASSED, environment};
pub use error::IsolateError;
pub use isolation::{Helper, Isolation, Mechanism};
pub use job::{Job, Limits, Network};
#[doc(hidden)]
pub use modes::TOOL_STD_0_1_MODES;
pub use modes::{Mode, helper};
pub use report::{Item, Report};
pub use run::{Keep, Kept, Ran};
pub use running::{Cause, Ended, Exit, Running, Stream};
