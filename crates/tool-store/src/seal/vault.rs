//! The vault, which seals values before they are stored and opens them after they are read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::{ExposeSecret as _, SecretString};

use super::envelope;
use super::key::{KeyError, KeyProvider, SealKey, SealKeys};
use crate::store::{
    KeyId, KeyUse, Scope, SealKeyRow, Sealed, SealedPlace, SecretFilter, SecretInfo, SecretRow,
    StoreError, ThreadId, Timestamp, VariableField, VariableFilter, VariableInfo, VariableRequest,
    VariableRow, VariableScope, VariableType, VariableValue, VaultStore, Workspace,
};
use crate::{digest, env};

/// An error of the vault. Its text never contains a value or a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The vault was opened without keys.
    #[error(
        "no key provider is configured, so secrets can be neither stored nor opened: set the environment variable `{}` to `ID:KEY`, where KEY is the output of `openssl rand -base64 32`, and open the vault with `Vault::open(store, SealKeys::from_env(\"{}\")?)`",
        SealKeys::VARIABLE,
        SealKeys::VARIABLE
    )]
    NoKeys,
    /// The store has sealed values, but the vault was opened without keys.
    #[error(
        "the store has {0} sealed values, but no key provider is configured: open the vault with the keys that sealed them"
    )]
    Locked(u64),
    /// The key provider failed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The provider's key with an id does not open the check value that the store has for this id.
    #[error(
        "the key `{0}` of the key provider is not the key `{0}` that this store was used with: restore the right key, or give the new key a new id"
    )]
    WrongKey(KeyId),
    /// The provider does not have a key: its current key, or a key that stored values are sealed with.
    #[error("the key provider does not have the key `{key}`{}: add the key", sealed_with(*.values))]
    MissingKey {
        /// The id of the key.
        key: KeyId,
        /// The number of values that need it; `None` if they were not counted.
        values: Option<u64>,
    },
    /// The current key of the provider is retired.
    #[error(
        "the current key `{0}` of the key provider is retired: put a key that is not retired first, and give each new key a new id"
    )]
    Retired(KeyId),
    /// The key to retire is the current key.
    #[error(
        "the key `{0}` is the current key and cannot be retired: put a new key first, rotate to it, and then retire this key"
    )]
    Current(KeyId),
    /// A stored value cannot be opened: its bytes were changed, or it was copied from a different place.
    #[error(
        "the value of the {what} in the workspace `{workspace}` was altered and cannot be opened: write the value again"
    )]
    Damaged {
        /// The kind and the name of the value.
        what: String,
        /// The workspace of the value.
        workspace: Workspace,
    },
    /// The request belongs to a different thread of the same workspace.
    #[error("the request for variables `{0}` belongs to a different thread")]
    ForeignThread(String),
    /// The store refused the operation, or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the part of the text of [`VaultError::MissingKey`] about the values.
fn sealed_with(values: Option<u64>) -> String {
    match values {
        None => String::new(),
        Some(1) => ", with which 1 value is sealed".to_owned(),
        Some(values) => format!(", with which {values} values are sealed"),
    }
}

/// Stores and opens the secrets and variables of a host. Clones share the keys and the store.
///
/// Methods that take a workspace, an owner of variables or a thread act only in the workspace of this argument. Lists contain no values of secrets.
/// Only the methods whose names begin with `open` return values of secrets.
#[derive(Clone)]
pub struct Vault(Arc<Inner>);

struct Inner {
    store: Arc<dyn VaultStore>,
    keys: Option<Arc<dyn KeyProvider>>,
    /// The keys whose check value was opened.
    opened: Mutex<BTreeMap<KeyId, SealKey>>,
    /// The last current key that was not retired when it was checked.
    active: Mutex<Option<KeyId>>,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened = self.0.opened.lock();
        let opened = opened.unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Vault")
            .field("keys", &opened.keys())
            .finish_non_exhaustive()
    }
}

impl Vault {
    /// Opens the vault of a store, and checks the keys. A host must not serve requests if this fails.
    ///
    /// # Errors
    ///
    /// Fails if the provider's key with an id is not the key that the store was used with under this id, if the provider lacks its current key or a
    /// key that values are sealed with, if its current key is retired, or if the provider or the store fails.
    pub async fn open(store: impl VaultStore, keys: impl KeyProvider) -> Result<Self, VaultError> {
        Self::open_shared(Arc::new(store), Arc::new(keys)).await
    }

