//! The `budget` command: counts the tokens of tool definitions.

use serde::Serialize;
use tool_core::{Dialect, ToolDef};

use super::find;
use crate::args::Budget;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::{BAD, BOLD, DIM, NAME, Screen, paint};
use crate::table::Table;

/// The tokenizer of all counts.
const TOKENIZER: &str = "o200k_base";

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    tokenizer: &'static str,
    tools: Vec<Row<'a>>,
    /// The count of all definitions together, as they are sent in a request.
    total: Vec<Count>,
    limit: Option<usize>,
    total_limit: Option<usize>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    counts: Vec<Count>,
}

#[derive(Serialize)]
struct Count {
    dialect: &'static str,
    /// The number of tokens; `None` if the tool is not offered to the provider.
    tokens: Option<usize>,
    bytes: usize,
    /// Whether the count is an estimate, because the provider's tokenizer is different or not public.
    estimate: bool,
    /// Whether the count exceeds the limit.
    above: bool,
}

pub(super) async fn run(cli: &Cli, words: &Budget, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let mut tools: Vec<&ToolDef> = Vec::new();
    for name in &words.names {
        tools.push(find(cli, &registry, name).await?);
    }
    if words.names.is_empty() {
        tools.extend(registry.tools());
    }
    let dialects: Vec<Dialect> = match words.dialect {
        Some(one) => vec![one],
        None => Dialect::ALL.to_vec(),
    };
    let rows: Vec<Row<'_>> = tools
        .iter()
        .map(|def| Row {
            name: def.wire_name(),
            counts: dialects
                .iter()
                .map(|dialect| Count::of(*dialect, def.definition(*dialect), words.limit))
                .collect(),
        })
        .collect();
    let total: Vec<Count> = dialects
        .iter()
        .map(|dialect| Count::of(*dialect, &list(&tools, *dialect), words.total_limit))
        .collect();
    let counts = rows.iter().flat_map(|row| &row.counts).chain(&total);
    let ok = !counts.into_iter().any(|count| count.above);
    let report = Report {
        ok,
        tokenizer: TOKENIZER,
        tools: rows,
        total,
        limit: words.limit,
        total_limit: words.total_limit,
    };
    if screen.is_json() {
        Screen::json(&report)?;
    } else {
        show(&report, screen)?;
    }
    Ok(if ok { Exit::Ok } else { Exit::Failed })
}

/// Formats the definitions as the JSON array that a request contains.
fn list(tools: &[&ToolDef], dialect: Dialect) -> String {
    let definitions: Vec<&str> = tools
        .iter()
        .map(|def| def.definition(dialect))
        .filter(|definition| !definition.is_empty())
        .collect();
    format!("[{}]", definitions.join(","))
}

impl Count {
    fn of(dialect: Dialect, text: &str, limit: Option<usize>) -> Self {
        let tokens = (!text.is_empty()).then(|| {
            tiktoken_rs::o200k_base_singleton()
                .encode_ordinary(text)
                .len()
        });
        Self {
            dialect: dialect.name(),
            tokens,
            bytes: text.len(),
            estimate: dialect != Dialect::OpenAi,
            above: limit
                .zip(tokens)
                .is_some_and(|(limit, tokens)| tokens > limit),
        }
    }

    fn cell(&self) -> String {
        match self.tokens {
            None => paint(DIM, "–"),
            Some(tokens) if self.above => paint(BAD, tokens),
            Some(tokens) => tokens.to_string(),
        }
    }
}

fn show(report: &Report<'_>, screen: Screen) -> Result<(), Failure> {
    let head = report.total.iter().map(|count| {
        let mark = if count.estimate { "~" } else { "" };
        format!("{mark}{}", count.dialect)
    });
    let mut table =
        Table::new(std::iter::once("NAME".to_owned()).chain(head)).right(1..=report.total.len());
    for row in &report.tools {
        let cells = row.counts.iter().map(Count::cell);
        table.row(std::iter::once(paint(NAME, row.name)).chain(cells));
    }
    let cells = report.total.iter().map(Count::cell);
    table.row(std::iter::once(paint(BOLD, "all")).chain(cells));
    screen.out(table.render(Screen::width()))?;
    screen.note(paint(
        DIM,
        format_args!(
            "tokens of {TOKENIZER} for the bytes of a request; `~` marks an estimate, because the provider publishes no tokenizer"
        ),
    ));
    for count in &report.total {
        let over = report.tools.iter().flat_map(|row| {
            let counts = row
                .counts
                .iter()
                .filter(|one| one.dialect == count.dialect && one.above);
            counts.map(|one| (row.name, one.tokens.unwrap_or_default()))
        });
        for (name, tokens) in over {
            let limit = report.limit.unwrap_or_default();
            screen.note(format_args!(
                "{} `{name}` has {tokens} tokens for {}, the limit is {limit}: shorten its texts or split it",
                paint(BAD, "above the limit:"),
                count.dialect
            ));
        }
        if count.above {
            let (tokens, limit) = (
                count.tokens.unwrap_or_default(),
                report.total_limit.unwrap_or_default(),
            );
            screen.note(format_args!(
                "{} all tools have {tokens} tokens for {}, the limit is {limit}: select fewer tools for each turn",
                paint(BAD, "above the limit:"),
                count.dialect
            ));
        }
    }
    Ok(())
}
