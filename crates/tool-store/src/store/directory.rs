//! The directory of a host: workspaces with their settings, and their members with roles.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{StoreError, StoreFuture, Timestamp, Workspace, words};

/// How long a deleted tool is kept. The deletion copies the tier of the workspace into the tool, so a later change of the workspace does not change
/// when the tool is removed.
///
/// ```
/// use tool_store::{RetentionTier, Timestamp};
///
/// let deleted = Timestamp::from_millis(0);
/// assert_eq!(RetentionTier::Short.due(deleted), Some(Timestamp::from_millis(7 * 86_400_000)));
/// assert_eq!(RetentionTier::None.due(deleted), None);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RetentionTier {
    /// Deleted tools are kept for 7 days.
    Short,
    /// Deleted tools are kept for 30 days. This is the tier of a workspace without settings.
    #[default]
    Medium,
    /// Deleted tools are kept for 90 days.
    Long,
    /// Deleted tools are never removed.
    None,
}

words!(RetentionTier {
    Short = "short",
    Medium = "medium",
    Long = "long",
    None = "none",
});

impl RetentionTier {
    /// Returns the number of days; `None` if deleted tools are never removed.
    pub const fn days(self) -> Option<u32> {
        match self {
            Self::Short => Some(7),
            Self::Medium => Some(30),
            Self::Long => Some(90),
            Self::None => None,
        }
    }

    /// Returns the time from which [`StoredToolStore::purge_tools`](super::StoredToolStore::purge_tools) removes a tool that was deleted at
    /// `deleted`; `None` if the tool is never removed.
    pub fn due(self, deleted: Timestamp) -> Option<Timestamp> {
        let day = Duration::from_hours(24);
        self.days().map(|days| deleted.plus(day * days))
    }
}

/// The role of a member in a workspace. [`includes`](Self::includes) defines the other roles whose rights a role has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberRole {
    /// May read the workspace.
    Viewer,
    /// May also answer approvals.
    Approver,
    /// May also do everything that an approver may do, and operate the workspace, for example cancel runs, settle effects, set switches, enable and
    /// disable tools, and bind tools to agents.
    Operator,
    /// May also create, change and delete tools and functions, enable and disable tools, and bind tools to agents. An author may not answer
    /// approvals, so no author approves calls of the author's own tools.
    Author,
    /// May do everything in a workspace, including changes of members, settings, runtime users and effects.
    Admin,
}

words!(MemberRole {
    Viewer = "viewer",
    Approver = "approver",
    Operator = "operator",
    Author = "author",
    Admin = "admin",
});

impl MemberRole {
    /// Returns whether this role includes the rights of the role `needed`.
    ///
    /// ```
    /// use tool_store::MemberRole;
    ///
    /// assert!(MemberRole::Operator.includes(MemberRole::Approver));
    /// assert!(!MemberRole::Author.includes(MemberRole::Approver));
    /// ```
    pub fn includes(self, needed: Self) -> bool {
        self == needed
            || match self {
                Self::Admin => true,
                Self::Operator => matches!(needed, Self::Viewer | Self::Approver),
                Self::Approver | Self::Author => needed == Self::Viewer,
                Self::Viewer => false,
            }
    }
}

/// A workspace and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkspaceSettings {
    /// The name of the workspace.
    pub workspace: Workspace,
    /// The user that stored tools run as if neither the tool nor its function has a runtime user. The user must be a member.
    pub default_runtime_user: Option<String>,
    /// How long deleted tools are kept.
    pub retention_tier: RetentionTier,
    /// When the workspace was added. Later writes do not change this time.
    pub created_at: Timestamp,
    /// When the settings were last written.
    pub updated_at: Timestamp,
}

impl WorkspaceSettings {
    /// Creates the default settings of a workspace.
    pub fn new(workspace: impl Into<Workspace>, at: Timestamp) -> Self {
        Self {
            workspace: workspace.into(),
            default_runtime_user: None,
            retention_tier: RetentionTier::default(),
            created_at: at,
            updated_at: at,
        }
    }