    /// Opens a vault like [`open`](Self::open), with a store and a provider in an `Arc`.
    pub async fn open_shared(
        store: Arc<dyn VaultStore>,
        keys: Arc<dyn KeyProvider>,
    ) -> Result<Self, VaultError> {
        let vault = Self(Arc::new(Inner {
            store,
            keys: Some(keys),
            opened: Mutex::default(),
            active: Mutex::default(),
        }));
        let rows = vault.store().keys().await?;
        let uses = vault.store().key_uses().await?;
        let active = rows.iter().filter(|row| row.retired.is_none());
        let mut ids: Vec<&KeyId> = active.map(|row| &row.id).collect();
        ids.extend(uses.iter().map(|using| &using.key));
        for id in ids {
            let values = values_of(id, &uses);
            match vault.key(id).await {
                // The provider may lack a key whose values were all rotated, although the key was not retired.
                Err(VaultError::MissingKey { .. }) if values == 0 => {}
                Err(VaultError::MissingKey { key, .. }) => {
                    let values = Some(values);
                    return Err(VaultError::MissingKey { key, values });
                }
                checked => drop(checked?),
            }
        }
        vault.current().await?;
        Ok(vault)
    }

    /// Opens the vault without keys, for a host that has no secrets. Variables that are not secret can be used; storing a secret fails with
    /// [`VaultError::NoKeys`].
    ///
    /// # Errors
    ///
    /// Fails with [`VaultError::Locked`] if the store has sealed values, and with [`VaultError::Store`] if the store fails.
    pub async fn without_keys(store: impl VaultStore) -> Result<Self, VaultError> {
        let vault = Self(Arc::new(Inner {
            store: Arc::new(store),
            keys: None,
            opened: Mutex::default(),
            active: Mutex::default(),
        }));
        let uses = vault.store().key_uses().await?;
        match uses.iter().map(|using| using.values).sum() {
            0 => Ok(vault),
            values => Err(VaultError::Locked(values)),
        }
    }

    /// Returns the store of the vault, in which all secrets are sealed.
    pub fn store(&self) -> &dyn VaultStore {
        &*self.0.store
    }

    fn provider(&self) -> Result<&dyn KeyProvider, VaultError> {
        self.0.keys.as_deref().ok_or(VaultError::NoKeys)
    }

    /// Fails if the vault was opened without keys.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn require_keys(&self) -> Result<(), VaultError> {
        self.provider().map(drop)
    }

    /// Returns a key that was fetched before; `None` if it was not fetched.
    pub(super) fn opened(&self, id: &KeyId) -> Option<SealKey> {
        let opened = self.0.opened.lock();
        let opened = opened.unwrap_or_else(PoisonError::into_inner);
        opened.get(id).cloned()
    }

    /// Returns a key after a check that it opens its check value.
    pub(super) async fn key(&self, id: &KeyId) -> Result<SealKey, VaultError> {
        if let Some(key) = self.opened(id) {
            return Ok(key);
        }
        let key = self.provider()?.key(id).await?;
        let key = key.ok_or_else(|| VaultError::MissingKey {
            key: id.clone(),
            values: None,
        })?;
        // The store keeps only the first check value of a key. This row is used if no process has used the key before.
        let row = SealKeyRow::new(envelope::seal_check(&key, id)?, Timestamp::now());
        let row = self.store().register_key(row).await?;
        if !envelope::is_right(&key, id, &row.check) {
            return Err(VaultError::WrongKey(id.clone()));
        }
        let opened = self.0.opened.lock();
        let mut opened = opened.unwrap_or_else(PoisonError::into_inner);
        opened.insert(id.clone(), key.clone());
        Ok(key)
    }

    /// Returns the id of the current key, after a check that it opens its check value. Fails if the key was retired before it became the
    /// current key of this vault. A key that is retired later is not read again, because the store refuses all values of retired keys.
    pub(super) async fn current(&self) -> Result<KeyId, VaultError> {
        let id = self.provider()?.current().await?;
        if self.active().as_ref() != Some(&id) {
            self.key(&id).await?;
            let rows = self.store().keys().await?;
            if rows.iter().any(|row| row.id == id && row.retired.is_some()) {
                return Err(VaultError::Retired(id));
            }
            *self.active() = Some(id.clone());
        }
        Ok(id)
    }

    fn active(&self) -> MutexGuard<'_, Option<KeyId>> {
        let active = self.0.active.lock();
        active.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the id of the key that seals new values.
    ///
    /// # Errors
    ///
    /// Fails, for example, with [`VaultError::NoKeys`] if the vault has no keys, and with [`VaultError::Retired`] if the key was retired before it
    /// became the current key of this vault.
    pub async fn current_key(&self) -> Result<KeyId, VaultError> {
        self.current().await
    }

    async fn seal(&self, place: &SealedPlace, value: &SecretString) -> Result<Sealed, VaultError> {
        let id = self.current().await?;
        let key = self.key(&id).await?;
        Ok(envelope::seal(&key, &id, place, value.expose_secret())?)
    }

    async fn unseal(
        &self,
        place: &SealedPlace,
        sealed: &Sealed,
        name: &str,
    ) -> Result<SecretString, VaultError> {
        let key = self.key(sealed.key()).await?;
        let opened = envelope::open(&key, place, sealed);
        opened.ok_or_else(|| VaultError::Damaged {
            what: format!("{} `{name}`", place.column),
            workspace: place.workspace.clone(),
        })
    }
}

