//! The host of the command line: its tools, rules, gate and context.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory as _;
#[cfg(feature = "chat")]
use tool_agent::runtime::AgentRuntimeBuilder;
use tool_core::redact::{SharedRedactor, install_panic_hook};
use tool_core::store::MemoryStore;
use tool_core::{Approvals, Gate, Registry, Rules, ToolContext, ToolContextBuilder, Toolset};

#[cfg(feature = "cargo")]
use crate::args::cargo::CargoArguments;
use crate::args::{Arguments, Color, Format};
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

/// A callback that adds the host's values to a context.
pub(crate) type Prepare = dyn Fn(ToolContextBuilder) -> ToolContextBuilder + Send + Sync;

/// A callback that changes the tools that a caller sees.
type Shape = dyn Fn(Toolset, &ToolContext) -> Toolset + Send + Sync;

/// The agents of a chat.
#[cfg(feature = "chat")]
#[derive(Clone)]
pub(crate) struct HostAgents {
    /// The agent that begins a conversation.
    pub(crate) first: String,
    pub(crate) add: Arc<AddAgents>,
}

/// A callback that adds agents to a runtime.
#[cfg(feature = "chat")]
pub(crate) type AddAgents = dyn Fn(AgentRuntimeBuilder) -> Result<AgentRuntimeBuilder, Box<dyn std::error::Error + Send + Sync>>
    + Send
    + Sync;

/// A callback that adds runners to the stored tools.
#[cfg(feature = "admin")]
type Runners =
    dyn Fn(tool_core::stored::StoredTools) -> tool_core::stored::StoredTools + Send + Sync;

/// The command line of a host: its tools, and the rules and the gate that check every call.
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
    pub(crate) name: Option<String>,
    registry: Option<Registry>,
    rules: Rules,
    gate: Option<Gate>,
    context: Option<Arc<Prepare>>,
    shape: Option<Arc<Shape>>,
    #[cfg(feature = "admin")]
    runners: Option<Arc<Runners>>,
    #[cfg(feature = "chat")]
    agents: Option<HostAgents>,
    workspace: bool,
    /// Contains the secrets of all running calls, which are redacted in the output of panics.
    printed: SharedRedactor,
}

impl Cli {
    /// Creates a command line with every linked tool and without rules. `call` and `chat` ask for approvals in the terminal.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the program's name in the help. The default is its file name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the tools. The default is every linked tool.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Sets the rules that decide which tools a caller sees and may call.
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Sets the gate that checks every call. A gate without approvals refuses calls that need an approval. The default gate stores approvals in
    /// memory, or in the store of `--store`. `call` and `chat` ask for approvals in the terminal.
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Adds the host's values to the context of each call. The user, the workspace, the secrets and the variables from flags and the environment are
    /// already set.
    pub fn context(
        mut self,
        prepare: impl Fn(ToolContextBuilder) -> ToolContextBuilder + Send + Sync + 'static,
    ) -> Self {
        self.context = Some(Arc::new(prepare));
        self
    }

    /// Changes the tools that `list`, `schema NAME`, `types`, `call`, `chat` and `serve` offer, after the rules. Use it for [`Toolset::searched`],
    /// and to add tools that call other tools. The gate checks the calls of both the given and the returned toolset.
    pub fn shape(
        mut self,
        shape: impl Fn(Toolset, &ToolContext) -> Toolset + Send + Sync + 'static,
    ) -> Self {
        self.shape = Some(Arc::new(shape));
        self
    }

    /// Sets the agents with which `chat` talks, in place of one model with all tools. `first` is the name of the agent that begins a conversation,
    /// and `add` adds the agents to a runtime that has the stores and the gate of the chat. An error is printed, and the chat does not begin.
    ///
    /// ```no_run
    /// use tool_agent::agent::Agent;
    /// use tool_agent::model::{ApiKey, Endpoint, HttpModel};
    /// use tool_agent::runtime::{AgentEntry, Subagent};
    ///
    /// fn main() -> std::process::ExitCode {
    ///     tool_cli::Cli::new()
    ///         .agents("chief", |runtime| {
    ///             let endpoint = Endpoint::anthropic(ApiKey::from_env("ANTHROPIC_API_KEY")?);
    ///             let model = HttpModel::builder(endpoint, "claude-sonnet-4-5").build()?;
    ///             let chief = Agent::builder("chief", model.clone()).build()?;
    ///             let researcher = Agent::builder("researcher", model).build()?;
    ///             Ok(runtime
    ///                 .agent(AgentEntry::new(chief).subagent(Subagent::new("researcher")))
    ///                 .agent(AgentEntry::new(researcher).autonomous().expose("Researches a question.")))
    ///         })
    ///         .run()
    /// }
    /// ```
    #[cfg(feature = "chat")]
    pub fn agents(
        mut self,
        first: impl Into<String>,
        add: impl Fn(
            AgentRuntimeBuilder,
        ) -> Result<AgentRuntimeBuilder, Box<dyn std::error::Error + Send + Sync>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.agents = Some(HostAgents {
            first: first.into(),
            add: Arc::new(add),
        });
        self
    }

