//! Policy files in JSON, TOML or YAML.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::lists::ToolLists;
use super::report::{EarlierName, Known, OtherNames, UnknownTool};
use super::{Policy, PolicyError, PolicyVerdict, Rule};
use crate::tool::ToolDef;

/// The contents of a policy file. An unknown key is an error.
///
/// ```
/// use tool_core::Registry;
/// use tool_core::policy::PolicyFile;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = PolicyFile::from_json(
///     r#"{
///         "default": "allow",
///         "tools": { "deny": ["shell"] },
///         "agents": [{ "id": "chief", "tools": { "allow": ["read_file", "send_mail"] } }],
///         "rules": [{
///             "name": "outside",
///             "verdict": "ask",
///             "tools": ["send_*"],
///             "when": [{ "pointer": "/to", "glob": "*@example.org" }],
///             "four_eyes": true,
///             "reason": "is sent outside of the company"
///         }]
///     }"#,
/// )?;
/// let policy = file.build()?;
/// assert_eq!(policy.rules()[0].name(), "outside");
/// let unknown = file.unknown(&Registry::builder().build()?);
/// assert_eq!(unknown.len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The verdict if no rule matches.
    #[serde(default)]
    pub default: PolicyVerdict,
    /// Lists for all agents.
    #[serde(default)]
    pub tools: ToolLists,
    /// Lists for single agents.
    #[serde(default)]
    pub agents: Vec<AgentLists>,
    /// The policy's rules, in the order written.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// Allow list and deny list of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentLists {
    /// Id of the agent.
    pub id: String,
    /// The tools that the agent may and may not use.
    #[serde(default)]
    pub tools: ToolLists,
}

/// The result of reloading a policy file.
#[derive(Clone, Debug)]
pub struct Reloaded {
    /// Version of the policy that is now in force.
    pub version: Arc<str>,
    /// Whether the version differs from the previous one.
    pub changed: bool,
    /// Names in the file that match no tool.
    pub unknown: Vec<UnknownTool>,
    /// Names in the file that are aliases of tools.
    pub earlier: Vec<EarlierName>,
}

fn unread(format: &str, error: &impl std::fmt::Display) -> PolicyError {
    PolicyError(vec![format!(
        "the policy cannot be read as {format}: {error}"
    )])
}

impl PolicyFile {
    /// Reads a policy from JSON text.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        serde_json::from_str(text).map_err(|error| unread("JSON", &error))
    }

    /// Reads a policy from TOML text.
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        toml::from_str(text).map_err(|error| unread("TOML", &error))
    }

    /// Reads a policy from YAML text.
    #[cfg(feature = "yaml")]
    pub fn from_yaml(text: &str) -> Result<Self, PolicyError> {
        serde_saphyr::from_str(text).map_err(|error| unread("YAML", &error))
    }

    /// Reads a file. Its extension selects the format: `.json`, `.toml` (feature `toml`), `.yaml` or `.yml` (feature `yaml`).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PolicyError> {
        let path = path.as_ref();
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        let read = match ending {
            "json" => Self::from_json,
            #[cfg(feature = "toml")]
            "toml" => Self::from_toml,
            #[cfg(feature = "yaml")]
            "yaml" | "yml" => Self::from_yaml,
            _ => {
                return Err(PolicyError(vec![format!(
                    "`{}` has an unknown extension: use `.json`, or with the features `toml` and `yaml` of tool-core `.toml`, `.yaml` or `.yml`",
                    path.display()
                )]));
            }
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            PolicyError(vec![format!(
                "`{}` cannot be read: {error}",
                path.display()
            )])
        })?;
        read(&text)
    }

    /// Builds the policy. The error lists every fault of the file.
    pub fn build(&self) -> Result<Policy, PolicyError> {
        let mut seen = BTreeSet::new();
        let twice = self
            .agents
            .iter()
            .filter(|agent| !seen.insert(agent.id.as_str()));
        let mut faults: Vec<String> = twice
            .map(|agent| format!("agent `{}` is listed twice, merge its lists", agent.id))
            .collect();
        if self.agents.iter().any(|agent| agent.id.is_empty()) {
            faults.push("an agent has no `id`, write its id".to_owned());
        }
        let mut builder = Policy::builder()
            .otherwise(self.default)
            .global(self.tools.clone())
            .rules(self.rules.iter().cloned());
        for agent in &self.agents {
            builder = builder.agent(agent.id.as_str(), agent.tools.clone());
        }
        match builder.build() {
            Ok(policy) if faults.is_empty() => Ok(policy),
            Ok(_) => Err(PolicyError(faults)),
            Err(PolicyError(more)) => {
                faults.extend(more);
                Err(PolicyError(faults))
            }
        }
    }

    /// Implements [`PolicyFile::unknown`] and [`PolicyFile::earlier`]. `known` looks up a name.
    pub(crate) fn other_names<'t>(
        &self,
        tools: &[ToolDef],
        known: impl Fn(&str) -> Known<'t>,
    ) -> OtherNames {
        let agents = self
            .agents
            .iter()
            .map(|agent| (format!("agent `{}`", agent.id), &agent.tools));
        let lists = std::iter::once(("tools".to_owned(), &self.tools)).chain(agents);
        let listed = lists.flat_map(|(place, lists)| {
            let allow = lists.allow.iter().map(|name| (name.as_str(), "allow"));
            let all = allow.chain(lists.deny.iter().map(|name| (name.as_str(), "deny")));
            all.map(|(name, list)| (name, format!("{place}, `{list}`")))
                .collect::<Vec<_>>()
        });
        let ruled = self.rules.iter().flat_map(Rule::placed_tools);
        OtherNames::among(listed.chain(ruled), tools, known)
    }
}
