//! A survey of the tools of published MCP servers: `survey FILE` prints Markdown tables. FILE is a JSON list of `{"package", "command", "env"}`, and
//! each command starts a server over standard input and output.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tool_core::Dialect;
use tool_mcp::client::{McpClient, McpReport, ToolReport, mcp_tools};
use tool_mcp::rmcp::transport::TokioChildProcess;

#[derive(Deserialize)]
struct Server {
    package: String,
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The number of tools of a server, and the reports of two imports: with strict schemas only (`by_default`), and with non-strict schemas too
/// (`chosen`).
struct Surveyed {
    tools: usize,
    by_default: McpReport,
    chosen: McpReport,
}

type Failed = Box<dyn std::error::Error>;

const DIALECTS: [Dialect; 4] = [
    Dialect::OpenAi,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Mcp,
];

async fn survey(server: &Server) -> Result<Surveyed, Failed> {
    let [program, words @ ..] = &server.command[..] else {
        return Err("no command".into());
    };
    let mut command = Command::new(program);
    command.args(words).envs(&server.env);
    let (transport, _) = TokioChildProcess::builder(command)
        .stderr(Stdio::null())
        .spawn()?;
    let client = McpClient::connect(transport).await?;
    let by_default = mcp_tools(&client).map_names().await?;
    let chosen = mcp_tools(&client).map_names().allow_non_strict().await?;
    client.close();
    Ok(Surveyed {
        tools: by_default.report().tools().len(),
        by_default: by_default.report().clone(),
        chosen: chosen.report().clone(),
    })
}

fn offered(report: &McpReport, dialect: Dialect) -> usize {
    let to = report
        .offered()
        .filter(|tool| tool.providers.contains(dialect));
    to.count()
}

fn is_loose(tool: &ToolReport, dialect: Dialect) -> bool {
    tool.non_strict.iter().any(|(loose, _)| *loose == dialect)
}

fn row(package: &str, surveyed: &Surveyed) -> String {
    let mut row = format!("| `{package}` | {} |", surveyed.tools);
    for dialect in DIALECTS {
        let _ = write!(row, " {} |", offered(&surveyed.by_default, dialect));
    }
    for dialect in DIALECTS {
        let all = offered(&surveyed.chosen, dialect);
        let loose = surveyed
            .chosen
            .offered()
            .filter(|tool| is_loose(tool, dialect));
        let _ = match loose.count() {
            0 => write!(row, " {all} |"),
            loose => write!(row, " {all} ({loose}) |"),
        };
    }
    row
}

/// Lists the refused tools, the providers that a tool is left out for, the outputs that are not checked, and the changes of schemas by provider and
/// rule. All of them are from the import that allows non-strict schemas.
fn remarks(package: &str, surveyed: &Surveyed, out: &mut String) {
    for tool in surveyed.chosen.tools() {
        let name = tool_core::hidden::show(&tool.remote, 100);
        for refusal in &tool.refusals {
            let _ = writeln!(out, "* `{package}`, `{name}`: refused, {refusal}");
        }
        if !tool.refusals.is_empty() {
            continue;
        }
        for (dialect, faults) in &tool.left_out {
            let why = faults.first().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                out,
                "* `{package}`, `{name}`: not for {}, {why}",
                dialect.name()
            );
        }
        for fault in &tool.unheld {
            let _ = writeln!(
                out,
                "* `{package}`, `{name}`: outputs are not checked, {fault}"
            );
        }
    }
    let mut changed = BTreeMap::<(&str, &str), usize>::new();
    for (dialect, faults) in surveyed
        .chosen
        .tools()
        .iter()
        .flat_map(|tool| &tool.changes)
    {
        for fault in faults {
            *changed.entry((dialect.name(), fault.rule)).or_default() += 1;
        }
    }
    for ((dialect, rule), count) in changed {
        let _ = writeln!(
            out,
            "* `{package}`: changed for {dialect}, `{rule}` ({count})"
        );
    }
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let file = std::env::args().nth(1).ok_or("usage: survey FILE")?;
    let servers: Vec<Server> = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut rows = String::new();
    let mut tables = String::new();
    let mut failed = Vec::new();
    for server in &servers {
        let limit = Duration::from_mins(2);
        match tokio::time::timeout(limit, survey(server)).await {
            Ok(Ok(surveyed)) => {
                let _ = writeln!(rows, "{}", row(&server.package, &surveyed));
                remarks(&server.package, &surveyed, &mut tables);
            }
            Ok(Err(error)) => failed.push(format!("{}: {error}", server.package)),
            Err(_) => failed.push(format!("{}: no answer in {limit:?}", server.package)),
        }
    }
    println!(
        "| server | tools | OpenAI | Anthropic | Gemini | MCP | OpenAI, allowed | Anthropic, allowed | Gemini, allowed | MCP, allowed |\n|---|---|---|---|---|---|---|---|---|---|\n{rows}\n{tables}"
    );
    if failed.is_empty() {
        return Ok(());
    }
    Err(failed.join("\n").into())
}
