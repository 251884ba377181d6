//! Secrets and variables of a context from a host's vault.

use std::collections::BTreeMap;

use secrecy::ExposeSecret as _;

use super::ToolContextBuilder;
use super::variables::{Thread, Value, Variables};
use crate::need::VariableKind;
use crate::store::seal::{OpenVariable, Vault, VaultError};
use crate::store::{ThreadId, VariableLevel, VariableScope, VariableType};

impl From<OpenVariable> for Value {
    fn from(open: OpenVariable) -> Self {
        match open.kind {
            VariableType::Text | VariableType::Select => {
                Self::Text(open.value.expose_secret().to_owned())
            }
            // Secrets, and values of types that this version does not know.
            _ => Self::Secret(open.value),
        }
    }
}

impl Variables {
    /// Opens the variables of `scope` whose name is one of `names`, from the vault, for hosts that build a tree of [`Thread`]s.
    /// [`ToolContextBuilder::stored`] opens the variables of a single thread.
    ///
    /// # Errors
    ///
    /// Fails if the store or the key provider fails, if the key of a value is absent or wrong, or if a value was altered.
    ///
    /// ```
    /// use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
    /// use tool_core::store::{MemoryStore, VariableScope, VariableType};
    /// use tool_core::variables::{Level, Thread, Variables};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let keys = SealKeys::new("k1", SealKey::generate()?)?;
    /// let vault = Vault::open(MemoryStore::default(), keys).await?;
    /// let scope = VariableScope::agent("acme", "support")?;
    /// vault.set_variables(&scope, vec![NewValue::declared("REGION", VariableType::Text, "eu")], "olga").await?;
    ///
    /// let agent = Variables::open(&vault, &scope, ["REGION"]).await?;
    /// let thread = Thread::new().agent(&agent);
    /// assert_eq!(thread.find("REGION").unwrap().1.expose(), "eu");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open<N: Into<String>>(
        vault: &Vault,
        scope: &VariableScope,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, VaultError> {
        let values = Self::new();
        let opened = vault.open_variables(std::slice::from_ref(scope), names);
        for open in opened.await? {
            values.set(open.name.clone(), open);
        }
        Ok(values)
    }
}

impl ToolContextBuilder {
    /// Implements [`ToolContextBuilder::stored`]: opens the secrets with these keys, and the variables with these names and declared kinds. Values
    /// that the builder already has are kept.
    pub(crate) async fn open_stored(
        mut self,
        vault: &Vault,
        mut secrets: Vec<String>,
        variables: BTreeMap<String, VariableKind>,
    ) -> Result<Self, VaultError> {
        let host = &mut self.0;
        let workspace = host.workspace.clone().unwrap_or_default();
        secrets.retain(|key| !host.secrets.contains_key(key));
        if !secrets.is_empty() {
            let opened = vault.open_secrets(&workspace, secrets).await?;
            host.secrets.extend(opened);
        }

        let names = variables.keys();
        let names: Vec<String> = names
            .filter(|name| !host.variables.contains_key(*name))
            .cloned()
            .collect();
        if names.is_empty() {
            return Ok(self);
        }
        let mut scopes = vec![VariableScope::workspace(&workspace)];
        let user = host.user.as_deref();
        scopes.extend(user.and_then(|user| VariableScope::user(&workspace, user).ok()));
        let agent = host.agent.as_deref();
        scopes.extend(agent.and_then(|agent| VariableScope::agent(&workspace, agent).ok()));
        let thread = host.conversation.clone();
        let thread = thread.and_then(|thread| ThreadId::new(&workspace, thread).ok());
        scopes.extend(thread.as_ref().map(VariableScope::thread));

        let [instance, user, agent] = [(); 3].map(|()| Variables::new());
        let tree = Thread::new().instance(&instance).user(&user).agent(&agent);
        for open in vault.open_variables(&scopes, names.iter().cloned()).await? {
            let level = match open.scope.level() {
                VariableLevel::Workspace => &instance,
                VariableLevel::User => &user,
                VariableLevel::Agent => &agent,
                VariableLevel::Thread => tree.own(),
                // The context of a turn has no prompt.
                VariableLevel::Prompt => continue,
            };
            level.set(open.name.clone(), open);
        }
        for name in names {
            if let (Some((_, value)), Some(kind)) = (tree.find(&name), variables.get(&name)) {
                host.variables.insert(name, value.declared(*kind));
            }
        }
        Ok(self)
    }
}
