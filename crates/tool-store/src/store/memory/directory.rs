//! In-memory store of workspaces and members.

use std::collections::BTreeMap;

use super::{MemoryStore, limited};
use crate::store::{
    Directory, Editor, Member, MemberRole, RetentionTier, StoreError, StoreFuture, Workspace,
    WorkspaceSettings,
};

#[derive(Default)]
pub(super) struct People {
    workspaces: BTreeMap<Workspace, WorkspaceSettings>,
    members: BTreeMap<(Workspace, String), Member>,
}

impl People {
    pub(super) fn settings(&self, workspace: &Workspace) -> Option<&WorkspaceSettings> {
        self.workspaces.get(workspace)
    }

    /// Returns the retention tier for deleted tools of an owner.
    pub(super) fn tier(&self, owner: Option<&Workspace>) -> RetentionTier {
        let settings = owner.and_then(|workspace| self.settings(workspace));
        settings.map_or_else(RetentionTier::default, |settings| settings.retention_tier)
    }

    pub(super) fn member(&self, workspace: &Workspace, user: &str) -> Option<&Member> {
        self.members.get(&(workspace.clone(), user.to_owned()))
    }

    pub(super) fn put_workspace(
        &mut self,
        settings: WorkspaceSettings,
        editor: &Editor,
    ) -> Result<WorkspaceSettings, StoreError> {
        let stored = self.workspaces.get(&settings.workspace);
        let user = settings.default_runtime_user.as_deref();
        let member = user.and_then(|user| self.member(&settings.workspace, user));
        let settings = settings.decide(editor, stored, member)?;
        let key = settings.workspace.clone();
        self.workspaces.insert(key, settings.clone());
        Ok(settings)
    }

    /// Stores a member that the caller has checked, in place of the stored member with the same user.
    pub(super) fn put_member(&mut self, member: Member) {
        let key = (member.workspace.clone(), member.user.clone());
        self.members.insert(key, member);
    }

    pub(super) fn remove_member(&mut self, workspace: &Workspace, user: &str) -> bool {
        let key = (workspace.clone(), user.to_owned());
        self.members.remove(&key).is_some()
    }
}

impl Directory for MemoryStore {
    fn put_workspace<'a>(
        &'a self,
        settings: WorkspaceSettings,
        editor: &'a Editor,
    ) -> StoreFuture<'a, WorkspaceSettings> {
        self.step(move |tables| tables.people.put_workspace(settings, editor))
    }

    fn workspace_settings<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> StoreFuture<'a, Option<WorkspaceSettings>> {
        self.step(move |tables| Ok(tables.people.settings(workspace).cloned()))
    }

    fn workspaces<'a>(
        &'a self,
        after: Option<&'a Workspace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<WorkspaceSettings>> {
        self.step(move |tables| {
            let all = tables.people.workspaces.values();
            let past = all.filter(|one| after.is_none_or(|after| one.workspace > *after));
            Ok(past.take(limited(Some(most))).cloned().collect())
        })
    }

    fn put_member<'a>(&'a self, member: Member, editor: &'a Editor) -> StoreFuture<'a, ()> {
        self.step(move |tables| {
            member.check(editor)?;
            tables.people.put_member(member);
            Ok(())
        })
    }

    fn remove_member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
        editor: &'a Editor,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            editor.require_in(workspace, MemberRole::Admin, "remove a member")?;
            Ok(tables.people.remove_member(workspace, user))
        })
    }

    fn member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
    ) -> StoreFuture<'a, Option<Member>> {
        self.step(move |tables| Ok(tables.people.member(workspace, user).cloned()))
    }

    fn members<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<Member>> {
        self.step(move |tables| {
            let all = tables.people.members.values();
            let own = all.filter(|member| {
                member.workspace == *workspace && after.is_none_or(|after| *member.user > *after)
            });
            Ok(own.take(limited(Some(most))).cloned().collect())
        })
    }
}
