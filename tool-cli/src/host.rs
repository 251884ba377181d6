//! What the commands work on.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, FromArgMatches as _};
use tool_core::redact::{SharedRedactor, install_panic_hook};
use tool_core::store::MemoryStore;
use tool_core::{Approvals, Gate, Registry, Rules, ToolContext, ToolContextBuilder, Toolset};

use crate::args::{Color, Format, Words};
use crate::commands;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

/// What a host adds to a context.
pub(crate) type Prepare = dyn Fn(ToolContextBuilder) -> ToolContextBuilder + Send + Sync;

/// What a host makes of the tools that a caller sees.
type Shape = dyn Fn(Toolset, &ToolContext) -> Toolset + Send + Sync;

/// The command line of a host: its tools, and what stands between a call and their bodies.
///
/// ```no_run
/// use tool_core::{Registry, Rules};
///
/// fn main() -> std::process::ExitCode {
///     tool_cli::Cli::new()
///         .rules(Rules::default().deny(["delete_account"]))
///         .context(|cx| cx.workspace("acme"))
///         .run()
/// }
/// ```
#[must_use]
#[derive(Default)]
pub struct Cli {
    name: Option<String>,
    registry: Option<Registry>,
    rules: Rules,
    gate: Option<Gate>,
    context: Option<Arc<Prepare>>,
    shape: Option<Arc<Shape>>,
    workspace: bool,
    /// Knows the secrets of every call that runs, for what a panic prints.
    printed: SharedRedactor,
}

impl Cli {
    /// Every linked tool, without rules, with approvals that are asked for in the terminal.
    pub fn new() -> Self {
        Self::default()
    }

    /// How the program calls itself in its help; its file name where nothing is said.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The tools; every linked one where nothing is said.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// What a call from the command line may see.
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The gate that every call passes. Give it approvals, or calls that need one are refused; where nothing is said, it has some that
    /// are kept in memory and asked for in the terminal.
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Adds the host's values to the context of a call. It already has user, secrets and variables from flags and environment.
    pub fn context(
        mut self,
        prepare: impl Fn(ToolContextBuilder) -> ToolContextBuilder + Send + Sync + 'static,
    ) -> Self {
        self.context = Some(Arc::new(prepare));
        self
    }

    /// Changes what a caller is offered by `list`, `schema`, `call` and `serve`, after the rules: for [`Toolset::searched`], and for tools
    /// that are made from the others. What it is given goes through the gate, and so does what it gives.
    pub fn shape(
        mut self,
        shape: impl Fn(Toolset, &ToolContext) -> Toolset + Send + Sync + 'static,
    ) -> Self {
        self.shape = Some(Arc::new(shape));
        self
    }

    /// Runs the command that the arguments of the process name, on a runtime of its own.
    ///
    /// Before a tool runs (`call` and `serve`), a panic hook is installed that masks the secrets of the call
    /// ([`install_panic_hook`]). It takes the place of the hook before it.
    ///
    /// It may be called where a runtime is running already; [`run_async`](Self::run_async) then saves the second one.
    pub fn run(self) -> ExitCode {
        commands::completions::answer(&self);
        let arguments: Vec<OsString> = std::env::args_os().collect();
        on_runtime(self.run_async(arguments))
    }

    /// Obeys words that were read already.
    #[cfg(feature = "cargo")]
    pub(crate) fn run_words(self, words: Words) -> ExitCode {
        on_runtime(self.obey(words))
    }

    /// The tools are those of a workspace's libraries.
    #[cfg(feature = "cargo")]
    pub(crate) fn of_workspace(mut self) -> Self {
        self.name = Some("cargo tool".to_owned());
        self.workspace = true;
        self
    }

    /// Runs the command that these arguments name, the program's own name first. It installs a panic hook as [`run`](Self::run) does.
    pub async fn run_async<A: Into<OsString> + Clone>(
        self,
        arguments: impl IntoIterator<Item = A>,
    ) -> ExitCode {
        let mut arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        if let Some(name) = &self.name {
            // The help shows the first argument as the program's name.
            arguments.splice(..1.min(arguments.len()), [OsString::from(name)]);
        }
        let words = self
            .words()
            .color(clap_color(&arguments))
            .try_get_matches_from_mut(&arguments)
            .and_then(|matches| Words::from_arg_matches(&matches));
        match words {
            Ok(words) => self.obey(words).await,
            Err(error) => misused(&error, wants_json(&arguments)),
        }
    }

    pub(crate) async fn obey(self, words: Words) -> ExitCode {
        let screen = Screen::new(words.look.format, words.look.color);
        match commands::run(&self, words.command, screen).await {
            Ok(exit) => exit.into(),
            Err(failure) => {
                screen.fail(&failure);
                failure.exit.into()
            }
        }
    }

    /// Whether the program is `cargo tool`.
    pub(crate) fn is_of_workspace(&self) -> bool {
        self.workspace
    }

    /// Every word, under the program's name.
    pub(crate) fn words(&self) -> clap::Command {
        #[cfg(feature = "cargo")]
        if self.workspace {
            return crate::cargo::words();
        }
        let command = with_usage(Words::command(), &self.program());
        match &self.name {
            Some(name) => command.name(name.clone()).bin_name(name.clone()),
            None => command,
        }
    }

