//! Command-line arguments of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use tool_core::Dialect;

#[cfg(feature = "cargo")]
pub(crate) mod cargo;
pub(crate) mod chat;
pub(crate) mod operate;

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people to read.
    #[default]
    Human,
    /// JSON for programs, in the forms of `docs/cli.md`.
    Json,
}

/// Whether the output has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// The output has colours on a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// The output always has colours.
    Always,
    /// The output never has colours.
    Never,
}

/// Lists, calls, checks, locks and serves tools.
///
/// Exit codes: 0 success; 1 a tool or a check failed; 2 wrong use; 3 the call was not allowed; 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "tool", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) look: OutputOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options that every command has.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputOptions {
    /// The format of the output.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub(crate) format: Format,
    /// Whether the output has colours.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub(crate) color: Color,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(List),
    Schema(Schema),
    Types(Types),
    Call(Call),
    Check(Check),
    Lock(Lock),
    Diff(Diff),
    Budget(Budget),
    Serve(Serve),
    Chat(chat::Chat),
    Inbox(operate::Inbox),
    Audit(operate::AuditLog),
    Effects(operate::Effects),
    Runs(operate::Runs),
    Plan(operate::Plan),
    Memories(operate::Memories),
    Secrets(operate::Secrets),
    Switch(operate::SwitchTools),
    Import(Import),
    New(New),
    Completions(Completions),
}

/// Lists the tools, with the reason if a tool is hidden.
///
/// A tool is hidden by the host's rules, or because a secret or an environment variable that it needs is missing. `call` refuses hidden tools.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Lists only tools whose name, category or tags contain this text.
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) supply: Supply,
}

/// Prints the schema of a tool's arguments, its definition, or the schema of its output, as it is sent to a provider.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The tool. By default, the definitions of all tools, as the list that a request contains.
    pub(crate) name: Option<String>,
    /// The provider for which the schema or the definition is printed.
    #[arg(long, short, default_value = "json_schema", value_parser = dialects())]
    pub(crate) dialect: Dialect,
    /// Prints the whole definition instead of the schema of the arguments.
    #[arg(long)]
    pub(crate) definition: bool,
    /// Prints the schema of the output instead of the schema of the arguments.
    #[arg(long, conflicts_with = "definition", requires = "name")]
    pub(crate) output: bool,
}

/// Prints types for programs that call the tools: a TypeScript module with the arguments and results of each tool, and zod schemas of them.
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// Prints a TypeScript module.
    #[arg(long, required = true)]
    pub(crate) typescript: bool,
    /// Prints only types, and no zod schemas, so that the module needs no package.
    #[arg(long)]
    pub(crate) no_zod: bool,
    /// Prints the types of these tools. By default, the types of all tools.
    pub(crate) names: Vec<String>,
}

pub(crate) fn dialects() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).map(|name| {
        // clap rejects all names that are not in `ALL`.
        Dialect::from_name(&name).unwrap_or(Dialect::JsonSchema)
    })
}

/// Calls a tool.
///
/// Flags after the name are the tool's arguments, as in its schema: `call search_docs --query serde --limit 3`. Options of `call`
/// can be written there too, unless an argument has the same name. `call NAME --help` shows the arguments.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "NAME",
    after_help = "Exit codes: 0 success; 1 the tool failed; 2 the arguments do not fit or the tool does not exist; \
3 hidden, denied or not approved; 130 interrupted."
)]
pub(crate) struct Call {
    #[command(flatten)]
    pub(crate) how: CallOptions,
    #[command(subcommand)]
    pub(crate) tool: Option<CallTarget>,
}

/// The name of a tool and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum CallTarget {
    /// The name of the tool, and the arguments that its schema describes.
    #[command(external_subcommand)]
    Tool(Vec<OsString>),
}

/// The options of the command `call`.
#[derive(Clone, Debug, Default, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each field is one flag of the command line"
)]
pub(crate) struct CallOptions {
    /// The arguments as JSON: the text itself, `@FILE`, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub(crate) json: Option<String>,
    /// Approves the call without asking, if it needs an approval.
    #[arg(long)]
    pub(crate) approve: bool,
    /// Denies the call without asking, if it needs an approval.
    #[arg(long, conflicts_with = "approve")]
    pub(crate) deny: bool,
    /// Accepts only arguments that fit the schema, without repair.
    #[arg(long)]
    pub(crate) no_repair: bool,
    /// Prints the text that the model reads, instead of the whole output or error.
    #[arg(long)]
    pub(crate) model: bool,
    /// Writes the files of the result (images, audio and others) into this folder, without overwriting existing files.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) supply: Supply,
}

