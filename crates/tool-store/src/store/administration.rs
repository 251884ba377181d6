//! Changes that operators make to instances, the vault, workspaces and members, and erasures by operators.

use super::{
    Editor, Erasure, Expected, InstanceId, KeyId, Member, MemberRole, SecretRow, SkillVersion,
    StoreError, ThreadId, Timestamp, VariableRow, VariableScope, Workspace, WorkspaceSettings,
};

/// A change of an instance, of its tools or of its skills.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstanceChange {
    /// Applies [`EnablementStore::add_instance`](super::EnablementStore::add_instance).
    Add {
        /// The instance that is changed.
        instance: InstanceId,
        /// When the instance is added.
        at: Timestamp,
    },
    /// Applies [`EnablementStore::remove_instance`](super::EnablementStore::remove_instance), but fails with `Missing` for an unknown instance.
    Remove {
        /// The instance that is changed.
        instance: InstanceId,
    },
    /// Applies [`EnablementStore::enable`](super::EnablementStore::enable).
    Enable {
        /// The instance that is changed.
        instance: InstanceId,
        /// The name or an alias of the tool.
        tool: String,
        /// The operator who makes the change.
        by: String,
        /// When the operator enables the tool.
        at: Timestamp,
    },
    /// Applies [`EnablementStore::disable`](super::EnablementStore::disable).
    Disable {
        /// The instance that is changed.
        instance: InstanceId,
        /// The name or an alias of the tool.
        tool: String,
        /// The operator who makes the change.
        by: String,
    },
    /// Applies [`EnablementStore::enable_skill`](super::EnablementStore::enable_skill).
    EnableSkill {
        /// The instance that is changed.
        instance: InstanceId,
        /// The version of the skill.
        skill: Box<SkillVersion>,
        /// The operator who makes the change.
        by: String,
        /// When the operator pins the version.
        at: Timestamp,
    },
    /// Applies [`EnablementStore::disable_skill`](super::EnablementStore::disable_skill).
    DisableSkill {
        /// The instance that is changed.
        instance: InstanceId,
        /// The name of the skill.
        skill: String,
        /// The operator who makes the change.
        by: String,
    },
}

impl InstanceChange {
    /// Returns the instance that is changed.
    pub fn instance(&self) -> &InstanceId {
        match self {
            Self::Add { instance, .. }
            | Self::Remove { instance }
            | Self::Enable { instance, .. }
            | Self::Disable { instance, .. }
            | Self::EnableSkill { instance, .. }
            | Self::DisableSkill { instance, .. } => instance,
        }
    }

    /// Returns the error for an unknown instance.
    pub fn missing(instance: &InstanceId) -> StoreError {
        StoreError::Missing(format!("no instance {instance}"))
    }
}

/// A change of secrets, variables or keys. It contains no secret in clear text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VaultChange {
    /// Applies [`SecretStore::put_secret`](super::SecretStore::put_secret).
    PutSecret(Box<SecretRow>),
    /// Applies [`SecretStore::remove_secret`](super::SecretStore::remove_secret), but fails with `Missing` for an unknown secret.
    RemoveSecret {
        /// The workspace of the secret.
        workspace: Workspace,
        /// The name of the secret.
        name: String,
    },
    /// Applies [`VariableStore::put_variables`](super::VariableStore::put_variables).
    PutVariables(Vec<VariableRow>),
    /// Applies [`VariableStore::remove_variable`](super::VariableStore::remove_variable), but fails with `Missing` for an unknown variable.
    RemoveVariable {
        /// The owner of the variable.
        scope: VariableScope,
        /// The name of the variable.
        name: String,
    },
    /// Applies [`VariableRequestStore::answer_request`](super::VariableRequestStore::answer_request).
    AnswerRequest {
        /// The workspace of the request.
        workspace: Workspace,
        /// The id of the request.
        id: String,
        /// The values of the requested variables.
        rows: Vec<VariableRow>,
    },
    /// Applies [`SealStore::retire_key`](super::SealStore::retire_key). Keys belong to the host and not to a workspace.
    RetireKey {
        /// The id of the key.
        key: KeyId,
        /// When the key is retired.
        at: Timestamp,
    },
}

impl VaultChange {
    /// Returns whether every row of the change belongs to a workspace. Returns true for the retirement of a key, because keys belong to the host.
    fn is_in(&self, own: &Workspace) -> bool {
        let owns = |rows: &[VariableRow]| rows.iter().all(|row| row.scope.in_workspace() == own);
        match self {
            Self::PutSecret(row) => row.workspace == *own,
            Self::RemoveSecret { workspace, .. } => workspace == own,
            Self::PutVariables(rows) => owns(rows),
            Self::RemoveVariable { scope, .. } => scope.in_workspace() == own,
            Self::AnswerRequest {
                workspace, rows, ..
            } => workspace == own && owns(rows),
            Self::RetireKey { .. } => true,
        }
    }

    /// Returns the error for an unknown secret.
    pub fn missing_secret(name: &str) -> StoreError {
        StoreError::Missing(format!("no secret `{name}`"))
    }

