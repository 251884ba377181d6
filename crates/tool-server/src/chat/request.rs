//! Requests of an interface: the new message, the answers to approvals and the results of client tools. Of the rest of the body, only `trigger` and
//! `messageId` are read.

use serde::Deserialize;
use tool_agent::runtime::UiView;
use tool_core::store::{ApprovalKind, ApprovalRow, ApprovalStatus, ThreadId, Verdict};
use tool_core::turn::{ClientResult, UserMessage};
use tool_core::{ApprovalError, ToolCall, Toolset};
use tool_wire::ui::{ApprovalResponse, ApprovalResponses, UiError, client_results, user_message};

use super::Room;
use super::driver::Driver;
use crate::problem::{Kind, Problem};

/// The maximum length of an id of the interface.
const LONGEST_ID: usize = 200;

/// The parts of a request's body that the chat uses.
pub(super) struct Posted {
    pub(super) message: Option<UserMessage>,
    /// Whether the reply to the last message of the user is requested again.
    pub(super) again: bool,
    answers: Vec<ApprovalResponse>,
    /// The results of tools in the last step of the message, as the interface sent them. Only results of client tools are used.
    pub(super) results: Vec<ClientResult>,
    /// The id of the message that this request continues, as the interface sent it; `None` if it is missing, empty or too long.
    pub(super) continues: Option<String>,
}

/// The keys of the body that are read in addition to `messages`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    trigger: Option<String>,
    message_id: Option<String>,
}

/// A person's answer to an approval request, and the call that the request is for.
pub(super) struct Answered {
    pub(super) call: ToolCall,
    pub(super) approval: String,
    pub(super) approved: bool,
}

impl Posted {
    pub(super) fn read(body: &[u8]) -> Result<Self, Problem> {
        let body = std::str::from_utf8(body)
            .map_err(|_| Problem::new(Kind::BadRequest, "the body is not JSON: it is not UTF-8"))?;
        let head: Head = serde_json::from_str(body).map_err(|error| {
            let why = format!("the body is not an object with `messages`: {error}");
            Problem::new(Kind::BadRequest, why)
        })?;
        let message = user_message(body).map_err(unreadable)?;
        let again = head.trigger.as_deref() == Some("regenerate-message");
        if message.is_some() && !again && head.message_id.is_some() {
            let why =
                "a message that was sent cannot be changed, send a new message without `messageId`";
            return Err(Problem::input("/messageId", why));
        }
        if let Some(message) = &message
            && let Err(error) = message.check()
        {
            return Err(Problem::input("/messages", error.to_string()));
        }
        let answers = ApprovalResponses::read(body).map_err(unreadable)?;
        let posted = Self {
            again,
            results: client_results(body).map_err(unreadable)?,
            continues: answers
                .message()
                .filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)
                .map(str::to_owned),
            answers: answers.responses().to_vec(),
            message: message.filter(|_| !again),
        };
        if posted.message.is_none()
            && !again
            && posted.answers.is_empty()
            && posted.results.is_empty()
        {
            let why = "the last message contains nothing new, send a message of the user, answers to approval requests, or results of client tools";
            return Err(Problem::input("/messages", why));
        }
        Ok(posted)
    }

    /// Returns whether the request continues a message that the client has.
    pub(super) fn is_continued(&self) -> bool {
        self.message.is_none() && !self.again
    }

    /// Stores the answers to pending approval requests, and returns all answers with their calls. For a request that is not pending, for example
    /// because its answer is stored already, nothing is stored, so that a client may repeat its request.
    pub(super) async fn submit(
        &self,
        driver: &Driver,
        room: &Room,
        tools: &Toolset,
    ) -> Result<Vec<Answered>, Problem> {
        let Room { caller, thread, cx } = room;
        let mut answered = Vec::new();
        if self.answers.is_empty() {
            return Ok(answered);
        }
        let Some(approvals) = tools.gate().and_then(|gate| gate.approvals()) else {
            return Err(Problem::new(
                Kind::Conflict,
                "this host has no approvals, so there is nothing to answer",
            ));
        };
        let threads = driver.threads(thread, cx).await?;
        for answer in &self.answers {
            let row = answer.row(approvals).await.map_err(refused)?;
            let request = &row.request;
            let is_of = |thread: &&ThreadId| {
                request.identity.workspace() == thread.workspace()
                    && request.thread.as_deref() == Some(thread.conversation())
            };
            let of = threads.iter().find(is_of);
            let Some(of) = of.filter(|_| request.kind == ApprovalKind::Call) else {
                return Err(refused(ApprovalError::Invalid));
            };
            // A run acts for its caller, so an approval of a different user's call would not let it run.
            if Some(request.principal.as_str()) != cx.user() {
                return Err(Problem::new(
                    Kind::Forbidden,
                    "the approval request belongs to a different user: answer it with the admin API; the next run of that user continues",
                ));
            }
            if row.status == ApprovalStatus::Pending {
                let workspace = thread.workspace();
                let stored = answer.submit(workspace, approvals, tools, &caller.subject);
                stored.await.map_err(refused)?;
            }
            let id = if of == thread {
                request.call.clone()
            } else {
                UiView::call_below(of.conversation(), &request.call)
            };
            let call = ToolCall::new(id, &*request.tool, &*request.arguments);
            answered.push(Answered {
                call,
                approval: answer.approval.clone(),
                approved: approved(&row).unwrap_or(answer.approved),
            });
        }
        Ok(answered)
    }
}

/// Returns whether the stored answer approves the request; `None` if no answer is stored.
fn approved(row: &ApprovalRow) -> Option<bool> {
    let answer = row.answer.as_ref()?;
    Some(answer.verdict != Verdict::Deny)
}

fn unreadable(error: UiError) -> Problem {
    match error {
        UiError::Request { pointer, expected } => {
            Problem::input(pointer, format!("expected {expected}"))
        }
        error => Problem::new(Kind::BadRequest, error.to_string()),
    }
}

fn refused(error: ApprovalError) -> Problem {
    match error {
        ApprovalError::Store(error) => Problem::of_store(&error, "approval request"),
        ApprovalError::Invalid => Problem::missing("approval request"),
        error => Problem::new(Kind::Conflict, error.to_string()),
    }
}
