//! The `diff` command: prints the changes since `lock`, and whom they break.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::lock::{self, Locked, Locks};
use crate::args::Diff;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::{BAD, DIM, GOOD, NAME, Screen, WARN, count, paint};

mod node;
mod schema;
mod tool;

#[cfg(test)]
mod tests;

/// The effect of a change on callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Callers {
    /// Everything that was valid is still valid.
    Compatible,
    /// Something that was valid is no longer valid.
    Breaking,
}

/// The effect of a change on pending approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Approvals {
    /// The approvals stay valid.
    Hold,
    /// The approvals have to be requested again.
    Void,
}

/// One change of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Change {
    tool: String,
    callers: Callers,
    approvals: Approvals,
    /// The part that changed: `argument`, `output`, `effect`, …
    part: &'static str,
    /// The place in the part, as a path of keys.
    place: String,
    text: String,
}

#[derive(Serialize)]
struct Report {
    changed: bool,
    breaking: bool,
    /// Tools whose pending approvals are void.
    void: Vec<String>,
    changes: Vec<Change>,
}

pub(super) fn run(cli: &Cli, words: &Diff, screen: Screen) -> Result<Exit, Failure> {
    let path = lock::path(words.file.as_deref());
    let before = Locks::read(cli, &path)?;
    let now = Locks::of(&cli.tools()?);
    let changes = changes(&before.tools, &now.tools);
    let void: BTreeSet<String> = changes
        .iter()
        .filter(|change| change.approvals == Approvals::Void)
        .map(|change| change.tool.clone())
        .collect();
    let report = Report {
        changed: !changes.is_empty(),
        breaking: changes
            .iter()
            .any(|change| change.callers == Callers::Breaking),
        void: void.into_iter().collect(),
        changes,
    };
    let fails = if words.breaking {
        report.breaking
    } else if words.approvals {
        report.breaking || !report.void.is_empty()
    } else {
        report.changed
    };
    if screen.is_json() {
        Screen::json(&report)?;
    } else {
        show(cli, &report, screen)?;
    }
    Ok(if fails { Exit::Failed } else { Exit::Ok })
}

/// Returns every change, by tool.
fn changes(before: &[Locked], now: &[Locked]) -> Vec<Change> {
    fn by_name(tools: &[Locked]) -> BTreeMap<&str, &Locked> {
        tools.iter().map(|tool| (&*tool.name, tool)).collect()
    }
    let (before, now) = (by_name(before), by_name(now));
    let names: BTreeSet<&str> = before.keys().chain(now.keys()).copied().collect();
    let whole = |name: &str, callers, approvals, text: &str| Change {
        tool: name.to_owned(),
        callers,
        approvals,
        part: "tool",
        place: String::new(),
        text: text.to_owned(),
    };
    let each = names
        .into_iter()
        .flat_map(|name| match (before.get(name), now.get(name)) {
            (Some(before), Some(now)) => tool::changes(before, now),
            (Some(_), None) => vec![whole(
                name,
                Callers::Breaking,
                Approvals::Void,
                "it was removed",
            )],
            _ => vec![whole(
                name,
                Callers::Compatible,
                Approvals::Hold,
                "it is new",
            )],
        });
    each.collect()
}

fn show(cli: &Cli, report: &Report, screen: Screen) -> Result<(), Failure> {
    if !report.changed {
        return screen.out("nothing changed");
    }
    for change in &report.changes {
        let class = match change.callers {
            Callers::Breaking => paint(BAD, "breaking  "),
            Callers::Compatible => paint(GOOD, "compatible"),
        };
        let void = match change.approvals {
            Approvals::Void => paint(WARN, " (approvals void)"),
            Approvals::Hold => String::new(),
        };
        let place = match &*change.place {
            "" => change.part.to_owned(),
            place => format!("{} {place}", change.part),
        };
        screen.out(format_args!(
            "{class} {} {}: {}{void}",
            paint(NAME, &change.tool),
            place,
            change.text
        ))?;
    }
    let breaking = report
        .changes
        .iter()
        .filter(|change| change.callers == Callers::Breaking);
    screen.out(format_args!(
        "{}, {} breaking for callers; waiting approvals are void for {}",
        count(report.changes.len(), "change"),
        breaking.count(),
        count(report.void.len(), "tool")
    ))?;
    screen.note(paint(
        DIM,
        format_args!("`{}` accepts them", cli.line("lock")),
    ));
    Ok(())
}