fn values_of(key: &KeyId, uses: &[KeyUse]) -> u64 {
    let uses = uses.iter().filter(|using| using.key == *key);
    uses.map(|using| using.values).sum()
}

/// Creates an id for a value or a request.
fn new_id() -> Result<String, StoreError> {
    let mut bytes = [0; 16];
    env::random(&mut bytes).map_err(|error| StoreError::Unavailable(error.into()))?;
    Ok(digest::hex(&bytes))
}

/// Methods for the secrets of workspaces.
impl Vault {
    /// Stores a secret, and replaces the secret with the same name. `by` is the user who writes it.
    ///
    /// # Errors
    ///
    /// Fails, for example, with [`VaultError::NoKeys`] if the vault has no keys, and with [`StoreError::Conflict`] if the value, the name or `by` is
    /// empty, or if the current key is retired.
    pub async fn set_secret(
        &self,
        workspace: &Workspace,
        name: &str,
        value: &SecretString,
        by: &str,
    ) -> Result<(), VaultError> {
        let row = self.seal_secret(workspace, name, value, by).await?;
        Ok(self.store().put_secret(row).await?)
    }

    /// Seals a secret for [`SecretStore::put_secret`](crate::store::SecretStore::put_secret) or
    /// [`VaultChange::PutSecret`](crate::store::VaultChange::PutSecret), and does not store it.
    ///
    /// # Errors
    ///
    /// Fails, for example, with [`VaultError::NoKeys`] if the vault has no keys, and with [`StoreError::Conflict`] if the value is empty.
    pub async fn seal_secret(
        &self,
        workspace: &Workspace,
        name: &str,
        value: &SecretString,
        by: &str,
    ) -> Result<SecretRow, VaultError> {
        if value.expose_secret().is_empty() {
            let why =
                format!("the value of the secret `{name}` is empty, remove the secret instead");
            return Err(StoreError::Conflict(why).into());
        }
        let id = new_id()?;
        let sealed = self
            .seal(&SecretRow::place_of(workspace, &id), value)
            .await?;
        Ok(SecretRow::new(
            workspace,
            name,
            id,
            sealed,
            by,
            Timestamp::now(),
        ))
    }

    /// Opens the secrets of a workspace that have these names. Names without a secret are left out.
    ///
    /// # Errors
    ///
    /// Fails, for example, with [`VaultError::Damaged`] if one of the values was altered, and with [`VaultError::MissingKey`] if the provider lacks
    /// its key.
    pub async fn open_secrets<N: Into<String>>(
        &self,
        workspace: &Workspace,
        names: impl IntoIterator<Item = N>,
    ) -> Result<BTreeMap<String, SecretString>, VaultError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let mut opened = BTreeMap::new();
        for row in self.store().secrets(workspace, &names).await? {
            let value = self.unseal(&row.place(), &row.sealed, &row.name).await?;
            opened.insert(row.name, value);
        }
        Ok(opened)
    }

    /// Lists the names of secrets, with the user and the time of the last write. The list contains no values.
    pub async fn list_secrets(
        &self,
        scope: Scope<'_>,
        filter: &SecretFilter,
    ) -> Result<Vec<SecretInfo>, VaultError> {
        Ok(self.store().list_secrets(scope, filter).await?)
    }

    /// Renames a secret without opening it. Returns false if no secret has the old name. Fails with [`StoreError::Conflict`] if `to` or `by` is
    /// empty, or if a different secret has the new name.
    pub async fn rename_secret(
        &self,
        workspace: &Workspace,
        from: &str,
        to: &str,
        by: &str,
    ) -> Result<bool, VaultError> {
        let now = Timestamp::now();
        let renamed = self.store().rename_secret(workspace, from, to, by, now);
        Ok(renamed.await?)
    }

    /// Removes a secret. Returns whether it existed.
    pub async fn remove_secret(
        &self,
        workspace: &Workspace,
        name: &str,
    ) -> Result<bool, VaultError> {
        Ok(self.store().remove_secret(workspace, name).await?)
    }
}

