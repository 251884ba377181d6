//! The secrets in the store, for the calls of `serve --store`.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use tool_core::store::Workspace;
use tool_core::store::seal::{Vault, VaultError};
use tool_core::{CancellationToken, Registry, SecretString, ToolDef};

use crate::screen::{Screen, WARN, paint};

/// The pause between two readings of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// The stored secrets of a workspace that the tools declare.
pub(super) struct StoredSecrets {
    vault: Vault,
    workspace: Workspace,
    keys: Vec<String>,
    now: RwLock<BTreeMap<String, SecretString>>,
}

impl StoredSecrets {
    /// Opens the secrets that the tools of a registry declare.
    pub(super) async fn open(
        vault: Vault,
        workspace: Workspace,
        registry: &Registry,
    ) -> Result<Self, VaultError> {
        let needs = registry.tools().iter().flat_map(ToolDef::secrets);
        let mut keys: Vec<String> = needs.map(|need| need.key.to_string()).collect();
        keys.sort_unstable();
        keys.dedup();
        let opened = vault.open_secrets(&workspace, keys.clone()).await?;
        Ok(Self {
            vault,
            workspace,
            keys,
            now: RwLock::new(opened),
        })
    }

    /// The secrets as they were last read.
    pub(super) fn current(&self) -> BTreeMap<String, SecretString> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        now.clone()
    }

    /// Reads the secrets again and again until the server has stopped. While they cannot be read, the last ones are used.
    pub(super) async fn refresh(&self, stopped: &CancellationToken, screen: Screen) {
        if self.keys.is_empty() {
            return;
        }
        let mut failed = false;
        loop {
            let pause = stopped.run_until_cancelled(tokio::time::sleep(PAUSE));
            if pause.await.is_none() {
                return;
            }
            let opened = self.vault.open_secrets(&self.workspace, self.keys.clone());
            match opened.await {
                Ok(opened) => {
                    failed = false;
                    let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
                    *now = opened;
                }
                Err(error) if !failed => {
                    failed = true;
                    let mark = paint(WARN, "careful:");
                    screen.note(format_args!(
                        "{mark} the stored secrets cannot be read, so changes of them are not seen: {error}"
                    ));
                }
                Err(_) => {}
            }
        }
    }
}
