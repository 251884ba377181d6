//! The `types` command: prints TypeScript types and zod schemas of the tools.

use tool_core::schema::dialect::schema_text;
use tool_core::{Dialect, ToolDef};
use tool_import::typescript::{ToolTypes, module};

use super::{declaring, find_offered, offered};
use crate::args::Types;
use crate::host::Cli;
use crate::json::Json;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

pub(super) async fn run(cli: &Cli, words: &Types, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let offered = offered(cli, &registry)?;
    let mut tools: Vec<ToolTypes> = Vec::new();
    if words.names.is_empty() {
        for tool in declaring(&registry, &offered) {
            // A tool of the toolset may also be in the registry.
            if !tools.iter().any(|known| known.name == tool.wire_name()) {
                tools.push(types(tool)?);
            }
        }
    }
    for name in &words.names {
        tools.push(types(find_offered(cli, &registry, &offered, name).await?)?);
    }
    screen.out(module(&tools, !words.no_zod).trim_end())?;
    Ok(Exit::Ok)
}

fn types(tool: &ToolDef) -> Result<ToolTypes, Failure> {
    let read = |text: &str| Json::read(text).map_err(std::io::Error::from);
    let output = tool.output_schema();
    Ok(ToolTypes {
        name: tool.wire_name().to_owned(),
        description: tool.description().to_owned(),
        input: read(&schema_text(tool.input(), Dialect::JsonSchema))?,
        output: output.map(|schema| read(&schema)).transpose()?,
    })
}
