//! Secrets and variables that tools declare, from a host's vault.

use std::collections::BTreeMap;

use secrecy::ExposeSecret;
use serde::Serialize;

use super::ToolDef;
use crate::context::ToolContextBuilder;
use crate::need::{SecretKind, SecretNeed, VariableKind};
use crate::store::seal::{Vault, VaultError};
use crate::store::{Scope, SecretFilter, SecretInfo, Timestamp, Workspace};

impl ToolContextBuilder {
    /// Adds the secrets and variables that tools declare, for example the tools of [`Registry::tools`](crate::Registry::tools), from the vault. First set
    /// the workspace, the user, the agent and the conversation: the secrets of the workspace are read, and variables are looked up in the order
    /// thread, agent, user, workspace. A value that is set already is not replaced.
    ///
    /// Only declared names are opened. A name without a value is left out: a tool that requires the secret is hidden, and a call that requires the
    /// variable waits for a value.
    ///
    /// # Errors
    ///
    /// Fails if the store fails, or if a stored value cannot be opened, for example because it was altered or the vault has no keys. Do not serve the
    /// turn then.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_core::store::seal::{SealKey, SealKeys, Vault};
    /// use tool_core::store::{MemoryStore, Workspace};
    /// use tool_core::{Registry, ToolContext};
    ///
    /// /// Reads a page of the private documentation.
    /// #[tool(read_only, secret("docs_api_key", description = "A key that may read the documentation."))]
    /// fn read_private_page(
    ///     cx: &ToolContext,
    ///     /// The title of the page.
    ///     title: String,
    /// ) -> String {
    ///     let key = cx.secret("docs_api_key"); // for the request to the documentation's server
    ///     format!("{title}: {}", if key.is_some() { "read" } else { "no access" })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let keys = SealKeys::new("2026-11", SealKey::generate()?)?;
    /// let vault = Vault::open(MemoryStore::default(), keys).await?;
    /// vault.set_secret(&Workspace::new("acme"), "docs_api_key", &"sk-4711".into(), "olga").await?;
    ///
    /// let registry = Registry::builder().tool::<read_private_page>().build()?;
    /// let cx = ToolContext::builder().workspace("acme").user("u-17").stored(&vault, registry.tools()).await?.build();
    /// assert!(cx.secret("docs_api_key").is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn stored<'t>(
        self,
        vault: &Vault,
        tools: impl IntoIterator<Item = &'t ToolDef>,
    ) -> impl Future<Output = Result<Self, VaultError>> + Send {
        let mut secrets: Vec<String> = Vec::new();
        let mut variables: BTreeMap<String, VariableKind> = BTreeMap::new();
        for tool in tools {
            secrets.extend(tool.secrets().iter().map(|need| need.key.to_string()));
            for need in tool.variables() {
                let kind = variables.entry(need.name.to_string()).or_insert(need.kind);
                // If two tools declare different kinds, the value is treated as secret.
                if need.kind == VariableKind::Secret {
                    *kind = need.kind;
                }
            }
        }
        secrets.sort_unstable();
        secrets.dedup();
        self.open_stored(vault, secrets, variables)
    }
}

/// A secret that tools declare, for an operator's list. Contains the value only if the secret is a selection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretStatus {
    /// The key under which tools declare the secret.
    pub key: String,
    /// The name that operators see, if a tool declares one.
    pub label: Option<String>,
    /// Help for the operator, if a tool declares it.
    pub description: Option<String>,
    /// The choices of a selection; empty for a secret that is entered as text.
    pub choices: Vec<String>,
    /// The tools that cannot work without the secret, in the order in which they were passed to [`list`](Self::list). If the secret is not set, they are
    /// misconfigured.
    pub required_by: Vec<String>,
    /// The tools that can work without the secret, in the order in which they were passed to [`list`](Self::list).
    pub optional_for: Vec<String>,
    /// The author and the time of the value; `None` if the workspace has no value.
    pub set: Option<SecretSetBy>,
    /// The chosen value of a selection. It is `None` for a text, and for a value that is not one of the choices.
    pub choice: Option<String>,
}

impl SecretStatus {
    /// Returns whether a tool requires the secret and the workspace has no value for it.
    pub fn is_missing(&self) -> bool {
        self.set.is_none() && !self.required_by.is_empty()
    }
}

/// The author and the time of a stored secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretSetBy {
    /// The user who wrote the secret.
    pub by: String,
    /// The time at which the secret was written.
    pub at: Timestamp,
}

impl SecretStatus {
    /// Lists the secrets that the tools declare, one entry for each key, sorted by key, with their state in a workspace. The list contains no value
    /// of a secret that a tool declares as text.
    ///
    /// # Errors
    ///
    /// Fails if the store fails, or if the stored value of a selection cannot be opened, for example because it was altered or the vault has no keys.
    pub async fn list<'t>(
        vault: &Vault,
        workspace: &Workspace,
        tools: impl IntoIterator<Item = &'t ToolDef>,
    ) -> Result<Vec<Self>, VaultError> {
        let mut needs: BTreeMap<&str, Vec<(&str, &SecretNeed)>> = BTreeMap::new();
        for tool in tools {
            for need in tool.secrets() {
                needs
                    .entry(&need.key)
                    .or_default()
                    .push((tool.name(), need));
            }
        }
        let filter = SecretFilter::default();
        let stored = vault
            .list_secrets(Scope::Workspace(workspace), &filter)
            .await?;
        let stored: BTreeMap<&str, &SecretInfo> =
            stored.iter().map(|info| (&*info.name, info)).collect();
        let mut all: Vec<Self> = needs
            .into_iter()
            .map(|(key, needs)| status(key, &needs, stored.get(key).copied()))
            .collect();
        let selections = all.iter().filter(|status| !status.choices.is_empty());
        let selections: Vec<String> = selections.map(|status| status.key.clone()).collect();
        if selections.iter().any(|key| stored.contains_key(&**key)) {
            let opened = vault.open_secrets(workspace, selections).await?;
            for status in &mut all {
                let chosen = opened.get(&status.key).map(ExposeSecret::expose_secret);
                let chosen = chosen.filter(|value| status.choices.iter().any(|one| one == value));
                status.choice = chosen.map(str::to_owned);
            }
        }
        Ok(all)
    }
}

fn status(key: &str, needs: &[(&str, &SecretNeed)], stored: Option<&SecretInfo>) -> SecretStatus {
    let tools = |optional: bool| {
        let tools = needs.iter().filter(|(_, need)| need.optional == optional);
        tools.map(|(tool, _)| (*tool).to_owned()).collect()
    };
    // If one tool declares a text, the value may be secret although another tool declares a selection.
    let mut choices: Option<Vec<String>> = None;
    for (_, need) in needs {
        let own = match &need.kind {
            SecretKind::Text => Vec::new(),
            SecretKind::Select(choices) => choices.iter().map(ToString::to_string).collect(),
        };
        choices = Some(match choices {
            None => own,
            Some(known) => known.into_iter().filter(|one| own.contains(one)).collect(),
        });
    }
    SecretStatus {
        key: key.to_owned(),
        label: needs
            .iter()
            .find_map(|(_, need)| Some(need.label.as_ref()?.to_string())),
        description: needs
            .iter()
            .find_map(|(_, need)| Some(need.description.as_ref()?.to_string())),
        choices: choices.unwrap_or_default(),
        required_by: tools(false),
        optional_for: tools(true),
        set: stored.map(|info| SecretSetBy {
            by: info.by.clone(),
            at: info.at,
        }),
        choice: None,
    }
}
