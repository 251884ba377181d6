//! Which tools are offered to whom, and which are refused and why.

use std::fmt;

use tool_core::schema::dynamic::Fault;
use tool_core::{Dialect, Dialects};

use super::lock::{Facet, list};
use super::text::shown;

/// What was made of each tool of a server.
#[derive(Clone, Debug, Default)]
pub struct McpReport(pub(crate) Vec<ToolReport>);

impl McpReport {
    /// Every tool of the server, in its order.
    pub fn tools(&self) -> &[ToolReport] {
        &self.0
    }

    /// A tool by the server's name for it.
    pub fn get(&self, remote: &str) -> Option<&ToolReport> {
        self.0.iter().find(|tool| tool.remote == remote)
    }

    /// Tools that are offered to somebody.
    pub fn offered(&self) -> impl Iterator<Item = &ToolReport> {
        self.0.iter().filter(|tool| tool.is_offered())
    }

    /// Tools that are offered to nobody.
    pub fn refused(&self) -> impl Iterator<Item = &ToolReport> {
        self.0.iter().filter(|tool| !tool.is_offered())
    }
}

/// For people: what was refused, left out or loosened, tool by tool.
impl fmt::Display for McpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|tool| tool.fmt(f))
    }
}

/// What was made of one tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolReport {
    /// The server's name for it.
    pub remote: String,
    /// Its name here, such as `github:search`; `None` where it has none.
    pub name: Option<String>,
    /// Why it is offered to nobody; empty where it is offered.
    pub refusals: Vec<Refusal>,
    /// Whom its schema suits.
    pub providers: Dialects,
    /// Why its schema does not suit the others.
    pub left_out: Vec<(Dialect, Vec<Fault>)>,
    /// What its schema asks that only its description says here; the server checks it.
    pub notes: Vec<Fault>,
    /// Why outputs are not held to the schema that the server states for them; empty where they are, or where it states none.
    pub unheld: Vec<Fault>,
    /// Providers to which it is offered as not strict, because the host [allows](super::LoadTools::allow_non_strict) it, and why their
    /// strict mode does not take it.
    pub non_strict: Vec<(Dialect, Vec<Fault>)>,
    /// What had to be changed in its own schema for a provider that takes it as not strict; nothing where it is sent as it is.
    pub changes: Vec<(Dialect, Vec<Fault>)>,
    /// What was taken out of its texts, because the host [wants](super::LoadTools::remove_hidden_text) that.
    pub cleaned: Vec<Fault>,
}

impl ToolReport {
    /// Whether it is offered to somebody.
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
            writeln!(f, "  taken out: {fault}")?;
        }
        for note in &self.notes {
            writeln!(f, "  only said: {note}")?;
        }
        for fault in &self.unheld {
            writeln!(f, "  outputs are not held to their schema: {fault}")?;
        }
        Ok(())
    }
}

fn each(faults: &[(Dialect, Vec<Fault>)]) -> impl Iterator<Item = (Dialect, &Fault)> {
    faults
        .iter()
        .flat_map(|(dialect, faults)| faults.iter().map(|fault| (*dialect, fault)))
}

/// Why a tool is offered to nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The server's entry is no tool.
    Broken(String),
    /// No provider takes its name.
    Name,
    /// Another tool of the server has the same name here.
    Collision(String),
    /// The server does not say what it does.
    Description,
    /// Its schema cannot be read.
    Schema(Vec<Fault>),
    /// Its schema suits no provider.
    NoProvider,
    /// A text of it has characters that are [not shown](tool_core::hidden).
    HiddenText(Vec<Fault>),
    /// A text of it, or a schema, is too long.
    TooLong(Vec<Fault>),
    /// Its outputs cannot be held to their schema, and the host wants them held.
    Output(Vec<Fault>),
    /// It is no longer what was accepted.
    Changed(Vec<Facet>),
    /// Nobody has accepted it yet.
    New,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = |f: &mut fmt::Formatter<'_>, what: &str, faults: &[Fault]| {
            let texts: Vec<_> = faults.iter().map(ToString::to_string).collect();
            write!(f, "{what}: {}", texts.join("; "))
        };
        match self {
            Self::Broken(why) => write!(f, "the server's entry is no tool: {why}"),
            Self::Name => f.write_str(
                "no provider takes its name: use 1 to 64 letters, digits, `_` and `-`, namespace included, or `map_names`",
            ),
            Self::Collision(other) => {
                write!(f, "the server's tool `{}` has the same name here", shown(other))
            }
            Self::Description => f.write_str("the server does not say what it does"),
            Self::Schema(found) => faults(f, "its schema cannot be read", found),
            Self::NoProvider => f.write_str("its schema suits no provider"),
            Self::HiddenText(found) => {
                faults(f, "its texts hide something", found)?;
                f.write_str(": look at it, and use `remove_hidden_text` or leave it out")
            }
            Self::TooLong(found) => {
                faults(f, "it is too long", found)?;
                f.write_str(": use `remove_hidden_text`, which cuts descriptions, or leave it out")
            }
            Self::Output(found) => faults(f, "outputs cannot be held to their schema", found),
            Self::Changed(facets) => write!(
                f,
                "it has another {} than what was accepted: look at it and `accept` it",
                list(facets)
            ),
            Self::New => f.write_str("nobody has accepted it yet: look at it and `accept` it"),
        }
    }
}
