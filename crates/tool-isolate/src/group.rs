//! Jobs without the helper: a process group that the host starts and kills.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::ended::{Cause, Ended, Exit};
use crate::error::IsolateError;
use crate::job::{Job, Pipes, Program};
use crate::wire::{Held, InForce, MODE};

/// A job in a process group. A separate task waits for it, so its deadline is enforced even if the host does not poll.
#[derive(Debug)]
pub(super) struct Group {
    id: Option<u32>,
    ended: oneshot::Receiver<io::Result<Ended>>,
    /// Kills the group when it is dropped.
    kill: Option<oneshot::Sender<()>>,
    held: Box<InForce>,
}

pub(super) fn spawn(job: &Job) -> Result<(Group, Pipes), IsolateError> {
    let mut command = match &job.program {
        Program::Named(name) => Command::new(name),
        Program::Mode(mode) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([MODE, mode]);
            command
        }
    };
    let (stdout, out) = std::io::pipe()?;
    let (stderr, err) = std::io::pipe()?;
    command
        .args(&job.args)
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&job.cwd)
        .process_group(0)
        .stdout(out)
        .stderr(err);
    let mut stdin = None;
    if job.stdin {
        let (read, write) = std::io::pipe()?;
        command.stdin(read);
        stdin = Some(pipe::Sender::from_owned_fd(write.into())?);
    } else {
        command.stdin(Stdio::null());
    }
    let child = command.spawn().map_err(|error| failed(job, &error))?;
    // Close the host's copies of the job's ends of the pipes.
    drop(command);
    let (kill, killed) = oneshot::channel();
    let (tell, ended) = oneshot::channel();
    let deadline = job.deadline;
    let id = child.id();
    tokio::spawn(async move { tell.send(watch(child, deadline, killed).await) });
    let group = Group {
        id,
        ended,
        kill: Some(kill),
        held: Box::new(held()),
    };
    let pipes = Pipes {
        stdin,
        stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
        stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
    };
    Ok((group, pipes))
}

/// Reports that no mechanism is in force, with the reason.
pub(super) fn held() -> InForce {
    let no = |what: &str| Held::No(format!("{what}: `Isolation::GroupOnly` was accepted"));
    InForce {
        landlock: no("no Landlock"),
        truncate: no("no Landlock"),
        tcp: no("no Landlock"),
        signals: no("no Landlock"),
        abstract_sockets: no("no Landlock"),
        path_sockets: no("no Landlock"),
        pid_namespace: no("no namespace"),
        ipc_namespace: no("no namespace"),
        network_namespace: no("no namespace"),
        proc_mount: no("no mount"),
        read_only: no("no mount"),
        own_root: no("no mount"),
        socket_filter: no("no filter"),
        capabilities: no("capabilities are kept"),
        cgroup_kill: no("no cgroup"),
        pids_cgroup: no("no cgroup"),
        memory_cgroup: no("no cgroup"),
        no_new_privs: no("setuid programs work"),
        limits: no("no limits"),
    }
}

pub(super) fn failed(job: &Job, error: &std::io::Error) -> IsolateError {
    let program = job.name();
    match error.kind() {
        // The missing file may also be the working directory.
        std::io::ErrorKind::NotFound if job.cwd.is_dir() => IsolateError::NotFound { program },
        _ => IsolateError::Refused {
            program,
            reason: error.to_string(),
        },
    }
}

/// Waits until the job exits, its deadline passes or the host kills it, and then kills the group.
async fn watch(
    mut child: Child,
    deadline: Option<Duration>,
    mut killed: oneshot::Receiver<()>,
) -> io::Result<Ended> {
    let guard = child
        .id()
        .and_then(|id| Pid::from_raw(id.try_into().ok()?))
        .map(Kill);
    let mut sleep = pin!(async {
        match deadline {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
    });
    let because = {
        let mut wait = pin!(child.wait());
        poll_fn(|cx| {
            if wait.as_mut().poll(cx).is_ready() {
                Poll::Ready(Cause::Itself)
            } else if Pin::new(&mut killed).poll(cx).is_ready() {
                Poll::Ready(Cause::Killed)
            } else {
                let after = deadline.unwrap_or_default();
                sleep.as_mut().poll(cx).map(|()| Cause::Deadline(after))
            }
        })
        .await
    };
    drop(guard);
    // If the process has already been waited for, `wait` returns the same status again.
    let status = child.wait().await?;
    Ok(Ended {
        exit: exit_of(status),
        because,
        out_of_memory: false,
    })
}

/// Kills a process group when it is dropped, which also happens when the runtime shuts down.
struct Kill(Pid);

impl Drop for Kill {
    fn drop(&mut self) {
        // The signal fails if no process of the group is left.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Group {
    /// Completes when the job has ended. If a process then still has the job's pipes open, it has left the group.
    pub(super) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<Result<Ended, IsolateError>> {
        Pin::new(&mut self.ended).poll(cx).map(|told| match told {
            Ok(ended) => Ok(ended?),
            Err(_) => Err(IsolateError::Lost(String::from(
                "the runtime was shut down",
            ))),
        })
    }

    pub(super) fn kill(&mut self) {
        self.kill = None;
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.id
    }

    pub(super) fn held(&self) -> &InForce {
        &self.held
    }
}

pub(super) fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
