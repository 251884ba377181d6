//! Report on a server's tools: to which providers each is offered, or why it is refused.

use std::fmt;

use tool_core::schema::dynamic::SchemaFault;
use tool_core::{Dialect, Dialects};

use super::lock::{Facet, list};
use super::text::shown;

/// The report on all tools of a server.
#[derive(Clone, Debug, Default)]
pub struct McpReport(pub(crate) Vec<ToolReport>);

impl McpReport {
    /// Every tool of the server, in its order.
    pub fn tools(&self) -> &[ToolReport] {
        &self.0
    }

    /// Returns a tool by its name on the server.
    pub fn get(&self, remote: &str) -> Option<&ToolReport> {
        self.0.iter().find(|tool| tool.remote == remote)
    }

    /// Tools that are offered to at least one provider.
    pub fn offered(&self) -> impl Iterator<Item = &ToolReport> {
        self.0.iter().filter(|tool| tool.is_offered())
    }

    /// Tools that are offered to no provider.
    pub fn refused(&self) -> impl Iterator<Item = &ToolReport> {
        self.0.iter().filter(|tool| !tool.is_offered())
    }
}

/// Prints what was refused, left out or offered without strict mode, tool by tool.
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
    /// Its local name, such as `github:search`; `None` if it has no valid name.
    pub name: Option<String>,
    /// Why it is refused; empty if it is offered.
    pub refusals: Vec<Refusal>,
    /// The providers that it is offered to.
    pub providers: Dialects,
    /// Why it is not offered to the other providers.
    pub left_out: Vec<(Dialect, Vec<SchemaFault>)>,
    /// Constraints of its schema that are only in its description here; the server checks them.
    pub notes: Vec<SchemaFault>,
    /// Why outputs are not validated against the output schema; empty if they are, or if there is none.
    pub unheld: Vec<SchemaFault>,
    /// Providers to which it is offered without strict mode, because the host
    /// [allows](super::LoadTools::allow_non_strict) that, and why strict mode does not support it.
    pub non_strict: Vec<(Dialect, Vec<SchemaFault>)>,
    /// Changes of its own schema for each provider to which it is offered without strict mode; empty if it is sent unchanged.
    pub changes: Vec<(Dialect, Vec<SchemaFault>)>,
    /// What was removed from its texts, because the host [allows](super::LoadTools::remove_hidden_text) that.
    pub cleaned: Vec<SchemaFault>,
}

impl ToolReport {
    /// Whether it is offered to at least one provider.
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

/// Why a tool is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The server's entry is not a valid tool.
    Broken(String),
    /// No provider accepts its name.
    Name,
    /// Another tool of the server has the same local name.
    Collision(String),
    /// It has no description.
    Description,
    /// Its schema cannot be read.
    Schema(Vec<SchemaFault>),
    /// No provider supports its schema.
    NoProvider,
    /// One of its texts contains [hidden characters](tool_core::hidden).
    HiddenText(Vec<SchemaFault>),
    /// One of its texts or schemas is too long.
    TooLong(Vec<SchemaFault>),
    /// Its outputs cannot be validated, and the host requires that.
    Output(Vec<SchemaFault>),
    /// It differs from the accepted contract.
    Changed(Vec<Facet>),
    /// It is not in the lock.
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
                "no provider accepts its name: use 1 to 64 letters, digits, `_` and `-`, namespace included, or `map_names`",
            ),
            Self::Collision(other) => {
                write!(f, "the server's tool `{}` has the same name here", shown(other))
            }
            Self::Description => f.write_str("it has no description"),
            Self::Schema(found) => faults(f, "its schema cannot be read", found),
            Self::NoProvider => f.write_str("no provider accepts its schema"),
            Self::HiddenText(found) => {
                faults(f, "its texts contain hidden characters", found)?;
                f.write_str(": look at it, and use `remove_hidden_text` or leave it out")
            }
            Self::TooLong(found) => {
                faults(f, "it is too long", found)?;
                f.write_str(": use `remove_hidden_text`, which cuts descriptions, or leave it out")
            }
            Self::Output(found) => faults(f, "outputs cannot be validated against their schema", found),
            Self::Changed(facets) => write!(
                f,
                "it has a different {} than the accepted one: review it and `accept` it",
                list(facets)
            ),
            Self::New => f.write_str("the host has not accepted it yet: review it and `accept` it"),
        }
    }
}
