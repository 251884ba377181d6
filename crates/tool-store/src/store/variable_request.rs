//! Requests for the values of variables that a deferred sub-agent needs.

use serde::{Deserialize, Serialize};

use super::{
    Scope, StoreError, StoreFuture, ThreadId, Timestamp, VariableRow, VariableScope, VariableType,
    VariableValue, Workspace,
};

/// A variable that a request requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VariableField {
    /// The name of the variable.
    pub name: String,
    /// The type of the variable.
    pub kind: VariableType,
    /// Help for the person who enters the value.
    pub description: Option<String>,
    /// The choices of a variable of type select.
    pub choices: Vec<String>,
}

impl VariableField {
    /// Creates a field without a description and without choices.
    pub fn new(name: impl Into<String>, kind: VariableType) -> Self {
        Self {
            name: name.into(),
            kind,
            description: None,
            choices: Vec::new(),
        }
    }

    /// Adds help for the person who enters the value.
    #[must_use]
    pub fn description(self, text: impl Into<String>) -> Self {
        Self {
            description: Some(text.into()),
            ..self
        }
    }

    /// Sets the choices of a variable of type select.
    #[must_use]
    pub fn choices<T: Into<String>>(self, choices: impl IntoIterator<Item = T>) -> Self {
        Self {
            choices: choices.into_iter().map(Into::into).collect(),
            ..self
        }
    }
}

/// A request for variables that a user has to supply before a thread can start a sub-agent. The request contains no values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableRequest {
    /// The id of the request, which is unique in its workspace.
    pub id: String,
    /// The thread that waits for the values.
    pub thread: ThreadId,
    /// The agent that is started when all values are stored.
    pub agent: String,
    /// The owner of the values, for example the thread of the started agent.
    pub target: VariableScope,
    /// The variables that the sub-agent requires.
    pub required: Vec<VariableField>,
    /// The names of the required variables without a value, in the order of `required`.
    pub missing: Vec<String>,
    /// When the request was opened.
    pub at: Timestamp,
}

impl VariableRequest {
    /// Creates a request whose variables are all missing.
    pub fn new(
        id: impl Into<String>,
        thread: ThreadId,
        agent: impl Into<String>,
        target: VariableScope,
        required: Vec<VariableField>,
        at: Timestamp,
    ) -> Self {
        Self {
            id: id.into(),
            thread,
            agent: agent.into(),
            target,
            missing: required.iter().map(|field| field.name.clone()).collect(),
            required,
            at,
        }
    }

    /// Returns the workspace of the request.
    pub fn workspace(&self) -> &Workspace {
        self.thread.workspace()
    }

    /// Checks the conditions of [`VariableRequestStore::open_request`] that do not depend on stored rows. Fails with `Conflict` if the id or the
    /// agent is empty, if the values belong to a different workspace than the thread, if `missing` is empty, if a name is empty or occurs twice, if a
    /// variable of type select has no choices, or if a variable of a different type has choices.
    pub fn check(&self) -> Result<(), StoreError> {
        let refuse = |why: String| Err(StoreError::Conflict(why));
        if self.id.is_empty() || self.agent.is_empty() {
            return refuse("a request for variables has no id or no agent, give both".to_owned());
        }
        if self.target.in_workspace() != self.workspace() {
            return refuse(format!(
                "a request of the workspace `{}` requests values of the workspace `{}`, use one workspace",
                self.workspace(),
                self.target.in_workspace()
            ));
        }
        if self.missing.is_empty() {
            return refuse(
                "a request for variables has no missing variables, list the required ones"
                    .to_owned(),
            );
        }
        for (at, field) in self.required.iter().enumerate() {
            let name = &field.name;
            if name.is_empty() || self.required[..at].iter().any(|other| other.name == *name) {
                return refuse(format!(
                    "a request for variables has the name `{name}` twice, or the name is empty: name each variable once"
                ));
            }
            if field.choices.is_empty() == (field.kind == VariableType::Select) {
                return refuse(format!(
                    "the variable `{name}` of type `{}` has {} choices: variables of type `select` need choices, and other types have none",
                    field.kind,
                    field.choices.len()
                ));
            }
        }
        Ok(())
    }

