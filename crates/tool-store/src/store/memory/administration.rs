//! In-memory changes that operators make to instances, the vault, workspaces and members.

use super::Tables;
use crate::store::{Changed, DirectoryChange, InstanceChange, StoreError, VaultChange};

impl Tables {
    /// Applies a change of an instance.
    pub(super) fn change_instance(
        &mut self,
        change: InstanceChange,
    ) -> Result<Changed, StoreError> {
        Ok(match change {
            InstanceChange::Add { instance, at } => Changed::Row {
                changed: self.add_instance(&instance, at),
            },
            InstanceChange::Remove { instance } => {
                if !self.remove_instance(&instance) {
                    return Err(InstanceChange::missing(&instance));
                }
                Changed::Row { changed: true }
            }
            InstanceChange::Enable {
                instance,
                tool,
                by,
                at,
            } => {
                let changed = self.enable(&instance, &tool, &by, at)?;
                Changed::Enablement { tool, changed }
            }
            InstanceChange::Disable { instance, tool, by } => {
                let changed = self.disable(&instance, &tool, &by)?;
                Changed::Enablement { tool, changed }
            }
            InstanceChange::EnableSkill {
                instance,
                skill,
                by,
                at,
            } => Changed::Skill(self.pin(&instance, &skill, &by, at)?),
            InstanceChange::DisableSkill {
                instance,
                skill,
                by,
            } => Changed::Skill(self.unpin(&instance, &skill, &by)?),
        })
    }

    /// Changes secrets, variables or keys.
    pub(super) fn change_vault(&mut self, change: VaultChange) -> Result<Changed, StoreError> {
        match change {
            VaultChange::PutSecret(row) => self.put_secret(*row)?,
            VaultChange::RemoveSecret { workspace, name } => {
                if !self.secrets.remove(&workspace, &name) {
                    return Err(VaultChange::missing_secret(&name));
                }
            }
            VaultChange::PutVariables(rows) => self.put_variables(rows)?,
            VaultChange::RemoveVariable { scope, name } => {
                if !self.variables.remove(&scope, &name) {
                    return Err(VaultChange::missing_variable(&name));
                }
            }
            VaultChange::AnswerRequest {
                workspace,
                id,
                rows,
            } => {
                let missing = self.answer_request(&workspace, &id, rows)?;
                return Ok(Changed::Answered { missing });
            }
            VaultChange::RetireKey { key, at } => self.retire_key(&key, at)?,
        }
        Ok(Changed::Row { changed: true })
    }

    /// Changes a workspace or its members.
    pub(super) fn change_directory(
        &mut self,
        change: DirectoryChange,
    ) -> Result<Changed, StoreError> {
        match change {
            DirectoryChange::PutWorkspace {
                settings,
                editor,
                expected,
            } => {
                expected.check_row(self.people.settings(&settings.workspace))?;
                let settings = self.people.put_workspace(*settings, &editor)?;
                return Ok(Changed::Workspace(Box::new(settings)));
            }
            DirectoryChange::PutMember {
                member, expected, ..
            } => {
                expected.check(self.people.member(&member.workspace, &member.user))?;
                self.people.put_member(member);
            }
            DirectoryChange::RemoveMember {
                workspace,
                user,
                expected,
                ..
            } => {
                expected.check(self.people.member(&workspace, &user))?;
                if !self.people.remove_member(&workspace, &user) {
                    return Err(DirectoryChange::missing_member(&user));
                }
            }
        }
        Ok(Changed::Row { changed: true })
    }
}
