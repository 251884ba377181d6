//! The routes of the API, one file for each resource. A new resource requires a file, a `mod` here, a line in [`all`], and a tag in `openapi.rs`.

use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tool_core::store::Changed;
use utoipa::ToSchema;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::access::Access;
use crate::change::json;
use crate::entry;
use crate::openapi;
use crate::problem::Problem;
use crate::state::Shared;

mod approvals;
mod audit;
mod catalogue;
mod documents;
mod effects;
mod event_stream;
mod events;
mod force;
mod functions;
mod instances;
mod maintenance;
mod memories;
mod plans;
mod policy;
mod rooms;
mod runs;
mod scheduled_tasks;
mod secrets;
mod stored_tools;
mod switches;
mod thread_events;
mod threads;
mod variables;
mod workspaces;

/// The routes of a resource.
type Routes = OpenApiRouter<Shared>;

/// Returns the routes of every resource, and their OpenAPI document.
pub(crate) fn all() -> Routes {
    let resources: [fn(Routes) -> Routes; 23] = [
        approvals::routes,
        audit::routes,
        catalogue::routes,
        documents::routes,
        effects::routes,
        events::routes,
        force::routes,
        functions::routes,
        instances::routes,
        maintenance::routes,
        memories::routes,
        plans::routes,
        policy::routes,
        rooms::routes,
        runs::routes,
        scheduled_tasks::routes,
        secrets::routes,
        stored_tools::routes,
        switches::routes,
        thread_events::routes,
        threads::routes,
        variables::routes,
        workspaces::routes,
    ];
    let frame = OpenApiRouter::with_openapi(openapi::frame());
    resources.into_iter().fold(frame, |all, add| add(all))
}

/// Restricts routes to callers with this access.
fn needs(access: Access, routes: UtoipaMethodRouter<Shared>) -> UtoipaMethodRouter<Shared> {
    let (schemas, mut paths, methods) = routes;
    openapi::complete(&mut paths, access);
    let check = move |request: Request, next: Next| async move {
        match entry::caller(request.extensions()).and_then(|caller| caller.check(access)) {
            Ok(()) => next.run(request).await,
            Err(problem) => problem.into_response(),
        }
    };
    let methods = methods.route_layer(middleware::from_fn(check));
    (schemas, paths, methods)
}

/// Embeds a stored JSON text in a response; null if the text is empty or not JSON.
fn raw(text: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(text.to_owned())
        .unwrap_or_else(|_| serde_json::value::RawValue::NULL.to_owned())
}

/// The outcome of a change that has no resource to show.
#[derive(Serialize, ToSchema)]
struct ChangeOutcome {
    /// Whether the request has changed something.
    changed: bool,
}

/// Returns the response to a change that has no resource to show.
fn outcome(changed: &Changed) -> String {
    let changed = match changed {
        Changed::Row { changed } | Changed::Enablement { changed, .. } => *changed,
        _ => true,
    };
    json(&ChangeOutcome { changed })
}

/// Returns the trimmed reason of a change. Fails if the reason is empty.
fn reason(text: &str) -> Result<&str, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Problem::input(
            "/reason",
            "write the reason of the change, which the audit keeps",
        ));
    }
    Ok(text)
}

/// The result of a handler.
type Answer = Result<Response, Problem>;