    /// Checks the settings before they are written, and returns the settings to write. `stored` are the stored settings, and `member` is the
    /// membership of the default runtime user. Fails with `Missing` if the editor is a member of a different workspace, with `Forbidden` if the
    /// editor is not an admin of the workspace, and with `Conflict` if the default runtime user changes to a user who is not a member.
    pub fn decide(
        self,
        editor: &Editor,
        stored: Option<&Self>,
        member: Option<&Member>,
    ) -> Result<Self, StoreError> {
        editor.require_in(&self.workspace, MemberRole::Admin, "change its settings")?;
        let before = stored.and_then(|stored| stored.default_runtime_user.as_ref());
        if let Some(user) = &self.default_runtime_user
            && before != Some(user)
        {
            Member::check_runtime_user(user, member)?;
        }
        Ok(Self {
            created_at: stored.map_or(self.created_at, |stored| stored.created_at),
            ..self
        })
    }
}

/// A member of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Member {
    /// The workspace of the member.
    pub workspace: Workspace,
    /// The user who is a member.
    pub user: String,
    /// The role of the user in the workspace.
    pub role: MemberRole,
    /// When the role was assigned.
    pub at: Timestamp,
}

impl Member {
    /// Creates a member with a role.
    pub fn new(
        workspace: impl Into<Workspace>,
        user: impl Into<String>,
        role: MemberRole,
        at: Timestamp,
    ) -> Self {
        Self {
            workspace: workspace.into(),
            user: user.into(),
            role,
            at,
        }
    }

    /// Checks a member before it is written. Fails with `Missing` if the editor is a member of a different workspace, with `Forbidden` if the editor
    /// is not an admin of the workspace or assigns a role that the editor's own role does not include, and with `Conflict` if the user has no name.
    pub fn check(&self, editor: &Editor) -> Result<(), StoreError> {
        editor.require_in(&self.workspace, MemberRole::Admin, "change its members")?;
        editor.require(self.role, "give this role to a member")?;
        if self.user.is_empty() {
            let text = "a member has no name, give the name of a user";
            return Err(StoreError::Conflict(text.to_owned()));
        }
        Ok(())
    }

    /// Fails with `Conflict` if a runtime user is not a member. `member` is the stored membership of the user.
    pub fn check_runtime_user(user: &str, member: Option<&Self>) -> Result<(), StoreError> {
        if member.is_some_and(|member| member.user == user) {
            return Ok(());
        }
        Err(StoreError::Conflict(format!(
            "the runtime user `{user}` is not a member of the workspace, add the user as a member or choose a member"
        )))
    }
}

/// The author of a change: the host's own program, or a member of a workspace.
///
/// ```
/// use tool_store::{Editor, MemberRole, Workspace};
///
/// let olga = Editor::member("acme", "olga", MemberRole::Author);
/// assert!(olga.require(MemberRole::Author, "create a tool").is_ok());
/// assert!(olga.require(MemberRole::Admin, "set a runtime user").is_err());
/// assert_eq!(olga.owner(), Some(&Workspace::new("acme")));
/// assert_eq!(Editor::System.owner(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Editor {
    /// The program of the host, which owns the system tools and system functions. Never use it for the request of a user.
    System,
    /// A member of a workspace.
    Member {
        /// The workspace in which the member acts.
        workspace: Workspace,
        /// The user who makes the change.
        user: String,
        /// The role of the user in the workspace, which the caller has authenticated.
        role: MemberRole,
    },
}

impl Editor {
    /// Creates an editor that is a member of a workspace, with an authenticated role.
    pub fn member(
        workspace: impl Into<Workspace>,
        user: impl Into<String>,
        role: MemberRole,
    ) -> Self {
        Self::Member {
            workspace: workspace.into(),
            user: user.into(),
            role,
        }
    }

    /// Returns the owner of the rows that the editor creates; `None` for system rows.
    pub fn owner(&self) -> Option<&Workspace> {
        match self {
            Self::System => None,
            Self::Member { workspace, .. } => Some(workspace),
        }
    }

