//! The secrets in the store, for the calls of `serve --store`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use tool_core::store::Workspace;
use tool_core::store::seal::{Vault, VaultError};
use tool_core::{CancellationToken, Registry, SecretString, ToolDef};

use super::stored::AgentOffer;
use crate::screen::{Screen, WARN, paint};

/// The pause between two readings of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// The stored secrets of a workspace. Secrets that no tool declares are not read.
pub(super) struct StoredSecrets {
    vault: Vault,
    workspace: Workspace,
    /// The secrets that the tools of the program declare.
    keys: BTreeSet<String>,
    now: RwLock<BTreeMap<String, SecretString>>,
}

impl StoredSecrets {
    /// Opens the secrets that the tools of a registry declare.
    pub(super) async fn open(
        vault: Vault,
        workspace: Workspace,
        registry: &Registry,
    ) -> Result<Self, VaultError> {
        let secrets = Self {
            vault,
            workspace,
            keys: declared(registry).collect(),
            now: RwLock::default(),
        };
        secrets.read(None).await?;
        Ok(secrets)
    }

    /// Reads the secrets that the tools of the program and the stored tools of the agent declare. The key of a secret of an HTTP operation contains
    /// the host of the operation, so no stored tool can send the secret of a tool of the program to a host of its choice.
    pub(super) async fn read(&self, agent: Option<&AgentOffer>) -> Result<(), VaultError> {
        let keys = self.keys.iter().cloned();
        let mut opened = self.vault.open_secrets(&self.workspace, keys).await?;
        // If a secret of a stored tool cannot be opened, the secrets of the program are still read.
        let mut done = Ok(());
        if let Some(agent) = agent {
            match self.open_stored(agent).await {
                Ok(more) => opened.extend(more),
                Err(error) => done = Err(error),
            }
        }
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        *now = opened;
        done
    }

    /// Opens the secrets that only the stored tools of the agent declare.
    async fn open_stored(
        &self,
        agent: &AgentOffer,
    ) -> Result<BTreeMap<String, SecretString>, VaultError> {
        let registry = agent.registry();
        let keys = declared(&registry).filter(|key| !self.keys.contains(key));
        let keys: BTreeSet<String> = keys.collect();
        self.vault.open_secrets(&self.workspace, keys).await
    }

    /// Returns the secrets as they were last read.
    pub(super) fn current(&self) -> BTreeMap<String, SecretString> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        now.clone()
    }

    /// Reads the secrets repeatedly until the server has stopped. While the secrets of the program cannot be read, the values of the last successful
    /// read are used. Secrets of stored tools that cannot be read are missing.
    pub(super) async fn refresh(
        &self,
        agent: Option<&AgentOffer>,
        stopped: &CancellationToken,
        screen: Screen,
    ) {
        let mut failed = false;
        loop {
            let pause = stopped.run_until_cancelled(tokio::time::sleep(PAUSE));
            if pause.await.is_none() {
                return;
            }
            match self.read(agent).await {
                Ok(()) => failed = false,
                Err(error) if !failed => {
                    failed = true;
                    let mark = paint(WARN, "warning:");
                    screen.note(format_args!(
                        "{mark} the stored secrets cannot be read, so the server does not apply changes to them: {error}"
                    ));
                }
                Err(_) => {}
            }
        }
    }
}

/// Returns the keys of the secrets that tools declare.
fn declared(registry: &Registry) -> impl Iterator<Item = String> {
    let needs = registry.tools().iter().flat_map(ToolDef::secrets);
    needs.map(|need| need.key.to_string())
}
