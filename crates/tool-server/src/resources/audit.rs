//! `/v1/audit`: one row for each call, and for each change by an operator.

use axum::body::Body as ResponseBody;
use axum::extract::State;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures::stream;
use http::header::CONTENT_TYPE;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tool_core::store::{AuditFilter, AuditRow, Scope, StoreError, Timestamp, Workspace};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs, raw};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{answer, json};
use crate::extract::Query;
use crate::page::{AtId, MOST, Page, Paging};
use crate::problem::{Kind, Problem};
use crate::state::Shared;
use crate::time;

const WHAT: &str = "audit row";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_audit)))
        .routes(needs(Access::role(Role::Viewer), routes!(export_audit)))
}

/// The record of a call, or of a change by an operator.
#[derive(Serialize, ToSchema)]
struct AuditRecord {
    /// The key of the identity of the call or of the change.
    id: String,
    /// When the call began, or when the operator made the change.
    #[schema(format = DateTime)]
    at: String,
    /// The tool's name, as the model wrote it; empty if an operator changed something that has no tool.
    tool: String,
    /// The model's own id of the call.
    call: String,
    conversation: Option<String>,
    /// The requesting user, or the operator.
    principal: Option<String>,
    /// The user with whose rights the tool ran, if this is not the requesting user.
    runtime_user: Option<String>,
    agent: Option<String>,
    session: Option<String>,
    /// `ok`, the kind of the error, or null while the call runs.
    outcome: Option<String>,
    error: Option<String>,
    /// The layer that hid the tool.
    layer: Option<String>,
    /// Id of the policy's decision.
    decision: Option<String>,
    /// Version of the policy that decided.
    policy: Option<String>,
    /// The approval that allowed the call, or that the operator changed.
    approval: Option<String>,
    approver: Option<String>,
    /// Hash of the tool's contract.
    contract: Option<String>,
    /// The arguments in the form that may be stored; null if there are none.
    #[schema(value_type = serde_json::Value)]
    arguments: Box<RawValue>,
    /// The beginning of the output.
    output: Option<String>,
    output_bytes: Option<u64>,
    attempt: u32,
    duration_us: Option<u64>,
    notes: Vec<AuditNoteRecord>,
}

/// An action during a call, or the change by an operator.
#[derive(Serialize, ToSchema)]
struct AuditNoteRecord {
    action: String,
    #[schema(value_type = serde_json::Value)]
    details: Box<RawValue>,
}

impl From<AuditRow> for AuditRecord {
    fn from(row: AuditRow) -> Self {
        Self {
            id: row.identity.key().as_str().to_owned(),
            at: time::text(row.started),
            arguments: raw(&row.arguments),
            notes: row
                .notes
                .iter()
                .map(|note| AuditNoteRecord {
                    action: note.action.clone(),
                    details: raw(&note.details),
                })
                .collect(),
            tool: row.tool,
            call: row.call,
            conversation: row.thread,
            principal: row.principal,
            runtime_user: row.runtime_user,
            agent: row.agent,
            session: row.session,
            outcome: row.outcome,
            error: row.error,
            layer: row.layer,
            decision: row.decision,
            policy: row.policy,
            approval: row.approval,
            approver: row.approver,
            contract: row.contract,
            output: row.output,
            output_bytes: row.output_bytes,
            attempt: row.attempt,
            duration_us: row.duration_us,
        }
    }
}

/// The filters of the list and of the export.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only calls and changes of this tool.
    tool: Option<String>,
    /// Only calls for this user, and changes by this operator.
    principal: Option<String>,
    /// Only calls and changes of this conversation.
    conversation: Option<String>,
    /// Only calls to which the model gave this id, and changes of these calls, such as an answer to an approval request.
    call: Option<String>,
    /// Only rows with this outcome: `ok`, or the kind of an error.
    outcome: Option<String>,
    /// If true, only calls that have failed.
    failed: Option<bool>,
    /// Only calls with this decision of the policy.
    decision: Option<String>,
    /// Only calls that began, and changes that were made, at this time or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Only calls that began, and changes that were made, before this time.
    #[param(format = DateTime)]
    until: Option<String>,
    /// The maximum number of items on the page; not for the export, which has no pages.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page; not for the export.
    cursor: Option<String>,
}