impl CallOptions {
    /// Merges the options before the tool's name with the options after it.
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

/// Options that may be written after the name of a tool.
#[derive(Clone, Debug, Args)]
pub(crate) struct OptionsAfterName {
    #[command(flatten)]
    pub(crate) how: CallOptions,
    /// The format of the output.
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// Whether the output has colours.
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) color: Option<Color>,
}

/// Secrets, variables, and the caller's user and workspace.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Supply {
    /// The source of a secret: `KEY=env:VARIABLE` or `KEY=file:PATH`. By default, the environment variable `TOOL_SECRET_KEY`.
    #[arg(long = "secret", value_name = "KEY=SOURCE", help_heading = "Supply")]
    pub(crate) secrets: Vec<String>,
    /// A variable: `NAME=VALUE`. By default, the environment variable `TOOL_VARIABLE_NAME`.
    #[arg(long = "variable", value_name = "NAME=VALUE", help_heading = "Supply")]
    pub(crate) variables: Vec<String>,
    /// The user who makes the call. By default, the environment variable `USER`.
    #[arg(long, help_heading = "Supply")]
    pub(crate) user: Option<String>,
    /// The workspace (tenant) of the call.
    #[arg(long, help_heading = "Supply")]
    pub(crate) workspace: Option<String>,
}

/// Checks whether each provider accepts each tool as it is sent, and reports exceeded limits and missing or long texts.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no errors (with `--strict` no warnings either); 1 otherwise; 2 the tool does not exist."
)]
pub(crate) struct Check {
    /// The tools to check. By default all tools, and also one request with all of them.
    pub(crate) names: Vec<String>,
    /// Also fails on warnings.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Writes the contracts of the tools to a file, which you commit.
///
/// `diff` compares the tools with this file.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 written; 2 the file cannot be written.")]
pub(crate) struct Lock {
    /// The file. By default `tools.lock` at the root of the workspace (`cargo tool`) or in the current folder (other programs).
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
}

/// Lists the changes since `lock`, and whether each change breaks callers or voids approvals.
///
/// A change breaks callers if a call that was valid before is refused now, or if the output does not have the form that the lock states.
/// A change voids approvals if it changes the contract to which approvals are bound: pending approvals must be requested again.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing changed (with `--breaking`: nothing that breaks callers; with `--approvals`: nothing that \
breaks callers or voids approvals); 1 something changed; 2 the file does not exist or cannot be read."
)]
pub(crate) struct Diff {
    /// The file. By default `tools.lock` at the root of the workspace (`cargo tool`) or in the current folder (other programs).
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Fails only if a change breaks callers.
    #[arg(long, conflicts_with = "approvals")]
    pub(crate) breaking: bool,
    /// Fails only if a change breaks callers or voids pending approvals.
    #[arg(long)]
    pub(crate) approvals: bool,
}

/// Counts the tokens of each definition, for each provider.
///
/// The tokenizer o200k of OpenAI's models counts the definitions byte for byte as a request contains them. Other providers do not publish
/// a tokenizer, so their figures are estimates. Text that a provider adds to the definitions is not counted.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 within the limits; 1 a limit is exceeded; 2 the tool does not exist."
)]
pub(crate) struct Budget {
    /// The tools to count. By default all tools.
    pub(crate) names: Vec<String>,
    /// Counts only for this provider.
    #[arg(long, short, value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,
    /// The maximum number of tokens of one definition, for each counted provider.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) limit: Option<usize>,
    /// The maximum number of tokens of all definitions together, for each counted provider.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) total_limit: Option<usize>,
}

