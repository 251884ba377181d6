//! Command-line arguments of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tool_core::Dialect;

#[cfg(feature = "cargo")]
pub(crate) mod cargo;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs, in the shapes of `docs/cli.md`.
    Json,
}

/// Whether there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Lists, calls, checks, locks and measures tools.
///
/// Exit codes: 0 success, 1 a tool or a check failed, 2 wrong use, 3 the call was not allowed, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "tool", version, max_term_width = 100)]
pub(crate) struct Words {
    #[command(flatten)]
    pub(crate) look: Look,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What holds for every command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Look {
    /// How results are written.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub(crate) format: Format,
    /// Whether there is colour.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub(crate) color: Color,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(List),
    Schema(Schema),
    Call(Call),
    Check(Check),
    Lock(Lock),
    Diff(Diff),
    Budget(Budget),
    Serve(Serve),
    Import(Import),
    New(New),
    Completions(Completions),
}

/// Lists the tools, and says why one is hidden.
///
/// A tool is hidden by the host's rules or because a secret that it needs is missing; `call` refuses it as well.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only tools whose name, category or tags hold this.
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) supply: Supply,
}

/// Prints the definition of a tool for a provider.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The tool; all of them as the list that goes into a request where none is named.
    pub(crate) name: Option<String>,
    /// The provider whose format is printed.
    #[arg(long, short, default_value = "json_schema", value_parser = dialects())]
    pub(crate) dialect: Dialect,
    /// The whole definition instead of the schema of its arguments.
    #[arg(long)]
    pub(crate) definition: bool,
    /// The schema of the output instead of that of its arguments.
    #[arg(long, conflicts_with = "definition", requires = "name")]
    pub(crate) output: bool,
}

pub(crate) fn dialects() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).map(|name| {
        // clap rejects all names that are not in `ALL`.
        Dialect::from_name(&name).unwrap_or(Dialect::JsonSchema)
    })
}

/// Calls a tool.
///
/// Flags after the name are the tool's arguments, made from its schema: `call search_docs --query serde --limit 3`. Options of `call`
/// itself may be written there too, if no argument has the same name. `call NAME --help` shows the arguments.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "NAME",
    after_help = "Exit codes: 0 success, 1 the tool failed, 2 the arguments do not fit or there is no such tool, \
3 hidden, denied or not approved, 130 interrupted."
)]
pub(crate) struct Call {
    #[command(flatten)]
    pub(crate) how: How,
    #[command(subcommand)]
    pub(crate) tool: Option<Named>,
}

/// A tool and what follows its name.
#[derive(Debug, Subcommand)]
pub(crate) enum Named {
    /// The name and its arguments, read by the tool's schema.
    #[command(external_subcommand)]
    Tool(Vec<OsString>),
}

/// Options of a call.
#[derive(Clone, Debug, Default, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one word of the command line"
)]
pub(crate) struct How {
    /// The arguments as JSON: the text itself, `@FILE`, or `-` for the standard input.
    #[arg(long, value_name = "JSON")]
    pub(crate) json: Option<String>,
    /// Approves the call where it has to be approved, without asking.
    #[arg(long)]
    pub(crate) approve: bool,
    /// Denies the call where it has to be approved, without asking.
    #[arg(long, conflicts_with = "approve")]
    pub(crate) deny: bool,
    /// Takes arguments exactly as the schema has them, without repair.
    #[arg(long)]
    pub(crate) no_repair: bool,
    /// Prints what the model reads instead of the whole output, or of the whole error.
    #[arg(long)]
    pub(crate) model: bool,
    /// Writes the files of the result (images, audio and others) into this folder, and overwrites none.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) supply: Supply,
}

impl How {
    /// Merges the options before the tool's name with those after it.
    pub(crate) fn and(mut self, later: Self) -> Self {
        self.json = later.json.or(self.json);
        self.approve |= later.approve;
        self.deny |= later.deny;
        self.no_repair |= later.no_repair;
        self.model |= later.model;
        self.save = later.save.or(self.save);
        self.supply.secrets.extend(later.supply.secrets);
        self.supply.variables.extend(later.supply.variables);
        self.supply.user = later.supply.user.or(self.supply.user);
        self.supply.workspace = later.supply.workspace.or(self.supply.workspace);
        self
    }
}

/// Options that may stand after the name of a tool.
#[derive(Clone, Debug, Args)]
pub(crate) struct Later {
    #[command(flatten)]
    pub(crate) how: How,
    /// How results are written.
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// Whether there is colour.
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) color: Option<Color>,
}

/// Secrets and variables, and who calls.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Supply {
    /// Where a secret comes from: `KEY=env:VARIABLE` or `KEY=file:PATH`. Without it, `TOOL_SECRET_KEY` of the environment.
    #[arg(long = "secret", value_name = "KEY=SOURCE", help_heading = "Supply")]
    pub(crate) secrets: Vec<String>,
    /// A variable: `NAME=VALUE`. Without it, `TOOL_VARIABLE_NAME` of the environment.
    #[arg(long = "variable", value_name = "NAME=VALUE", help_heading = "Supply")]
    pub(crate) variables: Vec<String>,
    /// The user on whose behalf; `USER` of the environment where nothing is said.
    #[arg(long, help_heading = "Supply")]
    pub(crate) user: Option<String>,
    /// The workspace (tenant).
    #[arg(long, help_heading = "Supply")]
    pub(crate) workspace: Option<String>,
}

