//! Erasure of the contents of a thread or a user, and removal of old rows.

use std::time::Duration;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Changed, Erased, ErasedContents, Maintenance, Retention, ThreadId, Timestamp,
};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{Answer, Routes, needs, reason};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Body, Id, Idempotency, NotRepeatable};
use crate::problem::Problem;
use crate::state::Shared;

const THREAD: &str = "thread";
const USER: &str = "user";
const WHAT: &str = "row";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Admin), routes!(erase_thread)))
        .routes(needs(Access::role(Role::Admin), routes!(erase_user)))
        .routes(needs(Access::host(Role::Admin), routes!(purge)))
}

/// The reason of an erasure.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ErasureRequest {
    /// Why the contents are erased, such as the request of a user. The audit keeps it.
    pub(super) reason: String,
}

/// The numbers of rows that an erasure has changed or removed.
#[derive(Serialize, ToSchema)]
struct ErasureReport {
    /// Messages that were removed.
    messages: u64,
    /// Effects whose result was blanked.
    effects: u64,
    /// Approvals whose arguments, reasons and edits were blanked.
    approvals: u64,
    /// Audit rows that were removed.
    audit: u64,
    /// Stored long outputs that were removed.
    spills: u64,
    /// Variables that were removed.
    variables: u64,
    /// Memories that were removed.
    memories: u64,
    /// Responses under idempotency keys that were removed.
    requests: u64,
}

fn respond(changed: &Changed) -> String {
    let erased = match changed {
        Changed::Erased(erased) => *erased,
        _ => Erased::default(),
    };
    json(&ErasureReport {
        messages: erased.messages,
        effects: erased.effects,
        approvals: erased.approvals,
        audit: erased.audit,
        spills: erased.spills,
        variables: erased.variables,
        memories: erased.memories,
        requests: erased.requests,
    })
}

/// Erases the contents of a conversation.
///
/// Its messages, events, plans, notes, room, variables, budget and scheduled runs are removed, and so are the responses under idempotency keys that
/// may contain its contents, and the memories that were last stored in it. Results, arguments and reasons are blanked. Keys, states and times stay,
/// so that no effect happens twice. An active run is cancelled, and open approvals are withdrawn. Audit rows and
/// stored long outputs are kept, because they belong to users.
#[utoipa::path(post, path = "/v1/threads/{conversation}/erase", tag = "maintenance",
    params(("conversation" = String, Path, description = "The conversation"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = ErasureRequest,
    responses((status = 200, description = "The number of erased rows", body = ErasureReport)))]
async fn erase_thread(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
    key: Idempotency,
    Body(body): Body<ErasureRequest>,
) -> Answer {
    let reason = reason(&body.reason)?;
    let thread = ThreadId::new(&caller.workspace, conversation.as_str());
    let thread = thread.map_err(|_| Problem::missing(THREAD))?;
    let wanted = Wanted {
        change: Change::Erase(ErasedContents::Thread(thread)),
        action: "thread.erase",
        details: json!({ "conversation": conversation, "reason": reason }),
        request: &format!("{conversation} {}", json(&body)),
        what: THREAD,
    };
    Ok(answer(admin.change(&caller, key, wanted, respond).await?))
}

/// Erases the contents of a user in the workspace, except the messages, events and notes of conversations.
///
/// Erase each conversation of the user as well. Documents that the user wrote are kept without the name of the user. The audit row of the erasure
/// keeps the name of the user.
#[utoipa::path(post, path = "/v1/users/{user}/erase", tag = "maintenance",
    params(("user" = String, Path, description = "The user"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = ErasureRequest,
    responses((status = 200, description = "The number of erased rows", body = ErasureReport)))]
async fn erase_user(
    State(admin): State<Shared>,
    caller: Caller,
    Id(user): Id<String>,
    key: Idempotency,
    Body(body): Body<ErasureRequest>,
) -> Answer {
    let reason = reason(&body.reason)?;
    let wanted = Wanted {
        change: Change::Erase(ErasedContents::Principal {
            workspace: caller.workspace.clone(),
            principal: user.clone(),
        }),
        action: "user.erase",
        details: json!({ "user": user, "reason": reason }),
        request: &format!("{user} {}", json(&body)),
        what: USER,
    };
    Ok(answer(admin.change(&caller, key, wanted, respond).await?))
}

