//! A job in a helper's hands, as the host has it: hears how it goes, and sees to what is left where the helper is lost.

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
use crate::isolate::error::IsolateError;
use crate::isolate::running::{Cause, Ended, Exit, past};
use crate::isolate::wire::{Because, Event, InForce, take_frame};

/// How long a helper may take to end a job: a process in the kernel's hands dies when they let go.
const END: Duration = Duration::from_secs(20);

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
    /// Past this, the helper has failed to end the job. A deadline that no clock reaches has none.
    latest: Option<Instant>,
    /// How the job ended, as the helper has told.
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

    /// Sends the rest of the job and hears what became of it.
    pub(super) async fn first(&mut self, rest: &[u8]) -> io::Result<Option<Event>> {
        // A helper that takes no job may have said why.
        let sent = self.stream.write_all(rest).await;
        match poll_fn(|cx| self.poll_next(cx)).await {
            Ok(Some(event)) => Ok(Some(event)),
            other => sent.and(other),
        }
    }

    /// The job runs.
    pub(super) fn runs(&mut self, held: InForce) {
        self.held = held;
        self.latest = self
            .deadline
            .and_then(|after| Instant::now().checked_add(after)?.checked_add(END));
    }

    /// The helper's next event, `None` where it has gone.
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

    /// Ready when the helper is gone, and with it all that it has held; what it has told is kept.
    pub(in crate::isolate) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
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

    /// Past this, one waits for the helper in vain.
    pub(in crate::isolate) fn latest(&self) -> Option<Instant> {
        self.latest
    }

    /// Dropping the future loses nothing: what was heard is kept, and what is left undone the next call does.
    pub(in crate::isolate) async fn wait(&mut self) -> Result<Ended, IsolateError> {
        let mut late = pin!(past(self.latest));
        poll_fn(|cx| {
            let gone = self.poll_gone(cx);
            if self.ended.is_some() || gone.is_ready() {
                return Poll::Ready(());
            }
            // Too late is as good as gone: what was heard is looked at afterwards.
            late.as_mut().poll(cx)
        })
        .await;
        if let Some(ended) = self.ended
            && timeout(END, self.child.wait()).await.is_ok()
        {
            self.cgroups = None;
            return Ok(ended);
        }
        // A namespace ends with its helper; once that is gone, so is everything in it.
        self.clear_up().await;
        self.ended = None;
        Err(IsolateError::Lost(String::from(
            "it was killed, or something that it was to kill does not die",
        )))
    }

    /// Ends a helper that has failed, kills what it has left in the job's cgroups, and removes them.
    pub(super) async fn clear_up(&mut self) {
        let _ = self.child.start_kill();
        let _ = timeout(END, self.child.wait()).await;
        let Some(name) = &self.cgroups else { return };
        let cgroups = Cgroups::left_behind(name);
        cgroups.kill();
        let _ = spawn_blocking(move || cgroups.clear()).await;
        self.cgroups = None;
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

/// A helper that is there ends the job and clears up when the host's end of the socket closes. One that is lost cannot, and one that was killed is still
/// there until the last of its threads has ended.
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
        // Where no thread can be started, empty cgroups stay: they hold nothing.
        let _ = Builder::new().spawn(move || cgroups.clear());
    }
}
