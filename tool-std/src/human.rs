//! Tools with which an agent reaches people: questions to the user, messages through channels, and rooms.
//!
//! | tool | runs in |
//! |---|---|
//! | [`ask_user`] | any turn with a client: the turn waits for the user's answers |
//! | [`send_outbound_message`] | a turn that a message of a channel has started ([`Runtime::Webhook`](tool_core::Runtime::Webhook)): the sent text is the answer |
//! | [`send_message_to_human`], [`mark_room_event_completed`], [`compact_room_history`] | a turn of a room ([`Runtime::Room`](tool_core::Runtime::Room)) |
//!
//! [`ask_user`] is a [client tool](tool_core::DynamicTool::client), so it is not linked: add it to the registry of a program whose client can show questions. The
//! other tools are part of the harness: the kind of the turn decides whether a model has them.
//!
//! # Channels and rooms
//!
//! A host implements [`OutboundChannel`] for the services that it sends messages with. It adds a [`Trigger`] with the address of the sender to the context of a
//! turn that a message has started, and a [`Room`] to the context of a turn of a room. A room is a conversation with a backlog of events and a history of messages
//! in a [`RoomStore`](tool_core::store::RoomStore): the host adds what arrives as events, takes some of them before a turn, and returns those that the turn has
//! not completed.
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
//! The tools have no secrets; the channel of the host has those that it needs. Texts of people are untrusted input: if a model acts on them, the policy of the
//! host should limit the calls that the model can make. A model chooses the text of a message, and never its address. Rooms are stored as plain text.

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
