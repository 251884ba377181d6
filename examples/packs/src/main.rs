//! Every pack of tools in one program: `cargo run -p packs -- list`, `… -- call list_directory --path .`, `… -- serve`.
//!
//! | variable | meaning |
//! |---|---|
//! | `WORKSPACES_ROOT` | the folder of the tools' files |
//! | `PACKS_GIT` | the base URL of repositories, by default `https://github.com` |
//! | `PACKS_LOCAL` | `1` allows requests to this machine, at any port; without it only public hosts are allowed |
//! | `PACKS_SEARXNG` | the URL of a `SearXNG` instance for web searches; `DuckDuckGo` by default |
//! | `PACKS_GITHUB` | the address of GitHub's REST API, by default `https://api.github.com` |
//! | `PACKS_POLICY` | a policy file in JSON; without it, destructive calls wait for approval |
//!
//! Tools that need no key are served by `serve`. Each other tool is hidden, and `list` names the secrets that it lacks; a variable such as
//! `TOOL_SECRET_SLACK_BOT_TOKEN` supplies a secret. With `list --format json`, each tool has the list of its secrets.
//!
//! | tools | secrets |
//! |---|---|
//! | `create_github_issue`, `create_github_pull_request`, `comment_github_issue` | `github_token` |
//! | `post_slack_message` | `slack_bot_token` |
//! | the tools of `hubspot` | `hubspot_api_key` |
//! | `send_email` | `smtp_password`; the host must also put an `Email` into the context, with the server and the sender |
//! | `send_whatsapp_template` | `twilio_account_sid`, `twilio_auth_token`; only in turns that a message on WhatsApp has started |
//!
//! The attachments, documents, memories, plans and scheduled tasks are kept in memory and end with the program.

use std::error::Error;
use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::Arc;

use tool_cli::Cli;
use tool_code::Code;
use tool_core::policy::{PolicyFile, SharedPolicy};
use tool_core::store::{MemoryStore, PlanExecutor, PlanOwner};
use tool_core::{Registry, Rules};
use tool_std::attachments::Uploads;
use tool_std::attachments::object_store::memory::InMemory;
use tool_std::git::Git;
use tool_std::github::GitHub;
use tool_std::http::{Guard, Http, special_range};
use tool_std::isolate::Isolation;
use tool_std::knowledge::Knowledge;
use tool_std::memory::Memory;
use tool_std::plan::Plans;
use tool_std::schedule::Schedules;
use tool_std::vendor::Api;
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
    let mut github = GitHub::default();
    if let Ok(base) = std::env::var("PACKS_GITHUB") {
        github = github.api(Api::at(base));
    }
    let store = MemoryStore::default();
    let knowledge = Knowledge::new(store.clone());
    index(&knowledge);
    let memory = Memory::new(store.clone());
    let uploads = Uploads::new(Arc::new(InMemory::new()));
    // This program has no model that could run tasks, so they are only listed.
    let schedules = Schedules::new(store.clone());
    let writer = PlanOwner::new(PlanExecutor::Agent, "writer");
    let plans = Plans::new(Arc::new(store)).owners([writer]);
    let code = Code::builder().build()?;
    // Without its password, the tool is hidden.
    let registry = Registry::builder()
        .with_linked()
        .required_secret("send_email", "smtp_password")
        .build()?;
    let cli = Cli::new().name("packs").registry(registry).rules(rules);
    let cli = cli.context(move |cx| {
        cx.workspace("demo")
            .conversation("packs")
            .with(workspaces.clone())
            .with(Isolation::new())
            .with(http.clone())
            .with(git.clone())
            .with(search.clone())
            .with(schedules.clone())
            .with(github.clone())
            .with(knowledge.clone())
            .with(plans.clone())
            .with(memory.clone())
            .with(uploads.clone())
    });
    // Code may call only the tools that its caller may call.
    Ok(cli.shape(move |tools, cx| match code.beside(&tools, cx) {
        Ok(all) => all,
        Err(_) => tools,
    }))
}

/// Indexes the documents in a thread that ends with the program.
fn index(knowledge: &Knowledge) {
    let indexer = knowledge.indexer();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(indexer.run());
        }
    });
}
