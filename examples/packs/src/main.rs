//! Every pack of tools in one program: `cargo run -p packs -- list`, `… -- call list_directory --path .`, `… -- serve`.
//!
//! | variable | what it says |
//! |---|---|
//! | `WORKSPACES_ROOT` | where the files of the tools lie |
//! | `PACKS_POLICY` | a policy file in JSON; without one, calls that destroy something wait for a person |

use std::error::Error;
use std::process::ExitCode;

use tool_cli::Cli;
use tool_core::Rules;
use tool_core::policy::{PolicyFile, SharedPolicy};
use tool_std::workspace::Workspaces;

fn main() -> ExitCode {
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
    let cli = Cli::new().name("packs").rules(rules);
    Ok(cli.context(move |cx| {
        cx.workspace("demo")
            .conversation("packs")
            .with(workspaces.clone())
    }))
}
