//! Saving functions and tools, which are validated before they are stored.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::judge::{input_faults, output_faults};
use super::{FunctionRunner, StoredTools};
use crate::store::{
    Editor, Function, FunctionVersion, NewFunctionVersion, ResolvedTool, StoreError, StoredTool,
    StoredToolFilter, ToolChange, ToolEdit, ToolEdited, ToolFacts, ToolUpdate, Workspace,
};

/// A fault that prevents a function or a tool from being saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolFault {
    /// JSON pointer of the value in the request, such as `/input_schema/properties/a`.
    pub pointer: String,
    /// What is wrong with the value.
    pub text: String,
}

impl fmt::Display for ToolFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.pointer, self.text)
    }
}

/// The reason why a change was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The function or the tool is invalid; each fault names the value that breaks a rule.
    #[error("{}", faults(.0))]
    Rejected(Vec<ToolFault>),
    /// The store refused the change or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn faults(faults: &[ToolFault]) -> String {
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

/// A change that was saved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Saved {
    /// The row that was written or removed, or the stored response to a repeated request.
    pub edited: ToolEdited,
    /// Warnings for the author. They did not prevent the change.
    pub warnings: Vec<String>,
}

/// The warning for a tool without a description.
const NO_DESCRIPTION: &str = "the tool has no description, which has the most influence on when a model uses it: write what it does and when to use it";

impl Saved {
    fn new(edited: ToolEdited) -> Self {
        let warnings = Self::warnings_of(&edited);
        Self { edited, warnings }
    }

    /// Returns the warnings about a row. They depend only on the row, so that the [response](crate::store::RequestKey::respond) that is stored under an
    /// idempotency key can contain them.
    pub fn warnings_of(edited: &ToolEdited) -> Vec<String> {
        let lacks_description = matches!(edited, ToolEdited::Tool(tool) if tool.description.is_none() && !tool.is_deleted());
        let warnings = lacks_description.then(|| NO_DESCRIPTION.to_owned());
        warnings.into_iter().collect()
    }
}

impl StoredTools {
    /// Validates a change, and stores it if these rules hold:
    ///
    /// - The schemas of a version and of a tool are accepted by every provider, and outputs can be checked against the output schema.
    /// - Examples of a tool match its schemas. When a version is published, this includes the examples of all tools that use the default
    ///   version.
    /// - A runner can run the function of a tool, unless the client runs the tool.
    /// - The runner of the function, if there is one, reports no faults of a new version ([`FunctionRunner::check`]).
    ///
    /// A repeated request, whose idempotency key is stored, returns [`ToolEdited::Repeated`] without a validation. A change that only disables a tool
    /// is not validated.
    ///
    /// # Errors
    ///
    /// Fails with [`SaveError::Rejected`] if the change breaks a rule, and for the reasons of
    /// [`StoredToolStore::edit`](crate::store::StoredToolStore::edit).
    pub async fn edit(&self, edit: ToolEdit) -> Result<Saved, SaveError> {
        if let (Some(workspace), Some(key)) = (edit.editor.owner(), &edit.key)
            && let Some(response) = self.store.repeated(workspace, key).await?
        {
            return Ok(Saved::new(ToolEdited::Repeated(response)));
        }
        let faults = match &edit.change {
            ToolChange::CreateVersion { function, version } => {
                let mut faults = input_faults("/input_schema", &version.input_schema);
                faults.extend(output_faults("/output_schema", &version.output_schema));
                if let Some(function) = self.function(&edit.editor, function).await? {
                    let version = version.clone();
                    faults.extend(self.version_faults(&edit, &function, version).await);
                }
                faults
            }
            ToolChange::CreateTool(new) => {
                let tool = (**new)
                    .clone()
                    .begin(&edit.editor, String::new(), edit.at)?;
                self.tool_faults(&edit.editor, tool, None).await?
            }
            // A tool that has become invalid can still be disabled.
            ToolChange::UpdateTool { update, .. } if **update == ToolUpdate::enable(false) => {
                Vec::new()
            }
            ToolChange::UpdateTool { id, update, .. } => {
                let workspace = workspace(&edit.editor);
                match self.store.stored_tool(&workspace, id).await? {
                    Some(stored) => {
                        let tool = (**update).clone().begin(&edit.editor, &stored, edit.at)?;
                        self.tool_faults(&edit.editor, tool, Some(&stored)).await?
                    }
                    None => Vec::new(),
                }
            }
            ToolChange::Publish { version } => self.followers(&edit.editor, version).await?,
            _ => Vec::new(),
        };
        if !faults.is_empty() {
            return Err(SaveError::Rejected(faults));
        }
        Ok(Saved::new(self.store.edit(edit).await?))
    }