/// The value of a variable that is written. `Debug` does not print the value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewValue {
    /// The name of the variable.
    pub name: String,
    /// The value to store.
    pub value: SecretString,
    /// The type that an agent, a prompt or a tool declares; a variable that nothing declares is a secret.
    pub declared: Option<VariableType>,
}

impl NewValue {
    /// Creates the value of a variable that nothing declares, which is stored as a secret.
    pub fn undeclared(name: impl Into<String>, value: impl Into<SecretString>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            declared: None,
        }
    }

    /// Creates the value of a variable of a declared type.
    pub fn declared(
        name: impl Into<String>,
        kind: VariableType,
        value: impl Into<SecretString>,
    ) -> Self {
        Self {
            declared: Some(kind),
            ..Self::undeclared(name, value)
        }
    }
}

/// A variable whose value was opened. `Debug` does not print the value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenVariable {
    /// The owner of the variable.
    pub scope: VariableScope,
    /// The name of the variable.
    pub name: String,
    /// The type of the variable.
    pub kind: VariableType,
    /// The value in clear text.
    pub value: SecretString,
}

/// Methods that store, open and list variables.
impl Vault {
    /// Stores variables of an owner, in one transaction, and seals variables of type secret and variables without a declared type.
    ///
    /// # Errors
    ///
    /// Stores nothing and fails with [`VaultError::NoKeys`] if a variable is a secret and the vault has no keys, and in the same cases as
    /// [`VariableStore::put_variables`](crate::store::VariableStore::put_variables).
    pub async fn set_variables(
        &self,
        scope: &VariableScope,
        values: Vec<NewValue>,
        by: &str,
    ) -> Result<(), VaultError> {
        let rows = self.seal_variables(scope, values, by).await?;
        Ok(self.store().put_variables(rows).await?)
    }

    /// Seals the secret values, for [`VariableStore::put_variables`](crate::store::VariableStore::put_variables) or
    /// [`VaultChange::PutVariables`](crate::store::VaultChange::PutVariables), and does not store them.
    ///
    /// # Errors
    ///
    /// Fails, for example, with [`VaultError::NoKeys`] if a variable is a secret and the vault has no keys.
    pub async fn seal_variables(
        &self,
        scope: &VariableScope,
        values: Vec<NewValue>,
        by: &str,
    ) -> Result<Vec<VariableRow>, VaultError> {
        let mut rows = Vec::with_capacity(values.len());
        for NewValue {
            name,
            value,
            declared,
        } in values
        {
            let kind = VariableType::or_undeclared(declared);
            let id = new_id()?;
            let stored = match kind {
                VariableType::Secret => {
                    let place = VariableRow::place_of(scope, &id);
                    VariableValue::Sealed(self.seal(&place, &value).await?)
                }
                VariableType::Text | VariableType::Select => {
                    VariableValue::Clear(value.expose_secret().to_owned())
                }
            };
            let now = Timestamp::now();
            rows.push(VariableRow::new(
                scope.clone(),
                name,
                id,
                kind,
                stored,
                by,
                now,
            ));
        }
        Ok(rows)
    }

    /// Opens the variables of the owners that have these names. Names for which an owner has no variable are left out.
    ///
    /// # Errors
    ///
    /// Fails, for example, with [`VaultError::Damaged`] if one of the values was altered, and with [`VaultError::MissingKey`] if the provider lacks
    /// its key.
    pub async fn open_variables<N: Into<String>>(
        &self,
        scopes: &[VariableScope],
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<OpenVariable>, VaultError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let mut opened = Vec::new();
        for row in self.store().variables(scopes).await? {
            if !names.contains(&row.name) {
                continue;
            }
            let value = match &row.value {
                VariableValue::Clear(text) => SecretString::from(text.as_str()),
                VariableValue::Sealed(sealed) => {
                    self.unseal(&row.place(), sealed, &row.name).await?
                }
            };
            opened.push(OpenVariable {
                scope: row.scope,
                name: row.name,
                kind: row.kind,
                value,
            });
        }
        Ok(opened)
    }

