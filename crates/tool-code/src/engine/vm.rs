//! The virtual machine that runs one module to its end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use rquickjs::context::intrinsic::{
    Date, Eval, Json, MapSet, Promise as Promises, Proxy, RegExp, RegExpCompiler, TypedArrays,
    WeakRef,
};
use rquickjs::object::Property;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, IntoJs, Module, Object, Persistent, Promise, Result, Runtime, Value};

use super::bridge::Calls;
use super::compile::{Compiled, Files};
use super::fault::{CODE, Sources, fault, is_out_of_memory};
use super::global::{self, Budget};
use super::modules::{Granted, TOOLS, exports, module_of};
use super::{HostEvent, Outbox, Signal, Stop, compile};
use crate::outcome::{CodeError, Status};
use crate::protocol::{Done, Program};

/// The available language features: no clock except `Date`, and no browser APIs.
type Language = (
    Date,
    Eval,
    RegExpCompiler,
    RegExp,
    Json,
    Proxy,
    MapSet,
    TypedArrays,
    Promises,
    WeakRef,
);

/// A script that allocates a buffer. A failed run releases the buffer, so that the error can be reported although the heap is full.
const LAST_WORDS: &str = "new ArrayBuffer(262144)";
/// Maximum number of unhandled rejections that are stored.
const REJECTIONS: usize = 1000;

/// Unhandled rejected promises with their reasons.
type Rejected = Rc<RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>>;

/// An engine that runs one program.
///
/// It is never freed: the process ends with the run, and freeing a heap that was interrupted in an arbitrary state is not safe.
pub(super) struct Machine {
    runtime: ManuallyDrop<Runtime>,
    context: ManuallyDrop<Context>,
    signal: Signal,
    memory: usize,
    /// Peak memory of the process before the engine was created.
    before: u64,
}

impl Machine {
    pub(super) fn new(
        memory: usize,
        stack: usize,
        signal: &Signal,
    ) -> std::result::Result<Self, CodeError> {
        let failed = |error: rquickjs::Error| {
            CodeError::new(
                "InternalError",
                format!("the engine has too little memory to start: {error}"),
            )
        };
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(memory);
        runtime.set_max_stack_size(stack);
        let context = Context::custom::<Language>(&runtime).map_err(failed)?;
        let watched = signal.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || watched.state() != Stop::No)));
        Ok(Self {
            runtime: ManuallyDrop::new(runtime),
            context: ManuallyDrop::new(context),
            signal: signal.clone(),
            memory,
            before: peak(),
        })
    }

    /// Returns whether the process came close to the memory limit. If no memory is left even for an error, the engine throws `null` or leaves a
    /// promise that it cannot settle.
    fn was_full(&self) -> bool {
        peak().saturating_sub(self.before) >= self.memory as u64 / 4 * 3
    }

    pub(super) fn run(
        self,
        compiled: &Compiled,
        files: &Files,
        program: &Program,
        outbox: &Outbox,
        hear: &Receiver<HostEvent>,
    ) -> Done {
        let budget = Budget::new(&program.limits);
        let calls = Calls::new(outbox, &program.limits);
        let mut run = Run {
            machine: self,
            calls,
            budget,
            rejected: Rejected::default(),
            last_words: Cell::new(None),
            sources: Sources {
                code: &compiled.places,
                files,
                order: &program.files,
            },
        };
        let mut done = match run.go(compiled, program, outbox, hear) {
            Ok(done) | Err(done) => done,
        };
        done.logs_dropped = run.budget.dropped.get();
        // The handles of the run point into a heap that is never freed.
        std::mem::forget(run);
        done
    }
}

struct Run<'a> {
    machine: Machine,
    calls: Rc<Calls>,
    budget: Rc<Budget>,
    rejected: Rejected,
    last_words: Cell<Option<Persistent<Value<'static>>>>,
    sources: Sources<'a>,
}

/// The code's module after its evaluation has begun.
struct Started {
    ended: Persistent<Promise<'static>>,
    exports: Persistent<Object<'static>>,
}

