//! Variables of workspaces, users, prompts, agents and threads.

use serde::{Deserialize, Serialize};

use super::secret::check_names;
use super::{
    Sealed, SealedColumn, SealedPlace, StoreError, StoreFuture, ThreadId, Timestamp, Workspace,
    words,
};

/// The kind of owner that a variable belongs to. The levels sort in the order of lists; `tool_core::variables::Level` defines the order of look-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableLevel {
    /// The variable belongs to an agent.
    Agent,
    /// The variable belongs to a prompt.
    Prompt,
    /// The variable belongs to a thread.
    Thread,
    /// The variable belongs to a user.
    User,
    /// The variable belongs to the workspace itself.
    Workspace,
}

words!(VariableLevel {
    Agent = "agent",
    Prompt = "prompt",
    Thread = "thread",
    User = "user",
    Workspace = "workspace",
});

/// The owner of variables: a workspace, or a user, a prompt, an agent or a thread in it.
///
/// ```
/// use tool_store::{ThreadId, VariableScope};
///
/// let thread = ThreadId::new("acme", "main")?;
/// let scope = VariableScope::thread(&thread);
/// assert_eq!((scope.level().as_str(), scope.owner()), ("thread", "main"));
/// assert_ne!(scope, VariableScope::agent("acme", "main")?);
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableScope {
    workspace: Workspace,
    level: VariableLevel,
    owner: String,
}

impl VariableScope {
    /// Creates the scope of a workspace's variables.
    pub fn workspace(workspace: impl Into<Workspace>) -> Self {
        Self {
            workspace: workspace.into(),
            level: VariableLevel::Workspace,
            owner: String::new(),
        }
    }

    /// Creates the scope of a user's variables. Fails with `Conflict` if the id is empty.
    pub fn user(
        workspace: impl Into<Workspace>,
        id: impl Into<String>,
    ) -> Result<Self, StoreError> {
        Self::of(workspace.into(), VariableLevel::User, id.into())
    }

    /// Creates the scope of a prompt's variables. Fails with `Conflict` if the id is empty.
    pub fn prompt(
        workspace: impl Into<Workspace>,
        id: impl Into<String>,
    ) -> Result<Self, StoreError> {
        Self::of(workspace.into(), VariableLevel::Prompt, id.into())
    }

    /// Creates the scope of an agent's variables. Fails with `Conflict` if the id is empty.
    pub fn agent(
        workspace: impl Into<Workspace>,
        id: impl Into<String>,
    ) -> Result<Self, StoreError> {
        Self::of(workspace.into(), VariableLevel::Agent, id.into())
    }

    /// Creates the scope of a thread's variables.
    pub fn thread(thread: &ThreadId) -> Self {
        Self {
            workspace: thread.workspace().clone(),
            level: VariableLevel::Thread,
            owner: thread.conversation().to_owned(),
        }
    }

    /// Creates the scope of the owner with an id at a level. Fails with `Conflict` if the id is empty for a level other than the workspace, or is not
    /// empty for the workspace.
    pub fn of(
        workspace: Workspace,
        level: VariableLevel,
        owner: String,
    ) -> Result<Self, StoreError> {
        if owner.is_empty() != (level == VariableLevel::Workspace) {
            return Err(StoreError::Conflict(format!(
                "variables of level `{level}` have the owner `{owner}`: the workspace has no owner, and every other level needs the owner's id"
            )));
        }
        Ok(Self {
            workspace,
            level,
            owner,
        })
    }

    /// Returns the workspace of the owner.
    pub fn in_workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the kind of owner.
    pub fn level(&self) -> VariableLevel {
        self.level
    }

    /// Returns the id of the owner; empty for the workspace itself.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns the level and the owner as text, for [`SealedPlace::owner`].
    fn column(&self) -> String {
        format!("{}:{}", self.level, self.owner)
    }
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VariableType {
    /// A secret: its value is stored sealed, and is left out of lists, prompts and results.
    Secret,
    /// One of several choices, stored in clear text.
    Select,
    /// A text, stored in clear text.
    Text,
}

words!(VariableType {
    Secret = "secret",
    Select = "select",
    Text = "text",
});

impl VariableType {
    /// Returns the declared type of a variable, or [`Secret`](Self::Secret) if it is not declared, so that the value of an undeclared variable is
    /// never shown.
    pub fn or_undeclared(declared: Option<Self>) -> Self {
        declared.unwrap_or(Self::Secret)
    }
}

/// A value in a store. `Debug` does not print the value.
#[derive(Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// The clear text of a variable that is not a secret.
    Clear(String),
    /// The sealed value of a secret.
    Sealed(Sealed),
}

impl std::fmt::Debug for VariableValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Clear(_) => f.write_str("Clear(…)"),
            Self::Sealed(sealed) => std::fmt::Debug::fmt(sealed, f),
        }
    }
}

/// A variable with its owner and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableRow {
    /// The owner of the variable.
    pub scope: VariableScope,
    /// The name that tools and prompts use for the variable.
    pub name: String,
    /// The id of the value. A new value has a new id.
    pub id: String,
    /// The type of the variable.
    pub kind: VariableType,
    /// The value, sealed if the variable is a secret.
    pub value: VariableValue,
    /// The user who wrote the value.
    pub by: String,
    /// When the value was written.
    pub at: Timestamp,
}

