//! Sealed secrets of workspaces.

use serde::{Deserialize, Serialize};

use super::{
    Scope, Sealed, SealedColumn, SealedPlace, StoreError, StoreFuture, Timestamp, Workspace,
};

/// A secret of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretRow {
    /// The workspace that the secret belongs to.
    pub workspace: Workspace,
    /// The name in the declarations of tools: the key of `#[secret("…")]`.
    pub name: String,
    /// The id of the value. A new value has a new id; a rename keeps the id.
    pub id: String,
    /// The sealed value of the secret.
    pub sealed: Sealed,
    /// The user who last wrote the value or the name.
    pub by: String,
    /// When the value or the name was last written.
    pub at: Timestamp,
}

impl SecretRow {
    /// Creates the row of a secret.
    pub fn new(
        workspace: impl Into<Workspace>,
        name: impl Into<String>,
        id: impl Into<String>,
        sealed: Sealed,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            workspace: workspace.into(),
            name: name.into(),
            id: id.into(),
            sealed,
            by: by.into(),
            at,
        }
    }

    /// Returns the place of the value.
    pub fn place(&self) -> SealedPlace {
        Self::place_of(&self.workspace, &self.id)
    }

    /// Returns the place of a secret's value.
    pub fn place_of(workspace: &Workspace, id: &str) -> SealedPlace {
        SealedPlace {
            column: SealedColumn::Secret,
            workspace: workspace.clone(),
            id: id.to_owned(),
            owner: String::new(),
        }
    }

    /// Returns the row without its value, for lists.
    pub fn info(&self) -> SecretInfo {
        SecretInfo {
            workspace: self.workspace.clone(),
            name: self.name.clone(),
            by: self.by.clone(),
            at: self.at,
        }
    }

    /// Checks the conditions of [`SecretStore::put_secret`] that do not depend on stored rows: fails with `Conflict` if the name, the id or the
    /// operator is empty.
    pub fn check(&self) -> Result<(), StoreError> {
        check_names("secret", &self.name, &self.id, &self.by)
    }

    /// Returns the error for a rename to a name that a different secret of the workspace has.
    pub fn taken(name: &str) -> StoreError {
        StoreError::Conflict(format!(
            "a secret named `{name}` exists, remove it first or choose a different name"
        ))
    }
}

/// Fails with `Conflict` if the name, the id or the operator is empty.
pub(super) fn check_names(what: &str, name: &str, id: &str, by: &str) -> Result<(), StoreError> {
    let why = if name.is_empty() {
        "has no name, give the name that tools declare"
    } else if id.is_empty() {
        "has a value without an id, give each value a new random id"
    } else if by.is_empty() {
        "has no operator, give the name of the user who writes it"
    } else {
        return Ok(());
    };
    Err(StoreError::Conflict(format!("a {what} {why}")))
}

/// A secret in a list: its name, and the user and the time of the last write. Lists never contain values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SecretInfo {
    /// The workspace of the secret.
    pub workspace: Workspace,
    /// The name of the secret.
    pub name: String,
    /// The user who last wrote the value or the name.
    pub by: String,
    /// When the value or the name was last written.
    pub at: Timestamp,
}

/// A page of a list of secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretFilter {
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only secrets after it. It is the workspace and the name of the last secret of the previous page.
    pub after: Option<(Workspace, String)>,
}

/// A store of sealed secrets. It never receives a value in clear text.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// // `Vault` (feature `seal`) performs these steps with real keys.
/// let key = KeyId::new("2026-11")?;
/// let sealed = Sealed::new(&key, &[0; 24], &[0; 16]);
/// store.register_key(SealKeyRow::new(sealed.clone(), Timestamp::now())).await?;
///
/// store.put_secret(SecretRow::new("acme", "docs_key", "v1", sealed, "olga", Timestamp::now())).await?;
/// let acme = Workspace::new("acme");
/// let listed = store.list_secrets(Scope::Workspace(&acme), &SecretFilter::default()).await?;
/// assert_eq!((&*listed[0].name, &*listed[0].by), ("docs_key", "olga"));
/// # Ok(())
/// # }
/// ```
pub trait SecretStore: Send + Sync + 'static {
    /// Stores a secret, and replaces the secret with the same workspace and name. Fails with `Conflict` if [`SecretRow::check`] or
    /// [`SealKeyRow::check_use`](super::SealKeyRow::check_use) fails, or if a different secret of the workspace has a value with the same id.
    fn put_secret(&self, row: SecretRow) -> StoreFuture<'_, ()>;

    /// Returns the sealed secrets of a workspace that have these names, ordered by name.
    fn secrets<'a>(
        &'a self,
        workspace: &'a Workspace,
        names: &'a [String],
    ) -> StoreFuture<'a, Vec<SecretRow>>;

    /// Lists the secrets of a scope by workspace and name, without their values.
    fn list_secrets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SecretFilter,
    ) -> StoreFuture<'a, Vec<SecretInfo>>;

    /// Renames a secret without changing its sealed value. Returns false if no secret of the workspace has the old name. Fails with `Conflict` if the
    /// new name or the operator is empty, or if a different secret of the workspace has the new name.
    fn rename_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        from: &'a str,
        to: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Removes a secret. Returns whether it existed.
    fn remove_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        name: &'a str,
    ) -> StoreFuture<'a, bool>;
}
