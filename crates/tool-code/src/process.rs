//! The engine's child process, and the messages over its pipes.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tool_core::ToolError;
use tool_isolate::{Cause, Ended, Exit, Isolation, Job, Limits as JobLimits, Running, Stream};

use crate::limits::Limits;
use crate::outcome::{CodeError, Status};
use crate::protocol::{self, Done, ToEngine, ToHost};

/// The mode in which the host's binary runs the engine.
pub(crate) const ENGINE: &str = "tool-code-engine";

tool_isolate::mode!(ENGINE, crate::engine::main);

/// Time that the process gets after its deadline or a request to terminate to report how the run ended, before it is killed.
pub(crate) const GRACE: Duration = Duration::from_millis(150);

/// Maximum length of the standard error output that is stored for the operator, in bytes.
const COMPLAINT: usize = 4096;

/// A child process that runs code.
pub(crate) struct Process {
    running: Running,
    stdin: tokio::net::unix::pipe::Sender,
    /// The buffer for the next read.
    chunk: Vec<u8>,
    heard: Vec<u8>,
    complaint: Vec<u8>,
    most: usize,
    /// Frames that are not completely written.
    outbox: VecDeque<Vec<u8>>,
    /// How many bytes of the first frame in `outbox` are already written.
    written: usize,
}

/// An event of the child process.
pub(crate) enum Event {
    /// The process sent a message.
    Said(ToHost),
    /// The process sent bytes that are not a valid message.
    Nonsense(io::Error),
    /// The process closed its output, or its output cannot be read.
    Closed,
}

impl Process {
    pub(crate) async fn start(isolation: &Isolation, limits: &Limits) -> Result<Self, ToolError> {
        // The limit also covers the stack of the engine's thread, the compiler's syntax trees, and messages in transit.
        let memory = (limits.memory as u64)
            .saturating_mul(4)
            .saturating_add(512 << 20);
        let job_limits = JobLimits::default()
            .memory(memory)
            .processes(16)
            .open_files(64)
            .file_size(0);
        let job = Job::this(ENGINE)
            .stdin()
            .limits(job_limits)
            .deadline(limits.time.saturating_add(GRACE * 2));
        let mut running = isolation.spawn(job).await.map_err(|error| {
            ToolError::unavailable("the engine's process")
                .operator(format!("it did not start: {error}"))
        })?;
        let stdin = running
            .stdin
            .take()
            .ok_or_else(|| ToolError::unavailable("the engine's standard input"))?;
        Ok(Self {
            running,
            stdin,
            chunk: vec![0; 16 << 10],
            heard: Vec::new(),
            complaint: Vec::new(),
            most: limits.frame(),
            outbox: VecDeque::new(),
            written: 0,
        })
    }

    /// Queues a message; [`next`](Self::next) sends it.
    pub(crate) fn send(&mut self, message: &ToEngine) -> io::Result<()> {
        self.outbox.push_back(protocol::frame(message)?);
        Ok(())
    }

