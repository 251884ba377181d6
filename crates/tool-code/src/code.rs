//! Host configuration of code execution.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tool_core::{ToolContext, Toolset};
use tool_isolate::Isolation;

use crate::calls::Callable;
use crate::engine::is_bare;
use crate::handle::{RunHandle, Runs};
use crate::limits::Limits;
use crate::run::Run;
use crate::setup::Setup;

/// Configured code execution: the limits, the modules, and the isolation of the process. Cheap to clone.
///
/// [`instead_of`](Code::instead_of) and [`beside`](Code::beside) make `run_code` a tool of a turn;
/// [`start`](Code::start) runs code that is not from a call of `run_code`.
#[derive(Clone)]
pub struct Code(pub(crate) Arc<Setup>);

/// Configures and builds a [`Code`]. All settings are optional.
#[derive(Clone, Debug)]
#[must_use]
pub struct CodeBuilder {
    isolation: Isolation,
    limits: Limits,
    modules: Vec<(String, String)>,
    waiting: bool,
    inline: usize,
}

/// The reason why a [`Code`] cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeSetupError {
    /// The module's name is not a bare specifier.
    #[error(
        "`{0}` is not a bare module name, use letters, digits, `-`, `_`, `.` and `/` without `./` before it"
    )]
    Specifier(String),
    /// The module's name is already used for the tools or for a different module.
    #[error("a module `{0}` already exists, use a different name")]
    Taken(String),
    /// The limit `time`, `memory`, `stack` or `code` is zero.
    #[error("`{0}` is zero, so no code could run: set it to at least 1")]
    Zero(&'static str),
}

impl Code {
    /// Starts the configuration with the defaults.
    pub fn builder() -> CodeBuilder {
        CodeBuilder {
            isolation: Isolation::new(),
            limits: Limits::default(),
            modules: Vec::new(),
            waiting: false,
            inline: 6 << 10,
        }
    }

    /// Prepares a run of code with these tools on behalf of a caller. Each call that the code makes passes the
    /// toolset's gate. If `cx` is the context of a running call, the code's calls are nested in that call.
    ///
    /// ```no_run
    /// use tool_code::{Code, Status};
    /// use tool_core::prelude::*;
    ///
    /// # async fn demo(tools: Toolset, cx: ToolContext) -> Result<(), Box<dyn std::error::Error>> {
    /// let code = Code::builder().build()?;
    /// let run = code.start("return await tools.add({ a: 1, b: 2 })", &tools, &cx);
    /// let handle = run.handle();
    /// assert!(handle.running());
    /// // … elsewhere: handle.terminate("the user has closed the window");
    /// let result = run.finish().await.map_err(|error| error.model_text())?;
    /// assert_eq!((result.status, result.result.get()), (Status::Success, "3"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(&self, code: impl Into<String>, tools: &Toolset, cx: &ToolContext) -> Run {
        let callable = Callable::new(tools, cx, self.0.waiting);
        self.start_with(code.into(), callable, cx, None)
    }

    pub(crate) fn start_with(
        &self,
        code: String,
        callable: Callable,
        cx: &ToolContext,
        time: Option<Duration>,
    ) -> Run {
        Run::new(&self.0, callable, cx, code, time)
    }

    /// Returns the active runs, whether a `run_code` call or the host has started them.
    pub fn runs(&self) -> Vec<RunHandle> {
        self.0.runs.list()
    }

    /// Returns the resource limits of a run.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }
}

impl CodeBuilder {
    /// Sets how the engine's process is isolated. By default it runs the host's own binary, with all the isolation that the kernel supports.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Sets the resource limits of a run.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Grants a module that code can import by this bare name. The module is TypeScript or
    /// JavaScript, has the same globals as the code, and may import other granted modules.
    pub fn module(mut self, name: impl Into<String>, source: impl Into<String>) -> Self {
        self.modules.push((name.into(), source.into()));
        self
    }

    /// Sets whether code may wait for people. If allowed, tools that may ask a person are available too. A call that needs an approval or a variable
    /// ends the run, and `run_code` returns `Pending`; call it again after the person has answered. If a tool asks a question while it runs, the run
    /// waits for the answer, within its time limit.
    pub fn waiting(mut self, allowed: bool) -> Self {
        self.waiting = allowed;
        self
    }

    /// Sets how many bytes of declarations the description of `run_code` may contain; 6 KiB by default. If the declarations are longer, the
    /// description lists the names of the tools, and `describe_api` returns the declarations.
    pub fn inline(mut self, bytes: usize) -> Self {
        self.inline = bytes;
        self
    }

    /// Checks the settings, and builds the [`Code`].
    ///
    /// # Errors
    ///
    /// Fails if a module's name is not a bare specifier or is already used, or if the limit `time`, `memory`, `stack` or `code` is zero.
    pub fn build(self) -> Result<Code, CodeSetupError> {
        let limits = &self.limits;
        let needed = [
            ("time", limits.time.is_zero()),
            ("memory", limits.memory == 0),
            ("stack", limits.stack == 0),
            ("code", limits.code == 0),
        ];
        if let Some((limit, _)) = needed.into_iter().find(|(_, zero)| *zero) {
            return Err(CodeSetupError::Zero(limit));
        }
        let mut known = vec!["tools"];
        for (name, _) in &self.modules {
            if !is_bare(name) {
                return Err(CodeSetupError::Specifier(name.clone()));
            }
            if known.contains(&name.as_str()) {
                return Err(CodeSetupError::Taken(name.clone()));
            }
            known.push(name);
        }
        Ok(Code(Arc::new(Setup {
            isolation: self.isolation,
            limits: self.limits,
            modules: self.modules,
            waiting: self.waiting,
            inline: self.inline,
            runs: Runs::default(),
        })))
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code")
            .field("limits", &self.0.limits)
            .field("waiting", &self.0.waiting)
            .field("runs", &self.0.runs)
            .finish_non_exhaustive()
    }
}
