//! The `run_command` tool, which runs a program.

use std::time::{Duration, Instant};

use tool_core::ErrorKind;
use tool_core::prelude::*;

use super::commands::Commands;
use super::lines::Lines;
use super::scratch::Scratch;
use crate::isolate::{Cause, Ended, Exit, IsolateError, Job, Keep, Kept, Running, Stream};
use crate::workspace::Writer;

/// Output of a command while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Progress {
    /// The stream of the output.
    pub stream: OutputStream,
    /// One or more lines of output, or a part of a line that is very long or not complete.
    pub text: String,
}

/// One of the two streams of a program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// The standard output of the program.
    Stdout,
    /// The standard error of the program.
    Stderr,
}

/// The reason why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The program ended by itself.
    Exited,
    /// A signal killed the program.
    Killed,
    /// The timeout passed.
    TimedOut,
    /// The output limit was exceeded.
    TooMuchOutput,
    /// The memory limit was exceeded.
    OutOfMemory,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct CommandResult {
    /// The reason why the command ended.
    pub ended: Ending,
    /// The exit code; 128 plus the signal's number if a signal killed the program, 124 if the timeout passed.
    pub exit_code: i32,
    /// A note about the end, if the program did not end by itself.
    pub note: Option<String>,
    /// The standard output. If it is long, only its beginning and end, with a line between them that states how much is omitted.
    pub stdout: String,
    /// The standard error, shortened in the same way.
    pub stderr: String,
    /// The number of bytes that were written to standard output.
    pub stdout_bytes: u64,
    /// The number of bytes that were written to standard error.
    pub stderr_bytes: u64,
    /// The duration of the command in milliseconds.
    pub duration_ms: u64,
}

/// Runs a program with its arguments in the workspace and waits until it exits. Write the program and each argument as a separate item:
/// nothing is expanded, split or quoted, and there is no shell. If the host allows a shell, a command of one item is a line for the shell.
/// The program can use only the workspace and the system's programs. All processes that it starts end with it.
#[tool(
    category = "process",
    example("Tests of a project", { "command": ["cargo", "test", "--offline"], "cwd": "service", "timeout_seconds": 300 }),
    example("Lines in reverse order", { "command": ["sort", "-r"], "stdin": "a\nb\n" }),
)]
pub fn run_command(
    #[context] commands: Commands,
    #[context] writer: Writer,
    /// The program and its arguments.
    #[arg(min_items = 1, max_items = 1000)]
    command: Vec<String>,
    /// The folder to run in, relative to the workspace.
    #[arg(default = ".")]
    cwd: String,
    /// The text that the program reads from standard input.
    stdin: Option<String>,
    /// The timeout in seconds, after which the program is killed. The host may set a shorter one.
    #[arg(default = 60, range = 1..=3600)]
    timeout_seconds: u32,
) -> ToolStream<Progress, CommandResult> {
    tool_stream! {
        let path = writer.resolve(&cwd).map_err(ToolError::shown)?;
        let entered = writer.dir()?.open_dir(path.as_str());
        entered.map_err(|error| no_folder(&cwd, &error))?;
        let scratch = Scratch::new()?;
        let time = Duration::from_secs(timeout_seconds.into());
        let folder = writer.path().join(path.as_str());
        let mut job = commands.job(&command, writer.path(), &folder, scratch.path(), time)?;
        if stdin.is_some() {
            job = job.stdin();
        }
        let began = Instant::now();
        let mut running = start(&commands, job).await?;
        if let Some(stdin) = stdin {
            running.feed(stdin.into_bytes());
        }
        let mut output = Output::new(commands.keep);
        let mut buffer = vec![0; 64 << 10];
        while let Some((stream, read)) = running.read(&mut buffer).await? {
            if let Some(progress) = output.push(stream, &buffer[..read]) {
                yield progress;
            }
            if output.is_too_much() {
                running.kill();
                break;
            }
        }
        for progress in output.rest() {
            yield progress;
        }
        let ended = running.wait().await?;
        let took = began.elapsed();
        scratch.end().await;
        output.result(ended, took)
    }
}

async fn start(commands: &Commands, job: Job) -> Result<Running, ToolError> {
    commands.isolation.spawn(job).await.map_err(|error| match &error {
        IsolateError::NotFound { program } if program.contains(char::is_whitespace) => {
            ToolError::new(format!(
                "there is no program `{program}`, write the program and each of its arguments as an item of `command`"
            ))
        }
        IsolateError::NotFound { .. } | IsolateError::Refused { .. } => ToolError::shown(error),
        _ => ToolError::of(
            ErrorKind::Unavailable,
            "no command can be run here, details are in the host's log",
        )
        .operator(error.to_string()),
    })
}

fn no_folder(cwd: &str, error: &std::io::Error) -> ToolError {
    ToolError::new(format!(
        "`{cwd}` is not a folder of the workspace, write one that `list_directory` shows"
    ))
    .operator(error.to_string())
}

/// The output of a command so far.
struct Output {
    keep: Keep,
    stdout: (Kept, Lines),
    stderr: (Kept, Lines),
}

impl Output {
    fn new(keep: Keep) -> Self {
        Self {
            keep,
            stdout: Default::default(),
            stderr: Default::default(),
        }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) -> Option<Progress> {
        let (stream, (kept, lines)) = match stream {
            Stream::Stdout => (OutputStream::Stdout, &mut self.stdout),
            Stream::Stderr => (OutputStream::Stderr, &mut self.stderr),
        };
        kept.push(bytes, self.keep);
        lines.push(bytes).map(|text| Progress { stream, text })
    }

    fn is_too_much(&self) -> bool {
        self.stdout.0.bytes + self.stderr.0.bytes > self.keep.limit
    }

    /// Returns the incomplete line at the end of each stream that has one.
    fn rest(&mut self) -> impl Iterator<Item = Progress> + use<> {
        let both = [
            (OutputStream::Stdout, std::mem::take(&mut self.stdout.1)),
            (OutputStream::Stderr, std::mem::take(&mut self.stderr.1)),
        ];
        both.into_iter()
            .filter_map(|(stream, lines)| lines.rest().map(|text| Progress { stream, text }))
    }

    fn result(self, end: Ended, took: Duration) -> CommandResult {
        let (ended, note) = if self.is_too_much() {
            let note = format!(
                "The command wrote more than {} bytes and was killed with all processes that it started. Write less, or write to a file.",
                self.keep.limit
            );
            (Ending::TooMuchOutput, Some(note))
        } else if let Cause::Deadline(after) = end.because {
            let note = format!(
                "The command timed out after {} s and was killed with all processes that it started.",
                after.as_secs_f64()
            );
            (Ending::TimedOut, Some(note))
        } else if end.out_of_memory {
            let note = "The command exceeded its memory limit, and the system killed the command or one of its processes.";
            (Ending::OutOfMemory, Some(note.into()))
        } else if let Exit::Signal(signal) = end.exit {
            (
                Ending::Killed,
                Some(format!("The command was killed by signal {signal}.")),
            )
        } else {
            (Ending::Exited, None)
        };
        let exit_code = match end.exit {
            _ if ended == Ending::TimedOut => 124,
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        };
        CommandResult {
            ended,
            exit_code,
            note,
            stdout: self.stdout.0.text(),
            stderr: self.stderr.0.text(),
            stdout_bytes: self.stdout.0.bytes,
            stderr_bytes: self.stderr.0.bytes,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
