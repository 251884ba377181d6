//! The engine: one run of `QuickJS` in its own process.
//!
//! The code can use the built-in objects of the language (`Object` … `WeakRef`, `Date`, `Math`, `eval`), `console`, `report` and `tools`. It
//! has no timers, `fetch`, files, processes, environment, `performance`, or modules that the host did not grant.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::Limits;
use crate::outcome::{CodeError, Level, Status};
use crate::protocol::{self, Done, Outcome, Program, ToEngine, ToHost};

mod bridge;
mod compile;
mod fault;
mod global;
mod modules;
mod vm;

pub(crate) use modules::is_bare;

#[cfg(test)]
mod tests;

/// Stack size of the thread that compiles and runs the code: the compiler recurses with the nesting of the code.
const STACK: usize = 128 << 20;
/// Maximum stack for the code. The rest is for the engine's own work after the code has used all of its stack.
const MOST_STACK: usize = STACK / 8;

/// Maximum size of the first message, before the limits are known.
const FIRST: usize = 64 << 20;

/// Whether a run has to stop, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The run may continue.
    No = 0,
    /// The time limit is exceeded.
    Deadline = 1,
    /// The host asked to terminate the run.
    Terminated = 2,
    /// The host cannot be reached: it has closed a pipe, or has sent an invalid message or a second program.
    Gone = 3,
}

/// The stop signal of a run, which other threads can raise.
#[derive(Clone)]
pub(crate) struct Signal {
    flag: Arc<AtomicU8>,
    time: Duration,
    deadline: Instant,
    reason: Arc<Mutex<String>>,
}

impl Signal {
    fn new(time: Duration) -> Self {
        let now = Instant::now();
        Self {
            flag: Arc::default(),
            time,
            // If the clock cannot represent the deadline, the deadline is in one day.
            deadline: now
                .checked_add(time)
                .unwrap_or(now + Duration::from_hours(24)),
            reason: Arc::default(),
        }
    }

    fn raise(&self, stop: Stop) {
        let _ = self
            .flag
            .compare_exchange(0, stop as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn terminate(&self, reason: String) {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason;
        self.raise(Stop::Terminated);
    }

    pub(crate) fn state(&self) -> Stop {
        if self.flag.load(Ordering::Relaxed) == 0 && Instant::now() >= self.deadline {
            self.raise(Stop::Deadline);
        }
        match self.flag.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Deadline,
            2 => Stop::Terminated,
            _ => Stop::Gone,
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the result of a run that was stopped.
    pub(crate) fn done(&self) -> Done {
        let error = if self.state() == Stop::Deadline {
            CodeError::over_time(self.time)
        } else {
            let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
            CodeError::new("Terminated", reason.as_str())
        };
        Done::failed(Status::Terminated, error)
    }
}

/// The channel to the host, which also stops the run if the host has disconnected.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Mutex<Box<dyn Write + Send>>>, Signal);

impl Outbox {
    /// Sends a message. The run stops if the message cannot be written, for example because the host has closed the pipe.
    pub(crate) fn send(&self, message: &ToHost) {
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if protocol::write(&mut *to, message).is_err() {
            self.1.raise(Stop::Gone);
        }
    }

    pub(crate) fn log(&self, level: Level, text: String) {
        self.send(&ToHost::Log { level, text });
    }
}

/// An event that a waiting run receives.
pub(crate) enum HostEvent {
    Answer(u64, Outcome),
    /// The stop signal was raised.
    Stopped,
}

/// Serves one run: reads the program, runs it, and reports how it ended.
///
/// Returns at once if the first message is not a program, and otherwise after it has tried to report the end. The thread that reads from the
/// host is not joined.
pub(crate) fn serve(mut from: impl Read + Send + 'static, to: impl Write + Send + 'static) {
    let Ok(Some(ToEngine::Run(program))) = protocol::read(&mut from, FIRST) else {
        return;
    };
    let signal = Signal::new(program.limits.time);
    let outbox = Outbox(Arc::new(Mutex::new(Box::new(to))), signal.clone());
    let (tell, hear) = mpsc::channel();
    let most = program.limits.frame();
    let heard = signal.clone();
    thread::spawn(move || listen(&mut from, most, &heard, &tell));
    let run = {
        let (outbox, signal) = (outbox.clone(), signal.clone());
        thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || run(&program, &outbox, &signal, &hear))
    };
    let done = match run.map(thread::JoinHandle::join) {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Done::failed(
            Status::Error,
            CodeError::new("InternalError", "the engine failed, the code cannot be run"),
        ),
        Err(error) => Done::failed(
            Status::Memory,
            CodeError::new(
                "InternalError",
                format!("the engine has too little memory to run: {error}"),
            ),
        ),
    };
    outbox.send(&ToHost::Done(done));
}

/// Forwards the host's messages to the run.
fn listen(from: &mut dyn Read, most: usize, signal: &Signal, tell: &mpsc::Sender<HostEvent>) {
    loop {
        let heard = match protocol::read(from, most) {
            Ok(Some(ToEngine::Answer { id, outcome })) => HostEvent::Answer(id, outcome),
            Ok(Some(ToEngine::Terminate { reason })) => {
                signal.terminate(reason);
                HostEvent::Stopped
            }
            // A second program, the end of the input, or an invalid message: the host is no longer usable.
            Ok(Some(ToEngine::Run(_)) | None) | Err(_) => {
                signal.raise(Stop::Gone);
                let _ = tell.send(HostEvent::Stopped);
                return;
            }
        };
        if tell.send(heard).is_err() {
            return;
        }
    }
}

fn run(
    program: &Program,
    outbox: &Outbox,
    signal: &Signal,
    hear: &mpsc::Receiver<HostEvent>,
) -> Done {
    let modules = program.modules.iter().map(|(name, _)| name.as_str());
    let modules: Vec<&str> = [modules::TOOLS].into_iter().chain(modules).collect();
    let files = match compile::files(&program.files, &modules) {
        Ok(files) => files,
        Err((file, error)) => {
            let file = fault::number_of(&file, &program.files);
            return Done {
                file,
                ..Done::failed(Status::Error, error)
            };
        }
    };
    if program.only_check {
        return Done {
            status: Status::Success,
            result: None,
            error: None,
            file: None,
            logs_dropped: 0,
        };
    }
    let compiled = match compile::program(&program.code) {
        Ok(compiled) => compiled,
        Err(error) => return Done::failed(Status::Error, error),
    };
    outbox.send(&ToHost::Started);
    let Limits { memory, stack, .. } = program.limits;
    let machine = match vm::Machine::new(memory, stack.min(MOST_STACK), signal) {
        Ok(machine) => machine,
        Err(error) => return Done::failed(Status::Memory, error),
    };
    machine.run(&compiled, &files, program, outbox, hear)
}

/// Serves one run over standard input and output, and returns the exit code.
pub(crate) fn main(_: Vec<std::ffi::OsString>) -> u8 {
    serve(std::io::stdin(), std::io::stdout());
    0
}
