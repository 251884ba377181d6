//! Workspaces and members in PostgreSQL.

use crate::sql::directory as shared;
use crate::store::{
    Directory, Editor, Member, MemberRole, StoreFuture, Workspace, WorkspaceSettings,
};

use super::change::change;
use super::stored_tool::lock;
use super::{PostgresStore, step};

impl Directory for PostgresStore {
    fn put_workspace<'a>(
        &'a self,
        settings: WorkspaceSettings,
        editor: &'a Editor,
    ) -> StoreFuture<'a, WorkspaceSettings> {
        step(async move {
            // The change reads the settings before it writes them, so it locks the workspace.
            let locks = || vec![lock(Some(&settings.workspace))];
            change!(self, locks(), db => shared::put_workspace(db, settings.clone(), editor).await)
        })
    }

    fn workspace_settings<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> StoreFuture<'a, Option<WorkspaceSettings>> {
        step(async move { shared::settings(&mut &*self, workspace).await })
    }

    fn workspaces<'a>(
        &'a self,
        after: Option<&'a Workspace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<WorkspaceSettings>> {
        step(async move { shared::workspaces(&mut &*self, after, most).await })
    }

    fn put_member<'a>(&'a self, member: Member, editor: &'a Editor) -> StoreFuture<'a, ()> {
        step(async move {
            member.check(editor)?;
            let locks = || vec![lock(Some(&member.workspace))];
            change!(self, locks(), db => shared::put_member(db, &member).await)
        })
    }

    fn remove_member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
        editor: &'a Editor,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            editor.require_in(workspace, MemberRole::Admin, "remove a member")?;
            let locks = || vec![lock(Some(workspace))];
            change!(self, locks(), db => shared::remove_member(db, workspace, user).await)
        })
    }

    fn member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
    ) -> StoreFuture<'a, Option<Member>> {
        step(async move { shared::member(&mut &*self, workspace, user).await })
    }

    fn members<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<Member>> {
        step(async move { shared::members(&mut &*self, workspace, after, most).await })
    }
}
