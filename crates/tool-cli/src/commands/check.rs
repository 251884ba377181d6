//! The `check` command: checks each tool against the rules of each provider.

use std::fmt::Display;

use serde::Serialize;
use tool_core::schema::dynamic::{Target, judge};
use tool_core::schema::rules::{Rule, survey};
use tool_core::schema::{Field, Kind, Schema, Tagging};
use tool_core::{Dialect, ToolDef};

use super::find;
use crate::args::Check;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::{BAD, BOLD, DIM, GOOD, NAME, Screen, WARN, count, paint};
use crate::table::Table;

/// Maximum length of a description that every client shows, in characters.
const DESCRIPTION: usize = 1024;
/// Maximum length of a name that every client shows, in bytes.
const NAME_LENGTH: usize = 50;
/// Number of optional fields above which Anthropic may refuse a request.
const OPTIONALS: usize = 10;
/// Number of unions above which a tool leaves few unions for the other tools of a request.
const UNIONS: usize = 8;

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    tools: Vec<Verdicts<'a>>,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Verdicts<'a> {
    name: &'a str,
    verdicts: Vec<Verdict>,
}

#[derive(Serialize)]
struct Verdict {
    dialect: &'static str,
    /// The verdict: `accepted`, `refused` or `left_out`.
    verdict: &'static str,
}

#[derive(Serialize)]
struct Finding {
    /// The tool; `None` if the finding concerns a request with all tools.
    tool: Option<String>,
    /// The provider's dialect; `None` if the finding concerns all providers.
    dialect: Option<&'static str>,
    /// The severity: `error` or `warning`.
    level: &'static str,
    rule: &'static str,
    place: String,
    text: String,
}

impl Finding {
    /// Creates a finding about one tool, with the rule's text, in which the facts replace the placeholders.
    fn of(tool: &ToolDef, level: &'static str, rule: &Rule, facts: &[&dyn Display]) -> Self {
        Self {
            tool: Some(tool.wire_name().to_owned()),
            dialect: None,
            level,
            rule: rule.id,
            place: String::new(),
            text: rule.text_with(facts).to_string(),
        }
    }
}

pub(super) async fn run(cli: &Cli, words: &Check, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let mut tools = Vec::new();
    for name in &words.names {
        tools.push(find(cli, &registry, name).await?);
    }
    if words.names.is_empty() {
        tools.extend(registry.tools());
    }
    let mut findings = Vec::new();
    let verdicts: Vec<_> = tools.iter().map(|def| one(def, &mut findings)).collect();
    if words.names.is_empty() {
        let faults = registry.open().faults();
        findings.extend(faults.into_iter().map(|fault| Finding {
            tool: None,
            dialect: None,
            level: "warning",
            rule: fault.rule,
            place: fault.path,
            text: fault.text,
        }));
    }
    let fails = |finding: &Finding| finding.level == "error" || words.strict;
    let ok = !findings.iter().any(fails);
    let report = Report {
        ok,
        tools: verdicts,
        findings,
    };
    if screen.is_json() {
        Screen::json(&report)?;
    } else {
        show(&report, screen)?;
    }
    Ok(if ok { Exit::Ok } else { Exit::Failed })
}

fn one<'a>(def: &'a ToolDef, findings: &mut Vec<Finding>) -> Verdicts<'a> {
    let verdicts = Dialect::ALL
        .into_iter()
        .map(|dialect| Verdict {
            dialect: dialect.name(),
            verdict: verdict(def, dialect, findings),
        })
        .collect();
    let mut warn = |rule: &Rule, place: String, facts: &[&dyn Display]| {
        findings.push(Finding {
            place,
            ..Finding::of(def, "warning", rule, facts)
        });
    };
    let name = def.wire_name();
    if name.len() > NAME_LENGTH || name.contains(|letter: char| letter.is_ascii_uppercase()) {
        warn(&Rule::TOOL_NAME_CLIENT, String::new(), &[]);
    }
    let sizes = survey(def.input());
    if sizes.optionals > OPTIONALS {
        warn(&Rule::MANY_OPTIONALS, String::new(), &[]);
    }
    if sizes.unions > UNIONS {
        warn(&Rule::MANY_UNIONS, String::new(), &[]);
    }
    undocumented(def.input(), "", &mut |place, name| {
        warn(&Rule::FIELD_DESCRIPTION_MISSING, place, &[&name, &""]);
    });
    Verdicts {
        name: def.wire_name(),
        verdicts,
    }
}

