//! `/v1/workspaces` and `/v1/workspace`: workspaces and their settings. `/v1/members`: the members of a workspace and their roles.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Changed, Directory, DirectoryChange, Editor, Expected, Member, MemberRole,
    RetentionTier, Timestamp, Workspace, WorkspaceSettings,
};
use utoipa::ToSchema;
use utoipa::openapi::Schema;
use utoipa_axum::routes;

use super::stored_tools::editor;
use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json, tag, tagged};
use crate::extract::{Body, Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paged};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "workspace";
const MEMBER: &str = "member";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::host(Role::Viewer), routes!(list_workspaces)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_workspace)))
        .routes(needs(Access::role(Role::Admin), routes!(write_workspace)))
        .routes(needs(Access::role(Role::Viewer), routes!(list_members)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_member)))
        .routes(needs(Access::role(Role::Admin), routes!(write_member)))
        .routes(needs(Access::role(Role::Admin), routes!(remove_member)))
}

fn tiers() -> Schema {
    one_of(RetentionTier::ALL.iter().map(|tier| tier.as_str()))
}

fn roles() -> Schema {
    one_of(MemberRole::ALL.iter().map(|role| role.as_str()))
}

/// A workspace and its settings.
#[derive(Serialize, ToSchema)]
struct WorkspaceRecord {
    workspace: String,
    /// The user as whom stored tools act if neither the tool nor its function has a runtime user.
    default_runtime_user: Option<String>,
    /// How long deleted tools are kept: `short` is 7 days, `medium` 30 days and `long` 90 days; `none` keeps them forever.
    #[schema(schema_with = tiers)]
    retention_tier: &'static str,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<&WorkspaceSettings> for WorkspaceRecord {
    fn from(settings: &WorkspaceSettings) -> Self {
        Self {
            workspace: settings.workspace.to_string(),
            default_runtime_user: settings.default_runtime_user.clone(),
            retention_tier: settings.retention_tier.as_str(),
            created_at: time::text(settings.created_at),
            updated_at: time::text(settings.updated_at),
        }
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Workspace(settings) => json(&WorkspaceRecord::from(&**settings)),
        _ => String::new(),
    }
}

/// Lists the workspaces of the host that have settings, by name.
#[utoipa::path(get, path = "/v1/workspaces", tag = "workspaces", params(Paged),
    responses((status = 200, description = "A page of workspaces", body = Page<WorkspaceRecord>)))]
async fn list_workspaces(State(admin): State<Shared>, Query(query): Query<Paged>) -> Answer {
    let paging = query.paging()?;
    let after = paging.after.as_deref().map(Workspace::new);
    let rows = Directory::workspaces(&*admin.store, after.as_ref(), paging.rows()).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |settings: &WorkspaceSettings| settings.workspace.to_string();
    let page = paging.page(rows, place, |settings| WorkspaceRecord::from(&settings));
    Ok(answer(json(&page)))
}

async fn settings(admin: &Inner, caller: &Caller) -> Result<Option<WorkspaceSettings>, Problem> {
    let settings = Directory::workspace_settings(&*admin.store, &caller.workspace).await;
    settings.map_err(|error| Problem::of_store(&error, WHAT))
}

/// Reads the settings of the workspace of the request.
#[utoipa::path(get, path = "/v1/workspace", tag = "workspaces",
    responses((status = 200, description = "The settings", body = WorkspaceRecord, headers(("ETag" = String, description = "The version of the settings"))),
        (status = 404, description = "The workspace has no settings", body = Problem, content_type = "application/problem+json")))]
async fn get_workspace(State(admin): State<Shared>, caller: Caller) -> Answer {
    let settings = settings(&admin, &caller).await?;
    let settings = settings.ok_or_else(|| Problem::missing(WHAT))?;
    Ok(tagged(json(&WorkspaceRecord::from(&settings))))
}

/// The settings of a workspace.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSettings {
    /// The user as whom stored tools act if neither the tool nor its function has a runtime user; a member of the workspace, or null.
    #[serde(default)]
    default_runtime_user: Option<String>,
    /// How long deleted tools are kept; `medium` by default.
    #[serde(default)]
    #[schema(schema_with = tiers, required = false)]
    retention_tier: RetentionTier,
}

/// Writes the settings of the workspace of the request. A workspace without settings is created.
///
/// An operator of the host creates a workspace by naming it in the header `Tool-Workspace`.
#[utoipa::path(put, path = "/v1/workspace", tag = "workspaces",
    params(("If-Match" = Option<String>, Header, description = "The `ETag` of the settings that were read")),
    request_body = NewSettings,
    responses((status = 200, description = "The settings", body = WorkspaceRecord)))]
