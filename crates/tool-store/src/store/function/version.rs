//! Versions of the functions that stored tools run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Function, FunctionKind, ToolSchema, counted};
use crate::store::{Editor, MemberRole, StoreError, Timestamp, Workspace};

/// A version of a function. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FunctionVersion {
    /// The id, which is unique in the store.
    pub id: String,
    /// The workspace that owns the function; `None` for a system function.
    pub workspace: Option<Workspace>,
    /// The id of the function.
    pub function: String,
    /// The number of the version in its function; the first is 1.
    pub number: u32,
    /// The version that this version was derived from.
    pub parent: Option<String>,
    /// The display name of the version.
    pub label: Option<String>,
    /// The texts of the files by their path, with `/` between the parts of the path.
    pub files: BTreeMap<String, String>,
    /// The names of the tools that the code may call. The version has the effects of these tools.
    pub uses: Vec<String>,
    /// The schema of the arguments.
    pub input_schema: ToolSchema,
    /// The schema of the output.
    pub output_schema: ToolSchema,
    /// The user who created the version; `None` for a system function.
    pub created_by: Option<String>,
    /// When the version was created.
    pub created_at: Timestamp,
}

/// A version to create.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NewFunctionVersion {
    /// The version that the new version is derived from. Both must belong to one function.
    #[serde(default)]
    pub parent: Option<String>,
    /// The display name of the version.
    #[serde(default)]
    pub label: Option<String>,
    /// The texts of the files by their path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The names of the tools that the code may call; only TypeScript calls tools.
    #[serde(default)]
    pub uses: Vec<String>,
    /// The schema of the arguments.
    #[serde(deserialize_with = "ToolSchema::plain")]
    pub input_schema: ToolSchema,
    /// The schema of the output.
    #[serde(deserialize_with = "ToolSchema::plain")]
    pub output_schema: ToolSchema,
}

impl NewFunctionVersion {
    /// Creates a version without a parent, a label, files or called tools.
    pub fn new(input_schema: ToolSchema, output_schema: ToolSchema) -> Self {
        Self {
            parent: None,
            label: None,
            files: BTreeMap::new(),
            uses: Vec::new(),
            input_schema,
            output_schema,
        }
    }

    /// Creates the row. `parent` is the stored version that [`parent`](Self::parent) names, and `number` is the number of the function's last version
    /// plus 1. Fails if the editor may not change the function, with `Missing` for an unknown parent, and with `Conflict` for an invalid version.
    pub fn decide(
        self,
        editor: &Editor,
        function: &Function,
        parent: Option<&FunctionVersion>,
        (id, number): (String, u32),
        at: Timestamp,
    ) -> Result<FunctionVersion, StoreError> {
        editor.check_owner(function.workspace.as_ref(), &function.what())?;
        editor.require(MemberRole::Author, "create a version of a function")?;
        if let Some(id) = &self.parent {
            let parent = parent.ok_or_else(|| FunctionVersion::missing(id))?;
            parent.check_function(&function.id)?;
        }
        if let Some(file) = function.kind.file()
            && !self.files.contains_key(file)
        {
            return Err(StoreError::Conflict(format!(
                "the function runs the file `{file}`, which the version does not have: add it to `files`"
            )));
        }
        if !self.uses.is_empty() && !matches!(function.kind, FunctionKind::TypeScript { .. }) {
            return Err(StoreError::Conflict(
                "only functions of TypeScript call tools, leave `uses` out".to_owned(),
            ));
        }
        Ok(FunctionVersion {
            id,
            workspace: function.workspace.clone(),
            function: function.id.clone(),
            number,
            parent: self.parent,
            label: self.label,
            files: self.files,
            uses: self.uses,
            input_schema: self.input_schema,
            output_schema: self.output_schema,
            created_by: editor.user().map(str::to_owned),
            created_at: at,
        })
    }
}

impl FunctionVersion {
    pub(in crate::store) fn what(&self) -> String {
        format!("version `{}` of a function", self.id)
    }

    /// Returns the error for an unknown version.
    pub fn missing(id: &str) -> StoreError {
        StoreError::Missing(format!("no version `{id}` of a function"))
    }

    /// Fails with `Conflict` if the version belongs to a different function.
    pub fn check_function(&self, function: &str) -> Result<(), StoreError> {
        if self.function == function {
            return Ok(());
        }
        Err(StoreError::Conflict(format!(
            "{} belongs to function `{}` and not to `{function}`, name a version of `{function}`",
            self.what(),
            self.function
        )))
    }

    /// Checks whether the version may be removed. `is_default` is whether it is the default of its function, `pins` is the number of tools that pin
    /// it, and `forks` is the number of versions that were derived from it. Fails with `Missing` for a version of a different workspace, with
    /// `Forbidden` if a member removes a version of a system function or if the role of the editor is too low, and with `Conflict` if other rows
    /// refer to the version.
    pub fn check_removal(
        &self,
        editor: &Editor,
        is_default: bool,
        pins: u64,
        forks: u64,
    ) -> Result<(), StoreError> {
        editor.check_owner(self.workspace.as_ref(), &self.what())?;
        editor.require(MemberRole::Author, "delete a version")?;
        let why = if is_default {
            "is the default of its function, publish a different version first".to_owned()
        } else if pins > 0 {
            format!(
                "is pinned by {}, change their pins first",
                counted(pins, "tool")
            )
        } else if forks > 0 {
            format!(
                "is the parent of {}, delete these first",
                counted(forks, "version")
            )
        } else {
            return Ok(());
        };
        Err(StoreError::Conflict(format!("{} {why}", self.what())))
    }
}
