//! Outbound channels, and the tool that replies to the person whose message started the turn.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{Timestamp, Workspace};
use tool_core::{Effect, host_value};

/// A message for a person, to be sent through a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboundMessage {
    /// The workspace of the conversation.
    pub workspace: Workspace,
    /// The name of the channel, such as `whatsapp`.
    pub channel: String,
    /// The address of the person or group in the channel, such as a phone number.
    pub target: String,
    /// The text to send.
    pub text: String,
    /// Identifies the message: pass the key to a service that accepts one, so that the service does not send a message twice. If the host has a
    /// [`Gate`](tool_core::Gate), a call of a turn has the same key when it is dispatched again, for example after a crash. The answer of a scheduled
    /// task has the same key in each attempt. Otherwise, a repeated call may have a new key.
    pub key: String,
}

/// Sends messages to people. Hosts implement this trait, for example with the API of a messenger.
#[doc(alias("messenger", "notification", "delivery"))]
pub trait OutboundChannel: Send + Sync + 'static {
    /// Sends a message. Returns when the service has accepted the message; an error means that it was not sent.
    fn send<'a>(&'a self, message: &'a OutboundMessage) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// A channel, and the address of a person or group in the channel.
#[derive(Clone)]
pub struct Outbound {
    service: Arc<dyn OutboundChannel>,
    channel: String,
    target: String,
}

impl Outbound {
    /// Creates the value from the service that sends, the name of the channel, and the address of the person or group in the channel.
    pub fn new(
        service: impl OutboundChannel,
        channel: impl Into<String>,
        target: impl Into<String>,
    ) -> Self {
        Self::shared(Arc::new(service), channel, target)
    }

    /// Does the same as [`new`](Self::new), for a service in an [`Arc`].
    pub fn shared(
        service: Arc<dyn OutboundChannel>,
        channel: impl Into<String>,
        target: impl Into<String>,
    ) -> Self {
        Self {
            service,
            channel: channel.into(),
            target: target.into(),
        }
    }

    /// Returns the name of the channel.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Returns the address in the channel.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Sends a text. `key` identifies the message: see [`OutboundMessage::key`].
    pub async fn send(
        &self,
        text: &str,
        key: impl Into<String>,
        cx: &ToolContext,
    ) -> Result<(), ToolError> {
        let message = OutboundMessage {
            workspace: cx.own_workspace(),
            channel: self.channel.clone(),
            target: self.target.clone(),
            text: text.to_owned(),
            key: key.into(),
        };
        self.service.send(&message).await
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbound")
            .field("channel", &self.channel)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// The sender of the message that started the turn (a person or a group), as a host value of [`send_outbound_message`](fn@send_outbound_message). A
/// host adds it to the context of a turn that a channel has triggered, with the rules of [`Runtime::Webhook`](tool_core::Runtime::Webhook).
/// [`Turns`](tool_core::turn::Turns) ends the turn with the sent text as the answer, so the model is not called again.
#[derive(Clone, Debug)]
pub struct Trigger(pub Outbound);

host_value!(Trigger, Effect::WRITE.union(Effect::EXTERNAL));

/// The message that was sent in place of an answer of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replied {
    /// Whether the person has the reply, so that the model does not answer again.
    pub reply_handled: bool,
    /// The text that was sent.
    pub reply_text: String,
    /// The name of the channel.
    pub channel: String,
    /// The address in the channel.
    pub target: String,
}

/// Sends a message to the person who started this conversation through a channel. The message is your answer: write nothing after it.
#[tool(
    category = "conversation-trigger",
    harness,
    example("An answer", { "message": "Your order was sent today." }),
)]
pub async fn send_outbound_message(
    cx: &ToolContext,
    trigger: &Trigger,
    /// The text to send.
    #[arg(length = 1..=20000)]
    message: String,
) -> Result<Replied, ToolError> {
    let Trigger(outbound) = trigger;
    outbound.send(&message, message_key(cx), cx).await?;
    Ok(Replied {
        reply_handled: true,
        reply_text: message,
        channel: outbound.channel().to_owned(),
        target: outbound.target().to_owned(),
    })
}

/// Returns the key of the message that a call sends: the key of the identity of the call. Without a gate, a call has no identity, and the key
/// consists of the id of the call and the time.
pub(super) fn message_key(cx: &ToolContext) -> String {
    if let Some(key) = cx.idempotency_key() {
        return key.to_string();
    }
    let (call, at) = (cx.call_id().unwrap_or_default(), Timestamp::now());
    format!("{call}@{}", at.as_millis())
}
