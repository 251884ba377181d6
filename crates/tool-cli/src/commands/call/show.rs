//! Output of a call's result.

use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::{CallResult, Citation, ErrorKind, Issue, RepairNote, ToolDef, ToolError};

use super::save::{self, Saved};
use super::{exit_of, files, flags};
use crate::args::CallOptions;
use crate::host::Cli;
use crate::json::Json;
use crate::outcome::{Exit, Failure};
use crate::screen::{DIM, Screen, WARN, paint};

/// The last line of `--format json`.
#[derive(Serialize)]
struct Done<'a> {
    event: &'static str,
    tool: &'a str,
    ok: bool,
    /// The whole payload; `None` for an error.
    output: Option<&'a RawValue>,
    /// The text for the model.
    model: String,
    error: Option<Error<'a>>,
    repairs: &'a [RepairNote],
    citations: &'a [Citation],
    /// The files of the result, with the paths to which they were written.
    saved: &'a [Saved],
    duration_ms: u128,
}

#[derive(Serialize)]
struct Error<'a> {
    kind: &'static str,
    /// The text for the operator.
    text: String,
    issues: &'a [Issue],
    /// Ids of pending approvals.
    approvals: Vec<&'a str>,
}

pub(super) fn show(
    cli: &Cli,
    def: &ToolDef,
    result: &CallResult,
    how: &CallOptions,
    screen: Screen,
) -> Result<Exit, Failure> {
    let exit = result
        .error()
        .map_or(Exit::Ok, |error| exit_of(error.kind()));
    let saved = match &how.save {
        Some(folder) if !result.is_error() => save::save(result, folder),
        _ => Vec::new(),
    };
    if screen.is_json() {
        Screen::json(&Done {
            event: "done",
            tool: result.name(),
            ok: !result.is_error(),
            output: result.output(),
            model: result.model_text(),
            error: result.error().map(|error| Error {
                kind: error.kind().as_str(),
                text: error.operator_text(),
                issues: error.issues(),
                approvals: result.tickets().iter().map(|ticket| &*ticket.id).collect(),
            }),
            repairs: result.repairs(),
            citations: result.citations(),
            saved: &saved,
            duration_ms: result.duration().as_millis(),
        })?;
        save::check(&saved)?;
        return Ok(exit);
    }
    for note in result.repairs() {
        screen.note(format_args!(
            "{} `{}` {}",
            paint(WARN, "repaired:"),
            note.pointer,
            note.what
        ));
    }
    let Some(error) = result.error() else {
        if how.model {
            screen.out(result.model_text())?;
        } else if let Some(output) = result.output() {
            let mut json = Json::read(output.get()).map_err(std::io::Error::from)?;
            let lines = files::lines(&json);
            if files::describe(&mut json).with_bytes && how.save.is_none() {
                screen.note(paint(
                    DIM,
                    "a description replaces each file: `--save FOLDER` writes the file into a folder, `--format json` prints its bytes as base64",
                ));
            }
            screen.out(match (lines, json) {
                (Some(lines), _) => lines.join("\n"),
                (None, Json::Text(text)) => text,
                (None, json) => json.pretty(),
            })?;
        }
        if how.save.is_some() {
            save::tell(&saved, screen);
            save::check(&saved)?;
        }
        screen.note(paint(
            DIM,
            format_args!("done in {} ms", result.duration().as_millis()),
        ));
        return Ok(exit);
    };
    let failure = failure(cli, def, error, exit);
    if !how.model {
        return Err(failure);
    }
    // With `--model`, the model's text is printed in place of the operator's text, which has causes that a model must not read.
    screen.out(result.model_text())?;
    if let Some(hint) = failure.hint {
        screen.help(&hint);
    }
    screen.note(paint(
        DIM,
        format_args!(
            "{} in {} ms",
            error.kind().as_str(),
            result.duration().as_millis()
        ),
    ));
    Ok(exit)
}

/// Returns the operator's text of an error, and a hint.
fn failure(cli: &Cli, def: &ToolDef, error: &ToolError, exit: Exit) -> Failure {
    if error.kind() == ErrorKind::InvalidArguments && !error.issues().is_empty() {
        let lines = error.issues().iter().map(|issue| {
            let place = match flags::flag_at(def, &issue.pointer) {
                Some(flag) => format!("{flag} ({})", issue.pointer),
                None if issue.pointer.is_empty() => "the arguments".to_owned(),
                None => issue.pointer.clone(),
            };
            format!(
                "\n  {place}: expected {}, found {}",
                issue.expected, issue.found
            )
        });
        let text = format!("the arguments do not fit:{}", lines.collect::<String>());
        let hint = format!(
            "`{} {} --help` shows the arguments",
            cli.line("call"),
            def.wire_name()
        );
        return Failure::of(exit, text).hint(hint);
    }
    let text = format!("{}: {}", error.kind().as_str(), error.operator_text());
    let failure = Failure::of(exit, text);
    if error.kind() == ErrorKind::Unavailable && error.operator_text().ends_with(" is absent") {
        return failure.hint(supply_hint(cli));
    }
    if error.missing_variables().is_empty() {
        return failure;
    }
    let names: Vec<_> = error
        .missing_variables()
        .iter()
        .map(|need| format!("`{}`", super::supply::variable_of("VARIABLE", &need.name)))
        .collect();
    failure.hint(format!(
        "set {} in the environment, or write `--variable NAME=VALUE`",
        names.join(", ")
    ))
}

/// Explains how a program supplies host values to a tool.
fn supply_hint(cli: &Cli) -> String {
    let who = if cli.is_of_workspace() {
        "`cargo tool` supplies no host values; a program of your own does, in its `main`"
    } else {
        "the program supplies it in its `main`"
    };
    format!(
        "{who}: `tool_cli::Cli::new().context(|cx| cx.with(VALUE)).run()`, see \"Values of the host\" in docs/cli.md"
    )
}
