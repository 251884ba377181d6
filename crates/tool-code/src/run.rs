//! A run of code, from its start to its result.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tool_core::{ToolContext, ToolError};

use crate::calls::{Callable, Calls, outcome};
use crate::handle::{Entered, RunHandle};
use crate::limits::{LINE, Limits};
use crate::outcome::{CodeError, Log, RunResult, Status, nothing};
use crate::process::{Event, GRACE, Process};
use crate::protocol::{Done, Program, ToEngine, ToHost};
use crate::setup::Setup;

/// A run that is ready to start.
///
/// No process starts before [`finish`](Self::finish) is polled. Dropping the future ends the process and the pending calls.
#[must_use = "a run does nothing until `finish` is awaited"]
pub struct Run {
    setup: std::sync::Arc<Setup>,
    callable: Callable,
    cx: ToolContext,
    code: String,
    /// Files that the code can import by relative paths.
    files: Vec<(String, String)>,
    only_check: bool,
    limits: Limits,
    entered: Entered,
    handle: RunHandle,
}

/// The debug output omits the code, because it may be long.
impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("handle", &self.handle)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Run {
    pub(crate) fn new(
        setup: &std::sync::Arc<Setup>,
        callable: Callable,
        cx: &ToolContext,
        code: String,
        time: Option<Duration>,
    ) -> Self {
        let mut limits = setup.limits.clone();
        let left = [time, cx.remaining()].into_iter().flatten().min();
        limits.time = left.map_or(limits.time, |left| left.min(limits.time));
        let handle = RunHandle::new(cx.call_id());
        Self {
            entered: setup.runs.enter(&handle),
            // Code cannot wait for a person unless the host allows it.
            cx: if setup.waiting {
                cx.clone()
            } else {
                cx.without_asker()
            },
            setup: std::sync::Arc::clone(setup),
            callable,
            code,
            files: Vec::new(),
            only_check: false,
            limits,
            handle,
        }
    }

    /// Sets the files that the code can import. The first file is the entry point, which needs a default export. The limit of the code's length then
    /// applies to the files together, instead of the code.
    pub(crate) fn importing(mut self, files: Vec<(String, String)>) -> Self {
        self.files = files;
        self
    }

    /// Makes [`finish`](Self::finish) only compile the files, without running anything.
    pub(crate) fn only_check(mut self) -> Self {
        self.only_check = true;
        self
    }

    /// Returns a handle that can end the run.
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }

    /// Runs the code to its end. Errors of the code are part of the result.
    ///
    /// # Errors
    ///
    /// Returns `Unavailable` if no process can be started, its binary does not contain the engine, or the process is lost. Returns `Pending` if a
    /// call of the code has to wait for a person or for a time. The same call can then be repeated; with a ledger, the nested calls that have
    /// already run are not repeated.
    pub async fn finish(self) -> Result<RunResult, ToolError> {
        let began = Instant::now();
        let mut said = Said::default();
        let length = if self.files.is_empty() {
            self.code.len()
        } else {
            self.files.iter().map(|(_, source)| source.len()).sum()
        };
        let done = if length > self.limits.code {
            let text = format!(
                "the code has {length} bytes, and {} are allowed: make it shorter, or run it in parts",
                self.limits.code
            );
            Done::failed(Status::Error, CodeError::new("RangeError", text))
        } else {
            self.drive(&mut said).await?
        };
        drop(self.entered);
        Ok(RunResult {
            status: done.status,
            result: done.result.unwrap_or_else(nothing),
            error: done.error,
            file: done
                .file
                .and_then(|number| self.files.get(usize::from(number)))
                .map(|(path, _)| path.clone()),
            reports: said.reports,
            logs: said.logs,
            logs_dropped: done.logs_dropped,
            duration: began.elapsed(),
        })
    }

    async fn drive(&self, said: &mut Said) -> Result<Done, ToolError> {
        let time = self.limits.time;
        let mut process = Process::start(&self.setup.isolation, &self.limits).await?;
        let program = Program {
            code: self.code.clone(),
            tools: self.callable.names(),
            modules: self.setup.modules.clone(),
            files: self.files.clone(),
            only_check: self.only_check,
            limits: self.limits.clone(),
        };
        process.send(&ToEngine::Run(Box::new(program)))?;
        let mut calls = Calls::new(
            self.callable.clone(),
            self.cx.clone(),
            self.limits.parallel,
            self.limits.calls,
        );
        let late = tokio::time::sleep(time.saturating_add(GRACE));
        tokio::pin!(late);
        let mut stopped: Option<String> = None;
        loop {
            tokio::select! {
                event = process.next() => match event {
                    Event::Said(ToHost::Done(done)) => {
                        if let Err(why) = self.bounded(&done, said) {
                            return self.broken(&mut process, why).await;
                        }
                        process.end().await;
                        return Ok(done);
                    }
                    Event::Said(message) => {
                        if let Err(why) = self.heard(message, said, &mut calls) {
                            return self.broken(&mut process, why).await;
                        }
                    }
                    Event::Nonsense(error) => return self.broken(&mut process, &error.to_string()).await,
                    Event::Closed => {
                        let ended = process.wait().await;
                        if ended.is_some_and(|ended| matches!(ended.because, tool_isolate::Cause::Deadline(_))) {
                            return Ok(over_time(time));
                        }
                        return Self::gone(&process, ended, said.started);
                    }
                },
                (id, result) = calls.ended() => {
                    let outcome = outcome(result, self.limits.message)?;
                    process.send(&ToEngine::Answer { id, outcome })?;
                }
                reason = self.handle.stopped(), if stopped.is_none() => {
                    // The engine reacts to the message and reports its result. If it does not react, the process is killed.
                    process.send(&ToEngine::Terminate { reason: reason.clone() })?;
                    stopped = Some(reason);
                    late.as_mut().reset(tokio::time::Instant::now() + GRACE);
                }
                () = &mut late => {
                    process.end().await;
                    return Ok(match stopped {
                        Some(reason) => Done::failed(Status::Terminated, CodeError::new("Terminated", reason)),
                        None => over_time(time),
                    });
                }
            }
        }
    }

    /// Handles a message of the process, within the run's limits.
    fn heard(
        &self,
        message: ToHost,
        said: &mut Said,
        calls: &mut Calls,
    ) -> Result<(), &'static str> {
        match message {
            ToHost::Started => said.started = true,
            ToHost::Call {
                id,
                name,
                arguments,
            } => calls.make(id, name, arguments)?,
            ToHost::Log { level, text } => {
                said.bytes = said.bytes.saturating_add(text.len() + LINE);
                // The last line may be longer, because the engine appends `…` to a line that it cuts.
                if said.bytes > self.limits.logs.saturating_add(1024) {
                    return Err("the log exceeds the limit of the run");
                }
                let log = Log { level, text };
                self.cx.progress(&log);
                said.logs.push(log);
            }
            ToHost::Report { value } => {
                if said.reports.len() >= self.limits.reports {
                    return Err("the number of reports exceeds the limit of the run");
                }
                said.values += value.get().len();
                if said.values > self.limits.result {
                    return Err("the reports exceed the result limit of the run");
                }
                said.reports.push(value);
            }
            ToHost::Done(_) => {}
        }
        Ok(())
    }

    /// Checks the sizes of the result and of the error.
    fn bounded(&self, done: &Done, said: &Said) -> Result<(), &'static str> {
        /// Maximum size of an error, in bytes. The engine cuts each part of a thrown error far below this limit.
        const ERROR: usize = 32 << 10;
        let result = done.result.as_ref().map_or(0, |result| result.get().len());
        if said.values + result > self.limits.result {
            return Err("the result and the reports exceed the result limit of the run");
        }
        let error = done.error.as_ref().map_or(0, |error| {
            error.name.len() + error.message.len() + error.stack.as_ref().map_or(0, String::len)
        });
        if error > ERROR {
            return Err("the error exceeds 32 KiB");
        }
        Ok(())
    }

    /// Ends a run whose process violates the protocol or exceeds a limit that the engine checks as well. The process may be compromised.
    async fn broken(&self, process: &mut Process, why: &str) -> Result<Done, ToolError> {
        process.end().await;
        tracing::warn!(
            why,
            complaint = process.complaint(),
            "the engine's process violated the protocol"
        );
        let text = "the engine's process failed, the code cannot be run";
        Ok(Done::failed(
            Status::Error,
            CodeError::new("InternalError", text),
        ))
    }

    /// Ends a run whose process exited without a result.
    fn gone(
        process: &Process,
        ended: Option<tool_isolate::Ended>,
        started: bool,
    ) -> Result<Done, ToolError> {
        /// Exit code of a binary that has not registered the mode.
        const UNKNOWN_MODE: i32 = 127;
        let complaint = process.complaint();
        if ended.is_none_or(|ended| ended.exit == tool_isolate::Exit::Code(UNKNOWN_MODE)) {
            return Err(
                ToolError::unavailable("the engine's process").operator(format!(
                    "it was lost, or its binary does not link `tool-code`: {complaint}"
                )),
            );
        }
        tracing::warn!(
            ?ended,
            complaint,
            "the engine's process exited without reporting a result"
        );
        Ok(process.post_mortem(ended, started))
    }
}

fn over_time(time: Duration) -> Done {
    Done::failed(Status::Terminated, CodeError::over_time(time))
}

/// The log lines and reports that the code has sent so far.
#[derive(Default)]
struct Said {
    started: bool,
    logs: Vec<Log>,
    /// Bytes of the logs, counted as in the engine.
    bytes: usize,
    /// Bytes of the reports.
    values: usize,
    reports: Vec<Box<RawValue>>,
}