    /// Lists the variables of a workspace. The values of secrets are left out.
    pub async fn list_variables(
        &self,
        workspace: &Workspace,
        filter: &VariableFilter,
    ) -> Result<Vec<VariableInfo>, VaultError> {
        Ok(self.store().list_variables(workspace, filter).await?)
    }

    /// Removes a variable. Returns whether it existed.
    pub async fn remove_variable(
        &self,
        scope: &VariableScope,
        name: &str,
    ) -> Result<bool, VaultError> {
        Ok(self.store().remove_variable(scope, name).await?)
    }
}

/// A new request for variables.
#[derive(Clone, Debug)]
pub struct NewVariableRequest {
    /// The thread that waits for the values.
    pub thread: ThreadId,
    /// The agent that the host starts when all values are stored.
    pub agent: String,
    /// The owner of the values.
    pub target: VariableScope,
    /// The required variables that have no value.
    pub required: Vec<VariableField>,
}

/// Methods for requests for variables.
impl Vault {
    /// Stores a request and returns its id, which is random.
    pub async fn request_variables(
        &self,
        request: NewVariableRequest,
    ) -> Result<String, VaultError> {
        let NewVariableRequest {
            thread,
            agent,
            target,
            required,
        } = request;
        let id = new_id()?;
        let now = Timestamp::now();
        let request = VariableRequest::new(&id, thread, agent, target, required, now);
        self.store().open_request(request).await?;
        Ok(id)
    }

    /// Returns a request of a thread: its agent, the required variables and the missing variables, without values.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Missing`] if the workspace has no open request with this id, and with [`VaultError::ForeignThread`] if the request
    /// belongs to a different thread.
    pub async fn variable_request(
        &self,
        thread: &ThreadId,
        id: &str,
    ) -> Result<VariableRequest, VaultError> {
        let request = self.store().request(thread.workspace(), id).await?;
        let request = request.ok_or_else(|| VariableRequest::gone(id))?;
        if request.thread != *thread {
            return Err(VaultError::ForeignThread(id.to_owned()));
        }
        Ok(request)
    }

    /// Stores the values of an answer and returns the names that are still missing. Empty values of required variables are ignored. Removes the
    /// request if no name is missing.
    ///
    /// # Errors
    ///
    /// Stores nothing and fails in the same cases as [`variable_request`](Self::variable_request), with [`VaultError::NoKeys`] if a value is secret
    /// and the vault has no keys, and with [`StoreError::Conflict`] if the request does not contain one of the names, if a value is not an allowed
    /// choice, or if `by` is empty and there are values to store.
    pub async fn answer_variables(
        &self,
        thread: &ThreadId,
        id: &str,
        values: impl IntoIterator<Item = (String, SecretString)>,
        by: &str,
    ) -> Result<Vec<String>, VaultError> {
        let rows = self.seal_answer(thread, id, values, by).await?;
        let answered = self.store().answer_request(thread.workspace(), id, rows);
        Ok(answered.await?)
    }

    /// Seals the secret values of an answer, for [`VariableRequestStore::answer_request`](crate::store::VariableRequestStore::answer_request) or
    /// [`VaultChange::AnswerRequest`](crate::store::VaultChange::AnswerRequest), and does not store them. Empty values of required variables are left
    /// out.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`variable_request`](Self::variable_request), and with [`VaultError::NoKeys`] if a value is secret and the vault
    /// has no keys. The store checks the names and the choices when the answer is stored.
    pub async fn seal_answer(
        &self,
        thread: &ThreadId,
        id: &str,
        values: impl IntoIterator<Item = (String, SecretString)>,
        by: &str,
    ) -> Result<Vec<VariableRow>, VaultError> {
        let request = self.variable_request(thread, id).await?;
        let mut given = Vec::new();
        for (name, value) in values {
            let field = request.required.iter().find(|field| field.name == name);
            if value.expose_secret().is_empty() && field.is_some() {
                continue;
            }
            given.push(NewValue {
                name,
                value,
                declared: field.map(|field| field.kind),
            });
        }
        self.seal_variables(&request.target, given, by).await
    }
}
