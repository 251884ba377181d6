//! The `import` command: generates typed tools from JSON definitions.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;
use tool_core::hidden;
use tool_core::schema::rules::Rule;

use crate::args::Import;
use crate::import::names::{self, Names};
use crate::import::shape::{Fault, Property, Shape};
use crate::import::{Definition, Typed, definitions, source, typed};
use crate::json::Json;
use crate::outcome::{Exit, Failure};
use crate::screen::{BAD, BOLD, Screen, WARN, paint};

#[derive(Serialize)]
struct Report {
    /// The file that was written; `None` if the source is in `source`.
    file: Option<String>,
    source: Option<String>,
    tools: Vec<Told>,
}

#[derive(Serialize)]
struct Told {
    /// The name in the definition.
    name: String,
    /// The name of the fn; `None` if no fn was generated.
    tool: Option<String>,
    /// The reasons why no fn was generated.
    faults: Vec<String>,
    /// Constraints that neither a type nor an attribute expresses.
    lost: Vec<String>,
}

pub(super) async fn run(words: &Import, screen: Screen) -> Result<Exit, Failure> {
    let (text, place) = source_of(words).await?;
    let stem = words.file.as_deref().and_then(Path::file_stem);
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
    let name = words
        .name
        .clone()
        .or(stem)
        .unwrap_or_else(|| "imported".to_owned());
    let found =
        definitions(&text, &name).map_err(|error| Failure::usage(format!("`{place}`: {error}")))?;
    let (text, tools) = write(&found);
    let failed = tools.iter().filter(|told| told.tool.is_none()).count();
    let text = formatted(text);
    if let Some(out) = &words.out {
        if out.exists() && !words.force {
            return Err(
                Failure::usage(format!("`{}` already exists", out.display()))
                    .hint("give a different file, or `--force` to overwrite it"),
            );
        }
        fs::write(out, &text).map_err(|error| {
            Failure::usage(format!("`{}` cannot be written: {error}", out.display()))
        })?;
    }
    if screen.is_json() {
        Screen::json(&Report {
            file: words.out.as_ref().map(|out| out.display().to_string()),
            source: words.out.is_none().then_some(text),
            tools,
        })?;
    } else {
        if words.out.is_none() {
            io::stdout().lock().write_all(text.as_bytes())?;
        }
        tell(&tools, words.out.as_deref(), screen);
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}

/// Returns the text with the definitions, and the name of its source.
#[cfg_attr(
    not(feature = "serve"),
    expect(clippy::unused_async, reason = "only a server has to be awaited")
)]
async fn source_of(words: &Import) -> Result<(String, String), Failure> {
    if let Some(command) = &words.mcp {
        #[cfg(feature = "serve")]
        return Ok((served(command).await?, command.clone()));
        #[cfg(not(feature = "serve"))]
        return Err(super::missing(
            &format!("import --mcp '{command}'"),
            "serve",
            "install `cargo tool` with `--features serve`",
        ));
    }
    let file = words.file.as_deref().unwrap_or(Path::new("-"));
    Ok((read(file)?, file.display().to_string()))
}

/// Returns the tools of a server that a command starts, as the server lists them.
#[cfg(feature = "serve")]
async fn served(command: &str) -> Result<String, Failure> {
    use tool_mcp::client::McpClient;
    use tool_mcp::rmcp::transport::TokioChildProcess;

    let failed = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("`{command}` does not serve tools: {error}"))
            .hint("write the command that starts the server over standard input and output")
    };
    let mut words = command.split_whitespace();
    let mut process = tokio::process::Command::new(words.next().unwrap_or_default());
    process.args(words);
    let transport = TokioChildProcess::new(process).map_err(|error| failed(&error))?;
    let client = McpClient::connect(transport)
        .await
        .map_err(|error| failed(&error))?;
    let tools = client.peer().list_all_tools().await;
    client.close();
    let tools = tools.map_err(|error| failed(&error))?;
    Ok(serde_json::to_string(&tools).map_err(io::Error::from)?)
}

fn read(file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("`{}` cannot be read: {error}", file.display()))
            .hint("write the path of a file, or `-` for the standard input")
    })
}

/// Generates the source of all tools, and reports the outcome for each.
fn write(found: &[Definition]) -> (String, Vec<Told>) {
    let mut names = Names::default();
    let mut body = String::new();
    let mut tools = Vec::new();
    for definition in found {
        let mut told = Told {
            name: hidden::show(&definition.name, 200).into_owned(),
            tool: None,
            faults: Vec::new(),
            lost: Vec::new(),
        };
        if let Some(fault) = hidden_in(definition) {
            told.faults.push(fault);
            tools.push(told);
            continue;
        }
        match typed(&definition.parameters) {
            Ok(of) => {
                let name = names.unique(&names::tool(&definition.name), "_");
                one(&mut body, &name, definition, &of);
                told.tool = Some(name);
                told.lost = of.lost;
            }
            Err(faults) => {
                let faults = faults.iter().map(Fault::to_string);
                told.faults = faults
                    .map(|fault| hidden::show(&fault, 1000).into_owned())
                    .collect();
            }
        }
        tools.push(told);
    }
    let mut text = String::from("//! Written by `import`. Write the bodies of the tools.\n\n");
    if body.contains("_repr") {
        // The source has enums of integers.
        text.push_str("// Cargo.toml: serde_repr = \"0.1\"\nuse serde_repr::{Deserialize_repr, Serialize_repr};\n");
    }
    text.push_str("use tool_core::prelude::*;\n");
    text.push_str(&body);
    (text, tools)
}