    /// Returns the agents of a chat, if the host has set them.
    #[cfg(feature = "chat")]
    pub(crate) fn own_agents(&self) -> Option<&HostAgents> {
        self.agents.as_ref()
    }

    /// Adds runners of functions to the stored tools of `serve --store`, before the runners of `--typescript` and `--mcp-server`: for example the
    /// `HttpRunner` of `tool-std`.
    ///
    /// ```no_run
    /// use tool_core::stored::StoredTools;
    ///
    /// # fn runner() -> impl tool_core::stored::FunctionRunner { tool_core::stored::LinkedRunner::new(&tool_core::Registry::linked().unwrap(), tool_core::Rules::default()) }
    /// fn main() -> std::process::ExitCode {
    ///     tool_cli::Cli::new().stored_tools(|tools: StoredTools| tools.runner(runner())).run()
    /// }
    /// ```
    #[cfg(feature = "admin")]
    pub fn stored_tools(
        mut self,
        add: impl Fn(tool_core::stored::StoredTools) -> tool_core::stored::StoredTools
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.runners = Some(Arc::new(add));
        self
    }

    /// Adds the host's own runners.
    #[cfg(feature = "admin")]
    pub(crate) fn with_runners(
        &self,
        tools: tool_core::stored::StoredTools,
    ) -> tool_core::stored::StoredTools {
        match &self.runners {
            Some(add) => add(tools),
            None => tools,
        }
    }

    /// Uses the tools of a workspace's libraries.
    #[cfg(feature = "cargo")]
    pub(crate) fn of_workspace(mut self) -> Self {
        self.name = Some("cargo tool".to_owned());
        self.workspace = true;
        self
    }

    /// Returns whether this command line is `cargo tool`.
    pub(crate) fn is_of_workspace(&self) -> bool {
        self.workspace
    }

    /// Returns the command-line parser, under the program's name.
    pub(crate) fn words(&self) -> clap::Command {
        #[cfg(feature = "cargo")]
        if self.workspace {
            return with_usage(CargoArguments::command(), "cargo tool");
        }
        let command = with_usage(Arguments::command(), &self.program());
        match &self.name {
            Some(name) => command.name(name.clone()).bin_name(name.clone()),
            None => command,
        }
    }

    /// Returns the program's name, as it is typed in a shell.
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

    /// Returns a command as it is typed, with the program's name.
    pub(crate) fn line(&self, words: &str) -> String {
        format!("{} {words}", self.program())
    }

    /// Returns the tools of the host.
    pub(crate) fn tools(&self) -> Result<Registry, Failure> {
        match &self.registry {
            Some(registry) => Ok(registry.clone()),
            None if self.workspace => {
                let linked = Registry::builder().with_linked().build();
                let registry = linked.map_err(|error| Failure::usage(error.to_string()))?;
                if registry.is_empty() {
                    return Err(
                        Failure::usage("the libraries of the workspace have no tools")
                            .hint("put `#[tool]` on a fn of a library that depends on `tool-core`"),
                    );
                }
                Ok(registry)
            }
            None => Registry::linked().map_err(|error| Failure::usage(error.to_string())),
        }
    }

    /// Returns the parts from which the toolset of each caller is built.
    pub(crate) fn offer(&self, registry: &Registry, gate: &Gate) -> Offer {
        Offer {
            registry: registry.clone(),
            rules: self.rules.clone(),
            gate: gate.clone(),
            shape: self.shape.clone(),
        }
    }

    /// Returns the host's gate, or a gate that stores approvals and effects in memory.
    pub(crate) fn gate_of(&self) -> Result<Gate, Failure> {
        if let Some(gate) = &self.gate {
            return Ok(gate.clone());
        }
        let store = MemoryStore::default();
        let approvals = Approvals::builder(store.clone()).build();
        let approvals = approvals.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
        Ok(Gate::builder().approvals(approvals).ledger(store).build())
    }

