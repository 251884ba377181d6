//! Changes of one tool.

use super::schema::{self, Side};
use super::{Callers, Change, LockedTool, PendingApprovals};

/// The approval policies, from the least to the most frequent approvals.
const APPROVAL: [&str; 4] = ["never", "by_effect", "when", "always"];

/// Returns every change of a tool that exists before and after.
pub(super) fn changes(before: &LockedTool, now: &LockedTool) -> Vec<Change> {
    let mut found = Found {
        tool: &now.name,
        void: before.contract != now.contract,
        changes: Vec::new(),
    };
    found.input(before, now);
    found.output(before, now);
    found.effects(before, now);
    found.needs(before, now);
    if before.description != now.description {
        found.add(
            "description",
            "",
            Callers::Compatible,
            true,
            "models read a different text".into(),
        );
    }
    if before.category != now.category {
        let text = format!("`{}` became `{}`", before.category, now.category);
        found.add("category", "", Callers::Compatible, false, text);
    }
    if found.void
        && found
            .changes
            .iter()
            .all(|change| change.approvals == PendingApprovals::Hold)
    {
        let text = "the contract changed, but none of the compared parts changed";
        found.add("contract", "", Callers::Compatible, true, text.into());
    }
    found.changes
}

struct Found<'a> {
    tool: &'a str,
    /// Whether the contract's fingerprint changed.
    void: bool,
    changes: Vec<Change>,
}

impl Found<'_> {
    /// Adds a change; `in_contract` is whether the part belongs to the contract.
    fn add(
        &mut self,
        part: &'static str,
        place: &str,
        callers: Callers,
        in_contract: bool,
        text: String,
    ) {
        self.changes.push(Change {
            tool: self.tool.to_owned(),
            callers,
            approvals: if in_contract && self.void {
                PendingApprovals::Void
            } else {
                PendingApprovals::Hold
            },
            part,
            place: place.to_owned(),
            text,
        });
    }

    fn schemas(&mut self, part: &'static str, side: Side, before: &str, now: &str) {
        for change in schema::compare(before, now, side) {
            self.add(part, &change.place, change.callers, true, change.text);
        }
    }

    fn input(&mut self, before: &LockedTool, now: &LockedTool) {
        self.schemas("argument", Side::Input, &before.input, &now.input);
    }

    fn output(&mut self, before: &LockedTool, now: &LockedTool) {
        match (&before.output, &now.output) {
            (Some(before), Some(now)) => self.schemas("output", Side::Output, before, now),
            (None, Some(_)) => self.add(
                "output",
                "",
                Callers::Compatible,
                true,
                "it has a schema now".into(),
            ),
            (Some(_), None) => self.add(
                "output",
                "",
                Callers::Breaking,
                true,
                "it has no schema any more".into(),
            ),
            (None, None) => {}
        }
    }

    fn effects(&mut self, before: &LockedTool, now: &LockedTool) {
        for effect in gone(&now.effects, &before.effects) {
            let text = format!("it may {effect} now");
            self.add("effect", "", Callers::Breaking, true, text);
        }
        for effect in gone(&before.effects, &now.effects) {
            let text = format!("it cannot {effect} any more");
            self.add("effect", "", Callers::Compatible, true, text);
        }
        // `safe` is true for hints that promise safety, and false for hints that warn.
        for (hint, safe) in [
            ("read_only", true),
            ("idempotent", true),
            ("destructive", false),
            ("open_world", false),
        ] {
            let has = |tool: &LockedTool| tool.hints.iter().any(|known| known == hint);
            let (was, is) = (has(before), has(now));
            if was != is {
                let callers = if is == safe {
                    Callers::Compatible
                } else {
                    Callers::Breaking
                };
                let text = if is {
                    format!("it is {hint} now")
                } else {
                    format!("it is not {hint} any more")
                };
                self.add("hint", "", callers, true, text);
            }
        }
        if before.approval != now.approval {
            let rank = |word: &str| APPROVAL.iter().position(|known| *known == word);
            let callers = if rank(&now.approval) > rank(&before.approval) {
                Callers::Breaking
            } else {
                Callers::Compatible
            };
            let text = format!("`{}` became `{}`", before.approval, now.approval);
            self.add("approval", "", callers, false, text);
        }
    }

    fn needs(&mut self, before: &LockedTool, now: &LockedTool) {
        for provider in gone(&before.providers, &now.providers) {
            let text = format!("it is not offered to {provider} any more");
            self.add("provider", "", Callers::Breaking, true, text);
        }
        for provider in gone(&now.providers, &before.providers) {
            let text = format!("it is offered to {provider} now");
            self.add("provider", "", Callers::Compatible, true, text);
        }
        let sides = [
            (
                "secret",
                &before.secrets,
                &now.secrets,
                &before.optional_secrets,
                &now.optional_secrets,
            ),
            (
                "variable",
                &before.variables,
                &now.variables,
                &before.optional_variables,
                &now.optional_variables,
            ),
        ];
        for (part, was, is, was_optional, is_optional) in sides {
            for name in gone(is, was) {
                let text = format!("it requires `{name}` now, and does not run without it");
                self.add(part, "", Callers::Breaking, false, text);
            }
            for name in gone(was, is) {
                let text = format!("it does not require `{name}` any more");
                self.add(part, "", Callers::Compatible, false, text);
            }
            for name in gone(is_optional, was_optional).filter(|name| !was.contains(name)) {
                self.add(
                    part,
                    "",
                    Callers::Compatible,
                    false,
                    format!("it can use `{name}` now"),
                );
            }
            for name in gone(was_optional, is_optional).filter(|name| !is.contains(name)) {
                self.add(
                    part,
                    "",
                    Callers::Compatible,
                    false,
                    format!("it does not use `{name}` any more"),
                );
            }
        }
    }
}

/// Returns the items of the first list that are not in the second.
fn gone<'a>(first: &'a [String], second: &'a [String]) -> impl Iterator<Item = &'a String> {
    first.iter().filter(|word| !second.contains(word))
}