/// Says what each provider thinks of each tool: its verdict on the schema as it is sent, budgets, missing or long texts.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no error (with `--strict` no warning either), 1 otherwise, 2 there is no such tool."
)]
pub(crate) struct Check {
    /// The tools; all where none is named, and then what one request with all of them would meet as well.
    pub(crate) names: Vec<String>,
    /// Fails on warnings too.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Writes what the tools promise into a file, to be committed.
///
/// `diff` compares the tools with it.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 written, 2 the file cannot be written.")]
pub(crate) struct Lock {
    /// The file; `tools.lock` at the root of the workspace, or here, where nothing is said.
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
}

/// Says what changed since `lock`, and whom each change breaks.
///
/// A change breaks callers where a call that was right before is not taken any more, or where what comes back is not what was promised.
/// It voids approvals where it changes the contract that an approval is bound to: they have to be asked for again.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing changed (with `--breaking`: nothing that breaks callers; with `--approvals`: nor voids \
approvals), 1 something did, 2 the file is not there or cannot be read."
)]
pub(crate) struct Diff {
    /// The file; `tools.lock` at the root of the workspace, or here, where nothing is said.
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Fails only where a change breaks callers.
    #[arg(long, conflicts_with = "approvals")]
    pub(crate) breaking: bool,
    /// Fails only where a change breaks callers or voids approvals that wait.
    #[arg(long)]
    pub(crate) approvals: bool,
}

/// Counts the tokens of each definition, for each provider.
///
/// Counted are the very bytes that go into a request, by o200k, the tokenizer of GPT models. Other providers publish none, so their
/// figures are estimates. What a provider adds when it puts definitions before a model is not known and not counted.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 within the limits, 1 above one, 2 there is no such tool.")]
pub(crate) struct Budget {
    /// The tools; all where none is named.
    pub(crate) names: Vec<String>,
    /// Only this provider.
    #[arg(long, short, value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,
    /// Most tokens that one definition may have, for any provider that is counted.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) limit: Option<usize>,
    /// Most tokens that all definitions may have together, for any provider that is counted.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) total_limit: Option<usize>,
}

/// Serves the tools over the Model Context Protocol, over the standard input and output where no address is given.
///
/// A call that a person has to approve is asked about through the client, where the client can ask its user, and refused elsewhere.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the client or Ctrl-C ended it, 1 the session broke, 2 the address cannot be served."
)]
pub(crate) struct Serve {
    /// Serves HTTP at this address, such as `127.0.0.1:8080`, under `/mcp`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<String>,
    /// Lets in requests for this host beside those for this machine.
    #[arg(long = "host", value_name = "NAME", requires = "http")]
    pub(crate) hosts: Vec<String>,
    /// Lets in web pages of this origin beside those of this machine.
    #[arg(long = "origin", value_name = "ORIGIN", requires = "http")]
    pub(crate) origins: Vec<String>,
    /// Asks the client's user about each call that has to be approved. Only for clients with a person in front of them: nothing keeps a
    /// program from answering. Without it, and for clients that cannot ask, such calls are refused.
    #[arg(long)]
    pub(crate) approve_by_client: bool,
    /// Takes arguments exactly as the schema has them, without repair.
    #[arg(long)]
    pub(crate) no_repair: bool,
    #[command(flatten)]
    pub(crate) supply: Supply,
}

/// Writes typed Rust tools from definitions in JSON.
///
/// Taken are the tools of a request to a provider, the answer of an MCP server to `tools/list`, and a JSON Schema of arguments. Each
/// becomes a fn with types of its own, whose body is yours to write.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all are typed, 1 some cannot be and are left out, 2 there is no definition in the file."
)]
pub(crate) struct Import {
    /// The file, or `-` for the standard input.
    #[arg(required_unless_present = "mcp")]
    pub(crate) file: Option<PathBuf>,
    /// Starts an MCP server with this command, and takes its tools: the program and its arguments, between blanks.
    #[arg(long, value_name = "COMMAND", conflicts_with = "file")]
    pub(crate) mcp: Option<String>,
    /// Where the source goes; the standard output where nothing is said.
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// Writes over a file that is there.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The tool's name, for a JSON Schema without a title; the file's name where nothing is said.
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// Makes a crate of tools: it compiles, its tests pass, and it has these commands.
#[derive(Debug, Args)]
#[command(
    after_help = "One of --tool-path and --tool-git is required until the crates are published.
Exit codes: 0 made, 2 the folder exists, the name is invalid, or the source of `tool-core` is missing."
)]
pub(crate) struct New {
    /// The folder to make.
    pub(crate) path: PathBuf,
    /// The package's name; that of the folder where nothing is said.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A folder with `tool-core` and `tool-cli` in it, to depend on them by path.
    #[arg(long, value_name = "PATH")]
    pub(crate) tool_path: Option<PathBuf>,
    /// A git repository with `tool-core` and `tool-cli` in it, to depend on them by its address.
    #[arg(long, value_name = "URL", conflicts_with = "tool_path")]
    pub(crate) tool_git: Option<String>,
}

/// Prints the completions of a shell.
///
/// The shell asks the program, so commands, names of tools, their flags and the values of enums are offered as they are now. Bash and zsh:
/// `source <(PROGRAM completions bash)`; fish: `PROGRAM completions fish | source`. After another version of the program is installed, source
/// it again. The script of `cargo tool` completes `cargo tool …` and `cargo-tool …` with the tools of the program that it built last; zsh needs
/// the completion of cargo itself for that, elvish and PowerShell complete `cargo-tool …` only.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
