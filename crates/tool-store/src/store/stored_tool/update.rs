//! New tools and changes of tools, as requests write them.

use serde::Deserialize;

use super::{RUNNING, StoredExample, StoredTool, ToolSource, ToolTarget};
use crate::store::function::{check_runtime_user_right, later, nullable};
use crate::store::{Editor, MemberRole, StoreError, Timestamp, ToolSchema};

fn enabled() -> bool {
    true
}

/// A tool to create. The store sets the id, the times, and all other fields of [`StoredTool`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NewTool {
    /// The name that the model sees.
    pub name: String,
    /// When the model should use the tool.
    #[serde(default)]
    pub description: Option<String>,
    /// Where the tool runs.
    pub target: ToolTarget,
    /// The id of the function; left out for a client tool.
    #[serde(default)]
    pub function: Option<String>,
    /// The version to which the tool is pinned.
    #[serde(default)]
    pub function_version: Option<String>,
    /// The schema of the arguments.
    #[serde(default, deserialize_with = "ToolSchema::optional")]
    pub input_schema: Option<ToolSchema>,
    /// The schema of the output.
    #[serde(default, deserialize_with = "ToolSchema::optional")]
    pub output_schema: Option<ToolSchema>,
    /// Examples for the model.
    #[serde(default)]
    pub examples: Option<Vec<StoredExample>>,
    /// Whether a person must approve each call; false by default.
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Whether models may use the tool; true by default.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// The user that the tool runs as. Only an admin may set it.
    #[serde(default)]
    pub runtime_user: Option<String>,
}

impl NewTool {
    /// Creates a tool that the host runs.
    pub fn server(name: impl Into<String>, function: impl Into<String>) -> Self {
        Self {
            function: Some(function.into()),
            ..Self::of(name.into(), ToolTarget::Server)
        }
    }

    /// Creates a tool that the client runs.
    pub fn client(name: impl Into<String>, input: ToolSchema, output: ToolSchema) -> Self {
        Self {
            input_schema: Some(input),
            output_schema: Some(output),
            ..Self::of(name.into(), ToolTarget::Client)
        }
    }

    fn of(name: String, target: ToolTarget) -> Self {
        Self {
            name,
            description: None,
            target,
            function: None,
            function_version: None,
            input_schema: None,
            output_schema: None,
            examples: None,
            requires_confirmation: false,
            enabled: true,
            runtime_user: None,
        }
    }

    /// Returns the row for [`StoredTool::decide`]. Fails with `Forbidden` if the role of the editor is too low, and with `Conflict` if a system tool
    /// has a runtime user.
    pub fn begin(
        self,
        editor: &Editor,
        id: String,
        at: Timestamp,
    ) -> Result<StoredTool, StoreError> {
        editor.require(MemberRole::Author, "create a tool")?;
        check_runtime_user_right(editor, self.runtime_user.as_ref(), None)?;
        Ok(StoredTool {
            id,
            workspace: editor.owner().cloned(),
            name: self.name,
            description: self.description,
            target: self.target,
            function: self.function,
            function_version: self.function_version,
            input_schema: self.input_schema,
            output_schema: self.output_schema,
            examples: self.examples,
            requires_confirmation: self.requires_confirmation,
            enabled: self.enabled,
            system: editor.owner().is_none(),
            source: ToolSource::of(editor.owner(), None),
            created_by: editor.user().map(str::to_owned),
            runtime_user: self.runtime_user,
            deleted_at: None,
            retention_tier: None,
            created_at: at,
            updated_at: at,
        })
    }
}

/// A change of a tool. Only fields that are set are changed. Null removes the value of an optional field of the tool, and does not change any other
/// field. The other fields of a tool cannot be changed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolUpdate {
    /// The name that the model sees.
    pub name: Option<String>,
    /// When the model should use the tool.
    #[serde(deserialize_with = "nullable")]
    pub description: Option<Option<String>>,
    /// The id of the function.
    pub function: Option<String>,
    /// The version to which the tool is pinned.
    #[serde(deserialize_with = "nullable")]
    pub function_version: Option<Option<String>>,
    /// The schema of the arguments.
    #[serde(deserialize_with = "ToolSchema::change")]
    pub input_schema: Option<Option<ToolSchema>>,
    /// The schema of the output.
    #[serde(deserialize_with = "ToolSchema::change")]
    pub output_schema: Option<Option<ToolSchema>>,
    /// Examples for the model.
    #[serde(deserialize_with = "nullable")]
    pub examples: Option<Option<Vec<StoredExample>>>,
    /// Whether a person must approve each call.
    pub requires_confirmation: Option<bool>,
    /// Whether models may use the tool. An operator may change this field, and no other field.
    pub enabled: Option<bool>,
    /// The user that the tool runs as. Only an admin may change it.
    #[serde(deserialize_with = "nullable")]
    pub runtime_user: Option<Option<String>>,
}

impl ToolUpdate {
    /// Creates a change that only enables or disables a tool.
    pub fn enable(enabled: bool) -> Self {
        Self {
            enabled: Some(enabled),
            ..Self::default()
        }
    }

    /// Returns the row for [`StoredTool::decide`]. Fails with `Missing` for a tool of a different workspace, with `Forbidden` if a member changes a
    /// system tool or if the role of the editor is too low, and with `Conflict` for a deleted tool or for a system tool with a runtime user.
    pub fn begin(
        self,
        editor: &Editor,
        stored: &StoredTool,
        at: Timestamp,
    ) -> Result<StoredTool, StoreError> {
        editor.check_owner(stored.workspace.as_ref(), &stored.what())?;
        let only_enables = self
            == Self {
                enabled: self.enabled,
                ..Self::default()
            };
        if only_enables {
            editor.require_any(RUNNING, "enable or disable a tool")?;
        } else {
            editor.require(MemberRole::Author, "change a tool")?;
        }
        if let Some(user) = &self.runtime_user {
            let before = stored.runtime_user.as_ref();
            check_runtime_user_right(editor, user.as_ref(), before)?;
        }
        stored.check_live()?;
        let old = stored.clone();
        Ok(StoredTool {
            name: self.name.unwrap_or(old.name),
            description: self.description.unwrap_or(old.description),
            function: self.function.or(old.function),
            function_version: self.function_version.unwrap_or(old.function_version),
            input_schema: self.input_schema.unwrap_or(old.input_schema),
            output_schema: self.output_schema.unwrap_or(old.output_schema),
            examples: self.examples.unwrap_or(old.examples),
            requires_confirmation: self
                .requires_confirmation
                .unwrap_or(old.requires_confirmation),
            enabled: self.enabled.unwrap_or(old.enabled),
            runtime_user: self.runtime_user.unwrap_or(old.runtime_user),
            updated_at: later(old.updated_at, at),
            ..old
        })
    }
}
