//! The host's side: starts the helper, gives it the job and hears how it goes.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

use super::cgroups::Cgroups;
use super::namespaces::{NET, PID};
use crate::isolate::error::IsolateError;
use crate::isolate::isolation::{Helper, Mechanism};
use crate::isolate::job::{Job, Network};
use crate::isolate::modes::HELPER;
use crate::isolate::running::{Cause, Ended, Exit, Hold, Running};
use crate::isolate::wire::{Because, Event, Failure, Held, InForce, Spec, frame, take_frame};

/// How long a helper may take to start a job: a machine under load is slow, a program that is no helper never answers.
const START: Duration = Duration::from_secs(20);
/// How long it may take to end one: a process in the kernel's hands dies when they let go.
const END: Duration = Duration::from_secs(20);
/// How often a cgroup is tried to be removed, whose processes have been killed and are not gone yet.
const TRIES: u32 = 100;
/// And how long one waits between.
const TRY: Duration = Duration::from_millis(10);

/// A job in a helper's hands.
#[derive(Debug)]
pub(in crate::isolate) struct Remote {
    child: Child,
    stream: UnixStream,
    received: Vec<u8>,
    held: InForce,
    deadline: Option<Duration>,
    /// The name of its cgroups, until they are known to be gone.
    cgroups: Option<String>,
    /// Past this, the helper has failed to end the job.
    latest: Option<Instant>,
}

pub(in crate::isolate) async fn start(
    path: &Path,
    job: &Job,
    settings: &Helper,
) -> Result<Running, IsolateError> {
    match attempt(path, job, settings, None).await? {
        Attempt::Runs(running) => Ok(running),
        Attempt::NoNamespaces(reason) => match attempt(path, job, settings, Some(reason)).await? {
            Attempt::Runs(running) => Ok(running),
            Attempt::NoNamespaces(reason) => Err(IsolateError::Helper(reason)),
        },
    }
}

enum Attempt {
    Runs(Running),
    /// Why a helper that was asked for namespaces cannot go on.
    NoNamespaces(String),
}

/// Starts a helper with a job, and no namespace where it is known why there is none.
async fn attempt(
    path: &Path,
    job: &Job,
    settings: &Helper,
    no_namespaces: Option<String>,
) -> Result<Attempt, IsolateError> {
    let (ours, theirs) = StdStream::pair()?;
    let spec = spec(job, settings);
    let asked = asked(&spec);
    let wanted = if no_namespaces.is_some() {
        &[]
    } else {
        &asked[..]
    };
    let child = helper(path, wanted, theirs)
        .map_err(|error| IsolateError::Helper(format!("`{}`: {error}", path.display())))?;
    let (stdin, input) = stdin(job)?;
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let cgroups = spec.cgroups.clone();
    let spec = frame(&spec)?;
    send_first(&ours, &spec[..4], [input, out.into(), err.into()]).map_err(no_helper)?;
    ours.set_nonblocking(true)?;
    let mut remote = Remote {
        child,
        stream: UnixStream::from_std(ours)?,
        received: Vec::new(),
        held: InForce::default(),
        deadline: job.deadline,
        cgroups: Some(cgroups),
        latest: None,
    };
    let first = timeout(START, async {
        remote.stream.write_all(&spec[4..]).await?;
        remote.next().await
    });
    remote.held = match first.await {
        Ok(Ok(Some(Event::Started(held)))) => *held,
        Ok(Ok(Some(Event::Failed(Failure::Namespaces(reason))))) => {
            return Ok(Attempt::NoNamespaces(reason));
        }
        Ok(Ok(Some(Event::Failed(failure)))) => return Err(failed(job, failure)),
        Ok(Ok(_)) => return Err(no_helper("it went away")),
        Ok(Err(error)) => return Err(no_helper(error)),
        Err(_) => {
            let _ = remote.child.start_kill();
            return Err(IsolateError::Helper(format!(
                "no answer within {} s",
                START.as_secs()
            )));
        }
    };
    if let Some(reason) = no_namespaces {
        lacks(&mut remote.held, &asked, &reason);
    }
    remote.latest = job.deadline.map(|after| Instant::now() + after + END);
    Ok(Attempt::Runs(Running::new(
        Hold::Remote(Box::new(remote)),
        stdin,
        pipe::Receiver::from_owned_fd(stdout.into())?,
        pipe::Receiver::from_owned_fd(stderr.into())?,
    )))
}

fn no_helper(why: impl std::fmt::Display) -> IsolateError {
    IsolateError::Helper(format!(
        "{why}, the first line of its `main` has to be `tool_std::helper();`"
    ))
}

/// The namespaces to ask a helper for, as its arguments.
fn asked(spec: &Spec) -> Vec<&'static str> {
    let mut asked = Vec::new();
    if spec.has(Mechanism::PidNamespace) {
        asked.push(PID);
    }
    if spec.has(Mechanism::NetworkNamespace) && spec.network == Network::Off {
        asked.push(NET);
    }
    asked
}