    async fn function(&self, editor: &Editor, id: &str) -> Result<Option<Function>, StoreError> {
        self.store.function(&workspace(editor), id).await
    }

    async fn version(
        &self,
        editor: &Editor,
        id: Option<&str>,
    ) -> Result<Option<FunctionVersion>, StoreError> {
        match id {
            Some(id) => self.store.function_version(&workspace(editor), id).await,
            None => Ok(None),
        }
    }

    /// Returns the reasons why the runner of the function's kind rejects a new version. The list is empty if no runner accepts this kind, or if the
    /// store will refuse the version, because the store's error then contains the reason.
    async fn version_faults(
        &self,
        edit: &ToolEdit,
        function: &Function,
        mut version: NewFunctionVersion,
    ) -> Vec<ToolFault> {
        version.parent = None;
        let place = (String::new(), 1);
        let version = version.decide(&edit.editor, function, None, place, edit.at);
        let Ok(version) = version else {
            return Vec::new();
        };
        let knows = |runner: &Arc<dyn FunctionRunner>| {
            let facts = runner.facts(function, &version)?;
            Some((Arc::clone(runner), facts))
        };
        let Some((runner, facts)) = self.runners.iter().find_map(knows) else {
            return Vec::new();
        };
        let mut faults = runner.check(function, &version).await;
        if faults.is_empty()
            && let Err(text) = facts
        {
            let pointer = "/function".to_owned();
            faults.push(ToolFault { pointer, text });
        }
        faults
    }

    /// Returns the faults of a tool as it would be stored.
    async fn tool_faults(
        &self,
        editor: &Editor,
        tool: StoredTool,
        before: Option<&StoredTool>,
    ) -> Result<Vec<ToolFault>, StoreError> {
        let function = match &tool.function {
            Some(id) => self.function(editor, id).await?,
            None => None,
        };
        let pinned = self
            .version(editor, tool.function_version.as_deref())
            .await?;
        let user = match (editor.owner(), &tool.runtime_user) {
            (Some(workspace), Some(user)) => self.store.member(workspace, user).await?,
            _ => None,
        };
        let facts = ToolFacts {
            function: function.as_ref(),
            version: pinned.as_ref(),
            member: user.as_ref(),
        };
        // The store repeats this check in its transaction. The check is first here, so that for a tool that the store would refuse, the caller gets
        // the store's error and not a list of faults.
        let tool = tool.decide(before, facts)?;
        let default = function
            .as_ref()
            .and_then(|function| function.default_version.clone());
        let version = match pinned {
            Some(version) => Some(version),
            None => self.version(editor, default.as_deref()).await?,
        };
        let mut found = ResolvedTool::new(tool);
        (found.function, found.version) = (function, version);
        Ok(self.build(&found).err().unwrap_or_default())
    }

    /// Returns the faults of the tools that use the function's default version, as if `version` were the default.
    async fn followers(
        &self,
        editor: &Editor,
        version: &str,
    ) -> Result<Vec<ToolFault>, StoreError> {
        let Some(version) = self.version(editor, Some(version)).await? else {
            return Ok(Vec::new());
        };
        let function = self.function(editor, &version.function).await?;
        let mut filter = StoredToolFilter {
            function: Some(version.function.clone()),
            ..StoredToolFilter::default()
        };
        let mut faults = Vec::new();
        loop {
            let tools = self.store.stored_tools(&workspace(editor), &filter).await?;
            let Some(last) = tools.last() else {
                return Ok(faults);
            };
            filter.after = Some(last.place());
            for tool in tools {
                if tool.function_version.is_some() {
                    continue;
                }
                let id = tool.id.clone();
                let mut found = ResolvedTool::new(tool);
                (found.function, found.version) = (function.clone(), Some(version.clone()));
                let own = self.build(&found).err().unwrap_or_default();
                faults.extend(own.into_iter().map(|fault| ToolFault {
                    pointer: format!("/tools/{id}{}", fault.pointer),
                    ..fault
                }));
            }
        }
    }
}

/// Returns the workspace whose rows an editor may read. If the editor is the program itself, returns the empty workspace, which contains only system
/// rows.
fn workspace(editor: &Editor) -> Workspace {
    editor.owner().cloned().unwrap_or_default()
}