    /// The program's name, as a shell knows it.
    pub(crate) fn program(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let path = std::env::args_os().next().map(PathBuf::from);
            let name = path.as_deref().and_then(|path| path.file_stem());
            name.map_or_else(
                || "tool".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            )
        })
    }

    /// A command as it is typed, program included.
    pub(crate) fn line(&self, words: &str) -> String {
        format!("{} {words}", self.program())
    }

    /// The tools.
    pub(crate) fn tools(&self) -> Result<Registry, Failure> {
        match &self.registry {
            Some(registry) => Ok(registry.clone()),
            None if self.workspace => {
                let linked = Registry::builder().with_linked().build();
                let registry = linked.map_err(|error| Failure::usage(error.to_string()))?;
                if registry.is_empty() {
                    return Err(
                        Failure::usage("the libraries of the workspace have no tool")
                            .hint("put `#[tool]` on a fn of a library that depends on `tool-core`"),
                    );
                }
                Ok(registry)
            }
            None => Registry::linked().map_err(|error| Failure::usage(error.to_string())),
        }
    }

    /// What callers are offered of these tools.
    pub(crate) fn offer(&self, registry: &Registry, gate: &Gate) -> Offer {
        Offer {
            registry: registry.clone(),
            rules: self.rules.clone(),
            gate: gate.clone(),
            shape: self.shape.clone(),
        }
    }

    /// The host's gate, or one that asks in the terminal.
    pub(crate) fn gate_of(&self) -> Result<Gate, Failure> {
        if let Some(gate) = &self.gate {
            return Ok(gate.clone());
        }
        let store = MemoryStore::default();
        let approvals = Approvals::builder(store.clone()).build();
        let approvals = approvals.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
        Ok(Gate::builder().approvals(approvals).ledger(store).build())
    }

    #[cfg(feature = "serve")]
    pub(crate) fn preparation(&self) -> Option<Arc<Prepare>> {
        self.context.clone()
    }

    /// Masks secrets in what panics print from now on. Gives what has to know them.
    pub(crate) fn mask_panics(&self) -> &SharedRedactor {
        install_panic_hook(&self.printed);
        &self.printed
    }

    pub(crate) fn prepare(&self, cx: ToolContextBuilder) -> ToolContextBuilder {
        match &self.context {
            Some(prepare) => prepare(cx),
            None => cx,
        }
    }
}

/// What callers are offered.
pub(crate) struct Offer {
    registry: Registry,
    rules: Rules,
    gate: Gate,
    shape: Option<Arc<Shape>>,
}

impl Offer {
    /// The tools of a caller, through the gate.
    pub(crate) fn toolset(&self, cx: &ToolContext) -> Toolset {
        let tools = self.registry.toolset(cx, &self.rules).through(&self.gate);
        match &self.shape {
            None => tools,
            Some(shape) => shape(tools, cx).through(&self.gate),
        }
    }
}

/// The usage of `call`, which ends with words that only a tool knows, under the program's name.
pub(crate) fn with_usage(command: clap::Command, program: &str) -> clap::Command {
    let usage = format!("{program} call [OPTIONS] <NAME> [--ARGUMENT VALUE]…");
    command.mut_subcommand("call", |call| call.override_usage(usage))
}

/// Runs to the end. A thread of its own, because a runtime cannot be started where one runs.
fn on_runtime(work: impl Future<Output = ExitCode> + Send) -> ExitCode {
    let run = || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => {
                let code = runtime.block_on(work);
                // A body that blocks and was given up must not keep the program.
                runtime.shutdown_background();
                code
            }
            Err(error) => {
                Screen::new(Format::Human, Color::Auto).fail(&Failure::from(error));
                Exit::Failed.into()
            }
        }
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap_or(Exit::Failed.into()))
}

/// Reports a wrong word, or shows the help that was asked for.
pub(crate) fn misused(error: &clap::Error, json: bool) -> ExitCode {
    misused_exit(error, json).into()
}

pub(crate) fn misused_exit(error: &clap::Error, json: bool) -> Exit {
    if !error.use_stderr() {
        // Nobody is left to be told where the stream is gone.
        let _ = error.print();
        return Exit::Ok;
    }
    if json {
        Screen::new(Format::Json, Color::Never).fail(&wrong_word(error));
    } else {
        let _ = error.print();
    }
    Exit::Usage
}

/// A wrong word without what clap prints around it for people.
fn wrong_word(error: &clap::Error) -> Failure {
    use clap::error::ErrorKind;

    const HELP: &str = "`--help` shows what can be written here";
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("a command is missing").hint(HELP);
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut said = String::new();
    let mut tips = Vec::new();
    for paragraph in text.split("\n\n") {
        let paragraph = paragraph.trim();
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            tips.extend(tip.split("tip: ").map(str::trim));
        } else if said.is_empty() {
            paragraph.clone_into(&mut said);
        }
    }
    let hint = if tips.is_empty() {
        HELP.to_owned()
    } else {
        tips.join("; ")
    };
    Failure::usage(said).hint(hint)
}

/// Whether `--format json` stands among words that are not read yet, or cannot be.
pub(crate) fn wants_json(arguments: &[OsString]) -> bool {
    value_of("--format", arguments) == Some("json")
}

/// What `--color` says, looked up before the words are read: an error about them has colours too.
pub(crate) fn clap_color(arguments: &[OsString]) -> clap::ColorChoice {
    match value_of("--color", arguments) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// The value of an option.
fn value_of<'a>(option: &str, arguments: &'a [OsString]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_str()?;
        if word == option {
            return arguments.get(at + 1)?.to_str();
        }
        word.strip_prefix(option)?.strip_prefix('=')
    })
}
