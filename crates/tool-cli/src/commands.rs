//! Implementations of the commands, one file each.

use tool_core::{Registry, ToolCall, ToolContext, ToolDef, Toolset};

use crate::args::Command;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

mod ask;
#[cfg(feature = "tokens")]
mod budget;
mod call;
#[cfg(feature = "chat")]
mod chat;
mod check;
pub(crate) mod completions;
mod diff;
#[cfg(feature = "import")]
mod import;
mod list;
mod lock;
mod new;
#[cfg(feature = "operate")]
mod operate;
mod schema;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "operate")]
mod store;
mod supply;
mod types;

#[cfg(feature = "cargo")]
pub(crate) use lock::ROOT as LOCK_ROOT;

/// Runs the command of a parsed command line.
pub(crate) async fn run(cli: &Cli, command: Command, screen: Screen) -> Result<Exit, Failure> {
    match command {
        Command::List(words) => list::run(cli, &words, screen),
        Command::Schema(words) => schema::run(cli, &words, screen).await,
        Command::Types(words) => types::run(cli, &words, screen).await,
        Command::Call(words) => call::run(cli, words, screen).await,
        Command::Check(words) => check::run(cli, &words, screen).await,
        Command::Lock(words) => lock::run(cli, &words, screen),
        Command::Diff(words) => diff::run(cli, &words, screen),
        #[cfg(feature = "tokens")]
        Command::Budget(words) => budget::run(cli, &words, screen).await,
        #[cfg(not(feature = "tokens"))]
        Command::Budget(_) => Err(missing(
            "budget",
            "tokens",
            "run `cargo tool budget`, which builds the program with this feature",
        )),
        #[cfg(feature = "serve")]
        Command::Serve(words) => Box::pin(serve::run(cli, &words, screen)).await,
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) => Err(missing(
            "serve",
            "serve",
            "run `cargo tool serve`, which builds the program with this feature",
        )),
        #[cfg(feature = "chat")]
        Command::Chat(words) => Box::pin(chat::run(cli, &words, screen)).await,
        #[cfg(not(feature = "chat"))]
        Command::Chat(_) => Err(missing(
            "chat",
            "chat",
            "run `cargo tool chat`, which builds the program with this feature",
        )),
        #[cfg(feature = "operate")]
        Command::Inbox(words) => operate::inbox::run(cli, words, screen).await,
        #[cfg(feature = "operate")]
        Command::Audit(words) => operate::audit::run(cli, words, screen).await,
        #[cfg(feature = "operate")]
        Command::Effects(words) => operate::effects::run(cli, words, screen).await,
        #[cfg(feature = "operate")]
        Command::Runs(words) => operate::runs::run(cli, words, screen).await,
        #[cfg(feature = "operate")]
        Command::Plan(words) => operate::plan::run(words, screen).await,
        #[cfg(feature = "operate")]
        Command::Memories(words) => operate::memories::run(words, screen).await,
        #[cfg(feature = "operate")]
        Command::Secrets(words) => operate::secrets::run(cli, words, screen).await,
        #[cfg(feature = "operate")]
        Command::Switch(words) => operate::switches::run(cli, words, screen).await,
        #[cfg(not(feature = "operate"))]
        Command::Inbox(_)
        | Command::Audit(_)
        | Command::Effects(_)
        | Command::Runs(_)
        | Command::Plan(_)
        | Command::Memories(_)
        | Command::Secrets(_)
        | Command::Switch(_) => Err(missing(
            "a command for operators",
            "operate",
            "run the command of `cargo tool`, which builds the program with this feature",
        )),
        #[cfg(feature = "import")]
        Command::Import(words) => import::run(&words, screen).await,
        #[cfg(not(feature = "import"))]
        Command::Import(_) => Err(missing(
            "import",
            "import",
            "run `cargo tool import`, which has this feature",
        )),
        Command::New(words) => new::run(&words, screen),
        Command::Completions(words) => completions::run(cli, &words),
    }
}

/// Returns the error for a command whose feature this program was built without.
#[cfg(not(all(
    feature = "tokens",
    feature = "chat",
    feature = "serve",
    feature = "import",
    feature = "admin",
    feature = "operate",
    feature = "postgres",
    feature = "typescript"
)))]
fn missing(command: &str, feature: &str, otherwise: &str) -> Failure {
    Failure::usage(format!(
        "this program was built without the feature `{feature}` of tool-cli, which `{command}` needs"
    ))
    .hint(format!(
        "write `features = [\"{feature}\"]` in the entry of tool-cli in the program's Cargo.toml, or {otherwise}"
    ))
}

/// Waits until the user presses Ctrl-C.
async fn interrupt() {
    // If the signal handler cannot be installed, no signal is received, so this waits forever.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Returns the text of an option, or of the file that `@FILE` names.
fn text_or_file(text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@') else {
        return Ok(text.to_owned());
    };
    let read = std::fs::read_to_string(path);
    read.map_err(|error| Failure::usage(format!("`{path}` cannot be read: {error}")))
}

/// Returns the toolset for the host's own context.
pub(crate) fn offered(cli: &Cli, registry: &Registry) -> Result<Toolset, Failure> {
    let cx = cli.prepare(ToolContext::builder()).build();
    Ok(cli.offer(registry, &cli.gate_of()?).toolset(&cx))
}

/// Returns every tool of the registry, and every tool of the toolset, including tools that the host builds.
pub(crate) fn declaring<'r>(
    registry: &'r Registry,
    offered: &'r Toolset,
) -> impl Iterator<Item = &'r ToolDef> {
    let made = offered.names().filter_map(|name| offered.get(name));
    registry.tools().iter().chain(made)
}

/// Finds a tool by name, including tools that the host builds. The error suggests similar names.
pub(crate) async fn find_offered<'r>(
    cli: &Cli,
    registry: &'r Registry,
    offered: &'r Toolset,
    name: &str,
) -> Result<&'r ToolDef, Failure> {
    match offered.get(name).or_else(|| registry.get(name)) {
        Some(def) => Ok(def),
        None => Err(none(cli, offered, name).await),
    }
}

/// Finds a tool by name. The error suggests similar names.
pub(crate) async fn find<'r>(
    cli: &Cli,
    registry: &'r Registry,
    name: &str,
) -> Result<&'r ToolDef, Failure> {
    match registry.get(name) {
        Some(def) => Ok(def),
        None => Err(none(cli, &registry.open(), name).await),
    }
}

async fn none(cli: &Cli, tools: &Toolset, name: &str) -> Failure {
    // The error text for models suggests up to five names. No tool with this name exists, so nothing runs.
    let call = ToolCall::new("", name, "{}");
    let result = tools.call(call, &ToolContext::anonymous()).await;
    Failure::usage(result.model_text()).hint(format!("`{}` shows every tool", cli.line("list")))
}