/// Returns the reason why a definition must not become source: one of its texts contains characters that are invisible to a reader of the source.
/// Control characters need no check here: they are escaped in values, and documentation is written without them.
fn hidden_in(definition: &Definition) -> Option<String> {
    let texts = [&definition.name, &definition.description];
    let found = texts.into_iter().find_map(|text| unseen(text));
    let c = found.or_else(|| unseen_in(&definition.parameters))?;
    Some(format!(
        "the definition contains an invisible character, U+{:04X}: remove the character at the source of the definition",
        u32::from(c)
    ))
}

fn unseen(text: &str) -> Option<char> {
    let mut found = hidden::find(text).map(|(_, c)| c);
    found.find(|c| !c.is_control())
}

fn unseen_in(json: &Json) -> Option<char> {
    match json {
        Json::Text(text) => unseen(text),
        Json::List(items) => items.iter().find_map(unseen_in),
        Json::Record(entries) => entries
            .iter()
            .find_map(|(key, value)| unseen(key).or_else(|| unseen_in(value))),
        _ => None,
    }
}

fn one(out: &mut String, name: &str, definition: &Definition, of: &Typed) {
    let description = match definition.description.trim() {
        "" => format!("Calls `{}`.", definition.name),
        said => said.to_owned(),
    };
    let mut body = String::new();
    for lost in &of.lost {
        // A line break would end the comment.
        let lost = lost.replace(['\n', '\r'], " ");
        let _ = writeln!(
            body,
            "    // Check this constraint here, because no type expresses it: {lost}"
        );
    }
    let fields = names::fields(of.parameters.iter().map(|property| &*property.key));
    if !fields.is_empty() {
        let _ = writeln!(body, "    let _ = ({},);", fields.join(", "));
    }
    let _ = write!(
        body,
        "    Err(ToolError::new(\"`{name}` is not implemented yet\"))"
    );
    // If the fn's name differs from the wire name, the option `name` states the wire name.
    let mut words = Vec::new();
    if name != definition.name && tool_core::schema::rules::is_tool_name(&definition.name) {
        words.push(format!("name = \"{}\"", definition.name));
    }
    let allowed = allowances(&definition.name, &of.parameters);
    if !allowed.is_empty() {
        words.push(format!("allow({})", allowed.join(", ")));
    }
    source::tool(
        out,
        &source::Tool {
            name,
            description: &description,
            words: &words.join(", "),
            parameters: &of.parameters,
            output: "String",
            body: &body,
        },
    );
}

/// Returns the ids of the rules whose warnings only a change of the definition could avoid.
fn allowances(name: &str, parameters: &[Property]) -> Vec<&'static str> {
    fn optional(properties: &[Property]) -> usize {
        let inner = |property: &Property| match &property.shape {
            Shape::Record(inner) => optional(inner),
            _ => 0,
        };
        properties
            .iter()
            .map(|property| {
                inner(property) + usize::from(property.need != crate::import::shape::Need::Required)
            })
            .sum()
    }
    let mut rules = Vec::new();
    if optional(parameters) > 10 {
        rules.push(Rule::MANY_OPTIONALS.id);
    }
    if name.len() > 50 || name.contains(|letter: char| letter.is_ascii_uppercase()) {
        rules.push(Rule::TOOL_NAME_CLIENT.id);
    }
    rules
}

/// Formats the source with rustfmt, if it is installed.
fn formatted(text: String) -> String {
    let rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut rustfmt) = rustfmt else {
        return text;
    };
    let Some(mut stdin) = rustfmt.stdin.take() else {
        return text;
    };
    // A separate thread writes the source, because rustfmt may begin to write before it has read everything.
    let given = text.clone();
    let writing = std::thread::spawn(move || stdin.write_all(given.as_bytes()));
    let output = rustfmt.wait_with_output();
    let written = writing.join().is_ok_and(|written| written.is_ok());
    match output.map(|output| (output.status.success(), String::from_utf8(output.stdout))) {
        Ok((true, Ok(formatted))) if written => formatted,
        _ => text,
    }
}

fn tell(tools: &[Told], out: Option<&Path>, screen: Screen) {
    for told in tools {
        for fault in &told.faults {
            screen.note(format_args!(
                "{} `{}` {fault}",
                paint(BAD, "left out:"),
                told.name
            ));
        }
        for lost in &told.lost {
            screen.note(format_args!(
                "{} `{}` {lost}",
                paint(WARN, "not checked:"),
                told.name
            ));
        }
    }
    let done = tools.iter().filter(|told| told.tool.is_some()).count();
    let place = out.map_or_else(String::new, |out| format!(" in {}", out.display()));
    screen.note(format_args!(
        "{} of {} tools generated{place}; write their bodies next",
        paint(BOLD, done),
        tools.len()
    ));
}