/// Starts the helper, with its end of the socket as standard input and nothing of the host's environment.
fn helper(path: &Path, namespaces: &[&str], socket: StdStream) -> io::Result<Child> {
    Command::new(path)
        .arg(HELPER)
        .args(namespaces)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// What was asked for and is not there, and why.
fn lacks(held: &mut InForce, asked: &[&str], reason: &str) {
    for (name, held) in [
        (PID, &mut held.pid_namespace),
        (NET, &mut held.network_namespace),
    ] {
        if asked.contains(&name) {
            *held = Held::No(reason.to_owned());
        }
    }
}

fn stdin(job: &Job) -> io::Result<(Option<pipe::Sender>, OwnedFd)> {
    if job.stdin {
        let (read, write) = io::pipe()?;
        Ok((
            Some(pipe::Sender::from_owned_fd(write.into())?),
            read.into(),
        ))
    } else {
        Ok((None, std::fs::File::open("/dev/null")?.into()))
    }
}

fn spec(job: &Job, settings: &Helper) -> Spec {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let paths =
        |paths: &[std::path::PathBuf]| paths.iter().map(|path| path.clone().into()).collect();
    Spec {
        program: job.program.clone(),
        args: job.args.clone(),
        env: job.env.clone(),
        cwd: job.cwd.clone().into(),
        reads: paths(&job.reads),
        writes: paths(&job.writes),
        network: job.network.clone(),
        limits: job.limits.clone(),
        deadline_ms: job
            .deadline
            .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
        mechanisms: settings.mechanisms(),
        cgroups: format!(
            "tool-std-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ),
    }
}

/// Sends the head of the first frame, and beside it the job's ends of its pipes. Into an empty socket, so it does not wait.
fn send_first(socket: &StdStream, head: &[u8], files: [OwnedFd; 3]) -> io::Result<()> {
    let borrowed = files.each_ref().map(OwnedFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other("no room for three files"));
    }
    let sent = rustix::net::sendmsg(
        socket,
        &[IoSlice::new(head)],
        &mut beside,
        SendFlags::empty(),
    )?;
    // The job's ends are the helper's now; with a copy here, no pipe would end.
    drop(files);
    if sent == head.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}

fn failed(job: &Job, failure: Failure) -> IsolateError {
    let program = job.name();
    match failure {
        Failure::NotFound => IsolateError::NotFound { program },
        Failure::Refused(reason) => IsolateError::Refused { program, reason },
        Failure::Helper(reason) | Failure::Namespaces(reason) => IsolateError::Helper(reason),
    }
}

impl Remote {
    /// The helper's next event, `None` where it has gone. Dropping the future loses nothing.
    async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = take_frame(&mut self.received)? {
                return Ok(Some(event));
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Ok(None);
            }
        }
    }

    pub(in crate::isolate) async fn wait(&mut self) -> Result<Ended, IsolateError> {
        let latest = self
            .latest
            .unwrap_or_else(|| Instant::now() + Duration::from_hours(24 * 365));
        let event = match timeout_at(latest, self.next()).await {
            Ok(event) => event.map_err(|error| IsolateError::Lost(error.to_string()))?,
            Err(_) => None,
        };
        // A namespace ends with its helper; once that is gone, so is everything in it.
        if !matches!(event, Some(Event::Ended { .. })) {
            let _ = self.child.start_kill();
        }
        let gone = timeout(END, self.child.wait()).await;
        if matches!(event, Some(Event::Ended { .. })) {
            self.cgroups = None;
        } else {
            self.clear().await;
        }
        match event {
            Some(Event::Ended {
                exit,
                because,
                out_of_memory,
            }) if gone.is_ok() => Ok(Ended {
                out_of_memory,
                exit: exit.unwrap_or(Exit::Signal(9)),
                because: match because {
                    Because::Itself => Cause::Itself,
                    Because::Deadline => Cause::Deadline(self.deadline.unwrap_or_default()),
                    Because::Host => Cause::Killed,
                },
            }),
            _ => Err(IsolateError::Lost(String::from(
                "it was killed, or something that it was to kill does not die",
            ))),
        }
    }

    /// Kills what a lost helper has left in the job's cgroups, and removes them.
    async fn clear(&mut self) {
        let Some(name) = self.cgroups.take() else {
            return;
        };
        let cgroups = Cgroups::left_behind(&name);
        cgroups.kill();
        for _ in 0..TRIES {
            if cgroups.remove() {
                return;
            }
            tokio::time::sleep(TRY).await;
        }
    }

    /// Ends the host's side of the socket, which the helper takes as the host's end.
    pub(in crate::isolate) fn kill(&mut self) {
        let _ = rustix::net::shutdown(&self.stream, Shutdown::Write);
        let soon = Instant::now() + END;
        self.latest = Some(self.latest.map_or(soon, |latest| latest.min(soon)));
    }

    pub(in crate::isolate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub(in crate::isolate) fn held(&self) -> &InForce {
        &self.held
    }
}

/// A helper that is there ends the job and clears up when the host's end of the socket closes. One that is lost cannot.
impl Drop for Remote {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let Some(name) = self.cgroups.take() else {
            return;
        };
        let cgroups = Cgroups::left_behind(&name);
        if cgroups.remove() {
            return;
        }
        cgroups.kill();
        std::thread::spawn(move || {
            for _ in 0..TRIES {
                std::thread::sleep(TRY);
                if cgroups.remove() {
                    return;
                }
            }
        });
    }
}
