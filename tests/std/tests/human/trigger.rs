//! Answers to the sender of a triggered conversation, and the lists of harness tools.

use futures::future::BoxFuture;
use serde_json::json;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Role, ThreadStore};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{ErrorKind, Gate, Layer, Rules, Runtime};
use tool_std::human::{
    Outbound, Trigger, ask_user, compact_room_history, mark_room_event_completed,
    send_message_to_human, send_outbound_message,
};

use crate::support::{Mailbox, call};

const ROOM: [&str; 3] = [
    "compact_room_history",
    "mark_room_event_completed",
    "send_message_to_human",
];

fn registry() -> Registry {
    Registry::builder()
        .tool::<send_message_to_human>()
        .tool::<mark_room_event_completed>()
        .tool::<compact_room_history>()
        .tool::<send_outbound_message>()
        .dynamic(ask_user())
        .build()
        .unwrap()
}

fn names(runtime: Runtime) -> Vec<String> {
    let rules = Rules::default().runtime(runtime);
    let tools = registry().toolset(&ToolContext::anonymous(), &rules);
    tools.names().map(str::to_owned).collect()
}

fn webhook(channel: &str) -> Runtime {
    Runtime::Webhook {
        channel: channel.to_owned(),
    }
}

// S1-55, S1-56, S1-57: a room has exactly its three tools, every triggered channel has `send_outbound_message`, and turns of all other kinds have
// none of these tools.
#[test]
fn shipped_tools_are_listed_by_the_kind_of_turn() {
    let room: Vec<&str> = ["ask_user"].into_iter().chain(ROOM).collect();
    assert_eq!(names(Runtime::Room), room);
    for channel in ["whatsapp", "email", "slack", "room"] {
        assert_eq!(
            names(webhook(channel)),
            ["ask_user", "send_outbound_message"]
        );
    }
    for runtime in [Runtime::Chat, Runtime::Scheduled, Runtime::SubAgent] {
        assert_eq!(names(runtime), ["ask_user"]);
    }
    let chat = registry().toolset(&ToolContext::anonymous(), &Rules::default());
    for name in ROOM.into_iter().chain(["send_outbound_message"]) {
        assert_eq!(chat.explain(name).layer(), Some(Layer::Harness));
    }
}

/// A model that answers through the channel. Its next message would be a second answer.
struct Answers(u32);

impl Model for Answers {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.0 += 1;
        let message = match self.0 {
            1 => ModelMessage::calls([call(
                "send_outbound_message",
                &json!({"message": "Sent today."}),
            )]),
            _ => ModelMessage::text("a second answer"),
        };
        Box::pin(async { Ok(message) })
    }
}

// S1-56, S1-101: the message is sent once, the model's own text is suppressed, and the sent text is stored as the answer.
#[tokio::test]
async fn sent_message_is_the_answer() {
    let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
    let gate = Gate::builder().ledger(store.clone()).build();
    let trigger = Trigger(Outbound::new(mailbox.clone(), "whatsapp", "+4930"));
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .with(trigger)
        .build();
    let (turns, mut model) = (Turns::new(store.clone()), Answers(0));
    turns.say("Where is my order?", &cx).await.unwrap();
    let tools = |cx: &ToolContext| {
        let rules = Rules::default().runtime(webhook("whatsapp"));
        registry().toolset(cx, &rules).through(&gate)
    };
    let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
    assert!(
        matches!(&outcome, Outcome::Replied(text) if text == "Sent today."),
        "{outcome:?}"
    );
    // Another drive of the same thread, for example after a restart, sends nothing.
    let again = turns.drive(&mut model, tools, &cx).await.unwrap();
    assert!(
        matches!(&again, Outcome::Answered(text) if text == "Sent today."),
        "{again:?}"
    );
    let sent = (
        "whatsapp".to_owned(),
        "+4930".to_owned(),
        "Sent today.".to_owned(),
    );
    assert_eq!((model.0, mailbox.sent()), (1, vec![sent]));
    assert!(
        !mailbox.keys()[0].contains('@'),
        "the key is that of the call"
    );
    let messages = ThreadStore::read(&store, &cx.thread().unwrap(), None)
        .await
        .unwrap();
    let last = messages.last().unwrap();
    assert!(last.role == Role::Assistant && last.content.contains("Sent today."));
    let result = messages
        .iter()
        .find(|message| message.role == Role::Tool)
        .unwrap();
    assert!(
        result
            .content
            .contains(r#""channel":"whatsapp","target":"+4930""#)
    );
}

// S1-56: outside of a triggered conversation, the tool is unavailable, because the message has no recipient. An error of the channel is returned, and
// no message is sent.
#[tokio::test]
async fn message_needs_a_trigger_and_a_working_channel() {
    let rules = Rules::default().runtime(webhook("email"));
    let message = || call("send_outbound_message", &json!({"message": "Hello"}));
    let untriggered = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .build();
    let tools = registry().toolset(&untriggered, &rules);
    let result = tools.call(message(), &untriggered).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);

    let mailbox = Mailbox::default();
    mailbox.fail(true);
    let trigger = Trigger(Outbound::new(mailbox.clone(), "email", "ann@example.com"));
    let cx = untriggered.derive().with(trigger).build();
    let result = tools.call(message(), &cx).await;
    assert_eq!(result.model_text(), "the number is unknown");
    assert!(mailbox.sent().is_empty());
    // Without a gate, the key of a message is new for each call.
    mailbox.fail(false);
    assert!(tools.call(message(), &cx).await.error().is_none());
    assert!(mailbox.keys()[0].starts_with("call_0@"));
}
