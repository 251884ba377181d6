//! The commands, one file each.

use tool_core::{Registry, ToolCall, ToolContext, ToolDef};

use crate::args::Command;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

#[cfg(feature = "tokens")]
mod budget;
mod call;
mod check;
mod completions;
mod diff;
#[cfg(feature = "import")]
mod import;
mod list;
mod lock;
mod new;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod supply;

#[cfg(feature = "cargo")]
pub(crate) use lock::ROOT as LOCK_ROOT;

/// Obeys a command.
pub(crate) async fn run(cli: &Cli, command: Command, screen: Screen) -> Result<Exit, Failure> {
    match command {
        Command::List(words) => list::run(cli, &words, screen),
        Command::Schema(words) => schema::run(cli, &words, screen).await,
        Command::Call(words) => call::run(cli, words, screen).await,
        Command::Check(words) => check::run(cli, &words, screen).await,
        Command::Lock(words) => lock::run(cli, &words, screen),
        Command::Diff(words) => diff::run(cli, &words, screen),
        #[cfg(feature = "tokens")]
        Command::Budget(words) => budget::run(cli, &words, screen).await,
        #[cfg(feature = "serve")]
        Command::Serve(words) => serve::run(cli, &words, screen).await,
        #[cfg(feature = "import")]
        Command::Import(words) => import::run(&words, screen).await,
        Command::New(words) => new::run(&words, screen),
        Command::Completions(words) => completions::run(cli, &words),
    }
}

/// The tool of a name, or those that are named nearly so.
pub(crate) async fn find<'r>(registry: &'r Registry, name: &str) -> Result<&'r ToolDef, Failure> {
    if let Some(def) = registry.get(name) {
        return Ok(def);
    }
    // The text that a model reads names up to five. There is no such tool, so nothing runs.
    let call = ToolCall::new("", name, "{}");
    let result = registry.open().call(call, &ToolContext::anonymous()).await;
    Err(Failure::usage(result.model_text()).hint("`list` shows every tool"))
}
