//! Every pack of tools in one program: `cargo run -p packs -- list`, `… -- call list_directory --path .`, `… -- serve`.
//!
//! | variable | meaning |
//! |---|---|
//! | `WORKSPACES_ROOT` | the folder of the tools' files |
//! | `PACKS_GIT` | the base URL of repositories, by default `https://github.com` |
//! | `PACKS_LOCAL` | `1` allows requests to this machine, at any port; without it only public hosts are allowed |
//! | `PACKS_SEARXNG` | the URL of a SearXNG instance for web searches; DuckDuckGo by default |
//! | `PACKS_POLICY` | a policy file in JSON; without it, destructive calls wait for approval |

use std::error::Error;
use std::net::IpAddr;
use std::process::ExitCode;

use tool_cli::Cli;
use tool_code::Code;
use tool_core::Rules;
use tool_core::policy::{PolicyFile, SharedPolicy};
use tool_core::store::MemoryStore;
use tool_std::git::Git;
use tool_std::http::{Guard, Http, special_range};
use tool_std::isolate::Isolation;
use tool_std::schedule::Schedules;
use tool_std::web::{DuckDuckGo, SearXng, Search};
use tool_std::workspace::Workspaces;

fn main() -> ExitCode {
    tool_std::helper();
    match host() {
        Ok(cli) => cli.run(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn host() -> Result<Cli, Box<dyn Error>> {
    let mut rules = Rules::default();
    if let Some(file) = std::env::var_os("PACKS_POLICY") {
        let policy = PolicyFile::open(file)?.build()?;
        rules = rules.policy(&SharedPolicy::new(policy));
    }
    let workspaces = Workspaces::from_env();
    let mut guard = Guard::default();
    if std::env::var_os("PACKS_LOCAL").is_some_and(|on| on == "1") {
        let local = |address: IpAddr| special_range(address).filter(|_| !address.is_loopback());
        guard = guard.addresses(local).any_port();
    }
    let http = Http::default().guard(guard);
    let mut git = Git::new().author("packs", "packs@localhost");
    if let Ok(base) = std::env::var("PACKS_GIT") {
        git = git.host(&base)?;
    }
    let search = match std::env::var("PACKS_SEARXNG") {
        Ok(url) => Search::only(SearXng::at(url)),
        Err(_) => Search::only(DuckDuckGo::new()),
    };
    // This program has no model that could run tasks, so they are only listed.
    let schedules = Schedules::new(MemoryStore::default());
    let code = Code::builder().build()?;
    let cli = Cli::new().name("packs").rules(rules);
    let cli = cli.context(move |cx| {
        cx.workspace("demo")
            .conversation("packs")
            .with(workspaces.clone())
            .with(Isolation::new())
            .with(http.clone())
            .with(git.clone())
            .with(search.clone())
            .with(schedules.clone())
    });
    // Code may call only the tools that its caller may call.
    Ok(cli.shape(move |tools, cx| match code.beside(&tools, cx) {
        Ok(all) => all,
        Err(_) => tools,
    }))
}
