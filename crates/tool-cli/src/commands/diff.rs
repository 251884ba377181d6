//! The `diff` command: prints the changes since `lock`, and whether each breaks callers or voids approvals.

use std::collections::BTreeSet;

use serde::Serialize;
use tool_schema::lock::{Callers, Change, PendingApprovals, changes};

use super::lock::{self, locked};
use crate::args::Diff;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::{BAD, DIM, GOOD, NAME, Screen, WARN, count, paint};

#[cfg(test)]
mod tests;

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
    let before = lock::read(cli, &path)?;
    let now = locked(&cli.tools()?);
    let changes = changes(&before.tools, &now.tools);
    let void: BTreeSet<String> = changes
        .iter()
        .filter(|change| change.approvals == PendingApprovals::Void)
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
            PendingApprovals::Void => paint(WARN, " (approvals void)"),
            PendingApprovals::Hold => String::new(),
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
        "{}, {} breaking for callers; pending approvals are void for {}",
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
