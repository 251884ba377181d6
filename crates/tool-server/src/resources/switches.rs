//! `/v1/switches`: kill switches and disables of tools.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Changed, Expected, Scope, Switch, SwitchFilter, SwitchKey, SwitchKind, Timestamp,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json, tag, tagged};
use crate::extract::{Body, Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paging};
use crate::problem::{Kind, Problem};
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "switch";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_switches)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_switch)))
        .routes(needs(Access::role(Role::Operator), routes!(set_switch)))
        .routes(needs(Access::role(Role::Operator), routes!(clear_switch)))
}

/// The workspaces that a switch applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Reach {
    /// The workspace of the request.
    #[default]
    Workspace,
    /// Every workspace of the host. Only operators of the host may set a switch with this reach.
    Host,
}

fn reaches() -> Schema {
    one_of(["workspace", "host"])
}

fn kinds() -> Schema {
    one_of([SwitchKind::Kill.as_str(), SwitchKind::Disable.as_str()])
}

/// The current state of a switch of a tool.
#[derive(Serialize, ToSchema)]
struct ToolSwitch {
    /// `kill`: calls are refused, and running calls are cancelled. `disable`: calls are refused, and running calls continue.
    #[schema(schema_with = kinds)]
    kind: &'static str,
    tool: String,
    reach: Reach,
    on: bool,
    /// The operator who set the switch.
    by: String,
    reason: Option<String>,
    #[schema(format = DateTime)]
    at: String,
}

impl From<&Switch> for ToolSwitch {
    fn from(switch: &Switch) -> Self {
        let key = &switch.key;
        Self {
            kind: key.kind.as_str(),
            tool: key.tool.clone(),
            reach: match key.workspace {
                Some(_) => Reach::Workspace,
                None => Reach::Host,
            },
            on: switch.on,
            by: switch.by.clone(),
            reason: switch.reason.clone(),
            at: time::text(switch.at),
        }
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Switch { switch, .. } => json(&ToolSwitch::from(switch)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Switches of the workspace (default), or switches that apply to every workspace of the host.
    #[param(schema_with = reaches, required = false)]
    reach: Option<Reach>,
    /// Only switches of this kind.
    #[param(schema_with = kinds, required = false)]
    kind: Option<SwitchKind>,
    /// Only switches of this tool.
    tool: Option<String>,
    /// Only switches that are on, or only switches that are off.
    on: Option<bool>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// The kinds of switches that this resource contains. Enablement rows (`SwitchKind::Enable`) are excluded.
const KINDS: [SwitchKind; 2] = [SwitchKind::Disable, SwitchKind::Kill];

/// Reads the switches that match a filter, ordered by key: the switches of the caller's workspace, or the switches that apply to every workspace.
async fn read(
    admin: &Inner,
    caller: &Caller,
    reach: Reach,
    filter: &SwitchFilter,
) -> Result<Vec<Switch>, Problem> {
    let scope = match reach {
        Reach::Workspace => Scope::Workspace(&caller.workspace),
        // Switches for every workspace come first in this list, so a limit does not cut them off.
        Reach::Host => Scope::All,
    };
    let rows = admin.store.switches(scope, filter).await;
    let mut rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    if reach == Reach::Host {
        rows.retain(|switch| switch.key.workspace.is_none());
    }
    Ok(rows)
}

/// Lists kill switches and disables: first the disables, then the kill switches, each by tool.
#[utoipa::path(get, path = "/v1/switches", tag = "switches", params(Filter),
    responses((status = 200, description = "A page of switches", body = Page<ToolSwitch>)))]
async fn list_switches(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    if query.kind == Some(SwitchKind::Enable) {
        return Err(Problem::new(
            Kind::BadRequest,
            "`kind` is `enable`, write `kill` or `disable`",
        ));
    }
    let paging = Paging::<(SwitchKind, String)>::new(query.limit, query.cursor.as_deref())?;
    let reach = query.reach.unwrap_or_default();
    let mut rows = Vec::new();
    for kind in KINDS {
        let after = paging.after.as_ref();
        if query.kind.is_some_and(|wanted| wanted != kind)
            || after.is_some_and(|(last, _)| kind < *last)
        {
            continue;
        }
        let after = after.filter(|(last, _)| kind == *last);
        let filter = SwitchFilter {
            kind: Some(kind),
            tool: query.tool.clone(),
            on: query.on,
            limit: Some(paging.rows()),
            after: after.map(|(_, tool)| key(&caller, reach, kind, tool.clone())),
        };
        rows.extend(read(&admin, &caller, reach, &filter).await?);
    }
    let place = |switch: &Switch| (switch.key.kind, switch.key.tool.clone());
    let page = paging.page(rows, place, |switch| ToolSwitch::from(&switch));
    Ok(answer(json(&page)))
}

fn key(caller: &Caller, reach: Reach, kind: SwitchKind, tool: String) -> SwitchKey {
    SwitchKey {
        workspace: (reach == Reach::Workspace).then(|| caller.workspace.clone()),
        kind,
        tool,
        source: String::new(),
    }
}

/// Returns the kind in a path: kill switches or disables. Fails for any other kind as for an unknown switch.
fn kind_of(word: &str) -> Result<SwitchKind, Problem> {
    let kind = SwitchKind::from_word(word).filter(|kind| KINDS.contains(kind));
    kind.ok_or_else(|| Problem::missing(WHAT))
}

async fn find(
    admin: &Inner,
    caller: &Caller,
    reach: Reach,
    key: &SwitchKey,
) -> Result<Option<Switch>, Problem> {
    let filter = SwitchFilter {
        kind: Some(key.kind),
        tool: Some(key.tool.clone()),
        limit: Some(1),
        ..SwitchFilter::default()
    };
    let rows = read(admin, caller, reach, &filter).await?;
    Ok(rows.into_iter().find(|switch| switch.key == *key))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Place {
    /// The workspace (default), or every workspace of the host.
    #[param(schema_with = reaches, required = false)]
    reach: Option<Reach>,
}

/// Returns one switch by its kind and tool.
#[utoipa::path(get, path = "/v1/switches/{kind}/{tool}", tag = "switches",
    params(("kind" = String, Path, description = "`kill` or `disable`"), ("tool" = String, Path, description = "The tool's own name"), Place),
    responses((status = 200, description = "The switch", body = ToolSwitch, headers(("ETag" = String, description = "The version of the switch")))))]
