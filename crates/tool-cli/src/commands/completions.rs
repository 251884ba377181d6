//! The `completions` command: dynamic shell completions.
//!
//! The shell runs the program itself, so that it can complete values that are only known at that time: the names of tools, their flags and the values
//! of enums.

use std::io::{self, Write as _};

use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{Bash, CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use tool_core::Registry;

use super::{call, offered};
use crate::args::Completions;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};

/// The environment variable that a shell sets to request completions; its value is the shell's name.
const VARIABLE: &str = "TOOL_CLI_COMPLETE";

/// Commands other than `call` that have an argument for a tool name, with the name of the argument.
const NAMED: &[(&str, &str)] = &[
    ("schema", "name"),
    ("types", "names"),
    ("check", "names"),
    #[cfg(feature = "tokens")]
    ("budget", "names"),
];

/// Prints the script that installs the completions in a shell.
pub(super) fn run(cli: &Cli, words: &Completions) -> Result<Exit, Failure> {
    let shell: &dyn EnvCompleter = match words.shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::PowerShell => &Powershell,
        Shell::Zsh => &Zsh,
        other => {
            return Err(Failure::usage(format!(
                "completions for the shell `{other}` are not supported"
            ))
            .hint("write bash, elvish, fish, powershell or zsh"));
        }
    };
    let program = std::env::current_exe().map_err(|error| {
        Failure::usage(format!(
            "the path of this program cannot be determined: {error}"
        ))
    })?;
    let bin = file_name(cli);
    let identifier: String = bin
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let mut script = Vec::new();
    let written = shell.write_registration(
        VARIABLE,
        &identifier,
        &bin,
        &program.to_string_lossy(),
        &mut script,
    );
    if cli.is_of_workspace() {
        script.extend_from_slice(behind_cargo(words.shell, &script).as_bytes());
    }
    written
        .and_then(|()| io::stdout().lock().write_all(&script))
        .map_err(|error| Failure::usage(format!("the script cannot be written: {error}")))?;
    Ok(Exit::Ok)
}

/// Returns the part of the script that completes `cargo tool …` like `cargo-tool …`; empty for elvish and PowerShell. Cargo's own completions handle
/// everything else.
fn behind_cargo(shell: Shell, script: &[u8]) -> String {
    match shell {
        Shell::Bash => include_str!("../../template/cargo.bash").to_owned(),
        Shell::Zsh => include_str!("../../template/cargo.zsh").to_owned(),
        Shell::Fish => String::from_utf8_lossy(script)
            .replace(
                "--command cargo-tool",
                "--command cargo --condition 'contains -- tool (commandline -opc)[2]'",
            )
            .replace("--cut-at-cursor)", "--cut-at-cursor)[3..-1]")
            .replace(" -- (commandline", " -- cargo-tool (commandline"),
        _ => String::new(),
    }
}

/// Returns whether a shell has started this process to get completions.
#[cfg(feature = "cargo")]
pub(crate) fn is_asked() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|shell| !shell.is_empty())
}

/// Prints the completions and exits, if a shell has requested them.
pub(crate) fn answer(cli: &Cli) {
    CompleteEnv::with_factory(|| words(cli))
        .var(VARIABLE)
        .complete();
}

/// Returns the name of the program's file: `cargo tool` is the program `cargo-tool`.
fn file_name(cli: &Cli) -> String {
    cli.program().replace(' ', "-")
}

/// Returns the command-line parser with the tools as subcommands of `call`, and their names as values for other commands.
fn words(cli: &Cli) -> clap::Command {
    let words = cli.words().name(file_name(cli));
    let Ok(registry) = cli.tools() else {
        return words;
    };
    let tools = registry.tools().iter();
    let names: Vec<String> = tools.map(|def| def.wire_name().to_owned()).collect();
    let candidates = ArgValueCandidates::new(move || -> Vec<CompletionCandidate> {
        names.iter().map(CompletionCandidate::new).collect()
    });
    let mut words = with_calls(cli, &registry, words);
    for (command, argument) in NAMED {
        words = words.mut_subcommand(command, |command| {
            command.mut_arg(argument, |arg| arg.add(candidates.clone()))
        });
    }
    words
}

fn with_calls(cli: &Cli, registry: &Registry, words: clap::Command) -> clap::Command {
    let Ok(offered) = offered(cli, registry) else {
        return words;
    };
    let tools = registry.tools().iter();
    let seen = tools.filter(|def| offered.get(def.wire_name()).is_some());
    let calls: Vec<clap::Command> = seen.map(call::completed).collect();
    words.mut_subcommand("call", |command| command.subcommands(calls))
}