/// Serves the tools over the Model Context Protocol (MCP), on standard input and output or over HTTP.
///
/// A call that needs an approval is refused, unless `--approve-by-client` is given and the client can ask its user.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the client ended the session, or Ctrl-C ended the server of `--http`; 1 the session failed; 2 the address cannot be \
served; 130 Ctrl-C without `--http`.",
    group = ArgGroup::new("listening").args(["http", "admin"]).multiple(true)
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent option"
)]
pub(crate) struct Serve {
    /// Serves HTTP at this address, such as `127.0.0.1:8080`, under `/mcp`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<String>,
    /// Accepts requests for this host, in addition to requests for this machine.
    #[arg(long = "host", value_name = "NAME", requires = "listening")]
    pub(crate) hosts: Vec<String>,
    /// Accepts requests of web pages of this origin, in addition to web pages of this machine.
    #[arg(long = "origin", value_name = "ORIGIN", requires = "listening")]
    pub(crate) origins: Vec<String>,
    /// Stores approvals, effects, audit rows and switches in this SQLite file, such as `sqlite:state.db`, or in this PostgreSQL database, such as
    /// `postgres://user@host/database`.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Decides about the calls by the policy in this JSON file, in place of a policy of the program. Operators of the host can replace the policy
    /// over the admin API until the server ends; the file is read only at the start.
    #[arg(long, value_name = "PATH")]
    pub(crate) policy: Option<PathBuf>,
    /// Serves the admin API of the store at this address, such as `127.0.0.1:8081`. Without `--admin-tokens`, the
    /// program prints a random token.
    #[arg(long, value_name = "ADDRESS", requires = "store")]
    pub(crate) admin: Option<String>,
    /// The file with the callers of the admin API: a JSON list of the hashes of their tokens, with `subject`, `workspace` and `role`.
    #[arg(long, value_name = "PATH", requires = "admin")]
    pub(crate) admin_tokens: Option<PathBuf>,
    /// Seals (encrypts) the arguments of approvals, messages, events of conversations, plans and their results, long outputs and stored responses in
    /// the store, with the keys of the environment variable `TOOL_SEAL_KEYS`.
    #[arg(long, requires = "store")]
    pub(crate) seal_contents: bool,
    /// Also offers the stored tools that are bound to this agent in the workspace of `--workspace`.
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) agent: Option<String>,
    /// Also runs stored tools whose functions are TypeScript, in a sandbox.
    #[arg(long, requires = "store")]
    pub(crate) typescript: bool,
    /// An MCP server whose tools stored tools can call: its name, and the command that starts it (a program and its arguments, separated by
    /// blanks).
    #[arg(long = "mcp-server", value_name = "NAME=COMMAND", requires = "store")]
    pub(crate) mcp_servers: Vec<String>,
    /// Asks the client's user about each call that needs an approval. Use this option only for clients that a person operates, because a
    /// client program could answer in the person's place. Without this option, and for clients that cannot ask, such calls are refused.
    #[arg(long)]
    pub(crate) approve_by_client: bool,
    /// Accepts only arguments that fit the schema, without repair.
    #[arg(long)]
    pub(crate) no_repair: bool,
    #[command(flatten)]
    pub(crate) supply: Supply,
}

/// Writes typed Rust tools from definitions in JSON.
///
/// The definitions are the tools of a request to a provider, the response of an MCP server to `tools/list`, or a JSON Schema of arguments.
/// Each definition becomes a fn with its own types. You write the body.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all definitions are typed; 1 some cannot be typed and are left out; 2 the file has no definition."
)]
pub(crate) struct Import {
    /// The file with the definitions, or `-` for standard input.
    #[arg(required_unless_present = "mcp")]
    pub(crate) file: Option<PathBuf>,
    /// Starts an MCP server with this command (a program and its arguments, separated by blanks) and reads its tools.
    #[arg(long, value_name = "COMMAND", conflicts_with = "file")]
    pub(crate) mcp: Option<String>,
    /// The file to which the source is written. By default, it is written to standard output.
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrites an existing file.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The name of the tool, for a JSON Schema without a title. By default, the name of the file.
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// Creates a crate of tools that compiles, with tests that pass and a program with these commands.
#[derive(Debug, Args)]
#[command(
    after_help = "One of --tool-path and --tool-git is required until the crates are published.
Exit codes: 0 created; 2 the folder exists, the name is invalid, or the source of `tool-core` is missing."
)]
pub(crate) struct New {
    /// The folder to create.
    pub(crate) path: PathBuf,
    /// The name of the package. By default, the name of the folder.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A checkout of the repository of `tool-core`, on which the crate depends by path.
    #[arg(long, value_name = "PATH")]
    pub(crate) tool_path: Option<PathBuf>,
    /// The URL of the git repository of `tool-core`, on which the crate depends.
    #[arg(long, value_name = "URL", conflicts_with = "tool_path")]
    pub(crate) tool_git: Option<String>,
}

/// Prints a completion script for a shell.
///
/// The script runs the program for each completion, so commands, names of tools, their flags and the values of enums are up to date. Bash
/// and zsh: `source <(PROGRAM completions bash)`; fish: `PROGRAM completions fish | source`. Source the script again after you have installed a
/// different version of the program. The script of `cargo tool` completes `cargo tool …` and `cargo-tool …` with the tools of the program
/// that it built last. For that, zsh needs cargo's own completions; elvish and PowerShell complete only `cargo-tool …`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell of the script.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Returns whether the URL of a store names a PostgreSQL database.
#[cfg(any(feature = "cargo", feature = "operate"))]
pub(crate) fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}
