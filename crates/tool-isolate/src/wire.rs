//! The protocol between host and helper: frames of JSON over a socket. The first frame carries the file descriptors of the job's
//! standard streams.

use std::ffi::OsString;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use crate::ended::Exit;
use crate::job::{Limits, Network, Program};
use crate::mechanism::Mechanism;

/// First argument of the helper. The number is the version of the protocol between host and helper.
pub(super) const HELPER: &str = "tool-isolate-helper:1";
/// First argument of a supervisor that runs in namespaces.
pub(super) const INSIDE: &str = "tool-isolate-inside:1";
/// First argument of a mode; the second is its name.
pub(super) const MODE: &str = "tool-isolate-mode:1";

/// A job as it is sent to the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spec {
    pub(super) program: Program,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: OsString,
    pub(super) reads: Vec<OsString>,
    pub(super) writes: Vec<OsString>,
    pub(super) network: Network,
    pub(super) limits: Limits,
    pub(super) deadline_ms: Option<u64>,
    /// The mechanisms that the host has not turned off.
    pub(super) mechanisms: Vec<Mechanism>,
    /// Whether the host requires [`Mechanism::UnixSockets`]. The helper then denies the job all Unix sockets if no other mechanism restricts them.
    pub(super) requires_unix_sockets: bool,
    /// The name of the job's cgroups.
    pub(super) cgroups: String,
}

impl InForce {
    /// Returns whether the job cannot look up files that it was not granted. Through the host's `/proc`, a job could reach the roots of other
    /// processes, unless Landlock denies that.
    pub(super) fn hides_files(&self) -> bool {
        self.own_root.is_yes() && (self.proc_mount.is_yes() || self.landlock.is_yes())
    }

    /// Returns whether the job cannot connect to sockets with a path that it was not granted.
    pub(super) fn keeps_unix_sockets(&self) -> bool {
        self.unix_sockets().iter().any(|held| held.is_yes())
    }

    /// Returns the mechanisms that can deny the job sockets with a path that it was not granted.
    pub(super) fn unix_sockets(&self) -> Vec<&Held> {
        let mut all = vec![&self.path_sockets, &self.socket_filter];
        if self.hides_files() {
            all.insert(0, &self.own_root);
        }
        all
    }

    /// Returns which files without a grant the job can still read or change, and the reason, or `None` if there are none.
    pub(super) fn open_files(&self) -> Option<(&'static str, &str)> {
        let is_apart = self.hides_files();
        let (open, reason) = match (&self.landlock, &self.truncate) {
            (Held::No(_), _) if self.read_only.is_yes() && is_apart => return None,
            (Held::No(reason), _) if self.read_only.is_yes() => {
                ("a job reads every file that the host's user may", reason)
            }
            (Held::No(reason), _) if is_apart => (
                "a job changes every file that it may read and the host's user may change",
                reason,
            ),
            (Held::No(reason), _) => (
                "a job reads and changes every file that the host's user may",
                reason,
            ),
            (Held::Yes(_), Held::No(reason)) if !self.read_only.is_yes() => (
                "a job empties every file that the host's user may change",
                reason,
            ),
            (Held::Yes(_), _) => return None,
        };
        Some((open, reason))
    }
}

impl Spec {
    pub(super) fn has(&self, mechanism: Mechanism) -> bool {
        self.mechanisms.contains(&mechanism)
    }
}

/// A message from the helper to the host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Event {
    /// The job runs, with these mechanisms in force.
    Started(Box<InForce>),
    /// The job was not started.
    Failed(Failure),
    /// The job has ended. None of its processes is left, except in a PID namespace without a separate `/proc`: these end with the supervisor.
    Ended {
        exit: Option<Exit>,
        because: Because,
        out_of_memory: bool,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    NotFound,
    Refused(String),
    Helper(String),
    /// The supervisor cannot work in the requested namespaces. If the host created them, a helper has to try instead. If a helper created them, the
    /// host has to start a helper without namespaces.
    Namespaces(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Because {
    Itself,
    Deadline,
    Host,
}

/// The state of each mechanism for a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InForce {
    pub(super) landlock: Held,
    /// Whether files that are not granted are also protected from truncation.
    pub(super) truncate: Held,
    pub(super) tcp: Held,
    pub(super) signals: Held,
    pub(super) abstract_sockets: Held,
    pub(super) path_sockets: Held,
    pub(super) pid_namespace: Held,
    pub(super) ipc_namespace: Held,
    pub(super) network_namespace: Held,
    pub(super) proc_mount: Held,
    pub(super) read_only: Held,
    pub(super) own_root: Held,
    pub(super) socket_filter: Held,
    pub(super) capabilities: Held,
    pub(super) cgroup_kill: Held,
    pub(super) pids_cgroup: Held,
    pub(super) memory_cgroup: Held,
    pub(super) no_new_privs: Held,
    pub(super) limits: Held,
}

/// Whether a mechanism is in force: yes with a detail, or no with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Held {
    Yes(String),
    No(String),
}

impl Default for Held {
    fn default() -> Self {
        Self::No(String::from("not requested"))
    }
}

impl Held {
    pub(super) fn detail(&self) -> Option<&str> {
        match self {
            Self::Yes(detail) => Some(detail),
            Self::No(_) => None,
        }
    }

    pub(super) fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// Maximum size of a frame in bytes. Linux limits the arguments and environment of a process to 6 MB, which are up to 24 MB as JSON.
const MAX_FRAME: usize = 64 << 20;

/// Encodes a frame: the length in 4 bytes, followed by the JSON.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4)
        .ok()
        .filter(|length| *length as usize <= MAX_FRAME)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the arguments, environment and paths of the job are too long",
            )
        })?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Removes a complete frame from the front of the received bytes, if there is one, and decodes it.
pub(super) fn take_frame(buffer: &mut Vec<u8>) -> io::Result<Option<Event>> {
    let Some(length) = buffer.first_chunk::<4>() else {
        return Ok(None);
    };
    let end = 4 + length_of(*length)?;
    if buffer.len() < end {
        return Ok(None);
    }
    let event = serde_json::from_slice(&buffer[4..end])?;
    buffer.drain(..end);
    Ok(Some(event))
}

/// Reads and decodes the rest of a frame whose length is known.
pub(super) fn read_frame<T: for<'de> Deserialize<'de>>(
    length: [u8; 4],
    mut from: impl Read,
) -> io::Result<T> {
    let mut bytes = vec![0; length_of(length)?];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn length_of(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a frame is longer than any message of the helper",
        ));
    }
    Ok(length)
}
