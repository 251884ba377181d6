//! A stored thread as the messages of a provider's request.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::de::DeserializeOwned;
use tool_core::__private0::in_reading_order;
use tool_core::store::{CallPlace, Message, Role};
use tool_core::turn::{ModelMessage, ToolMessage, UserMessage};

use super::results::{ToolResult, View};
use super::{Provider, RequestMessages, WireError, user};

/// The text that the model reads in place of a missing result.
const NO_RESULT: &str = "[there is no result: the call is waiting, or was abandoned]";

impl Provider {
    /// Converts a thread that [`Turns`](tool_core::turn::Turns) has stored to the messages (items, contents) of a request.
    ///
    /// Every call is followed by its result, wherever in the thread the result was stored. A call without a result gets a placeholder text, and a
    /// result without its call is left out. System messages are among the messages if the provider accepts them there (Chat, Responses); otherwise
    /// they are in [`RequestMessages::system`], which belongs in the same request. [`RequestMessages::left_out`] lists each file that the provider
    /// does not accept, and the model reads a line in its place. With `history` and [`reply`](Self::reply), one
    /// [`Model`](tool_core::turn::Model) serves all providers.
    pub fn history(self, thread: &[Message]) -> Result<RequestMessages, WireError> {
        history(self, thread, None)
    }

    /// Converts a thread like [`history`](Self::history), for a request to an origin: the endpoint and the model, under the name that the host
    /// passes to [`ModelReply::with_origin`](super::ModelReply::with_origin).
    ///
    /// A message that a different origin or provider wrote is written from its text and its calls, without opaque parts. Signatures, encrypted
    /// reasoning and compaction blocks are valid only at their origin, so a different origin may refuse a request with them. A message without an
    /// origin is sent unchanged to its provider.
    ///
    /// ```
    /// use tool_core::store::{MemoryStore, ThreadId, ThreadStore};
    /// use tool_core::turn::Turns;
    /// use tool_core::ToolContext;
    /// use tool_wire::Provider;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let body = r#"{"role":"assistant","stop_reason":"end_turn","content":[
    ///     {"type":"thinking","thinking":"Easy.","signature":"EqQB=="},{"type":"text","text":"It is 7."}]}"#;
    /// let reply = Provider::Anthropic.reply(body)?.with_origin("claude-opus-5");
    ///
    /// let (store, cx) = (MemoryStore::default(), ToolContext::builder().workspace("acme").conversation("main").build());
    /// Turns::new(store.clone()).record(reply.into_message(), &cx).await?;
    /// let thread = ThreadStore::read(&store, &ThreadId::new("acme", "main")?, None).await?;
    ///
    /// let same = Provider::Anthropic.history_for(&thread, "claude-opus-5")?;
    /// assert!(same.messages[0].get().contains("EqQB=="));
    /// let other = Provider::Anthropic.history_for(&thread, "claude-haiku-5")?;
    /// assert_eq!(other.messages[0].get(), r#"{"role":"assistant","content":[{"text":"It is 7.","type":"text"}]}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn history_for(
        self,
        thread: &[Message],
        origin: &str,
    ) -> Result<RequestMessages, WireError> {
        history(self, thread, Some(origin))
    }
}

/// Writes a thread, for a request to this origin if it is known. Every message of the model is followed by the results of its calls, in the order of
/// the calls, wherever in the thread the results were stored. Messages that were stored in between come after the results.
fn history(
    provider: Provider,
    thread: &[Message],
    origin: Option<&str>,
) -> Result<RequestMessages, WireError> {
    let mut results: HashMap<CallPlace, ToolMessage> = HashMap::new();
    for message in thread {
        if let Some(call) = message.answers {
            results.insert(call, read(provider, message)?);
        }
    }
    let mut out = RequestMessages::default();
    let mut ids = HashSet::new();
    for message in in_reading_order(thread) {
        match message.role {
            // Results are written with the message that made their calls. Without that message, no provider accepts them.
            Role::Tool => {}
            Role::Assistant => {
                let mut written: ModelMessage = read(provider, message)?;
                let unchanged = provider.unchanged(&written, origin);
                if unchanged.is_some() {
                    ids.extend(written.calls.iter().map(|call| call.id.clone()));
                } else {
                    replace_ids(provider, message.seq, &mut written, &mut ids);
                }
                out.messages
                    .extend(unchanged.unwrap_or_else(|| provider.rewritten(&written)));
                if written.calls.is_empty() {
                    continue;
                }
                let answered = written.calls.iter().zip(0..).map(|(call, position)| {
                    let place = CallPlace {
                        message: message.seq,
                        position,
                    };
                    results.get(&place).map_or(
                        ToolResult {
                            id: &call.id,
                            name: &call.name,
                            view: View::Text(Cow::Borrowed(NO_RESULT)),
                            is_error: false,
                        },
                        |result| ToolResult {
                            // The result was stored with the id that the provider of the message wrote.
                            id: &call.id,
                            ..ToolResult::from(result)
                        },
                    )
                });
                provider.write_results(&answered.collect::<Vec<_>>(), &mut out);
            }
            Role::System => {
                let text: String = read(provider, message)?;
                out.add_system(provider, text);
            }
            Role::User => {
                let written: UserMessage = read(provider, message)?;
                user::write(provider, written.parts(), &mut out);
            }
        }
    }
    Ok(out)
}

/// Replaces ids of calls that this provider may refuse, in a message that is not sent back as its provider wrote it. These are ids with characters
/// other than letters, digits, `_` and `-`, ids that are empty or too long, and ids that an earlier call of the thread has. Anthropic and Bedrock
/// refuse repeated ids. `earlier` has the ids of the earlier calls. The new id depends only on the place of the call, so that later requests have the
/// same prefix.
fn replace_ids(
    provider: Provider,
    seq: u64,
    message: &mut ModelMessage,
    earlier: &mut HashSet<String>,
) {
    let most = match provider {
        // A message without `written` may have been written by the server of this request. That server accepts its own ids, so they stay unchanged.
        Provider::Chat if message.written.is_none() => usize::MAX,
        Provider::Chat => 40,
        // Results name the function, and every id is accepted.
        Provider::Gemini => usize::MAX,
        Provider::Responses | Provider::Anthropic | Provider::Bedrock => 64,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    for (call, position) in message.calls.iter_mut().zip(0_u32..) {
        let valid = (1..=most).contains(&call.id.len()) && call.id.chars().all(plain);
        if most < usize::MAX && (!valid || earlier.contains(&call.id)) {
            call.id = format!("call_{seq}_{position}");
        }
        earlier.insert(call.id.clone());
    }
}

fn read<T: DeserializeOwned>(provider: Provider, message: &Message) -> Result<T, WireError> {
    serde_json::from_str(&message.content).map_err(|error| WireError::Thread {
        provider,
        seq: message.seq,
        why: error.to_string(),
    })
}