/// The retention periods of rows, in days. Rows of a kind without a number are kept.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Days {
    /// Audit rows, counted from the time of the call or the change.
    #[schema(minimum = 1)]
    audit: Option<u32>,
    /// Approvals that are closed, counted from their request.
    #[schema(minimum = 1)]
    approvals: Option<u32>,
    /// Effects that have succeeded or failed, counted from their end. An effect is kept longer while messages of its conversation or an approval of
    /// its call exist.
    #[schema(minimum = 1)]
    effects: Option<u32>,
    /// Messages of threads without a new message for this time. The events, plans, notes and room of such a thread are removed as well.
    #[schema(minimum = 1)]
    threads: Option<u32>,
    /// Runs that have ended, counted from their end, and runs of scheduled tasks.
    #[schema(minimum = 1)]
    runs: Option<u32>,
    /// Budgets without an open reservation, counted from their last change.
    #[schema(minimum = 1)]
    budgets: Option<u32>,
    /// Messages that belong to no workspace.
    #[schema(minimum = 1)]
    unassigned: Option<u32>,
    /// Switches that are off, counted from when they were turned off.
    #[schema(minimum = 1)]
    switches: Option<u32>,
}

impl Days {
    fn retention(self) -> Result<Retention, Problem> {
        let age = |name: &str, days: Option<u32>| match days {
            Some(0) => Err(Problem::input(
                format!("/days/{name}"),
                "the number of days is 0, write at least 1",
            )),
            days => Ok(days.map(|days| Duration::from_hours(24) * days)),
        };
        Ok(Retention {
            audit: age("audit", self.audit)?,
            approvals: age("approvals", self.approvals)?,
            effects: age("effects", self.effects)?,
            threads: age("threads", self.threads)?,
            runs: age("runs", self.runs)?,
            budgets: age("budgets", self.budgets)?,
            unassigned: age("unassigned", self.unassigned)?,
            switches: age("switches", self.switches)?,
        })
    }
}

/// The retention periods and the limit of a purge, and its reason.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PurgeRequest {
    days: Days,
    /// The maximum number of rows of each kind that the request removes; 200 by default.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10_000, default = 200)]
    most: Option<u32>,
    /// Why the rows are removed. The audit keeps it.
    reason: String,
}

/// The numbers of rows that a purge has removed.
#[derive(Serialize, ToSchema)]
struct PurgeReport {
    audit: u64,
    approvals: u64,
    effects: u64,
    /// Threads whose messages were removed.
    threads: u64,
    runs: u64,
    budgets: u64,
    /// Expired shared limits that were removed.
    limits: u64,
    /// Runs of scheduled tasks that were removed.
    task_runs: u64,
    /// Messages that belong to no workspace.
    unassigned: u64,
    /// Stored long outputs that have expired.
    spills: u64,
    switches: u64,
    /// Idempotency keys that have expired.
    requests: u64,
    /// Events that are older than seven days.
    events: u64,
    /// Ephemeral memories that have expired.
    memories: u64,
    /// Whether the same request, sent again, may remove more rows.
    more: bool,
}

/// Removes old rows of all workspaces, expired outputs, memories, shared limits and idempotency keys, and events that are older than seven days.
///
/// Repeat the request while `more` is true. The audit row is stored before the removal.
#[utoipa::path(post, path = "/v1/maintenance/purge", tag = "maintenance", request_body = PurgeRequest,
    responses((status = 200, description = "The number of removed rows", body = PurgeReport)))]
async fn purge(
    State(admin): State<Shared>,
    caller: Caller,
    _: NotRepeatable,
    Body(body): Body<PurgeRequest>,
) -> Answer {
    const MOST: u32 = 10_000;
    let reason = reason(&body.reason)?;
    let retention = body.days.retention()?;
    let most = body.most.unwrap_or(200);
    if !(1..=MOST).contains(&most) {
        return Err(Problem::input(
            "/most",
            format!("the number is {most}, write a number from 1 to {MOST}"),
        ));
    }
    let details = json!({ "days": body.days, "most": most, "reason": reason });
    admin.note(&caller, "maintenance.purge", details).await?;
    let purged = Maintenance::purge(&*admin.store, &retention, Timestamp::now(), most).await;
    let purged = purged.map_err(|error| Problem::of_store(&error, WHAT))?;
    Ok(answer(json(&PurgeReport {
        audit: purged.audit,
        approvals: purged.approvals,
        effects: purged.effects,
        threads: purged.threads,
        runs: purged.runs,
        budgets: purged.budgets,
        limits: purged.limits,
        task_runs: purged.task_runs,
        unassigned: purged.unassigned,
        spills: purged.spills,
        switches: purged.switches,
        requests: purged.requests,
        events: purged.events,
        memories: purged.memories,
        more: purged.more,
    })))
}
