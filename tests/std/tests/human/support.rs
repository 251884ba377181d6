//! A channel, a summarizer and contexts for the tests.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{NewRoomEvent, RoomMessage, ThreadId, Timestamp};
use tool_std::human::{OutboundChannel, OutboundMessage, Summarizer};

/// A channel that records the messages that it is asked to send.
#[derive(Clone, Default)]
pub(crate) struct Mailbox {
    sent: Arc<Mutex<Vec<OutboundMessage>>>,
    fails: Arc<Mutex<bool>>,
}

impl Mailbox {
    /// Returns the channel, target and text of each message.
    pub(crate) fn sent(&self) -> Vec<(String, String, String)> {
        let sent = self.sent.lock().unwrap();
        sent.iter()
            .map(|message| {
                (
                    message.channel.clone(),
                    message.target.clone(),
                    message.text.clone(),
                )
            })
            .collect()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        sent.iter().map(|message| message.key.clone()).collect()
    }

    pub(crate) fn fail(&self, fails: bool) {
        *self.fails.lock().unwrap() = fails;
    }
}

impl OutboundChannel for Mailbox {
    fn send<'a>(&'a self, message: &'a OutboundMessage) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            if *self.fails.lock().unwrap() {
                return Err(ToolError::new("the number is unknown"));
            }
            self.sent.lock().unwrap().push(message.clone());
            Ok(())
        })
    }
}

/// A summarizer that lists the texts.
pub(crate) struct Joined;

impl Summarizer for Joined {
    fn summarize<'a>(
        &'a self,
        messages: &'a [RoomMessage],
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        let texts: Vec<&str> = messages.iter().map(|message| &*message.text).collect();
        let text = texts.join("+");
        Box::pin(async { Ok(text) })
    }
}

pub(crate) fn event(room: &ThreadId, id: &str) -> NewRoomEvent {
    NewRoomEvent {
        room: room.clone(),
        id: id.to_owned(),
        author: Some("ann".to_owned()),
        text: format!("event {id}"),
        at: Timestamp::now(),
    }
}

pub(crate) fn call(name: &str, arguments: &serde_json::Value) -> ToolCall {
    ToolCall::new("call_0", name, arguments.to_string())
}
