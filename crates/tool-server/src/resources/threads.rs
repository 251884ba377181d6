//! `/v1/threads`: the messages of conversations.

use axum::extract::State;
use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::store::{Message, Role as Author, ThreadId};
use utoipa::ToSchema;
use utoipa::openapi::Schema;
use utoipa_axum::routes;

use super::{Answer, Routes, needs, raw};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{answer, json};
use crate::extract::{Id, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paged};
use crate::problem::Problem;
use crate::state::Shared;
use crate::time;

const WHAT: &str = "thread";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_messages)))
}

fn authors() -> Schema {
    one_of(Author::ALL.iter().map(|author| author.as_str()))
}

/// A message of a conversation.
#[derive(Serialize, ToSchema)]
struct ThreadMessage {
    /// The number of the message in the conversation.
    number: u64,
    /// The author of the message.
    #[schema(schema_with = authors)]
    role: &'static str,
    /// The call that a tool's message answers.
    answers: Option<AnsweredCall>,
    #[schema(value_type = serde_json::Value)]
    content: Box<RawValue>,
    #[schema(format = DateTime)]
    at: String,
}

/// The position of a call in a conversation.
#[derive(Serialize, ToSchema)]
struct AnsweredCall {
    /// The number of the model's message.
    message: u64,
    /// The position of the call in that message; the first is 0.
    position: u32,
}

impl From<Message> for ThreadMessage {
    fn from(message: Message) -> Self {
        Self {
            number: message.seq,
            role: message.role.as_str(),
            answers: message.answers.map(|call| AnsweredCall {
                message: call.message,
                position: call.position,
            }),
            content: raw(&message.content),
            at: time::text(message.at),
        }
    }
}

/// Lists the messages of a conversation, oldest first. The list is empty if the conversation does not exist.
///
/// Messages cannot be searched by their content. A host may encrypt the contents in its database; they are returned in clear text.
#[utoipa::path(get, path = "/v1/threads/{conversation}/messages", tag = "threads",
    params(("conversation" = String, Path, description = "The conversation"), Paged),
    responses((status = 200, description = "A page of messages", body = Page<ThreadMessage>)))]
async fn list_messages(
    State(admin): State<Shared>,
    caller: Caller,
    Id(conversation): Id<String>,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<u64>()?;
    let thread = ThreadId::new(&caller.workspace, conversation);
    let thread = thread.map_err(|_| Problem::missing(WHAT))?;
    let after = paging.after.unwrap_or(0);
    let rows = admin.store.read_page(&thread, after, paging.rows()).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |message| message.seq, ThreadMessage::from);
    Ok(answer(json(&page)))
}