    /// Returns the user; `None` for the program itself.
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::System => None,
            Self::Member { user, .. } => Some(user),
        }
    }

    /// Fails with `Forbidden` if the editor is a member whose role does not include `role`. `what` completes the sentence "the role … is required to
    /// …".
    pub fn require(&self, role: MemberRole, what: &str) -> Result<(), StoreError> {
        self.require_any(&[role], what)
    }

    /// Fails with `Forbidden` if the editor is a member whose role includes none of `roles`. `what` completes the sentence "the role … is required to
    /// …".
    pub fn require_any(&self, roles: &[MemberRole], what: &str) -> Result<(), StoreError> {
        let Self::Member { role: own, .. } = self else {
            return Ok(());
        };
        if roles.iter().any(|role| own.includes(*role)) {
            return Ok(());
        }
        let roles: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
        Err(StoreError::Forbidden(format!(
            "the role `{}` is required to {what}, and the caller has the role `{own}`",
            roles.join("` or `")
        )))
    }

    /// Works like [`require`](Self::require), but for a change of a workspace itself, and also fails with `Missing` if the editor is a member of a
    /// different workspace. The program of the host may change every workspace.
    pub fn require_in(
        &self,
        workspace: &Workspace,
        role: MemberRole,
        what: &str,
    ) -> Result<(), StoreError> {
        if self.owner().is_some_and(|own| own != workspace) {
            return Err(StoreError::Missing(format!("no workspace `{workspace}`")));
        }
        self.require(role, what)
    }

    /// Returns whether the editor may read a row: a member may read rows of the workspace and system rows, and the program may read system rows.
    pub fn sees(&self, owner: Option<&Workspace>) -> bool {
        owner.is_none() || owner == self.owner()
    }

    /// Checks whether the editor may change a row of an owner. `what` is the name of the row in errors. Fails with `Missing` for a row of a different
    /// workspace and, if the editor is the program, of any workspace, and with `Forbidden` for a system row, which no member may change.
    pub fn check_owner(&self, owner: Option<&Workspace>, what: &str) -> Result<(), StoreError> {
        if owner == self.owner() {
            Ok(())
        } else if owner.is_none() {
            Err(StoreError::Forbidden(format!(
                "{what} belongs to the system, so no member may change or delete it"
            )))
        } else {
            Err(StoreError::Missing(format!("no {what}")))
        }
    }
}

/// A store of workspaces and members.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, now) = (MemoryStore::default(), Timestamp::now());
/// store.put_workspace(WorkspaceSettings::new("acme", now), &Editor::System).await?;
/// store.put_member(Member::new("acme", "olga", MemberRole::Admin, now), &Editor::System).await?;
///
/// let olga = Editor::member("acme", "olga", MemberRole::Admin);
/// let mut settings = WorkspaceSettings::new("acme", now);
/// settings.default_runtime_user = Some("robot".to_owned());
/// assert!(store.put_workspace(settings.clone(), &olga).await.is_err(), "the robot is not a member");
/// store.put_member(Member::new("acme", "robot", MemberRole::Viewer, now), &olga).await?;
/// store.put_workspace(settings, &olga).await?;
/// # Ok(())
/// # }
/// ```
pub trait Directory: Send + Sync + 'static {
    /// Writes the settings that [`WorkspaceSettings::decide`] returns, and returns them. Fails if `decide` fails.
    fn put_workspace<'a>(
        &'a self,
        settings: WorkspaceSettings,
        editor: &'a Editor,
    ) -> StoreFuture<'a, WorkspaceSettings>;

    /// Returns the settings of a workspace.
    fn workspace_settings<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> StoreFuture<'a, Option<WorkspaceSettings>>;

    /// Returns the workspaces that have settings, ordered by name: at most `most`, and only workspaces after `after`.
    fn workspaces<'a>(
        &'a self,
        after: Option<&'a Workspace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<WorkspaceSettings>>;

    /// Adds a member or changes the role of a member. Fails in the same cases as [`Member::check`].
    fn put_member<'a>(&'a self, member: Member, editor: &'a Editor) -> StoreFuture<'a, ()>;

    /// Removes a member. Returns false if the user is not a member. Later calls of tools with this runtime user are refused. Fails with `Missing` if
    /// the editor is a member of a different workspace, and with `Forbidden` if the editor is not an admin of the workspace.
    fn remove_member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
        editor: &'a Editor,
    ) -> StoreFuture<'a, bool>;

    /// Returns a member of a workspace.
    fn member<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
    ) -> StoreFuture<'a, Option<Member>>;

    /// Returns the members of a workspace, ordered by user: at most `most`, and only users after `after`.
    fn members<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<Member>>;
}
