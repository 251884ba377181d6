//! Report on a server's tools: the providers to which each tool is offered, or the reason why it is refused.

use std::fmt;

use tool_core::schema::dynamic::SchemaFault;
use tool_core::{Dialect, Dialects};

use super::lock::{Facet, list};
use super::text::shown;

/// The report on all tools of a server.
#[derive(Clone, Debug, Default)]
pub struct McpReport(pub(crate) Vec<ToolReport>);

impl McpReport {
    /// Returns the reports on all tools in the server's order, and then the reports on the invalid entries.
    pub fn tools(&self) -> &[ToolReport] {
        &self.0
    }

    /// Returns the report on a tool, by the tool's name on the server.
    pub fn get(&self, remote: &str) -> Option<&ToolReport> {
        self.0.iter().find(|tool| tool.remote == remote)
    }

    /// Returns the reports on the tools that are offered to at least one provider.
    pub fn offered(&self) -> impl Iterator<Item = &ToolReport> {
        self.0.iter().filter(|tool| tool.is_offered())
    }

    /// Returns the reports on the tools that are not offered to any provider.
    pub fn refused(&self) -> impl Iterator<Item = &ToolReport> {
        self.0.iter().filter(|tool| !tool.is_offered())
    }
}

/// Prints one line for each tool, and below it an indented line for each reason, change and note.
impl fmt::Display for McpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|tool| tool.fmt(f))
    }
}

/// The report on one tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolReport {
    /// The tool's name on the server.
    pub remote: String,
    /// The tool's local name, such as `github:search`; `None` if the name is invalid or the entry is not a valid tool.
    pub name: Option<String>,
    /// The reasons why the tool is refused; empty if it is offered.
    pub refusals: Vec<Refusal>,
    /// The providers to which the tool is offered if it is not refused.
    pub providers: Dialects,
    /// The reasons why the tool is not offered to the other providers.
    pub left_out: Vec<(Dialect, Vec<SchemaFault>)>,
    /// Constraints that the offered schema states only in a description.
    pub notes: Vec<SchemaFault>,
    /// The reasons why outputs are not validated against the output schema; empty if they are validated, or if the server declares no output schema.
    pub unheld: Vec<SchemaFault>,
    /// Providers to which the tool is offered without strict mode, because the host [allows](super::LoadTools::allow_non_strict) that, and the
    /// reasons why strict mode does not support the tool.
    pub non_strict: Vec<(Dialect, Vec<SchemaFault>)>,
    /// Changes of the tool's own schema for each provider to which it is offered without strict mode; empty if the schema is sent unchanged.
    pub changes: Vec<(Dialect, Vec<SchemaFault>)>,
    /// The parts that were removed from the tool's texts, because the host [allows](super::LoadTools::remove_hidden_text) that.
    pub cleaned: Vec<SchemaFault>,
}

impl ToolReport {
    /// Returns whether the tool is offered to at least one provider.
    pub fn is_offered(&self) -> bool {
        self.refusals.is_empty()
    }
}

impl fmt::Display for ToolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remote = shown(&self.remote);
        let name = self.name.as_deref().unwrap_or(&remote);
        if self.refusals.is_empty() {
            let offered = Dialect::ALL
                .into_iter()
                .filter(|dialect| self.providers.contains(*dialect));
            let offered: Vec<_> = offered
                .map(|dialect| {
                    let is_strict = self.non_strict.iter().all(|(loose, _)| *loose != dialect);
                    let word = if is_strict { "" } else { " (not strict)" };
                    format!("{}{word}", dialect.name())
                })
                .collect();
            writeln!(f, "`{name}`: offered to {}", offered.join(", "))?;
        } else {
            writeln!(f, "`{name}`: refused")?;
        }
        for refusal in &self.refusals {
            writeln!(f, "  {refusal}")?;
        }
        for (dialect, fault) in each(&self.left_out) {
            writeln!(f, "  not for {}: {fault}", dialect.name())?;
        }
        for (what, faults) in [
            ("not strict for", &self.non_strict),
            ("changed for", &self.changes),
        ] {
            for (dialect, fault) in each(faults) {
                writeln!(f, "  {what} {}: {fault}", dialect.name())?;
            }
        }
        for fault in &self.cleaned {
            writeln!(f, "  removed: {fault}")?;
        }
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        for fault in &self.unheld {
            writeln!(
                f,
                "  outputs are not validated against their schema: {fault}"
            )?;
        }
        Ok(())
    }
}

fn each(faults: &[(Dialect, Vec<SchemaFault>)]) -> impl Iterator<Item = (Dialect, &SchemaFault)> {
    faults
        .iter()
        .flat_map(|(dialect, faults)| faults.iter().map(|fault| (*dialect, fault)))
}

/// The reason why a tool is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The server's entry is not a valid tool.
    Broken(String),
    /// No provider accepts the tool's name.
    Name,
    /// Another tool of the server has the same local name.
    Collision(String),
    /// The tool has no description.
    Description,
    /// The tool's input schema cannot be read, or, if the host allows the tool without strict mode, cannot be used for validation.
    Schema(Vec<SchemaFault>),
    /// No provider supports the tool's schema.
    NoProvider,
    /// One of the tool's texts contains [hidden characters](tool_core::hidden).
    HiddenText(Vec<SchemaFault>),
    /// One of the tool's texts or schemas is too long.
    TooLong(Vec<SchemaFault>),
    /// The tool's outputs cannot be validated, and the host [requires](super::LoadTools::hold_outputs) their validation.
    Output(Vec<SchemaFault>),
    /// The tool differs from the accepted contract.
    Changed(Vec<Facet>),
    /// The tool is not in the lock.
    New,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = |f: &mut fmt::Formatter<'_>, what: &str, faults: &[SchemaFault]| {
            let texts: Vec<_> = faults.iter().map(ToString::to_string).collect();
            write!(f, "{what}: {}", texts.join("; "))
        };
        match self {
            Self::Broken(why) => write!(f, "the server's entry is not a tool: {why}"),
            Self::Name => f.write_str(
                "no provider accepts its name: start with a letter and use at most 64 letters, digits, `_` and `-`, namespace included, or use `map_names`",
            ),
            Self::Collision(other) => {
                write!(f, "the server's tool `{}` has the same local name", shown(other))
            }
            Self::Description => f.write_str("it has no description"),
            Self::Schema(found) => faults(f, "its schema cannot be used", found),
            Self::NoProvider => f.write_str("no provider accepts its schema"),
            Self::HiddenText(found) => {
                faults(f, "its texts contain hidden characters", found)?;
                f.write_str(": review it, and use `remove_hidden_text` or leave it out")
            }
            Self::TooLong(found) => {
                faults(f, "it is too long", found)?;
                f.write_str(": use `remove_hidden_text`, which cuts descriptions, or leave it out")
            }
            Self::Output(found) => faults(f, "outputs cannot be validated against their schema", found),
            Self::Changed(facets) => write!(
                f,
                "it differs from the accepted contract in its {}: review it and `accept` it",
                list(facets)
            ),
            Self::New => f.write_str("the host has not accepted it yet: review it and `accept` it"),
        }
    }
}