    /// Returns the gate that the host has set.
    #[cfg(any(feature = "admin", feature = "chat"))]
    pub(crate) fn own_gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    #[cfg(feature = "serve")]
    pub(crate) fn preparation(&self) -> Option<Arc<Prepare>> {
        self.context.clone()
    }

    /// Installs a panic hook that redacts secrets. Returns the redactor to which the caller must add the secrets.
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

/// The parts from which the toolset of each caller is built.
pub(crate) struct Offer {
    registry: Registry,
    rules: Rules,
    gate: Gate,
    shape: Option<Arc<Shape>>,
}

impl Offer {
    /// Applies these switches to the tools.
    #[cfg(feature = "admin")]
    pub(crate) fn switched(mut self, switches: &tool_core::Switches) -> Self {
        self.rules = self.rules.switches(switches);
        self
    }

    /// Returns the runner of functions that are tools of the program, with the rules of the program.
    #[cfg(feature = "admin")]
    pub(crate) fn runner(&self) -> tool_core::stored::LinkedRunner {
        tool_core::stored::LinkedRunner::new(&self.registry, self.rules.clone())
    }

    /// Returns the runner of TypeScript functions, which can call the tools of the program with the rules of the program.
    #[cfg(feature = "typescript")]
    pub(crate) fn code_runner(&self, code: tool_code::Code) -> tool_code::TypeScriptRunner {
        tool_code::TypeScriptRunner::new(code, &self.registry, self.rules.clone())
    }

    /// Returns the tools of a different registry for a caller, with the gate and the rules of the program.
    #[cfg(feature = "admin")]
    pub(crate) fn others(&self, registry: &Registry, cx: &ToolContext) -> Toolset {
        let rules = self.rules.renewed();
        registry.toolset(cx, &rules).through(&self.gate)
    }

    /// Uses this policy to decide about the calls.
    #[cfg(feature = "serve")]
    pub(crate) fn with_policy(mut self, policy: &tool_core::policy::SharedPolicy) -> Self {
        self.rules = self.rules.policy(policy);
        self
    }

    /// Returns the policy that decides about the calls.
    #[cfg(feature = "admin")]
    pub(crate) fn policy(&self) -> Option<&tool_core::policy::SharedPolicy> {
        self.rules.shared_policy()
    }

    /// Returns the toolset of a caller, behind the gate.
    pub(crate) fn toolset(&self, cx: &ToolContext) -> Toolset {
        let rules = self.rules.renewed();
        let tools = self.registry.toolset(cx, &rules).through(&self.gate);
        match &self.shape {
            None => tools,
            Some(shape) => shape(tools, cx).through(&self.gate),
        }
    }
}

/// Sets the usage of `call`, which ends with flags that depend on the tool.
fn with_usage(command: clap::Command, program: &str) -> clap::Command {
    let usage = format!("{program} call [OPTIONS] <NAME> [--ARGUMENT VALUE]…");
    command.mut_subcommand("call", |call| call.override_usage(usage))
}

/// Reports a usage error, or prints the requested help or version.
pub(crate) fn misused(error: &clap::Error, json: bool) -> ExitCode {
    misused_exit(error, json).into()
}

pub(crate) fn misused_exit(error: &clap::Error, json: bool) -> Exit {
    if !error.use_stderr() {
        // If the stream is closed, the error cannot be reported anywhere.
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

/// Converts a usage error, without the parts that clap adds for people.
fn wrong_word(error: &clap::Error) -> Failure {
    use clap::error::ErrorKind;

    const HELP: &str = "`--help` shows the commands and options";
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

/// Returns whether the first `--format` in the arguments is `json`, before they are parsed or if they cannot be parsed.
pub(crate) fn wants_json(arguments: &[OsString]) -> bool {
    value_of("--format", arguments) == Some("json")
}

/// Returns the value of `--color`, read before the arguments are parsed, because parse errors are coloured too.
pub(crate) fn clap_color(arguments: &[OsString]) -> clap::ColorChoice {
    match value_of("--color", arguments) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// Returns the value of the first occurrence of an option.
fn value_of<'a>(option: &str, arguments: &'a [OsString]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_str()?;
        if word == option {
            return arguments.get(at + 1)?.to_str();
        }
        word.strip_prefix(option)?.strip_prefix('=')
    })
}
