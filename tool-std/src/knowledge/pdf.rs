//! Text extraction from PDF files in a sandboxed child process.
//!
//! A PDF is untrusted input: its streams can decompress to any size, its objects can refer to each other in circles, and libraries that read it can
//! panic. As far as [`Isolation`] can enforce it, the child process has no network, and can read only system files, such as programs and libraries.
//! It has no environment variables of the host, and its memory and time are limited.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use pdf_extract::{Error, OutputError, extract_text_from_mem};
use tool_core::store::Document;
use tool_isolate::{Cause, Ended, Exit, Isolation, Job, JobOutcome, Keep, Limits};

use super::extract::NoText;
use super::fault::DocumentFault;

/// The mode in which the host's binary reads a PDF from its standard input and writes the text to its standard output.
const MODE: &str = "tool-std-pdf";

tool_isolate::mode!(MODE, read);

/// The exit code for an encrypted PDF that cannot be decrypted, for example because this needs a password.
const ENCRYPTED: u8 = 3;

/// The exit code for a file that cannot be read as a PDF. It is also the code of a panic.
const DAMAGED: u8 = 101;

/// The exit code for a failed pipe: the content cannot be read from the host, or the text cannot be written.
const UNREAD: u8 = 4;

/// The signals with which the kernel ends a process that crashes: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV. SIGBUS has a different
/// number on macOS and the BSDs.
const CRASHES: [i32; 6] = [
    4,
    5,
    6,
    if cfg!(target_os = "linux") { 7 } else { 10 },
    8,
    11,
];

/// Reads a PDF from standard input, writes its text to standard output, and returns the exit code. It runs in the child process.
fn read(_: Vec<OsString>) -> u8 {
    let mut content = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut content).is_err() {
        return UNREAD;
    }
    let text = match extract_text_from_mem(&content) {
        Ok(text) => text,
        Err(OutputError::PdfError(Error::Decryption(_) | Error::UnsupportedSecurityHandler(_))) => {
            return ENCRYPTED;
        }
        Err(_) => return DAMAGED,
    };
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    if written.is_ok() { 0 } else { UNREAD }
}

/// The sandbox of the child process, and its limits.
#[derive(Clone, Debug)]
pub(super) struct PdfReader {
    pub(super) isolation: Isolation,
    pub(super) memory: u64,
    pub(super) time: Duration,
}

impl Default for PdfReader {
    fn default() -> Self {
        Self {
            isolation: Isolation::new(),
            memory: 512 << 20,
            time: Duration::from_secs(30),
        }
    }
}

impl PdfReader {
    pub(super) async fn text(&self, content: Vec<u8>) -> Result<String, NoText> {
        let limits = Limits::default()
            .memory(self.memory)
            .processes(16)
            .file_size(0);
        let job = Job::this(MODE).stdin().limits(limits).deadline(self.time);
        let host = |error: tool_isolate::IsolateError| NoText::Host(error.to_string());
        let mut running = self.isolation.spawn(job).await.map_err(host)?;
        running.feed(content);
        let most = u32::try_from(Document::MOST_BYTES).unwrap_or(u32::MAX);
        let outcome = running.finish(Keep::all(most)).await.map_err(host)?;
        text(&outcome)
    }
}

/// Returns the text that the child process has written, or the reason why there is none.
fn text(outcome: &JobOutcome) -> Result<String, NoText> {
    let ended = &outcome.ended;
    if outcome.too_much {
        return Err(DocumentFault::TextTooLarge.into());
    }
    if matches!(ended.because, Cause::Deadline(_)) {
        return Err(DocumentFault::PdfTimeout.into());
    }
    // Rust's allocator aborts the process with this text if the memory limit of the process is reached.
    let has_no_memory = outcome.stderr.text().contains("memory allocation of");
    if ended.out_of_memory || has_no_memory {
        return Err(DocumentFault::PdfMemory.into());
    }
    if ended.exit == Exit::Code(ENCRYPTED.into()) {
        return Err(DocumentFault::PdfEncrypted.into());
    }
    if is_damaged(ended) {
        return Err(DocumentFault::PdfDamaged.into());
    }
    if !ended.success() {
        return Err(NoText::Host(format!(
            "{ended:?}: {}",
            outcome.stderr.text()
        )));
    }
    let text = String::from_utf8_lossy(&outcome.stdout.head).into_owned();
    if text.trim().is_empty() {
        return Err(DocumentFault::PdfScanned.into());
    }
    Ok(text)
}

/// Returns whether the process ended because of the document. A process that the host or the system ended, such as the kernel with SIGKILL if the
/// system has no memory left, may succeed later.
fn is_damaged(ended: &Ended) -> bool {
    ended.because == Cause::Itself
        && match ended.exit {
            Exit::Code(code) => code == i32::from(DAMAGED),
            Exit::Signal(signal) => CRASHES.contains(&signal),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A fault of the host does not mark the document as failed.
    #[test]
    fn only_crashes_of_the_reader_are_faults_of_the_document() {
        let damaged = |exit, because| {
            is_damaged(&Ended {
                exit,
                because,
                out_of_memory: false,
            })
        };
        for exit in [Exit::Code(101), Exit::Signal(6), Exit::Signal(11)] {
            assert!(damaged(exit, Cause::Itself), "{exit:?}");
            assert!(!damaged(exit, Cause::Killed), "{exit:?}");
        }
        // 4 is the code of a failed pipe, and 127 the code of a program without this mode.
        for exit in [
            Exit::Code(4),
            Exit::Code(127),
            Exit::Signal(9),
            Exit::Signal(15),
        ] {
            assert!(!damaged(exit, Cause::Itself), "{exit:?}");
        }
    }
}
