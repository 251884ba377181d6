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
    // A tool of the toolset may also be in the registry, and a name may be given twice.
    let mut add = |tool: &ToolDef| {
        if !tools.iter().any(|known| known.name == tool.wire_name()) {
            tools.push(types(tool)?);
        }
        Ok::<(), Failure>(())
    };
    if words.names.is_empty() {
        for tool in declaring(&registry, &offered) {
            add(tool)?;
        }
    }
    for name in &words.names {
        add(find_offered(cli, &registry, &offered, name).await?)?;
    }
    let module = module(&tools, !words.no_zod);
    let module = module.map_err(|error| Failure::of(Exit::Failed, error))?;
    screen.out(module.trim_end())?;
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
