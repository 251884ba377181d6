//! Workspaces and members in SQLite.

use crate::store::{
    Directory, Editor, Member, MemberRole, RetentionTier, StoreError, StoreFuture, Workspace,
    WorkspaceSettings,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Executor, QueryBuilder, Sqlite};

use super::columns::Columns;
use super::{Fault, SqliteStore, step};

const SETTINGS: &str = "SELECT workspace, default_runtime_user, retention_tier, created_at, updated_at FROM workspace WHERE ";
const MEMBERS: &str = "SELECT workspace, member, role, at FROM member WHERE workspace = ";

fn read_settings(row: &SqliteRow) -> Result<WorkspaceSettings, StoreError> {
    let columns = Columns::new(row, "workspace", "workspace");
    let name: &str = columns.get("workspace")?;
    Ok(WorkspaceSettings {
        default_runtime_user: columns.maybe("default_runtime_user")?,
        retention_tier: columns.word("retention_tier", RetentionTier::from_word)?,
        updated_at: columns.time("updated_at")?,
        ..WorkspaceSettings::new(name, columns.time("created_at")?)
    })
}

fn read_member(row: &SqliteRow) -> Result<Member, StoreError> {
    let columns = Columns::new(row, "member", "member");
    Ok(Member::new(
        columns.get::<&str>("workspace")?,
        columns.get::<String>("member")?,
        columns.word("role", MemberRole::from_word)?,
        columns.time("at")?,
    ))
}

pub(super) async fn settings(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: &Workspace,
) -> Result<Option<WorkspaceSettings>, Fault> {
    let mut query = QueryBuilder::<Sqlite>::new(SETTINGS);
    query
        .push("workspace = ")
        .push_bind(workspace.as_str().to_owned());
    let row = query.build().fetch_optional(db).await?;
    Ok(row.as_ref().map(read_settings).transpose()?)
}

pub(super) async fn member(
    db: impl Executor<'_, Database = Sqlite>,
    workspace: &Workspace,
    user: &str,
) -> Result<Option<Member>, Fault> {
    let mut query = QueryBuilder::<Sqlite>::new(MEMBERS);
    query.push_bind(workspace.as_str().to_owned());
    query.push(" AND member = ").push_bind(user.to_owned());
    let row = query.build().fetch_optional(db).await?;
    Ok(row.as_ref().map(read_member).transpose()?)
}

async fn put_settings(
    db: &mut SqliteConnection,
    new: WorkspaceSettings,
    editor: &Editor,
) -> Result<WorkspaceSettings, Fault> {
    let stored = settings(&mut *db, &new.workspace).await?;
    let user = match &new.default_runtime_user {
        Some(user) => member(&mut *db, &new.workspace, user).await?,
        None => None,
    };
    let new = new.decide(editor, stored.as_ref(), user.as_ref())?;
    sqlx::query(
        "INSERT INTO workspace (workspace, default_runtime_user, retention_tier, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (workspace) DO UPDATE SET default_runtime_user = excluded.default_runtime_user,
         retention_tier = excluded.retention_tier, updated_at = excluded.updated_at",
    )
    .bind(new.workspace.as_str())
    .bind(&new.default_runtime_user)
    .bind(new.retention_tier.as_str())
    .bind(new.created_at.as_millis())
    .bind(new.updated_at.as_millis())
    .execute(db)
    .await?;
    Ok(new)
}

impl Directory for SqliteStore {
    fn put_workspace<'a>(
        &'a self,
        settings: WorkspaceSettings,
        editor: &'a Editor,
    ) -> StoreFuture<'a, WorkspaceSettings> {
        let editor = editor.clone();
        step(
            self.change(move |db| {
                Box::pin(async move { put_settings(db, settings, &editor).await })
            }),
        )
    }

    fn workspace_settings<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> StoreFuture<'a, Option<WorkspaceSettings>> {
        step(settings(&self.readers, workspace))
    }

    fn workspaces<'a>(
        &'a self,
        after: Option<&'a Workspace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<WorkspaceSettings>> {
        step(async move {
            let mut query = QueryBuilder::<Sqlite>::new(SETTINGS);
            match after {
                Some(after) => query.push("workspace > ").push_bind(after.as_str()),
                None => query.push("TRUE"),
            };
            query.push(" ORDER BY workspace LIMIT ").push_bind(most);
            let rows = query.build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read_settings).collect::<Result<_, _>>()?)
        })
    }

    fn put_member<'a>(&'a self, member: Member, editor: &'a Editor) -> StoreFuture<'a, ()> {
        step(async move {
            member.check(editor)?;
            let query = sqlx::query(
                "INSERT INTO member (workspace, member, role, at) VALUES (?, ?, ?, ?)
                 ON CONFLICT (workspace, member) DO UPDATE SET role = excluded.role, at = excluded.at",
            );
            let query = query
                .bind(member.workspace.as_str().to_owned())
                .bind(member.user)
                .bind(member.role.as_str())
                .bind(member.at.as_millis());
            self.update(query).await.map(drop)
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
            let query = sqlx::query("DELETE FROM member WHERE workspace = ? AND member = ?");
            let query = query
                .bind(workspace.as_str().to_owned())
                .bind(user.to_owned());
            Ok(self.update(query).await? > 0)
        })
    }

    fn member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
    ) -> StoreFuture<'a, Option<Member>> {
        step(member(&self.readers, workspace, user))
    }

    fn members<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<Member>> {
        step(async move {
            let mut query = QueryBuilder::<Sqlite>::new(MEMBERS);
            query.push_bind(workspace.as_str());
            if let Some(after) = after {
                query.push(" AND member > ").push_bind(after);
            }
            query.push(" ORDER BY member LIMIT ").push_bind(most);
            let rows = query.build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read_member).collect::<Result<_, _>>()?)
        })
    }
}
