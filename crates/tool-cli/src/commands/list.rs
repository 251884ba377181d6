//! The `list` command: prints the tools, and the reason why some are hidden.

use serde::Serialize;
use tool_core::{
    Approval, Dialect, Effect, Explanation, SecretNeed, ToolDef, VariableKind, VariableNeed,
};

use super::supply::{self, Supplied};
use super::{declaring, offered};
use crate::args::List;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::{DIM, NAME, Screen, WARN, paint};
use crate::table::Table;

/// One tool in `--format json`.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    /// Earlier names of the tool.
    aliases: Vec<&'a str>,
    title: Option<String>,
    category: &'a str,
    tags: Vec<&'a str>,
    /// The tool's effects: `read`, `write`, `destroy`, `external`.
    effects: Vec<String>,
    approval: &'static str,
    /// Whether a call may wait for a person, given the gate and the rules.
    #[serde(skip)]
    asks: bool,
    description: &'a str,
    providers: Vec<&'static str>,
    secrets: Vec<Need<'a>>,
    variables: Vec<Need<'a>>,
    hidden: Option<Hidden>,
    origin: Option<String>,
}

#[derive(Serialize)]
struct Need<'a> {
    name: &'a str,
    description: Option<&'a str>,
    required: bool,
}

#[derive(Serialize)]
struct Hidden {
    layer: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct All<'a> {
    tools: Vec<Row<'a>>,
}

pub(super) fn run(cli: &Cli, args: &List, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let made = offered(cli, &registry)?;
    let known = declaring(&registry, &made);
    let supplied = Supplied::gather(&args.supply, registry.tools(), known)?;
    let cx = cli.prepare(supplied.context(&args.supply)).build();
    // With all variables set, a call waits only for approvals.
    let mut complete = supplied.context(&args.supply);
    for need in registry
        .tools()
        .iter()
        .flat_map(|def| def.variables().iter())
    {
        complete = match need.kind {
            VariableKind::Text => complete.variable(&*need.name, "any"),
            VariableKind::Secret => complete.secret_variable(&*need.name, "any text"),
        };
    }
    let complete = cli.prepare(complete).build();
    let shown = cli.offer(&registry, &cli.gate_of()?).toolset(&cx);
    // Tools that the host builds are listed last.
    let made = shown
        .names()
        .filter(|name| registry.get(name).is_none())
        .filter_map(|name| shown.get(name));
    let tools = registry.tools().iter().chain(made);
    let tools = tools.filter(|def| match &args.filter {
        None => true,
        Some(part) => {
            def.name().contains(&**part)
                || def.category().contains(&**part)
                || def.tags().any(|tag| tag.contains(&**part))
        }
    });
    let rows: Vec<Row<'_>> = tools
        .map(|def| {
            let asks = shown.may_ask(def.name(), &complete);
            Row::of(def, &shown.explain(def.name()), asks)
        })
        .collect();
    if screen.is_json() {
        Screen::json(&All { tools: rows })?;
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        return Err(match &args.filter {
            Some(part) => Failure::usage(format!(
                "no tool has `{part}` in its name, category or tags"
            ))
            .hint(format!(
                "`{}` without a filter shows every tool",
                cli.line("list")
            )),
            None => Failure::usage("the program has no tools"),
        });
    }
    let mut table = Table::new(["NAME", "CATEGORY", "EFFECT", "APPROVAL", "DESCRIPTION"]);
    for row in &rows {
        let effects = match row.effects.as_slice() {
            [] => "none".to_owned(),
            effects => effects.join(", "),
        };
        let first = row.description.lines().next().unwrap_or_default();
        let (name, first) = match &row.hidden {
            None => (paint(NAME, row.name), first.to_owned()),
            Some(hidden) => (
                paint(DIM, row.name),
                format!(
                    "{} {first}",
                    paint(WARN, format!("hidden [{}]", hidden.layer))
                ),
            ),
        };
        // Most cells are `-`, so that the few tools that need an approval are easy to find.
        let approval = match row.approval {
            "always" => "always",
            "when" => "sometimes",
            _ if row.asks => "asks",
            _ => "-",
        };
        table.row([
            name,
            row.category.to_owned(),
            effects,
            approval.to_owned(),
            first,
        ]);
    }
    screen.out(table.render(Screen::width()))?;
    for hidden in rows.iter().filter_map(|row| row.hidden.as_ref()) {
        screen.out(format_args!("{} {}", paint(WARN, "hidden:"), hidden.reason))?;
    }
    Ok(Exit::Ok)
}

impl<'a> Row<'a> {
    fn of(def: &'a ToolDef, explanation: &Explanation, asks: bool) -> Self {
        Self {
            name: def.wire_name(),
            aliases: def.aliases().collect(),
            title: def.title().map(std::borrow::Cow::into_owned),
            category: def.category(),
            tags: def.tags().collect(),
            effects: effects(def.effect()),
            approval: approval(def.approval()),
            asks,
            description: def.description(),
            providers: def.providers().iter().map(Dialect::name).collect(),
            secrets: def.secrets().iter().map(Need::secret).collect(),
            variables: def.variables().iter().map(Need::variable).collect(),
            hidden: explanation.layer().map(|layer| Hidden {
                layer: layer.as_str(),
                reason: supply::reason(def, explanation),
            }),
            origin: def.origin().map(|origin| origin.to_string()),
        }
    }
}

impl<'a> Need<'a> {
    fn secret(need: &'a SecretNeed) -> Self {
        Self {
            name: &need.key,
            description: need.description.as_deref(),
            required: !need.optional,
        }
    }

    fn variable(need: &'a VariableNeed) -> Self {
        Self {
            name: &need.name,
            description: need.description.as_deref(),
            required: need.required,
        }
    }
}

/// Returns the approval policy of a tool as a word.
pub(super) fn approval(approval: Approval) -> &'static str {
    match approval {
        Approval::Never => "never",
        Approval::ByEffect => "by_effect",
        Approval::When(_) => "when",
        Approval::Always => "always",
    }
}

/// Returns the effects of a tool as words.
pub(super) fn effects(effect: Effect) -> Vec<String> {
    if effect.is_none() {
        return Vec::new();
    }
    effect.to_string().split(", ").map(str::to_owned).collect()
}
