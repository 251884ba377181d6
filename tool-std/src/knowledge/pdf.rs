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

/// The signal with which the kernel ends a process if the system has no memory left.
const SIGKILL: i32 = 9;

/// Maximum number of bytes of the process's standard error output in an error for the operator.
const MOST_ERROR: usize = 4096;

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
    // Without a memory cgroup, the kernel does not report why it has killed a process.
    let was_killed = ended.because == Cause::Itself && ended.exit == Exit::Signal(SIGKILL);
    if ended.out_of_memory || has_no_memory || was_killed {
        return Err(DocumentFault::PdfMemory.into());
    }
    if ended.exit == Exit::Code(ENCRYPTED.into()) {
        return Err(DocumentFault::PdfEncrypted.into());
    }
    if is_damaged(ended) {
        return Err(DocumentFault::PdfDamaged.into());
    }
    if !ended.success() {
        let head = &outcome.stderr.head;
        let error = String::from_utf8_lossy(&head[..head.len().min(MOST_ERROR)]);
        return Err(NoText::Host(format!("{ended:?}: {error}")));
    }
    let text = String::from_utf8_lossy(&outcome.stdout.head).into_owned();
    if text.trim().is_empty() {
        return Err(DocumentFault::PdfScanned.into());
    }
    Ok(text)
}

/// Returns whether the process could not read the document, or crashed. A process that the host or a signal such as SIGTERM ended may succeed later.
fn is_damaged(ended: &Ended) -> bool {
    ended.because == Cause::Itself
        && match ended.exit {
            Exit::Code(code) => code == i32::from(DAMAGED),
            Exit::Signal(signal) => CRASHES.contains(&signal),
        }
}

#[cfg(test)]
mod tests {
    use tool_isolate::Kept;

    use super::*;

    fn outcome(exit: Exit, because: Cause, stderr: &str) -> JobOutcome {
        let kept = |text: &str| Kept {
            head: text.as_bytes().to_vec(),
            bytes: text.len() as u64,
            ..Kept::default()
        };
        JobOutcome {
            ended: Ended {
                exit,
                because,
                out_of_memory: false,
            },
            stdout: kept("text"),
            stderr: kept(stderr),
            too_much: false,
            took: Duration::ZERO,
        }
    }

    /// Returns the fault of the document; `None` for a fault of the host.
    fn fault(exit: Exit, because: Cause) -> Option<DocumentFault> {
        match text(&outcome(exit, because, "")) {
            Err(NoText::Fault(fault)) => Some(fault),
            Err(NoText::Host(_)) => None,
            Ok(text) => panic!("{text}"),
        }
    }

    // A fault of the host does not mark the document as failed.
    #[test]
    fn only_crashes_of_the_reader_are_faults_of_the_document() {
        for exit in [Exit::Code(101), Exit::Signal(6), Exit::Signal(11)] {
            let damaged = Some(DocumentFault::PdfDamaged);
            assert_eq!(fault(exit, Cause::Itself), damaged, "{exit:?}");
            assert_eq!(fault(exit, Cause::Killed), None, "{exit:?}");
        }
        // 4 is the code of a failed pipe, and 127 the code of a program without this mode.
        for exit in [Exit::Code(4), Exit::Code(127), Exit::Signal(15)] {
            assert_eq!(fault(exit, Cause::Itself), None, "{exit:?}");
        }
    }

    // Without a memory cgroup, the kernel does not report that it has killed the reader for a lack of memory. If the document were read again, the
    // kernel would kill the reader each time.
    #[test]
    fn reader_that_the_kernel_kills_has_exceeded_its_memory() {
        let killed = Exit::Signal(9);
        assert_eq!(fault(killed, Cause::Itself), Some(DocumentFault::PdfMemory));
        assert_eq!(fault(killed, Cause::Killed), None);
    }

    // A PDF can take over the process that reads it, so its error output in the host's log is limited.
    #[test]
    fn logged_error_output_of_the_reader_is_cut() {
        let long = outcome(Exit::Code(127), Cause::Itself, &"e".repeat(1 << 20));
        let Err(NoText::Host(error)) = text(&long) else {
            panic!("not a fault of the host");
        };
        assert!(error.ends_with(&"e".repeat(4096)), "{}", error.len());
        assert!(error.len() < 4096 + 200, "{}", error.len());
    }
}
