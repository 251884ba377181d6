//! The beginning of a run: the contents that a request stores, and the task that drives the run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use tool_agent::runtime::RuntimeError;
use tool_core::turn::{ClientResult, ModelMessage, Outcome};
use tool_core::{ToolCall, ToolDef, Toolset};
use tool_wire::ui::{Chunk, Writer};

use super::driver::{Driver, Held};
use super::model::Streaming;
use super::reply::Reply;
use super::request::Posted;
use super::{Inner, Room, Shared, of_turn, stored};
use crate::problem::{Kind, Problem};

/// Begins a run that a separate task drives. Fails, for example, if a different run of the conversation is active, if the request has a new message
/// although calls wait for approvals or for results of the client, if it has no new message although the last message is answered, or if an answer to
/// an approval request is refused.
pub(super) async fn start(chat: Shared, room: Room, posted: Posted) -> Result<Arc<Reply>, Problem> {
    let mut run = chat.driver.begin(&room.cx).await?;
    match begin(&chat, &room, &posted, &mut run).await {
        Ok(begun) => Ok(spawn(chat, room, run, begun.reply, begun.supplied)),
        Err(problem) => {
            run.cancel().await;
            Err(problem)
        }
    }
}

/// The stream of a run that begins, and the results of client tools for its open calls.
struct Beginning {
    reply: Arc<Reply>,
    supplied: Vec<ClientResult>,
}

/// Stores the message or the approval answers of a request, and creates the stream.
async fn begin(
    chat: &Inner,
    room: &Room,
    posted: &Posted,
    run: &mut Held,
) -> Result<Beginning, Problem> {
    let tools = chat.driver.tools(&room.cx)?;
    let mut view = chat.driver.view(&tools, &room.thread);
    let writer = view.writer();
    let open = run.open_calls().await?;
    if let Some(message) = &posted.message {
        if waits(chat, &open, room, &tools).await? {
            return Err(Problem::new(
                Kind::Conflict,
                "calls of this conversation wait for approvals or for results of the client, answer them before you send a message",
            ));
        }
        let user = run.say(message.clone()).await?;
        let mut start = writer.start(Some(&stored::message_id(user)));
        if !open.is_empty() {
            // These calls have no result yet, for example because a process died. They continue in this message, so the client needs their arguments.
            start.extend(shown(writer, open));
        }
        let reply = Reply::new(view, &start, &[]);
        return Ok(Beginning {
            reply,
            supplied: Vec::new(),
        });
    }
    if run.is_answered().await? {
        return Err(Problem::new(
            Kind::Conflict,
            "the last message of the user is answered already, read the messages of the conversation",
        ));
    }
    let messages = chat.driver.turns().messages(&room.cx, None);
    let messages = messages.await.map_err(of_turn)?;
    let user = stored::last_of_user(&messages);
    let mut earlier = stored::show(writer, &messages, user);
    let answered = posted.submit(&chat.driver, room, &tools).await?;
    for answer in &answered {
        // If the client has only the user's message, it gets the approval request before the result.
        earlier.extend(writer.answered(&answer.call, &answer.approval, answer.approved));
    }
    let supplied = writer.own_ids(posted.results.clone());
    let own = stored::message_id(user);
    let id = posted
        .continues
        .as_deref()
        .filter(|_| posted.is_continued());
    let start = writer.start(Some(id.unwrap_or(&own)));
    let reply = Reply::new(view, &start, &earlier);
    Ok(Beginning { reply, supplied })
}

/// Returns whether calls wait for a person or for the client.
async fn waits(
    chat: &Inner,
    open: &[ToolCall],
    room: &Room,
    tools: &Toolset,
) -> Result<bool, Problem> {
    let is_client = |name: &str| tools.get(name).is_some_and(ToolDef::is_client);
    if open.iter().any(|call| is_client(&call.name)) {
        return Ok(true);
    }
    Ok(!open.is_empty() && !chat.driver.waiting(&room.cx, tools).await?.is_empty())
}

/// Returns the chunks of calls that the client has not seen.
fn shown(writer: &mut Writer, calls: Vec<ToolCall>) -> Vec<Chunk> {
    let mut chunks = writer.step();
    match writer.message(&ModelMessage::calls(calls)) {
        Ok(calls) => chunks.extend(calls),
        Err(error) => tracing::warn!(%error, "open calls cannot be shown to the client"),
    }
    chunks
}

/// Drives a run in a separate task, so that the run does not end with the request.
fn spawn(
    chat: Shared,
    room: Room,
    run: Held,
    reply: Arc<Reply>,
    supplied: Vec<ClientResult>,
) -> Arc<Reply> {
    let thread = room.thread;
    chat.live().insert(thread.clone(), Arc::clone(&reply));
    let returned = Arc::clone(&reply);
    tokio::spawn(async move {
        let drive = drive(&chat.driver, run, &reply, &supplied);
        match AssertUnwindSafe(drive).catch_unwind().await {
            Ok(Ok(outcome)) => reply.end(&outcome),
            Ok(Err(error)) => {
                tracing::error!(%error, "a run of a chat has failed");
                reply.fail();
            }
            Err(_) => {
                tracing::error!(%thread, "a run of a chat has panicked");
                reply.fail();
            }
        }
        chat.remove(&thread, &reply);
    });
    returned
}

/// Drives a run, whose events are written to the stream.
async fn drive(
    driver: &Driver,
    run: Held,
    reply: &Arc<Reply>,
    supplied: &[ClientResult],
) -> Result<Outcome, RuntimeError> {
    match (driver, run) {
        (Driver::Model(driver), Held::Model(run)) => {
            let (results, progress) = (Arc::clone(reply), Arc::clone(reply));
            let run = run
                .observe(move |result| results.result(result))
                .progress(move |call, step| progress.progress(&call.id, step));
            let mut model = Streaming::new(Arc::clone(&driver.model), Arc::clone(reply));
            let tools = Arc::clone(&driver.tools);
            let outcome = run.drive(&mut model, move |cx| tools(cx), supplied).await?;
            Ok(outcome)
        }
        (_, Held::Agents(run)) => {
            let events = Arc::clone(reply);
            let run = run.observe(move |event| events.event(event));
            run.drive(supplied).await
        }
        // A driver begins only runs of its own kind.
        (Driver::Agents(_), Held::Model(run)) => {
            run.cancel().await;
            Ok(Outcome::Cancelled)
        }
    }
}