    /// Checks the values of an answer and returns the names that are missing afterwards. An empty clear text counts as missing. Fails with `Conflict`
    /// if the request does not contain one of the variables, or if a value has a different owner or type, or is not one of the choices.
    pub fn answered(&self, rows: &[VariableRow]) -> Result<Vec<String>, StoreError> {
        for row in rows {
            let field = self.required.iter().find(|field| field.name == row.name);
            let Some(field) = field else {
                let names: Vec<&str> = self.required.iter().map(|field| &*field.name).collect();
                return Err(StoreError::Conflict(format!(
                    "the request `{}` does not ask for the variable `{}`, it asks for {}",
                    self.id,
                    row.name,
                    names.join(", ")
                )));
            };
            if row.kind != field.kind || row.scope != self.target {
                return Err(StoreError::Conflict(format!(
                    "the request `{}` asks for the variable `{}` of type `{}`, but the value has a different owner or type",
                    self.id, row.name, field.kind
                )));
            }
            if let VariableValue::Clear(text) = &row.value
                && field.kind == VariableType::Select
                && !field.choices.contains(text)
            {
                return Err(StoreError::Conflict(format!(
                    "the value of the variable `{}` is not one of its choices: {}",
                    row.name,
                    field.choices.join(", ")
                )));
            }
        }
        let is_set = |name: &String| {
            rows.iter().any(|row| {
                row.name == *name
                    && !matches!(&row.value, VariableValue::Clear(text) if text.is_empty())
            })
        };
        let missing = self.missing.iter().filter(|name| !is_set(name));
        Ok(missing.cloned().collect())
    }

    /// Returns the error for a request whose id is already in use.
    pub fn exists(&self) -> StoreError {
        StoreError::Conflict(format!(
            "a request for variables with the id `{}` exists, give each request a new random id",
            self.id
        ))
    }

    /// Returns the error for a request that does not exist, or whose variables all have values.
    pub fn gone(id: &str) -> StoreError {
        StoreError::Missing(format!("no open request for variables `{id}`"))
    }
}

/// A store of requests for variables.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let (main, child) = (ThreadId::new("acme", "main")?, ThreadId::new("acme", "child")?);
/// let (target, now) = (VariableScope::thread(&child), Timestamp::now());
/// let region = VariableField::new("REGION", VariableType::Select).choices(["eu", "us"]);
/// let request = VariableRequest::new("r1", main, "sales", target.clone(), vec![region], now);
/// store.open_request(request).await?;
///
/// let value = VariableValue::Clear("eu".into());
/// let row = VariableRow::new(target, "REGION", "v1", VariableType::Select, value, "ann", now);
/// let acme = Workspace::new("acme");
/// assert!(store.answer_request(&acme, "r1", vec![row]).await?.is_empty());
/// assert_eq!(store.request(&acme, "r1").await?, None);
/// # Ok(())
/// # }
/// ```
pub trait VariableRequestStore: Send + Sync + 'static {
    /// Stores a request. Fails with `Conflict` if [`VariableRequest::check`] fails, or if its workspace has a request with the same id.
    fn open_request(&self, request: VariableRequest) -> StoreFuture<'_, ()>;

    /// Returns an open request; `None` if the workspace has no open request with this id.
    fn request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<VariableRequest>>;

    /// Lists the open requests of a thread, ordered by id.
    fn requests<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Vec<VariableRequest>>;

    /// Stores the values of an answer and returns the names that are still missing, in one transaction. Removes the request if nothing is missing.
    /// Fails with `Missing` if the request is not open, and with `Conflict` if [`VariableRequest::answered`] or
    /// [`VariableStore::put_variables`](super::VariableStore::put_variables) refuses the values. A call that fails stores nothing.
    fn answer_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        rows: Vec<VariableRow>,
    ) -> StoreFuture<'a, Vec<String>>;

    /// Removes a request. Returns whether it was open.
    fn withdraw_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, bool>;

    /// Removes at most `most` requests of a scope that were opened before `since`, and returns their number.
    fn expire_requests<'a>(
        &'a self,
        scope: Scope<'a>,
        since: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, u64>;
}
