//! `/v1/rooms`: rooms, the events in their backlogs, and their messages.

use axum::extract::State;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    CallKey, Change, EffectLedger, EffectState, RecordChange, RoomEvent, RoomEventFilter,
    RoomEventState, RoomMessage, RoomStore, RoomSummary, ThreadId,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Id, Idempotency, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paged, Paging};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "room";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_rooms)))
        .routes(needs(Access::role(Role::Viewer), routes!(list_room_events)))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(list_room_messages),
        ))
        .routes(needs(Access::role(Role::Admin), routes!(remove_room)))
}

fn states() -> Schema {
    one_of(RoomEventState::ALL.iter().map(|state| state.as_str()))
}

fn directions() -> Schema {
    one_of(["inbound", "outbound", "summary"])
}

/// A room: a conversation that people and other systems write to at any time.
#[derive(Serialize, ToSchema)]
struct Room {
    conversation: String,
    /// The number of events that no turn has taken, or that a turn has returned.
    pending: u64,
    /// The number of events that a turn has taken and not completed.
    processing: u64,
    /// The number of events that the agent has completed.
    completed: u64,
    /// The number of messages in the history.
    messages: u64,
    /// When an event or a message was last stored or changed.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<RoomSummary> for Room {
    fn from(room: RoomSummary) -> Self {
        Self {
            conversation: room.room.conversation().to_owned(),
            pending: room.pending,
            processing: room.processing,
            completed: room.completed,
            messages: room.messages,
            updated_at: time::text(room.updated),
        }
    }
}

/// Lists rooms, ordered by conversation.
#[utoipa::path(get, path = "/v1/rooms", tag = "rooms", params(Paged),
    responses((status = 200, description = "A page of rooms", body = Page<Room>)))]
async fn list_rooms(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<String>()?;
    let after = paging.after.as_deref();
    let rows = RoomStore::rooms(&*admin.store, &caller.workspace, after, paging.rows()).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &RoomSummary| row.room.conversation().to_owned();
    let page = paging.page(rows, place, Room::from);
    Ok(answer(json(&page)))
}

/// An event in the backlog of a room, such as a message of a person.
#[derive(Serialize, ToSchema)]
struct BacklogEvent {
    /// The number of the event. Later events have larger numbers.
    number: u64,
    /// The id of the event in the room.
    id: String,
    /// The person who caused the event.
    author: Option<String>,
    text: String,
    #[schema(schema_with = states)]
    state: &'static str,
    /// The notes of the agent that completed the event.
    notes: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the state was last changed.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<RoomEvent> for BacklogEvent {
    fn from(event: RoomEvent) -> Self {
        Self {
            number: event.seq,
            id: event.id,
            author: event.author,
            text: event.text,
            state: event.state.as_str(),
            notes: event.notes,
            created_at: time::text(event.created),
            updated_at: time::text(event.updated),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only events in this state.
    #[param(schema_with = states, required = false)]
    state: Option<RoomEventState>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

fn room(caller: &Caller, conversation: String) -> Result<ThreadId, Problem> {
    ThreadId::new(&caller.workspace, conversation).map_err(|_| Problem::missing(WHAT))
}

/// Lists the events in the backlog of a room, oldest first. The list is empty if the room does not exist.
#[utoipa::path(get, path = "/v1/rooms/{conversation}/events", tag = "rooms",
    params(("conversation" = String, Path, description = "The conversation of the room"), Filter),
    responses((status = 200, description = "A page of events", body = Page<BacklogEvent>)))]
async fn list_room_events(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<u64>::new(query.limit, query.cursor.as_deref())?;
    let filter = RoomEventFilter {
        state: query.state,
        after: paging.after.unwrap_or(0),
        limit: Some(paging.rows()),
    };
    let room = room(&caller, conversation)?;
    let rows = RoomStore::room_events(&*admin.store, &room, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |event| event.seq, BacklogEvent::from);
    Ok(answer(json(&page)))
}

/// A message in the history of a room.
#[derive(Serialize, ToSchema)]
struct HistoryMessage {
    /// The number of the message. Later messages have larger numbers.
    number: u64,
    /// `inbound` for a message of a person, `outbound` for a message of the agent, and `summary` for the summary of removed messages.
    #[schema(schema_with = directions)]
    direction: &'static str,
    /// The person who wrote the message; null for a message of the agent and for a summary.
    author: Option<String>,
    text: String,
    /// The key of the call that sent an outbound message; `/v1/effects/{key}` returns its effect.
    effect: Option<String>,
    /// The state of this effect, such as `succeeded` or `ambiguous`. Null if the message has no effect, for example because the host has no effect ledger.
    effect_state: Option<&'static str>,
    #[schema(format = DateTime)]
    at: String,
}

impl HistoryMessage {
    fn of(message: RoomMessage, state: Option<EffectState>) -> Self {
        let direction = match (message.is_summary, &message.author) {
            (true, _) => "summary",
            (false, Some(_)) => "inbound",
            (false, None) => "outbound",
        };
        Self {
            number: message.seq,
            direction,
            author: message.author,
            text: message.text,
            effect: message.key.filter(|_| state.is_some()),
            effect_state: state.map(EffectState::as_str),
            at: time::text(message.at),
        }
    }
}

/// Returns the state of the effect that sent a message.
async fn effect_state(
    admin: &Inner,
    caller: &Caller,
    message: &RoomMessage,
) -> Result<Option<EffectState>, Problem> {
    let Some(key) = message.key.as_deref().filter(|_| message.author.is_none()) else {
        return Ok(None);
    };
    let key = CallKey::new(&caller.workspace, key);
    let row = EffectLedger::get(&*admin.store, &key).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    Ok(row.map(|row| row.state))
}

/// Lists the messages in the history of a room, oldest first, each sent message with the state of its effect.
///
/// The list is empty if the room does not exist. A message of the agent is stored after the channel has accepted it. Messages whose sending failed,
/// or whose outcome is unknown, are not in the history: list the effects of the conversation (`/v1/effects?conversation=…`).
#[utoipa::path(get, path = "/v1/rooms/{conversation}/messages", tag = "rooms",
    params(("conversation" = String, Path, description = "The conversation of the room"), Paged),
    responses((status = 200, description = "A page of messages", body = Page<HistoryMessage>)))]
async fn list_room_messages(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<u64>()?;
    let room = room(&caller, conversation)?;
    let after = paging.after.unwrap_or(0);
    let rows = RoomStore::room_message_page(&*admin.store, &room, after, paging.rows()).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let states = rows
        .iter()
        .map(|message| effect_state(&admin, &caller, message));
    let states = try_join_all(states).await?;
    let rows = rows.into_iter().zip(states).collect();
    let page = paging.page(
        rows,
        |(message, _): &(RoomMessage, _)| message.seq,
        |(message, state)| HistoryMessage::of(message, state),
    );
    Ok(answer(json(&page)))
}

/// Deletes a room: its events and its messages. The conversation of the agent is kept.
#[utoipa::path(delete, path = "/v1/rooms/{conversation}", tag = "rooms",
    params(("conversation" = String, Path, description = "The conversation of the room")),
    responses((status = 200, description = "The room was deleted", body = ChangeOutcome)))]
async fn remove_room(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
) -> Answer {
    let wanted = Wanted {
        details: json!({ "conversation": conversation }),
        change: Change::Record(RecordChange::RemoveRoom {
            room: room(&caller, conversation)?,
        }),
        action: "room.delete",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}