/// Checks the schema text that is sent to a provider, and returns the verdict.
fn verdict(def: &ToolDef, dialect: Dialect, findings: &mut Vec<Finding>) -> &'static str {
    let text = def.schema(dialect);
    if text.is_empty() {
        return "left_out";
    }
    let mut add = |finding: Finding| {
        findings.push(Finding {
            dialect: Some(dialect.name()),
            ..finding
        });
    };
    let schema = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => {
            add(Finding::of(def, "error", &Rule::JSON_NOT_JSON, &[&error]));
            return "refused";
        }
    };
    let verdicts = judge(&schema);
    for fault in verdicts.against(Target::from(dialect)) {
        add(Finding {
            tool: Some(def.wire_name().to_owned()),
            dialect: None,
            level: "error",
            rule: fault.rule,
            place: fault.pointer.clone(),
            text: fault.text.clone(),
        });
    }
    let said = description(def.definition(dialect)).unwrap_or_default();
    let long = said.chars().count();
    if long == 0 && dialect != Dialect::JsonSchema {
        let rule = &Rule::DYNAMIC_DESCRIPTION_MISSING;
        add(Finding::of(def, "error", rule, &[]));
    }
    if long > DESCRIPTION {
        let rule = &Rule::SENT_DESCRIPTION_LONG;
        add(Finding::of(def, "warning", rule, &[&long, &DESCRIPTION]));
    }
    if verdicts.accepts(Target::from(dialect)) {
        "accepted"
    } else {
        "refused"
    }
}

/// Returns the description in a definition, in any provider's format.
fn description(definition: &str) -> Option<String> {
    let json: serde_json::Value = serde_json::from_str(definition).ok()?;
    let direct = json.get("description");
    let inner = json
        .get("function")
        .and_then(|function| function.get("description"));
    Some(direct.or(inner)?.as_str()?.to_owned())
}

/// Calls `tell` with the path and name of every argument field without a description. The fields in untagged unions and in tuples are not checked.
fn undocumented(schema: &Schema, path: &str, tell: &mut dyn FnMut(String, &str)) {
    let mut fields = |fields: &[Field], path: &str| {
        for field in fields.iter().filter(|field| field.input) {
            let path = format!("{path}/{}", field.name);
            if field.description.is_empty() && field.schema.description.is_empty() {
                tell(path.clone(), field.name);
            }
            undocumented(field.schema, &path, tell);
        }
    };
    match schema.kind {
        Kind::Object(of) => fields(of, path),
        Kind::Optional(inner) | Kind::Constrained(inner, _) | Kind::Map(inner) => {
            undocumented(inner, path, tell);
        }
        Kind::Array { items, .. } => undocumented(items, path, tell),
        Kind::Union(union) if union.tagging != Tagging::Untagged => {
            for variant in union.variants {
                if let Some(schema) = variant.schema {
                    undocumented(schema, &format!("{path}/{}", variant.name), tell);
                }
            }
        }
        _ => {}
    }
}

fn show(report: &Report<'_>, screen: Screen) -> Result<(), Failure> {
    let mut head = vec!["NAME".to_owned()];
    head.extend(Dialect::ALL.map(|dialect| dialect.name().to_owned()));
    let mut table = Table::new(head);
    for tool in &report.tools {
        let mut cells = vec![paint(NAME, tool.name)];
        cells.extend(tool.verdicts.iter().map(|verdict| match verdict.verdict {
            "accepted" => paint(GOOD, "accepted"),
            "left_out" => paint(DIM, "left out"),
            verdict => paint(BAD, verdict),
        }));
        table.row(cells);
    }
    screen.out(table.render(Screen::width()))?;
    for finding in &report.findings {
        let level = match finding.level {
            "error" => paint(BAD, "error"),
            level => paint(WARN, level),
        };
        let mut place = finding
            .tool
            .clone()
            .unwrap_or_else(|| "all tools in one request".to_owned());
        if finding.tool.is_some() {
            place.push_str(&finding.place);
        }
        if let Some(dialect) = finding.dialect {
            place = format!("{place} for {dialect}");
        }
        screen.out(format_args!(
            "{level} [{}] {}: {}",
            finding.rule,
            paint(BOLD, place),
            finding.text
        ))?;
    }
    let errors = report
        .findings
        .iter()
        .filter(|finding| finding.level == "error")
        .count();
    screen.out(format_args!(
        "{}, {}, {}",
        count(report.tools.len(), "tool"),
        count(errors, "error"),
        count(report.findings.len() - errors, "warning")
    ))
}
