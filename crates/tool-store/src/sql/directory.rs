//! Rows and statements of workspaces and members.

use crate::store::{
    Changed, DirectoryChange, Editor, Member, MemberRole, RetentionTier, StoreError, Workspace,
    WorkspaceSettings,
};

use super::columns::{Columns, SqlRow};
use super::statement::{RowOf, SqlChange, SqlDatabase, SqlReader, Statement, Value};

/// Reads a row of the table `workspace`.
fn read_settings(row: &impl SqlRow) -> Result<WorkspaceSettings, StoreError> {
    let columns = Columns::new(row, "workspace", "workspace");
    Ok(WorkspaceSettings {
        default_runtime_user: columns.maybe("default_runtime_user")?,
        retention_tier: columns.word("retention_tier", RetentionTier::from_word)?,
        updated_at: columns.time("updated_at")?,
        ..WorkspaceSettings::new(columns.workspace()?, columns.time("created_at")?)
    })
}

/// Reads a row of the table `member`.
fn read_member(row: &impl SqlRow) -> Result<Member, StoreError> {
    let columns = Columns::new(row, "member", "member");
    Ok(Member::new(
        columns.workspace()?,
        columns.get::<String>("member")?,
        columns.word("role", MemberRole::from_word)?,
        columns.time("at")?,
    ))
}

fn select_settings<DB: SqlDatabase>() -> Statement<DB> {
    Statement::select(
        "workspace, default_runtime_user, retention_tier, created_at, updated_at",
        "workspace",
    )
}

fn select_members<DB: SqlDatabase>(workspace: &Workspace) -> Statement<DB> {
    let mut query = Statement::select("workspace, member, role, at", "member");
    query.push("workspace = ").bind(workspace.as_str());
    query
}

/// Returns the query for a page of workspaces.
pub(crate) fn list_workspaces<DB: SqlDatabase>(
    after: Option<&Workspace>,
    most: u32,
) -> Statement<DB> {
    let mut query = select_settings();
    match after {
        Some(after) => query.push("workspace > ").bind(after.as_str()),
        None => query.push("TRUE"),
    };
    query.push(" ORDER BY workspace").limit(Some(most));
    query
}

/// Returns the query for a page of members.
pub(crate) fn list_members<DB: SqlDatabase>(
    workspace: &Workspace,
    after: Option<&str>,
    most: u32,
) -> Statement<DB> {
    let mut query = select_members(workspace);
    if let Some(after) = after {
        query.push(" AND member > ").bind(after);
    }
    query.push(" ORDER BY member").limit(Some(most));
    query
}

fn all_members<R: SqlReader>(rows: &[RowOf<R>]) -> Result<Vec<Member>, R::Fault> {
    Ok(rows.iter().map(read_member).collect::<Result<_, _>>()?)
}

/// Returns the settings of a workspace.
pub(crate) async fn settings<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
) -> Result<Option<WorkspaceSettings>, R::Fault> {
    let rows = db.read(|| {
        let mut query = select_settings();
        query.push("workspace = ").bind(workspace.as_str());
        query
    });
    Ok(rows.await?.first().map(read_settings).transpose()?)
}

/// Implements [`Directory::workspaces`](crate::store::Directory::workspaces).
pub(crate) async fn workspaces<R: SqlReader>(
    db: &mut R,
    after: Option<&Workspace>,
    most: u32,
) -> Result<Vec<WorkspaceSettings>, R::Fault> {
    let rows = db.read(|| list_workspaces(after, most)).await?;
    Ok(rows.iter().map(read_settings).collect::<Result<_, _>>()?)
}

/// Returns a member of a workspace.
pub(crate) async fn member<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    user: &str,
) -> Result<Option<Member>, R::Fault> {
    Ok(members_named(db, workspace, &[user]).await?.pop())
}

