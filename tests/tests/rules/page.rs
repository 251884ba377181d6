//! Generation of the tables in `docs/rules.md` from the catalogue.

use std::fmt::Write as _;
use std::fs;

use tool_rules::{Rule, Target, Targets};

use crate::{proof, root};

/// Returns the rows of the rules in these areas, with a row for each id that contains all of its messages.
fn rows(areas: &[&str]) -> String {
    let rules: Vec<&Rule> = Rule::AREAS
        .iter()
        .filter(|area| areas.contains(&area.name))
        .flat_map(|area| area.rules)
        .collect();
    let mut ids: Vec<&str> = Vec::new();
    for rule in &rules {
        if !ids.contains(&rule.id) {
            ids.push(rule.id);
        }
    }
    let mut out = String::from(
        "| rule | messages | who refuses, with what | proven by |\n|---|---|---|---|\n",
    );
    for id in ids {
        let own = || rules.iter().filter(|rule| rule.id == id);
        let texts: Vec<&str> = own().map(|rule| rule.text).collect();
        let targets = own().fold(Targets::NONE, |all, rule| all.and(rule.targets));
        let targets: Vec<&str> = if targets == Targets::ALL {
            vec!["all"]
        } else {
            targets.iter().map(Target::name).collect()
        };
        let mut evidence: Vec<&str> = Vec::new();
        for rule in own() {
            if !evidence.contains(&rule.evidence) {
                evidence.push(rule.evidence);
            }
        }
        let who = if targets.is_empty() {
            evidence.join("; ")
        } else {
            format!("**{}**: {}", targets.join(", "), evidence.join("; "))
        };
        let _ = writeln!(
            out,
            "| `{id}` | {} | {} | {} |",
            cell(&texts.join("<br>")),
            cell(&who),
            proof::shown(&own().copied().collect::<Vec<_>>())
        );
    }
    out
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Replaces the rows between `<!-- rules: name -->` and `<!-- end -->`.
fn with_rows(page: &str, name: &str, rows: &str) -> String {
    let begin = format!("<!-- rules: {name} -->\n");
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("docs/rules.md lacks the line {begin}"));
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}{begin}{rows}<!-- end -->{after}")
}

// M2: the page lists every rule. `UPDATE=1` writes the rows of the page.
#[test]
fn page_lists_every_rule() {
    let path = root().join("docs/rules.md");
    let page = fs::read_to_string(&path).unwrap();
    let schemas = ["schema", "constraint", "types"];
    let syntax = ["tool", "derive", "warning"];
    let json = ["dynamic", "mcp", "import"];
    let mut expected = with_rows(&page, "schemas", &rows(&schemas));
    expected = with_rows(&expected, "declarations", &rows(&syntax));
    expected = with_rows(&expected, "JSON Schema", &rows(&json));
    let listed = schemas.len() + syntax.len() + json.len();
    assert_eq!(listed, Rule::AREAS.len(), "the page lacks an area");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).unwrap();
    } else {
        assert!(
            page == expected,
            "run `UPDATE=1 cargo test -p tool-tests --test rules`"
        );
    }
}
