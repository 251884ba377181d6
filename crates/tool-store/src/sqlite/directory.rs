//! Workspaces and members in SQLite.

use crate::sql::directory as shared;
use crate::store::{
    Directory, Editor, Member, MemberRole, StoreFuture, Workspace, WorkspaceSettings,
};

use super::{SqliteStore, step};

impl Directory for SqliteStore {
    fn put_workspace<'a>(
        &'a self,
        settings: WorkspaceSettings,
        editor: &'a Editor,
    ) -> StoreFuture<'a, WorkspaceSettings> {
        let editor = editor.clone();
        step(self.change(move |db| {
            Box::pin(async move { shared::put_workspace(db, settings, &editor).await })
        }))
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
            let put = self
                .change(move |db| Box::pin(async move { shared::put_member(db, &member).await }));
            put.await
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
            let (workspace, user) = (workspace.clone(), user.to_owned());
            let removed = self.change(move |db| {
                Box::pin(async move { shared::remove_member(db, &workspace, &user).await })
            });
            removed.await
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
