//! Forced ends: `/v1/runs/{conversation}/{number}/force` and `/v1/effects/{key}/force`, for rows whose process is dead although its lease has not expired.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::store::{CallKey, Change, EffectLedger, Timestamp};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::effects::{self, EffectRecord, Finding, Settlement};
use super::runs::{self, Run};
use super::{Answer, Routes, needs, reason};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Body, Id, Idempotency};
use crate::problem::Problem;
use crate::state::Shared;

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Admin), routes!(force_run)))
        .routes(needs(Access::role(Role::Admin), routes!(force_effect)))
}

/// The reason of a forced end.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForcedEnd {
    /// Why the process of the run is known to be dead.
    reason: String,
}

/// Ends a run at once, although its lease has not expired.
///
/// Make sure that the process of the run is dead. If it is alive, the run stops before its next step.
#[utoipa::path(post, path = "/v1/runs/{conversation}/{number}/force", tag = "runs",
    params(("conversation" = String, Path, description = "The conversation of the run"), ("number" = u64, Path, description = "The number of the run"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = ForcedEnd,
    responses((status = 200, description = "The run, which has ended", body = Run)))]
async fn force_run(
    State(admin): State<Shared>,
    caller: Caller,
    Id((conversation, number)): Id<(String, u64)>,
    key: Idempotency,
    Body(body): Body<ForcedEnd>,
) -> Answer {
    let reason = reason(&body.reason)?;
    let id = runs::id(&caller, conversation, number)?;
    let row = admin.store.get_run(&id).await;
    let row = row.map_err(|error| Problem::of_store(&error, runs::WHAT))?;
    let row = row.ok_or_else(|| Problem::missing(runs::WHAT))?;
    let request = format!("{} {number} {}", id.thread().conversation(), json(&body));
    let wanted = Wanted {
        request: &request,
        details: json!({
            "conversation": id.thread().conversation(), "run": number, "owner": row.owner, "lease_until": row.lease_until,
            "reason": reason,
        }),
        change: Change::EndRun {
            id,
            owner: row.owner,
            at: Timestamp::now(),
        },
        action: "run.force",
        what: runs::WHAT,
    };
    let text = admin.change(&caller, key, wanted, runs::respond).await?;
    Ok(answer(text))
}

/// The settlement of an effect whose process is dead.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForcedSettlement {
    finding: Finding,
    /// The output of the tool; required for `succeeded`, and not allowed otherwise.
    #[schema(value_type = Option<serde_json::Value>)]
    output: Option<Box<RawValue>>,
    /// The error for the model; required for `failed`, and not allowed otherwise.
    error: Option<String>,
    /// Why the process of the call is known to be dead.
    reason: String,
}

/// Settles an effect whose row is still `running` although its process is dead.
///
/// Make sure that the process of the call is dead: if it is alive, the call may still take effect.
#[utoipa::path(post, path = "/v1/effects/{key}/force", tag = "effects",
    params(("key" = String, Path, description = "The key of the effect"), ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = ForcedSettlement,
    responses((status = 200, description = "The settled effect", body = EffectRecord)))]
async fn force_effect(
    State(admin): State<Shared>,
    caller: Caller,
    Id(key): Id<String>,
    idempotency: Idempotency,
    Body(body): Body<ForcedSettlement>,
) -> Answer {
    let request = format!("{key} {}", json(&body));
    let reason = reason(&body.reason)?.to_owned();
    let settlement = Settlement {
        finding: body.finding,
        output: body.output,
        error: body.error,
    };
    let resolution = settlement.read()?;
    let call = CallKey::new(&caller.workspace, key.as_str());
    let row = EffectLedger::get(&*admin.store, &call).await;
    let row = row.map_err(|error| Problem::of_store(&error, effects::WHAT))?;
    // A missing row is not an error here: a repeated request gets its first response even if a rerun has released the row.
    let state = row.as_ref().map(|row| row.state.as_str());
    let wanted = Wanted {
        request: &request,
        details: json!({
            "key": key, "state": state, "attempt": row.as_ref().map(|row| row.attempt),
            "lease_until": row.as_ref().map(|row| row.intent.lease_until), "resolution": resolution.as_str(), "reason": reason,
        }),
        change: Change::Force {
            key: call,
            resolution,
            operator: caller.subject.clone(),
            at: Timestamp::now(),
        },
        action: "effect.force",
        what: effects::WHAT,
    };
    let text = admin
        .change(&caller, idempotency, wanted, effects::respond)
        .await?;
    Ok(answer(text))
}
