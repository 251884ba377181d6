//! What host and helper say to each other: frames of JSON over a socket, the job's standard files beside the first.

use std::ffi::OsString;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::isolation::Mechanism;
use super::job::{Limits, Network, Program};
use super::running::Exit;

/// A job as the helper gets it.
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
    /// What the host has not turned off.
    pub(super) mechanisms: Vec<Mechanism>,
    /// Then the job goes without any, where those that it was not granted cannot be kept from it.
    pub(super) requires_unix_sockets: bool,
    /// The name of the job's cgroups.
    pub(super) cgroups: String,
}

impl InForce {
    /// Whether what the job was not granted has no name for it. A host's `/proc` leads to the roots of other processes, unless Landlock keeps the job
    /// from them.
    pub(super) fn hides_files(&self) -> bool {
        self.own_root.is_yes() && (self.proc_mount.is_yes() || self.landlock.is_yes())
    }

    /// Whether the job connects to no socket with a path that it was not granted.
    pub(super) fn keeps_unix_sockets(&self) -> bool {
        self.unix_sockets().iter().any(|held| held.is_yes())
    }

    /// What may keep the job from sockets with a path that it was not granted.
    pub(super) fn unix_sockets(&self) -> Vec<&Held> {
        let mut all = vec![&self.path_sockets, &self.socket_filter];
        if self.hides_files() {
            all.insert(0, &self.own_root);
        }
        all
    }

    /// What nothing keeps of files outside of those that are granted, and why.
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

/// What the helper tells the host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Event {
    /// The job runs; what holds it.
    Started(Box<InForce>),
    /// It does not.
    Failed(Failure),
    /// It has ended and nothing of it is left.
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
    /// Namespaces that were asked for are half made. Where the host made them, a helper has to try it; where a helper did, one has to be started that
    /// makes none.
    Namespaces(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Because {
    Itself,
    Deadline,
    Host,
}

/// What holds a job: each mechanism, or why it is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InForce {
    pub(super) landlock: Held,
    /// Files that are not granted cannot be emptied either.
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

/// In force, with a detail, or not, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Held {
    Yes(String),
    No(String),
}

impl Default for Held {
    fn default() -> Self {
        Self::No(String::from("not asked for"))
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

/// The largest frame: arguments and environment of a process fit into 6 MB, in JSON four times that.
const MAX_FRAME: usize = 64 << 20;

/// A frame: its length in 4 bytes, and JSON.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4)
        .ok()
        .filter(|length| *length as usize <= MAX_FRAME)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "arguments and environment are too long for a process",
            )
        })?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Takes one whole frame off the front of what was received, if there is one.
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

/// Reads the rest of a frame whose length is known.
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
