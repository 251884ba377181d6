//! Policies as operators write them: JSON, TOML or YAML.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::report::Unknown;
use super::{Policy, PolicyError, PolicyVerdict, Rule, SharedPolicy};
use crate::gate::lists::Lists;
use crate::registry::Registry;

/// A policy as a file has it. An unknown key is an error.
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
///             "reason": "leaves the house"
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
    /// What holds where no rule speaks.
    #[serde(default)]
    pub default: PolicyVerdict,
    /// Which tools anybody may use.
    #[serde(default)]
    pub tools: Lists,
    /// Which tools each agent may use.
    #[serde(default)]
    pub agents: Vec<AgentLists>,
    /// The rules.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// Which tools an agent may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentLists {
    /// The agent.
    pub id: String,
    /// Its lists.
    #[serde(default)]
    pub tools: Lists,
}

/// What a reload did.
#[derive(Clone, Debug)]
pub struct Reloaded {
    /// Version of the policy that is in force now.
    pub version: Arc<str>,
    /// Whether it is another than before.
    pub changed: bool,
    /// Names in it that no tool has.
    pub unknown: Vec<Unknown>,
}

fn unread(format: &str, error: &impl std::fmt::Display) -> PolicyError {
    PolicyError(vec![format!("the policy is not read as {format}: {error}")])
}

impl PolicyFile {
    /// Reads JSON.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        serde_json::from_str(text).map_err(|error| unread("JSON", &error))
    }

    /// Reads TOML.
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        toml::from_str(text).map_err(|error| unread("TOML", &error))
    }

    /// Reads YAML.
    #[cfg(feature = "yaml")]
    pub fn from_yaml(text: &str) -> Result<Self, PolicyError> {
        serde_saphyr::from_str(text).map_err(|error| unread("YAML", &error))
    }

    /// Reads a file by its ending: `.json`, `.toml` (feature `toml`), `.yaml` or `.yml` (feature `yaml`).
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
                    "`{}` ends neither in `.json` nor in what a feature of tool-core reads (`toml`: .toml, `yaml`: .yaml, .yml)",
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

    /// The policy, or everything that is wrong with it.
    pub fn build(&self) -> Result<Policy, PolicyError> {
        let mut seen = BTreeSet::new();
        let twice = self
            .agents
            .iter()
            .filter(|agent| !seen.insert(agent.id.as_str()));
        let mut faults: Vec<String> = twice
            .map(|agent| {
                format!(
                    "agent `{}` is listed twice, put its lists together",
                    agent.id
                )
            })
            .collect();
        if self.agents.iter().any(|agent| agent.id.is_empty()) {
            faults.push("an agent has no `id`, say which one it is".to_owned());
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

    /// Names in it that no tool of the registry has, with those they may have meant. Tools that exist only for a turn, as those
    /// that ask agents, are among them.
    pub fn unknown(&self, registry: &Registry) -> Vec<Unknown> {
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
        let ruled = self.rules.iter().flat_map(|rule| {
            rule.stated_tools()
                .map(|name| (name, format!("rule `{}`", rule.name())))
        });
        listed
            .chain(ruled)
            .filter(|(name, _)| registry.get(name).is_none())
            .map(|(name, place)| Unknown::new(name, place, registry))
            .collect()
    }
}

impl SharedPolicy {
    /// Puts what a file says in force, if it makes a policy; else the one before stays, and the error says why. Unknown names of
    /// tools are no error: they are told, and logged.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::policy::{PolicyFile, SharedPolicy};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (shared, registry) = (SharedPolicy::default(), Registry::builder().build()?);
    /// let file = PolicyFile::from_json(r#"{ "tools": { "deny": ["shell"] } }"#)?;
    /// let reloaded = shared.reload(&file, &registry)?;
    /// assert!(reloaded.changed);
    /// assert_eq!(reloaded.unknown[0].to_string(), "tools, `deny`: there is no tool `shell`");
    /// # Ok(())
    /// # }
    /// ```
    pub fn reload(&self, file: &PolicyFile, registry: &Registry) -> Result<Reloaded, PolicyError> {
        let policy = file.build()?;
        let unknown = file.unknown(registry);
        for unknown in &unknown {
            tracing::warn!(
                place = unknown.place,
                tool = unknown.name,
                "the policy names a tool that does not exist"
            );
        }
        let version: Arc<str> = policy.version().into();
        let changed = *version != *self.current().version();
        if changed {
            self.replace(policy);
        }
        Ok(Reloaded {
            version,
            changed,
            unknown,
        })
    }

    /// Reads a file and puts what it says in force: [`PolicyFile::open`], then [`reload`](SharedPolicy::reload). Where either
    /// fails the policy before stays in force.
    pub fn reload_file(
        &self,
        path: impl AsRef<Path>,
        registry: &Registry,
    ) -> Result<Reloaded, PolicyError> {
        self.reload(&PolicyFile::open(path)?, registry)
    }
}
