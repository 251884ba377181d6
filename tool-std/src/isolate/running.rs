//! A job that runs.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf};
use tokio::net::unix::pipe;
use tokio::time::Instant;

use super::error::IsolateError;
use super::group::Group;
#[cfg(target_os = "linux")]
use super::linux::remote::Remote;
use super::wire::InForce;

/// A job that runs, with the host's ends of its pipes. Dropping it ends the job and all that descends from it.
#[derive(Debug)]
pub struct Running {
    /// Where the job reads from, if the job asked for it.
    pub stdin: Option<pipe::Sender>,
    /// What the job writes to standard output.
    pub stdout: Option<pipe::Receiver>,
    /// What the job writes to standard error.
    pub stderr: Option<pipe::Receiver>,
    hold: Hold,
    ended: Option<Ended>,
}

#[derive(Debug)]
pub(super) enum Hold {
    #[cfg(target_os = "linux")]
    Remote(Box<Remote>),
    Group(Group),
}

/// Which of the two a job wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What its first process left behind.
    pub exit: Exit,
    /// Who ended it.
    pub because: Cause,
    /// The kernel killed something of it because it had used up its memory. Not known without a memory cgroup.
    pub out_of_memory: bool,
}

impl Ended {
    /// The job ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && self.because == Cause::Itself
    }
}

/// What the first process of a job left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// An exit code.
    Code(i32),
    /// The signal that killed it.
    Signal(i32),
}

/// Who ended a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its first process ended.
    Itself,
    /// Its deadline passed; this long it was.
    Deadline(Duration),
    /// The host killed it.
    Killed,
}

impl Running {
    pub(super) fn new(
        hold: Hold,
        stdin: Option<pipe::Sender>,
        stdout: pipe::Receiver,
        stderr: pipe::Receiver,
    ) -> Self {
        Self {
            stdin,
            stdout: Some(stdout),
            stderr: Some(stderr),
            hold,
            ended: None,
        }
    }

    /// Reads what comes next from either pipe into `buffer`: which one it was, and how many bytes. `None` when both have ended, and when
    /// nothing is left that could write: where the job's helper is lost, [`wait`](Self::wait) says so.
    ///
    /// Dropping the future loses nothing. Where the pipes were taken out, they count as ended.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(Stream, usize)>> {
        let mut late = pin!(past(self.latest()));
        poll_fn(|cx| {
            for stream in [Stream::Stdout, Stream::Stderr] {
                let pipe = self.pipe(stream);
                let Some(open) = pipe else { continue };
                let mut read = ReadBuf::new(buffer);
                match Pin::new(open).poll_read(cx, &mut read) {
                    Poll::Ready(Ok(())) if read.filled().is_empty() => *pipe = None,
                    Poll::Ready(Ok(())) => {
                        return Poll::Ready(Ok(Some((stream, read.filled().len()))));
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {}
                }
            }
            let open = self.stdout.is_some() || self.stderr.is_some();
            if open && self.poll_over(cx).is_pending() && late.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            Poll::Ready(Ok(self.rest(buffer)))
        })
        .await
    }

    fn pipe(&mut self, stream: Stream) -> &mut Option<pipe::Receiver> {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// What was written last, of which the runtime may not have heard yet: the kernel is asked.
    fn rest(&mut self, buffer: &mut [u8]) -> Option<(Stream, usize)> {
        [Stream::Stdout, Stream::Stderr]
            .into_iter()
            .find_map(|stream| {
                let open = self.pipe(stream).as_ref()?;
                let read = rustix::io::read(open, &mut *buffer).ok()?;
                (read > 0).then_some((stream, read))
            })
    }

    /// Ready when whoever still holds the pipes has left the job's group, or is nobody that the helper has held.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.hold {
            #[cfg(target_os = "linux")]
            Hold::Remote(remote) => remote.poll_gone(cx),
            Hold::Group(group) => {
                if self.ended.is_none()
                    && let Poll::Ready(Ok(ended)) = group.poll_ended(cx)
                {
                    self.ended = Some(ended);
                }
                match self.ended {
                    Some(_) => Poll::Ready(()),
                    None => Poll::Pending,
                }
            }
        }
    }

    /// When the job is over at the latest.
    fn latest(&self) -> Option<Instant> {
        match &self.hold {
            #[cfg(target_os = "linux")]
            Hold::Remote(remote) => remote.latest(),
            // A task of the host's own sees to it.
            Hold::Group(_) => None,
        }
    }

    /// Waits until nothing of the job is left. Dropping the future neither ends the job nor loses how it ended: the next call says it.
    ///
    /// # Errors
    ///
    /// The helper was lost.
    pub async fn wait(&mut self) -> Result<Ended, IsolateError> {
        if let Some(ended) = self.ended {
            return Ok(ended);
        }
        let ended = match &mut self.hold {
            #[cfg(target_os = "linux")]
            Hold::Remote(remote) => remote.wait().await?,
            Hold::Group(group) => poll_fn(|cx| group.poll_ended(cx)).await?,
        };
        self.ended = Some(ended);
        Ok(ended)
    }

    /// Kills the job and all that descends from it; [`wait`](Self::wait) says when that is done.
    pub fn kill(&mut self) {
        match &mut self.hold {
            #[cfg(target_os = "linux")]
            Hold::Remote(remote) => remote.kill(),
            Hold::Group(group) => group.kill(),
        }
    }

    /// The process that holds the job, as the host sees it: the helper, or with [`Isolation::GroupOnly`](super::Isolation::GroupOnly)
    /// the job's first process. `None` once it has been waited for.
    pub fn id(&self) -> Option<u32> {
        match &self.hold {
            #[cfg(target_os = "linux")]
            Hold::Remote(remote) => remote.id(),
            Hold::Group(group) => group.id().filter(|_| self.ended.is_none()),
        }
    }

    /// Writes all of it to the job's standard input beside everything else, and ends that.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn feed(&mut self, input: Vec<u8>) {
        if let Some(mut stdin) = self.stdin.take() {
            // A job that reads no further breaks the pipe, which is its right.
            tokio::spawn(async move { stdin.write_all(&input).await });
        }
    }

    /// What holds the job.
    pub(super) fn held(&self) -> &InForce {
        match &self.hold {
            #[cfg(target_os = "linux")]
            Hold::Remote(remote) => remote.held(),
            Hold::Group(group) => group.held(),
        }
    }
}

/// Ready past this.
pub(super) async fn past(latest: Option<Instant>) {
    match latest {
        Some(latest) => tokio::time::sleep_until(latest).await,
        None => std::future::pending().await,
    }
}