    /// Writes the queued messages until the next event of the process, and returns the event. Cancel safe.
    pub(crate) async fn next(&mut self) -> Event {
        loop {
            match self.frame() {
                Ok(Some(message)) => return Event::Said(message),
                Ok(None) => {}
                Err(error) => return Event::Nonsense(error),
            }
            let writing = async {
                match self.outbox.front() {
                    Some(frame) => self.stdin.write(&frame[self.written..]).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                read = self.running.read(&mut self.chunk) => match read {
                    Ok(Some((Stream::Stdout, read))) => self.heard.extend_from_slice(&self.chunk[..read]),
                    Ok(Some((Stream::Stderr, read))) => {
                        let room = COMPLAINT.saturating_sub(self.complaint.len());
                        self.complaint.extend_from_slice(&self.chunk[..read.min(room)]);
                    }
                    Ok(None) | Err(_) => return Event::Closed,
                },
                written = writing => match written {
                    Ok(written) => {
                        self.written += written;
                        if self.outbox.front().is_some_and(|frame| frame.len() <= self.written) {
                            self.outbox.pop_front();
                            self.written = 0;
                        }
                    }
                    // The process no longer reads, but the pipe may still contain its earlier messages.
                    Err(_) => self.outbox.clear(),
                },
            }
        }
    }

    /// Returns the next message if it is complete.
    fn frame(&mut self) -> io::Result<Option<ToHost>> {
        let Some(head) = self.heard.first_chunk::<4>() else {
            return Ok(None);
        };
        let end = 4 + protocol::length(*head, self.most)?;
        let Some(bytes) = self.heard.get(4..end) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(bytes)?;
        self.heard.drain(..end);
        Ok(Some(message))
    }

    /// Kills the process and its descendants, and waits until all have ended.
    pub(crate) async fn end(&mut self) -> Option<Ended> {
        self.running.kill();
        self.running.wait().await.ok()
    }

    /// Waits for a process that has closed its pipes; kills it after the grace period.
    pub(crate) async fn wait(&mut self) -> Option<Ended> {
        match tokio::time::timeout(GRACE, self.running.wait()).await {
            Ok(ended) => ended.ok(),
            Err(_) => self.end().await,
        }
    }

    /// Returns the first 4,096 bytes of the process's standard error output, for the operator.
    pub(crate) fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.complaint).into_owned()
    }

    /// Returns the result of a run whose process ended without reporting a result.
    pub(crate) fn post_mortem(&self, ended: Option<Ended>, started: bool) -> Done {
        post_mortem(&self.complaint(), ended, started)
    }
}

fn post_mortem(complaint: &str, ended: Option<Ended>, started: bool) -> Done {
    const SIGKILL: i32 = 9;
    let error = |text: &str| CodeError::new("InternalError", text);
    let has_no_memory = complaint.contains("memory allocation of");
    // A process that the host kills because it has closed its pipes and does not exit ends with the same signal.
    let itself = ended.filter(|ended| ended.because == Cause::Itself);
    let out_of_memory = ended.is_some_and(|ended| ended.out_of_memory);
    match itself.map(|ended| ended.exit) {
        // Without a memory cgroup, the kernel does not report why it has killed a process.
        exit if out_of_memory || exit == Some(Exit::Signal(SIGKILL)) => Done::failed(
            Status::Memory,
            error(
                "the process of the run exceeded its memory limit: store less data at once, work in parts",
            ),
        ),
        _ if has_no_memory => Done::failed(
            Status::Memory,
            error(
                "the process of the run had no memory left: store less data at once, work in parts",
            ),
        ),
        Some(Exit::Signal(_)) if !started => Done::failed(
            Status::Error,
            error("the code is nested too deeply to be compiled: use fewer levels"),
        ),
        _ => Done::failed(
            Status::Error,
            error("the engine's process ended before the code finished: do less in one run"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S4-06: a process that the host kills has not exceeded its memory limit.
    #[test]
    fn kill_by_the_host_is_not_a_lack_of_memory() {
        let cases = [
            (Exit::Signal(9), Cause::Killed, false, Status::Error),
            (Exit::Signal(9), Cause::Killed, true, Status::Memory),
            (Exit::Signal(9), Cause::Itself, false, Status::Memory),
            (Exit::Signal(11), Cause::Itself, false, Status::Error),
            (Exit::Code(1), Cause::Itself, true, Status::Memory),
        ];
        for (exit, because, out_of_memory, status) in cases {
            let ended = Ended {
                exit,
                because,
                out_of_memory,
            };
            for started in [true, false] {
                let done = post_mortem("", Some(ended), started);
                assert_eq!(done.status, status, "{ended:?}");
                let text = done.error.map_or_else(String::new, |error| error.message);
                let is_nested = text.contains("nested");
                assert_eq!(is_nested, exit == Exit::Signal(11) && !started, "{ended:?}");
            }
        }
    }
}