impl Run<'_> {
    /// Runs the code until the run ends. `Ok` and `Err` both contain the result of the run: the called functions return `Err` to end the run
    /// early.
    fn go(
        &mut self,
        compiled: &Compiled,
        program: &Program,
        outbox: &Outbox,
        hear: &Receiver<HostEvent>,
    ) -> std::result::Result<Done, Done> {
        let granted = self.prepare(program, outbox)?;
        let started = self.start(&compiled.script, &granted).map_err(|mut done| {
            if let Some(error) = done.error.take() {
                done.error = Some(compiled.placed(error));
            }
            done
        })?;
        loop {
            self.jobs()?;
            if !self.calls.is_waiting() {
                return self.finish(&started);
            }
            match hear.recv_timeout(self.machine.signal.left()) {
                Ok(HostEvent::Answer(id, outcome)) => {
                    let answered = self.machine.context.with(|ctx| {
                        self.calls
                            .answer(&ctx, id, outcome)
                            .map_err(|_| self.thrown(&ctx, Status::Error))
                    });
                    answered?;
                }
                Ok(HostEvent::Stopped) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.machine.signal.raise(Stop::Gone),
            }
            self.stopped()?;
        }
    }

    /// Installs the globals and modules that the code can use.
    fn prepare(&self, program: &Program, outbox: &Outbox) -> std::result::Result<Granted, Done> {
        let mut scripts = BTreeMap::new();
        for (name, source) in &program.modules {
            let script = compile::granted(source).map_err(|error| {
                let text = format!(
                    "the host's module `{name}` cannot be read: {}",
                    error.message
                );
                Done::failed(Status::LinkError, CodeError::new("SyntaxError", text))
            })?;
            scripts.insert(name.clone(), script.script);
        }
        scripts.insert(TOOLS.to_owned(), exports(&program.tools));
        let files = self.sources.files.iter();
        scripts.extend(files.map(|(path, file)| (module_of(path), file.script.clone())));
        let granted = Granted::new(scripts);
        self.machine
            .runtime
            .set_loader(granted.clone(), granted.clone());
        let rejected = Rc::clone(&self.rejected);
        self.machine
            .runtime
            .set_host_promise_rejection_tracker(Some(Box::new(
                move |ctx, promise, reason, handled| {
                    track(&rejected, &ctx, promise, reason, handled);
                },
            )));
        self.machine.context.with(|ctx| {
            let installed = global::install(&ctx, outbox, &self.budget)
                .and_then(|()| self.calls.install(&ctx, &program.tools))
                // The module is evaluated before the code runs, so that the code cannot change its exports.
                .and_then(|()| Module::declare(ctx.clone(), TOOLS, exports(&program.tools))?.eval())
                .and_then(|_| ctx.eval::<Value<'_>, _>(LAST_WORDS))
                .map(|room| self.last_words.set(Some(Persistent::save(&ctx, room))));
            installed.map_err(|_| self.thrown(&ctx, Status::Error))
        })?;
        Ok(granted)
    }

    /// Compiles, links and starts the code. A failure before the first statement is a link error, except for a syntax error that
    /// only the engine finds, a lack of memory, and a stop.
    fn start(&self, script: &str, granted: &Granted) -> std::result::Result<Started, Done> {
        self.machine.context.with(|ctx| {
            let module = Module::declare(ctx.clone(), CODE, script).map_err(|_| {
                let linked = !granted.has_refused();
                self.thrown(
                    &ctx,
                    if linked {
                        Status::Error
                    } else {
                        Status::LinkError
                    },
                )
            })?;
            let started = module.eval().and_then(|(module, ended)| {
                Ok(Started {
                    ended: Persistent::save(&ctx, ended),
                    exports: Persistent::save(&ctx, module.namespace()?),
                })
            });
            started.map_err(|_| self.thrown(&ctx, Status::LinkError))
        })
    }

    /// Runs jobs until no job is pending.
    fn jobs(&self) -> std::result::Result<(), Done> {
        loop {
            self.stopped()?;
            match self.machine.runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => return self.stopped(),
                // An exception in a job becomes a rejection; only uncatchable errors are returned here.
                Err(job) => {
                    return Err(job.0.with(|ctx| self.thrown(&ctx, Status::Error)));
                }
            }
        }
    }

    fn stopped(&self) -> std::result::Result<(), Done> {
        match self.machine.signal.state() {
            Stop::No => Ok(()),
            _ => Err(self.machine.signal.done()),
        }
    }

    /// Ends the run with the pending exception.
    fn thrown(&self, ctx: &Ctx<'_>, status: Status) -> Done {
        let thrown = ctx.catch();
        self.failed(ctx, &thrown, status)
    }

    fn failed<'js>(&self, ctx: &Ctx<'js>, thrown: &Value<'js>, status: Status) -> Done {
        if let Err(done) = self.stopped() {
            return done;
        }
        if let Some(room) = self.last_words.take() {
            drop(room.restore(ctx));
        }
        let (error, file) = fault(ctx, thrown, &self.sources);
        // Reading the thrown value may run code, which may exceed the deadline.
        if let Err(done) = self.stopped() {
            return done;
        }
        if (thrown.is_null() && self.machine.was_full()) || is_out_of_memory(&error) {
            return self.full(error);
        }
        Done {
            file,
            ..Done::failed(status, error)
        }
    }

    fn full(&self, error: CodeError) -> Done {
        let message = format!(
            "the code needed more than its {} bytes of memory: store less data at once, work in parts",
            self.machine.memory
        );
        Done::failed(Status::Memory, CodeError { message, ..error })
    }

    /// Returns the result of code that has neither pending jobs nor pending calls.
    fn finish(&self, started: &Started) -> std::result::Result<Done, Done> {
        self.machine.context.with(|ctx| {
            let restored = |_| self.thrown(&ctx, Status::Error);
            let ended = started.ended.clone().restore(&ctx).map_err(restored)?;
            match ended.state() {
                PromiseState::Pending => {
                    let text = "the code waits for a promise that never settles";
                    let error = CodeError::new("Error", text);
                    return Err(if self.machine.was_full() {
                        self.full(error)
                    } else {
                        Done::failed(Status::Error, error)
                    });
                }
                PromiseState::Rejected => {
                    let _ = ended.result::<Value<'_>>();
                    return Err(self.thrown(&ctx, Status::Error));
                }
                PromiseState::Resolved => {}
            }
            if let Some((_, reason)) = self.rejected.borrow_mut().pop() {
                let reason = reason.restore(&ctx).map_err(restored)?;
                let mut done = self.failed(&ctx, &reason, Status::Error);
                if let Some(error) = done.error.as_mut().filter(|_| done.status == Status::Error) {
                    error.message = format!("unhandled promise rejection: {}", error.message);
                }
                return Err(done);
            }
            let exports = started.exports.clone().restore(&ctx).map_err(restored)?;
            self.result(&ctx, &exports)
        })
    }

    fn result<'js>(
        &self,
        ctx: &Ctx<'js>,
        exports: &Object<'js>,
    ) -> std::result::Result<Done, Done> {
        let value: Value<'js> = exports
            .get("default")
            .map_err(|_| self.thrown(ctx, Status::Error))?;
        if value.is_function() {
            let text = "the result is a function, return its result instead";
            return Err(Done::failed(
                Status::Error,
                CodeError::new("TypeError", text),
            ));
        }
        let json = global::json(ctx, value).map_err(|_| self.thrown(ctx, Status::Error))?;
        if let Some(json) = json
            .as_ref()
            .filter(|json| json.get().len() > self.budget.values.get())
        {
            let text = format!(
                "the result has {} bytes, and {} are left for it: return less",
                json.get().len(),
                self.budget.values.get()
            );
            return Err(Done::failed(
                Status::Error,
                CodeError::new("RangeError", text),
            ));
        }
        Ok(Done {
            status: Status::Success,
            result: json,
            error: None,
            file: None,
            logs_dropped: 0,
        })
    }
}

/// Returns the peak memory of the process so far, in bytes.
fn peak() -> u64 {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF);
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    usage.map_or(0, |usage| {
        u64::try_from(usage.max_rss()).unwrap_or(0) * unit
    })
}

/// Stores a rejection until it is handled, at most [`REJECTIONS`] at a time.
fn track<'js>(
    rejected: &Rejected,
    ctx: &Ctx<'js>,
    promise: Value<'js>,
    reason: Value<'js>,
    handled: bool,
) {
    let mut rejected = rejected.borrow_mut();
    if handled {
        rejected.retain(|(known, _)| {
            known
                .clone()
                .restore(ctx)
                .is_ok_and(|known| known != promise)
        });
    } else if rejected.len() < REJECTIONS {
        rejected.push((
            Persistent::save(ctx, promise),
            Persistent::save(ctx, reason),
        ));
    }
}

/// Defines a global that the code cannot replace.
pub(super) fn define<'js>(
    globals: &Object<'js>,
    name: &str,
    value: impl IntoJs<'js>,
) -> Result<()> {
    globals.prop(name, Property::from(value))
}
