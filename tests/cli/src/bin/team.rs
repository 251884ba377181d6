//! A program whose chat talks with agents that call each other, built like a user's own program.

use std::process::ExitCode;

use tool_agent::agent::{Agent, AgentBuilder};
use tool_agent::model::{Endpoint, HttpModel};
use tool_agent::runtime::{AgentEntry, Handoff, Subagent};
use tool_cli::Cli;
use tool_core::{prelude::*, toolset};

/// Looks up a word.
#[tool(read_only)]
fn look_up(
    /// The word.
    word: String,
) -> String {
    format!("{word} was found")
}

/// Sends a letter after an approval.
#[tool(destructive, open_world, approval)]
fn send_letter(
    /// The name of the recipient.
    to: String,
) -> String {
    format!("sent to {to}")
}

fn main() -> ExitCode {
    Cli::new()
        .agents("chief", |runtime| {
            let url = std::env::var("TEAM_URL").map_err(|error| format!("TEAM_URL: {error}"))?;
            let is_blocking = std::env::var_os("TEAM_BACKGROUND").is_none();
            let model = HttpModel::builder(Endpoint::compatible(&url), "local").build()?;
            let agent = |name: &str| -> AgentBuilder {
                Agent::builder(name, model.clone()).instructions(name)
            };
            let chief = AgentEntry::new(agent("chief").build()?)
                .subagent(Subagent::new("researcher").blocking(is_blocking))
                .handoff(Handoff::to("editor"));
            let researcher = agent("researcher").tools(|_| toolset![look_up, send_letter]);
            let researcher = AgentEntry::new(researcher.build()?)
                .autonomous()
                .expose("Researches a question.");
            let editor = agent("editor").tools(|_| toolset![send_letter]);
            let editor = AgentEntry::new(editor.build()?).expose("Edits texts.");
            Ok(runtime.agent(chief).agent(researcher).agent(editor))
        })
        .run()
}