    /// Returns the error for an unknown variable.
    pub fn missing_variable(name: &str) -> StoreError {
        StoreError::Missing(format!("no variable `{name}`"))
    }
}

/// A change of a workspace or of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectoryChange {
    /// Applies [`Directory::put_workspace`](super::Directory::put_workspace).
    PutWorkspace {
        /// The new settings of the workspace.
        settings: Box<WorkspaceSettings>,
        /// The author of the change.
        editor: Editor,
        /// The settings that the author has read.
        expected: Expected<Box<WorkspaceSettings>>,
    },
    /// Applies [`Directory::put_member`](super::Directory::put_member).
    PutMember {
        /// The member with the new role.
        member: Member,
        /// The author of the change.
        editor: Editor,
        /// The member that the author has read.
        expected: Expected<Member>,
    },
    /// Applies [`Directory::remove_member`](super::Directory::remove_member), but fails with `Missing` for a user who is not a member.
    RemoveMember {
        /// The workspace of the member.
        workspace: Workspace,
        /// The user who is removed.
        user: String,
        /// The author of the change.
        editor: Editor,
        /// The member that the author has read.
        expected: Expected<Member>,
    },
}

impl DirectoryChange {
    /// Returns the workspace that is changed.
    pub fn workspace(&self) -> &Workspace {
        match self {
            Self::PutWorkspace { settings, .. } => &settings.workspace,
            Self::PutMember { member, .. } => &member.workspace,
            Self::RemoveMember { workspace, .. } => workspace,
        }
    }

    /// Returns the error for a user who is not a member.
    pub fn missing_member(user: &str) -> StoreError {
        StoreError::Missing(format!("no member `{user}`"))
    }

    /// Checks the conditions that do not depend on stored rows: the conditions of [`Member::check`], and the role of an editor who removes a member.
    fn check(&self) -> Result<(), StoreError> {
        match self {
            // `WorkspaceSettings::decide` checks the author in the transaction.
            Self::PutWorkspace { .. } => Ok(()),
            Self::PutMember { member, editor, .. } => member.check(editor),
            Self::RemoveMember {
                workspace, editor, ..
            } => editor.require_in(workspace, MemberRole::Admin, "remove a member"),
        }
    }
}

impl<T: PartialEq> Expected<Box<T>> {
    /// Applies [`check`](Expected::check) to a row that is not in a box.
    pub(crate) fn check_row(&self, stored: Option<&T>) -> Result<(), StoreError> {
        match self {
            Self::Any => Ok(()),
            Self::Same(read) => Expected::Same(read.as_deref()).check(stored.as_ref()),
        }
    }
}

/// The contents that an operator erases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasedContents {
    /// The contents of one thread.
    Thread(ThreadId),
    /// The contents of one user in one workspace. The messages of threads are erased only with the thread.
    Principal {
        /// The workspace of the user.
        workspace: Workspace,
        /// The user whose contents are erased.
        principal: String,
    },
}

impl From<Erasure<'_>> for ErasedContents {
    fn from(of: Erasure<'_>) -> Self {
        match of {
            Erasure::Thread(thread) => Self::Thread(thread.clone()),
            Erasure::Principal {
                workspace,
                principal,
            } => Self::Principal {
                workspace: workspace.clone(),
                principal: principal.to_owned(),
            },
        }
    }
}

impl ErasedContents {
    /// Returns the argument of [`Maintenance::erase_contents`](super::Maintenance::erase_contents) that erases these contents.
    pub fn erasure(&self) -> Erasure<'_> {
        match self {
            Self::Thread(thread) => Erasure::Thread(thread),
            Self::Principal {
                workspace,
                principal,
            } => Erasure::Principal {
                workspace,
                principal,
            },
        }
    }

    /// Returns the workspace of the contents.
    pub fn workspace(&self) -> &Workspace {
        match self {
            Self::Thread(thread) => thread.workspace(),
            Self::Principal { workspace, .. } => workspace,
        }
    }
}

/// Checks a change without the stored rows. A change of rows of a different workspace fails with `Missing`, like a change of rows that do not exist.
pub(super) fn check(change: &super::Change, own: &Workspace) -> Result<(), StoreError> {
    use super::Change;
    match change {
        Change::Instance(change) if change.instance().workspace() != own => {
            Err(InstanceChange::missing(change.instance()))
        }
        Change::Vault(change) if !change.is_in(own) => Err(StoreError::Missing(
            "no such value in the workspace".to_owned(),
        )),
        Change::Vault(VaultChange::PutSecret(row)) => row.check(),
        Change::Directory(change) if change.workspace() != own => Err(StoreError::Missing(
            format!("no workspace `{}`", change.workspace()),
        )),
        Change::Directory(change) => change.check(),
        Change::Record(change) if change.workspace() != own => Err(change.missing()),
        Change::Record(change) => change.check(),
        Change::Erase(contents) if contents.workspace() != own => Err(StoreError::Missing(
            format!("no workspace `{}`", contents.workspace()),
        )),
        _ => Ok(()),
    }
}
