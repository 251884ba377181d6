//! The `lock` command: writes the contracts of the tools to a file.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tool_core::schema::dialect::schema_text;
use tool_core::{Dialect, Registry, ToolDef};
use tool_schema::lock::{LockFile, LockedTool, VERSION};

use super::list::{approval, effects};
use crate::args::Lock;
use crate::host::Cli;
use crate::json::Json;
use crate::outcome::{Exit, Failure};
use crate::screen::{Screen, count};

/// The first lines of the file.
const HEAD: &str = "# Written by `lock`, compared by `diff`. Commit it.\n\n";

/// The environment variable with the file's default folder: `cargo tool` sets it to the workspace's root.
pub(crate) const ROOT: &str = "CARGO_TOOL_ROOT";

pub(super) fn run(cli: &Cli, words: &Lock, screen: Screen) -> Result<Exit, Failure> {
    let path = path(words.file.as_deref());
    let lock = locked(&cli.tools()?);
    let text = toml::to_string_pretty(&lock).map_err(|error| {
        Failure::of(Exit::Failed, format!("the lock cannot be written: {error}"))
    })?;
    fs::write(&path, format!("{HEAD}{text}")).map_err(|error| {
        Failure::usage(format!("`{}` cannot be written: {error}", path.display()))
    })?;
    let tools = lock.tools.len();
    if screen.is_json() {
        #[derive(Serialize)]
        struct Written {
            file: String,
            tools: usize,
        }
        let file = path.display().to_string();
        Screen::json(&Written { file, tools })?;
    } else {
        screen.out(format_args!(
            "{} locked in {}",
            count(tools, "tool"),
            path.display()
        ))?;
    }
    Ok(Exit::Ok)
}

/// Returns the path of the file.
pub(super) fn path(said: Option<&Path>) -> PathBuf {
    match said {
        Some(path) => path.to_owned(),
        None => PathBuf::from(std::env::var_os(ROOT).unwrap_or_default()).join("tools.lock"),
    }
}

/// Returns the current contracts of the tools.
pub(super) fn locked(registry: &Registry) -> LockFile {
    LockFile {
        version: VERSION,
        tools: registry.tools().iter().map(contract).collect(),
    }
}

/// Reads the locked contracts.
pub(super) fn read(cli: &Cli, path: &Path) -> Result<LockFile, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("`{name}` cannot be read: {error}")).hint(format!(
            "write it with `{}`, and commit it",
            cli.line("lock")
        ))
    })?;
    let wrong = |text: String| {
        Failure::usage(format!("`{name}` is not a lock of this version: {text}")).hint(format!(
            "restore the file from the last commit, or write it again with `{}`",
            cli.line("lock")
        ))
    };
    let lock: LockFile = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if lock.version != VERSION {
        return Err(wrong(format!(
            "it has version {}, not {VERSION}",
            lock.version
        )));
    }
    Ok(lock)
}

/// Returns the current contract of a tool.
fn contract(def: &ToolDef) -> LockedTool {
    let hints = def.hints();
    let words = [
        (hints.read_only, "read_only"),
        (hints.destructive, "destructive"),
        (hints.idempotent, "idempotent"),
        (hints.open_world, "open_world"),
    ];
    let secrets = |optional: bool| {
        let needs = def
            .secrets()
            .iter()
            .filter(|need| need.optional == optional);
        needs.map(|need| need.key.to_string()).collect()
    };
    let variables = |required: bool| {
        let needs = def
            .variables()
            .iter()
            .filter(|need| need.required == required);
        needs.map(|need| need.name.to_string()).collect()
    };
    LockedTool {
        name: def.wire_name().to_owned(),
        contract: def.contract().to_string(),
        description: def.description().to_owned(),
        category: def.category().to_owned(),
        effects: effects(def.effect()),
        hints: words
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, word)| (*word).to_owned())
            .collect(),
        approval: approval(def.approval()).to_owned(),
        providers: def
            .providers()
            .iter()
            .map(|dialect| dialect.name().to_owned())
            .collect(),
        secrets: secrets(false),
        optional_secrets: secrets(true),
        variables: variables(true),
        optional_variables: variables(false),
        // The schema is written even for a tool that does not support this dialect.
        input: lines(&schema_text(def.input(), Dialect::JsonSchema)),
        output: def.output_schema().map(|schema| lines(&schema)),
    }
}

/// Formats JSON on several lines, so that a diff in version control shows only what has changed.
fn lines(text: &str) -> String {
    let mut lines = Json::read(text).map_or_else(|_| text.to_owned(), |json| json.pretty());
    lines.push('\n');
    lines
}
