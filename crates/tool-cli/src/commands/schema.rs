//! The `schema` command: prints schemas and definitions as they are sent to a provider.

use tool_core::Dialect;

use super::{find_offered, offered};
use crate::args::Schema;
use crate::host::Cli;
use crate::json::Json;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

pub(super) async fn run(cli: &Cli, words: &Schema, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let Some(name) = &words.name else {
        let tools = registry.open();
        let faults = tools.faults_in(words.dialect);
        if !faults.is_empty() {
            let told: Vec<String> = faults
                .iter()
                .map(|fault| format!("[{}] {}", fault.rule, fault.text))
                .collect();
            let text = format!(
                "{} refuses these tools in one request: {}",
                words.dialect.name(),
                told.join("; ")
            );
            return Err(Failure::usage(text)
                .hint("name one tool; in a program, select the tools of a turn with `Rules`"));
        }
        let left: Vec<_> = tools.left_out(words.dialect).collect();
        if !left.is_empty() {
            screen.note(format_args!(
                "left out, because their `providers(…)` does not name {}: {}",
                words.dialect.name(),
                left.join(", ")
            ));
        }
        return show(&tools.definitions(words.dialect), screen);
    };
    let offered = offered(cli, &registry)?;
    let def = find_offered(cli, &registry, &offered, name).await?;
    if words.output {
        return match def.output_schema() {
            Some(schema) => show(&schema, screen),
            None => Err(
                Failure::usage(format!("the output of `{name}` has no schema")).hint(
                    "files (`Image`, `Audio`, `File`, `Part`) and types that contain them have no schema; for any other output, \
derive `StrictSchema` or `schemars::JsonSchema` for the type that the tool returns",
                ),
            ),
        };
    }
    let text = if words.definition {
        def.definition(words.dialect)
    } else {
        def.schema(words.dialect)
    };
    if text.is_empty() {
        let offered: Vec<_> = def.providers().iter().map(Dialect::name).collect();
        let text = format!("`{name}` is not offered to {}", words.dialect.name());
        let hint = format!("its `providers(…)` names {}", offered.join(", "));
        return Err(Failure::usage(text).hint(hint));
    }
    show(text, screen)
}

/// Prints the exact bytes for programs, and formatted JSON for people.
fn show(text: &str, screen: Screen) -> Result<Exit, Failure> {
    if screen.is_json() {
        screen.out(text)?;
    } else {
        let json = Json::read(text).map_err(std::io::Error::from)?;
        screen.out(json.pretty())?;
    }
    Ok(Exit::Ok)
}
