//! Execution of a job until it ends, and the head and tail of its output.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::ended::Ended;
use crate::error::IsolateError;
use crate::running::{Running, Stream};

/// The amount of a job's output that is kept, and the amount that the job may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Number of bytes at the beginning of each stream that are kept.
    pub head: usize,
    /// Number of bytes at the end of each stream that are kept.
    pub tail: usize,
    /// Number of bytes that the job may write to both streams together. A job that writes more is killed.
    pub limit: u64,
}

impl Default for Keep {
    /// Keeps 16 KiB of the beginning and of the end of each stream, and sets a limit of 5 MB.
    fn default() -> Self {
        Self {
            head: 16 << 10,
            tail: 16 << 10,
            limit: 5_000_000,
        }
    }
}

impl Keep {
    /// Keeps the whole output, up to a limit for both streams together.
    pub fn all(limit: u32) -> Self {
        Self {
            head: limit as usize,
            tail: 0,
            limit: limit.into(),
        }
    }
}

/// The kept parts of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The beginning of the stream.
    pub head: Vec<u8>,
    /// The end of the stream, without the bytes in `head`.
    pub tail: VecDeque<u8>,
    /// Number of bytes that were read from the stream, dropped bytes included.
    pub bytes: u64,
}

impl Kept {
    /// Adds the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8], keep: Keep) {
        self.bytes += bytes.len() as u64;
        let room = keep.head.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(keep.tail)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(keep.tail);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Returns the number of bytes between head and tail that were dropped.
    pub fn left_out(&self) -> u64 {
        let kept = (self.head.len() + self.tail.len()) as u64;
        self.bytes.saturating_sub(kept)
    }

    /// Returns the stream as text, with invalid UTF-8 replaced. If bytes were dropped, a line with their number is between head and tail, and a
    /// character that was cut is left out.
    pub fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        if self.left_out() == 0 {
            return String::from_utf8_lossy(&[&self.head[..], front, back].concat()).into_owned();
        }
        // A character that was cut in two is dropped.
        let head = self
            .head
            .utf8_chunks()
            .fold(String::new(), |mut text, chunk| {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() && !is_cut(chunk.invalid(), &self.head) {
                    text.push('\u{fffd}');
                }
                text
            });
        let tail = [front, back].concat();
        let tail = &tail[tail
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xc0 == 0x80)
            .count()..];
        format!(
            "{head}\n… {} bytes left out …\n{}",
            self.left_out(),
            String::from_utf8_lossy(tail)
        )
    }
}

/// Returns whether `invalid` is at the end of `all` and is the beginning of a character.
fn is_cut(invalid: &[u8], all: &[u8]) -> bool {
    all.ends_with(invalid)
        && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none())
}

/// The result of a job.
#[derive(Clone, Debug)]
pub struct JobOutcome {
    /// How the job ended.
    pub ended: Ended,
    /// The job's standard output.
    pub stdout: Kept,
    /// The job's standard error.
    pub stderr: Kept,
    /// Whether the job was killed because it wrote more than the limit.
    pub too_much: bool,
    /// The time that the job took after its start; with [`Running::finish`], the time from that call to the end of the job.
    pub took: Duration,
}

impl Running {
    /// Waits for the job's end, and returns the head and tail of its output, as [`Isolation::run`](super::Isolation::run) does. Use it for a job
    /// whose input [`feed`](Running::feed) writes.
    ///
    /// # Errors
    ///
    /// Fails if the output cannot be read, and returns the errors of [`wait`](Self::wait).
    pub async fn finish(self, keep: Keep) -> Result<JobOutcome, IsolateError> {
        run(self, keep).await
    }
}

pub(super) async fn run(mut running: Running, keep: Keep) -> Result<JobOutcome, IsolateError> {
    let began = Instant::now();
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let mut too_much = false;
    let mut buffer = vec![0; 64 << 10];
    while let Some((stream, read)) = running.read(&mut buffer).await? {
        let kept = match stream {
            Stream::Stdout => &mut stdout,
            Stream::Stderr => &mut stderr,
        };
        kept.push(&buffer[..read], keep);
        if stdout.bytes + stderr.bytes > keep.limit {
            too_much = true;
            running.kill();
            break;
        }
    }
    let ended = running.wait().await?;
    Ok(JobOutcome {
        ended,
        stdout,
        stderr,
        too_much,
        took: began.elapsed(),
    })
}