async fn get_switch(
    State(admin): State<Shared>,
    caller: Caller,
    Id((kind, tool)): Id<(String, String)>,
    Query(place): Query<Place>,
) -> Answer {
    let reach = place.reach.unwrap_or_default();
    let key = key(&caller, reach, kind_of(&kind)?, tool);
    let switch = find(&admin, &caller, reach, &key).await?;
    let switch = switch.ok_or_else(|| Problem::missing(WHAT))?;
    Ok(tagged(json(&ToolSwitch::from(&switch))))
}

/// The new state of a switch.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSwitch {
    on: bool,
    /// Why the operator sets the switch.
    reason: Option<String>,
}

/// Sets the switch of a path. With `If-Match`, fails if the switch has changed since the caller read it.
async fn set(
    admin: &Inner,
    caller: &Caller,
    (kind, tool): (String, String),
    reach: Reach,
    tags: &IfMatch,
    body: NewSwitch,
) -> Answer {
    if reach == Reach::Host && !caller.host {
        return Err(Problem::new(
            Kind::Forbidden,
            "the switch applies to every workspace, so it requires an operator of the host",
        ));
    }
    let key = key(caller, reach, kind_of(&kind)?, tool);
    let mut expected = Expected::Any;
    if tags.is_sent() {
        let read = find(admin, caller, reach, &key).await?;
        let current = read.as_ref().map(|row| tag(&json(&ToolSwitch::from(row))));
        tags.check_existing(current.as_deref())?;
        expected = Expected::Same(read);
    }
    let wanted = Wanted {
        details: json!({
            "kind": key.kind, "tool": key.tool, "reach": reach, "on": body.on, "reason": body.reason,
        }),
        change: Change::SetSwitch {
            switch: Switch {
                key,
                on: body.on,
                by: caller.subject.clone(),
                reason: body.reason,
                at: Timestamp::now(),
            },
            expected,
        },
        action: "switch.set",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(tagged(admin.change(caller, none, wanted, respond).await?))
}

/// Turns a switch on or off.
///
/// Every process that uses the store applies the switch within a second.
#[utoipa::path(put, path = "/v1/switches/{kind}/{tool}", tag = "switches",
    params(("kind" = String, Path, description = "`kill` or `disable`"), ("tool" = String, Path, description = "The tool's own name"), Place,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the switch that was read")),
    request_body = NewSwitch,
    responses((status = 200, description = "The switch", body = ToolSwitch)))]
async fn set_switch(
    State(admin): State<Shared>,
    caller: Caller,
    Id(path): Id<(String, String)>,
    Query(place): Query<Place>,
    tags: IfMatch,
    Body(body): Body<NewSwitch>,
) -> Answer {
    let reach = place.reach.unwrap_or_default();
    set(&admin, &caller, path, reach, &tags, body).await
}

/// Turns a switch off. Its row, which contains the operator who turned it off, is kept until the retention period of switches ends.
#[utoipa::path(delete, path = "/v1/switches/{kind}/{tool}", tag = "switches",
    params(("kind" = String, Path, description = "`kill` or `disable`"), ("tool" = String, Path, description = "The tool's own name"), Place,
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the switch that was read")),
    responses((status = 200, description = "The switch", body = ToolSwitch)))]
async fn clear_switch(
    State(admin): State<Shared>,
    caller: Caller,
    Id(path): Id<(String, String)>,
    Query(place): Query<Place>,
    tags: IfMatch,
) -> Answer {
    let reach = place.reach.unwrap_or_default();
    let off = NewSwitch {
        on: false,
        reason: None,
    };
    set(&admin, &caller, path, reach, &tags, off).await
}
