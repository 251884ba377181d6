//! Tools for communication with people: questions to the user, rooms, and messages through a messaging channel, such as Slack or WhatsApp ([`OutboundChannel`]).
//!
//! | tool | runs in |
//! |---|---|
//! | [`ask_user`] | any turn with a client: the turn waits for the user's answers |
//! | [`send_outbound_message`](fn@send_outbound_message) | a turn that a message of a channel started ([`Runtime::Webhook`](tool_core::Runtime::Webhook)): the tool sends its text to the sender of that message, and the text becomes the answer of the turn |
//! | [`send_message_to_human`](fn@send_message_to_human), [`mark_room_event_completed`](fn@mark_room_event_completed), [`compact_room_history`](fn@compact_room_history) | a turn of a room ([`Runtime::Room`](tool_core::Runtime::Room)) |
//!
//! [`ask_user`] is a [client tool](tool_core::DynamicTool::client): the client shows the questions, and its answers are the result. `Registry::linked()` does not
//! contain this tool: add it by hand if the client can show questions. The other tools are *harness* tools: the [`Runtime`](tool_core::Runtime) of the turn decides
//! which of them the model can call.
//!
//! # Channels and rooms
//!
//! A host implements [`OutboundChannel`] for the services that it sends messages with. It adds a [`Trigger`] with the address of the sender to the context of a
//! turn that a message started, and a [`Room`] to the context of a turn of a room. A *room* is a conversation with a queue of incoming events and a history of
//! messages, both in a [`RoomStore`](tool_core::store::RoomStore). The host adds each incoming message as an event and takes pending events from the queue before a
//! turn. After the turn, the host returns the events that the turn did not complete to the queue.
//!
//! ```
//! use futures::future::BoxFuture;
//! use tool_core::prelude::*;
//! use tool_std::human::{Outbound, OutboundChannel, OutboundMessage, Trigger, send_outbound_message};
//!
//! struct Printer;
//! impl OutboundChannel for Printer {
//!     fn send<'a>(&'a self, message: &'a OutboundMessage) -> BoxFuture<'a, Result<(), ToolError>> {
//!         println!("to {} via {}: {}", message.target, message.channel, message.text);
//!         Box::pin(async { Ok(()) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let trigger = Trigger(Outbound::new(Printer, "whatsapp", "+49 30 1234567"));
//! let cx = ToolContext::builder().workspace("acme").conversation("c1").with(trigger).build();
//! let call = ToolCall::new("1", "send_outbound_message", r#"{"message": "Your order was sent today."}"#);
//! let result = toolset![send_outbound_message].call(call, &cx).await;
//! assert!(result.model_text().contains(r#""replyHandled":true"#));
//! # }
//! ```
//!
//! # Trust
//!
//! The tools need no API key or other secret: the host configures the credentials of its [`OutboundChannel`] itself. Texts of people are untrusted input: if a model
//! acts on them, the policy of the host should limit the calls that the model can make. A model chooses the text of a message, and never its recipient. Rooms are
//! stored unencrypted.

mod ask;
mod channel;
mod room;

pub use ask::{
    AnswerError, AnswerState, QuestionOption, UserAnswer, UserAnswers, UserQuestion, UserQuestions,
    ask_user,
};
pub use channel::{
    Outbound, OutboundChannel, OutboundMessage, Replied, Trigger, send_outbound_message,
};
pub use room::{
    CompactedHistory, CompletedEvents, Room, SentMessage, Summarizer, compact_room_history,
    mark_room_event_completed, send_message_to_human,
};