async fn write_workspace(
    State(admin): State<Shared>,
    caller: Caller,
    tags: IfMatch,
    Body(body): Body<NewSettings>,
) -> Answer {
    let mut expected = Expected::Any;
    if tags.is_sent() {
        let read = settings(&admin, &caller).await?;
        let current = read
            .as_ref()
            .map(|row| tag(&json(&WorkspaceRecord::from(row))));
        tags.check_existing(current.as_deref())?;
        expected = Expected::Same(read.map(Box::new));
    }
    let mut new = WorkspaceSettings::new(&caller.workspace, Timestamp::now());
    new.default_runtime_user = body.default_runtime_user;
    new.retention_tier = body.retention_tier;
    let wanted = Wanted {
        details: json!({
            "default_runtime_user": new.default_runtime_user, "retention_tier": new.retention_tier,
        }),
        change: Change::Directory(DirectoryChange::PutWorkspace {
            settings: Box::new(new),
            editor: editor(&caller),
            expected,
        }),
        action: "workspace.write",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(tagged(admin.change(&caller, none, wanted, respond).await?))
}

/// A member of the workspace.
#[derive(Serialize, ToSchema)]
struct WorkspaceMember {
    user: String,
    #[schema(schema_with = roles)]
    role: &'static str,
    /// When the role was given.
    #[schema(format = DateTime)]
    at: String,
}

impl From<&Member> for WorkspaceMember {
    fn from(member: &Member) -> Self {
        Self {
            user: member.user.clone(),
            role: member.role.as_str(),
            at: time::text(member.at),
        }
    }
}

/// Lists the members of the workspace, by user.
#[utoipa::path(get, path = "/v1/members", tag = "members", params(Paged),
    responses((status = 200, description = "A page of members", body = Page<WorkspaceMember>)))]
async fn list_members(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging()?;
    let after = paging.after.as_deref();
    let rows = Directory::members(&*admin.store, &caller.workspace, after, paging.rows()).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, MEMBER))?;
    let place = |member: &Member| member.user.clone();
    let page = paging.page(rows, place, |member| WorkspaceMember::from(&member));
    Ok(answer(json(&page)))
}

async fn find(admin: &Inner, caller: &Caller, user: &str) -> Result<Option<Member>, Problem> {
    let member = Directory::member(&*admin.store, &caller.workspace, user).await;
    member.map_err(|error| Problem::of_store(&error, MEMBER))
}

/// Reads a member of the workspace.
#[utoipa::path(get, path = "/v1/members/{user}", tag = "members",
    params(("user" = String, Path, description = "The user")),
    responses((status = 200, description = "The member", body = WorkspaceMember, headers(("ETag" = String, description = "The version of the member")))))]
async fn get_member(State(admin): State<Shared>, caller: Caller, Id(user): Id<String>) -> Answer {
    let member = find(&admin, &caller, &user).await?;
    let member = member.ok_or_else(|| Problem::missing(MEMBER))?;
    Ok(tagged(json(&WorkspaceMember::from(&member))))
}

/// Checks `If-Match`, and returns the member that the change must replace; any member if the request does not have this header.
async fn expected(
    admin: &Inner,
    caller: &Caller,
    user: &str,
    tags: &IfMatch,
) -> Result<Expected<Member>, Problem> {
    if !tags.is_sent() {
        return Ok(Expected::Any);
    }
    let read = find(admin, caller, user).await?;
    let current = read
        .as_ref()
        .map(|row| tag(&json(&WorkspaceMember::from(row))));
    tags.check_existing(current.as_deref())?;
    Ok(Expected::Same(read))
}

/// The role of a member.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRole {
    /// A role that the caller's own role includes.
    #[schema(schema_with = roles)]
    role: MemberRole,
}

/// Adds a member to the workspace, or changes the role of an existing member.
#[utoipa::path(put, path = "/v1/members/{user}", tag = "members",
    params(("user" = String, Path, description = "The user"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the member that was read")),
    request_body = NewRole,
    responses((status = 200, description = "The member", body = WorkspaceMember)))]
async fn write_member(
    State(admin): State<Shared>,
    caller: Caller,
    Id(user): Id<String>,
    tags: IfMatch,
    Body(body): Body<NewRole>,
) -> Answer {
    let expected = expected(&admin, &caller, &user, &tags).await?;
    let at = Timestamp::now();
    let member = Member::new(&caller.workspace, user.as_str(), body.role, at);
    let written = json(&WorkspaceMember::from(&member));
    let editor: Editor = editor(&caller);
    let wanted = Wanted {
        details: json!({ "user": user, "role": body.role }),
        change: Change::Directory(DirectoryChange::PutMember {
            member,
            editor,
            expected,
        }),
        action: "member.write",
        request: "",
        what: MEMBER,
    };
    let none = Idempotency(None);
    admin.change(&caller, none, wanted, outcome).await?;
    Ok(tagged(written))
}

/// Removes a member from the workspace. Tools whose runtime user was removed are refused when they are called.
#[utoipa::path(delete, path = "/v1/members/{user}", tag = "members",
    params(("user" = String, Path, description = "The user"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the member that was read")),
    responses((status = 200, description = "The member was removed", body = ChangeOutcome)))]
async fn remove_member(
    State(admin): State<Shared>,
    caller: Caller,
    Id(user): Id<String>,
    tags: IfMatch,
) -> Answer {
    let expected = expected(&admin, &caller, &user, &tags).await?;
    let wanted = Wanted {
        details: json!({ "user": user }),
        change: Change::Directory(DirectoryChange::RemoveMember {
            workspace: caller.workspace.clone(),
            user,
            editor: editor(&caller),
            expected,
        }),
        action: "member.remove",
        request: "",
        what: MEMBER,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}
