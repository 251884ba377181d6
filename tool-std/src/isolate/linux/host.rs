//! The host's side: starts the helper and gives it the job.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::namespaces::{NET, PID};
use super::remote::Remote;
use crate::isolate::error::IsolateError;
use crate::isolate::isolation::{Helper, Mechanism};
use crate::isolate::job::{Job, Network};
use crate::isolate::modes::HELPER;
use crate::isolate::running::{Hold, Running};
use crate::isolate::wire::{Event, Failure, Held, InForce, Spec, frame};

/// How long a helper may take to start a job: a machine under load is slow, a program that is no helper never answers.
const START: Duration = Duration::from_secs(20);
pub(in crate::isolate) async fn start(
    path: &Path,
    job: &Job,
    settings: &Helper,
) -> Result<Running, IsolateError> {
    let reason = match attempt(path, job, settings, None).await? {
        Attempt::Runs(running) => return Ok(running),
        Attempt::NoNamespaces(reason) => reason,
    };
    match attempt(path, job, settings, Some(reason)).await? {
        Attempt::Runs(running) => Ok(running),
        Attempt::NoNamespaces(reason) => Err(IsolateError::Helper(reason)),
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
    let child = helper(path, &spec.cgroups, wanted, theirs)
        .map_err(|error| IsolateError::Helper(format!("`{}`: {error}", path.display())))?;
    let (stdin, input) = stdin(job)?;
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let cgroups = spec.cgroups.clone();
    let spec = frame(&spec)?;
    send_first(&ours, &spec[..4], [input, out.into(), err.into()]).map_err(no_helper)?;
    ours.set_nonblocking(true)?;
    let mut remote = Remote::new(child, UnixStream::from_std(ours)?, job.deadline, cgroups);
    let mut held = match timeout(START, remote.first(&spec[4..])).await {
        Ok(Ok(Some(Event::Started(held)))) => *held,
        first => {
            remote.clear_up().await;
            return match first {
                Ok(Ok(Some(Event::Failed(Failure::Namespaces(reason))))) => {
                    Ok(Attempt::NoNamespaces(reason))
                }
                Ok(Ok(Some(Event::Failed(failure)))) => Err(failed(job, failure)),
                Ok(Ok(_)) => Err(no_helper("it went away")),
                Ok(Err(error)) => Err(no_helper(error)),
                Err(_) => Err(IsolateError::Helper(format!(
                    "no answer within {} s",
                    START.as_secs()
                ))),
            };
        }
    };
    if let Some(reason) = no_namespaces {
        lacks(&mut held, &asked, &reason);
    }
    remote.runs(held);
    Ok(Attempt::Runs(Running::new(
        Hold::Remote(Box::new(remote)),
        stdin,
        pipe::Receiver::from_owned_fd(stdout.into())?,
        pipe::Receiver::from_owned_fd(stderr.into())?,
    )))
}

fn no_helper(why: impl std::fmt::Display) -> IsolateError {
    IsolateError::Helper(format!(
        "{why}: it was killed, or the first line of its `main` is not `tool_std::helper();`"
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
fn helper(path: &Path, cgroups: &str, namespaces: &[&str], socket: StdStream) -> io::Result<Child> {
    Command::new(path)
        .args([HELPER, cgroups])
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
        (PID, &mut held.ipc_namespace),
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
        requires_unix_sockets: settings.requires(Mechanism::UnixSockets),
        cgroups: unique(),
    }
}

/// A name for the cgroups of one job. A part of it is random: what an earlier host with the same number has left is not in the way.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The keys of a hasher come from the system's random numbers.
    let random = RandomState::new().hash_one(SystemTime::now());
    format!("tool-std-{}-{count}-{random:016x}", std::process::id())
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
