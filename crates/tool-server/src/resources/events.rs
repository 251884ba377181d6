//! `/v1/events`: changes of the rows of a workspace as they are made, as server-sent events.

use std::fmt::Write as _;
use std::time::Duration;

use axum::extract::State;
use futures::stream;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tool_core::store::{Event, EventPage, EventResource, StoreError, Workspace};
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::event_stream::{KEEP_ALIVE, LONGEST, block, last_event_id, response};
use super::{Answer, Routes, instances, needs};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::json;
use crate::extract::Query;
use crate::page::MOST;
use crate::problem::Problem;
use crate::state::Shared;
use crate::time;

const WHAT: &str = "event";

/// The interval at which the store is read for new events.
const POLL: Duration = Duration::from_millis(500);

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(stream_events)))
}

/// The data of an event: the row that has changed, without its contents.
#[derive(Serialize)]
struct Changed<'a> {
    resource: &'static str,
    key: &'a [String],
    at: String,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Start {
    /// The id of the last event that the client has read, for clients that cannot send the header.
    last_event_id: Option<String>,
}

/// The state of a stream of events.
struct Rest {
    admin: Shared,
    workspace: Workspace,
    /// A page that was read, and whose events are not sent yet.
    read: Option<EventPage>,
    position: String,
    ends: Instant,
    /// When the next comment is due.
    comments: Instant,
}

/// Returns the key of an event as the paths of the API contain it. The store writes an empty name for the only instance of a workspace that is not
/// divided into instances; the API writes `@workspace`.
fn addressed(event: &Event) -> Vec<String> {
    match (event.resource, event.key.as_slice()) {
        (EventResource::Enablement, [name]) if name.is_empty() => {
            vec![instances::WORKSPACE.to_owned()]
        }
        _ => event.key.clone(),
    }
}

fn changes(text: &mut String, events: &[Event]) {
    for event in events {
        let changed = Changed {
            resource: event.resource.as_str(),
            key: &addressed(event),
            at: time::text(event.at),
        };
        block(text, changed.resource, &event.position, &json(&changed));
    }
}

impl Rest {
    /// Reads the events after the position.
    async fn page(&self) -> Result<EventPage, StoreError> {
        let after = Some(self.position.as_str());
        self.admin.store.events(&self.workspace, after, MOST).await
    }

    /// Waits for new events or for the next comment, and returns their text. Returns `None` at the end of the stream.
    async fn text(mut self) -> Result<Option<(String, Self)>, StoreError> {
        loop {
            // The check also runs between full pages, which are sent without a pause.
            if self.admin.ending.is_cancelled() || Instant::now() >= self.ends {
                return Ok(None);
            }
            let page = if let Some(page) = self.read.take() {
                page
            } else {
                let pause = tokio::time::sleep(POLL);
                tokio::select! {
                    () = self.admin.ending.cancelled() => return Ok(None),
                    () = pause => {}
                }
                self.page().await?
            };
            let mut text = String::new();
            if page.is_reset {
                block(&mut text, "reset", &page.next, "{}");
            }
            changes(&mut text, &page.events);
            let is_full = page.events.len() >= usize::try_from(MOST).unwrap_or(usize::MAX);
            self.position = page.next;
            if is_full {
                // The next page is read at once.
                self.read = Some(self.page().await?);
            }
            if text.is_empty() && Instant::now() >= self.comments {
                // The comment has the id of the current position, so that the client's position does not become too old while there are no events.
                let _ = write!(text, ": keep-alive\nid: {}\n\n", self.position);
            }
            if !text.is_empty() {
                self.comments = Instant::now() + KEEP_ALIVE;
                return Ok(Some((text, self)));
            }
        }
    }
}

/// Streams the changes of the workspace's rows as server-sent events.
///
/// The name of an event is a resource: `approvals`, `audit`, `enablement`, `functions`, `runs`, `stored-tools` or `switches`. Its data names the row, and the
/// client reads the row from the resource. A change of the policy is an event of its audit row. A client that connects again with the id of its last event
/// misses no event and gets none twice. Without an id, the stream begins with the event `ready`. With an id that the server does not know, it begins with
/// the event `reset`: read all lists again. An id is unknown, for example, if the store was restored to an earlier state, or if a purge has removed
/// the event, which is possible after seven days. A stream ends after ten minutes; connect again.
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(Start, ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that the client has read")),
    responses((status = 200, description = "Events, until the stream ends", content_type = "text/event-stream", body = String)))]
async fn stream_events(
    State(admin): State<Shared>,
    caller: Caller,
    Query(start): Query<Start>,
    parts: Parts,
) -> Answer {
    let id = last_event_id(&parts, start.last_event_id);
    let read = admin.store.events(&caller.workspace, id.as_deref(), MOST);
    // If the first page cannot be read, the response is a problem and not a stream.
    let page = read
        .await
        .map_err(|error| Problem::of_store(&error, WHAT))?;
    let mut first = String::new();
    if id.is_none() {
        block(&mut first, "ready", &page.next, "{}");
    }
    let now = Instant::now();
    let rest = Rest {
        admin,
        workspace: caller.workspace,
        position: page.next.clone(),
        read: Some(page),
        ends: now + LONGEST,
        comments: now + KEEP_ALIVE,
    };
    Ok(response(&first, stream::try_unfold(rest, Rest::text)))
}
