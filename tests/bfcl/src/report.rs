//! The findings as a text report.

use std::fmt;

use crate::compare::{Findings, Miss, by_rule};
use crate::spoil::Kind;

/// Maximum number of misses of each kind in the report.
const SHOWN: usize = 5;

impl Findings {
    /// Returns the percentage of lines whose function is a tool.
    pub fn typed_percent(&self) -> f64 {
        percent(self.typed_lines, self.lines)
    }

    /// Returns the sum of a number over all kinds of spoiled calls.
    pub fn spoiled(&self, number: impl Fn(&crate::compare::Tally) -> usize) -> usize {
        self.kinds.values().map(number).sum()
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts of lines are far below 2^52"
)]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self
            .definitions
            .iter()
            .filter(|definition| definition.tool.is_ok())
            .count();
        writeln!(
            f,
            "definitions  {} different, {tools} typed",
            self.definitions.len()
        )?;
        writeln!(
            f,
            "lines        {}, {} typed ({:.1} %)",
            self.lines,
            self.typed_lines,
            self.typed_percent()
        )?;
        writeln!(
            f,
            "gold calls   {} accepted by both, {} refused by both",
            self.gold_accepted,
            self.gold_refused.len()
        )?;
        for call in &self.gold_refused {
            writeln!(f, "             refused: {call}")?;
        }
        writeln!(
            f,
            "spoiled      {} sent: {} to be refused, {} to be accepted, {} excluded (whole numbers beyond 64 bits), {} misses",
            self.spoiled(|tally| tally.sent),
            self.spoiled(|tally| tally.refused),
            self.spoiled(|tally| tally.accepted),
            self.spoiled(|tally| tally.excluded),
            self.spoiled(|tally| tally.misses),
        )?;
        self.kinds(f)?;
        self.untyped(f)?;
        self.misses(f)
    }
}

impl Findings {
    fn kinds(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n{:<40}{:>6}{:>9}{:>10}{:>10}{:>8}",
            "kind", "sent", "refused", "accepted", "excluded", "misses"
        )?;
        for (&kind, tally) in &self.kinds {
            writeln!(
                f,
                "{:<40}{:>6}{:>9}{:>10}{:>10}{:>8}",
                Kind::ALL[kind].name(),
                tally.sent,
                tally.refused,
                tally.accepted,
                tally.excluded,
                tally.misses
            )?;
        }
        Ok(())
    }

    fn untyped(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\ncannot be typed, by rule (a definition may break several)"
        )?;
        for (rule, (definitions, lines)) in by_rule(&self.definitions) {
            writeln!(
                f,
                "  {rule:<20}{definitions:>4} definitions{lines:>4} lines"
            )?;
        }
        for definition in &self.definitions {
            let Err(faults) = &definition.tool else {
                continue;
            };
            writeln!(
                f,
                "  {} ({} lines)",
                definition.function.name,
                definition.lines.len()
            )?;
            for fault in faults {
                writeln!(f, "    {fault}")?;
            }
        }
        Ok(())
    }

    fn misses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.misses.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nmisses")?;
        let gold = std::iter::once(None);
        for kind in gold.chain(Kind::ALL.into_iter().map(Some)) {
            let of_kind: Vec<&Miss> = self
                .misses
                .iter()
                .filter(|miss| miss.kind == kind)
                .collect();
            if of_kind.is_empty() {
                continue;
            }
            let name = kind.map_or("gold call", Kind::name);
            writeln!(f, "  {name}: {}", of_kind.len())?;
            for miss in of_kind.iter().take(SHOWN) {
                writeln!(f, "    {} {}: {}", miss.id, miss.tool, miss.what)?;
                writeln!(f, "      {}", miss.text)?;
            }
        }
        Ok(())
    }
}