/// Returns the members among these users. `users` must not be empty.
pub(crate) async fn members_named<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    users: &[&str],
) -> Result<Vec<Member>, R::Fault> {
    let rows = db.read(|| {
        let mut query = select_members(workspace);
        for (place, user) in users.iter().enumerate() {
            let before = if place == 0 { " AND member IN (" } else { ", " };
            query.push(before).bind(*user);
        }
        query.push(")");
        query
    });
    all_members::<R>(&rows.await?)
}

/// Implements [`Directory::members`](crate::store::Directory::members).
pub(crate) async fn members<R: SqlReader>(
    db: &mut R,
    workspace: &Workspace,
    after: Option<&str>,
    most: u32,
) -> Result<Vec<Member>, R::Fault> {
    let rows = db.read(|| list_members(workspace, after, most)).await?;
    all_members::<R>(&rows)
}

/// Implements [`Directory::put_workspace`](crate::store::Directory::put_workspace).
pub(crate) async fn put_workspace<C: SqlChange>(
    db: &mut C,
    new: WorkspaceSettings,
    editor: &Editor,
) -> Result<WorkspaceSettings, C::Fault> {
    let stored = settings(db, &new.workspace).await?;
    let user = match &new.default_runtime_user {
        Some(user) => member(db, &new.workspace, user).await?,
        None => None,
    };
    let new = new.decide(editor, stored.as_ref(), user.as_ref())?;
    let values: [(_, Value); 5] = [
        ("workspace", new.workspace.as_str().into()),
        ("default_runtime_user", (&new.default_runtime_user).into()),
        ("retention_tier", new.retention_tier.as_str().into()),
        ("created_at", new.created_at.into()),
        ("updated_at", new.updated_at.into()),
    ];
    let changed = ["default_runtime_user", "retention_tier", "updated_at"];
    db.write(Statement::insert("workspace", values).or_update("workspace", &changed))
        .await?;
    Ok(new)
}

/// Implements [`Directory::put_member`](crate::store::Directory::put_member), after [`Member::check`].
pub(crate) async fn put_member<C: SqlChange>(db: &mut C, member: &Member) -> Result<(), C::Fault> {
    let values: [(_, Value); 4] = [
        ("workspace", member.workspace.as_str().into()),
        ("member", (&member.user).into()),
        ("role", member.role.as_str().into()),
        ("at", member.at.into()),
    ];
    let put = Statement::insert("member", values).or_update("workspace, member", &["role", "at"]);
    db.write(put).await?;
    Ok(())
}

/// Implements [`Directory::remove_member`](crate::store::Directory::remove_member), after the check that the editor is an admin.
pub(crate) async fn remove_member<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    user: &str,
) -> Result<bool, C::Fault> {
    let mut removal = Statement::delete("member");
    removal.push("workspace = ").bind(workspace.as_str());
    removal.narrow("member", Some(user));
    Ok(db.write(removal).await? > 0)
}

/// Changes a workspace or its members.
pub(crate) async fn change<C: SqlChange>(
    db: &mut C,
    change: DirectoryChange,
) -> Result<Changed, C::Fault> {
    match change {
        DirectoryChange::PutWorkspace {
            settings: new,
            editor,
            expected,
        } => {
            let stored = settings(db, &new.workspace).await?;
            expected.check_row(stored.as_ref())?;
            let put = put_workspace(db, *new, &editor).await?;
            return Ok(Changed::Workspace(Box::new(put)));
        }
        DirectoryChange::PutMember {
            member: new,
            expected,
            ..
        } => {
            let stored = member(db, &new.workspace, &new.user).await?;
            expected.check(stored.as_ref())?;
            put_member(db, &new).await?;
        }
        DirectoryChange::RemoveMember {
            workspace,
            user,
            expected,
            ..
        } => {
            let stored = member(db, &workspace, &user).await?;
            expected.check(stored.as_ref())?;
            if !remove_member(db, &workspace, &user).await? {
                return Err(DirectoryChange::missing_member(&user).into());
            }
        }
    }
    Ok(Changed::Row { changed: true })
}
