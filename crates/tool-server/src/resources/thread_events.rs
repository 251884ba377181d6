//! `/v1/threads/{conversation}/events`: the runs of a conversation as they happen, as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use futures::StreamExt as _;
use futures::stream;
use http::request::Parts;
use serde::Deserialize;
use tokio::time::Instant;
use tool_agent::runtime::{EventCursor, FollowedEvents, StoredEvents};
use tool_core::store::{StoreError, ThreadEventStore, ThreadId, ThreadStore};
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::event_stream::{KEEP_ALIVE, LONGEST, block, last_event_id, response};
use super::{Answer, Routes, needs};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::json;
use crate::extract::{Id, Query};
use crate::problem::Problem;
use crate::state::Shared;

const WHAT: &str = "thread";

/// The interval at which the store is read for new events.
const POLL: Duration = Duration::from_millis(250);

pub(super) fn routes(all: Routes) -> Routes {
    let routes = routes!(stream_thread_events);
    all.routes(needs(Access::role(Role::Viewer), routes))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Start {
    /// The id of the last event that the client has read, for clients that cannot send the header.
    last_event_id: Option<String>,
    /// Begins with the last run of the conversation, if the client has read no event.
    last_run: Option<bool>,
}

/// The state of a stream of events.
struct Rest {
    admin: Shared,
    following: FollowedEvents,
    ends: Instant,
    /// When the next comment is due.
    comments: Instant,
}

impl Rest {
    /// Waits for the next event or for the next comment, and returns its text. Returns `None` at the end of the stream.
    async fn text(mut self) -> Result<Option<(String, Self)>, StoreError> {
        let is_over = self.admin.ending.is_cancelled() || Instant::now() >= self.ends;
        if is_over {
            return Ok(None);
        }
        let next = tokio::select! {
            () = self.admin.ending.cancelled() => return Ok(None),
            () = tokio::time::sleep_until(self.ends) => return Ok(None),
            () = tokio::time::sleep_until(self.comments) => None,
            next = self.following.next() => Some(next),
        };
        self.comments = Instant::now() + KEEP_ALIVE;
        let Some(next) = next else {
            return Ok(Some((": keep-alive\n\n".to_owned(), self)));
        };
        let Some(followed) = next.transpose()? else {
            return Ok(None);
        };
        let (name, data) = (followed.event.kind.name(), json(&followed.event));
        let mut text = String::new();
        block(&mut text, name, &followed.cursor.to_string(), &data);
        Ok(Some((text, self)))
    }
}

/// Streams the events of a conversation's runs as server-sent events.
///
/// The stream contains the events that the host stores with `AgentRuntimeBuilder::events`, the messages of the model and the results of calls. A
/// client that joins during a run gets the earlier steps whose events are stored and the text of the running step so far, and then the new events.
/// The name of an event is its type, such as `run_started`, `text`, `message`, `result` or `run_ended`. A client that connects again with the id of
/// its last event continues with the next one. Events of sub-agents are in their own conversations, which `child_started` names. A stream ends after
/// ten minutes; connect again.
#[utoipa::path(get, path = "/v1/threads/{conversation}/events", tag = "threads",
    params(("conversation" = String, Path, description = "The conversation"), Start,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that the client has read")),
    responses((status = 200, description = "Events, until the stream ends", content_type = "text/event-stream", body = String)))]
async fn stream_thread_events(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
    Query(start): Query<Start>,
    parts: Parts,
) -> Answer {
    let thread = ThreadId::new(&caller.workspace, conversation);
    let thread = thread.map_err(|_| Problem::missing(WHAT))?;
    let events = StoredEvents::shared(
        Arc::clone(&admin.store) as Arc<dyn ThreadStore>,
        Arc::clone(&admin.store) as Arc<dyn ThreadEventStore>,
    );
    let cursor = match last_event_id(&parts, start.last_event_id) {
        Some(id) => id.parse().map_err(|_| {
            let detail = "the id is not the id of an event of this stream, send the id of the last event, or none";
            Problem::input("/last_event_id", detail)
        })?,
        None if start.last_run == Some(true) => {
            let last = events.last_run(&thread).await;
            last.map_err(|error| Problem::of_store(&error, WHAT))?
        }
        None => EventCursor::START,
    };
    // If the store cannot be read, the response is a problem and not a stream.
    let read = admin.store.thread_events(&thread, 0, 1).await;
    read.map_err(|error| Problem::of_store(&error, WHAT))?;
    let now = Instant::now();
    let rest = Rest {
        following: events.poll_every(POLL).follow(&thread, cursor),
        admin,
        ends: now + LONGEST,
        comments: now + KEEP_ALIVE,
    };
    let events = stream::try_unfold(rest, Rest::text);
    Ok(response("", events))
}
