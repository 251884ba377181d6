//! `cargo tool`: the commands for the libraries of a workspace.
//!
//! Tools are registered at link time. Therefore, for a command that needs the tools, `cargo tool` generates a small program below `target/` that
//! links the libraries of the workspace that depend on `tool-core` (with `--package`, only the selected ones), builds the program, and runs it with
//! the same arguments. On Unix, the program replaces this process.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::cargo::{CargoArgs, CargoArguments};
use crate::args::{Command, is_postgres};
use crate::commands;
use crate::host::{Cli, clap_color, misused, wants_json};
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

mod harness;
mod workspace;

/// Runs the program `cargo-tool`.
pub fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if commands::completions::is_asked() {
        // A program that an earlier command has built contains the tools. If there is none, or if it cannot be started,
        // only the completions of tools are missing.
        if let Some(program) = built(&arguments) {
            let _ = start(std::process::Command::new(program).args(&arguments[1..]));
        }
        commands::completions::answer(&Cli::new().of_workspace());
    }
    // Cargo passes the name of the subcommand as the first argument.
    if arguments.get(1).is_some_and(|word| word == "tool") {
        arguments.remove(1);
    }
    let words = match read(&arguments) {
        Ok(words) => words,
        Err(error) => return misused(&error, wants_json(&arguments)),
    };
    if needs_no_tools(&words.words.command) {
        return Cli::new().of_workspace().run_words(words.words);
    }
    let screen = Screen::new(words.words.look.format, words.words.look.color);
    let features = features(&words.words.command);
    match run(&words.cargo, &features, &arguments, screen) {
        Ok(code) => code,
        Err(failure) => {
            screen.fail(&failure);
            failure.exit.into()
        }
    }
}

/// Returns the built program for the workspace of a command line that a shell completes. Such a line is often incomplete.
fn built(arguments: &[OsString]) -> Option<std::path::PathBuf> {
    let line = arguments.iter().skip_while(|word| *word != "--").skip(1);
    let matches = CargoArguments::command()
        .ignore_errors(true)
        .try_get_matches_from(line)
        .ok()?;
    let mut cargo = CargoArgs::from_arg_matches(&matches).ok()?;
    cargo.offline = true;
    let workspace = workspace::read(&cargo).ok()?;
    let mut possible = vec![
        vec!["cargo"],
        vec!["cargo", "serve"],
        vec!["cargo", "operate"],
        vec!["cargo", "operate", "postgres"],
        vec!["cargo", "tokens"],
    ];
    for postgres in [false, true] {
        for typescript in [false, true] {
            possible.push(features_of_store(postgres, typescript));
        }
    }
    let mut possible = possible.iter();
    possible.find_map(|features| harness::built(&workspace, features))
}

/// Returns whether a command works without the tools of the workspace. A command for operators does so if this program
/// has its feature: it only needs the tools to validate arguments that an approver edits.
fn needs_no_tools(command: &Command) -> bool {
    matches!(
        command,
        Command::New(_) | Command::Completions(_) | Command::Import(_)
    ) || cfg!(feature = "operate") && command.target().is_some()
}

/// Returns the features of tool-cli that a command needs in the generated program.
fn features(command: &Command) -> Vec<&'static str> {
    match command {
        Command::Budget(_) => vec!["cargo", "tokens"],
        Command::Chat(_) => vec!["cargo", "chat"],
        Command::Serve(words) => match &words.store {
            Some(url) => features_of_store(is_postgres(url), words.typescript),
            None => vec!["cargo", "serve"],
        },
        command => match command.target() {
            Some(target) if target.store.as_deref().is_some_and(is_postgres) => {
                vec!["cargo", "operate", "postgres"]
            }
            Some(_) => vec!["cargo", "operate"],
            None => vec!["cargo"],
        },
    }
}

/// Returns the features that `serve --store` needs.
fn features_of_store(postgres: bool, typescript: bool) -> Vec<&'static str> {
    let mut features = vec!["cargo", "admin"];
    if postgres {
        features.push("postgres");
    }
    if typescript {
        features.push("typescript");
    }
    features
}

/// Runs the generated program, with the tools that it links.
#[doc(hidden)]
pub fn linked() -> ExitCode {
    #[cfg(all(feature = "typescript", unix))]
    tool_isolate::helper();
    commands::completions::answer(&Cli::new().of_workspace());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match read(&arguments) {
        Ok(words) => Cli::new().of_workspace().run_words(words.words),
        Err(error) => misused(&error, wants_json(&arguments)),
    }
}

fn read(arguments: &[OsString]) -> Result<CargoArguments, clap::Error> {
    let after = arguments.iter().skip(1);
    let words = std::iter::once(OsString::from("cargo tool")).chain(after.cloned());
    Cli::new()
        .of_workspace()
        .words()
        .color(clap_color(arguments))
        .try_get_matches_from_mut(words)
        .and_then(|matches| CargoArguments::from_arg_matches(&matches))
}

fn run(
    cargo: &CargoArgs,
    features: &[&str],
    arguments: &[OsString],
    screen: Screen,
) -> Result<ExitCode, Failure> {
    let workspace = workspace::read(cargo)?;
    for name in &workspace.programs {
        screen.note(format_args!(
            "`{name}` is only a program, so its tools cannot be linked: call `tool_cli::main()` in its `main`, then run `cargo run -p {name} -- list`"
        ));
    }
    if workspace.libraries.is_empty() {
        return Err(
            Failure::usage("no library of the workspace depends on `tool-core`")
                .hint("`cargo tool new NAME` creates a library with a tool"),
        );
    }
    let program = harness::build(&workspace, cargo, features, screen)?;
    start(
        std::process::Command::new(program)
            .args(&arguments[1..])
            .env(crate::commands::LOCK_ROOT, &workspace.root),
    )
}

/// Replaces this process with the program, so that signals reach the program and its exit code is returned.
#[cfg(unix)]
fn start(command: &mut std::process::Command) -> Result<ExitCode, Failure> {
    use std::os::unix::process::CommandExt as _;
    Err(cannot(&command.exec()))
}

#[cfg(not(unix))]
fn start(command: &mut std::process::Command) -> Result<ExitCode, Failure> {
    let status = command.status().map_err(|error| cannot(&error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(Exit::Failed.code())))
}

fn cannot(error: &std::io::Error) -> Failure {
    Failure::of(
        Exit::Failed,
        format!("the generated program cannot be started: {error}"),
    )
}