fn at(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = text else { return Ok(None) };
    match time::parse(text) {
        Some(at) => Ok(Some(at)),
        None => Err(Problem::new(
            Kind::BadRequest,
            format!("`{name}` is not a time in RFC 3339, write one such as `2026-01-31T12:00:00Z`"),
        )),
    }
}

impl Filter {
    fn read(self) -> Result<AuditFilter, Problem> {
        Ok(AuditFilter {
            since: at("since", self.since.as_deref())?,
            until: at("until", self.until.as_deref())?,
            principal: self.principal,
            tool: self.tool,
            call: self.call,
            thread: self.conversation,
            outcome: self.outcome,
            failed: self.failed.unwrap_or(false),
            decision: self.decision,
            newest_first: true,
            ..AuditFilter::default()
        })
    }
}

/// Lists audit rows, newest first.
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(Filter),
    responses((status = 200, description = "A page of audit rows", body = Page<AuditRecord>)))]
async fn list_audit(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<AtId>::new(query.limit, query.cursor.as_deref())?;
    let mut filter = query.read()?;
    filter.limit = Some(paging.rows());
    let after = paging.after.as_ref();
    filter.after = after.map(|after| after.place_of_call(&caller.workspace));
    let scope = Scope::Workspace(&caller.workspace);
    let rows = admin.store.export(scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &AuditRow| {
        let (at, key) = row.place();
        AtId::new(at, key.as_str())
    };
    let page = paging.page(rows, place, AuditRecord::from);
    Ok(answer(json(&page)))
}

/// The state of an export that is streamed page by page.
struct Rest {
    admin: Shared,
    workspace: Workspace,
    filter: AuditFilter,
    /// A page that was read from the store and is not streamed yet.
    read: Option<Vec<AuditRow>>,
}

impl Rest {
    /// Returns the lines of the next page. Reads the page from the store, unless it was read before.
    async fn lines(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        let rows = match self.read.take() {
            Some(rows) => rows,
            None => self.page().await?,
        };
        let Some(last) = rows.last() else {
            return Ok(None);
        };
        self.filter.after = Some(last.place());
        let mut lines = String::new();
        for row in rows {
            lines.push_str(&json(&AuditRecord::from(row)));
            lines.push('\n');
        }
        Ok(Some((lines.into(), self)))
    }

    async fn page(&self) -> Result<Vec<AuditRow>, StoreError> {
        let scope = Scope::Workspace(&self.workspace);
        self.admin.store.export(scope, &self.filter).await
    }
}

/// Exports audit rows as JSON lines, newest first.
///
/// The export reads page by page. If the store fails after the first page, the connection is closed before the end of the body.
#[utoipa::path(get, path = "/v1/audit/export", tag = "audit", params(Filter),
    responses((status = 200, description = "One JSON object per line, as in the list", content_type = "application/x-ndjson", body = String)))]
async fn export_audit(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    if query.limit.is_some() || query.cursor.is_some() {
        return Err(Problem::new(
            Kind::BadRequest,
            "an export has no pages, remove `limit` and `cursor`",
        ));
    }
    let mut filter = query.read()?;
    filter.limit = Some(MOST);
    let mut rest = Rest {
        admin,
        workspace: caller.workspace,
        filter,
        read: None,
    };
    // An error of the first page becomes a problem; a later error can only close the connection.
    let first = rest.page().await;
    rest.read = Some(first.map_err(|error| Problem::of_store(&error, WHAT))?);
    let lines = stream::try_unfold(rest, Rest::lines);
    let body = ResponseBody::from_stream(lines);
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}
