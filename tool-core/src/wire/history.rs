//! A stored thread as the messages of a request.

use serde::de::DeserializeOwned;

use super::answered::{Results, in_order};
use super::{Provider, WireError};
use crate::store::{Message, Role};
use crate::turn::{ModelMessage, ToolMessage, call_keys};

/// A message of the model, with what has answered its calls.
struct Open<'a> {
    turn: &'a str,
    said: ModelMessage,
    /// By the key of their call.
    results: Vec<(&'a str, ToolMessage)>,
}

pub(super) fn history(provider: Provider, thread: &[Message]) -> Result<Results, WireError> {
    let mut out = Results::default();
    let mut open: Option<Open<'_>> = None;
    for message in thread {
        match message.role {
            Role::Tool => {
                let told = read(provider, message)?;
                let key = message.call.as_deref().unwrap_or_default();
                match &mut open {
                    Some(open) if open.turn == message.turn => open.results.push((key, told)),
                    _ => {
                        return Err(WireError::Unasked { call: told.id });
                    }
                }
            }
            Role::Assistant => {
                close(provider, open.take(), &mut out)?;
                let said: ModelMessage = read(provider, message)?;
                out.messages.extend(provider.assistant(&said));
                open = Some(Open {
                    turn: &message.turn,
                    said,
                    results: Vec::new(),
                });
            }
            Role::User => {
                close(provider, open.take(), &mut out)?;
                let text: String = read(provider, message)?;
                out.messages.push(provider.user(&text));
            }
        }
    }
    close(provider, open, &mut out)?;
    Ok(out)
}

/// Adds the results of a model's message, if it has called anything.
fn close(provider: Provider, open: Option<Open<'_>>, out: &mut Results) -> Result<(), WireError> {
    let Some(Open {
        said, mut results, ..
    }) = open
    else {
        return Ok(());
    };
    // They are stored as they end: what waited for a person stands behind the others.
    let keys = call_keys(&said.calls);
    results.sort_by_key(|(key, _)| keys.iter().position(|of| of == key));
    let results = in_order(&said, results.iter().map(|(_, told)| told.into()))?;
    let results = provider.written(&results);
    out.messages.extend(results.messages);
    out.left_out.extend(results.left_out);
    Ok(())
}

fn read<T: DeserializeOwned>(provider: Provider, message: &Message) -> Result<T, WireError> {
    serde_json::from_str(&message.content).map_err(|error| WireError::Thread {
        provider,
        seq: message.seq,
        why: error.to_string(),
    })
}
