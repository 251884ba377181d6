//! The supervisor process: starts one job, ends all of the job's processes, and exits.

use std::fs;
use std::io::{self, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process,
    set_child_subreaper, set_dumpable_behavior, setsid, wait,
};

use super::cgroups::Cgroups;
use super::namespaces::Namespaces;
use super::start::start;
use crate::ended::Exit;
use crate::wire::{Because, Event, Failure, InForce, Spec, frame, read_frame};

/// An event that the supervisor waits for.
enum ProcessEvent {
    /// A child process has exited or was killed by a signal.
    Reaped(Pid, Exit),
    /// No child process is left, and therefore no descendant of the job.
    Alone,
    /// The host has died, or requests the end of the job.
    HostGone,
}

/// Runs one job for the host at the other end of standard input, and returns the exit code.
pub(super) fn supervise(namespaces: Namespaces) -> u8 {
    // A new session has no controlling terminal and receives no signals from one.
    let _ = setsid();
    // Other processes of the user must not read the job's environment from this process's memory.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        return refuse(Failure::Helper(format!(
            "orphaned processes of the job cannot be adopted: {error}"
        )));
    }
    let Ok(socket) = socket() else { return 2 };
    let Ok((spec, files)) = receive(&socket) else {
        return 2;
    };
    match Listener::new(&socket) {
        Ok(listener) => serve(&socket, &spec, files, namespaces, listener),
        Err(error) => {
            let why = Failure::Helper(format!("no thread can be started: {error}"));
            u8::from(tell(&socket, &Event::Failed(why)).is_err())
        }
    }
}

fn serve(
    socket: &UnixStream,
    spec: &Spec,
    files: Vec<OwnedFd>,
    namespaces: Namespaces,
    mut listener: Listener,
) -> u8 {
    // Without a `/proc` of the namespace, its first process cannot find the ids of the others. So it only exits, which kills all other processes of
    // the namespace.
    let only_ends = namespaces.is_first() && !namespaces.proc_mount.is_yes();
    let mut held = InForce::default();
    let cgroups = Cgroups::make(spec, &mut held);
    let deadline = spec.deadline_ms.map(Duration::from_millis);
    let began = Instant::now();
    let started = start(spec, files, namespaces, &cgroups, held);
    listener.begin(started.as_ref().ok().map(|started| started.job));
    let (because, failure) = match started {
        Ok(started) => {
            let because = match tell(socket, &Event::Started(Box::new(started.held))) {
                Ok(()) => listener.until(deadline.and_then(|after| began.checked_add(after))),
                Err(_) => Because::Host,
            };
            (because, None)
        }
        Err(failure) => (Because::Itself, Some(failure)),
    };
    let failed = failure.is_some();
    if !failed {
        cgroups.kill();
    }
    if !only_ends {
        listener.end_all();
    }
    let last = match failure {
        Some(failure) => Event::Failed(failure),
        None => Event::Ended {
            exit: listener.exit,
            because,
            out_of_memory: cgroups.ran_out_of_memory(),
        },
    };
    // This fails if the host has died.
    let told = tell(socket, &last);
    if failed {
        // Starting the job may have failed while this process was in the cgroup, so the cgroup is killed only after the report.
        cgroups.kill();
    }
    // If `only_ends` is true, the exit of this process kills all others, and the process that waits for it removes the cgroups.
    if !only_ends {
        cgroups.clear();
    }
    u8::from(told.is_err())
}

fn socket() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Reports to the host the reason why no job can be started, and returns the exit code.
pub(super) fn refuse(failure: Failure) -> u8 {
    let Ok(socket) = socket() else { return 2 };
    // Closing a socket with unread data would reset the connection for the other end.
    let _ = receive(&socket);
    // If this fails too, the host reports that the helper was lost.
    let _ = tell(&socket, &Event::Failed(failure));
    2
}

/// Receives the job and its three standard files.
fn receive(socket: &UnixStream) -> io::Result<(Spec, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut length)],
        &mut beside,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let files: Vec<_> = beside
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        })
        .flatten()
        .collect();
    if got.bytes != length.len() || files.len() != 3 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((read_frame(length, socket)?, files))
}

