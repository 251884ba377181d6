//! `/v1/approvals`: requests for the approval of calls and plans.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalKind, ApprovalRow, ApprovalStatus, ApprovalStore,
    Change, Changed, Expected, Scope, Timestamp, Verdict,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs, raw};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json, tag, tagged};
use crate::extract::{Body, Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{AtId, Page, Paging};
use crate::problem::{Kind, Problem};
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "approval";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_approvals)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_approval)))
        .routes(needs(
            Access::role(Role::Approver),
            routes!(answer_approval),
        ))
        .routes(needs(
            Access::role(Role::Approver),
            routes!(assign_approval),
        ))
        .routes(needs(
            Access::role(Role::Approver),
            routes!(revoke_approval),
        ))
}

fn statuses() -> Schema {
    one_of(ApprovalStatus::ALL.iter().map(|status| status.as_str()))
}

fn kinds() -> Schema {
    one_of(ApprovalKind::ALL.iter().map(|kind| kind.as_str()))
}

/// A request for an approval.
#[derive(Serialize, ToSchema)]
struct Approval {
    id: String,
    /// Whether the subject is a call or a plan.
    #[schema(schema_with = kinds)]
    kind: &'static str,
    #[schema(schema_with = statuses)]
    status: &'static str,
    /// The tool of the call; empty for a plan.
    tool: String,
    /// The model's own id of the call.
    call: String,
    conversation: Option<String>,
    /// The user who requested the call or the plan.
    principal: String,
    agent: Option<String>,
    /// The arguments of the call, or the plan.
    #[schema(value_type = serde_json::Value)]
    arguments: Box<RawValue>,
    /// The reason why the approval is requested.
    reason: Option<String>,
    /// Whether the approver must not be the requester.
    four_eyes: bool,
    /// Id of the policy's decision.
    decision: String,
    /// Hash of the tool's contract.
    contract: String,
    #[schema(format = DateTime)]
    created: String,
    /// The time at which the request expires. After this time, it can be neither answered nor used.
    #[schema(format = DateTime)]
    expires: String,
    /// The person who is assigned to answer.
    assignee: Option<String>,
    answer: Option<GivenAnswer>,
}

/// The answer to a request.
#[derive(Serialize, ToSchema)]
struct GivenAnswer {
    verdict: VerdictWord,
    /// The arguments as the approver has edited them; null unless the verdict is `edit`.
    #[schema(value_type = serde_json::Value)]
    arguments: Box<RawValue>,
    approver: String,
    reason: Option<String>,
    #[schema(format = DateTime)]
    at: String,
}

/// The decision of an approver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum VerdictWord {
    Approve,
    Edit,
    Deny,
}

impl From<&ApprovalRow> for Approval {
    fn from(row: &ApprovalRow) -> Self {
        let request = &row.request;
        Self {
            id: request.id.clone(),
            kind: request.kind.as_str(),
            status: row.status.as_str(),
            tool: request.tool.clone(),
            call: request.call.clone(),
            conversation: request.thread.clone(),
            principal: request.principal.clone(),
            agent: request.agent.clone(),
            arguments: raw(&request.arguments),
            reason: request.reason.clone(),
            four_eyes: request.four_eyes,
            decision: request.decision.clone(),
            contract: request.contract.clone(),
            created: time::text(request.created),
            expires: time::text(request.expires),
            assignee: row.assignee.clone(),
            answer: row.answer.as_ref().map(|answer| GivenAnswer {
                verdict: match answer.verdict {
                    Verdict::Approve => VerdictWord::Approve,
                    Verdict::Edit(_) => VerdictWord::Edit,
                    Verdict::Deny => VerdictWord::Deny,
                },
                arguments: match &answer.verdict {
                    Verdict::Edit(arguments) => raw(arguments),
                    Verdict::Approve | Verdict::Deny => raw(""),
                },
                approver: answer.approver.clone(),
                reason: answer.reason.clone(),
                at: time::text(answer.at),
            }),
        }
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Approval(row) => json(&Approval::from(&**row)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only requests with this status.
    #[param(schema_with = statuses, required = false)]
    status: Option<ApprovalStatus>,
    /// Only calls, or only plans.
    #[param(schema_with = kinds, required = false)]
    kind: Option<ApprovalKind>,
    /// Only requests for this tool.
    tool: Option<String>,
    /// Only requests by this user.
    principal: Option<String>,
    /// Only requests that are assigned to this person.
    assignee: Option<String>,
    /// Only requests of this conversation.
    conversation: Option<String>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists approvals, newest first.
///
/// Approvals cannot be searched by their arguments. A host may encrypt the arguments in its database; they are returned in clear text.
#[utoipa::path(get, path = "/v1/approvals", tag = "approvals", params(Filter),
    responses((status = 200, description = "A page of approvals", body = Page<Approval>)))]
async fn list_approvals(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<AtId>::new(query.limit, query.cursor.as_deref())?;
    let filter = ApprovalFilter {
        principal: query.principal,
        assignee: query.assignee,
        tool: query.tool,
        thread: query.conversation,
        status: query.status,
        kind: query.kind,
        limit: Some(paging.rows()),
        newest_first: true,
        after: paging.after.as_ref().map(AtId::place),
        ..ApprovalFilter::default()
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = ApprovalStore::list(&*admin.store, scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &ApprovalRow| AtId::new(row.request.created, &row.request.id);
    let page = paging.page(rows, place, |row| Approval::from(&row));
    Ok(answer(json(&page)))
}

async fn find(admin: &Inner, caller: &Caller, id: &str) -> Result<ApprovalRow, Problem> {
    let row = ApprovalStore::get(&*admin.store, &caller.workspace, id).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    row.ok_or_else(|| Problem::missing(WHAT))
}

/// Returns one approval by its id.
#[utoipa::path(get, path = "/v1/approvals/{id}", tag = "approvals",
    params(("id" = String, Path, description = "The id of the approval")),
    responses((status = 200, description = "The approval", body = Approval, headers(("ETag" = String, description = "The version of the approval")))))]
async fn get_approval(State(admin): State<Shared>, caller: Caller, Id(id): Id<String>) -> Answer {
    let row = find(&admin, &caller, &id).await?;
    Ok(tagged(json(&Approval::from(&row))))
}

/// The answer of an approver.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    verdict: VerdictWord,
    /// The arguments with which the call is to run; only for the verdict `edit`.
    #[schema(value_type = Option<serde_json::Value>)]
    arguments: Option<Box<RawValue>>,
    /// The reason for the decision. If the call is denied, the model receives it.
    reason: Option<String>,
}

