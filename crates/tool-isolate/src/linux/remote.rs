//! The host's handle on a job that runs in the helper: receives its events, and cleans up if the helper is lost.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::thread::Builder;
use std::time::Duration;

use rustix::net::Shutdown;
use tokio::io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::cgroups::Cgroups;
use crate::ended::{Cause, Ended, Exit};
use crate::error::IsolateError;
use crate::time::past;
use crate::wire::{Because, Event, InForce, take_frame};

/// Maximum time that a helper may take to end a job: a process that is blocked in the kernel dies only when the kernel call returns.
const END: Duration = Duration::from_secs(20);

/// The host's handle on a job that runs in the helper.
#[derive(Debug)]
pub(crate) struct Remote {
    child: Child,
    stream: UnixStream,
    received: Vec<u8>,
    held: InForce,
    deadline: Option<Duration>,
    /// The name of the job's cgroups, until they are known to be removed.
    cgroups: Option<String>,
    /// The time after which the helper counts as failed because it did not end the job. [`runs`](Self::runs) computes it from the job's deadline. If
    /// the job has no deadline, or its deadline is too far in the future, it is `None` until [`kill`](Self::kill) sets it.
    latest: Option<Instant>,
    /// How the job ended, as the helper reported it.
    ended: Option<Ended>,
}

impl Remote {
    pub(super) fn new(
        child: Child,
        stream: UnixStream,
        deadline: Option<Duration>,
        cgroups: String,
    ) -> Self {
        Self {
            child,
            stream,
            received: Vec::new(),
            held: InForce::default(),
            deadline,
            cgroups: Some(cgroups),
            latest: None,
            ended: None,
        }
    }

    /// Sends the rest of the frame that describes the job, and receives the helper's first event.
    pub(super) async fn first(&mut self, rest: &[u8]) -> io::Result<Option<Event>> {
        // A helper that rejects the job may have reported the reason before it closed the socket.
        let sent = self.stream.write_all(rest).await;
        match poll_fn(|cx| self.poll_next(cx)).await {
            Ok(Some(event)) => Ok(Some(event)),
            other => sent.and(other),
        }
    }

    /// Records that the job has started, and the mechanisms that are in force.
    pub(super) fn runs(&mut self, held: InForce) {
        self.held = held;
        self.latest = self
            .deadline
            .and_then(|after| Instant::now().checked_add(after)?.checked_add(END));
    }

    /// Returns the helper's next event, or `None` if the helper has closed the socket, for example because it has exited.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Event>>> {
        loop {
            if let Some(event) = take_frame(&mut self.received)? {
                return Poll::Ready(Ok(Some(event)));
            }
            let mut space = [0; 4096];
            let mut read = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(None));
            }
            self.received.extend_from_slice(read.filled());
        }
    }

    /// Completes when the helper has closed the socket. A helper exits after all processes of the job have exited. The event of the job's end is
    /// stored.
    pub(crate) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match ready!(self.poll_next(cx)) {
                Ok(Some(Event::Ended {
                    exit,
                    because,
                    out_of_memory,
                })) => {
                    self.ended = Some(Ended {
                        out_of_memory,
                        exit: exit.unwrap_or(Exit::Signal(9)),
                        because: match because {
                            Because::Itself => Cause::Itself,
                            Because::Deadline => Cause::Deadline(self.deadline.unwrap_or_default()),
                            Because::Host => Cause::Killed,
                        },
                    });
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return Poll::Ready(()),
            }
        }
    }

    /// Returns the time after which the helper counts as failed, if it is set.
    pub(crate) fn latest(&self) -> Option<Instant> {
        self.latest
    }

    /// Waits for the end of the job. Cancel safe: received events are stored, and the next call continues.
    pub(crate) async fn wait(&mut self) -> Result<Ended, IsolateError> {
        let mut late = pin!(past(self.latest));
        poll_fn(|cx| {
            let gone = self.poll_gone(cx);
            if self.ended.is_some() || gone.is_ready() {
                return Poll::Ready(());
            }
            // A timeout is treated like an exit of the helper; the events that were received are checked below.
            late.as_mut().poll(cx)
        })
        .await;
        if let Some(ended) = self.ended
            && timeout(END, self.child.wait()).await.is_ok()
        {
            self.cgroups = None;
            return Ok(ended);
        }
        // A namespace ends with its helper, so all processes in it have exited when the helper has exited.
        self.clear_up().await;
        self.ended = None;
        Err(IsolateError::Lost(String::from(
            "the helper was killed, or a process that it had to kill does not end",
        )))
    }

    /// Kills a helper that has failed and the processes that are left in the job's cgroups, and removes the cgroups.
    pub(super) async fn clear_up(&mut self) {
        let _ = self.child.start_kill();
        let _ = timeout(END, self.child.wait()).await;
        let Some(name) = &self.cgroups else { return };
        let cgroups = Cgroups::left_behind(name);
        cgroups.kill();
        let _ = spawn_blocking(move || cgroups.clear()).await;
        self.cgroups = None;
    }

    /// Closes the host's sending side of the socket, which makes the helper end the job.
    pub(crate) fn kill(&mut self) {
        let _ = rustix::net::shutdown(&self.stream, Shutdown::Write);
        let soon = Instant::now() + END;
        self.latest = Some(self.latest.map_or(soon, |latest| latest.min(soon)));
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub(crate) fn held(&self) -> &InForce {
        &self.held
    }
}

/// A running helper ends the job and cleans up when the host's end of the socket closes. A lost helper cannot do this, and a killed helper still
/// exists until the last of its threads has ended.
impl Drop for Remote {
    fn drop(&mut self) {
        let Some(name) = self.cgroups.take() else {
            return;
        };
        let is_there = matches!(self.child.try_wait(), Ok(None));
        let cgroups = Cgroups::left_behind(&name);
        if !is_there {
            cgroups.kill();
            if cgroups.remove() {
                return;
            }
        }
        // If no thread can be started, empty cgroups are left behind; they use no resources.
        let _ = Builder::new().spawn(move || cgroups.clear());
    }
}