fn tell(mut socket: &UnixStream, event: &Event) -> io::Result<()> {
    socket.write_all(&frame(event)?)
}

/// Starts two threads. The first waits until the host's end of the socket is closed. The second waits for a message from `word`, and then for child
/// processes. Both are started before the job, because the job's limits may prevent the start of a thread.
fn watch(socket: &UnixStream, happens: Sender<ProcessEvent>, word: Receiver<()>) -> io::Result<()> {
    let heard = happens.clone();
    let socket = socket.try_clone()?;
    Builder::new().spawn(move || {
        // The host sends no more data, so any result of the read means that the job has to end.
        let _ = io::Read::read(&mut &socket, &mut [0]);
        heard.send(ProcessEvent::HostGone)
    })?;
    Builder::new().spawn(move || {
        if word.recv().is_err() {
            return;
        }
        loop {
            let happening = match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => match exit_of(status) {
                    Some(exit) => ProcessEvent::Reaped(pid, exit),
                    None => continue,
                },
                Ok(None) | Err(rustix::io::Errno::INTR) => continue,
                Err(_) => ProcessEvent::Alone,
            };
            let alone = matches!(happening, ProcessEvent::Alone);
            if happens.send(happening).is_err() || alone {
                return;
            }
        }
    })?;
    Ok(())
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    status
        .exit_status()
        .map(Exit::Code)
        .or_else(|| status.terminating_signal().map(Exit::Signal))
}

struct Listener {
    happening: Receiver<ProcessEvent>,
    begin: Sender<()>,
    job: Option<Pid>,
    exit: Option<Exit>,
    alone: bool,
}

impl Listener {
    fn new(socket: &UnixStream) -> io::Result<Self> {
        let (happens, happening) = mpsc::channel();
        let (begin, word) = mpsc::channel();
        watch(socket, happens, word)?;
        Ok(Self {
            happening,
            begin,
            job: None,
            exit: None,
            alone: false,
        })
    }

    /// Starts waiting for child processes. `job` is one of them, if it was started.
    fn begin(&mut self, job: Option<Pid>) {
        self.job = job;
        // The thread exists as long as this value. If the thread failed, no exit would be reported, and only the deadline or the host would end the
        // job.
        let _ = self.begin.send(());
    }

    /// Waits until the job has ended, its deadline has passed, or the host has died or requests the end of the job. Returns the reason.
    fn until(&mut self, deadline: Option<Instant>) -> Because {
        loop {
            let happening = match deadline {
                None => self
                    .happening
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => self
                    .happening
                    .recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match happening {
                Ok(ProcessEvent::HostGone) | Err(RecvTimeoutError::Disconnected) => {
                    return Because::Host;
                }
                Ok(happening) => {
                    self.note(&happening);
                    if self.exit.is_some() {
                        return Because::Itself;
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Because::Deadline,
            }
        }
    }

    fn note(&mut self, happening: &ProcessEvent) {
        match happening {
            ProcessEvent::Reaped(pid, exit) if Some(*pid) == self.job => self.exit = Some(*exit),
            ProcessEvent::Reaped(..) | ProcessEvent::HostGone => {}
            ProcessEvent::Alone => self.alone = true,
        }
    }

    /// Kills child processes until none is left. An orphan becomes a child of this process, which is a subreaper.
    fn end_all(&mut self) {
        while !self.alone {
            for child in children() {
                // The process may have exited already, but its id is not reused before it is waited for.
                let _ = kill_process(child, Signal::KILL);
            }
            match self.happening.recv_timeout(Duration::from_millis(1)) {
                Ok(happening) => self.note(&happening),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(happening) = self.happening.try_recv() {
                self.note(&happening);
            }
        }
    }
}

/// Returns the child processes of all threads of this process.
fn children() -> Vec<Pid> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
    {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(
            text.split_ascii_whitespace()
                .filter_map(|pid| Pid::from_raw(pid.parse().ok()?)),
        );
    }
    found
}