impl VariableRow {
    /// Creates a variable with a new value.
    pub fn new(
        scope: VariableScope,
        name: impl Into<String>,
        id: impl Into<String>,
        kind: VariableType,
        value: VariableValue,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            scope,
            name: name.into(),
            id: id.into(),
            kind,
            value,
            by: by.into(),
            at,
        }
    }

    /// Returns the place of the value, which matters only for a sealed value.
    pub fn place(&self) -> SealedPlace {
        Self::place_of(&self.scope, &self.id)
    }

    /// Returns the place of a variable's value.
    pub fn place_of(scope: &VariableScope, id: &str) -> SealedPlace {
        SealedPlace {
            column: SealedColumn::Variable,
            workspace: scope.workspace.clone(),
            id: id.to_owned(),
            owner: scope.column(),
        }
    }

    /// Returns the sealed value, if the variable is a secret.
    pub fn sealed(&self) -> Option<&Sealed> {
        match &self.value {
            VariableValue::Clear(_) => None,
            VariableValue::Sealed(sealed) => Some(sealed),
        }
    }

    /// Returns the row without the value of a secret, for lists.
    pub fn info(&self) -> VariableInfo {
        VariableInfo {
            level: self.scope.level,
            owner: self.scope.owner.clone(),
            name: self.name.clone(),
            kind: self.kind,
            value: match &self.value {
                VariableValue::Clear(text) => Some(text.clone()),
                VariableValue::Sealed(_) => None,
            },
            by: self.by.clone(),
            at: self.at,
        }
    }

    /// Checks the conditions of [`VariableStore::put_variables`] that do not depend on stored rows: fails with `Conflict` if the name, the id
    /// or the operator is empty, if a secret is not sealed, or if a variable of a different type is sealed.
    pub fn check(&self) -> Result<(), StoreError> {
        check_names("variable", &self.name, &self.id, &self.by)?;
        if self.sealed().is_some() == (self.kind == VariableType::Secret) {
            return Ok(());
        }
        Err(StoreError::Conflict(format!(
            "the value of the variable `{}` of type `{}` is in the wrong form: seal the values of secrets, and no other values",
            self.name, self.kind
        )))
    }
}

/// A variable in a list, without the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VariableInfo {
    /// The kind of owner.
    pub level: VariableLevel,
    /// The id of the owner; empty for the workspace itself.
    pub owner: String,
    /// The name of the variable.
    pub name: String,
    /// The type of the variable.
    pub kind: VariableType,
    /// The value, unless it is a secret.
    pub value: Option<String>,
    /// The user who wrote the value.
    pub by: String,
    /// When the value was written.
    pub at: Timestamp,
}

/// A filter for the variables of a workspace: a variable must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableFilter {
    /// Variables of this level.
    pub level: Option<VariableLevel>,
    /// Variables of owners with this id.
    pub owner: Option<String>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only variables after it. It is the level, the owner and the name of the last variable of the previous page.
    pub after: Option<(VariableLevel, String, String)>,
}

impl VariableFilter {
    /// Returns whether the filter admits a variable. The caller applies `limit`.
    pub fn admits(&self, row: &VariableRow) -> bool {
        let VariableScope { level, owner, .. } = &row.scope;
        let is_after =
            |(after_level, after_owner, after_name): &(VariableLevel, String, String)| {
                (level, owner, &row.name) > (after_level, after_owner, after_name)
            };
        self.level.is_none_or(|wanted| wanted == *level)
            && self.owner.as_ref().is_none_or(|wanted| wanted == owner)
            && self.after.as_ref().is_none_or(is_after)
    }
}

/// A store of variables. It never receives the value of a secret in clear text.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let support = VariableScope::agent("acme", "support")?;
/// let value = VariableValue::Clear("eu".into());
/// let region = VariableRow::new(support.clone(), "REGION", "v1", VariableType::Text, value, "olga", Timestamp::now());
/// store.put_variables(vec![region]).await?;
/// let listed = store.list_variables(&"acme".into(), &VariableFilter::default()).await?;
/// assert_eq!(listed[0].value.as_deref(), Some("eu"));
/// # Ok(())
/// # }
/// ```
pub trait VariableStore: Send + Sync + 'static {
    /// Stores variables, each in place of the variable with the same owner and name, in one transaction. Fails with `Conflict`, and changes nothing,
    /// if [`VariableRow::check`] or [`SealKeyRow::check_use`](super::SealKeyRow::check_use) fails for one of the rows, or if a different variable of
    /// the workspace has a value with the same id.
    fn put_variables(&self, rows: Vec<VariableRow>) -> StoreFuture<'_, ()>;

    /// Returns the variables of the owners, ordered by scope and name.
    fn variables<'a>(&'a self, scopes: &'a [VariableScope]) -> StoreFuture<'a, Vec<VariableRow>>;

    /// Lists the variables of a workspace by level, owner and name, without the values of secrets.
    fn list_variables<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a VariableFilter,
    ) -> StoreFuture<'a, Vec<VariableInfo>>;

    /// Removes a variable. Returns whether it existed.
    fn remove_variable<'a>(
        &'a self,
        scope: &'a VariableScope,
        name: &'a str,
    ) -> StoreFuture<'a, bool>;

    /// Removes all variables of an owner, for example of an owner that was deleted, and returns their number.
    fn remove_variables<'a>(&'a self, scope: &'a VariableScope) -> StoreFuture<'a, u64>;
}
