//! The host's side of the helper: starts it and sends it the job.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Builder;
use std::time::{Duration, SystemTime};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::namespaces::{NET, Namespaces, OF_HOST, PID};
use super::remote::Remote;
use crate::error::IsolateError;
use crate::job::{Job, Network, Pipes};
use crate::mechanism::Mechanism;
use crate::wire::{Event, Failure, HELPER, Held, InForce, Spec, frame};

/// Timeout for a helper to start a job: a machine under load is slow, and a program that is not a helper never responds.
const START: Duration = Duration::from_secs(20);

/// The host's choice of mechanisms.
pub(crate) struct Settings {
    /// The mechanisms that the host has not turned off.
    pub(crate) mechanisms: Vec<Mechanism>,
    pub(crate) requires_unix_sockets: bool,
}

pub(crate) async fn start(
    path: &Path,
    job: &Job,
    settings: &Settings,
) -> Result<(Box<Remote>, Pipes), IsolateError> {
    let mut way = if ONLY_HELPERS.load(Ordering::Relaxed) {
        NamespaceCreator::Helper
    } else {
        NamespaceCreator::Thread
    };
    loop {
        let reason = match attempt(path, job, settings, &way).await? {
            Attempt::Runs(remote, pipes) => return Ok((remote, pipes)),
            Attempt::NoNamespaces(reason) => reason,
        };
        way = match way {
            NamespaceCreator::Thread => {
                ONLY_HELPERS.store(true, Ordering::Relaxed);
                NamespaceCreator::Helper
            }
            NamespaceCreator::Helper => NamespaceCreator::None(reason),
            NamespaceCreator::None(_) => return Err(IsolateError::Helper(reason)),
        };
    }
}

/// Whether helpers have to create the namespaces, because the supervisor cannot work in namespaces that this host creates.
static ONLY_HELPERS: AtomicBool = AtomicBool::new(false);

/// The process that creates the namespaces of a job.
#[derive(Debug)]
enum NamespaceCreator {
    /// A thread of this process creates them if it has the rights; otherwise the helper does.
    Thread,
    Helper,
    /// No namespaces are created, for this reason.
    None(String),
}

enum Attempt {
    Runs(Box<Remote>, Pipes),
    /// The reason why a helper cannot work with the requested namespaces.
    NoNamespaces(String),
}

/// Starts a helper and sends it a job.
async fn attempt(
    path: &Path,
    job: &Job,
    settings: &Settings,
    way: &NamespaceCreator,
) -> Result<Attempt, IsolateError> {
    let (ours, theirs) = StdStream::pair()?;
    let spec = spec(job, settings);
    let asked = asked(&spec);
    let child = match way {
        // Only a PID namespace needs a new process inside of it. The helper can create all other namespaces for itself.
        NamespaceCreator::Thread if asked.contains(&PID) => {
            in_thread(path, &spec.cgroups, asked.clone(), theirs).await
        }
        NamespaceCreator::Thread | NamespaceCreator::Helper => {
            helper(path, &spec.cgroups, &asked, theirs)
        }
        NamespaceCreator::None(_) => helper(path, &spec.cgroups, &[], theirs),
    };
    let child =
        child.map_err(|error| IsolateError::Helper(format!("`{}`: {error}", path.display())))?;
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
                Ok(Ok(_)) => Err(no_helper("its first message is missing or unexpected")),
                Ok(Err(error)) => Err(no_helper(error)),
                Err(_) => Err(IsolateError::Helper(format!(
                    "no response within {} s",
                    START.as_secs()
                ))),
            };
        }
    };
    if let NamespaceCreator::None(reason) = way {
        lacks(&mut held, &asked, reason);
    }
    remote.runs(held);
    let pipes = Pipes {
        stdin,
        stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
        stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
    };
    Ok(Attempt::Runs(Box::new(remote), pipes))
}

fn no_helper(why: impl std::fmt::Display) -> IsolateError {
    IsolateError::Helper(format!(
        "{why}: it was killed, or the first line of its `main` is not `tool_isolate::helper();` (or `tool_std::helper();`)"
    ))
}

/// Returns the namespaces to request from a helper, as its arguments.
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

/// Starts the supervisor in namespaces that a thread of this process creates, or the helper if this process may not create them. The thread stays in
/// the namespaces until it ends, so a new thread is required.
async fn in_thread(
    path: &Path,
    cgroups: &str,
    asked: Vec<&'static str>,
    socket: StdStream,
) -> io::Result<Child> {
    let (tell, started) = oneshot::channel();
    let (path, cgroups) = (path.to_owned(), cgroups.to_owned());
    let runtime = Handle::current();
    Builder::new().spawn(move || {
        let _runtime = runtime.enter();
        let child = match Namespaces::of_thread(&asked) {
            Some(made) => made.inside().and_then(|inside| {
                spawn(
                    &path,
                    inside.iter().map(|arg| &**arg).chain([OF_HOST]),
                    socket,
                )
            }),
            None => helper(&path, &cgroups, &asked, socket),
        };
        // If the caller was dropped, the other end of the socket is closed and the supervisor exits.
        let _ = tell.send(child);
    })?;
    started.await.map_err(io::Error::other)?
}

/// Starts the helper process.
fn helper(path: &Path, cgroups: &str, namespaces: &[&str], socket: StdStream) -> io::Result<Child> {
    let args = [HELPER, cgroups]
        .into_iter()
        .chain(namespaces.iter().copied());
    spawn(path, args, socket)
}

/// Starts a process with its end of the socket as standard input and an empty environment.
fn spawn<'a>(
    path: &Path,
    args: impl Iterator<Item = &'a str>,
    socket: StdStream,
) -> io::Result<Child> {
    Command::new(path)
        .args(args)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Records the requested namespaces as not in force, with the reason.
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

fn spec(job: &Job, settings: &Settings) -> Spec {
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
        mechanisms: settings.mechanisms.clone(),
        requires_unix_sockets: settings.requires_unix_sockets,
        cgroups: unique(),
    }
}

/// Returns a name for the cgroups of one job. A part of it is random, so that leftovers of an earlier host with the same process id do not conflict.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The keys of a hasher come from the system's random number generator.
    let random = RandomState::new().hash_one(SystemTime::now());
    format!("tool-isolate-{}-{count}-{random:016x}", std::process::id())
}

/// Sends the head of the first frame together with the job's ends of its pipes. The socket is empty, so this does not block.
fn send_first(socket: &StdStream, head: &[u8], files: [OwnedFd; 3]) -> io::Result<()> {
    let borrowed = files.each_ref().map(OwnedFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other(
            "the control message cannot contain three file descriptors",
        ));
    }
    let sent = rustix::net::sendmsg(
        socket,
        &[IoSlice::new(head)],
        &mut beside,
        SendFlags::empty(),
    )?;
    // The helper has the job's ends of the pipes now. If a copy stayed open here, reads from the pipes would never report the end.
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
