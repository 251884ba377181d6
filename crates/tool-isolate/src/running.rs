//! The handle on a running job.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf};
use tokio::net::unix::pipe;
use tokio::time::Instant;

use crate::ended::Ended;
use crate::error::IsolateError;
use crate::group::Group;
use crate::job::Pipes;
#[cfg(target_os = "linux")]
use crate::linux::remote::Remote;
use crate::time::past;
use crate::wire::InForce;

/// A running job, with the host's ends of its pipes. Dropping it kills the job and all its descendants; with
/// [`Isolation::GroupOnly`](super::Isolation::GroupOnly), it kills the process group of the job.
#[derive(Debug)]
pub struct Running {
    /// The job's standard input, if [`Job::stdin`](super::Job::stdin) was set.
    pub stdin: Option<pipe::Sender>,
    /// The job's standard output.
    pub stdout: Option<pipe::Receiver>,
    /// The job's standard error.
    pub stderr: Option<pipe::Receiver>,
    hold: Backend,
    ended: Option<Ended>,
}

#[derive(Debug)]
pub(super) enum Backend {
    #[cfg(target_os = "linux")]
    Remote(Box<Remote>),
    Group(Group),
}

/// An output stream of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The standard output of the program.
    Stdout,
    /// The standard error of the program.
    Stderr,
}

impl Running {
    pub(super) fn new(hold: Backend, pipes: Pipes) -> Self {
        let Pipes {
            stdin,
            stdout,
            stderr,
        } = pipes;
        Self {
            stdin,
            stdout: Some(stdout),
            stderr: Some(stderr),
            hold,
            ended: None,
        }
    }

    /// Reads the next output from either pipe into `buffer`, and returns the stream and the number of bytes. Returns `None` when both pipes have
    /// ended, or when no process of the job is left that could write. If the helper is lost, [`wait`](Self::wait) reports it.
    ///
    /// Cancel safe. Pipes that were taken out count as ended.
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

    /// Reads the last output directly from the kernel, because the runtime may not have been notified of it yet.
    fn rest(&mut self, buffer: &mut [u8]) -> Option<(Stream, usize)> {
        [Stream::Stdout, Stream::Stderr]
            .into_iter()
            .find_map(|stream| {
                let open = self.pipe(stream).as_ref()?;
                let read = rustix::io::read(open, &mut *buffer).ok()?;
                (read > 0).then_some((stream, read))
            })
    }

    /// Completes when no process of the job can have the pipes open, except a process that has left the job's group or was not under the
    /// helper's control.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.hold {
            #[cfg(target_os = "linux")]
            Backend::Remote(remote) => remote.poll_gone(cx),
            Backend::Group(group) => {
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

    /// Returns the time after which the helper counts as failed. It is `None` without a helper, and for a job that was not killed and has no deadline
    /// or whose deadline is too far in the future.
    fn latest(&self) -> Option<Instant> {
        match &self.hold {
            #[cfg(target_os = "linux")]
            Backend::Remote(remote) => remote.latest(),
            // The task of the group enforces the deadline.
            Backend::Group(_) => None,
        }
    }

    /// Waits until no process of the job is left; with [`Isolation::GroupOnly`](super::Isolation::GroupOnly), until its process group was
    /// killed. Cancel safe: if the future is dropped, the job keeps running, and the next call returns how it ended.
    ///
    /// # Errors
    ///
    /// Fails if the helper was lost or the runtime was shut down; with [`Isolation::GroupOnly`](super::Isolation::GroupOnly), also if the system
    /// cannot wait for the process.
    pub async fn wait(&mut self) -> Result<Ended, IsolateError> {
        if let Some(ended) = self.ended {
            return Ok(ended);
        }
        let ended = match &mut self.hold {
            #[cfg(target_os = "linux")]
            Backend::Remote(remote) => remote.wait().await?,
            Backend::Group(group) => poll_fn(|cx| group.poll_ended(cx)).await?,
        };
        self.ended = Some(ended);
        Ok(ended)
    }

    /// Kills the job and all its descendants; with [`Isolation::GroupOnly`](super::Isolation::GroupOnly), its process group. [`wait`](Self::wait)
    /// returns when they have ended.
    pub fn kill(&mut self) {
        match &mut self.hold {
            #[cfg(target_os = "linux")]
            Backend::Remote(remote) => remote.kill(),
            Backend::Group(group) => group.kill(),
        }
    }

    /// Returns the id, in the host's PID namespace, of the process that represents the job: the helper, the supervisor if the host
    /// creates the namespaces itself, or with [`Isolation::GroupOnly`](super::Isolation::GroupOnly) the job's first process. `None`
    /// after that process has been waited for.
    pub fn id(&self) -> Option<u32> {
        match &self.hold {
            #[cfg(target_os = "linux")]
            Backend::Remote(remote) => remote.id(),
            Backend::Group(group) => group.id().filter(|_| self.ended.is_none()),
        }
    }

    /// Writes `input` to the job's standard input in a background task and then closes it. Does nothing if [`stdin`](Self::stdin) is `None`.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime, unless [`stdin`](Self::stdin) is `None`.
    pub fn feed(&mut self, input: Vec<u8>) {
        if let Some(mut stdin) = self.stdin.take() {
            // A job may stop reading, which breaks the pipe; that is not an error.
            tokio::spawn(async move { stdin.write_all(&input).await });
        }
    }

    /// Returns the mechanisms that are in force for the job.
    pub(super) fn held(&self) -> &InForce {
        match &self.hold {
            #[cfg(target_os = "linux")]
            Backend::Remote(remote) => remote.held(),
            Backend::Group(group) => group.held(),
        }
    }
}