/// Approves, edits or denies a pending request.
///
/// Edited arguments are validated against the schema of the tool. The approver is the caller.
#[utoipa::path(post, path = "/v1/approvals/{id}/answer", tag = "approvals",
    params(("id" = String, Path, description = "The id of the approval"), ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = NewAnswer,
    responses((status = 200, description = "The answered approval", body = Approval)))]
async fn answer_approval(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    key: Idempotency,
    Body(body): Body<NewAnswer>,
) -> Answer {
    let verdict = match (body.verdict, &body.arguments) {
        (VerdictWord::Approve, None) => Verdict::Approve,
        (VerdictWord::Deny, None) => Verdict::Deny,
        (VerdictWord::Edit, Some(arguments)) => {
            let row = find(&admin, &caller, &id).await?;
            Verdict::Edit(edited(&admin, &row, arguments.get())?)
        }
        (VerdictWord::Edit, None) => {
            return Err(Problem::input(
                "/arguments",
                "write the arguments with which the call is to run, or choose the verdict `approve`",
            ));
        }
        (VerdictWord::Approve | VerdictWord::Deny, Some(_)) => {
            return Err(Problem::input(
                "/arguments",
                "only the verdict `edit` has arguments, remove them or choose `edit`",
            ));
        }
    };
    let given = ApprovalAnswer {
        verdict,
        approver: caller.subject.clone(),
        reason: body.reason.clone(),
        at: Timestamp::now(),
    };
    let wanted = Wanted {
        change: Change::Answer {
            id: id.clone(),
            answer: given,
        },
        action: "approval.answer",
        details: json!({ "approval": id, "verdict": body.verdict }),
        request: &format!("{id} {}", json(&body)),
        what: WHAT,
    };
    Ok(tagged(admin.change(&caller, key, wanted, respond).await?))
}

/// Validates edited arguments against the tool, and returns their canonical text.
fn edited(admin: &Inner, row: &ApprovalRow, arguments: &str) -> Result<String, Problem> {
    let Some(registry) = &admin.registry else {
        return Err(Problem::new(
            Kind::Conflict,
            "this server was built without the host's tools, so it cannot validate edited arguments; approve or deny the request, or answer it in the host",
        ));
    };
    let edited = registry.open().edited_arguments(&row.request, arguments);
    edited.map_err(|error| Problem::input("/arguments", error.to_string()))
}

/// The new assignee of a request.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAssignee {
    /// The user; null removes the assignee.
    #[schema(required = true)]
    assignee: Option<String>,
}

/// Assigns a pending request to a person, or removes the assignee.
#[utoipa::path(put, path = "/v1/approvals/{id}/assignee", tag = "approvals",
    params(("id" = String, Path, description = "The id of the approval"), ("If-Match" = Option<String>, Header, description = "The `ETag` of the approval that was read")),
    request_body = NewAssignee,
    responses((status = 200, description = "The assigned approval", body = Approval)))]
async fn assign_approval(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    tags: IfMatch,
    Body(body): Body<NewAssignee>,
) -> Answer {
    let assignee = body.assignee;
    if assignee
        .as_deref()
        .is_some_and(|name| name.trim().is_empty())
    {
        return Err(Problem::input(
            "/assignee",
            "write the name of a user, or null to remove the assignee",
        ));
    }
    let mut expected = Expected::Any;
    if tags.is_given() {
        let row = find(&admin, &caller, &id).await?;
        tags.check(&tag(&json(&Approval::from(&row))))?;
        expected = Expected::Same(Some(Box::new(row)));
    }
    let wanted = Wanted {
        details: json!({ "approval": id, "assignee": assignee }),
        change: Change::Assign {
            id,
            assignee,
            expected,
        },
        action: "approval.assign",
        request: "",
        what: WHAT,
    };
    let key = Idempotency(None);
    Ok(tagged(admin.change(&caller, key, wanted, respond).await?))
}

/// Revokes a request that is pending, or approved and not used yet.
#[utoipa::path(post, path = "/v1/approvals/{id}/revoke", tag = "approvals",
    params(("id" = String, Path, description = "The id of the approval"), ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The revoked approval", body = Approval)))]
async fn revoke_approval(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    key: Idempotency,
) -> Answer {
    let wanted = Wanted {
        change: Change::Revoke { id: id.clone() },
        action: "approval.revoke",
        details: json!({ "approval": id }),
        request: &id,
        what: WHAT,
    };
    Ok(tagged(admin.change(&caller, key, wanted, respond).await?))
}
